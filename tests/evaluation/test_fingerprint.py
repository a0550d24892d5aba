"""Fingerprints: equal for equal columns, however they are cut, and for no others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub
from metrichub.data.batch import Batch
from metrichub.errors import ReportError
from metrichub.evaluation import run
from metrichub.evaluation.run import Fingerprint

words = st.text("a\0é\ud800", max_size=2)
column = st.lists(words | st.lists(words, min_size=1, max_size=3), max_size=6)


def digests(*parts: list[Any]) -> Any:
    fingerprint = Fingerprint()
    for part in parts:
        fingerprint.add(Batch.of(references=part, predictions=["x"] * len(part)))
    return fingerprint.digests()


@given(column, st.data())
def test_the_cut_changes_nothing(values: list[Any], data: Any) -> None:
    cut = data.draw(st.integers(0, len(values)))
    assert digests(values[:cut], values[cut:]) == digests(values)


@given(column, column)
def test_only_equal_columns_have_equal_digests(first: list[Any], other: list[Any]) -> None:
    def lists(values: list[Any]) -> list[Any]:
        return [[value] if isinstance(value, str) else value for value in values]

    assert (digests(first) == digests(other)) == (lists(first) == lists(other))


def test_predictions_and_the_size_of_the_pieces_do_not_count(monkeypatch: Any) -> None:
    values = ["a", "b c", ["d", "é"], ""]
    before = digests(values)
    assert list(before) == ["references"]
    monkeypatch.setattr(run, "_ITEMS", 2)
    assert digests(values) == before


ANSWERS = ["Built in 1932.", "Made of steel.", "It is old."]
RETRIEVED = (
    [[text] for text in ANSWERS],
    [["Built in 1932.", "A market."], [], ["Nobody knows."]],
)
"""The passages of two systems, which let a judge support 3 and 1 of the answers."""
QUESTIONS = ["When was it built?", "What is it made of?", "How old is it?"]
SAME = "what was retrieved may differ only where an id, a question, a source or a reference"


def retrievers(metrics: Any, **columns: Any) -> Any:
    """The reports of two systems; a column of two lists of samples has one for each."""
    reports = []
    options = {name: columns.pop(name) for name in ("samples", "key") if name in columns}
    for k, passages in enumerate(RETRIEVED):
        columns_of_part = {n: v[k] if isinstance(v, tuple) else v for n, v in columns.items()}
        table = {"predictions": ANSWERS, "retrieved_contexts": passages} | columns_of_part
        reports.append(Hub(metrics, judge="offline").evaluate(table, **options))
    return reports


@pytest.mark.parametrize(
    ("metrics", "columns"),
    [
        ("faithfulness", {"id": [7, 8, 9]}),
        # A question, source or reference shows it whether or not a metric reads it.
        ("faithfulness", {"user_input": QUESTIONS}),
        ("faithfulness", {"question": [text * 30 for text in QUESTIONS]}),
        ("faithfulness", {"reference": [[text, "x"] for text in ANSWERS]}),
        (["faithfulness", "exact_match"], {"references": ANSWERS}),
        (["faithfulness", "exact_match"], {"references": ANSWERS, "samples": False}),
        ("faithfulness", {"key": "n", "n": [1, 2, 3], "samples": False}),
        # Its source is what was retrieved.
        ("density", {"id": ["a", "b", "c"]}),
    ],
)
def test_what_was_retrieved_may_differ_on_samples_that_are_the_same(
    metrics: Any, columns: Any
) -> None:
    first, second = retrievers(metrics, **columns)
    (name, *_) = first
    test = first.compare(second)[name]["score"]
    assert test.difference == pytest.approx(first[name]["score"] - second[name]["score"])
    assert first[name]["score"] > second[name]["score"]


@pytest.mark.parametrize(
    ("metrics", "columns"),
    [
        ("faithfulness", {}),
        ("faithfulness", {"question": (QUESTIONS, QUESTIONS[::-1])}),
        # One prompt, or one id, for all tells no sample from another.
        ("faithfulness", {"id": ["x"] * 3}),
        ("faithfulness", {"prompt": ["Answer from the passages."] * 3}),
        ("density", {}),
        ("faithfulness", {"samples": False}),
    ],
)
def test_else_what_was_retrieved_must_be_equal(metrics: str, columns: Any) -> None:
    first, second = retrievers(metrics, **columns)
    with pytest.raises(ReportError, match=SAME):
        first.compare(second)
    assert first.compare(first)


def test_what_systems_were_asked_must_be_equal_whatever_else_is() -> None:
    metrics = ["faithfulness", "exact_match"]
    first, second = retrievers(metrics, references=(ANSWERS, QUESTIONS), id=[1, 2, 3])
    with pytest.raises(ReportError, match="the systems have different references; a paired"):
        first.compare(second)
