"""Charts of a page: places that are derived by hand, and what they leave out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from metrichub.report.html import charts
from metrichub.report.html.charts import BOTTOM, LEFT, MANY, RIGHT, TOP
from metrichub.report.html.records import Scores

NAN = float("nan")


def scores(label: str = "m", better: str = "higher", **systems: list[float]) -> Scores:
    return Scores(label, better, {name: np.array(values) for name, values in systems.items()})


def test_a_histogram_has_a_bar_a_bin() -> None:
    (chart,) = charts.histograms([scores(a=[0.0, 0.0, 1.0, NAN, float("inf")])])
    (shape,) = chart.shapes
    assert shape.kind == "bars"
    # Five bins of a width of 264 / 5 = 52.8: two samples in the first, one in the last, and the
    # one is half as high as the two, (200 - 22) / 2 = 89.
    assert shape.path == "M46,200V22H98.8V200H151.6V200H204.4V200H257.2V111H310V200"
    assert chart.rows == [(BOTTOM, "0"), (111, "1"), (TOP, "2")]
    assert (chart.columns[0].text, chart.columns[0].place) == ("0", LEFT)
    assert (chart.columns[-1].text, chart.columns[-1].place) == ("1", RIGHT)
    assert chart.text == "Histogram of the sample scores: m."


def test_systems_differ_in_colour_and_in_dashes() -> None:
    values = {f"s{k}": [0.0, k + 1.0] for k in range(12)}
    (chart,) = charts.histograms([scores(**values)])
    assert {shape.kind for shape in chart.shapes} == {"line"}
    looks = {(shape.system % charts.COLOURS, shape.dash) for shape in chart.shapes}
    assert len(looks) == 12
    assert len({shape.dash for shape in chart.shapes[:4]}) == 4


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        # A fifth of the axis, rounded up to 1, 2 or 5 of some power of ten.
        ([0.0, 1.0], "0 0.2 0.4 0.6 0.8 1"),
        ([0.12, 0.95], "0.2 0.4 0.6 0.8"),
        ([-3.0, 40.0], "0 10 20 30 40"),
        ([1e-9, 2e-9], "1e-09 1.2e-09 1.4e-09 1.6e-09 1.8e-09 2e-09"),
        # What is the same but for rounding stands in the middle of 0.5 to 1.5.
        ([1.0, float(np.nextafter(1, 2))], "0.6 0.8 1 1.2 1.4"),
        ([], "0 0.2 0.4 0.6 0.8 1"),
    ],
)
def test_ticks_are_round_numbers_inside_the_axis(values: list[float], ticks: str) -> None:
    (chart,) = charts.histograms([scores(a=values)])
    assert [tick.text for tick in chart.columns] == ticks.split()
    assert all(LEFT <= tick.place <= RIGHT for tick in chart.columns)


def test_metrics_are_drawn_against_each_other_of_the_first_system() -> None:
    outputs = [scores(name, a=[0.0, k], b=[9.0, 9.0]) for k, name in enumerate("vwxyz", 1)]
    found = [(chart.across, chart.up) for chart in charts.scatter_charts(outputs)]
    assert found == [("v", "w"), ("v", "x"), ("w", "x"), ("v", "y"), ("w", "y"), ("x", "y")]


def test_a_comparison_has_a_dot_a_sample_and_the_line_of_equals() -> None:
    (chart,) = charts.comparisons([scores("wer", "lower", a=[0, 1, 0.5, NAN], b=[0.5, 0, 0.5, 1])])
    *dots, equal = chart.shapes
    # The axes go from -0.04 to 1.04: 0 stands at 46 + 264 * 0.04 / 1.08 = 55.78, and so on.
    places = sorted(re.findall(r"M([\d.]+),([\d.]+)h0", "".join(dot.path for dot in dots)))
    assert places == [("178.0", "111.0"), ("300.2", "193.4"), ("55.8", "111.0")]
    assert equal.path == "M46,200L310,22"
    assert chart.title == "1 better, 1 worse, 1 equal"
    assert chart.text == ("Sample scores by wer of b over those of a: 1 better, 1 worse, 1 equal.")
    assert (chart.across, chart.up) == ("wer of a", "wer of b")


def test_a_long_name_keeps_its_end() -> None:
    long = "x" * 20 + ".jsonl"
    (chart,) = charts.comparisons([scores("wer", **{"a": [0.0], long: [1.0]})])
    # 20 letters: the ellipsis, 13 of "x", and the 6 of the suffix.
    assert chart.up == f"wer of …{'x' * 13}.jsonl"


def test_many_samples_are_counted_in_squares() -> None:
    values = np.linspace(0, 1, MANY)
    one = Scores("x", "higher", {"a": values, "b": np.minimum(values, 0.5)})
    (chart,) = charts.comparisons([one])
    *cells, _ = chart.shapes
    assert {cell.kind for cell in cells} == {"cell"}
    assert sum(cell.path.count("M") for cell in cells) < 80
    # Half of the samples lie on the horizontal, as few each as on the diagonal; never unseen.
    assert all(0 < cell.opacity <= 1 for cell in cells)


def test_nothing_to_draw_is_no_error() -> None:
    assert charts.comparisons([]) == charts.scatter_charts([]) == charts.histograms([]) == []
    empty = scores(a=[NAN], b=[NAN])
    (chart,) = charts.comparisons([empty])
    assert [shape.kind for shape in chart.shapes] == ["equal"]
    assert charts.scatter_charts([empty, empty])[0].shapes == []
