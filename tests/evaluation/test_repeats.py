"""Repeated runs: what several runs over the same samples are together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from metrichub import Hub
from metrichub.errors import ReportError
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.repeats import _joined
from metrichub.metric import Array, Metric, Scores, Unscored


@dataclass(frozen=True, kw_only=True)
class Counting(Metric):
    """How often it was asked about a text; it gives no number the first so many times."""

    asked: ClassVar[Counter[str]] = Counter()

    async def observe(self, prediction: str) -> float | Unscored:
        """The number of times, or nothing up to the number in the text."""
        self.asked[prediction] += 1
        times = self.asked[prediction]
        return Unscored("too early") if times <= int(prediction) else float(times)


def test_a_sample_has_the_mean_of_the_runs_that_scored_it() -> None:
    Counting.asked.clear()
    # Three runs give 1, 2, 3; 2, 3 without the first; 3; and nothing.
    report = Hub(Counting()).evaluate(predictions=["0", "1", "2", "3"], repeats=3)
    samples = report.samples()["counting"]["score"]
    np.testing.assert_array_equal(samples, [2, 2.5, 3, np.nan])
    assert report.scores()["counting"] == {"score": 7.5 / 3}
    assert report.counts()["counting"] == {"unscored": 1}
    assert report.explain("counting", 3).reason == "too early"
    repeated = report.repeated()["counting"]["score"]
    # Means of 1; of 2 and 2; of 3, 3 and 3: their mean is 2, and their deviation 1.
    assert (repeated.mean, repeated.std) == (2, 1)
    assert (repeated.low, repeated.high, repeated.runs) == (1, 3, (1, 2, 3))
    np.testing.assert_allclose(repeated.samples, [1, 0.5**0.5, np.nan, np.nan])


def test_runs_without_a_score_have_no_mean() -> None:
    Counting.asked.clear()
    report = Hub(Counting()).evaluate(predictions=["9"], repeats=2)
    assert np.isnan(report.repeated()["counting"]["score"].mean)
    once = Hub(Counting()).evaluate(predictions=["0"])
    with pytest.raises(ReportError, match="no repeated runs; evaluate with repeats=3"):
        once.repeated()


@dataclass(frozen=True, kw_only=True)
class Late(Metric):
    """Scores a text from the run on that it names."""

    asked: ClassVar[Counter[str]] = Counter()

    async def observe(self, prediction: str) -> dict[str, Any] | Unscored:
        """Two numbers, or why there are none."""
        self.asked[prediction] += 1
        if self.asked[prediction] < int(prediction):
            return Unscored(f"not in run {self.asked[prediction]}", "no_claims")
        return {"pair": np.array([1.0, self.asked[prediction]])}

    def score(self, pair: Array) -> Scores:
        """The mean of the second number."""
        return {"score": pair[..., 1] / pair[..., 0]}


def test_what_no_run_scored_has_the_first_run_s_reason_and_kind() -> None:
    Late.asked.clear()
    # The first run scores nothing, the second and the third one text each more.
    result = Hub(Late()).evaluate(predictions=["2", "3", "4"], repeats=3).results["late"]
    np.testing.assert_array_equal(result.samples()["score"], [2.5, 3, np.nan])
    stats = result.statistics
    assert stats is not None
    assert stats.reasons == {2: "not in run 1"}
    assert stats.undefined_for == {2: "no_claims"}


def test_a_sample_is_lost_that_no_run_scored_and_waits_if_any_does() -> None:
    runs = [
        Trace.of({0: [{"a": 1}]}, {1: "down", 2: "down"}, {0: ["k"]}, {3: "in a batch"}),
        Trace.of({0: [{"a": 2}]}, {1: "late", 3: "late"}, {0: ["l"]}, {2: "in a batch"}),
    ]
    joined = _joined(runs)
    assert joined.errors == {1: "down"}
    assert joined.pending == {2: "in a batch", 3: "in a batch"}
    assert joined.steps == {0: [{"run": 1, "a": 1}, {"run": 2, "a": 2}]}
    assert joined.calls == {0: ["k", "l"]}
    # What one run scored isn't lost.
    assert _joined([runs[0], Trace()]).errors == {}
    assert _joined([Trace(), runs[0]]).pending == {}
