"""Consistency: how far a judge agrees with itself, over several runs and over both orders.

One that gives other verdicts when it is asked again can't agree with people either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.krippendorff import krippendorff_alpha
from metrichub.agreement.shares import Share, wilson
from metrichub.evaluation.kappa import fleiss_kappa

Array = NDArray[np.float64]
_NONE = Share(*[float("nan")] * 3)
_VERDICTS = (0.0, 0.5, 1.0)


class JudgeConsistency(NamedTuple):
    """How consistent a judge's scores of the same samples are.

    `same` is the share of samples to which all `runs` gave the same score, `alpha` Krippendorff's
    alpha for intervals, and `kappa` Fleiss' kappa if scores are verdicts (only 0, 0.5 and 1).
    `order` is the share of pairs with the same verdict in both orders. Shares have Wilson
    intervals; `nan` means not measured.
    """

    metric: str
    runs: int
    same: Share
    alpha: float
    kappa: float
    order: Share

    def as_dict(self) -> dict[str, Any]:
        """Its numbers by flat names: "same", "same_low", "same_high"."""
        numbers: dict[str, Any] = {}
        for name, value in self._asdict().items():
            if isinstance(value, Share):
                numbers |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
            else:
                numbers[name] = value
        return numbers


def judge_consistency(
    metric: str,
    runs: ArrayLike,
    kept_order: ArrayLike | None = None,
    confidence: float = 0.95,
) -> JudgeConsistency:
    """How consistent the scores of several runs (R, N) are, and verdicts in both orders (N,).

    `kept_order` is 1 if both orders led to the same verdict, and 0 if not. Only samples that all
    runs scored count; from a single run, only the order can be computed.

    >>> judge_consistency("mine", [[1, 0, 1, 1], [1, 1, 1, 0]]).same.value
    0.5
    """
    scores = np.atleast_2d(np.asarray(runs, np.float64))
    order = _NONE
    if kept_order is not None:
        same_order = np.asarray(kept_order, np.float64)
        same_order = same_order[~np.isnan(same_order)]
        order = wilson(round(float(same_order.sum())), len(same_order), confidence)
    if len(scores) < 2:
        nan = float("nan")
        return JudgeConsistency(metric, len(scores), _NONE, nan, nan, order)
    whole = scores[:, ~np.isnan(scores).any(0)].T
    same = int((whole == whole[:, :1]).all(1).sum())
    verdicts = bool(len(whole)) and bool(np.isin(whole, _VERDICTS).all())
    return JudgeConsistency(
        metric,
        len(scores),
        wilson(same, len(whole), confidence),
        krippendorff_alpha(scores.T),
        fleiss_kappa(whole.tolist()) if verdicts else float("nan"),
        order,
    )
