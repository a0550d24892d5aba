"""Preferences: which of two outputs people find better, and how often a metric says the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.row_coefficients import as_numbers
from metrichub.agreement.shares import wilson
from metrichub.errors import InputError

Array = NDArray[np.float64]
CHOICES = ("a", "b", "tie")


class PreferenceAgreement(NamedTuple):
    """How a metric orders pairs in which people prefer one output.

    `accuracy` is the share that it orders as people do, with ties counted as wrong, and its Wilson
    interval; `accuracy_ties_half` counts ties as half right. `tau_wmt` is the Kendall-like tau of
    WMT 2017 to 2020, in which a metric's tie counts as discordant: (C - D) / (C + D). `ties` is the
    share of pairs that the metric ties. Pairs that people tied (`human_ties`), and those without a
    score (`unscored`), are left out.
    """

    accuracy: float
    low: float
    high: float
    accuracy_ties_half: float
    tau_wmt: float
    ties: float
    pairs: int
    human_ties: int
    unscored: int


def preference_agreement(
    scores_a: ArrayLike, scores_b: ArrayLike, preferred: Sequence[str], confidence: float = 0.95
) -> PreferenceAgreement:
    """How far scores of outputs a and b agree with preferences: "a", "b" or "tie".

    >>> agreement = preference_agreement([0.5, 0.3, 0.3], [0.4, 0.3, 0.6], ["a", "a", "b"])
    >>> agreement.accuracy, agreement.tau_wmt  # two of three are right, and the tie is wrong
    (0.6666666666666666, 0.3333333333333333)
    """
    a, b = as_numbers("scores", scores_a), as_numbers("scores", scores_b)
    if not len(a) == len(b) == len(preferred):
        raise InputError(f"{len(a)}, {len(b)} scores and {len(preferred)} preferences don't match")
    for at, choice in enumerate(preferred):
        if choice not in CHOICES:
            raise InputError(f"sample {at} prefers {choice!r}; write 'a', 'b' or 'tie'")
    side = np.array([{"a": 1, "b": -1, "tie": 0}[choice] for choice in preferred], np.float64)
    scored = ~(np.isnan(a) | np.isnan(b))
    counted = scored & (side != 0)
    lead = (np.sign(a - b) * side)[counted]
    return _of_leads(lead, int((scored & (side == 0)).sum()), int((~scored).sum()), confidence)


def ranked_pairs(
    scores: Array, human: Array, threshold: float = 25.0, confidence: float = 0.95
) -> PreferenceAgreement:
    """How a metric orders the pairs of an item whose ratings differ by `threshold` or more.

    Scores and ratings are (S, I); pairs of all items have equal weight. WMT's DARR pairs are made
    from direct assessments from 0 to 100 in this way, with a threshold of 25 (Mathur et al. 2020).
    """
    rated = scored = 0
    leads, close = [np.empty(0)], 0
    for k in range(1, len(human)):
        dz, dx = human[k:] - human[:-k], scores[k:] - scores[:-k]
        far = np.abs(dz) >= threshold
        rated += int(far.sum())
        compared = far & ~np.isnan(dx)
        scored += int(compared.sum())
        close += int((~np.isnan(dz) & ~far).sum())
        leads.append((np.sign(dx) * np.where(dz > 0, 1, -1))[compared])
    return _of_leads(np.concatenate(leads), close, rated - scored, confidence)


def _of_leads(
    lead: Array, human_ties: int, unscored: int, confidence: float
) -> PreferenceAgreement:
    """The shares of pairs that are ordered alike (1), tied (0) or ordered otherwise (-1)."""
    n = len(lead)
    if not n:
        return PreferenceAgreement(*(float("nan"),) * 6, 0, human_ties, unscored)
    right, tied = int((lead > 0).sum()), int((lead == 0).sum())
    share = wilson(right, n, confidence)
    half, tau = (right + tied / 2) / n, (2 * right - n) / n
    return PreferenceAgreement(*share, half, tau, tied / n, n, human_ties, unscored)
