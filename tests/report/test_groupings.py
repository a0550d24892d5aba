"""Groupings: which values a column, a text, a judge or a table gives samples, at every limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.errors import ReportError
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.lengths import word_counts
from metrichub.report import groupings as module
from metrichub.report.groupings import (
    Grouping,
    cell_groupings,
    groupings_of,
    text_lengths,
    verdict_groupings,
)


def columns_alone(**columns: Sequence[Any]) -> Report:
    """A report without texts, so that only columns make groups."""
    texts = ["a"] * len(next(iter(columns.values())))
    table = {"predictions": texts, "references": texts, **columns}
    return Hub("exact_match").evaluate(table, texts=False, keep=list(columns))


def by_column(values: Sequence[Any], asked: bool = False) -> list[list[str]]:
    """The values of the grouping by a column, if it makes one."""
    systems = {"": columns_alone(kind=values)}
    return [list(entry.values) for entry in groupings_of(systems, by="kind" if asked else None)]


@pytest.mark.parametrize(
    ("values", "grouped", "asked"),
    [
        # A different whole number for each sample counts the samples, unless it is asked for.
        ([*range(16)], None, ["0 to 3", "4 to 7", "8 to 11", "12 to 15"]),
        ([*range(15), None], None, ["0 to 3", "4 to 7", "8 to 10", "11 to 14", "no value"]),
        # One that recurs counts none: the sixteenth is another 14.
        ([*range(15), 14], ["0 to 3", "4 to 7", "8 to 11", "12 to 14"], None),
        # 23 numbers: 0, 1/3, …, 22/3, of which every quarter has six, the last five.
        (
            [*(k / 3 for k in range(23)), None],
            ["0 to 1.66667", "2 to 3.66667", "4 to 5.33333", "5.66667 to 7.33333", "no value"],
            None,
        ),
        # Twelve numbers are values, thirteen are a scale.
        ([*range(12)] * 2, [*map(str, range(12))], None),
        ([min(k, 12) / 8 for k in range(24)], ["0 to 0.625", "0.75 to 1.375", "1.5"], None),
        # A text among them makes values of them all, numbers in their order before texts.
        ([*range(15), "x"], None, [*map(str, range(15)), "x"]),
        ([10, 9, "b", "a"] * 6, ["9", "10", "a", "b"], None),
        # What is true is no number.
        ([*range(2, 17), True], None, [*["True"], *map(str, range(2, 17))]),
        # From ten to the 300 on a number has no place on a scale.
        (
            [*range(1, 16), 10**300 - 1] * 3,
            ["1 to 4", "5 to 8", "9 to 12", f"13 to {int(1e300)}"],
            None,
        ),
        ([*range(1, 16), 10**300] * 3, [*map(str, [*range(1, 16), 10**300])], None),
        ([*range(-15, 0), -(10**300)] * 3, [*map(str, [-(10**300), *range(-15, 0)])], None),
        (["x", *[None] * 3], ["x", "no value"], None),
        (["x", "x", "y", "y"], ["x", "y"], None),
        # Values that hardly recur make too many groups, and one value makes none.
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
    assert by_column(values) == ([grouped] if grouped else [])
    assert by_column(values, asked=True) == [asked or grouped]


def test_of_more_than_fifty_values_the_largest_have_groups_and_others_share_one() -> None:
    for number in (50, 51):
        values = [f"v{k:02}" for k in range(number)] * 2
        assert bool(by_column(values)) is (number == 50)
        (asked,) = by_column(values, asked=True)
        assert asked[50:] == ["others"] * (number > 50)
    # v51 has 52 samples and v00 one; of 60 no value is known, which is none of the largest.
    values = [f"v{k:02}" for k in range(52) for _ in range(k + 1)] + [None] * 60
    (grouping,) = groupings_of({"": columns_alone(kind=values)}, by="kind")
    assert grouping.values == [*(f"v{k:02}" for k in range(51, 1, -1)), "others", "no value"]
    assert grouping.about == "The 50 largest of 52 values of kind."
    # v00 and v01 are the others.
    assert grouping.value_of_sample.tolist()[:4] == [50, 50, 50, 49]
    assert grouping.value_of_sample.tolist()[-2:] == [51, 51]
    many = columns_alone(kind=[f"{k}x" for k in range(1001)])
    assert "of 1,001 values" in groupings_of({"": many}, by="kind")[0].about


def test_the_first_four_columns_are_shown_and_the_one_that_is_asked_for_comes_first() -> None:
    columns: dict[str, Any] = {name: [name, "x"] * 6 for name in "abcde"}
    columns |= {"id": ["a", "b"] * 6, "stars": [1, 2] * 6, "tags": [["a"], *["b"] * 11]}
    systems = {"": columns_alone(**columns)}

    def keys(by: str | None = None) -> list[str]:
        return [grouping.key for grouping in groupings_of(systems, ["stars"], by)]

    assert keys() == [*"abcd"]
    # Ratings and ids make no groups unless they are asked for, and lists none at all.
    for asked in ("e", "id", "stars"):
        assert keys(asked) == [asked, *"abc"]
    with pytest.raises(ReportError, match="holds lists"):
        keys("tags")
    with pytest.raises(ReportError, match="no column 'sight'; did you mean 'site'"):
        groupings_of({"": columns_alone(site=["x"])}, by="sight")


def test_columns_that_differ_make_no_groups_and_are_refused() -> None:
    systems = {name: columns_alone(domain=[name, "z"] * 2, same=[1, 2] * 2) for name in "ab"}
    assert [grouping.key for grouping in groupings_of(systems)] == ["same"]
    with pytest.raises(ReportError, match="the systems differ in domain"):
        groupings_of(systems, by="domain")


def test_a_page_reads_a_grouping_as_plain_data() -> None:
    grouping = Grouping("name", "key", ("x", "y"), np.array([1, -1, 0]), "about")
    assert grouping.data() == {"name": "name", "key": "key", "values": ["x", "y"], "of": [1, -1, 0]}


# Judges and tables.


def judged(steps: Mapping[int, Any], size: int) -> Report:
    """A report whose metric says that it took these steps."""
    return replace(columns_alone(kind=["x"] * size), traces={"exact_match": Trace(steps)})


def test_samples_are_grouped_by_all_verdicts_wherever_they_stand_in_the_steps() -> None:
    steps = {
        0: [{"claims": [{"verdict": "yes"}, {"verdict": "no"}]}],
        1: [{"verdict": "yes", "why": {"verdict": "yes"}}],
        2: [({"verdict": "yes"},), {"verdict": 3}],
        3: [{"said": "yes"}],
        5: ["verdict"],
    }
    (grouping,) = verdict_groupings({"sys": judged(steps, 7)})
    assert (grouping.name, grouping.key) == ("verdicts of exact_match",) * 2
    assert grouping.values == ["yes", "no and yes"]
    # The fourth to the seventh have no verdict.
    assert grouping.value_of_sample.tolist() == [1, 0, 0, -1, -1, -1, -1]
    assert verdict_groupings({"sys": judged({0: [{"said": "yes"}]}, 2)}) == []
    # Those of several systems are named by them.
    both = {name: judged({0: [{"verdict": name}]}, 1) for name in "ab"}
    assert [(group.name, group.key, group.values) for group in verdict_groupings(both)] == [
        (f"verdicts of exact_match on {name}", f"verdicts of exact_match on {name}", [name])
        for name in "ab"
    ]


def test_only_the_fifty_most_frequent_verdicts_have_a_group() -> None:
    steps = {k: [{"verdict": f"v{min(k, 50)}"}] for k in range(52)}
    (grouping,) = verdict_groupings({"": judged(steps, 52)})
    # v50 is that of two samples, v0 to v48 of one each, and v49 is left out.
    assert grouping.values == ["v50", *(f"v{k}" for k in range(49))]
    assert grouping.value_of_sample.tolist() == [*range(1, 50), -1, 0, 0]


def test_the_cell_of_a_table_that_counts_a_sample_is_a_group() -> None:
    report = Hub("classification(labels=['a', 'b'])").evaluate(
        predictions=["a", "b", "b"], references=["b", "b", "b"]
    )
    (grouping,) = cell_groupings({"": report})
    assert grouping.name == grouping.key == "confusion matrix of classification"
    # The most frequent first.
    assert grouping.values == ["b → predicted b", "b → predicted a"]
    assert grouping.value_of_sample.tolist() == [1, 0, 0]
    (result,) = report.results.values()
    cells = {"table": [None, ("x", "y"), None]}
    some = type("Some", (type(result),), {"cells": lambda self: cells})
    gapped = replace(report, results={"m": some(**vars(result))})
    (grouping,) = cell_groupings({"s": gapped})
    key = "table of m on s"
    assert (grouping.key, grouping.values, grouping.value_of_sample.tolist()) == (
        key,
        ["x → y"],
        [-1, 0, -1],
    )


# Texts.

WORDS = [" ".join(["w"] * (1 + k // 5)) for k in range(20)]
"""Of 20 samples five have one word, five two, and so on."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the cat, sat", 3),
        ("a -- b !", 2),
        ("", 0),
        # Each character of Chinese and Thai is one, its punctuation none.
        ("他坐在 垫子上。", 6),
        ("GPT 很好", 3),
        ("แมว", 3),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert word_counts([text]).tolist() == [words]


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
    hub = Hub(["exact_match", "compression"])
    report = hub.evaluate(columns)
    result = text_lengths(report)
    assert result
    assert (result[0], result[1].tolist()) == (name, [1 + k // 5 for k in range(20)])
    by_length, *others = groupings_of({"": report})
    assert (by_length.name, by_length.key) == (f"words of the {name}", "length")
    assert by_length.values == ["1", "2", "3", "4"]
    assert by_length.value_of_sample.tolist() == [k // 5 for k in range(20)]
    assert "characters" in by_length.about
    # Only references have a rarest word, and "w" is in all.
    assert others == []
    # A column may have the name, and fewer than 20 samples have no groups by length.
    named = hub.evaluate({**columns, "length": ["x", "y"] * 10})
    assert [grouping.key for grouping in groupings_of({"": named})] == ["length", "length of texts"]
    assert groupings_of({"": report.take(range(19))}) == []


@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_the_rarest_word_is_looked_for_in_the_first_reference_of_all_samples(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rarest(references: list[Any], **columns: Any) -> Grouping:
        texts = {"predictions": ["p"] * 20, "references": references, **columns}
        return groupings_of({"": Hub("exact_match").evaluate(texts)})[-1]

    monkeypatch.setattr(module, "_BLOCK", block)
    # "b" is in 8 first references, twice in some; the second ones and "!" don't count.
    first = ["a b b"] * 8 + ["a"] * 11 + ["!"]
    grouping = rarest([[text, "b b"] for text in first])
    assert (grouping.name, grouping.key) == ("frequency of the rarest word", "frequency")
    assert grouping.values == ["8", "19", "no value"]
    assert grouping.value_of_sample.tolist() == [0] * 8 + [1] * 11 + [2]
    assert rarest(first).value_of_sample.tolist() == grouping.value_of_sample.tolist()
    assert rarest(first, frequency=["x"] * 20).key == "frequency of texts"
