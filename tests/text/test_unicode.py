"""Texts that have UTF-8."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.text import Texts, segments, well_formed

ANY = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "formed"),
    [
        ("\ud800 lone", "\ufffd lone"),
        ("a\udc00\udc00", "a\ufffd\ufffd"),
        # The two halves of U+1F600.
        ("\ud83d\ude00", "😀"),
        ("a\0b\u2028 שלום", "a\0b\u2028 שלום"),
    ],
)
def test_a_lone_surrogate_is_replaced(text: str, formed: str) -> None:
    assert well_formed(text) == formed


@given(ANY)
def test_every_text_has_utf8_then_and_is_left_alone_the_second_time(text: str) -> None:
    formed = well_formed(text)
    formed.encode()
    assert well_formed(formed) == formed


@pytest.mark.parametrize(
    ("text", "composes"), [("cafe", False), ("日本", False), ("cafe\u0301", True)]
)
def test_only_a_text_with_a_mark_that_composes_may_be_decomposed(text: str, composes: bool) -> None:
    fresh, seen, lowered = (Texts([text]) for _ in range(3))
    assert len(seen.characters.codes) == len(text) + 2
    assert lowered.lower()
    assert [column.may_be_decomposed for column in (fresh, seen, lowered)] == [composes] * 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two.", ["One.", "Two."]),
        ("J\u00a0. Smith left. He came.", ["J . Smith left.", "He came."]),
        ("a\ud800b. C.", ["a\ufffdb.", "C."]),
        ("", []),
    ],
)
def test_every_text_has_sentences(text: str, found: list[str]) -> None:
    assert [sentence.strip() for sentence in segments(text)] == found
