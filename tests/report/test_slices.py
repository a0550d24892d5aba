"""Slices of a page: scores by the values of a column and by length, with their intervals."""

from __future__ import annotations

from typing import Any

import pytest

from metrichub import Hub, Report
from metrichub.evaluation.lengths import sample_lengths, word_counts
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.html.slices import Slices, slices_of

OPTIONS = SignificanceOptions(resamples=30)
SIZE = 24


def rows(right: int, **more: Any) -> list[dict[str, Any]]:
    """Sample i has i + 1 words, and a right answer where i < `right`."""
    return [
        {
            "prediction": " ".join(["w"] * (i + 1)) if i < right else "x",
            "reference": " ".join(["w"] * (i + 1)),
            "language": ["de", "en", None][i % 3],
            "id": i,
            **more,
        }
        for i in range(SIZE)
    ]


def report(right: int, **more: Any) -> Report:
    return Hub("exact_match").evaluate(rows(right, **more))


def cells(one: Slices) -> list[list[str]]:
    return [[str(getattr(cell, "number", cell)) for cell in row] for row in one.table.rows]


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


def test_the_length_of_a_sample_is_that_of_its_first_text() -> None:
    found = Hub("bleu").evaluate(
        predictions=["a b", "c", "d"], references=[["x y z", "q"], ["r s"], ["t"]]
    )
    assert found.texts
    lengths = sample_lengths(found.texts, "references")
    assert lengths is not None
    assert lengths.tolist() == [3, 2, 1]
    assert sample_lengths(found.texts, "sources") is None
    contexts = [["a b"], [], ["c"]]
    found = Hub("faithfulness", judge="offline").evaluate(predictions=["a"] * 3, contexts=contexts)
    assert found.texts
    lengths = sample_lengths(found.texts, "contexts")
    assert lengths is not None
    assert lengths.tolist() == [2, 0, 1]


def test_groups_have_the_scores_of_their_samples_alone() -> None:
    one = report(12)
    by_language, by_length = slices_of({"": one}, OPTIONS)
    assert by_language.title == "language"
    # A value is missing in every third row: "no value" comes last.
    assert cells(by_language) == [[v, "8", "0.500"] for v in ("de", "en", "no value")]
    interval = one.by("language")["de"].intervals(resamples=30)["exact_match"]["score"]
    shown = by_language.table.rows[0][-1]
    assert getattr(shown, "interval", None) == f"[{interval.low:.3f}, {interval.high:.3f}]"
    # Quarters of 1 to 24 words; the first twelve are right.
    assert [row[:2] for row in cells(by_length)] == [
        ["1 to 6", "6"],
        ["7 to 12", "6"],
        ["13 to 18", "6"],
        ["19 to 24", "6"],
    ]
    assert [row[2] for row in cells(by_length)] == ["1.000", "1.000", "0.000", "0.000"]
    assert "characters" in by_length.about


def test_systems_stand_below_one_another_in_a_group() -> None:
    by_language, _ = slices_of({"a": report(0), "b": report(SIZE)}, OPTIONS)
    assert by_language.table.head == ["language", "system", "samples", "exact_match ↑"]
    assert cells(by_language)[:2] == [["de", "a", "8", "0.000"], ["", "b", "8", "1.000"]]


def test_columns_that_differ_or_have_many_values_make_no_slices() -> None:
    systems = {"a": report(0, domain="x", same=1), "b": report(0, domain="y", same=1)}
    assert [one.title for one in slices_of(systems, OPTIONS)] == [
        "language",
        "words of the reference",
    ]


def test_lists_and_reports_without_texts_are_left_out() -> None:
    kept = Hub("exact_match").evaluate(rows(3, tags=["a"]), texts=False, keep=["tags", "id"])
    assert slices_of({"": kept}, OPTIONS) == []


def test_slices_of_a_single_cluster_have_no_intervals() -> None:
    found = Hub("exact_match").evaluate(
        [row | {"text_type": row["id"] // 4, "topic": row["id"] % 2} for row in rows(12)]
    )
    by_column = slices_of({"": found}, OPTIONS._replace(cluster="text_type"))
    shown = {one.title: one.table.html() for one in by_column}
    assert "[" not in shown["text_type"]
    assert shown["topic"].count("[") == 2
