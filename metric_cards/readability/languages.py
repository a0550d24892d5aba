"""The languages that Flesch's formula was fitted to, and whether a text is evidently in another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Ease(NamedTuple):
    """Flesch reading ease of a language: what words a sentence and syllables a word take away."""

    base: float
    length: float
    syllables: float


EASE: Mapping[str, Ease] = {
    "en": Ease(206.835, 1.015, 84.6),
    "de": Ease(180, 1, 58.5),
    "es": Ease(206.84, 1.02, 60),
    "fr": Ease(207, 1.015, 73.6),
    "it": Ease(217, 1.3, 60),
    "nl": Ease(206.835, 0.93, 77),
    "ru": Ease(206.835, 1.3, 60.1),
    "hu": Ease(206.835, 1.015, 58.5),
}
"""As textstat 0.7.13 has them: Amstad, Fernández Huerta, Kandel and Moles, Vacca, Douma, …"""

_FREQUENT = {
    "en": "the of and to a in is that was for it with as his he on be at by this had not are but "
    "from or have an they which you were her she there been their has would will who him when "
    "more if no out so what up its about than into them only some could these two then do my",
    "de": "der und das den von zu mit sich des auf für ist im dem nicht ein eine als auch es an "
    "werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen war ich",
    "es": "el los las que y del una por con para su lo como más pero sus ya o este sí porque esta "
    "entre cuando muy sin sobre también hasta hay donde quien desde todo nos durante es se",
    "fr": "le les et des du que est pour qui dans une au pas sur ne ce il sont avec plus par je "
    "cette mais nous vous ou leur être ses elle aux été on deux même ces qu",
    "it": "il di che è per del non le della dei da con si nel alla una gli lo anche più ha sono "
    "al delle ma questo suo nella dal dalla degli ai ho mi ed",
    "nl": "het een van en dat niet te voor met zijn op aan er om hij ook als bij nog maar naar dan "
    "uit ze wordt werd deze heeft hebben ik je wat kan geen",
    "ru": "и в не на что я с он как это по но они мы из у за то все так его от же бы для вы был "
    "она ещё о к до или только",
    "hu": "az és hogy nem egy ez volt meg csak van el mint már azt ki is még vagy ha lesz nagy "
    "akkor kell lehet olyan után majd mert ezt minden fel",
}
_OWN = {
    language: frozenset(words.split())
    - {word for other, o in _FREQUENT.items() if other != language for word in o.split()}
    for language, words in _FREQUENT.items()
}
"""The most frequent words of each language that aren't among those of another."""
_WORD = re.compile(r"[^\W\d_]+")
_FEW, _RARE, _MANY, _ACCENTED = 5, 0.08, 0.12, 0.05
"""Words that tell; shares of words that are frequent in a language, if it is the text's or not."""


def is_in_another(text: str, language: str) -> bool:
    """Whether hardly a word of at least five is frequent in the language, and it is in another.

    Words that are frequent in another say so, and for English, which has few, accented letters.
    """
    words = _WORD.findall(text.lower())
    if len(words) < _FEW or _frequent(words, language) > _RARE * len(words):
        return False
    others = (_frequent(words, other) for other in _OWN if other != language)
    if max(others) > max(1, _MANY * len(words)):
        return True
    letters = "".join(words)
    return language == "en" and sum(c > "\x7f" for c in letters) > _ACCENTED * len(letters)


def _frequent(words: list[str], language: str) -> int:
    return sum(map(_OWN[language].__contains__, words))
