"""The n-grams that pairs of texts share, held against counting them one text at a time."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.text import RaggedTexts, Texts, clipped_matches
from metrichub.text.ngrams.pairs import best_pairs, shared_ngrams
from metrichub.text.tokenize.reference import TOKENIZERS

LETTERS = st.text("ab c.", max_size=25)
WIDE = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x5200), max_size=25)
PAIRS = st.lists(st.tuples(*[st.one_of(LETTERS, WIDE, st.text(max_size=10))] * 2), max_size=6)


def counted(text, tokenizer, order):
    tokens = TOKENIZERS[tokenizer](text)
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


@given(PAIRS, st.sampled_from(["nospace", "chars", "chrf", "13a"]), st.integers(1, 9))
def test_counts_are_those_of_counting_each_text(pairs, tokenizer, max_order):
    first, second = ([pair[i] for pair in pairs] for i in range(2))
    shared = shared_ngrams(Texts(first), Texts(second), tokenizer, max_order)
    for row, pair in enumerate(pairs):
        for order in range(1, max_order + 1):
            predicted, referenced = (counted(text, tokenizer, order) for text in pair)
            expected = ((predicted & referenced).total(), predicted.total(), referenced.total())
            assert tuple(counts[row, order - 1] for counts in shared) == expected


@pytest.mark.parametrize("distinct", [30, 62, 63, 64, 126, 127, 128, 1022, 1023, 1024, 5000])
def test_any_size_of_alphabet_gives_the_clipped_matches(distinct):
    # Around powers of two, a number for the end of the text needs one bit more than the letters.
    letters = np.random.default_rng(distinct).integers(0, distinct, (2, 40, 150)) + 0x4E00
    first, second = ([*("".join(map(chr, row)) for row in side)] for side in letters.tolist())
    second = [
        f"{text[:50]}{other[50:]}{text[-3:]}" for text, other in zip(first, second, strict=True)
    ]
    for order in (1, 2, 6):
        matches = shared_ngrams(Texts(first), Texts(second), "chars", order).matches
        expected = clipped_matches(Texts(first), Texts(second), "chars", order).matches
        assert (matches == expected).all()


def test_equal_ends_of_texts_are_no_longer_than_they_are():
    # "xyab" and "qab" share a, b and ab; no 3-gram reaches beyond their common end.
    shared = shared_ngrams(Texts(["xyab"]), Texts(["qab"]), "chars", 4)
    assert shared.matches.tolist() == [[2, 1, 0, 0]]
    assert shared.predicted.tolist() == [[4, 3, 2, 1]]
    assert shared.referenced.tolist() == [[3, 2, 1, 0]]


def test_the_best_pair_is_the_first_of_those_that_score_best():
    references = RaggedTexts.of([["a", "b", "c"], ["d"], ["e", "f"]])
    scores = np.array([0.1, 0.5, 0.5, 0.0, -1.0, -2.0])
    assert best_pairs(scores, references).tolist() == [1, 3, 4]


def test_a_wide_letter_is_not_the_one_that_its_last_byte_stands_for():
    # U+0141 ends in the byte of "A"; one of nine letters is wide, few enough for a byte each.
    shared = shared_ngrams(Texts(["A" + "x" * 16, "Łx"]), Texts(["y" * 16 + "Ł", "Łx"]), "chars", 2)
    assert shared.matches.tolist() == [[0, 0], [2, 1]]


def test_the_first_character_beyond_ascii_is_no_other_wide_one():
    # U+0080 is the first that a byte beside ASCII can't be sure of.
    shared = shared_ngrams(Texts(["x" * 20 + "\x80"]), Texts(["y" * 20 + "中"]), "chars", 1)
    assert shared.matches.tolist() == [[0]]
    same = shared_ngrams(Texts(["x" * 20 + "\x80中"]), Texts(["y" * 20 + "中\x80"]), "chars", 2)
    assert same.matches.tolist() == [[2, 0]]


@pytest.mark.parametrize("kinds", [126, 127, 128, 129])
def test_as_many_wide_letters_as_fit_beside_ascii_in_a_byte_stay_different(kinds):
    wide = "".join(map(chr, range(0x4E00, 0x4E00 + kinds)))
    shared = shared_ngrams(Texts([wide + "a" * 2000]), Texts([wide + "b" * 2000]), "chars", 2)
    assert shared.matches.tolist() == [[kinds, kinds - 1]]
    apart = shared_ngrams(Texts([wide + "a" * 2000]), Texts([wide[::-1]]), "chars", 2)
    assert apart.matches.tolist() == [[kinds, 0]]


def test_the_first_character_of_all_is_no_end_of_a_text():
    # U+0000 follows "a" in the reference; in the prediction nothing does.
    shared = shared_ngrams(Texts(["a", "\0\0"]), Texts(["a\0", "\0"]), "chars", 2)
    assert shared.matches.tolist() == [[1, 0], [1, 0]]
