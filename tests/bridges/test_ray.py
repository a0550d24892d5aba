"""A Ray dataset, measured by real Ray workers on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import metrichub
from metrichub import Hub, InputError, Report
from metrichub.authoring import Metric
from metrichub.bridges import ray as bridge
from tests.bridges import guide
from tests.bridges.hosts import needs
from tests.machines import OnMachines, Rows, rounded, rows, run_guide, table

pytestmark = needs("ray", "ray", "pyarrow")

import ray.data  # noqa: E402  # after the skip


@pytest.fixture(scope="module", autouse=True)
def engine() -> Iterator[None]:
    """Two workers that see the tests' own metrics."""
    paths = [str(Path(metrichub.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    variables = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**variables, "PYTHONPATH": os.pathsep.join(paths).strip(":")}.items():
            patch.setenv(name, value)
        ray.init(
            num_cpus=2, object_store_memory=200_000_000, include_dashboard=False,
            log_to_driver=False, configure_logging=False,
        )  # fmt: skip
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield
        ray.shutdown()


def dataset(parts: Sequence[Rows]) -> Any:
    return ray.data.from_arrow([table(part) for part in parts])


class TestRay(OnMachines):
    """The claims, on Ray."""

    attempts = 2

    @pytest.fixture(autouse=True)
    def _tried_once_more(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Ray takes its time to notice that a worker is gone.
        monkeypatch.setattr(bridge, "_RETRIES", self.attempts - 1)

    def evaluate(self, hub: Any, parts: Sequence[Rows], key: Any = "id", **options: Any) -> Report:
        return bridge.evaluate_dataset(hub, dataset(parts), key, **options)


def test_parts_are_merged_by_workers_before_they_reach_the_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arrived: list[int] = []

    def counted(merged: Any) -> Iterator[bytes]:
        contents = list(packed(merged))
        arrived.append(len(contents))
        yield from contents

    packed = bridge._packed
    monkeypatch.setattr(bridge, "_packed", counted)
    report = bridge.evaluate_dataset("bleu", dataset([rows(2, 2 * i) for i in range(130)]))
    assert report.size == 260
    # 64 and 64, and 2 more.
    assert arrived == [3]


def test_a_hub_names_the_line_that_scores_a_dataset() -> None:
    with pytest.raises(InputError, match=r"bridges\.ray\.evaluate_dataset\(hub, data, key='id'\)"):
        Hub("bleu").evaluate(dataset([rows(2)]))


def test_other_data_is_refused() -> None:
    with pytest.raises(InputError, match=r"pass a ray\.data\.Dataset, not \[\]"):
        bridge.evaluate_dataset("bleu", [])


def test_the_lines_of_the_guides_run() -> None:
    inputs = dataset([rows(3), rows(4, 3)])
    expected = rounded(Hub(["bleu", "rouge"])(rows(7)))
    for run in (guide.run, run_guide):
        assert rounded(run("bridges.ray", dataset=inputs).scores()) == expected


@dataclass(frozen=True, kw_only=True)
class Model(Metric):
    """The number of the process that measures, as a metric with a model."""

    def one_process(self) -> bool:
        return True

    def observe(self, prediction: str) -> float:
        return float(os.getpid())


def test_a_metric_with_a_model_has_an_actor_and_the_others_keep_their_tasks() -> None:
    parts = [rows(20, 20 * i) for i in range(8)]
    report = bridge.evaluate_dataset(Hub([Model(), "bleu", "wer"]), dataset(parts))
    assert [*report.results] == ["model", "bleu", "wer"]
    expected = bridge.evaluate_dataset("bleu", dataset(parts))
    assert report["bleu"] == expected["bleu"]
    # One process: the mean of its number is a whole one.
    assert report["model"]["score"].is_integer()
    assert report["model"]["score"] != os.getpid()
    assert report.size == 160
