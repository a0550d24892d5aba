"""The losses of a paid run that is killed, and of one with a fifth of faulty replies.

    python -m benchmarks.kills [--samples 200] [--seed 1]

`metrichub score` asks a server on loopback for four metrics, 16 calls at a time. It is sent a
signal once half of the answers are out, and started again twice: the second run should pay for what
was in flight again, at most, and the third for nothing. Then the server misbehaves in all the ways
of `tests/judge_faults.py`: every score is there, or its absence has a named cause.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from metrichub import Hub
from metrichub.models.resolve import judge_of
from tests.judge_faults import RandomFaults
from tests.judge_stub import Asked, Reply, Stub, answer, completion, serving

METRICS = ("faithfulness", "hallucination", "context_utilization", "answer_relevancy")
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
_DELAY = 0.02
"""Seconds that an answer takes, so that calls are in flight as the signal comes."""


@click.command()
@click.option("--samples", default=200, show_default=True, help="Each has a score by each metric.")
@click.option("--seed", default=1, show_default=True, help="Of the faults.")
def main(samples: int, seed: int) -> None:
    """Print a table of the kills, and what the faults came to."""
    os.environ["OPENAI_API_KEY"] = "sk-none"
    console = Console(width=120)
    head = ("signal", "status", "answers", "asked before it", "asked again", "third run")
    table = Table(*head, title=f"{samples * len(METRICS)} scores")
    for number in SIGNALS:
        table.add_row(number.name, *map(str, killed(samples, number)))
    console.print(table)
    for line in faulty(samples, seed):
        console.print(line)


def killed(samples: int, number: signal.Signals) -> tuple[int, int, int, int, int]:
    """The exit status, and requests: of a whole run, before the signal, paid twice, and later."""
    with tempfile.TemporaryDirectory() as folder, serving() as stub:
        stub.always = slow
        expected = run(stub, Path(folder, "whole"), samples).wait()
        if expected:
            raise SystemExit(f"an undisturbed run ends with {expected}")
        needed = len(stub.asked)
        stub.asked.clear()
        victim: list[subprocess.Popen[bytes]] = []
        ready = threading.Event()

        def deadly(asked: Asked) -> Reply:
            if len(stub.asked) == needed // 2:
                ready.wait()
                victim[0].send_signal(number)
            return slow(asked)

        stub.always = deadly
        victim.append(run(stub, Path(folder, "killed"), samples))
        ready.set()
        status = victim[0].wait()
        first = Counter(json.dumps(asked.body) for asked in stub.asked)
        stub.asked.clear()
        stub.always = slow
        run(stub, Path(folder, "killed"), samples).wait()
        again = sum(json.dumps(asked.body) in first for asked in stub.asked)
        stub.asked.clear()
        run(stub, Path(folder, "killed"), samples).wait()
        return status, needed, first.total(), again, len(stub.asked)


def faulty(samples: int, seed: int) -> list[str]:
    """The outcome of a run against a server with a fifth of bad replies, in lines."""
    with tempfile.TemporaryDirectory() as folder, serving() as stub:
        os.environ["METRICHUB_CACHE"] = folder
        faults = stub.always = RandomFaults(seed)
        judge = f"openai(model='stub', base_url={stub.url!r}, timeout=5.0)"
        report = Hub(METRICS, judge=judge, embedder="offline").evaluate(columns(samples))
    causes: Counter[str] = Counter()
    scored = lost = unnamed = 0
    for name, outputs in report.samples().items():
        scored += int(np.isfinite(outputs["score"]).sum())
        statuses = [report.explain(name, i) for i in range(samples)]
        lost += sum(status.status in ("unscored", "unanswered") for status in statuses)
        unnamed += sum(status.status != "ok" and not status.reason for status in statuses)
        causes.update(report.traces[name].errors_by_cause)
    who = judge_of(judge).label
    return [
        f"{faults.injected.total()} of {faults.asked.total()} replies were faults of "
        f"{len(faults.injected)} kinds: {scored} scores, {lost} unscored or unanswered, "
        f"{causes.total()} errors, {unnamed} without a reason; {report.usage}",
        *(f"  {n} x {cause.removeprefix(who)[:80]}" for cause, n in causes.most_common()),
    ]


def slow(asked: Asked) -> Reply:
    """The right answer, after a moment."""
    time.sleep(_DELAY)
    return completion(json.dumps(answer(asked)))


def run(stub: Stub, folder: Path, samples: int) -> subprocess.Popen[bytes]:
    """The command line, scoring in a process of its own."""
    folder.mkdir(exist_ok=True)
    texts, table = columns(samples), folder / "in.jsonl"
    rows = [{name: column[i] for name, column in texts.items()} for i in range(samples)]
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    judge = f"openai(model='stub', base_url={stub.url!r})"
    metrics = [word for name in METRICS for word in ("-m", name)]
    command = [sys.executable, "-m", "metrichub", "score", str(table), *metrics]
    return subprocess.Popen(
        [*command, "--judge", judge, "--embedder", "offline"],
        env=os.environ | {"METRICHUB_CACHE": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def columns(samples: int) -> dict[str, list[Any]]:
    """Answers of two claims, of which the server calls the second unsupported."""
    return {
        "predictions": [f"Claim {i}. This is unsupported {i}." for i in range(samples)],
        "contexts": [[f"Passage {i}. More of it {i}."] for i in range(samples)],
        "sources": [f"Passage {i}. More of it {i}." for i in range(samples)],
        "questions": [f"What is claim {i}?" for i in range(samples)],
    }


if __name__ == "__main__":
    main()
