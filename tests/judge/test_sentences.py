"""Sentences are split by the rules of the text's language, which its words and script tell."""

import pytest

from metrichub.authoring import sentences
from metrichub.judge.sentences import _WORDS_OF, language_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Der 3. Oktober ist ein Feiertag. Alle haben frei.",
            ["Der 3. Oktober ist ein Feiertag.", "Alle haben frei."],
        ),
        ("Der 3. Oktober", ["Der 3. Oktober"]),
        (
            "La Sra. Gil salió de casa. Vive en EE. UU. desde 1990.",
            ["La Sra. Gil salió de casa.", "Vive en EE. UU. desde 1990."],
        ),
        ("Il habite av. Foch. C'est ici.", ["Il habite av. Foch.", "C'est ici."]),
        (
            "Dr. Smith paid $3.50 on May 3. Then the man left.",
            ["Dr. Smith paid $3.50 on May 3.", "Then the man left."],
        ),
        ("桥很长。它建于1912年！", ["桥很长。", "它建于1912年！"]),
        ("Τι είναι; Είναι γέφυρα.", ["Τι είναι;", "Είναι γέφυρα."]),
        (
            "Он родился в 1990 г. в Москве. Там тепло.",
            ["Он родился в 1990 г. в Москве.", "Там тепло."],
        ),
        ("यह पुल है। वह घर है।", ["यह पुल है।", "वह घर है।"]),
    ],
)
def test_a_text_is_split_by_the_rules_of_its_language(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_tokenized_text_is_split_inside_open_quotes_too() -> None:
    assert sentences("He said ` no . She left .") == ["He said ` no .", "She left ."]


def test_tokenized_text_is_not_split_within_a_decimal() -> None:
    text = "Prices fell by 7 . 8 per cent . In 2014 . 3 people left ."
    assert sentences(text) == ["Prices fell by 7 . 8 per cent .", "In 2014 .", "3 people left ."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "en"),
        ("Mr. Lee left", "en"),
        ("Die Hard was on; the man in the van met a den of lions. No war.", "en"),
        ("The word Brücke is German, and der is an article of it.", "en"),
        ("Москва is the capital of Russia.", "en"),
        ("Die Stadt und der Fluss", "de"),
        ("El puente es largo", "es"),
        ("O navio não parou", "pt"),
        ("Il ponte è lungo", "it"),
        ("De brug is niet lang, zij zijn er bij het water", "nl"),
        ("Мост длинный", "ru"),
    ],
)
def test_the_language_is_that_of_the_script_or_the_function_words(text: str, expected: str) -> None:
    assert language_of(text) == expected


def test_no_english_word_speaks_for_another_language() -> None:
    # A single one decides where a text has no English function word.
    english = {"as", "come", "den", "die", "do", "i", "it", "man", "me", "met", "more", "no"}
    english |= {"pan", "par", "sale", "son", "van", "war", "we"}
    assert (
        not {word for name, words in _WORDS_OF.items() if name != "en" for word in words} & english
    )
