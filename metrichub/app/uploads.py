"""Uploaded files: what is in them, what each column is used as, and how they are to be scored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from metrichub.app.problem import ON_PAGES, Refusal
from metrichub.catalog.requirements import optional_package
from metrichub.data.columns import present
from metrichub.data.files import as_one, read_bounded
from metrichub.data.location import short_names
from metrichub.data.metadata import read_metadata
from metrichub.data.samples import Samples
from metrichub.data.source import open_source
from metrichub.data.tidy import SYSTEM as NAMES_OF_SYSTEMS
from metrichub.data.tidy import matched, split_systems
from metrichub.data.values import paths_of
from metrichub.errors import InputError, MetrichubError, MissingDependency, listed, printable

ID, SYSTEM, RATING = "sample id", "system", "people's rating"
"""The uses of a column that no metric reads."""
_BATCHES = 16
"""So many batches of a file are looked at, some 60 MB."""
_LONGEST, _MOST_SYSTEMS = 300, 20
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


class Upload(NamedTuple):
    """A file of a job: where it is, what it is ("jsonl"), and the name that its owner gave it."""

    path: Path
    format: str
    shown: str


@dataclass(frozen=True)
class Choices:
    """How files are to be scored.

    Attributes:
        metrics: Specs of the metrics.
        used: What a column is used as, where its name doesn't say it: a column that metrics read,
            `ID`, `SYSTEM`, `RATING`, or "" for nothing.
        reduce: How to reduce several candidates of a sample to one score.
        baseline: The system that the others are tested against; the first without it.
        common: Whether samples that not all systems have are left out.
        people: Whether scores are compared with the ratings; None if no page offered it.
        choose: Whether a metric is chosen by the first column of ratings, of one system.
        task: The key of the starting set that metrics were proposed from.
    """

    metrics: tuple[str, ...] = ()
    used: dict[str, str] = field(default_factory=dict)
    reduce: str | None = None
    baseline: str = ""
    common: bool = False
    people: bool | None = None
    choose: bool = False
    task: str = ""

    def names(self, use: str) -> list[str]:
        """The columns that are used so."""
        return [name for name, column_use in self.used.items() if column_use == use]

    @property
    def mapping(self) -> dict[str, str]:
        """A column that metrics read, and its name in the files."""
        uses = [use for use in dict.fromkeys(self.used.values()) if use not in _USES]
        return {use: "+".join(self.names(use)) for use in uses}

    @property
    def human(self) -> list[str] | None:
        """The columns of ratings that a page shows; None to find them."""
        return None if self.people is None else self.names(RATING) if self.people else []

    def of(self, samples: Samples) -> Samples:
        """The samples without columns that aren't used, and ids under their usual name."""
        ids = self.names(ID)
        columns = {
            "id" if name in ids else name: values
            for name, values in samples.items()
            if self.used.get(name) != "" and (name != "id" or not ids)
        }
        return replace(samples, columns=columns) if self.used else samples

    def matched(self, systems: Mapping[str, Samples]) -> dict[str, Samples]:
        """The samples that all systems have, in the order of the first."""
        return matched(systems, common=True, mapped=self.mapping.values())

    def first(self, systems: Iterable[str]) -> list[str]:
        """The systems, the baseline first."""
        return sorted(systems, key=lambda name: name != self.baseline)


_USES = ("", ID, SYSTEM, RATING)


class FoundColumn(NamedTuple):
    """A column of files: its name, what it is used as by that, and its first value."""

    name: str
    use: str
    first: str


@dataclass(frozen=True)
class Preview:
    """The contents of files, as a page previews them.

    Attributes:
        rows: The rows of every file; none of saved reports.
        names: The columns of every file.
        columns: The columns of any file.
        systems: The samples of every system.
        shared: The samples that all systems have; None where nothing tells.
        complete: Whether the files were read to their ends.
        problem: Why they can't be compared, or "".
    """

    rows: tuple[int, ...]
    names: tuple[tuple[str, ...], ...]
    columns: tuple[FoundColumn, ...]
    systems: dict[str, int]
    shared: int | None = None
    complete: bool = True
    problem: str = ""

    @property
    def sentence(self) -> str:
        """The heading of the page: "Two systems, the same 100 samples"."""
        count, sizes = len(self.systems), [*self.systems.values()]
        number = _NUMBERS[count] if count < len(_NUMBERS) else str(count)
        plural = "s" if count > 1 else ""
        if not self.columns:
            return f"{number} saved report{plural}"
        systems, most, equal = f"{number} system{plural}", max(sizes), len({*sizes}) == 1
        samples = "1 sample" if most == 1 else f"{most:,} samples"
        if not self.complete:
            return f"{systems}, more than {samples}"
        if count == 1:
            return f"{systems}, {samples}"
        if self.problem:
            each = f"{samples} each" if equal else f"{listed(map(str, sizes))} samples"
            return f"{systems}, {each}"
        if self.shared in (None, most) and equal:
            return f"{systems}, the same {samples}"
        both = "both" if count == 2 else "all"
        return f"{systems}; {self.shared:,} of {samples} are in {both}"


def system_names(files: Sequence[str]) -> list[str]:
    """The distinguishing parts of the names of files; a repeated name gets its number.

    >>> system_names(["run-ours.jsonl", "run-theirs.jsonl"])
    ['run-ours', 'run-theirs']
    >>> system_names(["out.jsonl", "out.jsonl"])
    ['out.jsonl', 'out.jsonl (2)']
    """
    names = short_names(files, alone=len(files) == 1)
    before = [names[:i].count(name) for i, name in enumerate(names)]
    return [f"{name} ({n + 1})" if n else name for name, n in zip(names, before, strict=True)]


def report_texts(files: Sequence[Upload], most: int) -> list[str]:
    """The texts of saved reports; none if the files aren't reports.

    Raises:
        InputError: some are, and others aren't.
    """
    texts = []
    for file in files:
        if file.format == "json":
            with open_source(file.path, most) as source:
                text = source.text()
            texts += [text] if '"metrichub-report-' in text[:100] else []
    if 0 < len(texts) < len(files):
        raise InputError(
            "a saved report can be compared only with saved reports; upload the reports of "
            "all systems, or the samples of all"
        )
    return texts


def refusal_of(error: MetrichubError, files: Iterable[Upload]) -> Refusal:
    """The reason why files can't be read or scored, with the names that their owner knows."""
    message = error.worded(ON_PAGES)
    for file in files:
        message = message.replace(str(file.path), file.shown)
    return Refusal(type(error).__name__, message)


def look(
    files: Sequence[Upload], chosen: Choices, needed: Sequence[str], most: int
) -> Preview | Refusal:
    """The contents of files of up to `most` bytes each, unpacked, or why they can't be read.

    `needed` are the columns that some metric reads.
    """
    named = dict(zip(system_names([file.shown for file in files]), files, strict=True))
    try:
        if report_texts(files, most):
            return Preview((), (), (), dict.fromkeys(named, 0))
        parts = {
            name: list(islice(read_bounded(file.path, file.format, most), _BATCHES))
            for name, file in named.items()
        }
    except MetrichubError as error:
        return refusal_of(error, files)
    complete = all(len(batches) < _BATCHES for batches in parts.values())
    read = {name: as_one(batches) for name, batches in parts.items()}
    return _preview(read, chosen, needed, complete)


def _preview(
    read: Mapping[str, Samples], chosen: Choices, needed: Sequence[str], complete: bool
) -> Preview:
    uses: dict[str, str] = {}
    columns: dict[str, list[Any]] = {}
    for samples in read.values():
        uses = _uses(samples, needed) | uses
        columns = {**samples, **columns}
    if len(read) == 1 and (column := _names_of_systems(samples)):
        uses[column] = SYSTEM
    systems, shared, problem = dict(read), None, ""
    try:
        as_used = uses | chosen.used
        if len(read) == 1 and (named := [n for n, use in as_used.items() if use == SYSTEM]):
            systems = split_systems(samples, named[0])
        uses = dict.fromkeys(_rated(systems, uses, chosen), RATING) | uses
        if complete and len(systems) > 1:
            in_all = chosen.matched({name: chosen.of(system) for name, system in systems.items()})
            shared = min(system.size for system in in_all.values())
    except MetrichubError as error:
        without_ids = error.remedy is not None and error.remedy.action == "name_key"
        # As many samples of each are paired in their order.
        if not without_ids or len({samples.size for samples in systems.values()}) > 1:
            problem = error.worded(ON_PAGES)
    return Preview(
        rows=tuple(samples.size for samples in read.values()),
        names=tuple(tuple(samples) for samples in read.values()),
        columns=tuple(
            FoundColumn(name, uses.get(name, ""), _shown(values[0]))
            for name, values in columns.items()
        ),
        systems={name: samples.size for name, samples in systems.items()},
        shared=shared,
        complete=complete,
        problem=problem,
    )


def _uses(samples: Samples, needed: Sequence[str]) -> dict[str, str]:
    """The uses of columns by their names; a column is read by the first that could be it."""
    uses: dict[str, str] = {"id": ID} if "id" in samples else {}
    for column in needed:
        with suppress(InputError):
            if name := present(column, samples):
                uses = dict.fromkeys(paths_of(name, samples), column) | uses
    return uses


def _names_of_systems(samples: Samples) -> str | None:
    """The column that has the names of a few systems, each of several rows."""
    for name in NAMES_OF_SYSTEMS:
        values = {*map(str, samples.get(name, ()))}
        if 2 <= len(values) <= min(_MOST_SYSTEMS, samples.size // 2):
            return name
    return None


def _rated(
    systems: Mapping[str, Samples], uses: Mapping[str, str], chosen: Choices
) -> Iterable[str]:
    """The columns of ratings, by what is in them.

    Raises:
        MetrichubError: one that was chosen as such has none.
    """
    try:
        page = optional_package("metrichub.agreement.page_columns", "human=")
    except MissingDependency:
        return ()
    reports = {}
    for name, samples in systems.items():
        short = read_metadata(samples, uses, samples.__getitem__, samples.size)
        metadata = {column: values for column, values in short.items() if values is not None}
        reports[name] = SimpleNamespace(metadata=metadata, size=samples.size)
    page.rated_columns(reports, None, chosen.names(RATING))
    ratings: Iterable[str] = page.rated_columns(reports).ratings
    return ratings


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return printable(text)[:_LONGEST]
