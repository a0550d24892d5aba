"""Plots of reports: what is drawn, in which colours, and the numbers beside them."""

from __future__ import annotations

import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the extra plots is not installed")

from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from metrichub import Hub
from metrichub.errors import MissingDependency, ReportError
from metrichub.report.html import charts, plots
from metrichub.report.html.charts import correlations, quartiles
from metrichub.report.html.records import Scores

COLUMNS: dict[str, Any] = {"predictions": ["a b", "c d", "e"], "references": ["a b", "c", "e f"]}
NAN = float("nan")


def scores(label: str = "m", better: str = "higher", **systems: list[float]) -> Scores:
    return Scores(label, better, {name: np.array(values) for name, values in systems.items()})


def test_one_metric_is_a_histogram_of_its_samples() -> None:
    figure = Hub(["exact_match", "wer"]).evaluate(**COLUMNS).plot("exact_match")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "exact_match"
    (steps,) = axes.patches
    values, edges, _ = steps.get_data()  # type: ignore[attr-defined]  # a StepPatch
    # One sample has 1, two have 0.
    assert (values[0], values.sum(), values[-1]) == (2, 3, 1)
    assert (edges[0], edges[-1]) == (0, 1)


def test_each_metric_or_another_output_has_its_histogram() -> None:
    report = Hub(["exact_match", "token_f1"]).evaluate(**COLUMNS)
    assert [axes.get_xlabel() for axes in report.plot().axes] == ["exact_match", "token_f1"]
    assert report.plot("token_f1", "recall").axes[0].get_xlabel() == "token_f1 recall"


def test_two_metrics_are_plotted_against_each_other() -> None:
    figure = Hub(["exact_match", "token_f1"]).evaluate(**COLUMNS).plot(["exact_match", "token_f1"])
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("exact_match", "token_f1")
    points = np.asarray(axes.collections[0].get_offsets())
    # "e" against "e f" has F1 2/3, as has "c d" against "c".
    assert np.allclose(points, [(1, 1), (0, 2 / 3), (0, 2 / 3)])


def test_two_reports_are_plotted_sample_by_sample() -> None:
    hub = Hub(["exact_match", "wer"])
    other = hub.evaluate(**{**COLUMNS, "predictions": ["a", "c", "e f"]})
    (axes,) = hub.evaluate(**COLUMNS).plot("wer", other=other).axes
    assert axes.get_xlabel() == "wer of this"
    assert axes.get_ylabel() == "wer of other"
    # 0, 1, 1/2 become 1/2, 0, 0: two samples have fewer errors, one has more.
    assert axes.get_title(loc="left") == "2 better, 1 worse, 0 equal"
    assert len(hub.evaluate(**COLUMNS).plot(other=other).axes) == 2


def test_what_is_not_there_or_of_other_samples_cannot_be_plotted() -> None:
    report = Hub("wer").evaluate(**COLUMNS)
    with pytest.raises(ReportError, match="no metric 'wre' in the report; did you mean 'wer'"):
        report.plot("wre")
    with pytest.raises(ReportError, match="wer has no output 'hit'; did you mean 'hits'"):
        report.plot("wer", "hit")
    with pytest.raises(ReportError, match="3 and 1 samples"):
        report.plot("wer", other=Hub("wer").evaluate(predictions=["a"], references=["a"]))
    with pytest.raises(ReportError, match="pooled"):
        report.pool().plot()


def test_a_figure_shows_itself_in_a_notebook() -> None:
    figure = Hub("wer").evaluate(**COLUMNS).plot()
    assert isinstance(figure, Figure)
    svg = ElementTree.fromstring(figure._repr_svg_())  # type: ignore[attr-defined]  # of our Plot
    assert svg.tag.endswith("svg")


def test_plotting_without_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in ("figure", "plots"):
        monkeypatch.delitem(sys.modules, f"metrichub.report.html.{name}", raising=False)
    with pytest.raises(MissingDependency, match=r"matplotlib.*metrichub\[plots\]"):
        Hub("wer").evaluate(**COLUMNS).plot()


def test_systems_differ_in_colour_and_in_line() -> None:
    figure = plots.distributions([scores(a=[0, 1], b=[0, 0.5], c=[1, 1])])
    lines = figure.axes[0].patches
    colours = [to_hex(line.get_edgecolor()).upper() for line in lines]
    # The first of the palette of Okabe and Ito: blue, vermilion, bluish green.
    assert colours == ["#0072B2", "#D55E00", "#009E73"]
    assert len({str(line.get_linestyle()) for line in lines}) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b", "c"]


def test_scores_that_differ_by_rounding_alone_are_one_bar() -> None:
    # numpy finds no room for bins between 1 and the next number.
    figure = plots.distributions([scores(a=[1.0, np.nextafter(1, 2), 1.0])])
    (bars,) = figure.axes[0].patches
    counts, edges, _ = bars.get_data()
    assert counts.max() == counts.sum() == 3
    assert edges[[0, -1]].tolist() == [0.5, 1.5]


def test_many_samples_are_counted_in_hexagons() -> None:
    values = np.linspace(0, 1, charts.MANY)
    figure = plots.scatters([Scores(name, "higher", {"": values}) for name in "xy"])
    (collection,) = figure.axes[0].collections
    assert collection.get_rasterized()
    assert len(np.asarray(collection.get_offsets())) < 100


@pytest.mark.parametrize("name", ["$\\frac{", "a\x01b\ud800", "<b>&", "日本", "x" * 300])
def test_any_name_can_label_a_plot(name: str) -> None:
    values = {name: np.array([0.0, 1.0]), "b": np.array([1.0, 1.0])}
    for figure in (
        plots.distributions([Scores(name, "higher", values)]),
        plots.comparison_plot([Scores(name, "higher", values)]),
    ):
        ElementTree.fromstring(plots.svg(figure))


def test_plots_leave_out_what_is_unscored_or_infinite() -> None:
    figure = plots.distributions([scores(a=[NAN, 1, 2, float("inf")]), scores(a=[NAN] * 4)])
    values, *_ = figure.axes[0].patches[0].get_data()  # type: ignore[attr-defined]  # a StepPatch
    assert values.sum() == 2


def test_better_is_lower_where_the_card_says_so() -> None:
    a, b = [1.0, 1.0, 3.0, NAN], [0.0, 0.5, 5.0, 1.0]
    assert charts.win_counts(scores(better="lower", a=a, b=b)) == "2 better, 1 worse, 0 equal"
    assert charts.win_counts(scores(better="higher", a=a, b=b)) == "1 better, 2 worse, 0 equal"
    assert charts.win_counts(scores(better="neither", a=a, b=a)) == "0 higher, 0 lower, 3 equal"


def test_quartiles_leave_out_what_is_unscored() -> None:
    table = quartiles([scores("m", a=[4.0, NAN, 1.0, 2.0, 3.0, 5.0])])
    assert table.rows == [["m", 5, 1.0, 2.0, 3.0, 4.0, 5.0]]
    assert quartiles([scores(a=[NAN])]).rows == [["m", 0, *[None] * 5]]
    assert quartiles([scores(a=[1.0], b=[2.0])]).rows[1][:3] == ["m", "b", 1]


def test_correlations_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is the oracle")
    generator = np.random.default_rng(3)
    x = generator.integers(0, 6, 50).astype(float)
    y = x + generator.normal(0, 2, 50)
    table = correlations([scores("x", a=x.tolist()), scores("y", a=y.tolist())])
    assert table.head == ["", "x", "y"]
    ((_, row, above), (_, below, _)) = table.rows
    assert row is None
    assert above == pytest.approx(stats.spearmanr(x, y).statistic)
    assert below == pytest.approx(stats.pearsonr(x, y).statistic)
    # A constant has none.
    table = correlations([scores("x", a=[1.0, 1.0, NAN]), scores("y", a=[1.0, 2.0, 3.0])])
    assert table.rows == [["x", None, None], ["y", None, None]]
