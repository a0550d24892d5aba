"""Skip-bigrams and weighted common subsequences equal their definitions and ROUGE-1.5.5's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards.rouge import skip
from metrichub.text import Texts
from metrichub.text.tokenize import reference as plain
from tests.oracles import skip_twins as twins
from tests.oracles.text_twins import any_text, pairs, word_texts

NAMES = st.sampled_from(["whitespace", "rouge", "unicode", "chars"])


def columns_of(rows):
    return Texts([prediction for prediction, _ in rows]), Texts([text for _, text in rows])


def tokenized(rows, name):
    return [tuple(plain.TOKENIZERS[name](text) for text in row) for row in rows]


@given(rows=pairs(word_texts | any_text), name=NAMES, gap=st.integers(0, 6), single=st.booleans())
def test_skip_bigrams_equal_their_definition(rows, name, gap, single):
    result = skip.skip_bigram_matches(*columns_of(rows), name, gap, unigrams=single)
    for i, (prediction, reference) in enumerate(tokenized(rows, name)):
        predicted, asked = (
            twins.skip_bigrams(text, gap, single) for text in (prediction, reference)
        )
        expected = [(predicted & asked).total(), predicted.total(), asked.total()]
        assert [int(part[i]) for part in result] == expected


@given(
    rows=pairs(word_texts | any_text), name=NAMES, weight=st.sampled_from([1.0, 1.2, 1.5, 2.0, 3.0])
)
def test_weighted_subsequences_equal_their_definition(rows, name, weight):
    result = skip.weighted_lcs(*columns_of(rows), name, weight)
    for i, (prediction, reference) in enumerate(tokenized(rows, name)):
        table = twins.table(prediction, reference, weight)
        assert result.table[i] == pytest.approx(table[len(prediction), len(reference)][0])
        runs = twins.runs(prediction, reference, weight)
        assert result.runs[i] == pytest.approx(sum(run**weight for run in runs))


@given(rows=pairs(word_texts), size=st.integers(1, 40))
def test_a_pair_is_worth_the_same_in_any_batch(rows, size):
    together = skip.weighted_lcs(*columns_of(rows), "whitespace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skip, "BATCH", size)
        parts = skip.weighted_lcs(*columns_of(rows), "whitespace")
    for first, other in zip(together, parts, strict=True):
        assert first.tolist() == other.tolist()


def test_police_killed_the_gunman():
    # Lin (2004), section 5: S1 "police killed the gunman" shares 3 of 6 skip-bigrams with S2,
    # 1 with S3 and 2 with S4.
    others = ["police kill the gunman", "the gunman kill police", "the gunman police killed"]
    prediction, reference = Texts(others), Texts(["police killed the gunman"] * 3)
    result = skip.skip_bigram_matches(prediction, reference, "whitespace", gap=2)
    assert result.matches.tolist() == [3, 1, 2]
    assert result.reference.tolist() == result.prediction.tolist() == [6, 6, 6]


def test_a_run_is_worth_more_than_its_pieces():
    # Lin (2004), section 4, with f(k) = k^2: X = A B C D E F G, Y1 = A B C D H I K has the run
    # ABCD, 16; Y2 = A H B K C I D has four single matches, 4, but in the reference X they are
    # neighbours.
    prediction, reference = Texts(["a b c d h i k", "a h b k c i d"]), Texts(["a b c d e f g"] * 2)
    result = skip.weighted_lcs(prediction, reference, "whitespace", weight=2)
    assert result.table.tolist() == [16, 4]
    assert result.runs.tolist() == [16, 16]


def test_a_gap_of_zero_counts_bigrams():
    prediction, reference = Texts(["a b c a b"]), Texts(["a b a b c"])
    result = skip.skip_bigram_matches(prediction, reference, "whitespace", gap=0)
    # "a b" twice in both, "b c" once in both; "c a" and "b a" in one.
    assert [part.tolist() for part in result] == [[3], [4], [4]]


def test_long_texts_take_linear_memory():
    # 20,000 distinct words, twice: each of the n - d pairs at distance d of the shorter text.
    words = [f"w{i}" for i in range(20_000)]
    prediction, reference = Texts([" ".join(words * 2)]), Texts([" ".join(words)])
    result = skip.skip_bigram_matches(prediction, reference, "none", gap=4)
    assert result.matches.tolist() == [sum(20_000 - d for d in range(1, 6))]


def test_an_empty_column_has_no_matches():
    empty = Texts([])
    assert [part.shape for part in skip.skip_bigram_matches(empty, empty, "rouge", 4)] == [(0,)] * 3
    assert [part.shape for part in skip.weighted_lcs(empty, empty, "rouge")] == [(0,)] * 2
    blank = Texts([""])
    assert np.concatenate(skip.weighted_lcs(blank, blank, "rouge")).tolist() == [0, 0]
