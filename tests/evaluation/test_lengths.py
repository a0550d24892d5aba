"""Lengths: words of predictions, summed, joined and compared."""

import numpy as np
import pytest

from metrichub.data.batch import Batch
from metrichub.evaluation.lengths import (
    Lengths,
    differing_lengths,
    joined_lengths,
    lengths_of,
    sample_lengths,
    summed_lengths,
)
from metrichub.evaluation.stored import StoredSamples

TWO, ONE = np.array([[3, 1], [4, 2]]), np.array([[5, 1]])
"""The words and the number of the predictions of two samples and of one."""


def batch(**columns: list[object]) -> Batch:
    return Batch.from_data(columns, dict.fromkeys(columns, "toy"))


def test_a_sample_has_the_words_of_all_its_predictions_and_their_number() -> None:
    lengths = lengths_of(batch(predictions=[["a b", "c"], "d -- e!", ["", "f"]]))
    assert lengths is not None
    assert lengths.tolist() == [[3, 2], [2, 1], [1, 2]]
    assert lengths_of(batch(references=["a"])) is None


def test_a_column_s_length_is_that_of_each_sample_s_first_text() -> None:
    parts = (batch(contexts=["a b", "c"]), batch(contexts=[[], ["d e f", "g"], ["h"], []]))
    lengths = sample_lengths(StoredSamples(parts), "contexts")
    assert lengths is not None
    assert lengths.tolist() == [2, 1, 0, 3, 1, 0]
    assert sample_lengths(StoredSamples(parts), "sources") is None
    nothing = sample_lengths(StoredSamples(()), "contexts")
    assert nothing is not None
    assert nothing.tolist() == []


def test_parts_join_to_their_samples_or_to_sums_where_one_has_sums() -> None:
    def joined(*parts: tuple[int, Lengths | None]) -> list[list[int]] | None:
        lengths = joined_lengths(parts)
        return None if lengths is None else lengths.tolist()

    summed = summed_lengths(TWO)
    assert summed is not None
    assert summed.tolist() == [[7, 3]]
    assert joined((2, TWO), (1, ONE)) == [[3, 1], [4, 2], [5, 1]]
    assert joined((2, summed), (1, ONE)) == [[12, 4]]
    # A part without samples has no lengths and needs none.
    assert joined((0, None), (1, ONE)) == [[5, 1]]
    assert joined((2, TWO), (1, None)) is None
    assert joined() is None


@pytest.mark.parametrize(
    ("words", "text"),
    [
        # 12 words are a fifth more than 10, which is still alike.
        (12, None),
        (13, "the mean lengths differ by 30% (a: 10.0 words, b: 13.0 words)"),
        (8, "the mean lengths differ by 25% (a: 10.0 words, b: 8.0 words)"),
        (0, "the mean lengths differ (a: 10.0 words, b: 0.0 words)"),
    ],
)
def test_systems_differ_in_length_by_over_a_fifth(words: int, text: str | None) -> None:
    # Two texts of 20 words together.
    systems = {"a": np.array([[8, 1], [12, 1]]), "b": np.array([[words, 1]])}
    assert differing_lengths(systems) == text


def test_a_system_without_predictions_has_no_words() -> None:
    systems = {"a": ONE, "b": np.array([[0, 0]])}
    assert differing_lengths(systems) == ("the mean lengths differ (a: 5.0 words, b: 0.0 words)")
    assert differing_lengths({"a": ONE, "b": None}) is None
