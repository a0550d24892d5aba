"""Flaws of texts as a model reads them: cut, with control or unknown tokens; notes count them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any, ClassVar

import numpy as np

from metrichub.authoring import Array, Metric
from metrichub.errors import ModelError
from metrichub_neural.engine.machine import CPU_CHARACTERS, GPU_CHARACTERS, device
from metrichub_neural.engine.settings import limit_of
from metrichub_neural.local_models import ModelFiles

_STATES: dict[ModelFiles, str] = {}
"""The states of models' files when they were asked for first."""
CUT, CONTROL, UNKNOWN = 1, 2, 4
"""More tokens than the model takes; words that it reads as its own tokens, such as "[SEP]"; words
that its vocabulary doesn't have, all of which are one token to it.
"""
_HAVE_CONTROL = (
    "contain control tokens of the model, such as [SEP] or </s>, which it doesn't read as text"
)
_HAVE_UNKNOWN = "contain words that the model doesn't know, and reads as [UNK] or <unk>"
_SAID = {
    CUT: ("noted_cut_", "{count} of {texts} {kind} were cut at {limit}"),
    CONTROL: ("noted_control_", "{count} of {texts} {kind} " + _HAVE_CONTROL),
    UNKNOWN: ("noted_unknown_", "{count} of {texts} {kind} " + _HAVE_UNKNOWN),
}


def flaws_of(read: Any) -> int:
    """The flaws of what a model has read, by its attribute, or of any of several; or themselves."""
    if isinstance(read, (int, np.integer)):
        return int(read)
    of_one: int | None = getattr(read, "flaws", None)
    return reduce(or_, map(flaws_of, read), 0) if of_one is None else of_one


def whole(total: Array) -> int:
    """A sum over texts as a number of them: candidates count in parts, which are rounded up."""
    return math.ceil(round(float(total), 6))


def noted(**read: Iterable[Any]) -> dict[str, Array]:
    """Statistics of each row's flaws for the notes, (N,), by what has them: predictions=[...].

    Each row is what `flaws_of` takes.
    """
    columns = {kind: np.array([*map(flaws_of, rows)], np.int64) for kind, rows in read.items()}
    statistics = {
        f"{start}{kind}": (column & flaw > 0).astype(np.float64)
        for flaw, (start, _) in _SAID.items()
        for kind, column in columns.items()
        if (column & flaw).any()
    }
    return {"noted_texts": np.ones(len(next(iter(columns.values())))), **statistics}


@dataclass(frozen=True, kw_only=True)
class ReadingMetric(Metric):
    """A metric whose model reads texts up to a limit; `noted` are among its statistics."""

    where_cut: ClassVar[str] = ""
    """What follows in the note of texts that were cut."""

    @property
    def block_characters(self) -> int:  # type: ignore[override]  # it depends on the machine
        """How many characters are read at a time."""
        return GPU_CHARACTERS if self.one_process() else CPU_CHARACTERS

    def files(self) -> ModelFiles:
        """The model's files, found and not loaded."""
        raise NotImplementedError  # a metric's own

    def limit(self) -> int:
        """How many tokens of a text the model reads."""
        return limit_of(self.files())

    def reuse_key(self) -> str | None:
        """The state of the model's files, unless it changed in this process, and the device."""
        files = self.files()
        state = files.state()
        # What was loaded stays loaded.
        return f"{state} {device()}" if _STATES.setdefault(files, state) == state else None

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many texts were longer than the model takes, or have control or unknown tokens."""
        if not totals:
            return super().notes(totals)
        # Missing where a metric forgot what is `noted`.
        texts = whole(totals["noted_texts"])
        counts = {
            (flaw, name.removeprefix(start)): (whole(total), texts)
            for flaw, (start, _) in _SAID.items()
            for name, total in totals.items()
            if name.startswith(start)
        }
        return [*super().notes(totals), *self.flaw_notes(counts)]

    def flaw_notes(self, counts: Mapping[tuple[int, str], tuple[int, int]]) -> list[str]:
        """A line for each flaw and kind of texts that have it: how many, of how many."""
        try:
            limit = f"{self.limit()} tokens{self.where_cut}"
        # A report may be read where the model isn't.
        except ModelError:
            limit = f"the model's limit{self.where_cut}"
        return [
            _SAID[flaw][1].format(
                # Of texts that are read together, one isn't told from the other.
                kind="samples" if flaw != CUT and self.where_cut else kind,
                count=count,
                texts=texts,
                limit=limit,
            )
            for (flaw, kind), (count, texts) in counts.items()
            if count
        ]

    def notes_of_texts(self, **read: Sequence[Any]) -> list[str]:
        """The lines for texts that were read, by their kind; each is what `flaws_of` takes."""
        return self.flaw_notes(
            {
                (flaw, kind): (sum(flaws_of(each) & flaw > 0 for each in texts), len(texts))
                for flaw in _SAID
                for kind, texts in read.items()
            }
        )


class FlawsCounted:
    """An embedder or a judge, which says itself how many texts had flaws.

    Attributes:
        reads: What it reads, in the plural.
    """

    kind: ClassVar[str]
    reads: ClassVar[str]

    def count_flaws(self, texts: Iterable[tuple[Hashable, int]]) -> None:
        """Go on with texts and their flaws."""
        self._flaws.update((hash(text), flaws) for text, flaws in texts if flaws)

    @property
    def note(self) -> str | None:
        """How many different texts were cut or have control or unknown tokens, if any."""
        cut = "were longer than the model takes, and were cut"
        said = {CUT: cut, CONTROL: _HAVE_CONTROL, UNKNOWN: _HAVE_UNKNOWN}
        numbers = {flaw: sum(each & flaw > 0 for each in self._flaws.values()) for flaw in said}
        told = [f"{n} different {self.reads} {said[flaw]}" for flaw, n in numbers.items() if n]
        return f"{self.kind}: {'; '.join(told)}" if told else None

    @cached_property
    def _flaws(self) -> dict[int, int]:
        """The flaws of texts that have any in this process, by the texts' hashes."""
        return {}
