"""Which logs of other tools are in a folder, or in a file, and whose they are."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrichub.data.files import format_of, read_log
from metrichub.data.location import short_names
from metrichub.data.readers import Log, known_logs
from metrichub.errors import FileError, listed

note = logging.getLogger("metrichub").warning
"""Says what was left out; the command line prints it as a note."""


@dataclass(frozen=True, eq=False)
class SystemLog:
    """A log, or the samples in it that are one system's."""

    log: Log
    system: str
    where: Mapping[str, Any]


def no_logs(path: str, elsewhere: bool) -> str:
    """Why no numbers can be taken from a path."""
    readable = f"metrichub reads those of {known_logs()}"
    if os.path.isdir(path):
        return f"there are no logs in {path} ({readable})"
    name = Path(path).name
    if not elsewhere and (date := re.fullmatch(r"results_(.+)\.json", name)):
        for samples in sorted(Path(path).parent.glob(f"samples_*_{date[1]}.jsonl")):
            return f"{path} has no samples; they are beside it: give {samples}, or the folder"
    what = "isn't a file on this machine, as logs have to be" if elsewhere else "isn't a log"
    return f"{path} {what} ({readable}); name the column of numbers: -m \"recorded(column='acc')\""


def logs_of(path: str, as_recorded: bool, how: Mapping[str, Any]) -> dict[str, list[SystemLog]]:
    """The logs of each system in a folder or a file, in the order of tasks; none if it has none.

    `how` says how a file is read.

    Of several logs of a system about one task, the last by name counts, as names hold dates; the
    others are named in a warning.
    """
    by_system: dict[str, dict[str, SystemLog]] = {}
    for log in _logs(Path(path), as_recorded, how):
        unnamed = os.path.relpath(log.path, path) if os.path.isdir(path) else path
        # A log without a model is named after its file.
        for system, where in (log.systems or {log.model or unnamed: {}}).items():
            part = SystemLog(log, system, where)
            tasks = by_system.setdefault(system, {})
            if before := tasks.get(log.task or ""):
                about = f"{system} about {log.task or 'the same'}"
                note(f"{before.log.path} is left out, as {log.path} is a later log of {about}")
            tasks[log.task or ""] = part
    names = sorted(by_system)
    short = dict(zip(names, short_names(names, alone=len(names) < 2), strict=True))
    return {
        short[name]: [by_system[name][task] for task in sorted(by_system[name])] for name in names
    }


def _logs(path: Path, as_recorded: bool, how: Mapping[str, Any]) -> Iterator[Log]:
    if path.is_dir():
        yield from _in_folder(path, as_recorded)
        return
    try:
        log = read_log(path, **how)
    except FileError as error:
        # It may be a saved report, or JSON of another format that an option names.
        if format_of(path) != "json" or (as_recorded and not error.whole):
            raise
    else:
        yield from [log] if log else []


def _in_folder(folder: Path, as_recorded: bool) -> Iterator[Log]:
    tables: set[Path] = set()
    for path in sorted(folder.rglob("*"), key=lambda path: (path.name, str(path))):
        hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or format_of(path) is None:
            continue
        if path.parent in tables and format_of(path) == "parquet":
            continue
        try:
            log = read_log(path)
        except FileError as error:
            # Other JSON lies beside logs, such as settings, or is a saved report.
            if not error.whole:
                note(f"left out {error.args[0]}")
            continue
        if log and as_recorded and not log.recorded:
            note(f"left out {path}: it {no_numbers(log)}")
        elif log:
            yield log
        elif format_of(path) == "parquet":
            # The parts of one table, of which there may be thousands.
            tables.add(path.parent)


def no_numbers(log: Log) -> str:
    """That a log has no recorded numbers, and what it has instead."""
    others = f" (no mean over samples: {listed(log.reported)})" if log.reported else ""
    return f"has no recorded numbers{others}"
