"""Charts of a page: places that are derived by hand, and what they leave out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from metrichub.report.html import charts
from metrichub.report.html.charts import BOTTOM, LEFT, MANY, RIGHT, TOP
from metrichub.report.html.records import Scores, page_numbers

NAN = float("nan")


def scores(label: str = "m", better: str = "higher", **systems: list[float]) -> Scores:
    return Scores(label, better, {name: np.array(values) for name, values in systems.items()})


def test_a_histogram_has_a_bar_a_bin_that_selects_its_samples() -> None:
    (chart,) = charts.histograms([(3, scores(a=[0.0, 0.0, 1.0, NAN, float("inf")]))])
    # Five bins of a width of 264 / 5 = 52.8: two samples in the first, one in the last, and the
    # one is half as high as the two, (200 - 22) / 2 = 89.
    assert [shape.path for shape in chart.shapes] == [
        "M46,200V22H98.8V200z",
        "M257.2,200V111H310V200z",
    ]
    selected = [json.loads(shape.select) for shape in chart.shapes]
    assert selected[0] == {"output": 3, "system": 0, "low": 0.0, "high": 0.2}
    assert (selected[1]["low"], selected[1]["high"]) == (0.8, 1.0)
    assert chart.shapes[0].about == "2 samples from 0 to 0.2"
    assert chart.shapes[1].about == "1 sample from 0.8 to 1"
    assert chart.rows == [(BOTTOM, "0"), (111, "1"), (TOP, "2")]
    assert (chart.columns[0].text, chart.columns[0].place) == ("0", LEFT)
    assert (chart.columns[-1].text, chart.columns[-1].place) == ("1", RIGHT)
    assert chart.text == "Histogram of the sample scores: m."


def test_the_bars_hold_every_sample_as_the_page_knows_it() -> None:
    values = np.random.default_rng(5).normal(size=500)
    (chart,) = charts.histograms([(0, Scores("m", "higher", {"": values}))])
    shown = [float(v) for v in page_numbers(values) if v is not None]
    places = [json.loads(shape.select) for shape in chart.shapes]
    highest = max(shown)
    inside = [
        sum(p["low"] <= v and (v < p["high"] or v == p["high"] == highest) for v in shown)
        for p in places
    ]
    assert sum(inside) == 500
    assert [f"{n} sample{'s' * (n > 1)}" for n in inside] == [
        shape.about.partition(" from")[0] for shape in chart.shapes
    ]
    assert (places[0]["low"], places[-1]["high"]) == (min(shown), highest)


def test_systems_differ_in_colour_and_in_dashes() -> None:
    values = {f"s{k}": [0.0, k + 1.0] for k in range(12)}
    (chart,) = charts.histograms([(0, scores(**values))])
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
    (chart,) = charts.histograms([(0, scores(a=values))])
    assert [tick.text for tick in chart.columns] == ticks.split()
    assert all(LEFT <= tick.place <= RIGHT for tick in chart.columns)


@pytest.mark.parametrize("size", [2, 10, 12])
def test_a_single_value_is_in_the_middle_of_its_bar(size: int) -> None:
    (chart,) = charts.difference_histograms(
        [(0, scores(a=[1.0] * size, b=[1.0] * size))], ("b", "a")
    )
    (bar,) = chart.shapes
    chosen = json.loads(bar.select)
    assert chosen["low"] == pytest.approx(-chosen["high"])


def test_metrics_are_drawn_against_each_other_of_the_first_system() -> None:
    outputs = [scores(name, a=[0.0, k], b=[9.0, 9.0]) for k, name in enumerate("vwxyz", 1)]
    results = [(chart.across, chart.up) for chart in charts.scatter_charts(outputs)]
    assert results == [("v", "w"), ("v", "x"), ("w", "x"), ("v", "y"), ("w", "y"), ("x", "y")]


def test_differences_of_a_pair_are_those_of_the_first_from_the_second() -> None:
    of = scores("wer", "lower", a=[0, 1, 0.5, NAN], b=[0.5, 0, 0.5, 1])
    (chart,) = charts.difference_histograms([(1, of)], ("b", "a"))
    assert chart.title == "1 better, 1 worse, 1 equal"
    assert chart.text == "Differences by wer of b from a: 1 better, 1 worse, 1 equal."
    assert chart.across == "wer: b − a"
    # b − a is 0.5, -1 and 0: five bins of 0.3 from -1 to 0.5.
    selected = [json.loads(shape.select) for shape in chart.shapes]
    assert [entry["pair"] for entry in selected] == [[0, 1]] * 3
    assert selected[0]["low"] == -1
    assert selected[-1]["high"] == 0.5


def test_a_long_name_keeps_its_end() -> None:
    long = "x" * 20 + ".jsonl"
    (chart,) = charts.difference_histograms([(0, scores("wer", **{"a": [0.0], long: [1.0]}))],
                                            (long, "a"))  # fmt: skip
    # 14 letters: the ellipsis, 7 of "x", and the 6 of the suffix.
    assert chart.across == f"wer: …{'x' * 7}.jsonl − a"


def test_many_samples_are_counted_in_squares() -> None:
    values = np.linspace(0, 1, MANY)
    outputs = [Scores("x", "higher", {"a": values}),
               Scores("y", "higher", {"a": np.minimum(values, 0.5)})]  # fmt: skip
    (chart,) = charts.scatter_charts(outputs)
    assert {cell.kind for cell in chart.shapes} == {"cell"}
    assert sum(cell.path.count("M") for cell in chart.shapes) < 80
    # Half of the samples lie on the horizontal, as few each as on the diagonal; never unseen.
    assert all(0 < cell.opacity <= 1 for cell in chart.shapes)


def test_nothing_to_draw_is_no_error() -> None:
    assert charts.scatter_charts([]) == charts.histograms([]) == []
    empty = scores(a=[NAN], b=[NAN])
    (chart,) = charts.difference_histograms([(0, empty)], ("b", "a"))
    assert chart.shapes == []
    assert charts.scatter_charts([empty, empty])[0].shapes == []
