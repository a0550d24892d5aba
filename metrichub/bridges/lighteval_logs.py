"""Reader of lighteval's details, `details_*.parquet`, and of what it recorded of each sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from metrichub.bridges._log_files import likeliest, object_in, one_or_several
from metrichub.data.readers import Row

_RIGHT_OR_WRONG = ("LoglikelihoodAcc(", "ExactMatches(aggregation_function=max,")
"""The functions of lighteval that give a sample 0 or 1."""
_SETTINGS = ("sample_level_fn", "corpus_level_fn", "higher_is_better")


def matches(row: Row) -> bool:
    """Whether this is a sample of lighteval."""
    doc = row.get("doc")
    return row.keys() >= {"metric", "model_response"} and isinstance(doc, dict) and "query" in doc


def describe(row: Row, path: str) -> dict[str, Any]:
    """The model, the task and the metrics; the results, in a separate folder, say more."""
    task = row["doc"].get("task_name")
    model, results = _run(Path(path).resolve())
    metrics = results.get("config_tasks", {}).get(task, {}).get("metrics")
    configured = None if metrics is None else _configured(metrics)
    recorded: dict[str, Row] = {}
    for name, value in row["metric"].items():
        metric = (configured or {}).get(name, {})
        is_mean = configured is None or "mean" in metric
        if not is_mean or not isinstance(value, (int, float)):
            continue
        recorded[name] = {"better": "higher" if metric["higher"] else "lower"} if metric else {}
        if isinstance(value, int) and metric.get("function", "").startswith(_RIGHT_OR_WRONG):
            recorded[name]["share"] = True
    scores = results.get("results", {}).get(task, {})
    reported = {name: {name: scores[name]} for name in row["metric"] if name in scores}
    return {"model": model, "task": task, "recorded": recorded, "reported": reported}


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The samples, each with what its metrics recorded."""
    for row in rows:
        yield dict(row["metric"]) | _sample(row["doc"], row["model_response"])


def _sample(doc: Mapping[str, Any], response: Mapping[str, Any]) -> Row:
    """The columns of a sample, from generated texts or from likelihoods of the choices."""
    choices, gold = doc["choices"] or [], doc["gold_index"]
    golds = [choices[place] for place in (gold if isinstance(gold, list) else [gold])]
    sample: Row = {"id": doc["id"], "questions": doc["query"]}
    likelihoods, texts = response["logprobs"] or [], response["text"] or []
    if texts:
        # Without what lighteval removes from a reply, such as its thinking.
        answers = response.get("text_post_processed") or texts
        sample |= {"predictions": one_or_several(answers), "resps": one_or_several(texts)}
    elif len(choices) == len(likelihoods):
        choices, golds = ([text.strip() for text in texts] for texts in (choices, golds))
        sample |= {"predictions": likeliest(choices, likelihoods), "likelihoods": likelihoods}
    return sample | {"references": golds} | ({"choices": choices} if len(choices) > 1 else {})


def _run(path: Path) -> tuple[str | None, Mapping[str, Any]]:
    """The model and the results of a run, by where lighteval puts its details: …/model/date/."""
    try:
        start = len(path.parts) - 1 - path.parts[::-1].index("details")
    except ValueError:
        return None, {}
    model = path.parts[start + 1 : -2]
    folder = Path(*path.parts[:start], "results", *model)
    return "/".join(model) or None, object_in(folder / f"results_{path.parts[-2]}.json")


def _configured(metrics: Any) -> dict[str, Row]:
    """Of each metric, its function and direction, and `mean` if the score is the mean."""
    configured: dict[str, Row] = {}
    for metric in metrics:
        names = metric["metric_name"]
        for name in names if isinstance(names, list) else [names]:
            # A setting of several metrics is an object by their names, or the same for all.
            sample, corpus, higher = (
                setting.get(name) if isinstance(setting, Mapping) else setting
                for setting in map(metric.get, _SETTINGS)
            )
            configured[name] = {"function": str(sample), "higher": higher}
            if str(corpus) in ("mean", "nanmean"):
                configured[name]["mean"] = True
    return configured
