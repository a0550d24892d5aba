"""Saved reports: one JSON file each, written whole or not at all, and checked when it is read.

`SavedReport` and the saved results are the layout of a file, beside the facts of a measurement.
What each part may hold follows from its type: `reader` refuses all else.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.parameters import off_default
from metrichub.catalog.registry import origin
from metrichub.catalog.spec import Spec
from metrichub.data.files import replacing, write_text
from metrichub.data.location import Location
from metrichub.data.values import json_value
from metrichub.errors import MetrichubError, ReportError, ScoringError, SpecError, what
from metrichub.evaluation.buckets import BUCKETS, FEW, BucketSizes
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.facts import FACTS
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.reuse import tagged, untagged
from metrichub.evaluation.signature import Signature, prompts_hash
from metrichub.evaluation.stats import BucketSums, Stats, scored_by
from metrichub.metric import Array, CorpusMetric, Metric, Unscored, load_metric, load_metrics
from metrichub.models.resolve import VARIABLES

Templates = Mapping[str, Mapping[str, Any]]

_ANY_FORMAT = "metrichub-report-"
FORMAT = f"{_ANY_FORMAT}1"
_PACKED = ".gz"
_TYPES: Mapping[Any, tuple[type, ...]] = {
    **{kind: (kind,) for kind in (str, int, bool)},
    float: (float, int),
}
"""The types that values have in Python when JSON is read."""
_ITEMS: Mapping[Any, set[type]] = {
    np.int64: {int},
    np.uint64: {int},
    np.float64: {int, float},
    np.bool_: {bool},
}
"""The same of the items of arrays."""
_CELLS = {str, int, float, bool, NoneType}
"""The types of cells in columns and tables."""


class SavedPrompt(NamedTuple):
    """A prompt, and the metrics whose judge was asked it."""

    name: str
    metrics: Sequence[str]
    text: str
    examples: Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class SavedResult:
    """The result of one metric, with the scores of when it was saved.

    From `totals` on are the parts of a `SumResult`, from `rows` on those of a `RowsResult`, whose
    rows are as `tagged` writes them.
    """

    metric: str
    parameters: Mapping[str, Any]
    signature: str
    count: int
    unscored: int
    scores: Mapping[str, float | None]
    reasons: Counter[str]
    unanswered: Counter[str] = field(default_factory=Counter)
    why: Mapping[int, str] = field(default_factory=dict)
    undefined_for: Mapping[int, str] = field(default_factory=dict)
    totals: Mapping[str, Array] = field(default_factory=dict)
    statistics: Mapping[str, Array] | None = None
    scored: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    buckets: Mapping[str, Array] | None = None
    bucket_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    by_position: bool = False
    rows: Sequence[Any] = ()
    sample: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    size: int = -1
    final: Mapping[str, float | None] | None = None
    notes: Sequence[str] = ()
    condensed: bool = False


class SavedReport(NamedTuple):
    """A report but for its facts."""

    size: int
    results: Mapping[str, SavedResult]
    runs: Mapping[str, Sequence[SavedResult]] = {}
    buckets: BucketSizes | None = None
    prompts: Sequence[SavedPrompt] = ()
    evidence: Mapping[str, Trace] = {}


def save(report: Measurement, path: str | Path) -> None:
    """Write a report; see `Report.save`."""
    text = f"{file_text(report)}\n"
    if Path(path).suffix.lower() != _PACKED:
        write_text(path, text)
        return
    with replacing(path) as new:
        # Without the time, so that one report has one file.
        new.write_bytes(gzip.compress(text.encode("ascii"), mtime=0))


def file_text(report: Measurement) -> str:
    """The text of a report's file.

    Raises:
        ReportError: a metric's parameters or rows can't be written as JSON.
    """
    facts = {
        fact.saved_as: report.facts.get(fact.name, fact.empty)
        for fact in FACTS
        if fact.saved and (not fact.rare or report.facts.get(fact.name))
    }
    prompts, names = _prompts(report), _saved_names(Trace)
    evidence = {
        metric: {names.get(name, name): part for name, part in vars(trace).items()}
        for metric, trace in report.traces.items()
    }
    return _written(report, format=FORMAT, prompts=prompts, evidence=evidence, **facts)


def statistics(report: Measurement) -> str:
    """The statistics and signatures of a report as text, which is the same for equal reports.

    Raises:
        ReportError: a metric's parameters or rows can't be written as JSON.
    """
    return _written(report)


def _written(report: Measurement, **more: Any) -> str:
    parts = {name: json_value(part) for name, part in more.items()}
    try:
        parts |= {
            "size": report.size,
            "results": {name: _plain(result) for name, result in report.results.items()},
            "runs": {name: [_plain(run) for run in runs] for name, runs in report.runs.items()},
            "buckets": json_value(report.buckets),
        }
        # ASCII only: a lone surrogate in a row has no UTF-8.
        return json.dumps(parts, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ReportError(f"the report can't be written as JSON: {error}") from error


def _prompts(report: Measurement) -> list[dict[str, Any]]:
    """Each prompt once."""
    prompts: dict[tuple[str, str], dict[str, Any]] = {}
    for metric, templates in report.prompts().items():
        for name, template in templates.items():
            prompt = {"name": name, "metrics": [], **template}
            prompts.setdefault((name, json.dumps(template)), prompt)["metrics"].append(metric)
    return list(prompts.values())


def _plain(result: Result) -> dict[str, Any]:
    """A result as `SavedResult` has it, in the types of JSON."""
    entry = origin(type(result.metric))
    # A judge or embedder that was given as an object is kept as the spec that it says it is.
    parameters = {key: getattr(v, "label", v) for key, v in off_default(result.metric).items()}
    spec = Spec(entry.qualified if entry else result.metric.card.name, parameters)
    plain: dict[str, Any] = {
        "metric": spec.metric,
        "parameters": spec.parameters,
        "signature": str(result.signature),
        "count": result.count,
        "unscored": result.unscored,
        "reasons": result.reasons,
        "unanswered": result.unanswered,
        "scores": json_value(result.scores()),
    }
    if result.undefined_for:
        plain["undefined_for"] = dict(result.undefined_for)
    if isinstance(result, RowsResult):
        plain["why"] = {sample: row.reason for sample, row in result.left_out.items()}
        plain["rows"] = [tagged(row) for row in result.rows]
        plain |= {"sample": result.sample.tolist(), "size": result.size}
        if result.final is not None:
            plain |= {"final": json_value(result.final), "notes": list(result.final_notes)}
        if result.condensed:
            plain |= {"condensed": True}
        return plain
    assert isinstance(result, SumResult)
    plain["totals"] = _shaped(result.totals)
    if (sums := result.bucket_sums) is not None:
        plain |= {"buckets": _shaped(sums.arrays), "bucket_counts": sums.counts.tolist()}
        plain["by_position"] = sums.by_position
    if (rows := result.rows) is not None:
        plain |= {"statistics": _shaped(rows.arrays), "scored": rows.scored.tolist()}
        plain["why"] = rows.reasons
    return plain


def _shaped(arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {
        name: {"type": array.dtype.kind, "shape": array.shape, "values": array.ravel().tolist()}
        for name, array in ((name, np.asarray(values)) for name, values in arrays.items())
    }


@cache
def reader(kind: Any) -> Callable[[Any], Any]:
    """From what JSON holds to a value of this type; `ValueError` if it is of another.

    Types are those of JSON, arrays, sequences, mappings by text or number, counters, and classes
    whose fields have types.
    """
    outer, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: value
    if kind in _TYPES:
        return partial(_checked, _TYPES[kind])
    if outer in (Union, UnionType):
        read = reader(next(part for part in inner if part is not NoneType))
        return lambda value: None if value is None else read(value)
    if outer is None:
        types, names = get_type_hints(kind), _saved_names(kind)
        return partial(_object, kind, {n: (names.get(n, n), reader(types[n])) for n in types})
    if outer is np.ndarray:
        return partial(_array, get_args(inner[1])[0])
    if outer is tuple and ... not in inner:
        readers = [reader(part) for part in inner]
        return lambda value: tuple(
            read(item) for read, item in zip(readers, _checked((list,), value), strict=True)
        )
    if not issubclass(outer, Mapping):
        read, several = reader(inner[0]), tuple if outer is tuple else list
        return lambda value: several(map(read, _checked((list,), value)))
    key, read = inner[0], reader(int if outer is Counter else inner[1])
    mapping = Counter if outer is Counter else dict
    return lambda value: mapping({key(k): read(v) for k, v in _checked((dict,), value).items()})


def _checked(types: tuple[type, ...], value: Any) -> Any:
    if type(value) not in types:
        raise ValueError(f"it holds {what(value)} in place of {types[0].__name__}")
    return value


def _object(kind: type, readers: Mapping[str, tuple[str, Callable[[Any], Any]]], value: Any) -> Any:
    """An object of a class; fields that only another version knows are passed over."""
    content = _checked((dict,), value)
    return kind(
        **{
            name: read(content[saved])
            for name, (saved, read) in readers.items()
            if saved in content
        }
    )


def _saved_names(kind: Any) -> dict[str, str]:
    """The names of fields that are called otherwise in a file."""
    named = fields(kind) if is_dataclass(kind) else ()
    return {f.name: f.metadata["saved_as"] for f in named if "saved_as" in f.metadata}


def _array(dtype: Any, value: Any) -> Array:
    """An array of this type, or of the type and shape that stand beside the numbers."""
    if isinstance(value, dict):
        dtype = {"i": np.int64, "f": np.float64}[value["type"]]
        return _array(dtype, value["values"]).reshape(value["shape"])
    pairs = len(value) > 0 and isinstance(value[0], list)
    if not {*map(type, chain.from_iterable(value) if pairs else value)} <= _ITEMS[dtype]:
        raise ValueError(f"it holds {what(value)} in place of an array")
    return np.array(value, dtype)


def load(path: str | Path, metrics: Sequence[Any]) -> Measurement:
    """Read a report; see `Report.load`."""
    return _measurement(Location.of(path).shown, _content(path), metrics)


def load_if_report(path: str | Path) -> Measurement | None:
    """Read a report, of this version or of another; None if a file holds anything else."""
    try:
        content = _content(path)
    except ReportError:
        return None
    if not isinstance(content, dict) or not str(content.get("format")).startswith(_ANY_FORMAT):
        return None
    return _measurement(Location.of(path).shown, content, ())


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"it holds {constant} in place of a number")


def _content(path: str | Path) -> Any:
    location = Location.of(path)
    try:
        with location.opened() as (stream, _):
            content = stream.read()
        text = gzip.decompress(content) if location.packing == _PACKED else content
        # What is saved has none, and no page can hold it.
        return json.loads(text.decode("utf-8"), parse_constant=_no_number)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise ReportError(f"{location.shown} can't be read: {why}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{location.shown} isn't a saved report: {error}") from error


def _measurement(path: str, content: Any, metrics: Sequence[Any]) -> Measurement:
    version = content.get("format") if isinstance(content, dict) else None
    if isinstance(version, str) and version.startswith(_ANY_FORMAT) and version != FORMAT:
        raise ReportError(
            f"{path} was saved by a newer version of metrichub (its format is {version!r}, this "
            f"version reads {FORMAT!r}); upgrade metrichub"
        )
    if version != FORMAT:
        raise ReportError(f"{path} isn't a saved report").with_remedy("save_report")
    by_name = {metric.name: metric for metric in load_metrics(metrics)} if metrics else {}
    try:
        saved: SavedReport = reader(SavedReport)(content)
        prompts: dict[str, dict[str, Any]] = {name: {} for name in saved.results}
        for prompt in saved.prompts:
            for name in prompt.metrics:
                prompts[name][prompt.name] = {"text": prompt.text, "examples": prompt.examples}
        results, runs = {}, {}
        for name, part in saved.results.items():
            metric = by_name.get(name) or _metric(path, name, part)
            _check_definition(path, part, metric)
            results[name] = _result(part, metric, prompts[name])
            if name in saved.runs:
                runs[name] = tuple(_result(r, metric, prompts[name]) for r in saved.runs[name])
        facts = {
            fact.name: reader(fact.kind)(content[fact.saved_as])
            for fact in FACTS
            if fact.saved and fact.saved_as in content
        }
        evidence = {name: trace for name, trace in saved.evidence.items() if name in results}
        report = Measurement(
            results, saved.size, evidence, runs=runs, buckets=saved.buckets, facts=facts
        )
        _check(report)
        for name, result in results.items():
            _check_scores(path, saved.results[name], result)
    except ReportError:
        raise
    except Exception as error:
        why = " ".join(str(error).split())
        raise ReportError(f"{path} is damaged: {type(error).__name__}: {why}") from error
    return report


def _metric(path: str, name: str, saved: SavedResult) -> Metric:
    parameters = {**_models_named(saved.signature), **saved.parameters, "name": name}
    try:
        metric = load_metric(saved.metric, **parameters)
    except MetrichubError as error:
        raise ReportError(
            f"{path} was measured with {saved.signature}, which can't be loaded here: {error}; "
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


def _result(saved: SavedResult, metric: Metric, templates: Mapping[str, Any]) -> Result:
    """The result of a metric whose judge was asked these prompts."""
    signature = replace(Signature.parse(saved.signature), templates=templates)
    if prompts_hash(templates) != signature.prompts:
        raise ValueError(f"its prompts aren't those of {saved.signature}")
    head = (metric, signature, saved.count, saved.unscored, saved.reasons, saved.unanswered)
    kinds = saved.undefined_for
    if isinstance(metric, CorpusMetric):
        # Versions before kept sums of some, without the rows that these score by.
        scores, size = saved.final, saved.size
        if saved.totals:
            scores, size = saved.scores, saved.count + saved.unscored
        final = None
        if scores is not None:
            final = {name: math.nan if score is None else score for name, score in scores.items()}
        rows = [untagged(row) for row in saved.rows]
        left_out = {i: Unscored(reason, kinds.get(i)) for i, reason in saved.why.items()}
        parts = rows, saved.sample, size, final, left_out, saved.condensed
        return RowsResult(*head, *parts, final_notes=saved.notes)
    stats = sums = None
    if saved.statistics is not None:
        stats = Stats(saved.statistics, saved.scored, saved.why, kinds)
    if saved.buckets is not None:
        sums = BucketSums(saved.buckets, saved.bucket_counts, saved.by_position)
    return SumResult(*head, stats, saved.totals, sums)


def _check(report: Measurement) -> None:
    """Raise `ValueError` if the parts of a report don't fit together."""
    size = sum(size for size, _ in report.fingerprints)
    if size != report.size:
        raise ValueError(f"its parts have {[report.size, size]} samples")
    _check_columns(report)
    if report.buckets is not None:
        arrays = [report.buckets.sizes, *report.buckets.prints.values()]
        if {array.shape for array in arrays} != {(BUCKETS,)}:
            raise ValueError(f"it doesn't have {BUCKETS} buckets")
    if not report.results:
        raise ValueError("it has no results")
    votes = chain.from_iterable(trace.votes for trace in report.traces.values())
    if not all(isinstance(json.loads(pattern), list) for pattern in votes):
        raise ValueError("its votes aren't lists")
    for name, runs in report.runs.items():
        if len(runs) != report.results[name].signature.repeats:
            raise ValueError(f"it has {len(runs)} runs of {name}")
    for result in chain(report.results.values(), *report.runs.values()):
        sizes = [report.size, result.count + result.unscored, *_checked_sizes(result)]
        if {*sizes} != {report.size}:
            raise ValueError(f"its parts have {sizes} samples")


def _check_columns(report: Measurement) -> None:
    for name, values in {**report.metadata, **report.questions}.items():
        if len(values) != report.size:
            raise ValueError(f"its column {name!r} doesn't have one value per sample")
        if not {*map(type, values)} <= {list, *_CELLS}:
            raise ValueError(f"its column {name!r} holds objects")
    if report.lengths is not None:
        if len(report.lengths) not in (1, report.size):
            raise ValueError(f"it has the lengths of {len(report.lengths)} samples")
        report.lengths.reshape(-1, 2)


def _checked_sizes(result: Result) -> list[int]:
    """The numbers of samples that the parts of a result have, if these fit together otherwise."""
    if isinstance(result, RowsResult):
        inside = (result.sample >= 0) & (result.sample < result.size)
        of_samples = 0 if result.condensed else len(result.rows)
        if inside.shape != (of_samples,) or not inside.all():
            raise ValueError("its rows don't belong to its samples")
        rows_of_tables = chain.from_iterable(result.tables().values())
        if not {*map(type, chain.from_iterable(rows_of_tables))} <= _CELLS:
            raise ValueError("a table of it holds objects")
        return [result.size]
    assert isinstance(result, SumResult)
    sums, rows = result.bucket_sums, result.rows
    if sums is not None:
        totals = {name: array.sum(axis=0) for name, array in sums.arrays.items()}
        if result.count and not _equal(totals, scored_by(result.totals)):
            raise ValueError("the sums over its buckets don't match")
        if sums.counts.sum() != result.count:
            raise ValueError("the number of samples in its buckets doesn't match")
        numbers = {len(array) for array in (sums.counts, *sums.arrays.values())}
        if len(numbers) != 1 or not numbers <= {BUCKETS, FEW}:
            raise ValueError(f"its sums are of {sorted(numbers)} buckets")
    if rows is None:
        return []
    if not _equal(rows.totals(), result.totals) or rows.count != result.count:
        raise ValueError("the sums over its samples don't match")
    return [len(rows), *map(len, rows.arrays.values())]


def _equal(first: Mapping[str, Array], second: Mapping[str, Array]) -> bool:
    return first.keys() == second.keys() and all(
        array.shape == second[name].shape and np.allclose(array, second[name], equal_nan=True)
        for name, array in first.items()
    )


def _check_definition(path: str, saved: SavedResult, metric: Metric) -> None:
    if Signature.parse(saved.signature).definition != metric.card.definition:
        raise ReportError(
            f"{path} was saved with {saved.signature}, but the installed {metric.card.name} has "
            f"definition {metric.card.definition} and gives different scores; install the version "
            "that saved it, or score again"
        )


def _check_scores(path: str, saved: SavedResult, result: Result) -> None:
    again = "install the version that saved it, or score again"
    try:
        now, then = json_value(result.scores()), saved.scores
    except ScoringError as error:
        raise ReportError(
            f"{path} was saved with {saved.signature}, whose sums the installed version doesn't "
            f"score ({error}); {again}"
        ) from error
    # An output that the metric has got since isn't in the file.
    same = now.keys() >= then.keys() and all(
        math.isclose(now[name], score)
        if score is not None and now[name] is not None
        else score is now[name]
        for name, score in then.items()
    )
    if not same:
        raise ReportError(
            f"{path} was saved with {saved.signature} and scores {then}, but the installed "
            f"version gives {now}; {again}"
        )
