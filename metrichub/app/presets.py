"""Presets: the metrics to begin with for what one evaluates and what one has."""

from __future__ import annotations

from typing import NamedTuple

from metrichub.app import catalog
from metrichub.app.policy import unavailable
from metrichub.app.settings import Judging
from metrichub.catalog.choices import choices


class Preset(NamedTuple):
    """Metrics for a purpose.

    Attributes:
        key: What stands in the address of the form that has them chosen.
        evaluate: What one evaluates.
        have: What one has.
        names: Metrics as they are, those that agreed best with people first.
        specs: Metrics with parameters.
        closed: Metrics that aren't offered here.
    """

    key: str
    evaluate: str
    have: str
    names: tuple[str, ...]
    specs: tuple[str, ...]
    closed: tuple[str, ...]

    @property
    def said(self) -> str:
        """What a reader hears of it once it is chosen."""
        said = f"Chosen: {', '.join((*self.names, *self.specs)) or 'none'}."
        return said + (f" Not offered here: {', '.join(self.closed)}." if self.closed else "")


def presets_of(judging: Judging) -> tuple[Preset, ...]:
    """The presets of a server; those that it can score nothing of are left out."""
    items = {item.name: item for item in catalog.items() if not item.problem}
    found = []
    for number, choice in enumerate(choices({name: one.entry for name, one in items.items()})):
        closed = [m for m in choice.metrics if unavailable(items[m.name].entry, judging)]
        fine = [m for m in choice.metrics if m not in closed]
        names = tuple(m.spec for m in fine if m.spec == m.name)
        specs = tuple(m.spec for m in fine if m.spec != m.name)
        if fine:
            shut = tuple(m.name for m in closed)
            found.append(Preset(str(number), choice.evaluate, choice.have, names, specs, shut))
    return tuple(found)
