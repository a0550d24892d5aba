"""Time, memory and size of parts where samples lie on several machines: Ray and Spark beside one.

    python -m benchmarks.machines [--rows 100000] [--workers 1 --workers 2] [--engine ray] [-m bleu]

Each run is a process of its own that reads a folder of Parquet files, eight for any number of rows,
and prints its row as it ends. The engines start and score 16 rows before the clock runs. Memory is
that of the driver's Python process at its peak, and for one process all there is. A part is what a
worker hands on of a file.

At the end stands what 1e9 rows would take on a hundred machines, each as fast as this one with the
most workers that ran: the time is the rise from the smallest to the largest number of rows, so that
what every run takes is left out, and the driver holds the parts that are left of 1e5 rows each once
they were merged by 64. Nothing like it was run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console

from benchmarks.corpora import generated
from benchmarks.scale import METRICS, peak
from metrichub import Hub, bridges
from metrichub.bridges._parts import WIDTH

ENGINES = ("one process", "ray", "pyspark")
FILES = 8
TOTAL = 10**9
PART_ROWS = 100_000
_DISTINCT = 20_000


class Run(NamedTuple):
    """The work of one process."""

    folder: str
    engine: str
    workers: int
    metrics: list[str]


class Cost(NamedTuple):
    """Seconds, and bytes of the driver's memory at its peak."""

    seconds: float
    memory: int


class Part(NamedTuple):
    """Bytes of what a worker hands on of a file, and the seconds that it takes to merge it."""

    size: int
    merge: float


@click.command()
@click.option("--rows", multiple=True, type=int, default=(100_000, 1_000_000))
@click.option("--workers", multiple=True, type=int, default=(1, 2))
@click.option("--engine", "engines", multiple=True, type=click.Choice(ENGINES), default=ENGINES)
@click.option("-m", "--metric", "metrics", multiple=True, default=METRICS)
def main(
    rows: tuple[int, ...],
    workers: tuple[int, ...],
    engines: tuple[str, ...],
    metrics: tuple[str, ...],
) -> None:
    """Print one row a run, how large a part is, and an estimate for a hundred machines."""
    console, costs = Console(width=110), dict[tuple[str, int, int], Cost]()
    part = Part(0, 0.0)
    console.print(f"{', '.join(metrics)}: rows | engine | workers | seconds | µs/row | driver's MB")
    for number in sorted(rows):
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), number)
            part = _part(folder, list(metrics))
            for engine, count in product(engines, workers):
                cost = _in_process(Run(folder, engine, count, list(metrics)))
                costs[engine, count, number] = cost
                cells = (f"{number:,}", engine, str(count), f"{cost.seconds:.1f}")
                each = f"{cost.seconds / number * 1e6:.0f}", f"{cost.memory / 1e6:.0f}"
                console.print(f"| {' | '.join((*cells, *each))} |")
    console.print(
        f"a part has {part.size / 1000:.0f} kB, and takes {part.merge * 1000:.0f} ms to merge"
    )
    for engine in engines:
        if len(rows) > 1 and engine != "one process":
            few, many = (costs[engine, max(workers), n].seconds for n in (min(rows), max(rows)))
            slope = (many - few) / (max(rows) - min(rows))
            console.print(_estimate(engine, slope, part))


def _estimate(engine: str, each: float, part: Part) -> str:
    """The time of 1e9 rows on a hundred machines, from the seconds for each more row."""
    left = TOTAL / PART_ROWS / WIDTH
    return (
        f"{engine}, 1e9 rows on a hundred machines such as this: {TOTAL * each / 100 / 60:.0f} "
        f"minutes of measuring; {left:.0f} parts reach the driver, "
        f"{left * part.size / 1e6:.0f} MB, and take it {left * part.merge:.0f} seconds"
    )


def measure(run: Run) -> Cost:
    """The cost of a run in this process."""
    hub = Hub(run.metrics)
    score = {"one process": _alone, "ray": _ray, "pyspark": _spark}[run.engine](run)
    score(hub, str(Path(run.folder, "few")))
    start = time.perf_counter()
    score(hub, str(Path(run.folder, "all")))
    return Cost(time.perf_counter() - start, peak())


Score = Callable[[Hub, str], Any]


def _alone(run: Run) -> Score:
    import pyarrow.dataset

    return lambda hub, path: hub.evaluate(
        pyarrow.dataset.dataset(path), samples=False, key="id", workers=run.workers
    )


def _ray(run: Run) -> Score:
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
    # As the workers of the others have: Ray gives its own a low priority.
    os.environ.update(RAY_worker_niceness="0")
    import ray

    _started(run.workers)
    ray.data.DataContext.get_current().enable_progress_bars = False

    def score(hub: Hub, path: str) -> Any:
        # Ray would put small files into one block, which one worker measures.
        dataset = ray.data.read_parquet(path, override_num_blocks=FILES)
        return bridges.ray.evaluate_dataset(hub, dataset)

    return score


def _started(workers: int) -> None:
    """Start Ray, which gives up after 30 seconds on a busy machine, whatever it is told."""
    import ray

    for left in reversed(range(3)):
        try:
            ray.init(
                num_cpus=workers, object_store_memory=500_000_000, include_dashboard=False,
                log_to_driver=False, configure_logging=False,
            )  # fmt: skip
            return
        # Of no type of its own.
        except Exception as error:
            if not left or "timed out during startup" not in str(error):
                raise
            ray.shutdown()


def _spark(run: Run) -> Score:
    os.environ.update(PYSPARK_PYTHON=sys.executable, OPENBLAS_NUM_THREADS="1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{run.workers}]")
    for name in ("bindAddress", "host"):
        builder = builder.config(f"spark.driver.{name}", "127.0.0.1")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return lambda hub, path: bridges.pyspark.evaluate_dataframe(hub, session.read.parquet(path))


def _write(folder: Path, number: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    corpus = generated(min(number, _DISTINCT))
    pairs = cycle(zip(corpus.predictions, corpus.references, strict=True))
    for name, total in (("few", 16), ("all", number)):
        (folder / name).mkdir()
        for file in range(FILES):
            result = list(islice(pairs, total // FILES))
            ids = [f"{file}-{i}" for i in range(len(result))]
            columns = {
                "id": ids,
                "prediction": [p for p, _ in result],
                "reference": [r for _, r in result],
            }
            parquet.write_table(pa.table(columns), folder / name / f"{file}.parquet")


def _part(folder: str, metrics: list[str]) -> Part:
    import pickle

    from pyarrow import parquet

    from metrichub.bridges._parts import Parts

    parts = Parts.of(metrics, "id", None, 10**9, pickle.dumps)
    batches = parquet.read_table(Path(folder, "all", "0.parquet")).to_batches()
    measurement = parts.measure(batches)
    start = time.perf_counter()
    parts.merge([measurement] * WIDTH)
    return Part(len(measurement), (time.perf_counter() - start) / WIDTH)


def _in_process(run: Run) -> Cost:
    command = [sys.executable, "-m", "benchmarks.machines", json.dumps(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"{done.stderr[-2000:]}\n{run.engine} with {run.workers} workers"
        raise SystemExit(f"{message} ended with {_why(done.returncode)}")
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


def _why(code: int) -> str:
    """The cause in an exit status: a process that was killed says nothing itself."""
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"status {code}"


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].startswith("["):
        print(json.dumps(measure(Run(*json.loads(sys.argv[1])))))
    else:
        main()
