"""Notes of several systems: each told once, with the systems that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from metrichub.report.report import Report


class SharedNote(NamedTuple):
    """What a metric notes of systems; `systems` is empty where it notes it of all."""

    metric: str
    text: str
    systems: Sequence[str]


def shared_notes(systems: Mapping[str, Report]) -> list[SharedNote]:
    """The notes of every metric, in the order in which systems have them."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, report in systems.items():
        for metric, texts in report.notes().items():
            for text in texts:
                found.setdefault((metric, text), []).append(name)
    return [
        SharedNote(metric, text, () if len(names) == len(systems) else names)
        for (metric, text), names in found.items()
    ]
