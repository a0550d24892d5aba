"""Alignments of columns equal their definitions and jiwer's and rouge-score's."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from rouge_score import rouge_scorer

from metrichub.text import Texts
from metrichub.text.edits import align
from metrichub.text.edits import lcs as subsequence
from metrichub.text.ngrams.interning import InternedIds
from metrichub.text.tokenize import reference as plain
from tests.oracles import text_twins as twins
from tests.oracles.text_twins import any_text, pairs, word_texts

NAMES = st.sampled_from(["whitespace", "13a", "unicode", "chars", "nospace", "jiwer-chars"])
lines = st.lists(st.sampled_from(["a ", "b ", "c ", "d ", "\n", "é"]), max_size=30).map("".join)


def columns_of(rows):
    return Texts([prediction for prediction, _ in rows]), Texts([text for _, text in rows])


def tokenized(rows, name):
    return [tuple(plain.TOKENIZERS[name](text) for text in row) for row in rows]


@given(rows=pairs(word_texts | any_text), name=NAMES)
def test_common_subsequences_equal_their_definition(rows, name):
    lengths = align.lcs(*columns_of(rows), name)
    assert lengths.tolist() == [twins.lcs(*row) for row in tokenized(rows, name)]


@given(rows=pairs(word_texts | any_text), name=NAMES)
def test_distances_equal_their_definition(rows, name):
    distances = align.levenshtein(*columns_of(rows), name)
    assert distances.tolist() == [twins.levenshtein(*row) for row in tokenized(rows, name)]


@given(rows=pairs(word_texts | any_text), name=NAMES)
def test_edits_are_counted_by_kind(rows, name):
    counts = align.edit_counts(*columns_of(rows), name)
    for i, (prediction, reference) in enumerate(tokenized(rows, name)):
        # As in jiwer, which hands its tokens to rapidfuzz.
        kinds = Counter(op.tag for op in Levenshtein.editops(reference, prediction))
        edits = [kinds[kind] for kind in ("replace", "delete", "insert")]
        assert [int(part[i]) for part in counts] == [len(reference) - sum(edits[:2]), *edits]


@pytest.mark.parametrize("stride", [1, 3, subsequence.STRIDE])
@given(rows=pairs(lines | any_text))
def test_rouge_lsum_is_rouge_scores(stride, rows):
    official = rouge_scorer.RougeScorer(["rougeLsum"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsequence, "STRIDE", stride)
        unions = align.union_lcs(*columns_of(rows), "rouge")
    for i, (text, target) in enumerate(rows):
        score = official.score(target, text)["rougeLsum"]
        hits, predicted, expected = (int(part[i]) for part in unions)
        assert score.precision == hits / max(predicted, 1)
        assert score.recall == hits / max(expected, 1)


def test_a_common_subsequence_is_the_same_by_any_stride(monkeypatch):
    source = np.random.default_rng(4)
    for _ in range(30):
        reference, candidate = (source.integers(0, 4, 40).tolist() for _ in range(2))
        places = subsequence.occurrences(reference)
        path = subsequence.subsequence(places, 40, candidate)
        assert path.bit_count() == twins.lcs(candidate, reference)
        for stride in (1, 7):
            monkeypatch.setattr(subsequence, "STRIDE", stride)
            assert subsequence.subsequence(places, 40, candidate) == path
        monkeypatch.undo()


@given(rows=pairs(word_texts | any_text), name=NAMES)
def test_fragments_equal_their_definition(rows, name):
    copied = align.fragments(*columns_of(rows), name)
    for i, (prediction, source) in enumerate(tokenized(rows, name)):
        expected = twins.fragments(prediction, source)
        assert [int(part[i]) for part in copied] == [
            sum(expected),
            sum(length**2 for length in expected),
            len(prediction),
            len(source),
        ]


def test_a_fragment_that_starts_inside_a_longer_look_is_missed():
    # From "a a b" the source "a a a b" is entered at its first a; the run "a a" ends before the
    # third, so the search goes on there and finds "a" only: "a a" is taken, then "b".
    copied = align.fragments(Texts(["a a b"]), Texts(["a a a b"]), "whitespace")
    assert (copied.covered.tolist(), copied.squared.tolist()) == ([3], [5])


def test_ranks_become_the_smallest_sequence_that_holds_them():
    def sequences(*ranks):
        count = np.array([0, len(ranks)])
        return InternedIds(np.array(ranks), count, count, np.array([0])).sequences[0]

    assert sequences(1, 255) == b"\x01\xff"
    assert sequences(1, 0xD7FF, 0xD800, 0x10F7FF) == "\x01\ud7ff\ue000\U0010ffff"
    assert sequences(1, 0x10F800) == [1, 0x10F800]


def test_very_long_texts_are_aligned():
    # The words of one text, each a second time after all of them: one whole copy is common.
    words = " ".join(f"w{i}" for i in range(50_000))
    prediction, reference = Texts([f"{words} {words}"]), Texts([words])
    assert align.lcs(prediction, reference, "none").tolist() == [50_000]
    assert align.levenshtein(prediction, reference, "none").tolist() == [50_000]
    assert align.edit_counts(prediction, reference, "none").insertions.tolist() == [50_000]
    assert align.fragments(prediction, reference, "none").squared.tolist() == [2 * 50_000**2]


def test_an_empty_column_has_empty_alignments():
    empty = Texts([])
    for function in (align.lcs, align.levenshtein):
        assert function(empty, empty, "13a").shape == (0,)
    for function in (align.edit_counts, align.fragments, align.union_lcs):
        assert [part.shape for part in function(empty, empty, "13a")] == [(0,)] * len(
            function(empty, empty, "13a")
        )
