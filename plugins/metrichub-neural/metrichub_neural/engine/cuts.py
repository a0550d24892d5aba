"""Notes of texts that were cut, as they are longer than the model takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from metrichub.authoring import Array
from metrichub.errors import ModelError


def cut_notes(
    name: str,
    totals: Mapping[str, Array],
    limit: Callable[[], int],
    kinds: Sequence[str] = ("predictions",),
) -> list[str]:
    """A line for each kind of texts of which some were cut: of the statistics `cut_KIND`."""
    number = int(totals["texts"])
    return cut_lines(name, {kind: (int(totals[f"cut_{kind}"]), number) for kind in kinds}, limit)


def cut_lines(
    name: str, counts: Mapping[str, tuple[int, int]], limit: Callable[[], int]
) -> list[str]:
    """A line for each kind of texts of which some were cut: how many, of how many."""
    try:
        at = f"{limit()} tokens"
    # A report may be read where the model isn't.
    except ModelError:
        at = "the model's limit"
    return [
        f"{name}: {count} of {number} {kind} were cut at {at}"
        for kind, (count, number) in counts.items()
        if count
    ]


class CutsCounted:
    """An embedder or a judge, which says itself how many texts it has cut.

    Attributes:
        reads: What it reads, in the plural.
    """

    kind: ClassVar[str]
    reads: ClassVar[str]

    @property
    def note(self) -> str | None:
        """How many different texts it has cut, if any."""
        cut = (
            f"{self.kind}: {len(self._cut)} different {self.reads} were longer than the model takes"
        )
        return f"{cut}, and were cut" if self._cut else None

    @cached_property
    def _cut(self) -> set[int]:
        """The hashes of the texts that were cut in this process."""
        return set()
