"""Texts and RaggedTexts: what a metric sees of a column, strings that also give their tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar, overload

import numpy as np

from metrichub.text.ragged import Flags, Integers, offsets_of, spans
from metrichub.text.scripts import ScriptCounts, ascii_letters, mostly
from metrichub.text.tokenizations import Tokenizations, tell, watched
from metrichub.text.tokenize.reference import CHARACTER_STRINGS
from metrichub.text.tokenize.tokenizers import Tokenizer, tokenize
from metrichub.text.tokenize.tokens import Tokens
from metrichub.text.tokenize.utf8 import Characters

T = TypeVar("T")

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
        value: T
        value, tokenized = self._memo[key]
        if tokenized:
            tell(tokenized)
        return value

    def tokens(self, tokenizer: str) -> Tokens:
        """The tokens of every row.

        Raises:
            ParameterError: there is no such tokenizer.
            MissingDependency: the tokenizer needs sacrebleu, which isn't installed.
        """
        return self.cached(("tokens", tokenizer), lambda: self._tokenize(tokenizer))

    def split(self, tokenizer: Callable[[str], Sequence[str]]) -> list[Sequence[str]]:
        """The tokens of each row by a function of one text, (N,)."""
        return self.cached(("split", tokenizer), lambda: self._split(tokenizer))

    def strings(self, tokenizer: str) -> list[str] | None:
        """Strings whose code points are the tokens, (N,), if the tokenizer is that simple."""
        make = CHARACTER_STRINGS.get(tokenizer)
        if make is None:
            return None
        return self.cached(("strings", tokenizer), lambda: self._strings(tokenizer, make))

    def lower(self) -> Texts:
        """The column with `str.lower` applied to every row."""
        return self.cached("lower", self._lower)

    def take(self, rows: Integers) -> Texts:
        """The column of the given rows; it shares what has been computed for this one."""
        if np.array_equal(rows, np.arange(len(self))):
            return self
        return _Taken(self, np.asarray(rows, np.int64))

    @property
    def characters(self) -> Characters:
        """The characters of all rows as an array."""
        return self.cached("characters", lambda: Characters.of(self._items))

    def _split(self, tokenizer: Callable[[str], Sequence[str]]) -> list[Sequence[str]]:
        self._tell(tokenizer)
        return list(map(tokenizer, self._items))

    def _strings(self, tokenizer: str, make: Callable[[str], str]) -> list[str]:
        self._tell(tokenizer)
        return list(map(make, self._items))

    @property
    def letters(self) -> ScriptCounts:
        """The letters of all rows together, by script."""
        return self.cached("letters", self._letters)

    def mostly(self, scripts: Collection[str]) -> Flags:
        """Which rows have over half of their letters and digits in some scripts, (N,)."""
        # In lower case for all metrics, as the tokenizers that drop letters see the rows.
        return mostly(self.lower().characters, scripts)

    def _letters(self) -> ScriptCounts:
        # A tokenizer that ignores case leaves only the characters in lower case behind.
        if "characters" not in self._memo and "lower" in self._memo:
            return ScriptCounts.of(self.lower().characters)
        if "characters" not in self._memo and (text := "".join(self._items)).isascii():
            return ScriptCounts(ascii_letters(text.encode()), {}, {})
        return ScriptCounts.of(self.characters)

    @property
    def may_be_decomposed(self) -> bool:
        """Whether a row may hold a character that Unicode's form NFC composes."""
        return self.cached("decomposed", self._may_be_decomposed)

    def _may_be_decomposed(self) -> bool:
        if "characters" in self._memo:
            if self.characters.is_ascii:
                return False
            data = self.characters.data
        elif "lower" in self._memo:
            return self.lower().may_be_decomposed
        else:
            text = "".join(self._items)
            data = b"" if text.isascii() else text.encode("utf-8", "surrogatepass")
        return any(lead in data for lead in _DECOMPOSED)

    def _tokenize(self, tokenizer: str) -> Tokens:
        # A tokenizer may start from the tokens of another.
        with watched():
            tokens = tokenize(self, tokenizer)
        self._tell(tokenizer)
        return tokens

    def _tell(self, tokenizer: Tokenizer) -> None:
        tell({(self.number, tokenizer): self.letters})

    def _lower(self) -> Texts:
        lower = Texts([item.lower() for item in self._items])
        lower.number = self.number
        return lower


class _Taken(Texts):
    """Rows of another column, which computes tokens once for all columns taken from it."""

    def __init__(self, base: Texts, rows: Integers) -> None:
        super().__init__([base[row] for row in rows.tolist()])
        self._base, self._rows = base, rows
        self.number = base.number

    def _letters(self) -> ScriptCounts:
        return self._base.letters

    def mostly(self, scripts: Collection[str]) -> Flags:
        """Which of the rows that were taken."""
        return self._base.mostly(scripts)[self._rows]

    def _tokenize(self, tokenizer: str) -> Tokens:
        return self._base.tokens(tokenizer).take(self._rows)

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
