"""Reports as JSON files: no pickle, written whole or not at all, checked when they are read."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from metrichub.catalog.parameters import off_default
from metrichub.catalog.registry import origin
from metrichub.catalog.spec import Spec
from metrichub.data.files import replacing, write_text
from metrichub.errors import MetrichubError, ReportError, SpecError, what
from metrichub.evaluation.buckets import BucketSizes
from metrichub.evaluation.explanation import Trace, json_value
from metrichub.evaluation.lengths import Lengths
from metrichub.evaluation.letters import ByTokenizer, Letters
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.result_weighed import WeighedResult
from metrichub.evaluation.signature import Signature, prompts_hash
from metrichub.evaluation.stats import BucketSums, Stats
from metrichub.metric import Array, CorpusMetric, Metric, Unscored, load_metric, load_metrics
from metrichub.models.resolve import VARIABLES
from metrichub.models.usage import Usage
from metrichub.report.report import Report
from metrichub.report.tables import json_safe

_ANY_FORMAT = "metrichub-report-"
FORMAT = f"{_ANY_FORMAT}1"
_PACKED = ".gz"


def save(report: Report, path: Path) -> None:
    """Write a report; see `Report.save`."""
    text = f"{file_text(report)}\n"
    if path.suffix.lower() != _PACKED:
        write_text(path, text)
        return
    with replacing(path) as new:
        # Without the time, so that one report has one file.
        new.write_bytes(gzip.compress(text.encode("ascii"), mtime=0))


def is_report(path: Path) -> bool:
    """Whether a file holds a report, of this version or of another."""
    try:
        content = json.loads(_text(path))
    except (OSError, EOFError, zlib.error, ValueError):
        return False
    return isinstance(content, dict) and str(content.get("format")).startswith(_ANY_FORMAT)


def _text(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix.lower() == _PACKED else content).decode("utf-8")


def file_text(report: Report) -> str:
    """The text of a report's file.

    Raises:
        ReportError: a metric's parameters or rows can't be written as JSON.
    """
    return _json(
        lambda: {
            "format": FORMAT,
            "segments": report.segments,
            "candidates": report.candidates,
            **_statistics(report),
            "prompts": _prompts(report),
            "evidence": json_value(report.traces),
            "usage": json_value(report.usage),
            "letters": json_value(report.letters),
            "mixed_forms": report.mixed_forms,
            "read_from": report.read_from,
            "metadata": report.metadata,
            "lengths": None if report.lengths is None else report.lengths.tolist(),
        }
    )


def statistics(report: Report) -> str:
    """What two equal reports share, as text: statistics and signatures.

    Raises:
        ReportError: a metric's parameters or rows can't be written as JSON.
    """
    return _json(lambda: _statistics(report))


def _statistics(report: Report) -> dict[str, Any]:
    return {
        "size": report.size,
        "results": {name: _plain(result) for name, result in report.results.items()},
        "runs": {name: [_plain(run) for run in runs] for name, runs in report.runs.items()},
        "buckets": _buckets(report.buckets),
    }


def _json(parts: Callable[[], Mapping[str, Any]]) -> str:
    try:
        # ASCII only: a lone surrogate in a row has no UTF-8.
        return json.dumps(parts(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ReportError(f"the report can't be written as JSON: {error}") from error


def load(path: Path, metrics: Sequence[Any]) -> Report:
    """Read a report; see `Report.load`."""
    try:
        content = json.loads(_text(path))
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise ReportError(f"{path} can't be read: {why}") from error
    except ValueError as error:
        raise ReportError(f"{path} isn't a saved report: {error}") from error
    _check_format(path, content.get("format") if isinstance(content, dict) else None)
    own = {metric.name: metric for metric in load_metrics(metrics)} if metrics else {}
    try:
        results, prompts = {}, _read_prompts(content.get("prompts", ()))
        for name, found in content["results"].items():
            metric = own.get(name) or _metric(path, name, found)
            _same_definition(path, found, metric)
            results[name] = _result(found, metric, prompts.get(name, {}))
        report = Report(
            results,
            content["size"],
            tuple((number, dict(digests)) for number, digests in content["segments"]),
            {name: (int(low), int(high)) for name, (low, high) in content["candidates"].items()},
            {name: _evidence(found) for name, found in content.get("evidence", {}).items()},
            Usage(**content.get("usage", {})),
            read_from=_names(content.get("read_from", {})),
            mixed_forms=_names(content.get("mixed_forms", {})),
            metadata=content.get("metadata", {}),
            buckets=_read_buckets(content.get("buckets")),
            lengths=_read_lengths(content.get("lengths")),
        )
        runs = {
            name: tuple(_result(run, results[name].metric, prompts.get(name, {})) for run in found)
            for name, found in content.get("runs", {}).items()
        }
        letters = {name: _letters(by) for name, by in content.get("letters", {}).items()}
        report = replace(report, runs=runs, letters=letters)
        _whole(report)
        for name, result in report.results.items():
            _same_scores(path, content["results"][name], result)
    except ReportError:
        raise
    except Exception as error:
        why = " ".join(str(error).split())
        raise ReportError(f"{path} is damaged: {type(error).__name__}: {why}") from error
    return report


def _check_format(path: Path, found: object) -> None:
    if found == FORMAT:
        return
    if isinstance(found, str) and found.startswith(_ANY_FORMAT):
        raise ReportError(
            f"{path} was saved by a newer version of metrichub (its format is {found!r}, this "
            f"version reads {FORMAT!r}); upgrade metrichub"
        )
    raise ReportError(f"{path} isn't a saved report; save one with report.save() or --save")


def _whole(report: Report) -> None:
    """Raise `ValueError` if the parts of a report don't fit together."""
    sizes = [report.size, sum(size for size, _ in report.segments)]
    if not isinstance(report.size, int) or len(set(sizes)) > 1:
        raise ValueError(f"its parts have {sizes} samples")
    for name, values in report.metadata.items():
        if not isinstance(values, list) or len(values) != report.size:
            raise ValueError(f"its column {name!r} doesn't have one value per sample")
    if report.lengths is not None and len(report.lengths) not in (1, report.size):
        raise ValueError(f"it has the lengths of {len(report.lengths)} samples")
    for result in report.results.values():
        result.check(report.size)


def _plain(result: Result) -> dict[str, Any]:
    entry = origin(type(result.metric))
    # A judge or embedder that was given as an object is kept as the spec that it says it is.
    given = {key: getattr(v, "label", v) for key, v in off_default(result.metric).items()}
    spec = Spec(entry.qualified if entry else result.metric.card.name, given)
    saved = result.saved()
    plain = {name: encode(saved[name]) for name, encode in _ENCODED.items() if name in saved}
    return {
        "metric": spec.metric,
        "parameters": spec.parameters,
        "signature": str(result.signature),
        "count": result.count,
        "unscored": result.unscored,
        "reasons": result.reasons,
        "unanswered": result.unanswered,
        "scores": json_safe(result.scores()),
        **saved,
        **plain,
    }


def _prompts(report: Report) -> list[dict[str, Any]]:
    """Each prompt once, with the metrics whose judge it was for."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for metric, templates in report.prompts().items():
        for name, told in templates.items():
            key = name, json.dumps(told)
            found.setdefault(key, {"name": name, "metrics": [], **told})["metrics"].append(metric)
    return list(found.values())


def _read_prompts(found: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What `Report.prompts` gave."""
    read: dict[str, dict[str, Any]] = {}
    for one in found:
        for metric in one["metrics"]:
            told = {"text": one["text"], "examples": one["examples"]}
            read.setdefault(metric, {})[one["name"]] = told
    return read


def _buckets(buckets: BucketSizes | None) -> dict[str, Any] | None:
    if buckets is None:
        return None
    prints = {name: values.tolist() for name, values in buckets.prints.items()}
    return {"key": buckets.key, "sizes": buckets.sizes.tolist(), "prints": prints}


def _read_buckets(found: Mapping[str, Any] | None) -> BucketSizes | None:
    if found is None:
        return None
    prints = {name: np.array(values, np.uint64) for name, values in found["prints"].items()}
    return BucketSizes(tuple(found["key"]), np.array(found["sizes"], np.int64), prints)


def _read_lengths(found: Sequence[Sequence[int]] | None) -> Lengths | None:
    return None if found is None else np.array(found, np.int64).reshape(-1, 2)


def _evidence(found: Mapping[str, Any]) -> Trace:
    steps = {int(sample): step for sample, step in found["steps"].items()}
    errors = {int(sample): cause for sample, cause in found["errors"].items()}
    calls = {int(sample): keys for sample, keys in found.get("calls", {}).items()}
    pending = {int(sample): why for sample, why in found.get("pending", {}).items()}
    votes, waits = _counts(found.get("votes", {})), _counts(found.get("waits", {}))
    return Trace(steps, errors, Counter(found["causes"]), calls, votes, pending, waits)


def _names(found: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(names) for name, names in found.items()}


def _letters(found: Mapping[str, Any]) -> ByTokenizer:
    return {
        tokenizer: Letters(own["total"], _counts(own["uncut"]), _counts(own["dropped"]))
        for tokenizer, own in found.items()
    }


def _tagged(value: object) -> object:
    """Part of a row in the types of JSON; tuples, mappings and `nan` come back as they are."""
    if type(value) is tuple:
        return {"tuple": [_tagged(item) for item in value]}
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, dict):
        return {"mapping": [[_tagged(key), _tagged(item)] for key, item in value.items()]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, _tagged(value.tolist())]}
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"a row holds {what(value)}")


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, inner),) = value.items()
    if tag == "array":
        return np.array(_untagged(inner[1]), inner[0])
    if tag == "tuple":
        return tuple(_untagged(item) for item in inner)
    if tag == "mapping":
        return {_untagged(key): _untagged(item) for key, item in inner}
    return float(inner)


def _arrays(arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {
        name: {"type": array.dtype.kind, "shape": array.shape, "values": array.ravel().tolist()}
        for name, array in ((name, np.asarray(values)) for name, values in arrays.items())
    }


_ENCODED: dict[str, Callable[[Any], Any]] = {
    "totals": _arrays,
    "statistics": _arrays,
    "buckets": _arrays,
    "rows": lambda rows: [_tagged(row) for row in rows],
    "final": json_safe,
}
"""How a file holds the parts of a result that aren't JSON as they are."""


def _read_arrays(plain: Mapping[str, Any]) -> dict[str, Array]:
    kinds = {"i": np.int64, "f": np.float64}
    return {
        name: np.array(found["values"], kinds[found["type"]]).reshape(found["shape"])
        for name, found in plain.items()
    }


def _metric(path: Path, name: str, found: Mapping[str, Any]) -> Metric:
    given = {**_asked(found["signature"]), **found["parameters"], "name": name}
    try:
        metric = load_metric(found["metric"], **given)
    except MetrichubError as error:
        raise ReportError(
            f"{path} was measured with {found['signature']}, which can't be loaded here: {error}; "
            "pass metrics of your own with Report.load(path, metrics=[...])"
        ) from error
    assert isinstance(metric, Metric)
    return metric


def _asked(signature: str) -> dict[str, object]:
    """The judge and the embedder that a signature names.

    While they had a default, a report that was made with it didn't keep them as parameters.
    """
    for end in (found.start() for found in re.finditer(r"\||$", signature)):
        try:
            parameters = Spec.parse(signature[:end]).parameters
        # A bar within a text, or a value that is no literal.
        except SpecError:
            continue
        return {kind: parameters[kind] for kind in VARIABLES if kind in parameters}
    return {}


def _result(found: Mapping[str, Any], metric: Metric, templates: Mapping[str, Any]) -> Result:
    reasons = _counts(found["reasons"])
    signature = replace(Signature.parse(found["signature"]), templates=templates)
    if prompts_hash(templates) != signature.prompts:
        raise ValueError(f"its prompts aren't those of {found['signature']}")
    unanswered = _counts(found.get("unanswered", {}))
    head = (metric, signature, found["count"], found["unscored"], reasons, unanswered)
    if isinstance(metric, CorpusMetric) and "totals" not in found:
        final = found.get("final")
        if final is not None:
            final = {name: float("nan") if v is None else v for name, v in final.items()}
        sample = np.array(found["sample"], np.int64)
        kinds = found.get("undefined_for", {})
        left_out = {
            int(place): Unscored(reason, kinds.get(place))
            for place, reason in found.get("why", {}).items()
        }
        return RowsResult(*head, _untagged(found["rows"]), sample, found["size"], final, left_out)
    rows = None
    if "statistics" in found:
        why = {int(row): reason for row, reason in found["why"].items()}
        undefined_for = {int(row): kind for row, kind in found.get("undefined_for", {}).items()}
        scored = np.array(found["scored"], np.bool_)
        rows = Stats(_read_arrays(found["statistics"]), scored, why, undefined_for)
    sums = None
    if "buckets" in found:
        counts = np.array(found["bucket_counts"], np.int64)
        sums = BucketSums(_read_arrays(found["buckets"]), counts, found["by_position"])
    totals = _read_arrays(found["totals"])
    if isinstance(metric, CorpusMetric):
        return WeighedResult(*head, None, totals, sums, whole=True)
    return SumResult(*head, rows, totals, sums)


def _same_definition(path: Path, found: Mapping[str, Any], metric: Metric) -> None:
    if Signature.parse(found["signature"]).definition != metric.card.definition:
        raise ReportError(
            f"{path} was saved with {found['signature']}, but the installed {metric.card.name} has "
            f"definition {metric.card.definition} and gives different scores; install the version "
            "that saved it, or score again"
        )


def _same_scores(path: Path, found: Mapping[str, Any], result: Result) -> None:
    now, then = json_safe(result.scores()), found["scores"]
    same = now.keys() == then.keys() and all(
        now[name] == then[name]
        or (None not in (now[name], then[name]) and math.isclose(now[name], then[name]))
        for name in now
    )
    if not same:
        raise ReportError(
            f"{path} was saved with {found['signature']} and scores {then}, but the installed "
            f"version gives {now}; install the version that saved it, or score again"
        )


def _counts(found: Mapping[str, object]) -> Counter[str]:
    """Numbers of samples by what is said of them.

    Raises:
        ValueError: a number is none.
    """
    counts: Counter[str] = Counter()
    for said, number in found.items():
        if not isinstance(number, int):
            raise ValueError(f"{said!r} is counted as {number!r}")
        counts[said] = number
    return counts
