"""Reader of lm-evaluation-harness' samples, `samples_*.jsonl`, and of what it recorded of them."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from metrichub.bridges._log_files import likeliest, object_in, one_or_several, warn
from metrichub.data.readers import Row
from metrichub.errors import what

ALTERNATIVES = ("filter",)
"""See `metrichub.data.readers.RowReader`."""
_KEYS = {"doc_id", "target", "arguments", "filtered_resps"}
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[^_]+)\.jsonl")
_RIGHT_OR_WRONG = {"acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match"}
"""The harness's own metrics that give a sample 0 or 1, where higher is better."""
_NO_MEAN = {"perplexity"}
"""Those that give a sample a number but don't take the mean."""
_NOTHING = "[invalid]"
"""The replies of filters that find no answer."""


def matches(row: Row) -> bool:
    """Whether this is a sample of the harness."""
    return row.keys() >= _KEYS


def describe(row: Row, path: str) -> dict[str, Any]:
    """The model, the task and the metrics; `results_*.json` beside the file says more of these."""
    results, task = _results(path)
    model = results.get("model_name") or (Path(path).parent.name if task else None)
    reported: dict[str, Row] = {name: {} for name in row.get("metrics") or ()}
    for key, value in _scores(results, task):
        reported.setdefault(key.partition(",")[0], {})[key] = value
    names = row.get("metrics") or list(reported) or sorted(_RIGHT_OR_WRONG & row.keys())
    recorded = _recorded(row, results, task, names)
    return {"model": model or None, "task": task, "recorded": recorded, "reported": reported}


def expand(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The rows with their filters, which versions before November 2024 don't name.

    Those have each document once per filter, with the same replies.

    Raises:
        ValueError: some documents are there again with the same replies, others with new ones.
    """
    results, task = _results(path)
    names = list(dict.fromkeys(key.partition(",")[2] for key, _ in _scores(results, task)))
    first: dict[bytes, bytes] = {}
    times = Counter[bytes]()
    by_filter = None
    for row in rows:
        if "filter" in row or "resps" not in row:
            yield row
            continue
        document, replies = _digest([row["doc_id"], row.get("doc")]), _digest(row["resps"])
        times[document] += 1
        same = first.setdefault(document, replies) == replies
        if times[document] > 1:
            by_filter = same if by_filter is None else by_filter
            if by_filter and not same:
                raise ValueError(
                    f"document {row['doc_id']} is here again with other replies, while earlier "
                    "ones had the same; keep the samples of each run in a separate file"
                )
        number = times[document] if by_filter else 1
        yield row | {"filter": names[number - 1] if number <= len(names) else f"filter-{number}"}


def _digest(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The samples of one task; of several filters, those of the first."""
    chosen: object = None
    others: Counter[str] = Counter()
    for row in rows:
        name = row.get("filter")
        chosen = name if chosen is None else chosen
        if name == chosen:
            yield row | {"id": row["doc_id"]} | _sample(row)
        else:
            others[str(name)] += 1
    if others:
        warn(
            path,
            f"this log has each sample once per filter; only those of filter {chosen!r} are read, "
            f"not of {' and '.join(map(repr, others))} (choose another with --where "
            f"filter={next(iter(others))}, or where= in Python)",
        )


def _results(path: str) -> tuple[Mapping[str, Any], str | None]:
    """The harness's results of all samples, from the file beside them, and the task."""
    name = _NAME.fullmatch(Path(path).name)
    if name is None:
        return {}, None
    return object_in(Path(path).with_name(f"results_{name['date']}.json")), name["task"]


def _scores(results: Mapping[str, Any], task: str | None) -> list[tuple[str, float]]:
    """The scores that the harness reports of a task: "metric,filter" -> its score."""
    return [
        (key, score)
        for key, score in results.get("results", {}).get(task, {}).items()
        if "," in key and "_stderr," not in key and isinstance(score, (int, float))
    ]


def _recorded(
    row: Row, results: Mapping[str, Any], task: str | None, names: Sequence[str]
) -> dict[str, Row]:
    """The metrics that are means over samples, and what is known about each."""
    config = results.get("configs", {}).get(task)
    means = {
        metric["metric"]: str(metric.get("aggregation", "mean")).endswith("mean")
        for metric in (config or {}).get("metric_list") or ()
    }
    directions = {name: True for name in _RIGHT_OR_WRONG}
    directions |= results.get("higher_is_better", {}).get(task, {})
    # A task's own function may call anything "acc", and several replies give a mean.
    plain = config and not config.get("process_results") and config.get("repeats", 1) == 1
    recorded: dict[str, Row] = {}
    for name in names:
        number = isinstance(row.get(name), (int, float))
        if not number or not means.get(name, name not in _NO_MEAN):
            continue
        recorded[name] = {}
        if directions.get(name) is not None:
            recorded[name]["better"] = "higher" if directions[name] else "lower"
        if plain and name in _RIGHT_OR_WRONG:
            recorded[name]["share"] = True
    return recorded


def _sample(row: Row) -> Row:
    """The columns of a sample, from a generated text or from likelihoods of the choices."""
    arguments = row["arguments"]
    requests = [
        list(request.values() if isinstance(request, Mapping) else request)
        for request in (arguments.values() if isinstance(arguments, Mapping) else arguments)
    ]
    references = _references(row["target"], row.get("doc"))
    if requests and any(isinstance(argument, Mapping) for argument in requests[0][1:]):
        return {
            "questions": str(requests[0][0]),
            "predictions": _texts("filtered_resps", row["filtered_resps"]),
            "references": references,
            "resps": _texts("resps", row.get("resps", row["filtered_resps"])),
        }
    # With acc_mutual_info, each choice is asked for again without the question.
    asked = [pair for pair in requests if len(pair) == 2 and pair[0]] or requests
    # A whole text has its likelihood alone; an end also whether it is the likeliest.
    replies = (reply if isinstance(reply, list) else [reply] for reply in row["filtered_resps"])
    likelihoods = [float(reply[0]) for reply in replies][: len(asked)]
    sample = {"likelihoods": likelihoods, "references": references}
    if not asked or len(asked[0]) < 2:
        return sample
    # Where all ends are the same, as in Winogrande, the beginnings are the choices.
    place = 1 if len({end for _, end in asked}) > 1 else 0
    sample["questions"] = str(asked[0][0])
    if len(asked) == 1:
        return sample
    choices = [str(pair[place]).strip() for pair in asked]
    return sample | {
        "choices": choices,
        "predictions": likeliest(choices, likelihoods),
        "references": _named(references, choices),
    }


def _texts(name: str, responses: Any) -> str | list[str]:
    """A reply, or several where a prompt was answered several times; nothing is an empty text."""
    response = responses[0] if isinstance(responses, list) and responses else responses
    several = response if isinstance(response, list) else [response]
    if not several or not all(isinstance(text, str) for text in several):
        raise ValueError(f"{name} holds {what(response)}, not text")
    texts = ["" if text == _NOTHING else str(text) for text in several]
    return texts if name != "resps" and response is several else one_or_several(texts)


def _references(target: Any, document: Any) -> str | Sequence[str]:
    """The targets; several are written as Python writes a list.

    A single target may look like one, and then is a field of the document as it stands.
    """
    fields = document.values() if isinstance(document, Mapping) else ()
    if isinstance(target, str) and target.startswith("[") and target not in fields:
        try:
            target = ast.literal_eval(target)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return str(target)
    return [str(text) for text in target] if isinstance(target, list) else str(target)


def _named(target: str | Sequence[str], choices: Sequence[str]) -> str | list[str]:
    """The texts of the choices that targets name by their places; other targets as they are."""
    if not isinstance(target, str):
        return [str(_named(text, choices)) for text in target]
    place = int(target) if re.fullmatch("[0-9]{1,4}", target) else len(choices)
    return choices[place] if place < len(choices) else target.strip()
