"""Fingerprints: equal for equal columns, however they are cut, and for no others."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metrichub.data.batch import Batch
from metrichub.evaluation import run
from metrichub.evaluation.run import Fingerprint

words = st.text("a\0é\ud800", max_size=2)
column = st.lists(words | st.lists(words, min_size=1, max_size=3), max_size=6)


def digests(*parts: list[Any]) -> Any:
    found = Fingerprint()
    for part in parts:
        found.add(Batch.of(references=part, predictions=["x"] * len(part)))
    return found.digests()


@given(column, st.data())
def test_the_cut_changes_nothing(values: list[Any], data: Any) -> None:
    cut = data.draw(st.integers(0, len(values)))
    assert digests(values[:cut], values[cut:]) == digests(values)


@given(column, column)
def test_only_equal_columns_have_equal_digests(one: list[Any], other: list[Any]) -> None:
    def lists(values: list[Any]) -> list[Any]:
        return [[value] if isinstance(value, str) else value for value in values]

    assert (digests(one) == digests(other)) == (lists(one) == lists(other))


def test_predictions_and_the_size_of_the_pieces_do_not_count(monkeypatch: Any) -> None:
    values = ["a", "b c", ["d", "é"], ""]
    before = digests(values)
    assert list(before) == ["references"]
    monkeypatch.setattr(run, "_ITEMS", 2)
    assert digests(values) == before
