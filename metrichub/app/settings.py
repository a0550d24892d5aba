"""What a server was started with: its judge, who may call it, and how much a request may ask."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from metrichub.authoring import judge_of

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Judging:
    """The judge and the embedder of every metric that asks one; clients can't choose others.

    Without one the metrics that ask it are closed.
    """

    judge: str | None = None
    embedder: str | None = None

    @property
    def has_model(self) -> bool:
        """Whether there is a judge and it is a model, by what it says of itself."""
        return self.judge is not None and bool(getattr(judge_of(self.judge), "is_model", True))


@dataclass(frozen=True)
class ServerLimits:
    """How much one request may ask, and how many of one client's are answered at a time.

    Attributes:
        body: Bytes of a form or of JSON.
        upload: Bytes of the uploaded files of a run, all together.
        unpacked: Bytes of each of them once it is unpacked.
        systems: Files of a run, which are compared.
        samples: Samples of a request.
        characters: Characters of all its texts together; a text counts one more than it has.
        rows: Rows that a metric may see of a request, or of a batch of a file: a sample with 2
            predictions and 3 references has 6.
        metrics: Metrics of a request.
        seconds: How long a request may be scored.
        upload_seconds: How long a file may be scored.
        memory: Bytes of memory that a process may have which scores, where the system can hold it
            to that; Linux can.
        waiting: Requests of a client that may wait for a worker; twice as many of all.
        workers: Processes that score requests of a client; there is one more for others.
        upload_workers: Likewise for files.
        uploads: Runs of a client that may wait or be scored at a time; twice as many of all.
        runs: Runs of a client that are kept; twice as many of all. The oldest go first.
        runs_bytes: Bytes that the runs of a client take; twice as many of all.
    """

    body: int = 4 * MEBIBYTE
    upload: int = 100 * MEBIBYTE
    unpacked: int = 1024 * MEBIBYTE
    systems: int = 10
    samples: int = 10_000
    characters: int = 2_000_000
    rows: int = 1_000_000
    metrics: int = 50
    seconds: float = 30
    upload_seconds: float = 3600
    memory: int = 4096 * MEBIBYTE
    waiting: int = 100
    workers: int = max(2, min(4, os.cpu_count() or 2))
    upload_workers: int = 2
    uploads: int = 20
    runs: int = 100
    runs_bytes: int = 2048 * MEBIBYTE


@dataclass(frozen=True)
class ServerSettings:
    """A server's settings.

    Attributes:
        judging: The judge and the embedder.
        public: Whether it can be reached from other machines; then any IP address may stand in a
            request's `Host`, as no foreign name can be made to mean it.
        hosts: The names by which it may be called, beside `localhost`.
        limits: How much one request may ask.
        folder: Where runs are kept; without one they go with the server.
        proxies: Addresses and networks of proxies that are believed who calls.
    """

    judging: Judging = field(default_factory=Judging)
    public: bool = False
    hosts: tuple[str, ...] = ()
    limits: ServerLimits = field(default_factory=ServerLimits)
    proxies: tuple[str, ...] = ()
    folder: Path | None = None
