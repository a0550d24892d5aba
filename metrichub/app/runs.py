"""Runs: uploaded files on their way to a report; kept for a while in a temporary folder."""

from __future__ import annotations

import json
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from metrichub.app.fileworker import score_file
from metrichub.app.jobs import PROGRESS, FileJob, Summary, Upload
from metrichub.app.policy import Wanted
from metrichub.app.pool import Pool
from metrichub.app.problem import Problem, problem
from metrichub.app.refusal import Refusal
from metrichub.app.settings import ServerSettings
from metrichub.data.files import FORMATS, format_of
from metrichub.data.stream import PACKED, packed_suffix

State = Literal["waiting", "running", "done", "failed", "stopped"]


@dataclass
class Run:
    """Uploaded files that are scored together, and what became of them."""

    id: str
    client: str
    job: FileJob
    state: State = "waiting"
    summary: Summary | None = None
    refusal: Refusal | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.job.folder

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "failed", "stopped")

    def begin(self) -> None:
        """Note that a worker has taken it."""
        self.state = "running"

    def progress(self) -> dict[str, Any]:
        """How far it is: "samples" so far, "share" of the file if known, "writing" at the end."""
        try:
            found = json.loads((self.folder / PROGRESS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        return {"state": self.state, "samples": 0, "share": None, "writing": False, **found}


class Runs:
    """The runs of a server, in the order in which they came."""

    def __init__(self, settings: ServerSettings, folder: Path, tasks: TaskGroup) -> None:
        self.settings, self.folder, self._tasks = settings, folder, tasks
        # Not the workers of forms, so that these are still answered meanwhile.
        limits = settings.limits
        self.pool = Pool(limits.upload_workers, limits.runs, limits.memory)
        self._runs: dict[str, Run] = {}
        self._arriving: Counter[str] = Counter()

    def find(self, id: str) -> Run:
        """The run of an id.

        Raises:
            Problem: there is none, or no longer (404).
        """
        if id not in self._runs:
            raise problem(
                404,
                "UnknownRun",
                "there is no such run; the oldest are removed, and all at the end",
            )
        return self._runs[id]

    @contextmanager
    def place(self, client: str) -> Iterator[None]:
        """A place for a file of a client while it arrives; without one nothing of it is read.

        Raises:
            Problem: too many files of the client, or of all, arrive or haven't ended (503).
        """
        going = Counter(run.client for run in self._runs.values() if not run.ended)
        going += self._arriving
        most = self.settings.limits.runs
        if going[client] >= most or going.total() >= 2 * most:
            raise problem(
                503, "Busy", "too many files wait to be scored; try again later, or stop one"
            )
        self._arriving[client] += 1
        try:
            yield
        finally:
            self._arriving[client] -= 1

    async def begin(
        self,
        client: str,
        files: Sequence[tuple[str, BinaryIO]],
        metrics: Sequence[Wanted],
        mapping: Mapping[str, str],
        reduce: str | None,
    ) -> Run:
        """A run of uploaded files, each with its name; the first is the baseline.

        Raises:
            Problem: another kind of file (422).
        """
        formats = [_format(name) for name, _ in files]
        id = secrets.token_urlsafe(18)
        folder = self.folder / id
        folder.mkdir(mode=0o700)
        uploads = []
        for number, ((name, stream), (format, suffix)) in enumerate(
            zip(files, formats, strict=True)
        ):
            # Whatever the file is called, that name is only shown.
            path = folder / f"upload-{number}{suffix}"
            await to_thread.run_sync(_copy, stream, path)
            uploads.append(Upload(path, format, _short(name)))
        judging, limits = self.settings.judging, self.settings.limits
        job = FileJob(folder, tuple(uploads), metrics, mapping, reduce, judging, limits)
        run = self._runs[id] = Run(id, client, job)
        self._make_room(client)
        self._tasks.start_soon(self._work, run)
        return run

    def again(self, run: Run, mapping: Mapping[str, str]) -> None:
        """Score a run's files once more, with the columns named."""
        if run.ended:
            job = replace(run.job, mapping=dict(mapping))
            self._runs[run.id] = new = Run(run.id, run.client, job)
            (run.folder / PROGRESS).unlink(missing_ok=True)
            self._tasks.start_soon(self._work, new)

    def stop(self, run: Run) -> None:
        """End a run."""
        run.scope.cancel()

    def close(self) -> None:
        """End all worker processes."""
        self.pool.close()

    async def _work(self, run: Run) -> None:
        limit = self.settings.limits.upload_seconds
        with run.scope:
            try:
                run.summary = await self.pool.run(
                    score_file, run.job, client=run.client, seconds=limit, begun=run.begin
                )
                run.state = "done"
                for one in run.job.files:
                    one.path.unlink(missing_ok=True)
            except Problem as error:
                run.refusal, run.state = error.refusal, "failed"
        if run.scope.cancelled_caught:
            run.state = "stopped"
        run.over.set()

    def _make_room(self, client: str) -> None:
        """Remove what is too many: a client's own oldest runs, and only then those of all."""
        most = self.settings.limits.runs
        self._keep(most, [run for run in self._runs.values() if run.client == client])
        self._keep(2 * most, list(self._runs.values()))

    def _keep(self, most: int, runs: Sequence[Run]) -> None:
        ended = [run for run in runs if run.ended]
        for run in ended[: max(0, len(runs) - most)]:
            del self._runs[run.id]
            shutil.rmtree(run.folder, ignore_errors=True)


def accepted() -> list[str]:
    """What the names of files may end in."""
    return [f".{format}{packed}" for format in (*FORMATS, "ndjson") for packed in ("", *PACKED)]


def _format(name: str) -> tuple[str, str]:
    """What a file is by its name, and the suffix that says whether it is compressed."""
    format = format_of(name)
    if format is None:
        packed = " or ".join(PACKED)
        known = ", ".join(f".{one}" for one in FORMATS)
        said = f"the name has to end in {known}, each also with {packed}"
        raise problem(422, "FileError", f"{_short(name)}: {said}")
    return format, f".{format}{packed_suffix(name) or ''}"


def _copy(stream: BinaryIO, path: Path) -> None:
    with path.open("xb") as file:
        shutil.copyfileobj(stream, file)


def _short(name: str) -> str:
    """A file's name without folders, as far as one reads it."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c if c.isprintable() else "�" for c in last)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
