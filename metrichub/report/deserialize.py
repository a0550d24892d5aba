"""Reports read from JSON files, and checked on the way."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from metrichub.catalog.spec import Spec
from metrichub.errors import MetrichubError, ReportError, SpecError
from metrichub.evaluation.buckets import BucketSizes
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.lengths import Lengths
from metrichub.evaluation.letters import ByTokenizer, Letters
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.result_weighed import WeighedResult
from metrichub.evaluation.signature import Signature, prompts_hash
from metrichub.evaluation.stats import BucketSums, Stats
from metrichub.metric import Array, CorpusMetric, Metric, Unscored, load_metric, load_metrics
from metrichub.models.resolve import VARIABLES
from metrichub.models.usage import Usage
from metrichub.report.serialize import ANY_FORMAT, FORMAT, PACKED
from metrichub.report.tables import json_safe


def load(path: Path, metrics: Sequence[Any]) -> Measurement:
    """Read a report; see `Report.load`."""
    try:
        content = json.loads(_text(path))
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise ReportError(f"{path} can't be read: {why}") from error
    except ValueError as error:
        raise ReportError(f"{path} isn't a saved report: {error}") from error
    return _measurement(path, content, metrics)


def load_if_report(path: Path) -> Measurement | None:
    """Read a report, of this version or of another; None if a file holds anything else."""
    try:
        content = json.loads(_text(path))
    except (OSError, EOFError, zlib.error, ValueError):
        return None
    if not isinstance(content, dict) or not str(content.get("format")).startswith(ANY_FORMAT):
        return None
    return _measurement(path, content, ())


def _measurement(path: Path, content: Any, metrics: Sequence[Any]) -> Measurement:
    _check_format(path, content.get("format") if isinstance(content, dict) else None)
    own = {metric.name: metric for metric in load_metrics(metrics)} if metrics else {}
    try:
        results, prompts = {}, _read_prompts(content.get("prompts", ()))
        for name, found in content["results"].items():
            metric = own.get(name) or _metric(path, name, found)
            _same_definition(path, found, metric)
            results[name] = _result(found, metric, prompts.get(name, {}))
        report = Measurement(
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


def _text(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix.lower() == PACKED else content).decode("utf-8")


def _check_format(path: Path, found: object) -> None:
    if found == FORMAT:
        return
    if isinstance(found, str) and found.startswith(ANY_FORMAT):
        raise ReportError(
            f"{path} was saved by a newer version of metrichub (its format is {found!r}, this "
            f"version reads {FORMAT!r}); upgrade metrichub"
        )
    raise ReportError(f"{path} isn't a saved report").with_remedy("save_report")


def _whole(report: Measurement) -> None:
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


def _read_prompts(found: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What `Report.prompts` gave."""
    read: dict[str, dict[str, Any]] = {}
    for one in found:
        for metric in one["metrics"]:
            told = {"text": one["text"], "examples": one["examples"]}
            read.setdefault(metric, {})[one["name"]] = told
    return read


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
        # A bar within a text, or a value that isn't a literal.
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
    # An output that the metric has got since isn't in the file.
    same = now.keys() >= then.keys() and all(
        now[name] == then[name]
        or (None not in (now[name], then[name]) and math.isclose(now[name], then[name]))
        for name in then
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
