"""The letters of columns by script, and what tokenizers make of them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from metrichub.text import Texts, equal_rows
from metrichub.text.scripts import EMOJI, EXAMPLES, ScriptCounts, dropped_scripts, treatment
from metrichub.text.tokenize.reference import UNSPACED, category, is_unspaced


def test_letters_and_digits_are_counted_by_script() -> None:
    # a, B, 7 are ASCII, é is Latin and я of a script with spaces; 好 and the emoji stand alone.
    counts = Texts(["aB7_é я!", "中文か。", "好 😀"]).letters
    assert counts.total == 10
    assert counts.beyond_ascii == {"other": 1, "Latin": 1, "Han": 3, "kana": 1, "emoji": 1}
    assert counts.joined == {"Han": 2, "kana": 1}


def test_every_ascii_letter_and_digit_counts() -> None:
    every = "".join(map(chr, range(128)))
    for text in (every, f"{every}é"):
        assert Texts([text]).letters.total == 26 + 26 + 10 + (text != every)


def test_texts_whose_words_were_set_apart_have_no_joined_letters() -> None:
    # Three words or more of four letters each or fewer, on average.
    assert Texts(["中文中文 中文中文 中文中文"]).letters.joined == {}
    assert Texts(["中文中文中 中文中文 中文中文"]).letters.joined == {"Han": 13}
    assert Texts(["中文 中文"]).letters.joined == {"Han": 4}


def test_marks_and_symbols_are_no_letters() -> None:
    assert Texts(["ก็ é ।。，€©"]).letters == ScriptCounts(2, {"Thai": 1, "Latin": 1}, {})


def test_rows_are_mostly_of_scripts_that_have_over_half_of_their_letters_and_digits() -> None:
    # Of a, b, я, я half are Cyrillic · of 7, я, é a third, and two with Latin · 1 of 1, as neither
    # emoji nor marks are letters · none.
    rows = Texts(["ab яя.", "7яé", "я 😀😀 ++", "...", ""])
    assert rows.mostly({"other"}).tolist() == [False, False, True, False, False]
    assert rows.mostly({"other", "Latin"}).tolist() == [False, True, True, False, False]
    assert rows.take(np.array([2, 0])).mostly({"other"}).tolist() == [True, False]
    assert Texts([]).mostly({"other"}).tolist() == []


def test_every_letter_that_unicode_sets_apart_has_a_script() -> None:
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    apart = [c for c in every if category(c) in "LN" and is_unspaced(c)]
    counts = Texts(["".join(apart)]).letters
    assert sum(counts.joined.values()) == len(apart) == counts.total
    assert counts.joined.keys() == {"Han", "kana", "Thai", "Lao", "Khmer", "Myanmar"}
    assert len(UNSPACED) == 11


@pytest.mark.parametrize("script", EXAMPLES)
def test_an_example_is_of_its_script(script: str) -> None:
    assert Texts([EXAMPLES[script]]).letters.beyond_ascii.keys() == {script}
    assert treatment("chars", script) == treatment("char", script) == "cut"
    assert treatment("whitespace", script) == "uncut"


def test_a_column_is_split_by_a_function_once() -> None:
    calls: list[str] = []

    def words(text: str) -> list[str]:
        calls.append(text)
        return text.split("-")

    column = Texts(["a-b", "c"])
    assert column.split(words) == column.split(words) == [["a", "b"], ["c"]]
    assert calls == ["a-b", "c"]


def test_rows_are_equal_if_their_tokens_are() -> None:
    first, second = Texts(["The cat.", "中文", "a b", ""]), Texts(["cat", "中文", "b a", "the"])
    equal = equal_rows(first, second, "squad")
    # SQuAD's rules drop articles and punctuation, and leave "b" of "a b" and "b a".
    assert equal.tolist() == [True, True, True, True]
    assert equal_rows(first, second, "chars").tolist() == [False, True, False, False]


def test_emoji_count_for_no_script_that_a_tokenizer_drops() -> None:
    dropped = {script for script in EXAMPLES if treatment("rouge", script) == "dropped"}
    assert EMOJI in dropped
    assert dropped_scripts("rouge") == dropped - {EMOJI}
