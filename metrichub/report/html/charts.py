"""Charts: a page's histograms and scatter plots as paths, and what matplotlib's share with them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from metrichub.report.html.records import Scores, Values, as_shown
from metrichub.report.tables import Cell, Table

LEFT, RIGHT, TOP, BOTTOM = 46, 310, 22, 200
"""The ends of a chart's axes, in its own units; the template leaves room for texts around them."""
COLOURS = 6
DASHES = ("", "6 3", "2 2", "8 2 2 2")
"""Dashes tell systems apart where colors don't."""
_CELLS, _SHADES = 36, 5

MANY = 2000
"""From this number of samples on, or where many are alike, a scatter shows counts by place."""

MOST = 4
"""Metrics that are plotted against each other."""

Place = Callable[[float], float]


class Shape(NamedTuple):
    """A path: filled or as a line, in the color of a system, so opaque.

    A bar that is clicked `select`s its samples, which `about` says in words.
    """

    path: str
    kind: str
    system: int = 0
    opacity: float = 1.0
    select: str = ""
    about: str = ""

    @property
    def dash(self) -> str:
        """The dashes of the system's line; the same color never has the same."""
        return dash_of(self.system)


class Tick(NamedTuple):
    """A round number and its place on an axis."""

    place: float
    text: str


class Chart(NamedTuple):
    """A chart with its axes, and what it says to those who don't see it."""

    text: str
    title: str
    across: str
    up: str
    columns: Sequence[Tick]
    rows: Sequence[Tick]
    shapes: Sequence[Shape]


class Spread(NamedTuple):
    """The distribution of the samples' scores: charts, quartiles, and how metrics agree."""

    differences: Sequence[Chart]
    histograms: Sequence[Chart]
    quartiles: Table
    scatters: Sequence[Chart]
    correlations: Table | None


def spread_of(
    outputs: Sequence[tuple[str, str, Scores]], start: int | None, pair: tuple[str, str] | None
) -> Spread:
    """The distribution of each metric's `score`; differences begin with the output `start`."""
    main = [(k, scores) for k, (_, output, scores) in enumerate(outputs) if output == "score"]
    compared = main
    if start is not None:
        first, _, scores = outputs[start]
        # It stands in place of the score of its metric.
        compared = [(start, scores), *(output for output in main if outputs[output[0]][0] != first)]
    scores_of_main = [scores for _, scores in main]
    return Spread(
        difference_histograms(compared, pair) if pair else (),
        histograms(main),
        quartiles(scores_of_main),
        scatter_charts(scores_of_main),
        correlations(scores_of_main) if len(main) > 1 else None,
    )


def dash_of(system: int) -> str:
    """The dashes of a system's line."""
    return DASHES[(system + system // COLOURS) % len(DASHES)]


def histograms(outputs: Sequence[tuple[int, Scores]]) -> list[Chart]:
    """A histogram for each output, by its number: of one system with bars, else with lines."""
    return [_histogram(number, output) for number, output in outputs]


def difference_histograms(
    outputs: Sequence[tuple[int, Scores]], pair: tuple[str, str]
) -> list[Chart]:
    """A histogram of the first system's scores minus the second's, for each output."""
    charts = []
    for number, output in outputs:
        names = [*output.systems]
        mine, theirs = (as_shown(output.systems[name]) for name in pair)
        with np.errstate(invalid="ignore"):
            values = mine - theirs
        outcome = win_counts(output._replace(systems={"": theirs, pair[0]: mine}))
        places = [names.index(name) for name in reversed(pair)]
        text = f"Differences by {output.label} of {' from '.join(pair)}: {outcome}."
        across = f"{_short(output.label, 14)}: {' − '.join(_short(name, 14) for name in pair)}"
        chart = _bars(values, {"output": number, "pair": places})
        charts.append(chart._replace(text=text, title=outcome, across=across))
    return charts


def scatter_charts(outputs: Sequence[Scores]) -> list[Chart]:
    """Each of the first outputs against each other, of the first system."""
    columns = [(output.label, next(iter(output.systems.values()))) for output in outputs[:MOST]]
    return [
        _scatter(f"Sample scores: {y[0]} over {x[0]}.", (_short(x[0]), x[1]), (_short(y[0]), y[1]))
        for place, y in enumerate(columns)
        for x in columns[:place]
    ]


def _histogram(number: int, output: Scores) -> Chart:
    text = f"Histogram of the sample scores: {output.label}."
    shown = [as_shown(values) for values in output.systems.values()]
    if len(shown) == 1:
        chart = _bars(shown[0], {"output": number, "system": 0})
        return chart._replace(text=text, across=_short(output.label))
    finite = [values[np.isfinite(values)] for values in shown]
    edges = bin_edges(np.concatenate(finite))
    counts = [np.histogram(values, edges)[0] for values in finite]
    most = max([1, *(int(count.max()) for count in counts)])
    x, y = _across(edges[0], edges[-1]), _up(0, most)
    shapes = [
        Shape(_steps([x(edge) for edge in edges], [y(n) for n in count.tolist()]), "line", system)
        for system, count in enumerate(counts)
    ]
    columns = ticks(edges[0], edges[-1], x)
    return Chart(text, "", _short(output.label), "samples", columns, _whole(most, y), shapes)


def _bars(values: Values, select: dict[str, object]) -> Chart:
    """A bar a bin, each of which selects its samples by its exact ends."""
    finite = values[np.isfinite(values)]
    edges = bin_edges(finite)
    counts = np.histogram(finite, edges)[0].tolist()
    most = max(1, *counts)
    x, y = _across(edges[0], edges[-1]), _up(0, most)
    shapes = []
    for count, low, high in zip(counts, edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if count:
            path = f"M{x(low):g},{BOTTOM}V{y(count):g}H{x(high):g}V{BOTTOM}z"
            about = f"{count:,} {'samples' if count > 1 else 'sample'} from {low:.4g} to {high:.4g}"
            chosen = json.dumps({**select, "low": low, "high": high})
            shapes.append(Shape(path, "bars", 0, select=chosen, about=about))
    columns = ticks(edges[0], edges[-1], x)
    return Chart("", "", "", "samples", columns, _whole(most, y), shapes)


def _whole(most: int, place: Place) -> list[Tick]:
    return [tick for tick in ticks(0, most, place) if float(tick.text).is_integer()]


def _steps(edges: Sequence[float], tops: Sequence[float]) -> str:
    lines = "".join(f"V{top:g}H{edge:g}" for top, edge in zip(tops, edges[1:], strict=True))
    return f"M{edges[0]:g},{BOTTOM}{lines}V{BOTTOM}"


def _scatter(text: str, across: tuple[str, Values], up: tuple[str, Values]) -> Chart:
    finite = np.isfinite(across[1]) & np.isfinite(up[1])
    x, y = across[1][finite], up[1][finite]
    ends = [_ends(values) for values in (x, y)]
    at, on = _across(*ends[0]), _up(*ends[1])
    shapes = _cells(x, y, ends, at, on) if is_dense(x, y) else _dots(x, y, at, on)
    columns, rows = ticks(*ends[0], at), ticks(*ends[1], on)
    return Chart(text, "", across[0], up[0], columns, rows, shapes)


def _ends(values: Values) -> tuple[float, float]:
    """The ends of an axis, with some room around a single value."""
    if not len(values):
        return 0, 1
    low, high = float(values.min()), float(values.max())
    room = (high - low) * 0.04 or abs(low) * 0.5 or 0.5
    return low - room, high + room


def _dots(x: Values, y: Values, at: Place, on: Place) -> list[Shape]:
    """A dot a sample; where dots lie on each other they are darker."""
    size = "dot" if len(x) < 200 else "speck"
    dots = zip(x.tolist(), y.tolist(), strict=True)
    places = [f"M{at(across):.1f},{on(up):.1f}h0" for across, up in dots]
    layers = min(4, len(places))
    return [Shape("".join(places[k::layers]), size, 0, 0.5) for k in range(layers)]


def _cells(
    x: Values, y: Values, ends: Sequence[tuple[float, float]], at: Place, on: Place
) -> list[Shape]:
    """A square a place, the more opaque the more samples are there."""
    counts, columns, rows = np.histogram2d(x, y, _CELLS, ends)
    shade = np.log1p(counts) / max(np.log1p(counts).max(), 1)
    level = np.ceil(shade * _SHADES).astype(int)
    width, height = at(columns[1]) - at(columns[0]), on(rows[0]) - on(rows[1])
    square = f"h{width:.2f}v{height:.2f}h-{width:.2f}z"
    shapes = []
    for k in range(1, _SHADES + 1):
        places = np.argwhere(level == k).tolist()
        path = "".join(f"M{at(columns[i]):.1f},{on(rows[j + 1]):.1f}{square}" for i, j in places)
        if path:
            shapes.append(Shape(path, "cell", 0, k / _SHADES))
    return shapes


def _across(low: float, high: float) -> Place:
    return lambda value: round(LEFT + (value - low) / (high - low) * (RIGHT - LEFT), 2)


def _up(low: float, high: float) -> Place:
    return lambda value: round(BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP), 2)


def ticks(low: float, high: float, place: Place) -> list[Tick]:
    """Up to about five round numbers from one end to the other."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(width for times in (1, 2, 5, 10) if (width := times * power) >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [Tick(place(k * step), f"{k * step:.6g}") for k in range(first, last + 1)]


def _short(name: str, most: int = 32) -> str:
    return name if len(name) <= most else f"…{name[1 - most :]}"


def bin_edges(values: Values) -> Values:
    """The edges of a histogram's bins, around a single value where all are the same."""
    bins = min(30, 5 + len(values) // 10)
    # There is no room for bins between values that differ by rounding alone.
    same = len(values) > 0 and np.allclose(values, values[0], rtol=1e-9, atol=1e-12)
    # Of an odd number, one is in the middle.
    return np.histogram_bin_edges(values[:1] if same else values, bins | same)


def is_dense(x: Values, y: Values) -> bool:
    """Whether the points are so many, or so alike, that they are counted by place."""
    return len(x) >= MANY or len(np.unique(np.stack((x, y)), axis=1).T) <= len(x) / 2


def win_counts(output: Scores) -> str:
    """In how many samples the second system is above, below or equal to the first."""
    x, y = list(output.systems.values())[:2]
    higher, lower = int((y > x).sum()), int((y < x).sum())
    equal = int((y == x).sum())
    if output.better == "neither":
        return f"{higher:,} higher, {lower:,} lower, {equal:,} equal"
    better, worse = (higher, lower) if output.better == "higher" else (lower, higher)
    return f"{better:,} better, {worse:,} worse, {equal:,} equal"


def quartiles(outputs: Sequence[Scores]) -> Table:
    """The five numbers of the scored samples, a row per output and system."""
    several = bool(outputs) and len(outputs[0].systems) > 1
    rows: list[list[Cell]] = []
    for output in outputs:
        for name, values in output.systems.items():
            scored = values[~np.isnan(values)]
            five = np.quantile(scored, np.linspace(0, 1, 5)).tolist() if len(scored) else [None] * 5
            rows.append([output.label, *([name] if several else []), len(scored), *five])
    names = ["metric", *(["system"] if several else []), "scored"]
    return Table([*names, "lowest", "lower quartile", "median", "upper quartile", "highest"], rows)


def correlations(outputs: Sequence[Scores]) -> Table:
    """How the metrics agree on the first system's samples.

    Above the diagonal is Spearman's correlation of ranks, below it Pearson's. Samples that
    either metric leaves unscored are left out.
    """
    columns = [next(iter(output.systems.values())) for output in outputs]
    rows: list[list[Cell]] = []
    for i, output in enumerate(outputs):
        row = [
            None if i == j else _correlation(columns[i], columns[j], ranks=j > i)
            for j in range(len(columns))
        ]
        rows.append([output.label, *row])
    return Table(["", *(output.label for output in outputs)], rows)


def _correlation(first: Values, second: Values, *, ranks: bool) -> float | None:
    finite = np.isfinite(first) & np.isfinite(second)
    x, y = first[finite], second[finite]
    if ranks:
        x, y = _ranks(x), _ranks(y)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _ranks(values: Values) -> Values:
    """The rank of every value, from 1; equal ones share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Values = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
