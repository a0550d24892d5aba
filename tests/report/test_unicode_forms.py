"""What a report says of texts that mix Unicode's composed and decomposed characters."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from metrichub import Hub, Report

METRICS = ("exact_match", "token_f1", "rouge", "bleu")


def evaluated(prediction: str, reference: str) -> Report:
    """The report of one sample."""
    return Hub(METRICS).evaluate(predictions=[prediction], references=[reference])


# A letter with an accent, Vietnamese, Cyrillic, Arabic, Tamil, Hangul and kana; each text has a
# character whose canonical decomposition is a letter and a mark, or jamo.
@pytest.mark.parametrize("text", ["café", "Tiếng Việt", "мой", "آخر", "கொடு", "한국", "ガラス"])
def test_a_note_names_what_is_written_in_two_forms(text: str, tmp_path: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    report = evaluated(decomposed, composed)
    report.save(tmp_path / "r.json")
    for one in (report, Report.load(tmp_path / "r.json"), evaluated("a", "a").merge(report)):
        assert list(one.notes()) == list(METRICS)
        for notes in one.notes().values():
            (note,) = [note for note in notes if "Unicode" in note]
            named = note.removeprefix("the texts write ").partition(" in several")[0].split(", ")
            assert set(named) <= set(composed) - set(decomposed)
    for alike in (composed, decomposed):
        assert not evaluated(alike, alike).mixed_forms


@pytest.mark.parametrize(
    ("prediction", "reference"),
    [
        ("naïve", "naive"),
        # Hindi's qa is no composed character of NFC, and the same in both.
        ("क़लम", "क़लम"),
        # Decomposed, but never together with the same letter in one character.
        (unicodedata.normalize("NFD", "é"), "ü"),
        ("“quoted” – 你好。", "“quoted” – สวัสดี"),
    ],
)
def test_texts_of_one_form_have_no_note(prediction: str, reference: str) -> None:
    assert not evaluated(prediction, reference).mixed_forms


def test_the_characters_of_two_forms_are_in_order() -> None:
    text = "üéèêëàùçñõ"
    report = evaluated(unicodedata.normalize("NFD", text), text)
    assert report.mixed_forms["bleu"] == tuple(sorted(text))
