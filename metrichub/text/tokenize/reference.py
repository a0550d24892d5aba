"""The tokenizers one text at a time, as their definitions read: what the fast ones must equal.

Each follows its official package: sacrebleu 2.6 for `13a`, `intl`, `zh`, `char`, `none` and
`chrf`, rouge-score 0.1.2 for `rouge`, SQuAD's evaluate-v1.1 for `squad`, jiwer 4 for
`jiwer-words` and `jiwer-chars`.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from metrichub.text.tokenize.porter import porter

CHINESE = (
    *((0x2001, 0x2A6D), (0x2E80, 0x2EFF), (0x2F00, 0x2FDF), (0x2F81, 0x2FA1), (0x2FF0, 0x303F)),
    *((0x3100, 0x312F), (0x31A0, 0x31BF), (0x31C0, 0x31EF), (0x3200, 0x33FF), (0x3400, 0x4DB5)),
    *((0x4E00, 0x9FBB), (0xF900, 0xFA2D), (0xFA30, 0xFA6A), (0xFA70, 0xFAD9), (0xFE10, 0xFE1F)),
    *((0xFE30, 0xFE4F), (0xFF00, 0xFFEF)),
)
"""Code points that `zh` sets apart. The first range is sacrebleu's reading of "\\u20000"."""

UNSPACED = (
    *("CJK ", "IDEOGRAPHIC ", "HANGZHOU NUMERAL", "HIRAGANA", "HENTAIGANA", "KATAKANA"),
    *("HALFWIDTH KATAKANA", "THAI ", "LAO ", "KHMER ", "MYANMAR "),
)
"""How the Unicode names of letters begin in scripts that are written without spaces."""

ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# mteval's range begins with the space, which is dropped in the end.
_SYMBOL = re.compile(r"([\{-\~\[-\`!-\&\(-\+\:-\@\/])")
_POINT_AFTER = re.compile(r"([^0-9])([\.,])")
_POINT_BEFORE = re.compile(r"([\.,])([^0-9])")
_DASH = re.compile(r"([0-9])(-)")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation))


def thirteen_a(text: str) -> list[str]:
    """Mteval-v13a: entities undone, ASCII symbols alone, points and dashes by their digits."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in ENTITIES:
        text = text.replace(entity, character)
    return _western(f" {text} ")


def chinese(text: str) -> list[str]:
    """Chinese characters alone, the rest as in `13a`, without entities."""
    return _western("".join(f" {c} " if is_chinese(c) else c for c in text.strip()))


def international(text: str) -> list[str]:
    """Mteval-v14: symbols alone; punctuation too, unless it stands between two numbers."""
    text = _set_apart(text.rstrip(), _not_number, _punctuation, "{} {} ")
    text = _set_apart(text, _punctuation, _not_number, " {} {}")
    return "".join(f" {c} " if category(c) == "S" else c for c in text).split()


def whitespace_words(text: str) -> list[str]:
    """The words between white space."""
    return text.split()


def characters(text: str) -> list[str]:
    """Every code point."""
    return list(text)


def ink(text: str) -> list[str]:
    """Every code point that isn't white space."""
    return list(without_spaces(text))


def without_spaces(text: str) -> str:
    """The text without its white space."""
    return "".join(text.split())


def chrf_words(text: str) -> list[str]:
    """Words, with one ASCII punctuation mark split off their end, or else off their start."""
    tokens = []
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            tokens += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in string.punctuation:
            tokens += [word[0], word[1:]]
        else:
            tokens.append(word)
    return tokens


def rouge(text: str) -> list[str]:
    """Lower-cased runs of a-z and 0-9."""
    return re.findall("[a-z0-9]+", text.lower())


def rouge_stems(text: str) -> list[str]:
    """The tokens of `rouge`, those of more than three letters stemmed."""
    return [rouge_stem(token) for token in rouge(text)]


def letter_stems(text: str) -> list[str]:
    """The stems of the tokens of `letters`."""
    return [rouge_stem(token) for token in letters(text)]


def rouge_stem(token: str) -> str:
    """The Porter stem of a token of more than three letters; shorter ones stay."""
    return porter(token) if len(token) > 3 else token


def letters(text: str) -> list[str]:
    """Lower-cased runs of letters, marks and numbers; letters of unspaced scripts alone."""
    spaced = (
        f" {c} " if is_unspaced(c) else c if category(c) in "LMN" else " " for c in text.lower()
    )
    return "".join(spaced).split()


def bag(text: str) -> list[str]:
    """Lower-cased words without ASCII punctuation."""
    return _without_punctuation(text).split()


def squad(text: str) -> list[str]:
    """Lower-cased words without ASCII punctuation and English articles."""
    return _ARTICLE.sub(" ", _without_punctuation(text)).split()


def jiwer_words(text: str) -> list[str]:
    """The words between spaces and runs of white space; a lone tab stays in its word."""
    return [word for word in re.sub(r"\s\s+", " ", text).strip().split(" ") if word]


def jiwer_characters(text: str) -> list[str]:
    """Every code point of the stripped text."""
    return list(text.strip())


def mixed(text: str) -> list[str]:
    """Characters of scripts that are written without spaces, and words elsewhere."""
    return "".join(f" {c} " if is_unspaced(c) else c for c in text).split()


@lru_cache(maxsize=1 << 16)
def category(character: str) -> str:
    """The first letter of the character's Unicode category, as in "L" for letters."""
    return unicodedata.category(character)[0]


def is_chinese(character: str) -> bool:
    """Whether `zh` sets the character apart."""
    return any(first <= ord(character) <= last for first, last in CHINESE)


@lru_cache(maxsize=1 << 16)
def is_unspaced(character: str) -> bool:
    """Whether it is a letter, mark or number of a script that is written without spaces."""
    return category(character) in "LMN" and unicodedata.name(character, "").startswith(UNSPACED)


def _western(text: str) -> list[str]:
    text = _SYMBOL.sub(r" \1 ", text)
    text = _POINT_AFTER.sub(r"\1 \2 ", text)
    text = _POINT_BEFORE.sub(r" \1 \2", text)
    return _DASH.sub(r"\1 \2 ", text).split()


def _set_apart(
    text: str, first: Callable[[str], bool], second: Callable[[str], bool], form: str
) -> str:
    """`re.sub` for two predicates in a row: matches don't overlap, from left to right."""
    return "".join(_pairs(text, first, second, form))


def _pairs(
    text: str, first: Callable[[str], bool], second: Callable[[str], bool], form: str
) -> Iterable[str]:
    i = 0
    while i < len(text):
        if i + 1 < len(text) and first(text[i]) and second(text[i + 1]):
            yield form.format(text[i], text[i + 1])
            i += 2
        else:
            yield text[i]
            i += 1


def _not_number(character: str) -> bool:
    return category(character) != "N"


def _punctuation(character: str) -> bool:
    return category(character) == "P"


def _without_punctuation(text: str) -> str:
    return text.lower().translate(_PUNCTUATION)


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "13a": thirteen_a,
    "intl": international,
    "zh": chinese,
    "char": ink,
    "none": whitespace_words,
    "whitespace": whitespace_words,
    "rouge": rouge,
    "rouge-stem": rouge_stems,
    "unicode-stem": letter_stems,
    "unicode": letters,
    "squad": squad,
    "bag": bag,
    "chars": characters,
    "nospace": ink,
    "chrf": chrf_words,
    "jiwer-words": jiwer_words,
    "jiwer-chars": jiwer_characters,
    "mixed": mixed,
}
"""Every tokenizer that needs no further package, by name."""

CHARACTER_STRINGS: dict[str, Callable[[str], str]] = {
    "chars": str,
    "nospace": without_spaces,
    "jiwer-chars": str.strip,
}
"""The text whose code points are the tokens, for the tokenizers that have one."""
