"""Time and memory of eight metrics as the text grows, kept or streamed, in one process or two.

    python -m benchmarks.scale [--pairs 10000 --pairs 100000] [--workers 1] [-m bleu] [--no-kept]

Each run is a process of its own, which reads a file of JSON Lines. Memory is that of the scoring
process at its peak, beyond what it held before: the modules, and for a kept run the whole text.
A streamed run reads the file while it scores, so that its time includes reading, and gives its
intervals at the end.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import generated
from metrichub import Hub
from metrichub.data import files

METRICS = ("bleu", "chrf", "rouge", "ter", "meteor", "wer", "cer", "token_f1")
_DISTINCT = 20_000
_SMALL = {
    "predictions": ["There is a cat on the mat.", "Look! A wonderful day."],
    "references": ["The cat is playing on the mat.", "Today is a wonderful day."],
}


class Run(NamedTuple):
    """The work of one process: the metrics on a file, kept or streamed, with some workers."""

    path: str
    metrics: list[str]
    streamed: bool
    workers: int


class Cost(NamedTuple):
    """Seconds, and bytes of memory at the peak beyond those held before."""

    seconds: float
    memory: int


@click.command()
@click.option("--pairs", multiple=True, type=int, default=(10_000, 100_000, 1_000_000))
@click.option("--workers", multiple=True, type=int, default=(1, 2))
@click.option("-m", "--metric", "metrics", multiple=True, default=METRICS)
@click.option("--kept/--no-kept", default=True, help="Whether samples are kept, or only streamed.")
def main(
    pairs: tuple[int, ...], workers: tuple[int, ...], metrics: tuple[str, ...], keeps_samples: bool
) -> None:
    """Print one row a run, and what a small call takes."""
    title = f"{', '.join(metrics)}; pairs of 33 words"
    table = Table(
        *("pairs", "rows", "workers", "seconds", "µs/pair", "ratio", "peak MB"), title=title
    )
    with tempfile.TemporaryDirectory() as folder:
        for number in pairs:
            path = str(Path(folder, f"{number}.jsonl"))
            _write(path, number)
            for streamed in (False, True) if keeps_samples else (True,):
                runs = [Run(path, list(metrics), streamed, n) for n in workers]
                costs = [_in_process(run) for run in runs]
                for run, cost in zip(runs, costs, strict=True):
                    table.add_row(
                        *(f"{number:,}", "streamed" if streamed else "kept", str(run.workers)),
                        *(f"{cost.seconds:.1f}", f"{cost.seconds / number * 1e6:.0f}"),
                        *(f"{costs[0].seconds / cost.seconds:.2f}", f"{cost.memory / 1e6:.0f}"),
                    )
    console = Console(width=110)
    console.print(table)
    best, middle = (seconds * 1e3 for seconds in small_call())
    console.print(f"two sentences, bleu and rouge: best {best:.2f} ms, median {middle:.2f} ms")


def small_call(repeats: int = 300) -> tuple[float, float]:
    """The best and the median seconds of a call with two sentences, after a first one."""
    hub = Hub(metrics=["bleu", "rouge"])
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        hub(_SMALL)
        seconds.append(time.perf_counter() - start)
    return min(seconds), median(seconds[1:])


def measure(run: Run) -> Cost:
    """The cost of a run in this process."""
    hub = Hub(run.metrics)
    hub.evaluate(_SMALL)
    data = files.read_batches(run.path) if run.streamed else files.read_samples(run.path)
    before = _forget_peak()
    start = time.perf_counter()
    report = hub.evaluate(data, samples=not run.streamed, workers=run.workers)
    if run.streamed:
        report.intervals()
    return Cost(time.perf_counter() - start, peak() - before)


def _in_process(run: Run) -> Cost:
    command = [sys.executable, "-m", "benchmarks.scale", json.dumps(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return Cost(*json.loads(done.stdout))


def _write(path: str, number: int) -> None:
    corpus = generated(min(number, _DISTINCT))
    pairs = zip(corpus.predictions, corpus.references, strict=True)
    lines = [json.dumps({"prediction": p, "reference": r}) for p, r in pairs]
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in islice(cycle(lines), number))


def _forget_peak() -> int:
    """Start the peak anew where the system can (Linux); what is held now."""
    path = Path("/proc/self/clear_refs")
    if path.exists():
        path.write_text("5")
    return peak()


def peak() -> int:
    """The most bytes of memory that this process has held."""
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].startswith("["):
        print(json.dumps(measure(Run(*json.loads(sys.argv[1])))))
    else:
        main()
