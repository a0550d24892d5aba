"""The settings of a server: its judge, who may call it, and how much a request may ask."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from metrichub import Card
from metrichub.authoring import embedder_of, judge_of

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

    def asks_model(self, card: Card) -> bool:
        """Whether a metric of this card would ask a model, as its judge or its embedder."""
        judge = judge_of(self.judge) if card.judge else None
        embedder = embedder_of(self.embedder) if card.embedder else None
        asked = [service for service in (judge, embedder) if service is not None]
        return any(getattr(service, "is_model", True) for service in asked)


@dataclass(frozen=True)
class ServerLimits:
    """How much a request may ask, and how many are answered at a time.

    Attributes:
        body: Bytes of a form or of JSON.
        upload: Bytes of the uploaded files of a run, all together.
        unpacked: Bytes of each of them once it is unpacked.
        systems: Files of a run, which are compared.
        seconds: How long a request may be scored.
        upload_seconds: How long a run may take.
        memory: Bytes of memory that a process may have which scores, where the system can hold it
            to that; Linux can.
        workers: Processes that score requests, and as many that score runs.
        waiting: Requests that may wait for a process, and as many runs.
        runs: Runs that are kept; the oldest go first.
        runs_bytes: Bytes that they may take.
    """

    body: int = 4 * MEBIBYTE
    upload: int = 100 * MEBIBYTE
    unpacked: int = 1024 * MEBIBYTE
    systems: int = 10
    seconds: float = 30
    upload_seconds: float = 3600
    memory: int = 4096 * MEBIBYTE
    workers: int = max(2, min(4, os.cpu_count() or 2))
    waiting: int = 50
    runs: int = 200
    runs_bytes: int = 4096 * MEBIBYTE


@dataclass(frozen=True)
class ServerSettings:
    """A server's settings.

    Attributes:
        judging: The judge and the embedder.
        public: Whether it can be reached from other machines; then any IP address may stand in a
            request's `Host`, as no foreign name can be made to mean it.
        hosts: The names by which it may be called, beside `localhost`.
        limits: How much a request may ask.
        folder: Where runs are kept; without one they go with the server.
    """

    judging: Judging = field(default_factory=Judging)
    public: bool = False
    hosts: tuple[str, ...] = ()
    limits: ServerLimits = field(default_factory=ServerLimits)
    folder: Path | None = None
