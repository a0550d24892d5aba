"""Subgroups of a report: `report.by(column)` gives a report for every value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub
from metrichub.errors import ReportError

HUB = Hub(["bleu", "rouge", "distinct", "ttr"])
WORDS = ("the cat sat on the mat", "a dog ran to the door", "it rained", "", "on the mat it sat")


def sample(prediction: str, reference: str, language: str | None) -> dict[str, Any]:
    """One row of a table."""
    return {"prediction": prediction, "reference": reference, "language": language}


rows = st.lists(
    st.builds(
        sample,
        st.sampled_from(WORDS),
        st.sampled_from(WORDS[:3]),
        st.sampled_from(["en", "de", None]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=15)
@given(rows)
def test_a_group_is_what_its_samples_alone_would_be(table: list[dict[str, Any]]) -> None:
    report = HUB.evaluate(iter([table[:3], table[3:]]) if len(table) > 3 else table, texts=True)
    groups = report.by("language")
    assert list(groups) == list(dict.fromkeys(row["language"] for row in table))
    for value, group in groups.items():
        rows = [row for row in table if row["language"] == value]
        alone = HUB.evaluate(rows)
        assert group.size == alone.size
        assert group.metadata == alone.metadata
        assert group.counts() == alone.counts()
        for name, outputs in alone.scores().items():
            assert group[name] == pytest.approx(outputs, nan_ok=True)
        for name, values in alone.samples().items():
            for output, expected in values.items():
                np.testing.assert_array_equal(group.samples()[name][output], expected)
        assert group.texts is not None
        assert alone.texts is not None
        for place in range(len(rows)):
            assert group.texts[place] == alone.texts[place]
        measured = group.intervals(resamples=5)
        for name, intervals in alone.intervals(resamples=5).items():
            for output, interval in intervals.items():
                assert measured[name][output] == pytest.approx(interval, nan_ok=True)


def test_groups_of_two_systems_are_compared_and_only_the_same() -> None:
    table = [sample(WORDS[i % 3], WORDS[(i + 1) % 3], "ende"[i % 2 * 2 :][:2]) for i in range(8)]
    worse = [row | {"prediction": "it"} for row in table]
    first, other = (Hub("rouge").evaluate(rows).by("language") for rows in (table, worse))
    alone = Hub("rouge").evaluate([row for row in table if row["language"] == "en"])
    also = Hub("rouge").evaluate([row for row in worse if row["language"] == "en"])
    comparison = first["en"].compare(other["en"])["rouge"]["score"]
    assert str(comparison) == str(alone.compare(also)["rouge"]["score"])
    with pytest.raises(ReportError, match="different references"):
        first["en"].compare(other["de"])


def test_errors_and_reasons_stay_with_their_samples() -> None:
    table = [sample("", "a b", "de"), sample("a b", "a b", "en"), sample("", "a b", "en")]
    groups = Hub("ttr").evaluate(table).by("language")
    assert groups["en"].explain("ttr", 1).reason == "the text has no words"
    assert groups["en"].counts()["ttr"]["unanswered"] == 1
    assert groups["de"].counts()["ttr"]["unanswered"] == 1


def test_a_column_is_chosen_by_its_name_and_has_to_have_travelled() -> None:
    report = HUB.evaluate([sample("a", "a", "en")])
    with pytest.raises(ReportError, match=r"'lang'; .* 'language'.* keep=\['lang'\]$"):
        report.by("lang")
    lists = HUB.evaluate([sample("a", "a", "en") | {"ratings": [1, 2]}])
    with pytest.raises(ReportError, match="ratings holds lists"):
        lists.by("ratings")
    words = Hub("wer").evaluate([sample("a", "a", "en") | {"year": y} for y in (2020, 2021, 2020)])
    assert {year: group.size for year, group in words.by("year").items()} == {2020: 2, 2021: 1}
    with pytest.raises(ReportError, match="groups need the samples, which weren't kept"):
        words.pool().by("language")
    wrong: tuple[Any, ...] = (None, ["language"], 3)
    for column in wrong:
        with pytest.raises(ReportError, match="choose one column by its name"):
            words.by(column)
        with pytest.raises(ReportError, match="choose one column by its name"):
            words.intervals(cluster=column or ["doc"])


def test_a_whole_number_names_the_same_cluster_as_a_fraction() -> None:
    # pandas makes fractions of a column in which a value is missing; a key reads them as one too.
    table = [sample(WORDS[i % 3], WORDS[0], "en") | {"doc": i % 4} for i in range(12)]
    mixed = [row | {"doc": float(i % 4) if i > 5 else i % 4} for i, row in enumerate(table)]
    first, other = (Hub("wer").evaluate(rows).intervals(cluster="doc") for rows in (table, mixed))
    assert first == other
    assert first != Hub("wer").evaluate(table).intervals()


def test_samples_are_taken_by_their_numbers() -> None:
    table = [sample(text, WORDS[0], None) for text in WORDS]
    report = HUB.evaluate(table)
    alone = HUB.evaluate([table[0], table[3]])
    assert report.take([0, 3]).scores() == report.take(np.array([0, 3])).scores() == alone.scores()
    assert report.take([]).size == 0
    parts = HUB.evaluate(iter([table[:2], table[2:]]), texts=True).take([1, 2])
    assert parts.texts is not None
    assert [parts.texts[i]["predictions"] for i in range(parts.texts.size)] == [*WORDS[1:3]]


@pytest.mark.parametrize("samples", [[3, 0], [1, 1], [-1], [5], [0.0], [True, False], 2, "02"])
def test_take_says_which_numbers_it_needs(samples: Any) -> None:
    report = HUB.evaluate([sample(text, WORDS[0], None) for text in WORDS])
    with pytest.raises(ReportError, match=r"\[0, 2\]; this report has 5 samples"):
        report.take(samples)
