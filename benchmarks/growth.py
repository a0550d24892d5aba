"""How the time of metrics without a judge grows: with texts, rows, references, groups, systems.

    python -m benchmarks.growth [-m eed] [--axis words] [--seconds 0.5] [--flagged]

Sizes grow by a fifth until one takes longer than the seconds, in time of the processor. The
exponent is the slope of the last sizes, on logarithmic scales. `!` marks one above 1.3, and a
step: a size that takes over three times as long as the one before it. All columns of a sample grow
together, so a metric that looks for each item of a list in a text has an exponent of 2.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import cycle, islice, pairwise
from math import log
from random import Random
from typing import Any, NamedTuple

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import generated
from metrichub import Hub, compare_all, list_metrics
from metrichub.data.columns import CONVERSATIONS
from metrichub.errors import InputError, without_warnings
from metrichub.testing.under_test import MetricUnderTest, conversation_with

STEEP, STEP = 1.3, 3.0
"""The exponent, and the ratio of two sizes, from which a row is marked."""
GROWTH = 1.2
_STEADY = 0.005
"""Seconds below which a size says nothing of growth."""
_LAST = 6
"""How many sizes the slope is of: they grow threefold in all."""
_APART = 40_009
"""Words between the beginnings of unrelated texts."""
WIDE = ("exact_match", "bleu")
"""The metrics whose systems and groups are compared: what they do is the same for all."""
AXES = {
    "words": (50, 100_000),
    "unrelated": (50, 100_000),
    "rows": (200, 30_000),
    "references": (20, 100_000),
    "groups": (10, 2_000),
    "systems": (2, 24),
}
"""The first and the last size of each axis."""
Columns = Mapping[str, Any]


class Timing(NamedTuple):
    """A number of items, and the seconds that they took."""

    size: int
    seconds: float


@click.command()
@click.option("-m", "--metric", "names", multiple=True)
@click.option("--axis", "axes", multiple=True, type=click.Choice([*AXES]))
@click.option("--seconds", default=0.5, show_default=True)
@click.option("--flagged", is_flag=True, help="Show only rows that are marked.")
def main(names: tuple[str, ...], axes: tuple[str, ...], seconds: float, flagged: bool) -> None:
    """Print a row for each metric and axis."""
    table = Table("metric", "axis", "exponent", "last size", "seconds", "largest step")
    console = Console(width=110)
    for name in names or offline_metrics():
        for axis, (first, last) in AXES.items():
            if axis not in (axes or AXES) or (axis in _RUNS and name not in WIDE):
                continue
            run = _RUNS.get(axis, _scored)
            with without_warnings():
                timings = [*timed(partial(run, name, axis), first, last, seconds)]
            slope, (ratio, at) = exponent(timings), largest_step(timings)
            marks = ["!" if slope > STEEP else "", "!" if ratio > STEP else ""]
            if timings and (any(marks) or not flagged):
                table.add_row(
                    name,
                    axis,
                    f"{slope:.2f}{marks[0]}",
                    f"{timings[-1].size:,}",
                    f"{timings[-1].seconds:.3f}",
                    f"{ratio:.1f}{marks[1]} at {at:,}",
                )
    console.print(table)


def offline_metrics() -> list[str]:
    """The metrics that ask neither a judge nor an embedder."""
    entries = [entry for entry in list_metrics() if entry.distribution == "metrichub"]
    return [entry.name for entry in entries if not (entry.card.judge or entry.card.embedder)]


def timed(
    run: Callable[[int], Callable[[], object] | None], first: int, last: int, seconds: float
) -> Iterator[Timing]:
    """The timings of growing sizes, each the smaller of two unless it takes long."""
    size, spent = first, 0.0
    while size <= last and spent < seconds:
        call = run(size)
        if call is None:
            return
        try:
            spent = min(_seconds(call) for _ in range(3 if spent < seconds / 4 else 2))
        except InputError:  # Its samples can't be joined.
            return
        yield Timing(size, spent)
        size = max(size + 1, round(size * GROWTH))


def exponent(timings: list[Timing]) -> float:
    """The slope of the last sizes, on logarithmic scales; 0 if all of them are quick."""
    last = [timing for timing in timings[-_LAST:] if timing.seconds > _STEADY]
    if len(last) < 3:
        return 0.0
    sizes, seconds = ([log(value) for value in column] for column in zip(*last, strict=True))
    return float(np.polyfit(sizes, seconds, 1)[0])


def largest_step(timings: list[Timing]) -> tuple[float, int]:
    """The largest ratio of a size that counts to the one before it, and that size."""
    steps = [
        (after.seconds / before.seconds, after.size)
        for before, after in pairwise(timings)
        if after.seconds > 4 * _STEADY
    ]
    return max(steps, default=(0.0, 0))


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _scored(name: str, axis: str, size: int) -> Callable[[], object] | None:
    """A call that scores one large sample, or many; None if the metric has no such size."""
    under_test = _under_test(name)
    hub, columns = Hub(under_test.metric), _grown(under_test, axis, size)
    return None if columns is None else lambda: hub.evaluate(**columns)


def _grown(under_test: MetricUnderTest, axis: str, size: int) -> Columns | None:
    columns = under_test.columns
    if axis == "rows":
        return {column: [*islice(cycle(rows), size)] for column, rows in columns.items()}
    one = {column: rows[:1] for column, rows in columns.items()}
    if axis == "references":
        if "references" not in under_test.metric.inputs():
            return None
        text = one["references"][0]
        text = text[0] if isinstance(text, list) and text else text
        return {**one, "references": [[f"{text} {number}" for number in range(size)]]}
    if build := _ITEMS.get(under_test.entry.name):
        return build(size, axis == "unrelated")
    if under_test.extra_columns is not None:
        if axis == "unrelated":
            return None
        return {column: [_joined(rows, size)] for column, rows in columns.items()}
    return {column: [_long(column, size, axis == "unrelated")] for column in columns}


def _long(column: str, words: int, unrelated: bool) -> Any:
    """A text of so many words; a prediction is a noisy copy of it, or from another place."""
    noisy, clean = _words()
    texts = noisy if column == "predictions" else clean
    start = _APART if unrelated and column == "predictions" else 0
    text = " ".join(islice(cycle(texts), start, start + words))
    if column in CONVERSATIONS:
        return conversation_with(text)
    return [text] if column == "contexts" else text


@cache
def _words() -> tuple[list[str], list[str]]:
    corpus = generated(4_000)
    return " ".join(corpus.predictions).split(), " ".join(corpus.references).split()


def _joined(rows: list[Any], size: int) -> Any:
    """The texts of a column joined up to so many words, or its lists up to so many items."""
    if isinstance(rows[0], str):
        return " ".join(islice(cycle(" ".join(map(str, rows)).split() or ["a"]), size))
    if isinstance(rows[0], list):
        return [*islice(cycle([item for row in rows for item in row] or ["a"]), size)]
    return rows[0]


def _numbers(size: int, unrelated: bool) -> tuple[list[int], list[int]]:
    """Numbers, and the same in another order with another last one, or others altogether."""
    expected = list(range(size))
    predicted = [number + size * unrelated for number in expected[:-1]] + [-1]
    Random(1).shuffle(predicted)
    return predicted, expected


def _json_lists(size: int, unrelated: bool) -> Columns:
    predicted, expected = _numbers(size, unrelated)
    return {"predictions": [json.dumps(predicted)], "references": [json.dumps(expected)]}


def _spans(size: int, unrelated: bool) -> Columns:
    predicted, expected = ("\n".join(map(str, side)) for side in _numbers(size, unrelated))
    return {"predictions": [predicted], "references": [expected]}


def _calls(size: int, unrelated: bool) -> Columns:
    sides = [
        [{"id": str(i), "function": {"name": "f", "arguments": json.dumps({"n": n})}}
         for i, n in enumerate(side)]
        for side in _numbers(size, unrelated)
    ]  # fmt: skip
    messages, reference = (
        [{"role": "assistant", "content": None, "tool_calls": calls}] for calls in sides
    )
    return {"messages": [messages], "reference_messages": [reference]}


def _systems(name: str, _: str, size: int) -> Callable[[], object]:
    """A call that compares so many systems of 100 rows."""
    rows = generated(100)
    hub = Hub(name)
    reports = hub.evaluate_all(
        {
            str(number): {
                "predictions": rows.predictions[number:] + rows.predictions[:number],
                "references": rows.references,
            }
            for number in range(size)
        }
    )
    return lambda: compare_all(reports, trials=1_000, resamples=200)


def _groups(name: str, _: str, size: int) -> Callable[[], object]:
    """A call that scores so many groups of three rows, with intervals."""
    rows = generated(3 * size)
    report = Hub(name).evaluate(
        {
            "predictions": rows.predictions,
            "references": rows.references,
            "group": [f"g{number % size}" for number in range(3 * size)],
        }
    )
    return lambda: [group.intervals(resamples=100) for group in report.by("group").values()]


@cache
def _under_test(name: str) -> MetricUnderTest:
    return MetricUnderTest(next(entry for entry in list_metrics() if entry.name == name))


_RUNS: dict[str, Callable[[str, str, int], Callable[[], object] | None]] = {
    "systems": _systems,
    "groups": _groups,
}
_ITEMS: dict[str, Callable[[int, bool], Columns]] = {
    "json_similarity": _json_lists,
    "drop_f1": _spans,
    "trajectory_match": _calls,
}

if __name__ == "__main__":
    main()
