"""Holm's correction of many p-values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import isnan
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def holm(p_values: Mapping[K, float]) -> dict[K, float]:
    """Holm's correction of one family's p-values; `nan` isn't a test, and stays `nan`."""
    tested = sorted((p, i) for i, p in enumerate(p_values.values()) if not isnan(p))
    corrected = list(p_values.values())
    highest = 0.0
    for k, (p, i) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - k) * p))
        corrected[i] = highest
    return dict(zip(p_values, corrected, strict=True))
