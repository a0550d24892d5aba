"""What a page says of people in sentences and tables, and which columns it takes for ratings."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from metrichub import Hub
from metrichub.agreement import correlate
from metrichub.agreement import page as people
from metrichub.agreement.agreement import Agreement, AgreementRow
from metrichub.agreement.agreement_inputs import Place
from metrichub.agreement.bootstrap import Drawn
from metrichub.agreement.page_columns import rated_columns
from metrichub.agreement.tables import document_of, forest, read_first, tables_of
from metrichub.errors import MissingColumn, MissingDependency, ReportError
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.html.records import Scores
from metrichub.report.report import Report

NAN = float("nan")


def report_of(**columns: list[Any]) -> Report:
    """A report whose samples are right where they say so by "right", with other columns kept."""
    size = len(next(iter(columns.values())))
    right = columns.pop("right", [1] * size)
    rows = [
        {"prediction": "a" if right[i] else "b", "reference": "a"}
        | {name: values[i] for name, values in columns.items()}
        for i in range(size)
    ]
    return Hub("exact_match").evaluate(rows, keep=list(columns))


def outputs_of(report: Report) -> list[tuple[str, str, Scores]]:
    values = np.asarray(report.results["exact_match"].samples()["score"])
    return [("exact_match", "score", Scores("exact_match", "higher", {"": values}))]


def rows_of(**fields: Any) -> list[AgreementRow]:
    row = AgreementRow(
        metric="m",
        dimension="d",
        level="item",
        coefficient="tau_b",
        value=0.5,
        low=0.25,
        high=0.75,
        used=9,
    )
    return [
        replace(row, **fields),
        replace(row, metric="human ceiling", value=NAN, low=NAN, high=NAN),
        replace(row, metric="chance", value=0, low=NAN, high=NAN),
    ]


def agreement_of(rows: list[AgreementRow]) -> Agreement:
    data = correlate([1, 2, 3], [1, 3, 2], draws=0).data
    return Agreement(rows, data, Drawn("items", 9), 0.95, None, ["noted", "noted too"])


ITEMS = "d: Kendall's tau-b over the outputs of each item, then the mean over items."
OF_AUC = "d: area under the ROC curve over all outputs at once."
NONE: dict[str, Any] = {"low": NAN, "high": NAN}


@pytest.mark.parametrize(
    ("fields", "first", "reasons"),
    [
        ({}, ITEMS, []),
        # A remark on a value with an interval is no reason for having none.
        ({"note": "neither direction is better"}, ITEMS, []),
        (NONE, ITEMS, []),
        ({**NONE, "note": "no interval: why"}, ITEMS, ["No interval: why."]),
        ({"level": "pooled", "coefficient": "auc"}, OF_AUC, []),
        ({"level": "pairs", "coefficient": "kappa"}, "d: kappa at the level pairs.", []),
        ({"level": "system", "coefficient": "pearson"}, "d: Pearson's r at the level system.", []),
    ],
)
def test_sentences_tell_the_coefficient_the_draws_and_reasons_for_no_interval(
    fields: dict[str, Any], first: str, reasons: list[str]
) -> None:
    assert people._how([agreement_of(rows_of(**fields))]) == [
        first,
        "In brackets: 95% intervals, by 9 bootstrap draws of samples.",
        *reasons,
        "Chance is the value for a constant score.",
    ]


GRID: dict[str, Any] = {"item": list("aabbcc"), "system": list("xyxyxy")}


@pytest.mark.parametrize(
    ("options", "drawn"),
    [
        ({}, "In brackets: 90% intervals, by 9 bootstrap draws of samples."),
        ({**GRID, "draw": "items"}, "In brackets: 90% intervals, by 9 bootstrap draws of items."),
        (GRID, "In brackets: 90% intervals, by 9 bootstrap draws of systems and items."),
        ({"draws": 0}, "There are too many samples for intervals on a page; 'metrichub agreement'"),
    ],
)
def test_a_page_says_what_was_drawn(options: dict[str, Any], drawn: str) -> None:
    options_used = {"draws": 9, "confidence": 0.9, **options}
    agreement = correlate([1, 4, 3, 9, 8, 7], [1, 3, 2, 5, 3, 4], **options_used)
    assert people._how([agreement])[1].startswith(drawn)


def test_a_table_of_people_has_a_cell_for_each_rating() -> None:
    both = [agreement_of(rows_of()), agreement_of([replace(r, dimension="e") for r in rows_of()])]
    lone = agreement_of([replace(rows_of()[0], metric="n", value=-0.5, low=NAN, high=NAN)])
    table = people._main(people._by_metric([*both, lone]))
    assert table.head == ["metric", "d", "e"]
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["m", "0.500 [0.250, 0.750]", "0.500 [0.250, 0.750]"],
        ["n", "−0.500", "–"],
        ["human ceiling", "–", "–"],
        ["chance", "0.000", "0.000"],
    ]
    # Of one metric alone on a rating none is best.
    assert table.best == {(0, 1)}


def test_the_first_coefficient_is_read_at_its_first_level() -> None:
    levels = [replace(r, level=level) for level in ("system", "item") for r in rows_of()]
    assert {row.level for row in read_first(agreement_of(levels))} == {"system"}
    ranks = [*levels, *(replace(r, coefficient="spearman") for r in rows_of())]
    read = read_first(agreement_of(ranks))
    assert {(row.level, row.coefficient) for row in read} == {("item", "spearman")}


@pytest.mark.parametrize(
    ("work", "resamples", "draws"),
    [(1200, 1000, 300), (400, 1000, 100), (399, 1000, 0), (400, 50, 50), (199, 50, 0)],
)
def test_intervals_have_as_many_draws_as_there_is_time_for(
    work: int, resamples: int, draws: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Four samples, one rating and one output: a draw is a work of 4.
    monkeypatch.setattr(people, "WORK", work)
    systems = {"": report_of(stars=[1, 2, 2, 3])}
    options = SignificanceOptions(resamples=resamples, confidence=0.9, seed=3)
    agreement = people._agreement(systems, rated_columns(systems), ["stars"], options, 1)
    assert (agreement.drawn.draws, agreement.confidence, agreement.drawn.seed) == (draws, 0.9, 3)


def test_systems_are_pooled_by_item_and_lack_what_they_were_not_asked() -> None:
    report = report_of(right=[1, 0, 1], stars=[3, 1, 2], more=[1, 1, 2])
    other = report_of(right=[0, 0, 1], stars=[1, 2, 3])
    agreement = people._of_several({"x": report, "y": other}, ["stars", "more"], {"draws": 0})
    assert agreement.data[:3] == (6, 2, 3)
    by_hand = correlate(
        [1, 0, 1, 0, 0, 1],
        {"stars": [3, 1, 2, 1, 2, 3], "more": [1, 1, 2, None, None, None]},
        item=[0, 1, 2] * 2, system=["x"] * 3 + ["y"] * 3, draws=0,
    )  # fmt: skip
    assert agreement.data == by_hand.data
    rows = [[replace(row, metric="") for row in of.rows] for of in (agreement, by_hand)]
    assert rows[0] == rows[1]
    assert list(agreement.signatures) == ["exact_match"]
    assert len(agreement.citations) == 1


def test_systems_keep_the_directions_of_their_metrics() -> None:
    rows = [
        {"prediction": text, "reference": "a b", "stars": stars}
        for text, stars in (("a b", 3), ("a x", 2), ("x y", 1))
    ]
    systems = {name: Hub(["wer", "token_f1"]).evaluate(rows) for name in "xy"}
    agreement = people._of_several(systems, ["stars"], {"draws": 0, "level": "pooled"})
    assert agreement.row("wer", coefficient="spearman").value == pytest.approx(1)
    assert agreement.metrics == ["wer", "token_f1"]


def test_ratings_of_yes_and_no_and_of_grades_have_tables_of_their_own() -> None:
    report = report_of(right=[1, 0, 1, 0], stars=[3, 1, 2, 2], good=["yes", "no", "no", "yes"])
    shown = ({"": report}, outputs_of(report), SignificanceOptions(resamples=9))
    result = people.people_of(*shown)
    assert result is not None
    assert result.main.head == ["metric", "stars", "good"]
    assert len(result.whole) == len(result.lines) == 2
    assert [rating["name"] for rating in result.data["ratings"]] == ["stars", "good"]
    assert result.data["ratings"][1]["values"] == [[1, 0, 0, 1]]
    # What was measured is shown as it is, with the columns that were named.
    measured = correlate({"exact_match": [1, 0, 1, 0]}, {"stars": [3, 1, 2, 2]}, draws=0)
    for human, ratings in ((None, []), ("stars", ["stars"]), (["good"], ["good"])):
        result = people.people_of(*shown, human, measured)
        assert result is not None
        assert result.lines == [measured.line()]
        assert [table["name"] for table in result.data.get("ratings", [])] == ratings
    bare = report_of(right=[1, 0])
    assert people.people_of({"": bare}, outputs_of(bare), SignificanceOptions()) is None
    assert people.people_of({"": report}, [], SignificanceOptions()) is None


COUNT, SAME = "a different number for each sample", "the same everywhere"


@pytest.mark.parametrize(
    ("values", "left_out"),
    [
        ([1, 2, 3, 4], ""),
        ([1.5, 2, None, 3], ""),
        (["4", "2", "", "3"], ""),
        ([[1, 2], [2], [], [3, 4]], ""),
        (["yes", "no", "yes", "yes"], ""),
        ([True, False, True, True], ""),
        ([[1, 2] * 25, [2], [3]], ""),
        # These are no ratings, and nobody would miss them.
        ([[1, 2] * 25 + [1], [2], [3]], None),
        (["good", "bad", "good", "good"], None),
        ([None] * 4, None),
        (["inf", "2", "3", "3"], None),
        ([10**400, 2, 3, 3], None),
        ([["x"], [1], [2], [2]], None),
        # As many numbers as samples are whole, from 11 on in steps of 1, or more than a scale has.
        (list(range(5, 16)), COUNT),
        (list(range(5, 15)), ""),
        ([*range(5, 15), 15.5], ""),
        ([5, *range(7, 17)], ""),
        (list(range(15, 4, -1)), ""),
        ([2 * n for n in range(102)], COUNT),
        ([2 * n for n in range(101)], ""),
        ([0.5, *(2 * n for n in range(1, 102))], ""),
        ([0, 0, *(2 * n for n in range(1, 102))], ""),
        ([3] * 12, SAME),
        ([3] * 11 + [None], SAME),
        ([3] * 11 + [4], ""),
    ],
)
def test_numbers_rate_unless_they_count_or_are_the_same(
    values: list[Any], left_out: str | None
) -> None:
    report = {"": report_of(mine=values)}
    columns = rated_columns(report)
    assert columns.left_out == ({"mine": left_out} if left_out else {})
    assert list(columns.ratings) == (["mine"] if left_out == "" else [])
    if left_out is not None:
        named = rated_columns(report, named=["mine"])
        assert (list(named.ratings), named.named) == (["mine"], True)


def test_what_is_the_same_for_every_system_rates_none_of_them() -> None:
    columns = rated_columns(
        {
            name: report_of(length=[5, 9, 9], lacking=[1, 2, None], stars=stars)
            for name, stars in (("a", [1, 2, 2]), ("b", [2, 2, 1]))
        }
    )
    assert list(columns.ratings) == ["stars"]
    assert columns.sentence().endswith(
        "people's ratings: stars. Left out: length (the same for every system); "
        "lacking (the same for every system)."
    )


def test_columns_are_bounded_and_labels_are_no_ratings() -> None:
    labels = {name: [1, 2, 2, 1] for name in ("id", "doc_id", "item", "system", "group")}
    many = {f"r{k}": [1, 2, 2, 3] for k in range(9)}
    columns = rated_columns({"": report_of(**labels, **many)}, cluster="group")
    assert list(columns.ratings) == [f"r{k}" for k in range(8)]
    assert columns.left_out == {"r8": "more than 8 columns"}


def test_columns_are_of_the_systems_that_have_them() -> None:
    systems = {
        "x": report_of(stars=[3, 1, 2], good=["yes", "no", ""]),
        "y": report_of(stars=[3, 2, 1], mixed=[1, 0, 1]),
        "z": report_of(other=["a", "b", "c"], good=[None] * 3),
    }
    columns = rated_columns(systems)
    assert list(columns.ratings) == ["stars", "good", "mixed"]
    assert columns.yes_or_no == {"good", "mixed"}
    assert (columns.rated, columns.left_out) == (["x", "y"], {})
    np.testing.assert_array_equal(columns.ratings["good"], [[1, 0, NAN], [NAN] * 3, [NAN] * 3])
    # One that isn't yes or no in any system is a rating.
    systems["z"] = report_of(good=[1, 2, 0])
    assert rated_columns(systems).yes_or_no == {"mixed"}


def test_a_named_column_holds_ratings_and_may_be_one_of_labels() -> None:
    systems = {"": report_of(item=[1, 2, 2], note=["u", "v", "w"])}
    with pytest.raises(ReportError, match="the column 'note' has no ratings"):
        rated_columns(systems, named=["item", "note"])
    assert list(rated_columns(systems, named=["item"]).ratings) == ["item"]
    assert not rated_columns(systems).ratings
    with pytest.raises(MissingColumn, match=r"no column 'star' \(columns: none\)"):
        rated_columns({"": report_of(right=[1, 0])}, named=["star"])


def test_tables_have_ranks_and_verdicts_and_the_lines_below_the_last() -> None:
    scores = {"m": [0.9, 0.2, 0.7, 0.4], "n": [0.1, 0.2, 0.3, 0.9]}
    names = ["balanced_accuracy", "auc"]
    agreement = correlate(scores, {"good": [1, 0, 0, 1]}, coefficient=names, cut=0.5, draws=0)
    ranks = {Place("good", "pooled", "auc"): {"m": 1, "n": 2}}
    first, second = tables_of(agreement, ranks, ["line"], "markdown")
    assert first.head[-2:] == ["used", "rank"]
    assert [row[-1] for row in first.rows] == [None] * 4 + [1, 2, None, None]
    # m passes samples 0 and 2, n sample 3, of people's yes 0 and 3.
    counts = [[*row[:2], *row[-4:]] for row in second.rows]
    assert counts == [["m", "good", 1, 1, 1, 1], ["n", "good", 2, 0, 1, 1]]
    verdicts = agreement.verdicts("m", "good")
    assert list(second.rows[0][2:9]) == [*verdicts.tpr, *verdicts.tnr, 0]
    assert (list(first.signatures), list(second.signatures)) == ([], ["line"])
    (alone,) = tables_of(agreement, {}, ["line"], "csv")
    assert alone.head[-1] == "used"
    document = document_of(agreement, ranks, False)
    place = dict(zip(("dimension", "level", "coefficient"), *ranks, strict=True))
    assert document["ranks"] == [{**place, "ranks": {"m": 1, "n": 2}}]
    assert [verdict["metric"] for verdict in document["verdicts"]] == ["m", "n"]
    bare = document_of(correlate([1, 2], [1, 2], draws=0), {}, True)
    assert not {"ranks", "verdicts"} & bare.keys()
    assert bare["cite"].startswith(bare["line"])


def test_a_forest_plot_has_a_panel_for_each_coefficient_and_a_line_for_each_metric() -> None:
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    names = ["tau_b", "pearson", "spearman", "acc_eq"]
    scores = {"a": [1, 2, 3, 4, 5, 6, 7, 8, 9], "b": [2, 1, 3, 5, 4, 9, 8, 7, 6]}
    ratings = [[n, n + k % 3] for k, n in enumerate([1, 2, 2, 3, 5, 4, 6, 6, 7])]
    agreement = correlate(scores, ratings, coefficient=names, draws=50)
    figure = forest(agreement)
    # Three panels a row, and room for a line of each metric.
    assert figure.get_size_inches().tolist() == pytest.approx((10.6, 3.0))
    assert [axes.get_xlabel() for axes in figure.axes] == [f"{name}, pooled" for name in names]
    panel = figure.axes[0]
    assert panel.get_title() == "human"
    # The first metric is above the second, half a line from the edge.
    assert panel.get_ylim() == (1.5, -0.5)
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["a", "b"]
    lines = panel.get_lines()
    for y, (interval, point) in enumerate((lines[:2], lines[2:4])):
        row = agreement.row("ab"[y], coefficient="tau_b")
        assert [list(side) for side in interval.get_data()] == [[row.low, row.high], [y, y]]
        assert [list(side) for side in point.get_data()] == [[row.value], [y]]
    legend = panel.get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["human ceiling", "chance"]
    # One rater has no ceiling, and so no line for it.
    (panel,) = forest(correlate([1, 2, 3], [2, 2, 2], coefficient="pearson", draws=0)).axes
    assert [line.get_label() for line in panel.get_lines()][2:] == ["chance"]


def test_a_forest_plot_without_matplotlib_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r"a plot .*metrichub\[plots\]"):
        forest(correlate([1, 2], [1, 2], draws=0))
