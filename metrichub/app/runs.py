"""Runs: uploaded files that are scored, and those that the archive keeps."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from metrichub.app.archive import Archive, RunRecord
from metrichub.app.jobs import PROGRESS, FileJob, Upload
from metrichub.app.policy import RequestedMetric
from metrichub.app.pool import Pool
from metrichub.app.problem import Problem, problem
from metrichub.app.settings import ServerSettings
from metrichub.app.worker_tasks import columns_of, score_file
from metrichub.data.files import format_of, formats
from metrichub.data.source import PACKED, packed_suffix


@dataclass
class Run:
    """Uploaded files that are scored together, and what became of them."""

    record: RunRecord
    job: FileJob
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)

    @property
    def is_repeatable(self) -> bool:
        """Whether its files are still there to be scored once more."""
        return self.record.ended and all(file.path.is_file() for file in self.job.files)

    def progress(self) -> dict[str, Any]:
        """How far it is: "samples" so far, "share" of the files if known, "writing" at the end."""
        try:
            progress = json.loads((self.job.folder / PROGRESS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            progress = {}
        state = {
            "state": self.record.state,
            "samples": 0,
            "share": None,
            "writing": False,
            **progress,
        }
        return state | ({"writing": False} if self.record.ended else {})


class Runs:
    """The runs of a server: those in hand, and those in the archive."""

    def __init__(self, settings: ServerSettings, archive: Archive, tasks: TaskGroup) -> None:
        self.settings, self.archive, self._tasks = settings, archive, tasks
        # Not the workers of forms, so that these are still answered meanwhile.
        limits = settings.limits
        self.pool = Pool(limits.upload_workers, limits.uploads, limits.memory)
        self._active: dict[str, Run] = {}
        self._arriving: Counter[str] = Counter()

    async def columns(self, client: str, name: str, stream: BinaryIO) -> tuple[str, ...]:
        """The columns of an uploaded file, which isn't kept.

        Raises:
            Problem: another kind of file, or one that can't be read (422); it took too long (503).
        """
        limits = self.settings.limits
        suffix = suffix_of(name)
        with TemporaryDirectory(prefix="metrichub-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / f"upload{suffix}"
            await to_thread.run_sync(_copy, stream, path)
            file = Upload(path, format_of(path.name) or "", short_name(name))
            return await self.pool.run(
                columns_of, file, limits.unpacked, client=client, seconds=limits.seconds
            )

    def find(self, id: str) -> Run:
        """The run of an id.

        Raises:
            Problem: there is none, or no longer (404).
        """
        if id in self._active:
            return self._active[id]
        record = self.archive.find(id)
        if record is None:
            raise problem(404, "UnknownRun", "there is no such run; it was deleted or expired")
        return Run(record, self._job(record))

    def of(self, client: str) -> list[RunRecord]:
        """The runs that a client began, the newest first."""
        return [record for record in reversed(self.archive.all()) if record.client == client]

    @contextmanager
    def reserve(self, client: str) -> Iterator[None]:
        """A place for files of a client while they arrive; without one nothing of them is read.

        Raises:
            Problem: too many of the client, or of all, arrive or haven't ended (503).
        """
        active = Counter(run.record.client for run in self._active.values())
        active += self._arriving
        most = self.settings.limits.uploads
        if active[client] >= most or active.total() >= 2 * most:
            raise problem(503, "Busy", "too many files are waiting; try again later, or stop one")
        self._arriving[client] += 1
        try:
            yield
        finally:
            self._arriving[client] -= 1

    async def begin(
        self,
        client: str,
        files: Sequence[tuple[str, BinaryIO]],
        metrics: Sequence[str],
        mapping: Mapping[str, str],
        reduce: str | None,
    ) -> Run:
        """A run of uploaded files, each with its name; the first is the baseline.

        Raises:
            Problem: another kind of file (422).
        """
        uploads = tuple((suffix_of(name), short_name(name)) for name, _ in files)
        id, folder = self.archive.new()
        record = RunRecord(
            id, client, self.archive.server, datetime.now(UTC), "", uploads, tuple(metrics),
            dict(mapping), reduce,
        )  # fmt: skip
        job = self._job(record)
        record = replace(record, title=job.title)
        self.archive.write(record)
        try:
            for file, (_, stream) in zip(job.files, files, strict=True):
                await to_thread.run_sync(_copy, stream, file.path)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return self._start(Run(record, job))

    def rerun(self, run: Run, mapping: Mapping[str, str]) -> None:
        """Score a run's files once more, with the columns named."""
        if run.is_repeatable:
            record = replace(
                run.record,
                state="waiting",
                mapping=dict(mapping),
                server=self.archive.server,
                summary=None,
                refusal=None,
            )
            (run.job.folder / PROGRESS).unlink(missing_ok=True)
            self.archive.write(record)
            self._start(Run(record, replace(run.job, mapping=dict(mapping))))

    async def delete(self, run: Run) -> None:
        """Delete a run; one in hand is ended first.

        Raises:
            Problem: another server has it in hand (409).
        """
        if run.record.id in self._active:
            run.scope.cancel()
            await run.over.wait()
        elif not run.record.ended:
            raise problem(409, "Busy", "another server is scoring these files; stop it there")
        await to_thread.run_sync(self.archive.remove, run.record.id)

    def delete_ended(self, client: str) -> int:
        """Delete the runs of a client that have ended; how many these were."""
        ended = [record for record in self.of(client) if record.ended]
        for record in ended:
            self.archive.remove(record.id)
        return len(ended)

    def close(self) -> None:
        """End all worker processes."""
        self.pool.close()

    def _start(self, run: Run) -> Run:
        self._active[run.record.id] = run
        self._make_room(run.record.client)
        self._tasks.start_soon(self._work, run)
        return run

    async def _work(self, run: Run) -> None:
        limit, client = self.settings.limits.upload_seconds, run.record.client
        try:
            with run.scope:
                try:
                    summary = await self.pool.run(
                        score_file,
                        run.job,
                        client=client,
                        seconds=limit,
                        begun=lambda: self._note(run, state="running"),
                    )
                    for file in run.job.files:
                        file.path.unlink(missing_ok=True)
                    self._note(run, state="done", summary=summary)
                except Problem as error:
                    self._note(run, state="failed", refusal=error.refusal)
            if run.scope.cancelled_caught:
                self._note(run, state="stopped")
        finally:
            del self._active[run.record.id]
            run.over.set()
        self._make_room(client)

    def _note(self, run: Run, **new: Any) -> None:
        run.record = replace(run.record, **new)
        self.archive.write(run.record)

    def _job(self, record: RunRecord) -> FileJob:
        """The job of a record; where its files are is said by their numbers."""
        folder = self.archive.folder / record.id
        files = [
            Upload(folder / f"upload-{i}{_known(suffix)}", format_of(f"_{suffix}") or "", shown)
            for i, (suffix, shown) in enumerate(record.files)
        ]
        return FileJob(
            folder,
            tuple(files),
            [RequestedMetric(metric) for metric in record.metrics],
            record.mapping,
            record.reduce,
            self.settings.judging,
            self.settings.limits,
        )

    def _make_room(self, client: str) -> None:
        """Delete what is too much: a client's own oldest runs, and only then those of all."""
        limits, records = self.settings.limits, self.archive.all()
        own = [record for record in records if record.client == client]
        gone = self._prune(own, limits.runs, limits.runs_bytes)
        rest = [record for record in records if record.id not in gone]
        self._prune(rest, 2 * limits.runs, 2 * limits.runs_bytes)

    def _prune(self, records: Sequence[RunRecord], most: int, most_bytes: int) -> set[str]:
        """Delete the oldest until no more are left than that; the newest stays in any case."""
        sizes = {record.id: self.archive.size(record.id) for record in records}
        count, total, gone = len(records), sum(sizes.values()), set()
        for record in records[:-1]:
            if record.ended and (count > most or total > most_bytes):
                self.archive.remove(record.id)
                count, total = count - 1, total - sizes[record.id]
                gone.add(record.id)
        return gone


def accepted() -> list[str]:
    """What the names of files may end in."""
    return [f".{format}{packed}" for format in (*formats(), "ndjson") for packed in ("", *PACKED)]


def suffix_of(name: str) -> str:
    """What a file's name says that it is: ".jsonl", or ".csv.gz".

    Raises:
        Problem: nothing that can be read (422).
    """
    format = format_of(name)
    if format is None:
        packed = " or ".join(PACKED)
        known = ", ".join(f".{suffix}" for suffix in formats())
        allowed = f"the name has to end in {known}, each also with {packed}"
        raise problem(422, "FileError", f"{short_name(name)}: {allowed}")
    return f".{format}{packed_suffix(name) or ''}"


def short_name(name: str) -> str:
    """A file's name without folders, as far as one reads it."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c if c.isprintable() else "�" for c in last)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _known(suffix: str) -> str:
    """A suffix that a record has; whoever wrote another into it leads nowhere."""
    return suffix if suffix in accepted() else ".none"


def _copy(stream: BinaryIO, path: Path) -> None:
    # A file that is only half there when the server ends isn't scored later.
    arriving = path.with_suffix(".part")
    with arriving.open("xb") as file:
        shutil.copyfileobj(stream, file)
    arriving.rename(path)
