"""Pass^k: the chance that all of k tries of a task pass."""

from __future__ import annotations

from dataclasses import dataclass

from metric_cards._bases.tries import TriedTasks
from metrichub.authoring import Array


@dataclass(frozen=True, kw_only=True)
class PassHatK(TriedTasks):
    """The mean over tasks of the chance that all of `k` tries pass.

    Attributes:
        k: The number of tries that a task has.
        passed: The column of flags, whether each try of a task passed, or of the number that did.
        tries: The column of the number of tries, if `passed` holds numbers.
    """

    def chance(self, tries: Array, passed: Array) -> Array:
        """The chance that k tries, drawn without replacement, all pass."""
        return self.all_drawn(tries, passed)
