"""The other ways to a score, `resampler` and `score_samples`: whether they agree with the first."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from metrichub.evaluation.observation import sample_scores
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import WeighedResult
from metrichub.evaluation.signature import Signature
from metrichub.evaluation.stats import Stats
from metrichub.evaluation.two_passes import Survey
from metrichub.metric import CorpusMetric, Metric, has_two_passes


def not_concluded(metric: CorpusMetric, rows: Sequence[Any]) -> str | None:
    """What a resampler gives otherwise than `conclude` of the drawn rows; None if nothing.

    The resamples are the rows themselves, and two in which some are left out and some are double.
    """
    resampled = metric.resampler(rows)
    if resampled is None:
        return None
    each = np.arange(len(rows))
    times = np.array([np.ones(len(rows)), each % 3, 2 - each % 3])
    scores = resampled(times)
    for number, counts in enumerate(times.astype(np.int64)):
        drawn = [rows[row] for row in np.repeat(each, counts).tolist()]
        for name, value in metric.conclude(drawn).items():
            if name not in scores:
                return f"the resampler doesn't give {name}"
            score = scores[name][number]
            if not np.allclose(score, value, rtol=1e-9, atol=1e-12, equal_nan=True):
                return f"the resampler gives {name} as {score}, and conclude as {value}"
    return None


def not_condensed(metric: CorpusMetric, rows: Sequence[Any]) -> str | None:
    """What condensed rows conclude otherwise than the rows; None if nothing.

    They are condensed in three parts, one of them empty, and the parts together once more.
    """
    half = len(rows) // 2
    parts: tuple[Sequence[Any], ...] = (rows[half:], [], rows[:half])
    condensed = metric.condense([row for part in parts for row in metric.condense(part)])
    scores = metric.conclude(condensed)
    for name, value in metric.conclude(rows).items():
        if not np.allclose(scores[name], value, rtol=1e-9, atol=1e-12, equal_nan=True):
            return f"condensed rows give {name} as {scores[name]}, and the rows {value}"
    return None


def not_weighed(metric: CorpusMetric, rows: Sequence[Any], signature: Signature) -> str | None:
    """What two passes over parts give otherwise than `conclude` of all rows; None if nothing.

    The parts are two and an empty one, and the weighed rows are scored one by one, too.
    """
    if not has_two_passes(metric):
        return None
    half, survey = len(rows) // 2, Survey(metric)
    parts: tuple[Sequence[Any], ...] = (rows[half:], [], rows[:half])
    for part in parts:
        survey.add(survey.of(part))
    corpus = pickle.loads(pickle.dumps(survey.total()))
    results = [
        WeighedResult.of_rows(
            RowsResult.of(metric, signature, part, np.arange(len(part)), len(part)), corpus
        )
        for part in parts
    ]
    sums = WeighedResult.merge(results, signature).scores()
    for name, value in metric.conclude(rows).items():
        if not np.allclose(sums[name], value, rtol=1e-9, atol=1e-12, equal_nan=True):
            return f"rows weighed in two passes give {name} as {sums[name]}, and conclude {value}"
    each = sample_scores(metric, Stats.concatenate([p.rows for p in results if p.rows]))
    for name, values in each.items():
        if values.shape != (len(rows),):
            return f"{name} of rows weighed in two passes has shape {values.shape}"
    return None


def not_of_samples(metric: Metric, rows: Stats) -> str | None:
    """What is wrong with `score_samples`; None if it scores each row, by itself, and no other."""
    # The last row has no sample: none of its statistics may reach a score.
    rows = rows.only(rows.scored & (np.arange(len(rows)) < len(rows) - 1))
    for name, values in sample_scores(metric, rows).items():
        if wrong := np.flatnonzero(np.isnan(values) == rows.scored).tolist():
            return f"score_samples: {name} of the samples {wrong} is nan, or should be"
        for row in range(len(rows)):
            part = {key: array[row : row + 1] for key, array in rows.arrays.items()}
            alone = sample_scores(metric, Stats(part, rows.scored[row : row + 1], {}, {}))[name]
            if not np.allclose(alone[0], values[row], rtol=1e-9, atol=1e-12, equal_nan=True):
                return f"score_samples: {name} depends on other samples"
    return None
