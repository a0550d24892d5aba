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
from metrichub.data.location import Location
from metrichub.data.values import json_value
from metrichub.errors import MetrichubError, ReportError, SpecError
from metrichub.evaluation.buckets import BucketSizes
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.facts import FACTS, counts_of
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.signature import Signature, prompts_hash
from metrichub.evaluation.stats import BucketSums, Stats
from metrichub.metric import Array, CorpusMetric, Metric, Unscored, load_metric, load_metrics
from metrichub.models.resolve import VARIABLES
from metrichub.report.serialize import ANY_FORMAT, FORMAT, PACKED


def load(path: str | Path, metrics: Sequence[Any]) -> Measurement:
    """Read a report; see `Report.load`."""
    name = Location.of(path).shown
    try:
        content = json.loads(_text(path))
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise ReportError(f"{name} can't be read: {why}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{name} isn't a saved report: {error}") from error
    return _measurement(name, content, metrics)


def load_if_report(path: str | Path) -> Measurement | None:
    """Read a report, of this version or of another; None if a file holds anything else."""
    try:
        content = json.loads(_text(path))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not str(content.get("format")).startswith(ANY_FORMAT):
        return None
    return _measurement(Location.of(path).shown, content, ())


def _measurement(path: str, content: Any, metrics: Sequence[Any]) -> Measurement:
    _check_format(path, content.get("format") if isinstance(content, dict) else None)
    own = {metric.name: metric for metric in load_metrics(metrics)} if metrics else {}
    try:
        results, prompts = {}, _read_prompts(content.get("prompts", ()))
        for name, saved in content["results"].items():
            metric = own.get(name) or _metric(path, name, saved)
            _same_definition(path, saved, metric)
            results[name] = _result(saved, metric, prompts.get(name, {}))
        report = Measurement(
            results,
            content["size"],
            {name: _trace(trace) for name, trace in content.get("evidence", {}).items()},
            buckets=_read_buckets(content.get("buckets")),
            facts={f.name: f.read(content[f.name]) for f in FACTS if f.read and f.name in content},
        )
        runs = {
            name: tuple(_result(run, results[name].metric, prompts.get(name, {})) for run in saved)
            for name, saved in content.get("runs", {}).items()
        }
        report = replace(report, runs=runs)
        _check_parts(report)
        for name, result in report.results.items():
            _same_scores(path, content["results"][name], result)
    except ReportError:
        raise
    except Exception as error:
        why = " ".join(str(error).split())
        raise ReportError(f"{path} is damaged: {type(error).__name__}: {why}") from error
    return report


def _text(path: str | Path) -> str:
    location = Location.of(path)
    with location.opened() as (stream, _):
        content = stream.read()
    return (gzip.decompress(content) if location.packing == PACKED else content).decode("utf-8")


def _check_format(path: str, version: object) -> None:
    if version == FORMAT:
        return
    if isinstance(version, str) and version.startswith(ANY_FORMAT):
        raise ReportError(
            f"{path} was saved by a newer version of metrichub (its format is {version!r}, this "
            f"version reads {FORMAT!r}); upgrade metrichub"
        )
    raise ReportError(f"{path} isn't a saved report").with_remedy("save_report")


def _check_parts(report: Measurement) -> None:
    """Raise `ValueError` if the parts of a report don't fit together."""
    sizes = [report.size, sum(size for size, _ in report.segments)]
    if not isinstance(report.size, int) or len(set(sizes)) > 1:
        raise ValueError(f"its parts have {sizes} samples")
    for name, values in {**report.metadata, **report.questions}.items():
        if not isinstance(values, list) or len(values) != report.size:
            raise ValueError(f"its column {name!r} doesn't have one value per sample")
    if report.lengths is not None and len(report.lengths) not in (1, report.size):
        raise ValueError(f"it has the lengths of {len(report.lengths)} samples")
    for result in report.results.values():
        result.check(report.size)


def _read_prompts(prompts: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What `Report.prompts` gave."""
    read: dict[str, dict[str, Any]] = {}
    for prompt in prompts:
        for metric in prompt["metrics"]:
            template = {"text": prompt["text"], "examples": prompt["examples"]}
            read.setdefault(metric, {})[prompt["name"]] = template
    return read


def _read_buckets(saved: Mapping[str, Any] | None) -> BucketSizes | None:
    if saved is None:
        return None
    prints = {name: np.array(values, np.uint64) for name, values in saved["prints"].items()}
    return BucketSizes(tuple(saved["key"]), np.array(saved["sizes"], np.int64), prints)


def _trace(trace: Mapping[str, Any]) -> Trace:
    steps = {int(sample): step for sample, step in trace["steps"].items()}
    errors = {int(sample): cause for sample, cause in trace["errors"].items()}
    calls = {int(sample): keys for sample, keys in trace.get("calls", {}).items()}
    pending = {int(sample): why for sample, why in trace.get("pending", {}).items()}
    votes, waits = counts_of(trace.get("votes", {})), counts_of(trace.get("waits", {}))
    cuts = counts_of(trace.get("cuts", {}))
    return Trace(steps, errors, Counter(trace["causes"]), calls, votes, pending, waits, cuts)


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
        name: np.array(array["values"], kinds[array["type"]]).reshape(array["shape"])
        for name, array in plain.items()
    }


def _metric(path: str, name: str, saved: Mapping[str, Any]) -> Metric:
    parameters = {**_models_named(saved["signature"]), **saved["parameters"], "name": name}
    try:
        metric = load_metric(saved["metric"], **parameters)
    except MetrichubError as error:
        raise ReportError(
            f"{path} was measured with {saved['signature']}, which can't be loaded here: {error}; "
            "pass your own metrics with Report.load(path, metrics=[...])"
        ) from error
    assert isinstance(metric, Metric)
    return metric


def _models_named(signature: str) -> dict[str, object]:
    """The judge and the embedder that a signature names.

    While they had a default, a report that was made with it didn't keep them as parameters.
    """
    for end in (match.start() for match in re.finditer(r"\||$", signature)):
        try:
            parameters = Spec.parse(signature[:end]).parameters
        # A bar within a text, or a value that isn't a literal.
        except SpecError:
            continue
        return {kind: parameters[kind] for kind in VARIABLES if kind in parameters}
    return {}


def _result(saved: Mapping[str, Any], metric: Metric, templates: Mapping[str, Any]) -> Result:
    reasons = counts_of(saved["reasons"])
    signature = replace(Signature.parse(saved["signature"]), templates=templates)
    if prompts_hash(templates) != signature.prompts:
        raise ValueError(f"its prompts aren't those of {saved['signature']}")
    unanswered = counts_of(saved.get("unanswered", {}))
    head = (metric, signature, saved["count"], saved["unscored"], reasons, unanswered)
    if isinstance(metric, CorpusMetric):
        # Versions before kept sums of some, without the rows that these score by.
        summed = {"final": saved["scores"], "rows": [], "sample": [], "size": sum(head[2:4])}
        saved = {**saved, **summed} if "totals" in saved else saved
        final = saved.get("final")
        if final is not None:
            final = {name: float("nan") if v is None else v for name, v in final.items()}
        sample = np.array(saved["sample"], np.int64)
        kinds = saved.get("undefined_for", {})
        left_out = {
            int(place): Unscored(reason, kinds.get(place))
            for place, reason in saved.get("why", {}).items()
        }
        final_notes = list(map(str, saved.get("notes", ())))
        rows = _untagged(saved["rows"])
        return RowsResult(
            *head, rows, sample, saved["size"], final, left_out, final_notes=final_notes
        )
    rows = None
    if "statistics" in saved:
        why = {int(row): reason for row, reason in saved["why"].items()}
        undefined_for = {int(row): kind for row, kind in saved.get("undefined_for", {}).items()}
        scored = np.array(saved["scored"], np.bool_)
        rows = Stats(_read_arrays(saved["statistics"]), scored, why, undefined_for)
    sums = None
    if "buckets" in saved:
        counts = np.array(saved["bucket_counts"], np.int64)
        sums = BucketSums(_read_arrays(saved["buckets"]), counts, saved["by_position"])
    return SumResult(*head, rows, _read_arrays(saved["totals"]), sums)


def _same_definition(path: str, saved: Mapping[str, Any], metric: Metric) -> None:
    if Signature.parse(saved["signature"]).definition != metric.card.definition:
        raise ReportError(
            f"{path} was saved with {saved['signature']}, but the installed {metric.card.name} has "
            f"definition {metric.card.definition} and gives different scores; install the version "
            "that saved it, or score again"
        )


def _same_scores(path: str, saved: Mapping[str, Any], result: Result) -> None:
    now, then = json_value(result.scores()), saved["scores"]
    # An output that the metric has got since isn't in the file.
    same = now.keys() >= then.keys() and all(
        now[name] == then[name]
        or (None not in (now[name], then[name]) and math.isclose(now[name], then[name]))
        for name in then
    )
    if not same:
        raise ReportError(
            f"{path} was saved with {saved['signature']} and scores {then}, but the installed "
            f"version gives {now}; install the version that saved it, or score again"
        )
