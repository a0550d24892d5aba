"""Progress within a block, told by a metric that takes long for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from metrichub import Hub
from metrichub.authoring import Array, Metric, report_progress
from metrichub.evaluation.observation import Portion
from metrichub.text import Texts


@dataclass(frozen=True, kw_only=True)
class Slow(Metric):
    def measure(self, prediction: Texts) -> Mapping[str, Array]:
        for share in (0.25, 0.5, 0.1, 0.75):
            report_progress(share)
        return {"score": np.ones(len(prediction))}


@dataclass(frozen=True, kw_only=True)
class Quick(Metric):
    def observe(self, prediction: str) -> float:
        return 1.0


COLUMNS = {"predictions": ["a"] * 8}


def test_a_metric_tells_its_share_and_the_rest_at_its_end() -> None:
    numbers: list[int] = []
    Hub([Quick(), Slow()]).evaluate(COLUMNS, progress=numbers.append)
    report_progress(1.0)  # outside of any evaluation it tells nobody
    # All 8 of the first; quarters of 8 samples, where a smaller share tells nothing.
    assert numbers == [8, 2, 2, 2, 2]


@dataclass(frozen=True, kw_only=True)
class Awaited(Metric):
    async def observe(self, prediction: str, reference: str) -> float:
        return 1.0


def test_an_awaited_sample_is_done_when_its_last_candidate_is() -> None:
    amounts: list[int] = []
    columns = {"predictions": [["a", "b", "c"], ["d"]], "references": ["x", ["y", "z"]]}
    Hub(Awaited()).evaluate(columns, progress=amounts.append)
    assert [done for done in amounts if done] == [1, 1]


def test_the_whole_is_told_in_processes_too() -> None:
    rows = ({"predictions": ["a"]} for _ in range(8))
    amounts: list[int] = []
    Hub([Quick(), Slow()]).evaluate(rows, workers=2, progress=amounts.append)
    assert sum(amounts) == 16


def test_an_error_of_the_watching_function_is_its_own() -> None:
    def stop(_: int) -> None:
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        Hub(Slow()).evaluate(COLUMNS, progress=stop)


def test_a_share_above_one_tells_no_more_than_all_samples() -> None:
    amounts: list[int] = []
    Portion(8, amounts.append).reach(1.5)
    assert amounts == [8]


def test_a_watching_function_that_failed_is_not_called_again() -> None:
    amounts: list[int] = []

    def stop(done: int) -> None:
        amounts.append(done)
        raise KeyError("stop")

    portion = Portion(8, stop)
    for share in (0.25, 0.5):
        portion.reach(share)
    assert amounts == [2]
    assert isinstance(portion.error, KeyError)
