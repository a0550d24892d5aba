"""Judge metrics beside those of ragas and deepeval: whether numbers agree, and what a run takes.

    python -m benchmarks.judges [--samples 200] [--passages 1 --passages 3] [--repeats 3]

First the arithmetic: all tools get the same verdicts, drawn at random, through models that return
given objects. Then the speed: a server on loopback answers 16 calls at a time, each after 50 ms,
and each tool scores the samples with three metrics, in a process of its own, with telemetry off.
The tools take turns, and the fastest of the repeats counts. They need
`pip install '.[bench-judges]'`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks.judge_rivals import Case
from benchmarks.judge_speed import TOOLS, Cost, Run
from benchmarks.judge_twins import TWINS

_QUIET = {
    "RAGAS_DO_NOT_TRACK": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "OPENAI_API_KEY": "sk-none",
}
_ROOT = Path(__file__).resolve().parents[1]


@click.command()
@click.option("--cases", default=200, show_default=True, help="Draws of verdicts.")
@click.option("--samples", default=200, show_default=True, help="Samples of a timed run.")
@click.option("--passages", multiple=True, type=int, default=(1, 3, 5), show_default=True)
@click.option("--workers", default=16, show_default=True, help="Calls that are answered at a time.")
@click.option("--delay", default=0.05, show_default=True, help="Seconds that an answer takes.")
@click.option("--repeats", default=3, show_default=True, help="Runs; the fastest counts.")
@click.option("--only", multiple=True, type=click.Choice(list(TOOLS)), help="Only these tools.")
def main(
    cases: int,
    samples: int,
    passages: tuple[int, ...],
    workers: int,
    delay: float,
    repeats: int,
    only: tuple[str, ...],
) -> None:
    """Print how far the numbers lie apart, and what a run takes of each tool."""
    os.environ.update(_QUIET)
    console = Console(width=140)
    tools = ("openai", "ragas", "deepeval")
    console.print(", ".join(f"{tool} {version(tool)}" for tool in tools))
    if cases:
        console.print(_numbers(cases))
    for number in passages:
        title = f"{samples} samples of {number} passages, {workers} calls at a time of {delay:g} s"
        table = Table(
            *("tool", "calls", "of them for vectors", "seconds", "computing", "most at a time"),
            *("calls, ours/theirs", "seconds, ours/theirs", "computing, ours/theirs"),
            title=f"{title}, best of {repeats}",
        )
        with _served(delay, workers) as url:
            runs = {
                name: Run(name, url, samples, number, workers)
                for name in TOOLS
                if not only or name in only
            }
            # In turn, as other work on the machine would else meet one tool and not the other.
            costs = [{name: _in_process(run) for name, run in runs.items()} for _ in range(repeats)]
        lowest = {name: min(cost[name] for cost in costs) for name in runs}
        for name, cost in lowest.items():
            mine = lowest.get("metrichub", cost)
            table.add_row(
                *(name, str(cost.calls), str(cost.embeddings), f"{cost.seconds:.1f}"),
                *(f"{cost.computing:.1f}", str(cost.most)),
                *(f"{mine.calls / cost.calls:.2f}", f"{mine.seconds / cost.seconds:.2f}"),
                f"{mine.computing / cost.computing:.2f}",
            )
        console.print(table)


def _numbers(cases: int) -> Table:
    """How far our numbers lie from theirs, at most."""
    table = Table(
        *("metrichub", "tool", "its metric", "difference", "remark"),
        title=f"The same verdicts, {cases} draws: the largest difference",
    )
    drawn = [Case.drawn(seed) for seed in range(cases)]
    # deepeval leaves files where it runs.
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        for twin in TWINS:
            difference = max(abs(twin.score(case) - twin.expected(case)) for case in drawn)
            table.add_row(twin.ours, twin.package, twin.theirs, f"{difference:.1g}", twin.remark)
    return table


def _in_process(run: Run) -> Cost:
    """A run in a process of its own, with a call store of its own."""
    command = [sys.executable, "-m", "benchmarks.judge_speed", json.dumps(run)]
    with tempfile.TemporaryDirectory() as folder:
        paths = {"METRICHUB_CACHE": folder, "PYTHONPATH": str(_ROOT)}
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**os.environ, **paths},
        )
    if done.returncode:
        raise SystemExit(done.stderr)
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


@contextmanager
def _served(delay: float, slots: int) -> Iterator[str]:
    """The address of a running server."""
    command = [sys.executable, "-m", "benchmarks.judge_server"]
    command += ["--delay", str(delay), "--slots", str(slots)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    main()
