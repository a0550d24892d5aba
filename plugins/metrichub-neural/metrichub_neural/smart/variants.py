"""Variants: SMART-1, -2 and -L of a matrix of how alike sentences are (Amplayo et al., 2022)."""

from __future__ import annotations

import numpy as np

from metrichub.authoring import Array

VARIANTS = ("smart1", "smart2", "smartL")


def variants_of(like: Array) -> Array:
    """Precision and recall of each variant, (3, 2), from a matrix (prediction, reference)."""
    edged = np.pad(like, 1)
    # A pair of neighbours is as alike as its sentences on average; the ends have a blank neighbour.
    both = (edged[:-1, :-1] + edged[1:, 1:]) / 2
    in_order = soft_lcs(like) / like.shape[0], soft_lcs(like.T) / like.shape[1]
    return np.array([_best(like), _best(both), in_order])


def soft_lcs(like: Array) -> float:
    """The largest sum of matches of all rows in order, where a column may match several rows."""
    best = np.zeros(like.shape[1] + 1)
    for row in like:
        # A row matches this column after the one before it, or the same one again, or none.
        matched = np.maximum(best[:-1], best[1:]) + row
        best = np.maximum.accumulate(np.concatenate(([0.0], matched)))
    return float(best[-1])


def _best(like: Array) -> tuple[float, float]:
    return float(like.max(axis=1).mean()), float(like.max(axis=0).mean())
