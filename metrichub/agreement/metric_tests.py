"""Which of several metrics agrees better with people: Williams' test, and ranks as WMT's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from math import isnan, nan, sqrt
from typing import TypeVar

from metrichub.errors import InputError
from metrichub.evaluation.distributions import t_tail

K = TypeVar("K", bound=Hashable)


def williams_test(
    first_human: float, second_human: float, first_second: float, items: int
) -> float:
    """The one-sided p-value that metric 1 correlates better with people than metric 2.

    Takes Pearson's r of metric 1 and of metric 2 with people and of the two with each other, and
    the number of items. It assumes normal values; the permutation tests don't. Williams (1959), as
    in Graham and Baldwin (2014).

    r keeps its sign here, so a metric whose r is negative, as TER's, loses against a positive one.
    WMT's scripts and nlpstats compare strengths: pass the absolute values of all three for that.
    """
    if items < 4:
        raise InputError(f"Williams' test needs at least 4 items, not {items}")
    r12, r13, r23, n = first_human, second_human, first_second, items
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    variance = 2 * k * (n - 1) / (n - 3) + ((r12 + r13) ** 2) / 4 * (1 - r23) ** 3
    if variance <= 0:
        return nan
    return t_tail((r12 - r13) * sqrt((n - 1) * (1 + r23)) / sqrt(variance), n - 3)


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
