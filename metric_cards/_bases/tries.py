"""Tries: metrics of tasks that were tried several times, from what passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from metric_cards._bases.json_replies import json_text
from metric_cards._bases.strictjson import read
from metrichub.authoring import Array, Measured, Metric, Range, Scale, Scores
from metrichub.errors import InputError, ParameterError, what

MOST = 1_000_000_000
"""The highest number of tries."""
_WORDS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


class Passes(NamedTuple):
    """How often a task was tried, and how many of these tries passed."""

    tries: int
    passed: int


@dataclass(frozen=True, kw_only=True)
class TriedTasks(Metric):
    """The mean over tasks of a chance, `chance(tries, passed)`, that `k` of their tries give.

    Attributes:
        k: The number of tries that a task has.
        passed: The column of flags, whether each try of a task passed, or of the number that did.
        tries: The column of the number of tries, if `passed` holds numbers.
    """

    k: Annotated[int, Range(1, 100_000)] = 1
    passed: str = "passed"
    tries: str | None = None

    averaging = "macro"
    text_of_objects = staticmethod(json_text)
    whole_objects = True
    reads_tries = True

    def __post_init__(self) -> None:
        """Check the columns."""
        super().__post_init__()
        if self.tries == self.passed:
            raise ParameterError(self.name, "tries", self.tries, "another column, or None")

    def inputs(self) -> tuple[str, ...]:
        """The columns."""
        return (self.passed,) if self.tries is None else (self.passed, self.tries)

    def system_inputs(self) -> tuple[str, ...]:
        """The columns: each system has tries of its own."""
        return self.inputs()

    def chance(self, tries: Array, passed: Array) -> Array:
        """The value of each task, (N,), tried at least `k` times."""
        raise NotImplementedError  # a metric has its own

    def measure(self, **columns: Sequence[Any]) -> Measured:
        """The chance of each task, and whether it was tried `k` times, so that this is 0 or 1.

        Raises:
            InputError: a task was tried less than `k` times, or what it has aren't flags.
        """
        counts = [self._passes(*row) for row in zip(*columns.values(), strict=True)]
        tries, passed = np.array(counts, np.float64).reshape(len(counts), 2).T
        if (few := tries[(tries > 0) & (tries < self.k)]).size:
            number = "1 try" if few.min() == 1 else f"{int(few.min())} tries"
            error = InputError(
                f"{self.name}: a task has {number}, fewer than k={self.k}; choose a lower k"
            )
            raise error.with_remedy("name_tries") if few.min() == 1 else error
        none = np.flatnonzero(tries == 0)
        tries[none] = self.k
        chances = self.chance(tries, passed)
        chances[none] = np.nan
        reasons = dict.fromkeys(none.tolist(), "no try is recorded")
        return Measured({"chance": chances, "once": (tries == self.k).astype(np.int64)}, reasons)

    def all_drawn(self, tries: Array, number: Array) -> Array:
        """The chance that `k` tries, drawn without replacement, are among so many of them, (N,)."""
        chances = np.ones(len(tries))
        for drawn in range(self.k):
            chances *= np.maximum(number - drawn, 0) / (tries - drawn)
        return chances

    def score(self, chance: Array, once: Array, count: Array) -> Scores:
        """The mean over the tasks."""
        return {"score": chance / count}

    def scales(self, totals: Mapping[str, Array], count: int) -> Mapping[str, Scale]:
        """A share, if every task was tried `k` times."""
        return {"score": Scale(0, 1, "higher", share=True)} if totals["once"] == count else {}

    def _passes(self, passed: Any, tries: Any = None) -> Passes:
        if self.tries is None:
            value = _value(passed)
            items = value if isinstance(value, list) else [value]
            flags = [_flag(self.name, self.passed, item) for item in items]
            decided = [flag for flag in flags if flag is not None]
            return Passes(len(decided), sum(decided))
        counts = Passes(*(_count(self.name, number) for number in (_value(tries), _value(passed))))
        if counts.passed > counts.tries:
            raise InputError(
                f"{self.name}: {counts.passed} tries passed of {counts.tries}, which can't be"
            )
        return counts


def _value(cell: Any) -> Any:
    """The value of JSON text, alone or as one of several; another is itself."""
    if isinstance(cell, list) and len(cell) == 1:
        cell = cell[0]
    if not isinstance(cell, str):
        return cell
    parsed, problem = read(cell)
    return cell if problem else parsed


def _flag(metric: str, column: str, value: Any) -> bool | None:
    """Whether a try passed; None if it didn't run."""
    if value is None:
        return None
    words = str(value).strip().lower()
    if isinstance(value, (list, dict)) or words not in _WORDS:
        raise InputError(f"{metric}: {column!r} holds {what(value)}; give True or False for a try")
    return _WORDS[words]


def _count(metric: str, value: Any) -> int:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= MOST or value != int(value):
        raise InputError(f"{metric}: {what(value)} isn't a number of tries")
    return int(value)
