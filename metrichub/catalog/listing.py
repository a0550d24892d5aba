"""Listings: the installed metrics that have the given tags, shown by task, one line per metric."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import Self

from metrichub.catalog.registry import Entry, registry
from metrichub.data.columns import column_of, column_of_alias
from metrichub.errors import printable

_JUDGES = {"any": "j", "model": "J"}
_LEGEND = (
    "j: needs a judge; J: needs a model as judge; e: needs an embedder; +: needs further "
    "packages; !: they aren't installed"
)
_WIDTH = 100


class Listing(tuple[Entry, ...]):
    """Entries that show themselves as a table by task: the first on each card, or the given one."""

    task: str | None
    full: bool

    @classmethod
    def of(cls, entries: Iterable[Entry], task: str | None = None, full: bool = False) -> Self:
        """A listing, whose summaries are broken into lines if they are full, or else cut."""
        listing = cls(entries)
        listing.task, listing.full = task, full
        return listing

    def text(self, width: int = _WIDTH, heading: Callable[[str], str] = str) -> str:
        """The table in a width: task by task, those with the most metrics first."""
        named = dict(self._named())
        column = max(map(len, named), default=0)
        lines: list[str] = []
        for task, names in self._groups().items():
            lines.append(heading(task))
            for name in names:
                start = f" {name:<{column}} {_marks(named[name]):<3} "
                lines += _lines(start, _summary(named[name]), width, self.full)
        lacking = [f"! {name}: {e.install}" for name, e in named.items() if _marks(e)[-1:] == "!"]
        legend = textwrap.wrap(_LEGEND, width) if any(map(_marks, named.values())) else []
        return "\n".join([*lines, *legend, *lacking])

    def __repr__(self) -> str:
        """The table, as wide as the terminal."""
        return self.text(screen_width())

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        named = dict(self._named())
        head = "".join(f'<th scope="col">{n}</th>' for n in ("metric", "", "what it measures"))
        rows = []
        for task, names in self._groups().items():
            rows.append(f'<tr><th scope="rowgroup" colspan="3">{escape(task)}</th></tr>')
            for name in names:
                cells = (name, _marks(named[name]), _summary(named[name]))
                rows.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
        body = "\n".join(rows)
        return (
            f"<table><caption>{escape(_LEGEND)}</caption>\n<thead><tr>{head}</tr></thead>\n"
            f"{body}</table>\n"
        )

    def _named(self) -> Iterator[tuple[str, Entry]]:
        return ((registry().name_of(entry), entry) for entry in self)

    def _groups(self) -> dict[str, list[str]]:
        """The names by task; the largest group first, what is broken last."""
        groups: dict[str, list[str]] = {}
        for name, entry in self._named():
            tasks = () if entry.problem else entry.card.tags.task
            task = self.task or (tasks[0] if tasks else "broken" if entry.problem else "other")
            groups.setdefault(task, []).append(name)
        order = sorted(groups, key=lambda task: (task == "broken", -len(groups[task]), task))
        return {task: sorted(groups[task]) for task in order}


def screen_width() -> int:
    """How wide the terminal is, and 100 columns where there is none."""
    return shutil.get_terminal_size((_WIDTH, 24)).columns


def list_metrics(
    *,
    task: str | None = None,
    dimension: str | None = None,
    family: str | None = None,
    input: str | None = None,
    judge: str | None = None,
) -> Listing:
    """The installed metrics whose cards have all the given tags; imports none of their code.

    A tuple of entries that prints as a table. Without a filter, it includes entries whose card
    can't be read (`Entry.problem`). `judge` is "none", "any" (any judge will do, rules too) or
    "model" (the metric needs a model). `input` is a column by any of its names: "source" and
    "articles" find metrics that need `sources`.
    """
    column = input and column_of(column_of_alias(input))
    facets = {"task": task, "dimension": dimension, "family": family, "input": column}
    filters = {name: value for name, value in (facets | {"judge": judge}).items() if value}

    def fits(entry: Entry) -> bool:
        if entry.problem:
            return not filters
        return all(value in entry.card.facets[name] for name, value in filters.items())

    return Listing.of(filter(fits, registry().entries), task, bool(filters))


def _marks(entry: Entry) -> str:
    """Letters for the judge and embedder that the metric asks and for further packages."""
    if entry.problem:
        return ""
    card = entry.card
    requires = ("!" if entry.lacking else "+") if card.requires else ""
    return _JUDGES.get(card.judge or "", "") + ("e" if card.embedder else "") + requires


def _summary(entry: Entry) -> str:
    return printable(f"broken: {entry.problem}" if entry.problem else entry.card.summary)


def _lines(start: str, text: str, width: int, full: bool) -> list[str]:
    """A line that is cut between words, or the lines of the full text below one another."""
    room = max(width - len(start), 20)
    if not full and not text.startswith("broken: "):
        return [start + textwrap.shorten(text, room, placeholder=" …")]
    indent = " " * len(start)
    return (start + f"\n{indent}".join(textwrap.wrap(text, room))).split("\n")
