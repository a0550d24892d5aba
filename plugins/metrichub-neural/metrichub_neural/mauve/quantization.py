"""Quantization: the vectors of two sets of texts as histograms over the same clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from metrichub.authoring import Array
from metrichub.text import Integers

_RESTARTS, _ITERATIONS = 5, 500
_BLOCK = 1 << 24
"""How many distances are held at a time."""


class Points(NamedTuple):
    """Distinct vectors, (n, d), and how many texts of either set have each, (n,)."""

    vectors: Array
    p: Array
    q: Array


def reduced(points: Points, variance: float) -> Points:
    """The same on the first principal components that hold this share of the variance.

    Vectors are brought to length 1 first. The components aren't whitened.
    """
    weights = points.p + points.q
    norms = np.linalg.norm(points.vectors, axis=1, keepdims=True)
    unit = points.vectors / np.where(norms > 0, norms, 1)
    centred = unit - weights @ unit / weights.sum()
    weighted = centred * np.sqrt(weights)[:, None]
    wide = weighted.shape[1] > len(weighted)
    values, axes = np.linalg.eigh(weighted @ weighted.T if wide else weighted.T @ weighted)
    values, axes = np.maximum(values[::-1], 0), axes[:, ::-1]
    share = np.cumsum(values) / values.sum() if values.sum() else np.ones(1)
    dimensions = min(int(np.searchsorted(share, variance)) + 1, len(share))
    if wide:
        axes = weighted.T @ axes[:, :dimensions] / np.sqrt(np.maximum(values[:dimensions], 1e-300))
    return points._replace(vectors=centred @ axes[:, :dimensions])


def histograms(points: Points, clusters: int, seed: int) -> tuple[Array, Array]:
    """How many texts of either set lie in each cluster, (clusters,), by k-means.

    It is the best of five runs of Lloyd's algorithm, each of which starts at random vectors. Where
    there are no more vectors than clusters, each is one of its own.
    """
    if len(points.vectors) <= clusters:
        return points.p, points.q
    draw = np.random.default_rng(seed)
    weights = points.p + points.q
    starts = [draw.choice(len(weights), clusters, replace=False) for _ in range(_RESTARTS)]
    runs = [_lloyd(points.vectors, weights, points.vectors[start]) for start in starts]
    labels, _ = min(runs, key=lambda run: run[1])
    return (
        np.bincount(labels, points.p, clusters),
        np.bincount(labels, points.q, clusters),
    )


def _lloyd(vectors: Array, weights: Array, centres: Array) -> tuple[Integers, float]:
    """The cluster of each vector, and the sum of the squared distances from their centres."""
    labels, distances = _nearest(vectors, centres)
    weighted = vectors * weights[:, None]
    for _ in range(_ITERATIONS):
        order = np.argsort(labels, kind="stable")
        # A cluster that lost all its vectors stays where it is.
        filled, starts = np.unique(labels[order], return_index=True)
        masses = np.add.reduceat(weights[order], starts)
        centres[filled] = np.add.reduceat(weighted[order], starts) / masses[:, None]
        former = labels
        labels, distances = _nearest(vectors, centres)
        if np.array_equal(labels, former):
            break
    return labels, float(weights @ distances)


def _nearest(vectors: Array, centres: Array) -> tuple[Integers, Array]:
    """The nearest centre of each vector, and its squared distance."""
    labels, least = np.zeros(len(vectors), np.int64), np.zeros(len(vectors))
    squares = (centres**2).sum(axis=1)
    step = max(1, _BLOCK // len(centres))
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        distances = squares - 2 * block @ centres.T
        nearest = distances.argmin(axis=1)
        labels[start : start + step] = nearest
        least[start : start + step] = distances.min(axis=1) + (block**2).sum(axis=1)
    return labels, least
