"""Groupings: which values a column, a judge or a table gives samples, at every limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.errors import ReportError
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report import groupings as module
from metrichub.report.groupings import (
    Grouping,
    cell_groupings,
    cell_key,
    groupings_of,
    text_lengths,
    verdict_groupings,
)
from metrichub.report.slices import slices_of
from tests.toy_metrics import Variety

OPTIONS = SignificanceOptions(resamples=30, trials=99)


def with_columns(size: int, **columns: Sequence[Any]) -> Report:
    """A report of samples without texts, so that only columns make groups."""
    texts = ["a"] * size
    given = {"predictions": texts, "references": texts, **columns}
    return Hub("exact_match").evaluate(given, texts=False, keep=list(columns))


def columns_alone(**columns: Sequence[Any]) -> Any:
    """As much of a report as groupings by column read."""
    size = len(next(iter(columns.values())))
    return SimpleNamespace(metadata=columns, size=size, texts=None)


def by_column(values: Sequence[Any], asked: bool = False) -> list[tuple[list[str], list[int]]]:
    """The values of the grouping by a column, and of each sample the place of its own."""
    report = columns_alone(kind=values)
    found = groupings_of({"": report}, by="kind" if asked else None)
    return [(list(one.values), one.of.tolist()) for one in found]


@pytest.mark.parametrize(
    ("most", "shown"), [(10**300 - 1, 4), (10**300, 16)], ids=["just below", "at"]
)
def test_numbers_from_ten_to_the_300_on_have_no_place_on_a_scale(most: int, shown: int) -> None:
    # Of sixteen whole numbers each recurs; on a scale they make quarters, else sixteen values.
    values = [*range(1, 16), most] * 3
    ((found, _),) = by_column(values)
    assert len(found) == shown
    ((negative, _),) = by_column([-value for value in values])
    assert len(negative) == shown


@pytest.mark.parametrize(
    ("values", "grouped", "asked"),
    [
        # A different whole number for each sample counts the samples, unless it is asked for.
        ([*range(16)], None, ["0 to 3", "4 to 7", "8 to 11", "12 to 15"]),
        ([*range(15), None], None, ["0 to 3", "4 to 7", "8 to 10", "11 to 14", "no value"]),
        # One that recurs counts none: the sixteenth is another 14.
        ([*range(15), 14], ["0 to 3", "4 to 7", "8 to 11", "12 to 14"], None),
        (
            [k + 0.5 for k in range(16)],
            ["0.5 to 3.5", "4.5 to 7.5", "8.5 to 11.5", "12.5 to 15.5"],
            None,
        ),
        # A text among them makes values of them all.
        ([*range(15), "x"], None, [*map(str, range(15)), "x"]),
        # What is true is no number.
        ([*range(2, 17), True], None, [*["True"], *map(str, range(2, 17))]),
        (["x", *[None] * 3], ["x", "no value"], None),
        (["x", "x", "y", "y"], ["x", "y"], None),
        (["x", "x", "y"], None, ["x", "y"]),
        (["x", "x", "x"], None, ["x"]),
        ([None] * 4, None, ["no value"]),
        ([1, 1.0, 2.0, 2], ["1", "2"], None),
        ([1 / 3, 2e6 / 3] * 2, ["0.333333", "666667"], None),
    ],
)
def test_a_column_makes_groups_where_it_has_few_values_or_numbers(
    values: list[Any], grouped: list[str] | None, asked: list[str] | None
) -> None:
    assert [labels for labels, _ in by_column(values)] == ([grouped] if grouped else [])
    assert [labels for labels, _ in by_column(values, asked=True)] == [asked or grouped]


@pytest.mark.parametrize(("number", "grouped"), [(50, True), (51, False)])
def test_up_to_fifty_values_make_groups_unasked(number: int, grouped: bool) -> None:
    values = [f"v{k:02}" for k in range(number)] * 2
    assert bool(by_column(values)) is grouped


def test_of_more_than_fifty_values_the_largest_have_groups_and_others_share_one() -> None:
    # v51 has 52 samples and v00 one; of 60 no value is known, which is none of the largest.
    values = [f"v{k:02}" for k in range(52) for _ in range(k + 1)] + [None] * 60
    report = columns_alone(kind=values)
    (found,) = groupings_of({"": report}, by="kind")
    assert found.values == [*(f"v{k:02}" for k in range(51, 1, -1)), "others", "no value"]
    assert found.about == "The 50 largest of 52 values of kind."
    # v00 and v01 are the others.
    assert found.of.tolist()[:4] == [50, 50, 50, 49]
    assert found.of.tolist()[-2:] == [51, 51]
    many = columns_alone(kind=[f"{k}x" for k in range(1001)])
    assert "of 1,001 values" in groupings_of({"": many}, by="kind")[0].about


def test_columns_of_lists_make_no_groups_even_where_only_one_is_a_list() -> None:
    tags = [["a"], *["b"] * 5, *["c"] * 6]
    report = columns_alone(kind=["x", "y"] * 6, tags=tags)
    assert [one.key for one in groupings_of({"": report})] == ["kind"]
    with pytest.raises(ReportError, match="holds lists"):
        groupings_of({"": report}, by="tags")


def test_ratings_and_ids_make_no_groups_unless_they_are_asked_for() -> None:
    columns: dict[str, Sequence[Any]] = {
        "stars": [1, 2] * 6,
        "id": ["a", "b"] * 6,
        "kind": ["x", "y"] * 6,
    }
    systems = {"": columns_alone(**columns)}
    assert [one.key for one in groupings_of(systems, ["stars"])] == ["kind"]
    assert [one.key for one in groupings_of(systems, ["stars"], by="id")] == ["id", "kind"]


def test_a_page_reads_a_grouping_as_plain_data() -> None:
    one = Grouping("name", "key", ("x", "y"), np.array([1, -1, 0]), "about")
    assert one.data() == {"name": "name", "key": "key", "values": ["x", "y"], "of": [1, -1, 0]}


def judged(steps: Mapping[int, Any], size: int) -> Report:
    """A report whose metric says that it took these steps."""
    return replace(with_columns(size), traces={"exact_match": Trace(steps)})


def test_samples_are_grouped_by_all_verdicts_wherever_they_stand_in_the_steps() -> None:
    steps = {
        0: [{"claims": [{"verdict": "yes"}, {"verdict": "no"}]}],
        1: [{"verdict": "yes", "why": {"verdict": "yes"}}],
        2: [({"verdict": "yes"},), {"verdict": 3}],
        3: [{"said": "yes"}],
        5: ["verdict"],
    }
    (found,) = verdict_groupings({"sys": judged(steps, 7)})
    assert (found.name, found.key) == ("verdicts of exact_match",) * 2
    assert found.values == ["yes", "no and yes"]
    # The fourth to the seventh have no verdict.
    assert found.of.tolist() == [1, 0, 0, -1, -1, -1, -1]
    assert verdict_groupings({"sys": judged({0: [{"said": "yes"}]}, 2)}) == []


def test_verdicts_of_several_systems_are_named_by_them() -> None:
    one, other = judged({0: [{"verdict": "yes"}]}, 1), judged({0: [{"verdict": "no"}]}, 1)
    found = verdict_groupings({"a": one, "b": other})
    names = ["verdicts of exact_match on a", "verdicts of exact_match on b"]
    assert [(own.name, own.key, own.values) for own in found] == [
        (name, name, [verdict]) for name, verdict in zip(names, ["yes", "no"], strict=True)
    ]


def test_only_the_fifty_most_frequent_verdicts_have_a_group() -> None:
    steps = {k: [{"verdict": f"v{min(k, 50)}"}] for k in range(52)}
    (found,) = verdict_groupings({"": judged(steps, 52)})
    # v50 is that of two samples, v0 to v48 of one each, and v49 is left out.
    assert found.values == ["v50", *(f"v{k}" for k in range(49))]
    assert found.of.tolist() == [*range(1, 50), -1, 0, 0]


def test_the_cell_of_a_table_that_counts_a_sample_is_a_group() -> None:
    report = Hub("classification(labels=['a', 'b'])").evaluate(
        predictions=["a", "b", "b"], references=["b", "b", "b"]
    )
    (found,) = cell_groupings({"": report})
    assert found.name == found.key == "confusion matrix of classification"
    # The most frequent first.
    assert found.values == ["b → predicted b", "b → predicted a"]
    assert found.of.tolist() == [1, 0, 0]
    (result,) = report.results.values()
    cells = {"table": [None, ("x", "y"), None]}
    some = type("Some", (type(result),), {"cells": lambda self: cells})
    gapped = replace(report, results={"m": some(**vars(result))})
    (found,) = cell_groupings({"s": gapped})
    assert (found.key, found.values, found.of.tolist()) == (
        "table of m on s",
        ["x → y"],
        [-1, 0, -1],
    )


@pytest.mark.parametrize(
    ("system", "key"), [("", "matrix of wer"), ("large", "matrix of wer on large")]
)
def test_a_table_is_named_with_its_system_where_it_has_a_name(system: str, key: str) -> None:
    assert cell_key(system, "wer", "matrix") == key


WORDS = [" ".join(["w"] * (1 + k // 5)) for k in range(20)]
"""Of 20 samples five have one word, five two, and so on."""


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"references": WORDS, "sources": ["s"] * 20, "predictions": ["p"] * 20}, "reference"),
        ({"references": [""] * 20, "sources": WORDS, "predictions": ["p"] * 20}, "source"),
        ({"references": [""] * 20, "sources": ["!"] * 20, "predictions": WORDS}, "prediction"),
    ],
)
def test_the_length_of_a_sample_is_that_of_the_first_text_that_has_words(
    columns: dict[str, list[str]], name: str
) -> None:
    report = Hub(["exact_match", "compression"]).evaluate(columns)
    found = text_lengths(report)
    assert found
    assert (found[0], found[1].tolist()) == (name, [1 + k // 5 for k in range(20)])
    by_length, *others = groupings_of({"": report})
    assert (by_length.name, by_length.key) == (f"words of the {name}", "length")
    assert by_length.values == ["1", "2", "3", "4"]
    assert by_length.of.tolist() == [k // 5 for k in range(20)]
    # Only references have a rarest word, and "w" is in all.
    assert others == []


def rarest(references: list[Any], **columns: Any) -> Grouping:
    report = Hub("exact_match").evaluate(
        {"predictions": ["p"] * len(references), "references": references, **columns}
    )
    return groupings_of({"": report})[-1]


@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_the_rarest_word_is_looked_for_in_the_first_reference_of_all_samples(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    # "b" is in 8 first references, twice in some; the second ones and "!" don't count.
    first = ["a b b"] * 8 + ["a"] * 11 + ["!"]
    found = rarest([[text, "b b"] for text in first])
    assert (found.name, found.key) == ("frequency of the rarest word", "frequency")
    assert found.values == ["8", "19", "no value"]
    assert found.of.tolist() == [0] * 8 + [1] * 11 + [2]
    assert rarest(first).of.tolist() == found.of.tolist()
    assert rarest(first, frequency=["x"] * 20).key == "frequency of texts"


def test_a_value_of_no_sample_makes_no_slice() -> None:
    report = with_columns(4, kind=["x", "y"] * 2)
    grouping = Grouping("g", "g", ["none", "all"], np.ones(4, np.int64))
    found = slices_of({"": report}, [grouping], None, OPTIONS)
    assert [(part.value, part.size) for part in found.slices] == [("all", 4)]
    assert (found.pair, found.trials) == (None, 0)


def test_metrics_that_do_not_add_up_have_slices_without_intervals_and_tests() -> None:
    columns = {"predictions": ["a b"] * 40, "references": ["a b"] * 40, "kind": ["x", "y"] * 20}
    one = Hub([Variety(), "exact_match"]).evaluate(columns)
    groupings = groupings_of({"": one}, by="kind")[:1]
    found = slices_of({"": one}, groupings, None, OPTIONS)
    assert found.trials == 0
    for part in found.slices:
        assert list(part.scores[""]) == ["variety", "exact_match"]
        assert list(part.intervals) == ["exact_match"]
    alone = Hub(Variety()).evaluate(columns)
    few = OPTIONS._replace(trials=50)
    found = slices_of({"a": alone, "b": alone}, groupings, ("b", "a"), few)
    # Without a test the swaps are as many as were asked for, not 40 for each of two slices.
    assert (found.trials, [dict(part.tests) for part in found.slices]) == (50, [{}, {}])


def test_small_slices_of_two_systems_have_neither_tests_nor_intervals() -> None:
    one = with_columns(40, kind=["x"] * 20 + ["y"] * 20)
    groupings = groupings_of({"": one}, by="kind")
    (kind,) = groupings
    few = kind._replace(of=np.array([0] * 19 + [1] * 21))
    for pair, tested in ((("b", "a"), [False, True]), (None, [False, False])):
        found = slices_of({"a": one, "b": one}, [few], pair, OPTIONS)
        assert [bool(part.tests) for part in found.slices] == tested
        assert not any(part.intervals for part in found.slices)


def test_clusters_of_a_slice_are_drawn_and_swapped_whole() -> None:
    columns = {"kind": ["x"] * 20 + ["y"] * 20, "doc": [*range(20)] + [7] * 20}
    systems = {
        name: Hub("exact_match").evaluate(
            {"predictions": texts, "references": ["a"] * 40, **columns}
        )
        for name, texts in (("a", ["a"] * 40), ("b", ["a", "b"] * 20))
    }
    kind = [one for one in groupings_of(systems, by="kind") if one.key == "kind"]
    options = OPTIONS._replace(cluster="doc")
    # All of y are of one document, of which nothing can be drawn.
    found = slices_of(systems, kind, ("b", "a"), options).slices
    assert [bool(part.tests) for part in found] == [True, False]
    alone = slices_of({"a": systems["b"]}, kind, None, options).slices
    assert [bool(part.intervals) for part in alone] == [True, False]


def test_rows_of_slices_have_the_tests_that_have_a_p() -> None:
    columns = {"kind": ["x"] * 20 + ["y"] * 9, "references": ["a b"] * 29}
    systems = {
        name: Hub("wer").evaluate({"predictions": [text] * 29, **columns})
        for name, text in (("a", "a b"), ("b", "a c"))
    }
    kind = groupings_of(systems, by="kind")[:1]
    found = slices_of(systems, kind, ("b", "a"), OPTIONS)
    (row,) = found.rows()
    test = found.slices[0].tests["wer"]["score"]
    assert row == {
        "column": "kind",
        "value": "x",
        "samples": 20,
        "system": "b",
        "metric": "wer",
        "scores": {
            name: report.take(range(20)).scores()["wer"] for name, report in systems.items()
        },
        "tests": {
            "score": {
                "difference": 0.5,
                "low": test.interval.low,
                "high": test.interval.high,
                "p": test.p,
            }
        },
    }
    table = found.table(systems)
    assert table.head == ["kind", "samples", "metric", "a", "b", "difference", "p"]
    assert table.caption == (
        "Difference of b from a by kind; p is corrected over all slices of at least 20 samples"
    )
    # No random swap of 99 is as extreme: p is 1 of 100; the small slice has none.
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["x", "20", "wer ↓", "0.000", "0.500", "+0.500 [–]", ".0100"],
        ["y", "9", "wer ↓", "0.000", "0.500", "–", "–"],
    ]
    assert slices_of(systems, [], ("b", "a"), OPTIONS).table(systems).head[0] == ""
    # Of several groupings the first names the table.
    both = [*kind, kind[0]._replace(name="other")]
    assert slices_of(systems, both, ("b", "a"), OPTIONS).table(systems).head[0] == "kind"
