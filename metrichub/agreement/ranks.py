"""Ranks of metrics as WMT gives them, and Holm's correction of many p-values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from math import isnan
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def significance_clusters(
    values: Mapping[K, float], p_of: Callable[[K, K], float], alpha: float = 0.05
) -> dict[K, int]:
    """The rank of each metric, 1 for the best cluster; metrics without a value have none.

    From the best value down, a metric starts a new rank if it is significantly worse than any
    metric of the current one (Freitag et al. 2023). `p_of` returns the p-value of a better and a
    worse metric.
    """
    ranked = sorted((k for k in values if not isnan(values[k])), key=lambda k: -values[k])
    ranks: dict[K, int] = {}
    cluster: list[K] = []
    rank = 1
    for name in ranked:
        if any(p_of(better, name) <= alpha for better in cluster):
            cluster, rank = [], rank + 1
        cluster.append(name)
        ranks[name] = rank
    return ranks


def holm(p_values: Mapping[K, float]) -> dict[K, float]:
    """Holm's correction of one family's p-values; `nan` isn't a test, and stays `nan`."""
    tested = sorted((p, i) for i, p in enumerate(p_values.values()) if not isnan(p))
    corrected = list(p_values.values())
    highest = 0.0
    for k, (p, i) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - k) * p))
        corrected[i] = highest
    return dict(zip(p_values, corrected, strict=True))
