"""Texts and RaggedTexts: what a metric sees of a column, strings that also give their tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np

from metrichub.text.ragged import Flags, Integers, offsets_of, spans
from metrichub.text.scripts import ScriptCounts, mostly
from metrichub.text.tokenize.characters import Characters, strings_without_spaces
from metrichub.text.tokenize.reference import CHARACTER_STRINGS, TOKENIZERS
from metrichub.text.tokenize.tokenizers import Tokenizer, inside_words, tokenize
from metrichub.text.tokenize.tokens import Tokens

T = TypeVar("T")

FEW = 32
"""Columns of at most so many texts are read one by one: arrays would take longer to make."""

_DECOMPOSED = (b"\xcc", b"\xcd", b"\xd9", b"\xe0", b"\xe1", b"\xe3")
"""How UTF-8 begins of the marks of Latin, Greek and Cyrillic, Arabic, India, Hangul and kana."""


class Texts(Sequence[str]):
    """A column of one block: one string per row, with its tokens.

    Whatever is computed from the column is kept with it and shared by all metrics.
    """

    def __init__(self, items: Sequence[str]) -> None:
        self._items = list(items)
        self._memo: dict[Hashable, Any] = {}

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
            self._memo[key] = make()
        value: T = self._memo[key]
        return value

    def tokens(self, tokenizer: Tokenizer) -> Tokens:
        """The tokens of every row, by the name of a tokenizer or a function of one text.

        Raises:
            ParameterError: there is no such tokenizer.
            MissingDependency: the tokenizer needs sacrebleu, which isn't installed.
        """
        return self.cached(("tokens", tokenizer), lambda: self._tokenize(tokenizer))

    def split(self, tokenizer: Callable[[str], Sequence[str]]) -> list[Sequence[str]]:
        """The tokens of each row by a function of one text, (N,)."""
        return self.cached(("split", tokenizer), lambda: list(map(tokenizer, self._items)))

    def words(self, tokenizer: Tokenizer) -> list[Sequence[str]] | None:
        """The tokens of each row one by one, (N,); None if the rows are many."""
        function = TOKENIZERS.get(tokenizer) if isinstance(tokenizer, str) else tokenizer
        if function is None or len(self._items) > FEW:
            return None
        key = ("words", tokenizer)
        if key not in self._memo:
            self._memo[key] = self._words(tokenizer, function)
        words: list[Sequence[str]] = self._memo[key]
        return words

    def tokenized(self, tokenizer: Tokenizer) -> bool:
        """Whether the tokens have been made already."""
        return ("tokens", tokenizer) in self._memo

    def strings(self, tokenizer: Tokenizer) -> list[str] | None:
        """Strings whose code points are the tokens, (N,), if the tokenizer is that simple."""
        if not isinstance(tokenizer, str) or tokenizer not in CHARACTER_STRINGS:
            return None
        return self.cached(("strings", tokenizer), lambda: self._strings(tokenizer))

    def lower(self) -> Texts:
        """The column with `str.lower` applied to every row."""
        return self.cached("lower", self._lower)

    def take(self, rows: Integers) -> Texts:
        """The column of the given rows; it shares what has been computed for this one."""
        if np.array_equal(rows, np.arange(len(self))):
            return self
        return _Taken(self, np.asarray(rows, np.int64))

    @property
    def whole(self) -> Texts:
        """The column that the rows were taken from, or itself."""
        return self

    @cached_property
    def characters(self) -> Characters:
        """The characters of all rows as an array."""
        return Characters.of(self._items)

    def _strings(self, tokenizer: str) -> list[str]:
        strings = None
        if tokenizer == "nospace":
            strings = strings_without_spaces(self.characters, inside_words(self))
        return strings or list(map(CHARACTER_STRINGS[tokenizer], self._items))

    @cached_property
    def letters(self) -> ScriptCounts:
        """The letters of all rows together, by script."""
        return ScriptCounts.of(self._seen.characters)

    def mostly(self, scripts: Collection[str]) -> Flags:
        """Which rows have over half of their letters and digits in some scripts, (N,)."""
        # In lower case for all metrics, as the tokenizers that drop letters see the rows.
        return mostly(self.lower().characters, scripts)

    @cached_property
    def may_be_decomposed(self) -> bool:
        """Whether a row may hold a character that Unicode's form NFC composes."""
        if "".join(self._items).isascii():
            return False
        data = self._seen.characters.data
        return any(lead in data for lead in _DECOMPOSED)

    @property
    def _seen(self) -> Texts:
        """The column, or that in lower case if a tokenizer saw the characters of that alone."""
        lower = "lower" in self._memo and "characters" not in self.__dict__
        return self.lower() if lower else self

    def _words(
        self, tokenizer: Tokenizer, function: Callable[[str], Sequence[str]]
    ) -> list[Sequence[str]]:
        return list(map(function, self._items))

    def _tokenize(self, tokenizer: Tokenizer) -> Tokens:
        if isinstance(tokenizer, str):
            return tokenize(self, tokenizer)
        of_column = getattr(tokenizer, "of_column", None)
        if of_column and len(self) > FEW:
            tokens: Tokens = of_column(self)
            return tokens
        return Tokens.of(map(tokenizer, self._items))

    def _lower(self) -> Texts:
        # Characters that aren't ASCII stay unmade: `letters` then counts those in lower case.
        if "".join(self._items).isascii():
            return _Lowered(self.characters)
        return Texts([item.lower() for item in self._items])


class _Lowered(Texts):
    """A column of ASCII in lower case, whose strings are made when they are asked for."""

    def __init__(self, characters: Characters) -> None:
        super().__init__(())
        del self._items
        self.characters = Characters(characters.data.lower(), characters.rows)

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

    @property
    def whole(self) -> Texts:
        """The column that the rows were taken from."""
        return self._base.whole

    def _words(
        self, tokenizer: Tokenizer, function: Callable[[str], Sequence[str]]
    ) -> list[Sequence[str]]:
        words = self._base.words(tokenizer)
        if words is None:
            return super()._words(tokenizer, function)
        return [words[row] for row in self._rows.tolist()]

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
