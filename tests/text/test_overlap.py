"""n-gram statistics of columns equal their definitions and sacrebleu's and rouge-score's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub.text import RaggedTexts, Texts
from metrichub.text.ngrams import interning, overlap
from metrichub.text.tokenize import reference as plain
from metrichub.text.tokenize import tokens
from tests.oracles import text_twins as twins
from tests.oracles.text_twins import any_text, samples, word_texts

NAMES = st.sampled_from(["13a", "unicode", "chars", "nospace", "rouge-stem", "squad"])


def columns_of(rows):
    return Texts([prediction for prediction, _ in rows]), RaggedTexts.of([refs for _, refs in rows])


def check(rows, name, order):
    """Every statistic of the columns is that of the rows."""
    tokenize = plain.TOKENIZERS[name]
    predicted = [tokenize(prediction) for prediction, _ in rows]
    expected = [[tokenize(text) for text in references] for _, references in rows]
    orders = range(1, order + 1)
    prediction, references = columns_of(rows)

    matches, totals = overlap.clipped_matches(prediction, references, name, order)
    assert matches.tolist() == [
        [twins.clipped_matches(p, r, k) for k in orders]
        for p, r in zip(predicted, expected, strict=True)
    ]
    counts = [[len(twins.ngrams(p, k)) for k in orders] for p in predicted]
    assert totals.tolist() == counts
    novel, total = overlap.novel_ngrams(prediction, references, name, order)
    assert novel.tolist() == [
        twins.novel_ngrams(p, r, order) for p, r in zip(predicted, expected, strict=True)
    ]
    assert total.tolist() == [row[-1] for row in counts]
    unique, total = overlap.distinct_ngrams(prediction, name, order)
    assert unique.tolist() == [[len(set(twins.ngrams(p, k))) for k in orders] for p in predicted]
    assert total.tolist() == counts
    assert overlap.closest_lengths(prediction, references, name).tolist() == [
        twins.closest_length(len(p), [len(text) for text in r])
        for p, r in zip(predicted, expected, strict=True)
    ]


@given(rows=samples(word_texts), order=st.integers(1, 5))
def test_statistics_equal_their_definitions(rows, order):
    check(rows, "whitespace", order)


@given(rows=samples(any_text), name=NAMES, order=st.integers(1, 6))
def test_statistics_equal_their_definitions_on_any_text(rows, name, order):
    check(rows, name, order)


@given(rows=samples(word_texts | any_text), order=st.integers(1, 5))
def test_tokens_that_hash_alike_are_told_apart(rows, order):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_mix", np.zeros_like)
        check(rows, "13a", order)


@given(rows=samples(word_texts | any_text), order=st.integers(1, 5))
def test_statistics_are_the_same_when_names_outgrow_their_bits(rows, order):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "BITS", 8)
        check(rows, "13a", order)


@given(rows=samples(any_text), order=st.integers(1, 5))
def test_statistics_are_the_same_with_a_large_alphabet(rows, order):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interning, "ALPHABET", 0)
        check(rows, "nospace", order)


@settings(max_examples=50)
@given(rows=st.lists(st.tuples(word_texts, word_texts), max_size=5))
def test_one_reference_per_row_may_come_as_a_column(rows):
    prediction, reference = Texts([p for p, _ in rows]), Texts([r for _, r in rows])
    groups = RaggedTexts.of([[r] for _, r in rows])
    for statistic in (overlap.clipped_matches, overlap.novel_ngrams):
        flat, ragged = (statistic(prediction, r, "13a", 3) for r in (reference, groups))
        assert [part.tolist() for part in flat] == [part.tolist() for part in ragged]
    flat, ragged = (overlap.closest_lengths(prediction, r, "13a") for r in (reference, groups))
    assert flat.tolist() == ragged.tolist()


def test_long_texts_have_exact_statistics():
    # 70,000 distinct words need 17 bits each, so that four of them outgrow 64.
    rng = random.Random(0)
    words = [f"w{i}" for i in range(70_000)]
    shuffled = rng.sample(words, len(words)) + rng.choices(words, k=30_000)
    check([(" ".join(words), [" ".join(shuffled)]), ("w1 w2 w3", ["w2 w3"])], "none", 4)


def test_ngrams_that_differ_in_their_first_word_alone_are_told_apart() -> None:
    # 1,205 words need 11 bits each, so that six of them outgrow 64; no 6-gram is shared.
    even, odd = (" ".join(f"w{i} a b c d e" for i in range(k, 1200, 2)) for k in (0, 1))
    matches, _ = overlap.clipped_matches(Texts([even]), Texts([odd]), "none", 6)
    # Of 600 words five are shared, and so is what stands between two others.
    assert matches.tolist() == [[3000, 2400, 1800, 1200, 600, 0]]


def test_a_reference_is_counted_at_its_most():
    # "a" occurs 3 times in the prediction, at most 2 times in one reference, 3 in all.
    matches, _ = overlap.clipped_matches(
        Texts(["a a a b"]), RaggedTexts.of([["a a", "b a"]]), "13a", 1
    )
    assert matches.tolist() == [[3]]


def test_an_empty_column_has_empty_statistics():
    prediction, references = Texts([]), RaggedTexts.of([])
    assert overlap.clipped_matches(prediction, references, "13a", 4).matches.shape == (0, 4)
    assert overlap.novel_ngrams(prediction, references, "13a", 2).novel.shape == (0,)
    assert overlap.closest_lengths(prediction, references, "13a").shape == (0,)
