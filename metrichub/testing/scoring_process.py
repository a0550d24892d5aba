"""The program that `footprint` talks to: scores with one metric at a time, and tells what loaded.

Run from its source, in a process that has imported nothing else: each line that it reads is a
request, each line that it writes an answer. Asked to fork, it answers each from a fork of itself.
"""

from __future__ import annotations

import json
import os
import sys

SOCKETS = tuple(
    f"socket.{what}"
    for what in ("connect", "bind", "getaddrinfo", "gethostbyname", "sendto", "sendmsg")
)
# urllib3 binds this address as it is imported, to learn whether the machine speaks IPv6.
PROBE = ("::1", 0)
opened: list[str] = []


def answer_requests(forks: bool) -> None:
    """Answer every request; what a metric prints goes to stderr, what it reads is empty."""
    sys.addaudithook(note_sockets)
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if forks:
        warm()
    for request in requests:
        print(forked(request) if forks else scored(request), file=answers, flush=True)


def note_sockets(event: str, arguments: tuple[object, ...]) -> None:
    """Note an event of the interpreter that reaches out, or waits for who reaches in."""
    if event in SOCKETS and not (event == "socket.bind" and arguments[1] == PROBE):
        opened.append(event)


def warm() -> None:
    """Import what every metric needs, once for all forks."""
    try:
        from metrichub import Hub  # noqa: F401
    # Each fork meets the error again, and answers with it.
    except Exception:  # noqa: BLE001
        return


def forked(request: str) -> str:
    """The answer of a fork, so that no metric finds what another one loaded."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as answer:
            answer.write(scored(request))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        reply = answer.read()
    _, status = os.waitpid(child, 0)
    died = {"failed": f"exit status {os.waitstatus_to_exitcode(status)}"}
    return reply or json.dumps(died)


def scored(request: str) -> str:
    """What scoring with a metric loaded and opened, or how it failed."""
    environment, metric, columns = json.loads(request)
    os.environ.clear()
    os.environ.update(environment)
    try:
        from metrichub import Hub

        hub = Hub(metrics=metric)
        imported = sorted(sys.modules)
        hub(**columns)
    # Whatever ends a metric is the answer of its fork.
    except BaseException as error:  # noqa: BLE001
        return json.dumps({"failed": f"{type(error).__name__}: {error}"})
    return json.dumps({"imported": imported, "loaded": sorted(sys.modules), "opened": opened})


if __name__ == "__main__":
    answer_requests(forks="fork" in sys.argv[1:])
