"""Ray: the report of a `ray.data.Dataset`, measured where its blocks are.

report = bridges.ray.evaluate_dataset(["bleu", "rouge"], dataset, key="id")
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrichub import Report
from metrichub.authoring import MAX_GATHERED
from metrichub.bridges._hub_scores import Metrics
from metrichub.bridges._parts import WIDTH, Parts, told_each_minute, worker_died
from metrichub.errors import InputError, MissingDependency, what

if TYPE_CHECKING:
    import ray.data

__all__ = ["evaluate_dataset"]

_ROWS = 1_000
"""Rows of a block that are read at a time; they are Python objects then."""
_RETRIES = 3
"""How often a task is run again whose worker died; Ray itself would try for ever."""


def evaluate_dataset(
    hub: Metrics,
    dataset: ray.data.Dataset,
    key: str | Sequence[str] = "id",
    *,
    columns: Mapping[str, str] | None = None,
    gathered: int = MAX_GATHERED,
) -> Report:
    """The report of all rows of a Ray dataset, as from `hub.evaluate(..., samples=False)`.

    `key` names the columns that identify a sample, or the document or user that it belongs to.
    A metric that asks for one process is measured by actors, one a GPU or else a single one, which
    load its model once; the others by tasks on all processors.
    `columns` maps a column to its name in the dataset. Metrics that don't add up gather the rows of
    at most `gathered` samples. Metrics and their packages must be installed on all machines.

    Raises:
        InputError: not a Ray dataset, no key, or samples that can't be scored.
        ScoringError: a metric raised; the message names the sample by its key.
        MetricError: the worker of one part died four times.
        ReportError: there are more samples than a metric can gather.
        MissingDependency: Ray isn't installed.
    """
    try:
        import ray.data
        from ray import cloudpickle
    except ImportError as error:
        raise MissingDependency("bridges.ray", "ray", "pip install 'ray[data]'") from error
    if not isinstance(dataset, ray.data.Dataset):
        raise InputError(f"pass a ray.data.Dataset, not {what(dataset)}")
    parts = Parts.of(hub, key, columns, gathered, cloudpickle.dumps)
    chosen = dataset.select_columns(parts.names(dataset.columns() or []))
    try:
        return parts.report(*(_packed(_merged(chosen, part)) for part in parts.apart()))
    except ray.exceptions.WorkerCrashedError as error:
        raise worker_died("Ray") from error


def _merged(dataset: Any, parts: Parts) -> Any:
    """The parts of the blocks, many of them merged to one."""
    import ray

    # By Ray's types, functions take a batch in any of its formats and nothing else: hence Any.
    common: dict[str, Any] = {"batch_format": "pyarrow", "max_retries": _RETRIES}
    with warnings.catch_warnings():
        # Ray has no other name for max_retries yet.
        warnings.filterwarnings("ignore", "`ray_remote_args` is deprecated")
        if parts.one_process:
            gpus = int(ray.cluster_resources().get("GPU", 0))
            actors = ray.data.ActorPoolStrategy(size=max(gpus, 1))
            taken = {"num_gpus": 1 if gpus else 0, "max_restarts": _RETRIES}
            measured = dataset.map_batches(
                _Measuring,
                batch_size=None,
                batch_format="pyarrow",
                fn_constructor_args=(parts,),
                compute=actors,
                **taken,
            )
        else:
            measured = dataset.map_batches(_measure, batch_size=None, fn_args=(parts,), **common)
        # Ray would fuse both into one task, which had one part to merge, if they took as much.
        merge = {"fn_args": (parts,), "num_cpus": 0.5}
        return measured.map_batches(_merge, batch_size=WIDTH, **merge, **common)


def _packed(merged: Any) -> Iterator[bytes]:
    with told_each_minute("Ray", _state):
        for batch in merged.iter_batches(batch_format="pyarrow", batch_size=None):
            yield from batch.column("partial").to_pylist()


def _state() -> str:
    """How many of the cluster's processors are at work."""
    import ray

    total, free = (
        each.get("CPU", 0.0) for each in (ray.cluster_resources(), ray.available_resources())
    )
    return f"{total - free:g} of {total:g} processors are at work"


class _Measuring:
    """An actor, which loads a model once: one a GPU, or else one."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def __call__(self, table: Any) -> Any:
        return _measure(table, self._parts)


def _measure(table: Any, parts: Parts) -> Any:
    # Some of Ray's readers return a chunk for each row.
    batches = table.combine_chunks().to_batches(max_chunksize=_ROWS)
    return _table([parts.measure(batches)])


def _merge(table: Any, parts: Parts) -> Any:
    merged = parts.merge(table.column("partial").to_pylist())
    return _table([] if merged is None else [merged])


def _table(parts: list[bytes]) -> Any:
    import pyarrow

    return pyarrow.table({"partial": pyarrow.array(parts, pyarrow.large_binary())})
