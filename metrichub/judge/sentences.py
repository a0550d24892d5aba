"""Sentences of a text, split by the rules of its language."""

from __future__ import annotations

import re
from collections.abc import Iterable

from metrichub.text import segments

_LOOKED_AT = 2_000
_WORD = re.compile(r"\w")
_SPACED_STOP = re.compile(r"(?<=\s[.!?])\s+(?=[^\W\da-z_])")
_SPACED_POINT = re.compile(r"(?<!\d)\d{1,3} \.$")
_LETTERS = {
    "el": re.compile(r"[\u0370-\u03ff]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "en": re.compile(r"[a-z]", re.IGNORECASE),
}
# No word of another list is an English one ("die", "war", "den", "son"), as one decides.
_FUNCTION_WORDS = {
    "en": "a an and are as at be by for from had has he in is it not of on or that the this to was "
    "were which with",
    "da": "af at blev efter eller en er et fra hun ikke med og på som til var ved",
    "de": "auch auf aus bei das dem der des ein eine einem einen einer er es für im ist mit nach "
    "nicht sich sie und von vom wie wird wurde zu zum zur",
    "es": "al con del el en es está fue la las los más para pero por que se su sus un una y",
    "fi": "ei että ja joka kuin mutta myös oli on ovat se sekä",
    "fr": "au aux avec ce dans du elle en est et il la le les leur mais ne ont pas pour qui "
    "sa ses sont sur une",
    "it": "al alla che con da dei del della delle di è gli il in la le lo nel nella non per più "
    "si sono un una",
    "nl": "aan bij dat een en het hij ik is naar niet ook op te uit voor wordt zij zijn",
    "pl": "ale był była czy dla jak jest nie oraz po przez się są w z za że",
    "pt": "ao da das dos e em foi mais não na nas nos o os para pela por que se um uma",
}
_WORDS_OF = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}


def language_of(text: str) -> str:
    """The language by whose rules a text is split: that of its script or of its function words.

    Only languages with rules of their own are recognized; all others, and texts without function
    words, are split as English, which ends sentences of any script that marks their ends.
    """
    start = text[:_LOOKED_AT].lower()
    letters = {language: len(letter.findall(start)) for language, letter in _LETTERS.items()}
    script = max(letters, key=letters.__getitem__)
    if script != "en":
        return script if letters[script] > letters["en"] else "en"
    words = re.findall(r"[^\W\d_]+", start)
    hits = {
        language: sum(map(function_words.__contains__, words))
        for language, function_words in _WORDS_OF.items()
    }
    best = max(hits, key=hits.__getitem__)
    return best if hits[best] > hits["en"] else "en"


def sentences(text: str) -> list[str]:
    """The sentences of a text that contain a word."""
    language = language_of(text)
    lines = (line for line in text.splitlines() if line.strip())
    whole = (part for line in lines for part in _whole_numbers(segments(line, language)))
    # The splitter never ends a sentence inside quotes, which tokenized text leaves open.
    parts = (part for sentence in whole for part in _SPACED_STOP.split(sentence))
    return [part for part in parts if _WORD.search(part)]


def _whole_numbers(parts: Iterable[str]) -> list[str]:
    """The parts with their spaces made single; those cut within "7 . 8" are joined again."""
    joined: list[str] = []
    for part in (" ".join(part.split()) for part in parts):
        if joined and _SPACED_POINT.search(joined[-1]) and part[:1].isdigit():
            joined[-1] += f" {part}"
        else:
            joined.append(part)
    return joined
