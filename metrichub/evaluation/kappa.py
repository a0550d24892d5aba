"""Cohen's and Fleiss' kappa: how far raters agree on labels.

None, nan, pandas' NA and a blank text mean that a label is missing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Number
from typing import Any, Literal

import numpy as np

from metrichub.errors import InputError, ParameterError

Weights = Literal["linear", "quadratic"]


def cohen_kappa(one: Sequence[Any], other: Sequence[Any], weights: Weights | None = None) -> float:
    """Cohen's kappa of two raters' labels of the same items; Cohen (1960), weighted Cohen (1968).

    `weights` are for ordered labels: a disagreement counts by the distance between the labels'
    positions in sorted order, or by its square. Items that a rater left without a label are left
    out. `nan` without items, or if chance explains everything.

    Raises:
        InputError: unequal numbers of labels, or texts among numbers, which never agree.

    >>> round(cohen_kappa(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"]), 3)
    0.5
    """
    if len(one) != len(other):
        raise InputError(
            f"the raters have {len(one)} and {len(other)} labels, but need the same number"
        )
    if weights not in (None, "linear", "quadratic"):
        raise ParameterError(None, "weights", weights, "None, 'linear' or 'quadratic'")
    rated = [(a, b) for a, b in zip(one, other, strict=True) if not (_none(a) or _none(b))]
    labels = label_codes([a for a, _ in rated] + [b for _, b in rated], weights is not None)
    size = max(labels, default=-1) + 1
    table = np.zeros((size, size))
    np.add.at(table, (labels[: len(rated)], labels[len(rated) :]), 1)
    place = np.arange(size)
    far = np.abs(place[:, None] - place).astype(np.float64)
    cost = {None: (far > 0).astype(float), "linear": far, "quadratic": far**2}[weights]
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return beyond_chance(float((cost * table).sum()), float((cost * expected).sum()))


def fleiss_kappa(ratings: Sequence[Sequence[Any]]) -> float:
    """Fleiss' kappa of N items' labels by the same number of raters; Fleiss (1971), 1 to 7.

    Missing labels are left out, and items without any. `nan` without items, or if all labels are
    the same.

    Raises:
        InputError: unequal numbers of labels, or texts among numbers, which never agree.

    >>> round(fleiss_kappa([["a", "a", "a"], ["a", "a", "b"]]), 3)
    -0.2
    """
    # A frame gives the names of its columns, not its rows.
    ratings = getattr(ratings, "to_numpy", lambda: ratings)()
    present = [[label for label in row if not _none(label)] for row in ratings]
    ratings = [
        labels for labels, row in zip(present, ratings, strict=True) if labels or not len(row)
    ]
    raters = {len(row) for row in ratings}
    if len(raters) > 1 or (raters and min(raters) < 2):
        raise InputError(
            "Fleiss' kappa needs the same number of labels for every item, two or more, not "
            f"{', '.join(map(str, sorted(raters)))}; krippendorff_alpha allows any"
        )
    if not raters:
        return float("nan")
    codes = np.array(label_codes([x for row in ratings for x in row])).reshape(len(ratings), -1)
    counts = np.stack([(codes == label).sum(1) for label in range(codes.max() + 1)], axis=1)
    n = codes.shape[1]
    same = float(((counts**2).sum(1) - n).mean() / (n * (n - 1)))
    chance = float(((counts.sum(0) / counts.sum()) ** 2).sum())
    return beyond_chance(1 - same, 1 - chance)


def beyond_chance(observed: float, expected: float) -> float:
    """One minus the disagreement over that of chance."""
    return 1 - observed / expected if expected > 0 else float("nan")


def label_codes(labels: Sequence[Hashable], ordered: bool = False) -> list[int]:
    """Labels as numbers from 0, in their order if it counts; -1 for a missing one.

    Raises:
        InputError: texts are among numbers, which never agree.
    """
    kinds = {isinstance(label, (Number, np.bool_)): label for label in labels if not _none(label)}
    if len(kinds) > 1:
        raise InputError(
            f"the labels {kinds[False]!r} and {kinds[True]!r} are of two kinds, which never agree; "
            "give all as texts, or all as numbers"
        )
    try:
        distinct = dict.fromkeys(label for label in labels if not _none(label))
        scored = sorted(distinct) if ordered else list(distinct)  # type: ignore[type-var]  # caught
    except TypeError:
        ordinal = "weights need labels that have an order, such as numbers"
        raise InputError(ordinal if ordered else "a label is one text or number") from None
    place = {label: i for i, label in enumerate(scored)}
    return [-1 if _none(label) else place[label] for label in labels]


def _none(label: object) -> bool:
    if isinstance(label, str):
        return not label.strip()
    # pandas' NA is neither equal nor unequal to itself.
    return label is None or type(label).__name__ in ("NAType", "NaTType") or label != label  # noqa: PLR0124  # nan
