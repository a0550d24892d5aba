"""Divergence: how far apart two histograms are, along the curve of their mixtures."""

from __future__ import annotations

import numpy as np

from metrichub.authoring import Array

_MIXTURES = 25
_EDGE = 1e-6
"""The share of either histogram in the mixture that is nearly the other one."""


def curve_area(p: Array, q: Array, scaling: float) -> float:
    """The area under the divergence curve, from 0 to 1 (Pillutla et al., 2021, equation 2).

    Its points are (exp(-c KL(Q|R)), exp(-c KL(P|R))) for mixtures R of P and Q, with the scaling c.
    """
    # From P alone to Q alone, so that x grows; read the other way, the curve has the same area.
    share = np.linspace(1 - _EDGE, _EDGE, _MIXTURES)[:, None]
    mixtures = share * p + (1 - share) * q
    x = np.concatenate([[0.0], np.exp(-scaling * _kl(q, mixtures)), [1.0]])
    y = np.concatenate([[1.0], np.exp(-scaling * _kl(p, mixtures)), [0.0]])
    # Equal histograms come to 1 but for rounding.
    return min(1.0, float(np.trapezoid(y, x)))


def frontier_integral(p: Array, q: Array) -> float:
    """The mean divergence from the mixtures, 0 to 1 (Liu et al., 2021, in closed form)."""
    apart = p != q
    p, q = p[apart], q[apart]
    both = (p > 0) & (q > 0)
    mixed = np.zeros(len(p))
    mixed[both] = p[both] * q[both] / (p[both] - q[both]) * np.log(p[both] / q[both])
    return float(((p + q) / 2 - mixed).sum())


def _kl(histogram: Array, mixtures: Array) -> Array:
    """The divergence of a histogram from each mixture, in nats; a bin without mass adds none."""
    some = histogram > 0
    return np.asarray((histogram[some] * np.log(histogram[some] / mixtures[:, some])).sum(axis=1))
