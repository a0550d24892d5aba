"""Footprint: the modules that scoring with one metric loads, and the sockets that it opens."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.testing.under_test import Broken

# On macOS a fork may not use the system's libraries, and numpy calculates with one of them.
FORKS = hasattr(os, "fork") and sys.platform != "darwin"
_PROGRAM = Path(__file__).with_name("scoring_process.py").read_text(encoding="utf-8")


class Footprint(NamedTuple):
    """What scoring left in a process that had imported nothing but the hub.

    `imported` is what was there when the metric was made, before it scored anything.
    """

    imported: frozenset[str]
    loaded: frozenset[str]
    opened: Sequence[str]


def footprint(metric: str, columns: Mapping[str, Sequence[Any]]) -> Footprint:
    """What scoring some columns with a metric, and nothing else, loads and opens.

    Raises:
        Broken: scoring failed there.
    """
    answer = _answer(json.dumps([dict(os.environ), metric, columns]))
    if why := answer.get("failed"):
        raise Broken(f"scoring in a fresh process failed: {why}")
    return Footprint(frozenset(answer["imported"]), frozenset(answer["loaded"]), answer["opened"])


def _answer(request: str) -> dict[str, Any]:
    """The answer of a clean process, which then waits for the next request where it can fork.

    A request that is broken off leaves no process behind to answer the next one.
    """
    python = {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
    start = (os.getcwd(), *sorted(python.items()))
    process = _waiting.pop(start, None)
    if process is None:
        _end_waiting()
        process = _started()
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        answer = ""
    if answer and FORKS:
        _waiting[start] = process
    else:
        _end(process)
    return dict(json.loads(answer or f'{{"failed": "exit status {process.returncode}"}}'))


def _started() -> subprocess.Popen[str]:
    # A process that forks should have one thread; numpy's library for matrices would start more.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *(["fork"] if FORKS else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )


def _end(process: subprocess.Popen[str]) -> None:
    with process:
        process.communicate()


# At most one, under what decides what a new interpreter finds: the folder, Python's variables.
_waiting: dict[object, subprocess.Popen[str]] = {}


@atexit.register
def _end_waiting() -> None:
    while _waiting:
        _, process = _waiting.popitem()
        # Not by the end of its input, which a fork of this process may hold open.
        process.kill()
        _end(process)
