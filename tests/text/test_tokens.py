"""Tokens: bytes of any length cut, named, compared and replaced, at every place of a byte."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from metrichub.text import RaggedTexts, Texts, Tokens, positions_within, row_sums, start_runs
from metrichub.text.ngrams.interning import alphabet, intern_both, intern_one
from metrichub.text.ragged import offsets_of, take_rows
from metrichub.text.tokenize.characters import Characters

SIZES = (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 71, 72, 73, 130)


def integers(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


@pytest.mark.parametrize("size", SIZES)
def test_tokens_that_differ_in_any_one_byte_are_not_the_same(size: int) -> None:
    plain = "x" * size
    others = [f"{plain[:i]}y{plain[i + 1 :]}" for i in range(size)]
    predicted = Tokens.of([[plain, *others, plain, plain + "x", plain[1:]]])
    count = len(predicted.starts)
    first, every = np.zeros(count, np.int64), np.arange(count)
    expected = [True, *[False] * size, True, False, False]
    assert predicted.same(first, every).tolist() == expected
    assert (predicted.hashes == predicted.hashes[0]).tolist() == expected
    assert predicted.same(every, every).all()
    # As many hashes as there are different tokens.
    assert len({*predicted.hashes.tolist()}) == size + 3


@pytest.mark.parametrize("size", SIZES)
def test_a_hash_is_of_the_bytes_alone_wherever_they_stand(size: int) -> None:
    token = "".join(chr(ord("a") + i % 26) for i in range(size))
    alone = Tokens.of([[token]]).hashes[0]
    for rows in ([["b", token]], [["é" * 9], [token, "b"]], [[token * 2, token]]):
        tokens = Tokens.of(rows)
        place = [other for row in rows for other in row].index(token)
        assert tokens.hashes[place] == alone
        assert tokens.word(0, integers(place))[0] == int.from_bytes(token.encode()[:8], "little")
        assert tokens.words[place] == int.from_bytes(token.encode()[:8], "little")
        if size > 8:
            second = int.from_bytes(token.encode()[8:16], "little")
            assert tokens.word(1, integers(place))[0] == second


ROWS = [["a", "bb"], [], ["é", "a" * 70, "c"], [""]]


def test_rows_are_taken_selected_and_replaced() -> None:
    tokens = Tokens.of(ROWS)
    assert tokens.lengths.tolist() == [2, 0, 3, 1]
    # é takes two bytes.
    assert tokens.sizes.tolist() == [1, 2, 2, 70, 1, 0]
    assert tokens.take(integers(2, 1, 2)).all_strings() == [ROWS[2], [], ROWS[2]]
    keep = np.array([True, False, False, True, True, True])
    assert tokens.select(keep).all_strings() == [["a"], [], ROWS[2][1:], [""]]
    other = Tokens.of([["x"], ["y", "z"]])
    replaced = tokens.replace(integers(0, 1), other)
    assert replaced.all_strings() == [["x"], ["y", "z"], *ROWS[2:]]
    assert replaced.strings(1) == ["y", "z"]
    joined = Tokens.joined(tokens, other)
    assert joined.all_strings() == [*ROWS, ["x"], ["y", "z"]]
    assert joined.hashes.tolist() == [*tokens.hashes.tolist(), *other.hashes.tolist()]
    assert not joined.characters


def test_tokens_of_characters_keep_their_code_points_and_only_those() -> None:
    chars = Texts(["aé", "b"]).tokens("chars")
    assert chars.codes is not None
    assert chars.codes.tolist() == [97, 233, 98]
    both = Tokens.joined(chars, Texts(["中"]).tokens("nospace"))
    assert both.codes is not None
    assert both.codes.tolist() == [97, 233, 98, 0x4E2D]
    taken = chars.take(integers(1, 0))
    assert taken.codes is not None
    assert taken.codes.tolist() == [98, 97, 233]
    assert Tokens.joined(chars, Tokens.of([["x"]])).codes is None
    assert chars.map(str.upper).codes is None


def test_a_function_is_called_once_for_equal_tokens_and_never_again() -> None:
    called = list[str]()

    def shout(token: str) -> str:
        called.append(token)
        return f"{token.upper()}!"

    tokens = Tokens.of([["a", "b"], [], ["a", "é"]])
    for _ in range(2):
        assert tokens.map(shout).all_strings() == [["A!", "B!"], [], ["A!", "É!"]]
    assert sorted(called) == ["a", "b", "é"]
    assert Tokens.of([]).map(shout).all_strings() == []


@pytest.mark.parametrize(
    ("lengths", "values", "sums", "within"),
    [
        ([2, 0, 3], [1, 2, 3, 4, 5], [3, 0, 12], [0, 1, 0, 1, 2]),
        ([0, 0], [], [0, 0], []),
        ([], [], [], []),
    ],
)
def test_rows_of_unequal_lengths_are_summed_and_numbered(
    lengths: Sequence[int], values: Sequence[int], sums: Sequence[int], within: Sequence[int]
) -> None:
    offsets = offsets_of(integers(*lengths))
    assert offsets.tolist() == [sum(lengths[:k]) for k in range(len(lengths) + 1)]
    assert row_sums(integers(*values), offsets).tolist() == sums
    assert positions_within(offsets).tolist() == within
    changed = np.zeros(len(values) + 1, np.bool_)
    assert start_runs(changed, offsets) is changed
    assert changed.tolist() == [place == 0 for place in within] + [False]


def test_rows_are_taken_in_any_order_and_more_than_once() -> None:
    places, offsets = take_rows(integers(0, 2, 2, 5), integers(2, 0, 1, 0))
    assert places.tolist() == [2, 3, 4, 0, 1, 0, 1]
    assert offsets.tolist() == [0, 3, 5, 5, 7]


def test_characters_are_left_out_with_the_rows_that_hold_them() -> None:
    column = Characters.of(["a.b", "", "é!", "c"])
    without = column.without(b".!")
    assert without.data == " ab  é c ".encode()
    assert without.rows.tolist() == [1, 4, 5, 7, 9]
    assert column.rows_of(column.codes == ord("!")).tolist() == [2]
    assert column.rows_of(np.isin(column.codes, [ord("a"), ord("b"), ord("c")])).tolist() == [0, 3]
    assert column.rows_of(column.codes == ord("z")).tolist() == []


def test_equal_tokens_of_a_row_have_one_number_from_one_on() -> None:
    both = intern_both(Texts(["a b a", "x", ""]), RaggedTexts.of([["b c", "a"], ["y"], []]), "none")
    # The prediction comes before its references, and each row begins anew.
    tokens, ids = [*"ababcaxy"], both.ids.tolist()
    for row, different in ((slice(0, 6), 3), (slice(6, 8), 2)):
        assert {*ids[row]} == {*range(1, different + 1)}
        assert len({*zip(tokens[row], ids[row], strict=True)}) == different
    assert both.offsets.tolist() == [0, 6, 8, 8]
    assert both.segments.tolist() == [0, 3, 5, 6, 7, 8, 8]
    assert both.sides.tolist() == [0, 1, 2, 0, 1, 0]
    assert both.side.tolist() == [0, 0, 0, 1, 1, 2, 0, 1]
    assert both.left.tolist() == [3, 2, 1, 2, 1, 1, 1, 1]
    assert both.lists == [ids[:3], ids[3:5], ids[5:6], ids[6:7], ids[7:], []]
    assert both.strings == ["".join(map(chr, codes)) for codes in both.lists]
    alone = intern_one(Texts(["a b a", ""]), "none")
    first, second, third = alone.ids.tolist()
    assert (first, {first, second}, alone.sides.tolist()) == (third, {1, 2}, [0, 0])
    assert alone.segments.tolist() == alone.offsets.tolist() == [0, 3, 3]


def test_what_two_columns_share_is_computed_once_for_both() -> None:
    first, second = Texts(["a b"]), Texts(["b"])
    assert intern_both(first, second, "none") is intern_both(first, second, "whitespace")
    assert intern_both(first, second, "none") is not intern_both(first, Texts(["c"]), "none")
    assert intern_one(first, "none") is intern_one(first, "none")


def test_an_alphabet_numbers_the_code_points_that_occur() -> None:
    numbers = alphabet(np.array([3, 1, 3], np.int64))
    assert numbers[[1, 3]].tolist() == [1, 2]
    assert len(numbers) == 4
    assert alphabet(np.zeros(0, np.int64)).tolist() == [0]
