"""Pass@k: the chance that one of k tries of a task passes."""

from __future__ import annotations

from dataclasses import dataclass

from metric_cards._bases.tries import TriedTasks
from metrichub.authoring import Array


@dataclass(frozen=True, kw_only=True)
class PassAtK(TriedTasks):
    """The mean over tasks of the chance that at least one of `k` tries passes.

    Attributes:
        k: The number of tries that a task has.
        passed: The column of flags, whether each try of a task passed, or of the number that did.
        tries: The column of the number of tries, if `passed` holds numbers.
    """

    def chance(self, tries: Array, passed: Array) -> Array:
        """One minus the chance that k tries, drawn without replacement, all fail."""
        return 1 - self.all_drawn(tries, tries - passed)
