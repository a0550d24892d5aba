"""Whether a corpus metric's `resampler` gives what `conclude` gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from metrichub.metric import CorpusMetric


def not_concluded(metric: CorpusMetric, rows: Sequence[Any]) -> str | None:
    """What a resampler gives otherwise than `conclude` of the drawn rows; None if nothing.

    The resamples are the rows themselves, and two in which some are left out and some are double.
    """
    resampled = metric.resampler(rows)
    if resampled is None:
        return None
    each = np.arange(len(rows))
    times = np.array([np.ones(len(rows)), each % 3, 2 - each % 3])
    found = resampled(times)
    for number, counts in enumerate(times.astype(np.int64)):
        drawn = [rows[row] for row in np.repeat(each, counts).tolist()]
        for name, value in metric.conclude(drawn).items():
            if name not in found:
                return f"the resampler doesn't give {name}"
            given = found[name][number]
            if not np.allclose(given, value, rtol=1e-9, atol=1e-12, equal_nan=True):
                return f"the resampler gives {name} as {given}, and conclude as {value}"
    return None
