"""Columns: sequences of texts and of lists of texts, and what they share."""

from __future__ import annotations

import numpy as np
import pytest

from metrichub import text as package
from metrichub.text import RaggedTexts, Texts, lengths
from metrichub.text.scripts import ScriptCounts
from metrichub.text.tokenize.characters import Characters
from metrichub.text.unicode import mixed_forms

ROWS = [["a", "b"], [], ["c"], []]


@pytest.mark.parametrize(
    "rows", [ROWS, [], [[]], [["a"]], [[], ["a", "b"]], [["x", ""], ["", "y"]]], ids=str
)
def test_lists_of_texts_are_a_sequence_of_lists(rows: list[list[str]]) -> None:
    column = RaggedTexts.of(rows)
    assert (len(column), list(column)) == (len(rows), rows)
    for place in range(-len(rows), len(rows)):
        assert column[place] == rows[place]
    for part in (slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(0, 9)):
        assert column[part] == rows[part]
    for place in (len(rows), -len(rows) - 1):
        with pytest.raises(IndexError):
            column[place]
    assert repr(column) == f"RaggedTexts.of({rows!r})"
    assert column.counts.tolist() == list(map(len, rows))
    assert column.rows.tolist() == [i for i, row in enumerate(rows) for _ in row]
    assert list(RaggedTexts.of([["A", "É"], [], ["b"]]).lower()) == [["a", "é"], [], ["b"]]
    again = RaggedTexts(Texts([text for row in rows for text in row]), column.offsets)
    assert list(again) == list(RaggedTexts(list(again.items), column.offsets.tolist())) == rows


def test_texts_are_a_sequence_of_strings() -> None:
    column = Texts(("a", "", "B"))
    assert [column[0], column[-1], column[1:], len(column)] == ["a", "B", ["", "B"], 3]
    assert repr(column) == "Texts(['a', '', 'B'])"
    lower = column.lower()
    assert (list(lower), len(lower), lower[2]) == (["a", "", "b"], 3, "b")
    assert list(Texts(["é", "É"]).lower()) == ["é", "é"]


def test_what_is_computed_for_a_column_is_computed_once_and_told_apart_by_its_key() -> None:
    column, calls = Texts(["a"]), list[str]()

    def make(name: str) -> str:
        calls.append(name)
        return name

    assert [column.cached(key, lambda: make("x")) for key in (1, 1, (1,))] == ["x"] * 3
    assert calls == ["x", "x"]


@pytest.mark.parametrize("seen", ["nothing", "characters", "lower"])
@pytest.mark.parametrize(
    ("texts", "letters"),
    [
        (["aB7 ."], ScriptCounts(3, {}, {})),
        (["é7", "中文"], ScriptCounts(4, {"Latin": 1, "Han": 2}, {"Han": 2})),
        ([], ScriptCounts(0, {}, {})),
    ],
)
def test_letters_are_counted_alike_whatever_was_computed_before(
    seen: str, texts: list[str], letters: ScriptCounts
) -> None:
    column = Texts(texts)
    if seen == "characters":
        assert column.characters.rows[-1] >= 1
    elif seen == "lower":
        assert len(column.lower()) == len(texts)
    assert column.letters == letters


def test_rows_that_are_taken_keep_strings_and_lower_case() -> None:
    column = Texts(["A b", "中 É", "c"])
    assert column.take(np.array([0, 1, 2])) is column
    assert column.tokens("13a") is column.tokens("13a")
    assert column.lower() is column.lower()
    taken = column.take(np.array([1, 0, 1]))
    assert list(taken) == ["中 É", "A b", "中 É"]
    assert taken.strings("nospace") == ["中É", "Ab", "中É"]
    assert taken.strings("chars") == list(taken)
    assert list(taken.lower()) == ["中 é", "a b", "中 é"]
    assert list(column.take(np.array([0, 1]))) == ["A b", "中 É"]
    again = taken.take(np.array([2]))
    assert (list(again), again.tokens("none").all_strings()) == (["中 É"], [["中", "É"]])


@pytest.mark.parametrize(
    ("tokenizer", "strings"),
    [
        ("chars", [" a\u3000b ", ""]),
        ("nospace", ["ab", ""]),
        ("jiwer-chars", ["a\u3000b", ""]),
        ("13a", None),
        ("none", None),
    ],
)
def test_only_tokenizers_into_characters_have_strings(
    tokenizer: str, strings: list[str] | None
) -> None:
    column = Texts([" a\u3000b ", ""])
    assert column.strings(tokenizer) == strings
    if strings is not None:
        assert lengths(column, tokenizer).tolist() == list(map(len, strings))
    assert column.strings(str.split) is None


def test_white_space_of_ascii_is_left_out_of_strings_of_any_text() -> None:
    # Tab to carriage return, the four separators, and space.
    spaces = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "
    for text in (f"a{spaces}b", f"é{spaces}b", f"é\u2003{spaces}b", spaces):
        assert Texts(["x", text, "y"]).strings("nospace") == ["x", "".join(text.split()), "y"]


def test_characters_know_their_rows_and_bytes() -> None:
    characters = Characters.of(["é", "", "ab"])
    assert characters.data == " é  ab ".encode()
    assert characters.rows.tolist() == [1, 3, 4, 7]
    assert not characters.is_ascii
    # é takes two bytes; the last number is the length of the data.
    assert characters.starts.tolist() == [0, 1, 3, 4, 5, 6, 7, 8]
    assert len(characters.data) == 8
    assert characters.bytes_at(np.array([1, 2])).tolist() == [1, 3]
    plain = Characters.of(["ab"])
    assert (plain.is_ascii, plain.starts.tolist()) == (True, [0, 1, 2, 3, 4])
    assert Characters.of([]).rows.tolist() == [1]


@pytest.mark.parametrize(
    ("columns", "mixed"),
    [
        ([["é"], ["e\u0301"]], {"é"}),
        ([["é", "e\u0301"]], {"é"}),
        ([["é"], ["é"]], set()),
        ([["e\u0301"], ["e\u0301 x"]], set()),
        # Of two characters only one is written in both ways.
        ([["é ñ"], ["e\u0301 ñ"]], {"é"}),
        ([["x"], []], set()),
        # A mark alone, and one that composes with nothing, make no second form.
        ([["\u0301"], ["é"], ["x\u0301"]], set()),
    ],
)
def test_characters_written_in_two_forms_are_found(
    columns: list[list[str]], mixed: set[str]
) -> None:
    assert mixed_forms(columns) == mixed


def test_the_package_names_what_it_has_and_nothing_else() -> None:
    assert dir(package) == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert package.__getattr__("Texts") is Texts
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.__getattr__("nothing")
