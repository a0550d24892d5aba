"""Reader of lighteval's details, `details_*.parquet`, and of what it recorded of each sample."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_RIGHT_OR_WRONG = ("LoglikelihoodAcc(", "ExactMatches(aggregation_function=max,")
"""The functions of lighteval that give a sample 0 or 1."""


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
        number = isinstance(value, (int, float))
        if not number or (configured is not None and "mean" not in configured.get(name, {})):
            continue
        known = (configured or {}).get(name, {})
        recorded[name] = {"better": "higher" if known["higher"] else "lower"} if known else {}
        if isinstance(value, int) and known.get("function", "").startswith(_RIGHT_OR_WRONG):
            recorded[name]["share"] = True
    scores = results.get("results", {}).get(task, {})
    reported = {name: {name: scores[name]} for name in row["metric"] if name in scores}
    return {"model": model, "task": task, "recorded": recorded, "reported": reported}


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The samples, each with what its metrics recorded."""
    for row in rows:
        yield dict(row["metric"]) | _sample(row["doc"], row["model_response"])


def _sample(doc: Mapping[str, Any], response: Mapping[str, Any]) -> Row:
    """What metrics read of a sample: of texts that were generated, or of likelihoods."""
    choices, gold = doc["choices"] or [], doc["gold_index"]
    golds = [choices[place] for place in (gold if isinstance(gold, list) else [gold])]
    sample: Row = {"id": doc["id"], "questions": doc["query"]}
    likelihoods, texts = response["logprobs"] or [], response["text"] or []
    if texts:
        # What was left out of a reply, such as its thinking.
        read = response.get("text_post_processed") or texts
        sample |= {"predictions": _one_or_several(read), "resps": _one_or_several(texts)}
    elif len(choices) == len(likelihoods):
        chosen = max(range(len(choices)), key=likelihoods.__getitem__)
        choices, golds = ([text.strip() for text in texts] for texts in (choices, golds))
        sample |= {"predictions": choices[chosen], "likelihoods": likelihoods}
    return sample | {"references": golds} | ({"choices": choices} if len(choices) > 1 else {})


def _one_or_several(texts: list[str]) -> str | list[str]:
    return texts[0] if len(texts) == 1 else texts


def _run(path: Path) -> tuple[str | None, Mapping[str, Any]]:
    """The model and the results of a run, by where lighteval puts its details: …/model/date/."""
    try:
        start = len(path.parts) - 1 - path.parts[::-1].index("details")
    except ValueError:
        return None, {}
    model = path.parts[start + 1 : -2]
    folder = Path(*path.parts[:start], "results", *model)
    try:
        results = json.loads((folder / f"results_{path.parts[-2]}.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        results = {}
    return "/".join(model) or None, results if isinstance(results, Mapping) else {}


def _configured(metrics: Any) -> dict[str, Row]:
    """Of each metric, its function and direction, and `mean` if the score is the mean."""
    known: dict[str, Row] = {}
    for metric in metrics:
        names = metric["metric_name"]
        for name in names if isinstance(names, list) else [names]:
            own = {
                key: value.get(name) if isinstance(value := metric[key], Mapping) else value
                for key in ("sample_level_fn", "corpus_level_fn", "higher_is_better")
            }
            known[name] = {
                "function": str(own["sample_level_fn"]),
                "higher": own["higher_is_better"],
            }
            if str(own["corpus_level_fn"]) in ("mean", "nanmean"):
                known[name]["mean"] = True
    return known
