"""Spark: the report of a `pyspark.sql.DataFrame`, measured where its partitions are.

report = bridges.pyspark.evaluate_dataframe(["bleu", "rouge"], frame, key="id")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrichub import Report
from metrichub.authoring import MAX_GATHERED
from metrichub.bridges._hub_scores import Metrics
from metrichub.bridges._parts import WIDTH, Parts, told_each_minute, worker_died
from metrichub.errors import InputError, MissingDependency, what

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["evaluate_dataframe"]

_SCHEMA = "place bigint, partial binary"


def evaluate_dataframe(
    hub: Metrics,
    frame: DataFrame,
    key: str | Sequence[str] = "id",
    *,
    columns: Mapping[str, str] | None = None,
    gathered: int = MAX_GATHERED,
) -> Report:
    """The report of all rows of a Spark frame, as from `hub.evaluate(..., samples=False)`.

    `key` names the columns that identify a sample, or the document or user that it belongs to.
    `columns` maps a column to its name in the frame. Metrics that don't add up gather the rows of
    at most `gathered` samples. Metrics and their packages must be installed on all machines.

    Raises:
        InputError: not a Spark frame, no key, or samples that can't be scored.
        ScoringError: a metric raised; the message names the sample by its key.
        MetricError: the worker of one part died as often as Spark tries a task.
        ReportError: there are more samples than a metric can gather.
        MissingDependency: Spark isn't installed.
    """
    try:
        from pyspark import cloudpickle
        from pyspark.sql import DataFrame
        from pyspark.sql.functions import col
    except ImportError as error:
        raise MissingDependency("bridges.pyspark", "pyspark") from error
    if not isinstance(frame, DataFrame):
        raise InputError(f"pass a pyspark.sql.DataFrame, not {what(frame)}")
    parts = Parts.of(hub, key, columns, gathered, cloudpickle.dumps)
    names = parts.names(frame.columns)
    # mapInArrow takes a dot in a name for a path.
    quoted = (f"`{name.replace('`', '``')}`" for name in names)
    chosen = frame.select(*(col(name).alias(f"c{i}") for i, name in enumerate(quoted)))
    return parts.report(_merged(chosen, names, parts))


def _merged(frame: DataFrame, names: list[str], parts: Parts) -> list[bytes]:
    """The parts of the partitions, many of them merged to one; `names` are those of the columns."""

    def measure(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        named = (batch.rename_columns(names) for batch in batches)
        yield _batch(context.partitionId() if context else 0, parts.measure(named))

    def merge(batches: Iterable[Any]) -> Iterator[Any]:
        merged = parts.merge(part for b in batches for part in b.column("partial").to_pylist())
        if merged is not None:
            yield _batch(0, merged)

    measured = frame.mapInArrow(measure, _SCHEMA)
    # Adaptive execution makes as few partitions of them as it finds right.
    try:
        with told_each_minute("Spark", lambda: _state(frame)):
            rows = measured.repartition("place").mapInArrow(merge, _SCHEMA).collect()
    # Of Spark's own, or of the bridge to Java.
    except Exception as error:
        if "worker" in str(error) and "crashed" in str(error):
            raise worker_died("Spark") from error
        raise
    return [bytes(row.partial) for row in rows]


def _state(frame: DataFrame) -> str:
    """How many tasks of the stages that run are done."""
    try:
        tracker = frame.sparkSession.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    # Of Spark Connect, which has no context.
    except Exception:  # noqa: BLE001  # of Spark's own, by how it is connected
        return "the rest is in Spark's own interface"
    done, total = (
        sum(getattr(s, n) for s in stages if s) for n in ("numCompletedTasks", "numTasks")
    )
    return f"{done} of {total} tasks are done"


def _batch(partition: int, part: bytes) -> Any:
    import pyarrow

    # The types of the schema to the bit.
    place = pyarrow.array([partition % WIDTH], pyarrow.int64())
    partial = pyarrow.array([part], pyarrow.binary())
    return pyarrow.RecordBatch.from_arrays([place, partial], names=["place", "partial"])
