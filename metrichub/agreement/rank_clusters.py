"""Ranks of metrics as WMT gives them."""

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
