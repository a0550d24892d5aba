"""The systems of logs: the samples of each, and the numbers that a tool recorded."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from metrichub.data import huggingface
from metrichub.data.files import Chosen, Where, read_chosen, read_samples
from metrichub.data.location import Location
from metrichub.data.log_folders import SystemLog, logs_of, no_logs, no_numbers, note
from metrichub.data.quoting import Quoting
from metrichub.data.samples import Samples, conditions, samples_where
from metrichub.errors import FileError, InputError, MissingColumn, did_you_mean, listed

_OF_LOGS = ("task", "model")
"""The names in conditions that choose logs, and not samples."""


_Content: TypeAlias = Samples | FileError | MissingColumn | None
"""The samples of a file that conditions choose, or none, or why they can't choose."""


class LogSystems(NamedTuple):
    """The systems of logs by their names, each a file or its samples, and the numbers in all logs.

    `recorded` has what is known of each column of numbers, such as which is better.
    """

    systems: Mapping[str, str | Samples]
    recorded: Mapping[str, Mapping[str, Any]]


def may_be_logs(paths: Iterable[str]) -> bool:
    """Whether systems are to be looked for: in folders, and in JSON, which may hold several."""
    json = (".json", ".json.gz", ".json.zst")
    return any([os.path.isdir(path) or path.lower().endswith(json) for path in paths])


def systems_of_logs(
    files: Mapping[str, str],
    *,
    as_recorded: bool = False,
    rescored: bool = True,
    where: Where | None = None,
    how: Mapping[str, Any] | None = None,
) -> LogSystems:
    """The systems in files and folders by their names; a file that isn't a log stays as it is.

    With `as_recorded`, all have to be logs, and the numbers in them are told. `rescored` is whether
    metrics score the samples too, `how` says how a file that is named is read.

    Raises:
        InputError: numbers are to be taken from a file that isn't a log, or they aren't there; or
            the systems have no task in common.
    """
    where = {k: [v] if isinstance(v, str) else v for k, v in (where or {}).items()}
    how = how or {}
    systems: dict[str, str | Sequence[SystemLog]] = {}
    for name, path in files.items():
        elsewhere = Location.of(path).kind != "local"
        by_system = {} if elsewhere else logs_of(path, as_recorded, how)
        if as_recorded and not by_system:
            raise InputError(no_logs(path, elsewhere))
        if not by_system or (os.path.isfile(path) and len(by_system) == 1 and not as_recorded):
            systems[name] = path
        elif len(by_system) == 1:
            systems[name] = next(iter(by_system.values()))
        else:
            systems |= {
                s if len(files) == 1 else f"{name}/{s}": logs for s, logs in by_system.items()
            }
    logs = {name: logs for name, logs in systems.items() if not isinstance(logs, str)}
    if not logs:
        return LogSystems(files, {})
    of_samples = {name: value for name, value in where.items() if name not in _OF_LOGS}
    named = dict.fromkeys(map(Path, files.values()), how)
    logs, contents = _readable(logs, named, where, of_samples)
    read = _read(_same_tasks(logs, where), contents, of_samples)
    recorded = _recorded({name: list(parts) for name, parts in read.items()}) if as_recorded else {}
    if as_recorded:
        _note_reported(read, compare=not of_samples)
    if as_recorded and not rescored:
        read = {name: {p: _once(p, parts[p]) for p in parts} for name, parts in read.items()}
    parts = next(iter(read.values()))
    tasks = [part.log.task for part in parts]
    if rescored and len(tasks) > 1:
        task = next((part.log.task for part in parts if "predictions" in parts[part]), tasks[0])
        note(
            f"metrics score the samples of {listed(map(str, tasks))} together; to choose one "
            f"task: where task={task}"
        )
    joined = {
        name: _stacked(list(parts.values()), "task", [part.log.task for part in parts], recorded)
        for name, parts in read.items()
    }
    return LogSystems(
        {
            name: file if isinstance(file, str) else joined[name]
            for name, file in systems.items()
            if isinstance(file, str) or name in joined
        },
        recorded,
    )


def read(
    path: str | Path,
    *,
    format: str | None = None,
    columns: Chosen | None = None,
    where: Where | None = None,
    quoting: Quoting | None = None,
) -> Samples:
    """The samples of a file as a mapping of columns, which a hub takes, and `pandas` too.

    Reads JSONL, JSON, CSV, TSV or Parquet, compressed if the name ends in .gz or .zst. JSON holds
    rows or columns in any of the forms that tools write: [{…}, …], {"results": [{…}, …], …},
    {"columns": […], "data": [[…], …]}, {id: {…}, …}, or lists by column. Reads also a folder of
    Parquet files, or one written by `save_to_disk` of `datasets`; or "hf://NAME?split=test", a data
    set on the Hugging Face Hub. Of a folder with another tool's logs it reads the tasks that all
    systems have, with the columns `task` and, of several systems, `system`. A file may be at an
    address such as "s3://bucket/a.jsonl", which fsspec opens. `format` is by default that of the
    suffix; "-" is standard input (JSONL). `columns` reads only these columns, also from inside
    others ("doc.answer", "choices.0"); a mapping gives them new names. `where` reads only samples
    that have these values, as texts: {"language": "de"}, or {"filter": "strict-match"} in a log of
    lm-evaluation-harness. A key that some rows of a JSON file lack is None there. A CSV cell, which
    a comma or a semicolon ends, is a text; a hub reads the lists that it may hold. `quoting` says
    how cells are quoted: "standard", as CSV does, or "none", where quotes are text. By default CSV
    is read as the standard says, and TSV as text unless the file shows that a CSV writer made it.

    Raises:
        FileError: the file is missing, empty or not UTF-8, a line is broken, or it has no table.
        MissingColumn: one of `columns` or of `where` isn't in the file.
        MissingDependency: Parquet or .zst without pyarrow.
    """
    how: dict[str, Any] = {"format": format, "columns": columns, "quoting": quoting}
    if not any(how.values()) and os.path.isdir(path) and not huggingface.is_saved(Path(path)):
        logs = systems_of_logs({str(path): str(path)}, where=where, rescored=False)
        systems = {name: s for name, s in logs.systems.items() if isinstance(s, Samples)}
        if systems:
            names = list(systems) if len(systems) > 1 else [None]
            return _stacked(list(systems.values()), "system", names)
    return read_samples(path, where=where, **how)


def _readable(
    systems: Mapping[str, Sequence[SystemLog]],
    named: Mapping[Path, Mapping[str, Any]],
    conditions: Where,
    where: Where,
) -> tuple[dict[str, Sequence[SystemLog]], dict[str, _Content]]:
    """The logs that can be read, and what is in the files of those that conditions choose.

    `named` says how the files that were named are read.

    Raises:
        FileError: one can't be read, and is named, or no other can.
    """
    contents: dict[str, _Content] = {}
    for part in chain.from_iterable(systems.values()):
        path = part.log.path
        # A file with several systems is read once.
        if path not in contents and _has(part, conditions):
            try:
                contents[path] = read_chosen(path, where, **named.get(Path(path), {}))
            except (FileError, MissingColumn) as error:
                contents[path] = error
    broken = {path: error for path, error in contents.items() if isinstance(error, FileError)}
    readable: dict[str, Sequence[SystemLog]] = {
        name: [part for part in logs if part.log.path not in broken]
        for name, logs in systems.items()
    }
    for path, reason in broken.items():
        if Path(path) in named or not any(readable.values()):
            raise reason
        note(f"left out {reason.args[0]}")
    return {name: logs for name, logs in readable.items() if logs}, contents


def _read(
    systems: Mapping[str, Sequence[SystemLog]], files: Mapping[str, _Content], where: Where
) -> dict[str, dict[SystemLog, Samples]]:
    """The samples of each system's logs, but of tasks from which conditions choose none.

    Raises:
        FileError, MissingColumn: they choose none at all.
    """
    chosen_samples: dict[SystemLog, Samples] = {}
    for part in chain.from_iterable(systems.values()):
        content = files[part.log.path]
        if isinstance(content, Samples):
            chosen = next(samples_where([content], part.where))
            if chosen.size:
                chosen_samples[part] = chosen
    without = [part for logs in systems.values() for part in logs if part not in chosen_samples]
    tasks = {part.log.task for part in without}
    first = next(iter(systems.values()))
    if tasks.issuperset(part.log.task for part in first):
        missing = [error for error in files.values() if isinstance(error, MissingColumn)]
        if len(missing) == len(files):
            raise MissingColumn(f"{missing[0]}; of logs, where also takes task and model")
        shown = conditions({**where, **without[0].where})
        message = f"the file has no samples{shown and f' with {shown}'}"
        raise FileError(without[0].log.path, message)
    if tasks:
        chosen_by = f" with {conditions(where)}" if where else ""
        note(f"left out tasks without samples{chosen_by}: {listed(map(str, tasks))}")
    return {
        name: {part: chosen_samples[part] for part in logs if part.log.task not in tasks}
        for name, logs in systems.items()
    }


def _stacked(
    tables: Sequence[Samples], by: str, labels: Sequence[str | None], first: Iterable[str] = ()
) -> Samples:
    """Tables as one, with the label of each in the column `by`, which begins with columns `first`.

    A table without a column has None there.
    """
    labelled: list[Mapping[str, list[Any]]] = [
        {**table, by: [label] * table.size} if label else table
        for table, label in zip(tables, labels, strict=True)
    ]
    if len(tables) == 1:
        return replace(tables[0], columns=labelled[0])
    parts = [(table.size, columns) for table, columns in zip(tables, labelled, strict=True)]
    columns = {
        name: [v for size, part in parts for v in part.get(name, [None] * size)]
        for name in dict.fromkeys(chain(first, *labelled))
    }
    return replace(tables[0], columns=columns, lines=None)


def _same_tasks(
    systems: Mapping[str, Sequence[SystemLog]], where: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[SystemLog]]:
    """The logs of the tasks that all systems have, or of those that were chosen."""
    every = [part for logs in systems.values() for part in logs]
    for key, available in {
        "task": {part.log.task for part in every if part.log.task},
        "model": {part.log.model or part.system for part in every},
    }.items():
        for value in where.get(key, ()):
            if value not in available:
                near = did_you_mean(value, sorted(available))
                near = near or f" (there are: {listed(sorted(available))})"
                raise InputError(f"no log has {key}={value}{near}")
    chosen: dict[str, dict[str, SystemLog]] = {}
    for name, logs in systems.items():
        parts = {part.log.task or "": part for part in logs if _has(part, where)}
        if parts:
            chosen[name] = parts
    tasks = [set(parts) for parts in chosen.values()]
    shared = set.intersection(*tasks) if tasks else set()
    if not shared:
        shown = "; ".join(
            f"{name}: {listed(sorted(part.log.task or Path(part.log.path).name for part in logs))}"
            for name, logs in systems.items()
        )
        what = "have no task in common" if tasks else "have no such logs"
        raise InputError(f"the systems {what} ({shown})")
    if others := sorted(set.union(*tasks) - shared):
        note(f"left out tasks that not all systems have: {listed(others)}")
    return {name: [parts[task] for task in sorted(shared)] for name, parts in chosen.items()}


def _has(part: SystemLog, where: Mapping[str, Sequence[str]]) -> bool:
    """Whether conditions on logs, and on what tells systems in one file apart, choose it."""
    facts = {"task": part.log.task, "model": part.log.model or part.system, **part.where}
    return all(str(facts[key]) in where[key] for key in where if key in facts)


def _recorded(systems: Mapping[str, Sequence[SystemLog]]) -> dict[str, Mapping[str, Any]]:
    """The facts of each column of numbers that all systems have."""
    by_system = [_merged(logs) for logs in systems.values()]
    first, *others = by_system
    names = [name for name in first if all(name in other for other in others)]
    if not names:
        log = next(iter(systems.values()))[0].log
        if all(by_system):
            shown = "; ".join(f"{n}: {listed(k)}" for n, k in zip(systems, by_system, strict=True))
            raise InputError(f"the systems have no recorded numbers in common ({shown})")
        raise InputError(f"{log.path} {no_numbers(log)}")
    if partial := sorted(set().union(*by_system) - set(names)):
        note(f"left out numbers that not all systems have: {listed(partial)}")
    for name in names:
        tasks = list(first[name])
        if len(tasks) > 1:
            note(
                f"{name} is the mean over the samples of {listed(tasks)}; to choose one: "
                f"where task={tasks[0]}"
            )
    return {
        name: _agreed([facts for columns in by_system for facts in columns[name].values()])
        for name in names
    }


def _note_reported(read: Mapping[str, Mapping[SystemLog, Samples]], *, compare: bool) -> None:
    """Say where a tool's own scores of a log aren't those that its samples give."""
    for part, samples in chain.from_iterable(parts.items() for parts in read.values()):
        log = part.log
        if others := [name for name in log.reported if name not in log.recorded]:
            note(f"{log.path}: left out what isn't a mean over samples: {listed(others)}")
        for name in log.recorded if compare else ():
            reported, values = log.reported.get(name, {}), samples.get(name, ())
            scores = {key: v for key, v in reported.items() if isinstance(v, (int, float))}
            numbers = [v for v in values if isinstance(v, (int, float)) and not math.isnan(v)]
            mean = sum(numbers) / max(len(numbers), 1)
            same = any(math.isclose(mean, v, rel_tol=1e-6, abs_tol=1e-6) for v in scores.values())
            if numbers and scores and not same:
                shown = listed(f"{key} {score:.4g}" for key, score in scores.items())
                note(f"{log.path}: the mean of {name} is {mean:.4g}, but the log reports {shown}")


def _once(part: SystemLog, samples: Samples) -> Samples:
    """The samples of a log without those rows of epochs for which it has no numbers.

    What epochs were reduced to is in the first row of a sample.
    """
    if not samples.keys() >= {"id", "epoch"}:
        return samples
    numbers = [samples[name] for name in part.log.recorded if name in samples]
    first = {str(sample): row for row, sample in reversed([*enumerate(samples["id"])])}
    rows = set(first.values()).union(
        row for values in numbers for row, number in enumerate(values) if number is not None
    )
    return replace(samples, lines=None).take(sorted(rows))


def _merged(logs: Iterable[SystemLog]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """The facts of each recorded column, by column and task."""
    merged: dict[str, dict[str, Mapping[str, Any]]] = {}
    for part in logs:
        for name, facts in part.log.recorded.items():
            merged.setdefault(name, {})[part.log.task or ""] = facts
    return merged


def _agreed(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The facts that no log contradicts; a share or a range only where all logs have it."""
    agreed: dict[str, Any] = {}
    for key in dict.fromkeys(key for log_facts in facts for key in log_facts):
        values = [log_facts[key] for log_facts in facts if key in log_facts]
        if all(value == values[0] for value in values) and (
            key == "better" or len(values) == len(facts)
        ):
            agreed[key] = values[0]
    return agreed
