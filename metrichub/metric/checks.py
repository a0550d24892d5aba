"""Checks: what makes the texts of a run doubtful, and the rows that they read."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

DISTRIBUTION = 20
"""From so many rows on, checks of distributions say something."""
FEW = 300
"""So many rows are enough for checks that aren't about a pattern."""
PROSE = 3
"""Texts of a median of more words are prose; others may be labels, ids, numbers or names."""
_ENOUGH = 500
"""So many texts tell how long a column's are."""
_WORD = re.compile(r"\w+")


def word_set(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


class Rows:
    """Some rows of a run, whose texts checks read, and what was computed of them.

    `columns` has the texts of each row by column: "predictions", "references", "sources",
    "questions". `numbers` are those of the samples in the run, ascending, and `size` counts all.
    """

    def __init__(
        self, columns: Mapping[str, Sequence[Sequence[str]]], numbers: Sequence[int], size: int
    ) -> None:
        self.columns, self.numbers, self.size = columns, numbers, size
        self._memo: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, which is called only the first time for each key."""
        if key not in self._memo:
            self._memo[key] = make()
        value: T = self._memo[key]
        return value

    def few(self) -> Rows:
        """The first of them, and every sixteenth of the others."""
        some = [*range(FEW), *range(FEW, len(self), 16)]
        return self if len(self) <= FEW else self.cached("few", lambda: self.take(some))

    def take(self, places: Sequence[int]) -> Rows:
        """The rows at some places."""
        columns = {name: [texts[i] for i in places] for name, texts in self.columns.items()}
        return Rows(columns, [self.numbers[i] for i in places], self.size)

    def all(self, column: str) -> Sequence[Sequence[str]]:
        """All texts of each row; none where there is no such column."""
        return self.columns.get(column) or [()] * len(self)

    def first(self, column: str) -> list[str]:
        """The first text of each row, "" where it has none."""
        return self.cached(
            ("first", column), lambda: [texts[0] if texts else "" for texts in self.all(column)]
        )

    def joined(self, column: str) -> str:
        """The first texts, one after another."""
        return self.cached(("joined", column), lambda: "\n".join(self.first(column)))

    def words(self, column: str) -> list[frozenset[str]]:
        """The words of each row's first text, in lower case."""
        return self.cached(("words", column), lambda: [*map(word_set, self.first(column))])

    def is_prose(self, column: str) -> bool:
        """Whether texts have a median of more than three words, or nine letters without spaces."""
        return self.cached(
            ("prose", column),
            lambda: sorted(lengths := self._lengths(column))[len(lengths) // 2] > PROSE,
        )

    def _lengths(self, column: str) -> list[int]:
        texts = [text for text in self.first(column)[:_ENOUGH] if text.strip()]
        # Three letters of a script without spaces are about a word.
        return [max(len(t.split()), 0 if t.isascii() else len(t) // 3) for t in texts] or [0]


class Check(NamedTuple):
    """A reason to doubt a number: which rows, how many of them are too many, and what to do.

    Attributes:
        name: A short name, which tells checks apart.
        rows: From `Rows` to whether each is doubtful; an empty list where none is.
        says: What is wrong with them, after their number: "predictions are empty".
        advice: What to do about it.
        share: From which share of the rows on it is said.
        least: From how many rows on it is said at all.
        column: The column whose first doubtful text is shown; it must have been read.
        prose: Whether it is about prose alone, since labels and names repeat.
        compares: Whether it is about metrics that compare predictions with references.
        everywhere: Whether it reads all rows that were read, and not few of them.
    """

    name: str
    rows: Callable[[Rows], Sequence[bool]]
    says: str
    advice: str
    share: float = 0.02
    least: int = 1
    column: str = "predictions"
    prose: bool = False
    compares: bool = False
    everywhere: bool = False
