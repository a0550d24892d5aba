"""Transport: the least work that turns one distribution of words into another, and its bound."""

from __future__ import annotations

import numpy as np

from metrichub.authoring import Array
from metrichub.errors import MissingDependency

REQUIRES = ("POT>=0.9.5",)

_STEPS = 10_000_000
"""More than texts of thousands of words need; the default of 100,000 is for smaller ones."""


def distances(first: Array, second: Array) -> Array:
    """The Euclidean distances of vectors, (n, d) and (m, d), in 64 bits: (n, m)."""
    # One row at a time: the shorter formula by inner products rounds small distances away.
    return np.array([np.linalg.norm(second - vector, axis=1) for vector in first])


def transported(shares: Array, other_shares: Array, costs: Array, needed_by: str = "wmd") -> float:
    """The least cost of moving all shares, (n,), to the other ones, (m,), at costs of (n, m).

    Raises:
        MissingDependency: POT isn't installed.
    """
    try:
        from ot import emd2
    except ImportError as error:
        extra = "pip install 'metrichub-neural[transport]'"
        raise MissingDependency(needed_by, "POT", extra) from error
    # Neither dual variables nor checks of what is normalized here, a third of the time.
    cheap = {"center_dual": False, "check_marginals": False}
    return max(0.0, float(emd2(shares, other_shares, costs, numItermax=_STEPS, **cheap)))


def relaxed(shares: Array, other_shares: Array, costs: Array) -> float:
    """The larger cost of the two where one text's words each move to the nearest (RWMD)."""
    forth, back = shares @ costs.min(axis=1), other_shares @ costs.min(axis=0)
    return float(max(forth, back))
