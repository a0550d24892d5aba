"""Footprint: the modules that scoring with one metric loads, and the sockets that it opens."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from metrichub.catalog.requirements import required_names
from metrichub.testing.under_test import Broken, MetricUnderTest, hold

HEAVY = ("torch", "transformers", "openai", "tensorflow", "jax")


def nothing_heavy_loads(under_test: MetricUnderTest) -> None:
    """Heavy packages load only in scoring, only if required, and no socket opens."""
    scoring = _footprint(under_test.spec, under_test.columns)
    early = [name for name in HEAVY if name in scoring.imported]
    due = required_names(under_test.metric.requires())
    undue = [name for name in HEAVY if name in scoring.loaded and name not in due]
    hold(not scoring.opened, f"scoring opened a socket: {scoring.opened}")
    hold(not early, f"importing it loaded {', '.join(early)}")
    hold(not undue, f"scoring loaded {', '.join(undue)}, which isn't required")


class _Footprint(NamedTuple):
    """The modules and sockets of a process that scored with a metric and did nothing else.

    `imported` has the modules that were loaded before the metric scored anything.
    """

    imported: frozenset[str]
    loaded: frozenset[str]
    opened: Sequence[str]


def _footprint(metric: str, columns: Mapping[str, Sequence[Any]]) -> _Footprint:
    """The footprint of scoring some columns with a metric in a fresh process.

    Raises:
        Broken: scoring failed there.
    """
    ran = subprocess.run(
        [sys.executable, "-c", f"{inspect.getsource(_score)}\n\n_score()"],
        input=json.dumps([metric, columns]),
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(ran.stdout or f'{{"failed": "exit status {ran.returncode}"}}')
    if why := answer.get("failed"):
        raise Broken(f"scoring in a fresh process failed: {why}")
    return _Footprint(frozenset(answer["imported"]), frozenset(answer["loaded"]), answer["opened"])


def _score() -> None:
    """The program of that process, which has nothing else of this module.

    Its request comes from stdin, its answer goes to stdout; what a metric prints goes to stderr,
    and what it reads is empty.
    """
    import json
    import os
    import sys

    calls = ("connect", "bind", "getaddrinfo", "gethostbyname", "sendto", "sendmsg")
    sockets = {f"socket.{call}" for call in calls}
    opened: list[str] = []

    def note_sockets(event: str, arguments: tuple[object, ...]) -> None:
        # urllib3 binds this address as it is imported, to learn whether the machine speaks IPv6.
        if event in sockets and not (event == "socket.bind" and arguments[1] == ("::1", 0)):
            opened.append(event)

    metric, columns = json.load(sys.stdin)
    sys.addaudithook(note_sockets)
    scoring: dict[str, object]
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        from metrichub import Hub

        hub = Hub(metrics=metric)
        imported = sorted(sys.modules)
        hub(**columns)
        scoring = {"imported": imported, "loaded": sorted(sys.modules), "opened": opened}
    # Whatever ends a metric is the answer.
    except BaseException as error:  # noqa: BLE001
        scoring = {"failed": f"{type(error).__name__}: {error}"}
    answer.write(json.dumps(scoring))
    answer.flush()
