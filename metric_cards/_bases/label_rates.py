"""Label rates: precision, recall and F1 of counts by label, and their averages over labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from metrichub.authoring import Array

AVERAGES = ("micro", "macro", "weighted")
RATES = ("precision", "recall", "f1")
_SHOWN = 100
"""How many labels a table shows; a model's free text may have as many as there are samples."""


class LabelCounts(NamedTuple):
    """How often each label was predicted rightly, predicted, and expected; each (..., K)."""

    right: Array
    predicted: Array
    expected: Array

    def sums(self) -> LabelCounts:
        """The counts of all labels together, (...)."""
        return LabelCounts(*(counts.sum(axis=-1) for counts in self))

    def rates(self) -> dict[str, Array]:
        """Precision, recall and F1; 0 where there is nothing to divide by, as in scikit-learn."""
        parts = (self.predicted, self.expected, (self.predicted + self.expected) / 2)
        return {name: divided(self.right, by) for name, by in zip(RATES, parts, strict=True)}

    @property
    def present(self) -> Array:
        """Which labels were predicted or expected."""
        return np.asarray(self.predicted + self.expected > 0)

    def averages(self, among: Array | None = None) -> dict[str, Array]:
        """Each rate by each average, (...): "macro_f1".

        Micro pools the counts. Macro is the mean over labels, those that are present unless others
        are `among` them; weighted weighs labels by how often they were expected. Without labels,
        both are `nan`.
        """
        every, pooled = self.rates(), self.sums()
        weights = {"macro": self.present if among is None else among, "weighted": self.expected}
        scores = {f"micro_{rate}": values for rate, values in pooled.rates().items()}
        with np.errstate(invalid="ignore"):
            return scores | {
                f"{average}_{rate}": (values * by).sum(axis=-1) / by.sum(axis=-1)
                for average, by in weights.items()
                for rate, values in every.items()
            }


def averaged_over(
    expected: Mapping[str, Sequence[int]], predicted: Mapping[str, Sequence[int]]
) -> dict[str, Mapping[str, Sequence[int]]]:
    """The labels that macro averages are over, each with the rows that expect or predict it."""
    names = {name: repr(name if len(name) <= 40 else f"{name[:37]}...") for name in expected}
    by_reference, by_prediction = (
        {f"the {kind}label {shown}": rows[name] for name, shown in names.items()}
        for kind, rows in (("", expected), ("predicted ", predicted))
    )
    return {
        "macro_precision": by_prediction,
        "macro_recall": by_reference,
        "macro_f1": by_reference,
    }


def divided(part: Array, total: Array) -> Array:
    """The fractions, 0 where there is nothing to divide by."""
    part, total = np.broadcast_arrays(np.asarray(part, np.float64), total)
    return np.divide(part, total, out=np.zeros(part.shape), where=total != 0)


def table_of(
    what: str, names: Sequence[str], counts: LabelCounts
) -> Sequence[Sequence[str | float | None]]:
    """A row for each label with its rates and counts, (K,): the most frequent, and the rest in one.

    The first row is the head.
    """
    order = np.argsort(-(counts.predicted + counts.expected), kind="stable")
    shown = LabelCounts(*(count[order[:_SHOWN]] for count in counts))
    labels = [names[place] for place in order[:_SHOWN].tolist()]
    if hidden := len(order) - len(labels):
        labels.append(f"{hidden} others")
        others = (count[order[_SHOWN:]].sum(keepdims=True) for count in counts)
        shown = LabelCounts(*map(np.concatenate, zip(shown, others, strict=True)))
    tables = (count if (count % 1).any() else count.astype(np.int64) for count in shown)
    columns = [values.tolist() for values in (*shown.rates().values(), *tables)]
    head = [what, *RATES, "right", "predicted", "expected"]
    return [head, *([label, *row] for label, *row in zip(labels, *columns, strict=True))]
