"""A judge's yes/no verdicts beside people's: error rates, kappa, disagreements, the true rate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.row_coefficients import as_numbers
from metrichub.agreement.shares import Share, wilson
from metrichub.errors import InputError
from metrichub.evaluation.kappa import cohen_kappa

Array = NDArray[np.float64]


class VerdictAgreement(NamedTuple):
    """A judge compared with people on the same samples; yes is the requested property.

    `tpr` is the share of people's yes that the judge passed, `tnr` the share of their no that it
    caught, with Wilson intervals. `confusion` is ((true no, false yes), (false no, true yes)), with
    people's no and yes as rows. `disagreements` are the samples to read. `rate` is the judge's
    share of yes, `human_rate` people's. `undecided` are the samples without a verdict from either.
    """

    tpr: Share
    tnr: Share
    accuracy: Share
    balanced_accuracy: float
    kappa: float
    mcc: float
    confusion: tuple[tuple[int, int], tuple[int, int]]
    disagreements: tuple[int, ...]
    rate: float
    human_rate: float
    undecided: int

    def corrected_rate(self, observed: float) -> float:
        """The true share of yes if the judge says yes to this share; see `corrected_rate`."""
        return corrected_rate(observed, self.tpr.value, self.tnr.value)


def verdict_agreement(
    judge: ArrayLike, human: ArrayLike, *, cut: float = 0.5, confidence: float = 0.95
) -> VerdictAgreement:
    """How a judge's verdicts or scores agree with people's yes (above 0) and no.

    A score of at least `cut` is a yes; `nan` is a missing verdict.

    >>> agreement = verdict_agreement([1, 1, 0, 0, 1], [1, 1, 1, 0, 0])
    >>> agreement.confusion, agreement.disagreements
    (((1, 1), (1, 2)), (2, 4))
    """
    scores, labels = as_numbers("scores", judge), as_numbers("labels", human)
    if scores.shape != labels.shape or scores.ndim != 1:
        raise InputError(
            f"the verdicts of the judge {scores.shape} and of people {labels.shape} don't match"
        )
    decided = ~(np.isnan(scores) | np.isnan(labels))
    yes, true = scores >= cut, labels > 0
    table = [[int((decided & (true == t) & (yes == y)).sum()) for y in (0, 1)] for t in (0, 1)]
    (tn, fp), (fn, tp) = table
    n = tp + tn + fp + fn
    tpr, tnr = wilson(tp, tp + fn, confidence), wilson(tn, tn + fp, confidence)
    root = float((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    return VerdictAgreement(
        tpr=tpr,
        tnr=tnr,
        accuracy=wilson(tp + tn, n, confidence),
        balanced_accuracy=(tpr.value + tnr.value) / 2,
        kappa=cohen_kappa(yes[decided].tolist(), true[decided].tolist()),
        mcc=(tp * tn - fp * fn) / root if root else float("nan"),
        confusion=((tn, fp), (fn, tp)),
        disagreements=tuple(np.flatnonzero(decided & (yes != true)).tolist()),
        rate=(tp + fp) / n if n else float("nan"),
        human_rate=(tp + fn) / n if n else float("nan"),
        undecided=int((~decided).sum()),
    )


def corrected_rate(observed: float, tpr: float, tnr: float) -> float:
    """The true share of yes, given the share that a judge with these error rates reports.

    (observed + TNR - 1) / (TPR + TNR - 1), within 0..1; Rogan and Gladen (1978). `nan` for a judge
    no better than chance, which carries no information.

    >>> round(corrected_rate(320 / 400, 78 / 80, 30 / 40), 4)  # it caught 30 of 40, and missed 2
    0.7586
    """
    better = tpr + tnr - 1
    if not better > 0:
        return float("nan")
    return float(np.clip((observed + tnr - 1) / better, 0, 1))
