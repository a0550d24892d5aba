"""Samples: what a page holds of every sample, numbers in columns and texts in chunks.

The page reads a chunk when it first shows one of its samples, so that a large report opens fast.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.data.columns import CONVERSATIONS
from metrichub.data.values import json_value
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.paired_tests import output_label
from metrichub.report.rows import are_equal, chosen_outputs
from metrichub.text.conversation import Message

CHUNK = 250
"""Samples whose texts are read together."""

SCREEN = 25
"""Samples that the list shows at first."""

SHARE = 10
"""Of this times as many explanations as are wanted at each end, systems have an equal share."""

_LEVEL = 5
"""Of zlib: 6 takes nearly twice as long for a twentieth less."""

Values = NDArray[np.float64]


class Scores(NamedTuple):
    """The sample scores (N,) of every system for one output; `nan` where unscored."""

    label: str
    better: str
    systems: Mapping[str, Values]


class PageLimits(NamedTuple):
    """How much a page holds: samples explained at each end, and bytes of texts and steps.

    Several systems have several orders with two ends each. Where that makes more than ten times
    as many explanations of a metric, each end has fewer, but the first screen of its list.
    """

    explained: int
    size: int


class Records(NamedTuple):
    """The texts and steps of samples as chunks of JSON; `stored` samples have theirs in the file.

    `explained` is how many samples each metric explains at each end of each order.
    """

    chunks: Sequence[str]
    stored: int
    explained: Mapping[str, int]


def outputs_of(systems: Mapping[str, Measurement]) -> list[tuple[str, str, Scores]]:
    """The sample scores of every metric and output, with a system's `nan` where it has none.

    Raises:
        ReportError: a report was pooled.
    """
    samples = {name: report.samples() for name, report in systems.items()}
    keys = ((m, o) for s in samples.values() for m, outputs in s.items() for o in outputs)
    size = next(iter(systems.values())).size
    none = np.full(size, np.nan)
    listed = []
    for metric, output in dict.fromkeys(keys):
        values = {name: s.get(metric, {}).get(output, none) for name, s in samples.items()}
        of = next(r.results[metric].metric for r in systems.values() if metric in r.results)
        label = output_label(metric, of.card.name, output)
        if output == "score" and output not in of.headline():
            # Such as that of ROUGE, which is the F-score of one of its variants.
            named = (name for name in of.headline() if are_equal(systems, metric, name, output))
            label += "".join(f" ({name})" for name in islice(named, 1))
        listed.append((metric, output, Scores(label, of.card.better(output), values)))
    return listed


def score_columns(
    systems: Mapping[str, Measurement], outputs: Iterable[tuple[str, str, Scores]]
) -> list[dict[str, Any]]:
    """The numbers of every output as the page sorts them; None where unscored."""
    first = {key for report in systems.values() for key in chosen_outputs(report, "headline")}
    return [
        {
            "metric": metric,
            "output": output,
            "label": scores.label,
            "better": scores.better,
            "headline": (metric, output) in first,
            "values": [page_numbers(values) for values in scores.systems.values()],
        }
        for metric, output, scores in outputs
    ]


def page_numbers(values: Values) -> list[float | str | None]:
    """Numbers as the page's script reads them; None for `nan`."""
    distinct, place = np.unique(values, return_inverse=True)
    numbers = [*map(_number, distinct.tolist())]
    return [numbers[k] for k in place.tolist()]


def as_shown(values: Values) -> Values:
    """The numbers as the page's script has them, by which it sorts and selects."""
    return np.array(page_numbers(values), np.float64)


def _number(value: float) -> float | str | None:
    """Six digits, which no reader needs more of; JSON has no infinity, so its name stands in."""
    if math.isfinite(value):
        return int(value) if value.is_integer() else float(f"{value:.6g}")
    return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def problems_of(report: Measurement) -> dict[str, Any]:
    """The samples that a metric gives no score: status and reason, each reason told once."""
    problems = {}
    for name, result in report.results.items():
        reasons: dict[tuple[str, str], int] = {}
        numbers = {}
        trace = report.traces.get(name, Trace())
        called = {**trace.errors, **trace.pending}
        unscored = np.flatnonzero(np.isnan(next(iter(result.samples().values())))).tolist()
        for sample in sorted({*called, *unscored}):
            why = called.get(sample) or result.why(sample)
            if why:
                status = trace.status(sample) if sample in called else result.status(sample)
                numbers[sample] = reasons.setdefault((status, why), len(reasons))
        if numbers:
            problems[name] = {"reasons": list(reasons), "samples": numbers}
    return problems


@dataclass(frozen=True)
class SystemRecords:
    """One system's samples, with the metrics that say what they saw."""

    report: Measurement

    def texts(self, sample: int) -> dict[str, Any]:
        """The columns of a sample; nothing where none were kept."""
        texts = dict(self.report.texts[sample]) if self.report.texts else {}
        for name in CONVERSATIONS:
            if name in texts:
                messages = texts[name] if isinstance(texts[name], list) else [texts[name]]
                texts[name] = [_message_data(message) for message in messages]
        return {name: json_value(value) for name, value in texts.items()}

    def steps(self, sample: int, explain: Iterable[str]) -> dict[str, Any]:
        """The steps of judges, and of the metrics that are to explain the sample."""
        by_metric = {}
        for name, traces in self.report.traces.items():
            if sample in traces.steps:
                by_metric[name] = traces.steps[sample]
        if texts := self.report.texts:
            for name in explain:
                if name not in by_metric:
                    by_metric[name] = texts.steps(self.report.results[name].metric, sample)
        return {name: steps for name, steps in by_metric.items() if any(steps)}

    def explaining(self) -> list[str]:
        """The metrics that explain a sample when they are asked."""
        if not self.report.texts:
            return []
        return [n for n, r in self.report.results.items() if hasattr(r.metric, "explain")]


def records_of(
    systems: Mapping[str, Measurement],
    outputs: Sequence[tuple[str, str, Scores]],
    limits: PageLimits,
    start: int | None,
    tell: Callable[[str, int, int], object] = lambda *_: None,
) -> Records:
    """Texts and steps of the samples, those at the ends of each metric first, while they fit.

    The list of samples is sorted by the output `start` at first.
    """
    shown = [SystemRecords(report) for report in systems.values()]
    size = next(iter(systems.values())).size
    selections = _chosen(outputs, size, limits.explained, start)
    explaining = [set(system.explaining()) for system in shown]
    room, records = limits.size, dict[int, str]()
    ends = [selection.samples for selection in selections.values()]
    explained = len(set(chain.from_iterable(ends)))
    for done, sample in enumerate(dict.fromkeys(chain(_interleaved(ends), range(size)))):
        if not done % SCREEN:
            early = done < explained
            tell("explaining" if early else "reading", done, explained if early else size)
        metrics = [name for name, selection in selections.items() if sample in selection.samples]
        record = script_json(_record(shown, sample, metrics, explaining))
        room -= len(record.encode("utf-8", "replace"))
        if room < 0:
            break
        records[sample] = record
    rows = [records.get(sample, "null") for sample in range(size)]
    chunks = [f"[{','.join(rows[start : start + CHUNK])}]" for start in range(0, size, CHUNK)]
    explained_of = {name: selection.each for name, selection in selections.items()}
    return Records(chunks, len(records), explained_of)


def _record(
    systems: Sequence[SystemRecords],
    sample: int,
    metrics: Sequence[str],
    explaining: Sequence[set[str]],
) -> dict[str, Any]:
    """The columns that systems share of a sample, each one's prediction, and its metrics' steps.

    Columns in which they differ are each system's own, such as conversations and contexts.
    """
    shared: dict[str, Any] = {}
    predictions, others, steps = [], [], []
    for system, able in zip(systems, explaining, strict=True):
        texts = system.texts(sample)
        predictions.append(texts.pop("predictions", None))
        others.append(texts)
        shared = texts | shared
        steps.append(system.steps(sample, [name for name in metrics if name in able]))
    differing = [
        n for n, v in shared.items() if any(of_system.get(n, v) != v for of_system in others)
    ]
    record = {"shared": shared, "said": predictions, "steps": steps}
    if not differing:
        return record
    for name in differing:
        del shared[name]
    return record | {
        "own": [{n: of_system[n] for n in differing if n in of_system} for of_system in others]
    }


def _message_data(message: Message) -> dict[str, Any]:
    """The filled fields of a message, arguments as JSON: JavaScript rounds long numbers."""
    calls = [dict(call) for call in message["calls"]]
    for call in calls:
        if not isinstance(call["arguments"], str):
            arguments = json.dumps(call["arguments"], ensure_ascii=False, indent=2, default=str)
            call["arguments"] = arguments
    return {name: part for name, part in {**message, "calls": calls}.items() if part}


class _Explained(NamedTuple):
    """The samples that a metric explains: `each` of the first and of both ends of each order."""

    samples: dict[int, None]
    each: int


def _chosen(
    outputs: Sequence[tuple[str, str, Scores]], size: int, number: int, start: int | None
) -> dict[str, _Explained]:
    """For every metric the samples it explains.

    The orders are those by each system's score, and by its difference from the first system's,
    and the same of the output `start`.
    """
    ends_of: dict[str, list[list[int]]] = {}
    for k, (metric, output, scores) in enumerate(outputs):
        if output != "score" and k != start:
            continue
        first, *others = map(as_shown, scores.systems.values())
        with np.errstate(invalid="ignore"):
            orders = [first, *others, *(other - first for other in others)]
        ends = ends_of.setdefault(metric, [[*range(min(size, number))]])
        ends += (end for order in orders for end in _ends(order, number))
    return {
        metric: _first_of(ends, SHARE * number // len(outputs[0][2].systems), number)
        for metric, ends in ends_of.items()
    }


def _first_of(ends: Sequence[Sequence[int]], most: int, number: int) -> _Explained:
    """The first samples of each list, of all as many: about `most` together, a screen at least."""
    samples: dict[int, None] = {}
    for each in range(number):
        if each >= SCREEN and len(samples) >= most:
            return _Explained(samples, each)
        samples |= dict.fromkeys(end[each] for end in ends if each < len(end))
    return _Explained(samples, number)


def _ends(values: Values, number: int) -> tuple[list[int], list[int]]:
    """The samples with the lowest and with the highest values, as the page lists them."""
    order = np.flatnonzero(~np.isnan(values))
    lowest, highest = (
        order[np.argsort(by, kind="stable")[:number]] for by in (values[order], -values[order])
    )
    return lowest.tolist(), highest.tolist()


def _interleaved(lists: Iterable[Iterable[int]]) -> Iterator[int]:
    """The first of every list, then the second of every list, and so on."""
    for row in zip_longest(*lists):
        yield from (sample for sample in row if sample is not None)


def script_json(value: object) -> str:
    """A value as JSON; it may hold no number that isn't finite."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def packed(lines: Iterable[str]) -> str:
    """Lines of JSON that the page's script unpacks: deflated, in base64.

    Lone surrogates, which UTF-8 can't hold, are escaped.
    """
    deflated = zlib.compress("\n".join(lines).encode("utf-8", "backslashreplace"), _LEVEL)
    return base64.b64encode(deflated).decode("ascii")
