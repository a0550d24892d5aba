"""The Porter stemmer, with the extensions that nltk's `PorterStemmer()` makes to it.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. A word is seen as
[C](VC){m}[V], runs of consonants and vowels; m is its measure.
"""

from __future__ import annotations

from functools import lru_cache

IRREGULAR = {
    **{"sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"},
    **{"news": "news", "innings": "inning", "inning": "inning", "outings": "outing"},
    **{"outing": "outing", "cannings": "canning", "canning": "canning", "howe": "howe"},
    **{"proceed": "proceed", "exceed": "exceed", "succeed": "succeed"},
}

STEP_2 = {
    **{"ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize"},
    **{"bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous"},
    **{"ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive"},
    **{"fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble"},
    **{"fulli": "ful", "logi": "log"},
}
STEP_3 = {
    **{"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": ""},
    **{"ness": ""},
}
STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou"),
    *("ism", "ate", "iti", "ous", "ive", "ize"),
)
_SUFFIXES_2, _SUFFIXES_3 = tuple(STEP_2), tuple(STEP_3)


class _Letters(dict[int, str]):
    """Maps the five vowels to "v" and everything else to "c"."""

    def __missing__(self, code: int) -> str:
        return "c"


_LETTERS = _Letters({ord(vowel): "v" for vowel in "aeiou"})


@lru_cache(maxsize=1 << 18)
def porter(word: str) -> str:
    """The stem of a word, lower-cased."""
    stem = word.lower()
    if stem in IRREGULAR:
        return IRREGULAR[stem]
    if len(word) <= 2:
        return stem
    stem = _plural(stem)
    stem = _past(stem)
    if stem.endswith("y") and len(stem) > 2 and _shape(stem)[-2] == "c":
        stem = stem[:-1] + "i"
    stem = _step_2(stem)
    stem = _step_3(stem)
    stem = _step_4(stem)
    return _step_5(stem)


def _shape(word: str) -> str:
    """The word with every letter replaced by "c" or "v"; y is a vowel after a consonant."""
    shape = word.translate(_LETTERS)
    if "y" not in word:
        return shape
    letters = list(shape)
    for i, letter in enumerate(word):
        if letter == "y" and i and letters[i - 1] == "c":
            letters[i] = "v"
    return "".join(letters)


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x, y; or a vowel and a consonant alone."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    stem = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    return _restored(stem) if "v" in _shape(stem) else word


def _restored(stem: str) -> str:
    """The stem with the ending that "-ed" or "-ing" hid: hop(p), fil(e), conflat(e)."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-2:-1] == stem[-1] and _shape(stem)[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    if stem.endswith("*d"):
        # nltk marks its rule for double letters "*d", and takes these two for an ending too.
        return stem[:-2] + "d"
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _step_2(word: str) -> str:
    if not word.endswith(_SUFFIXES_2):
        return word
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    suffix = next(filter(word.endswith, STEP_2))
    stem = word[: -len(suffix)]
    measured = word[:-3] if suffix == "logi" else stem
    return stem + STEP_2[suffix] if _measure(measured) > 0 else word


def _step_3(word: str) -> str:
    if not word.endswith(_SUFFIXES_3):
        return word
    suffix = next(filter(word.endswith, STEP_3))
    stem = word[: -len(suffix)]
    return stem + STEP_3[suffix] if _measure(stem) > 0 else word


def _step_4(word: str) -> str:
    if not word.endswith(STEP_4):
        return word
    suffix = next(filter(word.endswith, STEP_4))
    stem = word[: -len(suffix)]
    removed = _measure(stem) > 1 and (suffix != "ion" or stem[-1] in "st")
    return stem if removed else word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
