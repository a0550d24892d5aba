"""Information measures: how far one distribution is from another, (n, v) and (n, v) -> (n,)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from metrichub.authoring import Array

Measure = Literal[
    "kl_divergence",
    "alpha_divergence",
    "beta_divergence",
    "ab_divergence",
    "renyi_divergence",
    "l1_distance",
    "l2_distance",
    "l_infinity_distance",
    "fisher_rao_distance",
]
"""Those of Colombo et al. (2022), table 1, by the names that torchmetrics gives them."""
TAKES_ALPHA = ("alpha_divergence", "ab_divergence", "renyi_divergence")
TAKES_BETA = ("beta_divergence", "ab_divergence")


def refused(measure: Measure, alpha: float | None, beta: float | None) -> str | None:
    """The parameter for which a measure is undefined, and the allowed values; None if defined."""
    if (alpha is not None) != (measure in TAKES_ALPHA):
        return f"alpha: {'a number' if measure in TAKES_ALPHA else 'None'} for {measure}"
    if (beta is not None) != (measure in TAKES_BETA):
        return f"beta: {'a number' if measure in TAKES_BETA else 'None'} for {measure}"
    if measure == "alpha_divergence" and alpha in (0, 1):
        return "alpha: a number other than 0 and 1"
    if measure == "renyi_divergence" and (alpha == 1 or (alpha or 0) <= 0):
        return "alpha: a number above 0, other than 1"
    if measure == "beta_divergence" and beta in (0, -1):
        return "beta: a number other than 0 and -1"
    if measure == "ab_divergence" and 0 in (alpha, beta, (alpha or 0) + (beta or 0)):
        return "alpha: numbers other than 0 for alpha, beta and their sum"
    return None


def divergence(
    measure: Measure, mine: Array, others: Array, alpha: float | None, beta: float | None
) -> Array:
    """How far predictions' distributions are from references', at least 0 and 0 for equal ones."""
    a, b = alpha or 0.0, beta or 0.0
    if measure == "kl_divergence":
        divergences = (others * np.log(others / mine)).sum(-1)
    elif measure == "alpha_divergence":
        divergences = ((others**a * mine ** (1 - a)).sum(-1) - 1) / (a * (a - 1))
    elif measure == "beta_divergence":
        divergences = _ab(mine, others, 1.0, b)
    elif measure == "ab_divergence":
        divergences = _ab(mine, others, a, b)
    elif measure == "renyi_divergence":
        divergences = np.log((others**a * mine ** (1 - a)).sum(-1)) / (a - 1)
    elif measure == "fisher_rao_distance":
        divergences = 2 * np.arccos(np.clip(np.sqrt(mine * others).sum(-1), 0, 1))
    else:
        order = {"l1_distance": 1, "l2_distance": 2, "l_infinity_distance": np.inf}[measure]
        divergences = np.linalg.norm(others - mine, ord=order, axis=-1)
    # Rounding can leave a little below 0.
    return np.asarray(np.maximum(divergences, 0))


def _ab(mine: Array, others: Array, a: float, b: float) -> Array:
    """The divergence of Cichocki et al. (2011) in the logarithmic form of Colombo et al."""
    both = a + b
    return np.asarray(
        np.log((others**both).sum(-1)) / (b * both)
        + np.log((mine**both).sum(-1)) / (a * both)
        - np.log((others**a * mine**b).sum(-1)) / (a * b)
    )
