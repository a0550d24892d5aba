"""The search for shifts of many pairs equals the plain search of one, and sacrebleu's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import translation_edit_rate

from metrichub.text import Shift, Texts, best_shifts, shift_edits
from metrichub.text.edits import bits, shifts
from metrichub.text.edits import tercom as alone
from metrichub.text.edits.banded import sacrebleu_band
from metrichub.text.edits.shifts import shifts_made
from tests.oracles import tercom
from tests.vectors import slow

Pair = tuple[list[str], list[str]]


def edits_of(pairs: list[Pair]) -> list[int]:
    """The edits of the pairs, all at a time."""
    columns = ([" ".join(pair[side]) for pair in pairs] for side in (0, 1))
    predicted, expected = map(Texts, columns)
    return [int(edits) for edits in shift_edits(predicted, expected, "none")]


def in_both_ways(pairs: list[Pair]) -> list[int]:
    """The edits of the pairs, searched in step and one by one, which have to be the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shifts, "ROW", 0)
        patch.setattr(shifts, "ROUND", 0)
        together = edits_of(pairs)
        patch.setattr(shifts, "ROUND", 1 << 60)
        assert edits_of(pairs) == together
    return together


def as_text(words: list[str]) -> str:
    """A character for every word, which is a number."""
    return "".join(chr(ord("a") + int(word)) for word in words)


def official(pairs: list[Pair]) -> list[int]:
    """The edits that sacrebleu counts, pair by pair."""
    return [translation_edit_rate(*pair)[0] for pair in pairs]


def noisy(source: random.Random, length: int, vocabulary: int) -> Pair:
    """A text and a copy of it with shifts, substitutions and deletions, or another text."""
    reference = [str(source.randrange(vocabulary)) for _ in range(length)]
    words = list(reference)
    for _ in range(source.randrange(4)):
        start = source.randrange(len(words) + 1)
        words = tercom.move(
            words,
            start,
            min(source.randint(1, 12), len(words) - start),
            source.randrange(length + 1),
        )
    words = [str(source.randrange(vocabulary)) if source.random() < 0.1 else w for w in words]
    words = [word for word in words if source.random() > 0.1]
    if source.random() < 0.1:
        words = [str(source.randrange(vocabulary)) for _ in range(source.randrange(2 * length + 1))]
    return words, reference


def moved(source: random.Random) -> Pair:
    """A text of up to 90 words of 1 to 50 different ones, with moved runs or its ends changed."""
    size = source.choice((1, 2, 3, 4, 6, 10, 25, 50))
    length = source.choice((source.randint(0, 20), source.randint(0, 90)))
    words, reference = noisy(source, length, size)
    turn = source.choice((0, 0, source.randint(0, 40)))
    return words[turn:] + words[:turn], reference


WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6))
def test_a_few_words_in_any_order_equal_the_plain_search_and_sacrebleu(pairs: list[Pair]) -> None:
    assert edits_of(pairs) == [tercom.edits(*pair) for pair in pairs] == official(pairs)


@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=10)
def test_texts_with_moved_runs_equal_the_plain_search(seed: int) -> None:
    source = random.Random(seed)
    pairs = [moved(source) for _ in range(4)]
    results = [tercom.search(*pair) for pair in pairs]
    assert in_both_ways(pairs) == [len(shift) + distance for shift, distance in results]
    texts = ([as_text(pair[side]) for pair in pairs] for side in (0, 1))
    assert best_shifts(*texts) == [
        [Shift(-row.minus_start, row.length - row.minus_start, -row.minus_target) for row in shift]
        for shift, _ in results
    ]


@pytest.mark.parametrize(
    ("pairs", "lengths", "vocabulary"),
    [
        (250, range(1, 20), 3),
        slow(1000, range(1, 20), 4),
        (60, range(1, 30), 12),
        slow(300, range(1, 30), 12),
        slow(25, range(30, 60), 40),
        slow(6, range(60, 100), 8),
        slow(15, range(60, 120), 400),
    ],
)
def test_shifted_texts_equal_sacrebleu(pairs: int, lengths: range, vocabulary: int) -> None:
    source = random.Random(vocabulary)
    corpus = [noisy(source, source.choice(lengths), vocabulary) for _ in range(pairs)]
    assert edits_of(corpus) == official(corpus)


@pytest.mark.parametrize(
    ("size", "reference_size"), [(4, 70), (70, 4), (1, 120), slow(80, 40), slow(55, 90)]
)
def test_texts_of_unequal_lengths_meet_the_edge_of_the_beam_as_in_sacrebleu(
    size: int, reference_size: int
) -> None:
    source = random.Random(size)
    corpus = [
        ([str(source.randrange(20)) for _ in range(n)] for n in (size, reference_size))
        for _ in range(4)
    ]
    pairs = [(words, reference) for words, reference in corpus]
    assert in_both_ways(pairs) == official(pairs)


def test_the_shift_that_is_best_without_the_beam_is_not_made_as_in_sacrebleu() -> None:
    words = (
        "6 6 27 19 5 31 7 34 21 22 3 24 25 53 33 55 36 8 29 1 39 34 32 55 2 53 36 23 13 17 52 7 "
        "6 38 18 46 4 15 20 17 18 15 46 57 54 55 18 56 37 15 47 16 14 13 59 44 44 44"
    )
    reference = (
        "6 38 18 46 4 15 20 19 17 23 18 15 46 57 20 55 18 56 37 15 47 16 58 14 34 31 52 21 13 59 "
        "44 44 44 6 6 27 19 5 31 7 34 21 22 3 24 25 53 37 33 55 36 8 21 59 39 34 32 55 2 58 36 23 "
        "7 54 17 52 7"
    )
    pairs = [(words.split(), reference.split())]
    assert in_both_ways(pairs) == official(pairs)


def test_a_path_that_leaves_the_beam_is_not_taken_as_in_sacrebleu() -> None:
    # The first of 3 words is around column 14 of 42, and the beam ends 24 behind it.
    others = [f"other{n}" for n in range(41)]
    pairs = [
        (["both", "a", "b"], [*others[:column], "both", *others[column:]])
        for column in range(35, 40)
    ]
    assert in_both_ways(pairs) == official(pairs) == [41, 41, 41, 42, 42]


def test_the_beams_of_short_texts_are_as_wide_as_sacrebleu_s() -> None:
    # Both start at column 35: 25 before column 60, or 25 and half of 120 before column 120.
    pairs = [
        (words, [f"other{n}" if n != column else "both" for n in range(length)])
        for words, length in ((["a", "b", "both", "c"], 80), (["both"], 120))
        for column in range(28, 42)
    ]
    assert in_both_ways(pairs) == official(pairs)
    assert {*official(pairs)} == {79, 80, 119, 120}
    # Half of 103 / 2 and 25 are 50.75, which are 51 columns before the last, so that 51 is inside.
    pairs = [
        (["a", "both"], [f"other{n}" if n != column else "both" for n in range(103)])
        for column in (50, 51)
    ]
    assert in_both_ways(pairs) == official(pairs) == [103, 102]


@pytest.mark.parametrize(
    ("words", "length", "first"),
    # Half of the ratio of the lengths widens the beam only where it is over 25.
    [(1, 49, 24), (1, 50, 25), (2, 100, 75), (1, 51, 0), (1, 52, 1)],
)
def test_the_beam_is_wider_only_beyond_fifty_times_the_words(
    words: int, length: int, first: int
) -> None:
    # The last row's middle is the last column. The beam begins 25 before it; of 51 words for one
    # 25.5 and 25 before, which are 51, and so of 52.
    band = sacrebleu_band(np.array([words]), np.array([length]))
    assert band.first[words, 0] == first
    pairs = [
        (["own"] * (words - 1) + ["both"], [f"o{n}" if n != c else "both" for n in range(length)])
        for c in range(20, min(length, 80), 3)
    ]
    assert in_both_ways(pairs) == official(pairs)


def test_the_search_ends_after_a_thousand_tries_as_in_sacrebleu() -> None:
    # Every word of the one half is everywhere in the other: far more than 1,000 shifts.
    pairs = [
        (["a"] * 40 + ["b"] * 40, ["b"] * 40 + ["a"] * 40),
        (["a", "b"] * 30, ["b", "b", "a"] * 20),
    ]
    assert in_both_ways(pairs) == official(pairs)


@pytest.mark.parametrize(("far", "edits"), [(50, 1), (51, 2)])
def test_words_are_shifted_by_50_places_at_most(far: int, edits: int) -> None:
    # Tercom looks no further; the word is deleted then, and inserted elsewhere.
    others = [f"other{n}" for n in range(far)]
    pairs = [(["moved", *others], [*others, "moved"]), ([*others, "moved"], ["moved", *others])]
    assert in_both_ways(pairs) == official(pairs) == [edits, edits]


@pytest.mark.parametrize(("length", "edits"), [(10, 1), (11, 2)])
def test_a_shift_is_of_ten_words_at_most(length: int, edits: int) -> None:
    run, others = (
        [f"{name}{n}" for n in range(size)] for name, size in (("run", length), ("", 20))
    )
    pairs = [([*run, *others], [*others, *run]), ([*others, *run], [*run, *others])]
    assert in_both_ways(pairs) == official(pairs) == [edits, edits]


def test_more_words_than_a_byte_can_name_are_told_apart() -> None:
    words = [str(number) for number in range(600)]
    # The first ten words moved behind the next ten: one shift, and another text: 600 edits.
    moved = words[10:20] + words[:10] + words[20:]
    assert edits_of([(moved, words), (words, [f"x{word}" for word in words])]) == [1, 600]


def test_the_order_and_company_of_pairs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(7)
    corpus = [noisy(source, source.randint(1, 80), 9) for _ in range(60)]
    single = [edits for pair in corpus for edits in edits_of([pair])]
    monkeypatch.setattr(shifts, "ROUND", 0)
    monkeypatch.setattr(shifts, "ROW", 0)
    assert edits_of(corpus) == single
    assert edits_of(corpus[::-1]) == single[::-1]
    monkeypatch.setattr(shifts, "CELLS", 200)
    monkeypatch.setattr(bits, "PORTION", 7)
    assert edits_of(corpus) == single


@pytest.mark.parametrize("width", [63, 64, 65, 128, 129, 192])
def test_references_of_several_numbers_of_bits_equal_sacrebleu(width: int) -> None:
    source = random.Random(width)
    reference = [str(number) for number in range(width)]
    words = [*reference[width // 2 : width // 2 + 9], *reference[: width // 2], *reference[-20:]]
    words[source.randrange(width // 2)] = "other"
    pairs = [(words, reference), (reference[-8:] + reference[:-8], reference)]
    assert in_both_ways(pairs) == official(pairs)


def test_bits_are_carried_over_the_numbers_of_a_long_text() -> None:
    # Of three words many columns are equal in a row, which carries a bit far: here over 140 and 200
    # columns, so that it passes whole numbers of 64 bits.
    source = random.Random(0)
    pairs = []
    for length in (140, 200):
        reference = [str(source.randrange(3)) for _ in range(length)]
        start = source.randrange(20, 60)
        words = reference[start : start + 8] + reference[:start] + reference[start + 8 :]
        for _ in range(6):
            words[source.randrange(length)] = "other"
        pairs.append((words, reference))
    # Searched one by one, a row is a whole number of Python's. Deleted and inserted, the moved
    # words take 16 edits, and the others 6.
    assert all(0 < edits <= 8 + 8 + 6 for edits in in_both_ways(pairs))


def test_a_table_is_computed_in_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(3)
    pairs = [noisy(source, 40, 6) for _ in range(10)]
    texts = [(as_text(words), as_text(reference)) for words, reference in pairs]
    results = [alone.search(words, reference) for words, reference in texts]
    monkeypatch.setattr(alone, "STRIDE", 7)
    assert [alone.search(words, reference) for words, reference in texts] == results


def test_the_shifts_made_are_named_in_order() -> None:
    # "a b c" stays, being aligned with its equals; "d e" stands wrong and goes to the front.
    assert best_shifts(["abcde"], ["deabc"]) == [[Shift(3, 5, 0)]]
    assert Shift(3, 5, 0)("abcde") == "deabc"
    assert best_shifts(["", "a", "ab"], ["a", "", "ab"]) == [[], [], []]


@given(st.integers(0, 6), st.data())
def test_a_shift_moves_words_as_the_plain_search_does(size: int, data: st.DataObject) -> None:
    text = "abcdef"[:size]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    target = data.draw(st.integers(0, len(text)))
    moved = tercom.move(list(text), start, end - start, target)
    assert Shift(start, end, target)(list(text)) == moved


UNKNOWN = [f"new{n}" for n in range(60)], [f"old{n}" for n in range(60)]
"""Sixty words for sixty others, so that the edge of the beam may be met."""


@pytest.mark.parametrize(
    ("moved", "tail", "shifts"),
    [
        # Two words change places: a shift saves one of two edits.
        (["a", "b"], ["b", "a"], 1),
        # Of "a u" for "v a" a shift of "a" leaves one edit, and is one itself: nothing is saved.
        (["a", "u"], ["v", "a"], 0),
        (["a", "b", "a1", "u"], ["b", "a", "v", "a1"], 1),
    ],
)
def test_only_shifts_that_save_edits_are_made_beyond_the_first(
    moved: list[str], tail: list[str], shifts: int
) -> None:
    words, reference = [*moved], [*tail]
    ids = {word: chr(200 + n) for n, word in enumerate(dict.fromkeys([*words, *reference]))}
    short = ["".join(ids[word] for word in text) for text in (words, reference)]
    assert len(shifts_made(*short)) == shifts
    # In the beam the first is looked for whatever it saves, and then no other.
    apart = "".join(map(chr, range(1000, 1060))), "".join(map(chr, range(2000, 2060)))
    long = [before + word for before, word in zip(apart, short, strict=True)]
    assert len(shifts_made(*long)) == 1
    pairs = [([*UNKNOWN[0], *words], [*UNKNOWN[1], *reference])]
    assert in_both_ways(pairs) == official(pairs)


@pytest.mark.parametrize("pair", [("", ""), ("a", ""), ("", "a"), ("ab", "ab"), ("ab", "cd")])
def test_texts_without_common_words_in_another_order_have_no_shifts(pair: tuple[str, str]) -> None:
    assert shifts_made(*pair) == []


def test_rows_that_need_no_search_keep_their_distance_beside_those_that_do() -> None:
    pairs = [
        ([], ["a", "b"]),
        (["a", "b"], []),
        ([], []),
        (["a"], ["a"]),
        (["c", "d", "e", "a", "b"], ["a", "b", "c", "d", "e"]),
        (["a", "x"], ["a", "y"]),
        (UNKNOWN[0], []),
        ([], UNKNOWN[0]),
    ]
    # The fifth is one shift of two words; of sixty words for none each is an edit.
    assert edits_of(pairs) == [2, 2, 0, 0, 1, 1, 60, 60]
    assert edits_of(pairs[::-1]) == [60, 60, 1, 1, 0, 0, 2, 2]
