"""TextColumn: what a tokenizer asks of the column whose texts it cuts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Protocol, TypeVar

from metrichub.text.tokenize.tokens import Tokens
from metrichub.text.tokenize.utf8 import Characters

T = TypeVar("T")


class TextColumn(Protocol):
    """A column of strings that remembers what was computed of it."""

    def __getitem__(self, row: int, /) -> str: ...

    def __iter__(self) -> Iterator[str]: ...

    @property
    def characters(self) -> Characters:
        """The characters of all rows as an array."""
        ...

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returns, made on the first call with this key."""
        ...

    def lower(self) -> TextColumn:
        """The column with `str.lower` applied to every row."""
        ...

    def tokens(self, tokenizer: str) -> Tokens:
        """The tokens of every row by another tokenizer."""
        ...
