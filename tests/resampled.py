"""Scores of a result's samples after single draws and swaps."""

from typing import Any

import numpy as np

from metrichub.evaluation.draws import Draw
from metrichub.evaluation.resampling_units import Units
from metrichub.evaluation.result import Outputs, Result


def drawn(result: Result, index: Any, units: Units | None = None) -> Outputs:
    """The scores (b,) where the units at `index` (b, N) were drawn."""
    weights, resampler = Draw(np.array(index)).weights, result.resampler(units)
    return resampler.drawn(weights, weights @ resampler.columns)


def swapped(first: Result, other: Result, tosses: Any) -> tuple[Outputs, Outputs]:
    """Both systems' scores (b,) where each keeps its samples after the tosses (b, N)."""
    mine, theirs, mask = first.resampler(), other.resampler(), np.array(tosses)
    product = mask.astype(np.float64) @ (mine.columns - theirs.columns)
    return mine.against(theirs)(mask, product)
