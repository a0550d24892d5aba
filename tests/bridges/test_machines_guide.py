"""The guide to several machines: its pipeline of datasets, run as it stands."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, bridges
from metrichub.bridges import _parts
from metrichub.errors import MissingDependency
from tests.machines import PAGE, assert_equals_one_process, rows, run_guide, table


@pytest.mark.parametrize(
    ("library", "function", "install"),
    [
        ("ray", "evaluate_dataset", "pip install 'ray[data]'"),
        ("pyspark", "evaluate_dataframe", "pip install pyspark"),
    ],
)
def test_a_missing_library_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, library: str, function: str, install: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    score = getattr(getattr(bridges, library), function)
    with pytest.raises(MissingDependency, match=re.escape(install)):
        score("bleu", None)


class Sizes:
    """A pass that notes how many rows the batches of a part have."""

    def __init__(self) -> None:
        self.found: list[int] = []

    def measure(self, batches: Iterable[Any]) -> bytes:
        self.found += [batch.num_rows for batch in batches]
        return b""

    def merge(self, parts: Iterable[bytes]) -> None: ...

    def merging(self) -> Sizes:
        return self


def test_a_block_of_ray_in_many_chunks_is_measured_in_few_batches() -> None:
    import pyarrow

    block = pyarrow.concat_tables([table(rows(1, i)) for i in range(1_500)])
    assert block.column("id").num_chunks == 1_500
    sizes = Sizes()
    bridges.ray._measure(block, sizes)
    assert sizes.found == [1_000, 500]


def test_a_long_run_says_each_minute_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_parts, "_MINUTE", 0.001)
    semaphore = threading.Semaphore(0)

    def state() -> str:
        semaphore.release()
        return "3 of 8 tasks are done"

    with _parts.told_each_minute("Spark", state):
        for _ in range(3):
            assert semaphore.acquire(timeout=30)
    messages = [record.message for record in caplog.records if record.name == "metrichub"]
    assert messages[:2] == [
        "Spark has been measuring for 1 min: 3 of 8 tasks are done",
        "Spark has been measuring for 2 min: 3 of 8 tasks are done",
    ]
    # At the latest the line that the end waited for; none after it.
    assert not [thread for thread in threading.enumerate() if thread.name == "told each minute"]


def test_parts_of_a_map_in_two_processes_merge_to_one_report() -> None:
    import datasets

    hub = Hub(["bleu", "rouge", "wer"])
    result = rows(12_500)
    data = datasets.Dataset.from_list(result)
    assert_equals_one_process(run_guide("dataset.map", hub=hub, dataset=data), result, hub)


def test_one_process_reads_a_file_of_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    result = rows(30)
    datasets.Dataset.from_list(result).to_parquet(tmp_path / "outputs.parquet")
    monkeypatch.chdir(tmp_path)
    hub = Hub(["bleu", "distinct"])
    report = run_guide("outputs.parquet", hub=hub)
    assert report.scores() == hub.evaluate(result).scores()
    assert report.counts() == hub.evaluate(result).counts()


def test_the_metrics_of_the_table_are_those_that_do_not_add_up() -> None:
    from metrichub import list_metrics, load_metric

    gathers: dict[str, set[str]] = {"rows": set(), "vocabulary": set()}
    for card in list_metrics():
        metric = load_metric(card.name)
        if metric.averaging == "corpus" and card.distribution == "metrichub":
            gathers[metric.gathers].add(card.name)  # type: ignore[attr-defined]  # corpus metrics have it
    table = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    first, last = [set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table]
    assert (first, last) == (gathers["vocabulary"], gathers["rows"])
