"""The tokenizers by name: each finds its boundaries over a whole column of characters at once.

A tokenizer gives every character a class, and every class says where a token begins. What a
tokenizer is to do is read most easily in `metrichub.text.tokenize.reference`, one text at a time.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from metrichub.errors import MissingDependency, ParameterError
from metrichub.text.ragged import Bytes, Flags, Integers
from metrichub.text.tokenize import reference
from metrichub.text.tokenize.characters import (
    ALONE,
    DASH,
    GAP,
    NUMBER,
    POINT,
    UNKNOWN,
    WORD,
    Characters,
    Codes,
    around,
    limits,
    row_edges,
    runs,
    single,
    western_runs,
)
from metrichub.text.tokenize.tokens import Tokens

T = TypeVar("T")

Tokenizer = str | Callable[[str], Sequence[str]]
"""The name of a tokenizer, or a function from a text to its tokens.

A function with an attribute `of_column`, from `Texts` to `Tokens`, makes those of a column at once.
"""

PUNCTUATION = string.punctuation.encode()

MARKUP = {
    b"<skipped>": (b"<skipped>",),
    b"-\n": (b"-\n",),
    b"&": tuple(entity.encode() for entity, _ in reference.ENTITIES),
}
"""The markup that `13a` removes or replaces first, by what it is found with."""


class TextColumn(Protocol):
    """A column of strings that remembers what was computed of it."""

    def __getitem__(self, row: int, /) -> str: ...

    def __iter__(self) -> Iterator[str]: ...

    @property
    def characters(self) -> Characters:
        """The characters of all rows as an array."""
        ...

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, which is called only the first time for each key."""
        ...

    def lower(self) -> TextColumn:
        """The column with `str.lower` applied to every row."""
        ...

    def tokens(self, tokenizer: str) -> Tokens:
        """The tokens of every row by another tokenizer."""
        ...


class Classes:
    """The class of each code point, computed when it first occurs."""

    def __init__(self, classify: Callable[[str], int]) -> None:
        self._classify = classify
        self._known: Bytes = np.zeros(0x110000, np.uint8)

    def __call__(self, codes: Codes) -> Bytes:
        """The classes of the code points, in the same shape."""
        classes: Bytes = self._known.take(codes)
        unknown = classes == UNKNOWN
        if unknown.any():
            for code in set(codes[unknown].tolist()):
                self._known[code] = self._classify(chr(code))
            classes = self._known.take(codes)
        return classes

    def of(self, characters: Characters) -> Bytes:
        """The classes of all characters, (M,); don't change the array."""
        if characters.is_ascii:
            return np.frombuffer(characters.data.translate(self._ascii), np.uint8)
        return self(characters.codes)

    @cached_property
    def _ascii(self) -> bytes:
        return self(np.arange(1 << 7)).tobytes().ljust(1 << 8, bytes(1))


def _space(character: str) -> int:
    return GAP if character.isspace() else WORD


def _letter(character: str) -> int:
    if reference.is_unspaced(character):
        return ALONE
    return WORD if reference.category(character) in "LMN" else GAP


def _western(character: str) -> int:
    if character in string.digits:
        return NUMBER
    if character in ".,":
        return POINT
    if character == "-":
        return DASH
    alone = character in string.punctuation and character != "'"
    return ALONE if alone else _space(character)


def _chinese(character: str) -> int:
    alone = reference.is_chinese(character) and not character.isspace()
    return ALONE if alone else _western(character)


def _international(character: str) -> int:
    classes = {"N": NUMBER, "P": POINT, "S": ALONE}
    return classes.get(reference.category(character), _space(character))


def _english(character: str) -> int:
    ink = character.isalnum() or character in string.punctuation
    return WORD if character.isascii() and (ink or character.isspace()) else ALONE


SPACES = Classes(_space)
MARKS = Classes(lambda c: ALONE if c in string.punctuation else WORD)
MIXED = Classes(lambda c: ALONE if reference.is_unspaced(c) else _space(c))
ROUGE = Classes(lambda c: WORD if c in string.ascii_lowercase + string.digits else GAP)
LETTERS = Classes(_letter)
THIRTEEN_A = Classes(_western)
CHINESE = Classes(_chinese)
INTERNATIONAL = Classes(_international)
ENGLISH = Classes(_english)


def tokenize(texts: TextColumn, tokenizer: str) -> Tokens:
    """The tokens of a column.

    Raises:
        ParameterError: there is no such tokenizer.
        MissingDependency: the tokenizer needs sacrebleu, which isn't installed.
    """
    if tokenizer in TOKENIZERS:
        return TOKENIZERS[tokenizer](texts)
    if tokenizer in SACREBLEU:
        return _sacrebleu(texts, tokenizer)
    allowed = "one of " + ", ".join((*TOKENIZERS, *SACREBLEU))
    raise ParameterError(None, "tokenize", tokenizer, allowed)


def inside_words(texts: TextColumn) -> Flags:
    """Which characters aren't white space, (M,); not to be changed."""
    return texts.cached("inside words", lambda: SPACES.of(texts.characters) == WORD)


def _words(texts: TextColumn) -> Tokens:
    return texts.cached("words", lambda: runs(texts.characters, inside_words(texts)))


def _runs(characters: Characters, classes: Classes) -> Tokens:
    """Runs of characters of words, and each character that is a token alone."""
    kinds = classes.of(characters)
    return runs(characters, kinds != GAP, around(kinds == ALONE))


def _thirteen_a(texts: TextColumn) -> Tokens:
    characters = texts.characters
    tokens = western_runs(characters, THIRTEEN_A.of(characters), None)
    return _by_hand(texts, tokens, _rows_with(characters, MARKUP), reference.thirteen_a)


def _western_words(characters: Characters, classes: Classes, *, stripped: bool) -> Tokens:
    kinds = classes.of(characters)
    inside = np.flatnonzero(kinds != GAP)
    return western_runs(characters, kinds, row_edges(characters, inside, stripped=stripped))


def _chrf_words(texts: TextColumn) -> Tokens:
    characters, inside = texts.characters, inside_words(texts)
    first, last = limits(inside, None)
    several = last - first > 1
    tail = several & (MARKS(characters.codes[last - 1]) == ALONE)
    head = several & (MARKS(characters.codes[first]) == ALONE) & ~tail
    breaks = np.zeros(len(inside), np.bool_)
    breaks[last[tail] - 1] = True
    breaks[first[head] + 1] = True
    return runs(characters, inside, breaks)


def _squad(texts: TextColumn) -> Tokens:
    tokens = texts.tokens("bag")
    keep = np.ones(len(tokens.starts), np.bool_)
    for article in (b"a", b"an", b"the"):
        same = tokens.words == int.from_bytes(article, "little")
        keep &= ~(same & (tokens.sizes == len(article)))
    characters = texts.lower().characters
    others = characters.rows_of(ENGLISH.of(characters) == ALONE)
    return _by_hand(texts, tokens.select(keep), others, reference.squad)


def _characters(texts: TextColumn) -> Tokens:
    characters = texts.characters
    inside = np.ones(characters.rows[-1], np.bool_)
    inside[characters.rows - 1] = False
    return single(characters, inside)


def _ink(texts: TextColumn) -> Tokens:
    return single(texts.characters, inside_words(texts))


def _jiwer_characters(texts: TextColumn) -> Tokens:
    characters = texts.characters
    ink = np.flatnonzero(SPACES.of(characters) == WORD)
    inside = np.zeros(len(characters.codes) + 1, np.int64)
    first = np.searchsorted(ink, characters.rows[:-1])
    last = np.searchsorted(ink, characters.rows[1:])
    some = first < last
    inside[ink[first[some]]] = 1
    inside[ink[last[some] - 1] + 1] -= 1
    return single(characters, np.cumsum(inside[:-1]) > 0)


def _jiwer_words(texts: TextColumn) -> Tokens:
    characters = texts.characters
    space = SPACES.of(characters) == GAP
    lone = space[1:-1] & ~space[:-2] & ~space[2:] & (characters.codes[1:-1] != ord(" "))
    space[1:-1] ^= lone
    return runs(characters, ~space)


def _rows_with(characters: Characters, markup: Mapping[bytes, tuple[bytes, ...]]) -> Integers:
    """The rows that contain one of some strings, in order."""
    data, places = characters.data, []
    for beginning, marks in markup.items():
        at = data.find(beginning)
        while at >= 0:
            if data.startswith(marks, at):
                places.append(at)
            at = data.find(beginning, at + 1)
    if not places:
        return np.zeros(0, np.int64)
    limits = characters.bytes_at(characters.rows)
    rows = np.searchsorted(limits, np.array(sorted(places), np.int64), side="right") - 1
    return np.unique(rows)


def _by_hand(
    texts: TextColumn, tokens: Tokens, rows: Integers, tokenizer: Callable[[str], list[str]]
) -> Tokens:
    """The tokens, but those of some rows by a tokenizer of one text."""
    if len(rows) == 0:
        return tokens
    return tokens.replace(rows, Tokens.of(tokenizer(texts[row]) for row in rows.tolist()))


def _sacrebleu(texts: TextColumn, tokenizer: str) -> Tokens:
    """The tokens of a tokenizer that sacrebleu brings, with what it needs itself."""
    try:
        from sacrebleu.metrics.bleu import BLEU

        official = BLEU(tokenize=tokenizer).tokenizer
    except (ImportError, RuntimeError):
        packages = SACREBLEU[tokenizer]
        raise MissingDependency(
            f"tokenize={tokenizer!r}", packages.replace(" ", " with "), f"pip install {packages}"
        ) from None
    return Tokens.of(official(text.rstrip()).split() for text in texts)


TOKENIZERS: dict[str, Callable[[TextColumn], Tokens]] = {
    "13a": _thirteen_a,
    "intl": lambda texts: _western_words(texts.characters, INTERNATIONAL, stripped=False),
    "zh": lambda texts: _western_words(texts.characters, CHINESE, stripped=True),
    "char": _ink,
    "none": _words,
    "whitespace": _words,
    "rouge": lambda texts: _runs(texts.lower().characters, ROUGE),
    "rouge-stem": lambda texts: texts.tokens("rouge").map(reference.rouge_stem),
    "unicode-stem": lambda texts: texts.tokens("unicode").map(reference.rouge_stem),
    "unicode": lambda texts: _runs(texts.lower().characters, LETTERS),
    "squad": _squad,
    "bag": lambda texts: _runs(texts.lower().characters.without(PUNCTUATION), SPACES),
    "chars": _characters,
    "nospace": _ink,
    "chrf": _chrf_words,
    "jiwer-words": _jiwer_words,
    "jiwer-chars": _jiwer_characters,
    "mixed": lambda texts: _runs(texts.characters, MIXED),
}
"""The tokenizer of each name, as `metrichub.text.tokenize.reference.TOKENIZERS` defines it."""

SACREBLEU = {
    "ja-mecab": "sacrebleu[ja]",
    "ko-mecab": "sacrebleu[ko]",
    "flores101": "sacrebleu sentencepiece",
    "flores200": "sacrebleu sentencepiece",
    "spm": "sacrebleu sentencepiece",
}
"""Tokenizers that sacrebleu brings, and what has to be installed for each."""
