"""Texts and RaggedTexts: what a metric sees of a column, strings that also give their tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from itertools import count
from typing import Any, TypeVar, overload

import numpy as np

from metrichub.text.ragged import Flags, Integers, offsets_of, spans
from metrichub.text.scripts import ScriptCounts, ascii_letters, mostly
from metrichub.text.tokenize.characters import Characters, strings_without_spaces
from metrichub.text.tokenize.reference import CHARACTER_STRINGS
from metrichub.text.tokenize.tokenizers import Tokenizer, inside_words, tokenize
from metrichub.text.tokenize.tokens import Tokens

A = TypeVar("A", bound=Tokenizer)
T = TypeVar("T")

Tokenizations = dict[tuple[int, Tokenizer], ScriptCounts]
"""The letters of every column that was tokenized, by the column's number and the tokenizer.

Numbers, since a column that held itself would outlive its block.
"""

_watched: ContextVar[Tokenizations | None] = ContextVar("tokenizations", default=None)


@contextmanager
def watched() -> Iterator[Tokenizations]:
    """What is tokenized inside, hidden from callers further out."""
    tokenizations: Tokenizations = {}
    token = _watched.set(tokenizations)
    try:
        yield tokenizations
    finally:
        _watched.reset(token)


_numbers = count()

_DECOMPOSED = (b"\xcc", b"\xcd", b"\xd9", b"\xe0", b"\xe1", b"\xe3")
"""How UTF-8 begins of the marks of Latin, Greek and Cyrillic, Arabic, India, Hangul and kana."""


class Texts(Sequence[str]):
    """A column of one block: one string per row, with its tokens.

    Whatever is computed from the column is kept with it and shared by all metrics.

    Attributes:
        number: identifies the column; shared only with its lower-cased copy and with rows taken
            from it.
    """

    def __init__(self, items: Sequence[str]) -> None:
        self._items = list(items)
        self._memo: dict[Hashable, tuple[Any, Tokenizations]] = {}
        self.number = next(_numbers)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> list[str]: ...

    def __getitem__(self, row: int | slice) -> str | list[str]:
        return self._items[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __repr__(self) -> str:
        return f"Texts({self._items!r})"

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, which is called only the first time for each key."""
        if key not in self._memo:
            with watched() as tokenized:
                self._memo[key] = make(), tokenized
        value: T = self._recalled(key)
        return value

    def _cut(self, tokenizer: A, make: Callable[[A], T]) -> T:
        """The result of `make`, which applies the tokenizer; cached, too."""
        key = (make.__name__, tokenizer)
        if key not in self._memo:
            # A tokenizer may start from the tokens of another.
            with watched():
                value = make(tokenizer)
            self._memo[key] = value, {(self.number, tokenizer): self.letters}
        result: T = self._recalled(key)
        return result

    def _recalled(self, key: Hashable) -> Any:
        """What is cached under a key; who watches learns of the tokenizers that it took."""
        value, tokenized = self._memo[key]
        watching = _watched.get()
        if watching is not None:
            watching.update(tokenized)
        return value

    def tokens(self, tokenizer: Tokenizer) -> Tokens:
        """The tokens of every row, by the name of a tokenizer or a function of one text.

        Raises:
            ParameterError: there is no such tokenizer.
            MissingDependency: the tokenizer needs sacrebleu, which isn't installed.
        """
        return self._cut(tokenizer, self._tokenize)

    def split(self, tokenizer: Callable[[str], Sequence[str]]) -> list[Sequence[str]]:
        """The tokens of each row by a function of one text, (N,)."""
        return self._cut(tokenizer, self._split)

    def strings(self, tokenizer: Tokenizer) -> list[str] | None:
        """Strings whose code points are the tokens, (N,), if the tokenizer is that simple."""
        if not isinstance(tokenizer, str) or tokenizer not in CHARACTER_STRINGS:
            return None
        return self._cut(tokenizer, self._strings)

    def lower(self) -> Texts:
        """The column with `str.lower` applied to every row."""
        return self.cached("lower", self._lower)

    def take(self, rows: Integers) -> Texts:
        """The column of the given rows; it shares what has been computed for this one."""
        if np.array_equal(rows, np.arange(len(self))):
            return self
        return _Taken(self, np.asarray(rows, np.int64))

    @cached_property
    def characters(self) -> Characters:
        """The characters of all rows as an array."""
        return Characters.of(self._items)

    def _split(self, tokenizer: Callable[[str], Sequence[str]]) -> list[Sequence[str]]:
        return list(map(tokenizer, self._items))

    def _strings(self, tokenizer: str) -> list[str]:
        found = None
        if tokenizer == "nospace":
            found = strings_without_spaces(self.characters, inside_words(self))
        return found or list(map(CHARACTER_STRINGS[tokenizer], self._items))

    @cached_property
    def letters(self) -> ScriptCounts:
        """The letters of all rows together, by script."""
        # A tokenizer that ignores case leaves only the characters in lower case behind.
        if "characters" not in self.__dict__ and "lower" in self._memo:
            return ScriptCounts.of(self.lower().characters)
        if "characters" not in self.__dict__ and (text := "".join(self._items)).isascii():
            return ScriptCounts(ascii_letters(text.encode()), {}, {})
        return ScriptCounts.of(self.characters)

    def mostly(self, scripts: Collection[str]) -> Flags:
        """Which rows have over half of their letters and digits in some scripts, (N,)."""
        # In lower case for all metrics, as the tokenizers that drop letters see the rows.
        return mostly(self.lower().characters, scripts)

    @cached_property
    def may_be_decomposed(self) -> bool:
        """Whether a row may hold a character that Unicode's form NFC composes."""
        if "characters" in self.__dict__:
            if self.characters.is_ascii:
                return False
            data = self.characters.data
        elif "lower" in self._memo:
            return self.lower().may_be_decomposed
        else:
            text = "".join(self._items)
            data = b"" if text.isascii() else text.encode("utf-8", "surrogatepass")
        return any(lead in data for lead in _DECOMPOSED)

    def _tokenize(self, tokenizer: Tokenizer) -> Tokens:
        if isinstance(tokenizer, str):
            return tokenize(self, tokenizer)
        return Tokens.of(map(tokenizer, self._items))

    def _lower(self) -> Texts:
        # Characters that aren't ASCII stay unmade: `letters` then counts those in lower case.
        if "".join(self._items).isascii():
            return _Lowered(self.characters, self.number)
        lower = Texts([item.lower() for item in self._items])
        lower.number = self.number
        return lower


class _Lowered(Texts):
    """A column of ASCII in lower case, whose strings are made when they are asked for."""

    def __init__(self, characters: Characters, number: int) -> None:
        super().__init__(())
        del self._items
        self.characters = Characters(characters.data.lower(), characters.rows)
        self.number = number

    def __len__(self) -> int:
        return len(self.characters.rows) - 1

    @cached_property
    def _items(self) -> list[str]:  # type: ignore[override]  # computed, not stored
        text = self.characters.data.decode()
        return [text[start : end - 1] for start, end in spans(self.characters.rows)]


class _Taken(Texts):
    """Rows of another column, which computes tokens once for all columns taken from it."""

    def __init__(self, base: Texts, rows: Integers) -> None:
        super().__init__([base[row] for row in rows.tolist()])
        self._base, self._rows = base, rows
        self.number = base.number

    @cached_property
    def letters(self) -> ScriptCounts:
        """The letters of all rows of the column that they were taken from."""
        return self._base.letters

    def mostly(self, scripts: Collection[str]) -> Flags:
        """Which of the rows that were taken."""
        return self._base.mostly(scripts)[self._rows]

    def _tokenize(self, tokenizer: Tokenizer) -> Tokens:
        return self._base.tokens(tokenizer).take(self._rows)

    def _strings(self, tokenizer: str) -> list[str]:
        strings = self._base.strings(tokenizer) or []
        return [strings[row] for row in self._rows.tolist()]

    def _lower(self) -> Texts:
        return _Taken(self._base.lower(), self._rows)


class RaggedTexts(Sequence[list[str]]):
    """A ragged column: zero or more strings per row.

    Attributes:
        items: the strings of all rows, flat.
        offsets: where the strings of each row start, (N+1,).
    """

    def __init__(self, items: Texts | Sequence[str], offsets: Sequence[int] | Integers) -> None:
        self.items = items if isinstance(items, Texts) else Texts(items)
        self.offsets: Integers = np.asarray(offsets, np.int64)

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]]) -> RaggedTexts:
        """The ragged column of lists of strings."""
        counts = np.fromiter(map(len, rows), np.int64, len(rows))
        return cls([item for row in rows for item in row], offsets_of(counts))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, row: int) -> list[str]: ...

    @overload
    def __getitem__(self, row: slice) -> list[list[str]]: ...

    def __getitem__(self, row: int | slice) -> list[str] | list[list[str]]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        return self.items[int(self.offsets[row]) : int(self.offsets[row + 1])]

    def __iter__(self) -> Iterator[list[str]]:
        flat = list(self.items)
        return (flat[start:end] for start, end in spans(self.offsets))

    def __repr__(self) -> str:
        return f"RaggedTexts.of({list(self)!r})"

    @property
    def counts(self) -> Integers:
        """The number of strings of every row, (N,)."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Integers:
        """The row of every string, (len(items),)."""
        return np.repeat(np.arange(len(self)), self.counts)

    def lower(self) -> RaggedTexts:
        """The column with `str.lower` applied to every string."""
        return RaggedTexts(self.items.lower(), self.offsets)
