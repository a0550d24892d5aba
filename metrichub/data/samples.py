"""Samples: rows of a file by column, with their lines, and the reading of one batch by batch."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import Any, TypeVar
from unicodedata import category, normalize

from metrichub.data.classes import Classes, classes_at
from metrichub.data.columns import (
    SHOW_THE_SAMPLES,
    fallbacks,
    kind_of,
    read_unread,
    resolve,
    retrieved,
)
from metrichub.data.values import as_list, columns_of_path, named_values, values_at
from metrichub.errors import FileError, InputError, MissingColumn, did_you_mean, listed
from metrichub.text.cells import BLANKS, cell_or_text

T = TypeVar("T")
ROWS = 2_048
"""How many rows of a data set or a table in parts are held at a time."""
IN_QUOTES = '"…"'
"""How cells in quotes are counted that may be none of the text."""
NOT_IN_ALL = "not all systems have them"
"""Why samples are left out."""
_QUOTED = 40
"""The most characters of a value that a message quotes."""
_SAME = "a comparison needs the same samples in the same order"


@dataclass(frozen=True, eq=False)
class Samples(Mapping[str, list[Any]]):
    """The columns of a file by name, or of a part of it.

    Attributes:
        path: The file, as errors name it.
        columns: The values of every column, one a sample.
        lines: The line of every sample, if it has one.
        start: The number of samples before these in the file.
        share: How much of the file has been read with these, in 0..1; None where nobody knows.
        cells: Whether the values are cells, which have no other way to say that one is missing
            than to be empty, or to hold a word such as NaN.
        quotes: Whether quotes around a cell, which are read as text, may be none.
        log: Whether they are from a log of another tool.
        classes: The names of classes by column, if the file has any.
        index: The index of the pandas frame that they are from.
        remarks: What a report has to say of how they were read.
    """

    path: str
    columns: Mapping[str, list[Any]]
    lines: Sequence[int] | None = field(default=None, repr=False)
    start: int = 0
    share: float | None = 1.0
    cells: bool = False
    quotes: bool = field(default=False, repr=False)
    log: bool = field(default=False, repr=False)
    classes: Mapping[str, Classes] = field(default_factory=dict, repr=False)
    index: Any = field(default=None, repr=False)
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Where they are from, how many they are, and their columns."""
        return f"<{self.size} samples of {self.path}: {', '.join(self)}>"

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def size(self) -> int:
        """The number of samples."""
        return max(map(len, self.columns.values()), default=0)

    def choose(self, columns: Mapping[str, str]) -> Samples:
        """The same samples with only some columns: new name -> name, or path inside of one.

        Raises:
            MissingColumn: one isn't there.
            FileError: a path ends before its last step.
        """
        for name in columns.values():
            if not columns_of_path(name, self.columns):
                near = did_you_mean(name.partition(".")[0], self.columns)
                names = ", ".join(self.columns)
                raise MissingColumn(f"{self.path}: no column {name!r}{near} (columns: {names})")
        try:
            chosen = {
                new: list(values_at(name, self.columns, self.columns.__getitem__, self.cells))
                for new, name in columns.items()
            }
        except InputError as error:
            number = error.sample or 0
            message = str(error).replace(f"[{number}]", f"[{self.start + number}]", 1)
            raise self.error(message, error.sample) from None
        classes = {new: classes_at(self.classes, path) for new, path in columns.items()}
        return replace(self, columns=chosen, classes=classes)

    def column(self, path: str) -> Sequence[Any]:
        """The values of a column, or at a path; see `values_at`."""
        values = values_at(path, self.columns, self.columns.__getitem__, self.cells)
        return as_list(path, values)

    def take(self, rows: Sequence[int]) -> Samples:
        """The samples at some places, in that order."""
        columns = {name: [values[row] for row in rows] for name, values in self.items()}
        lines = self.lines and [self.lines[row] for row in rows]
        index = None if self.index is None else self.index[rows]
        return replace(self, columns=columns, lines=lines, index=index)

    def error(self, message: str, sample: int | None = None) -> FileError:
        """The error that names this file and, for a sample with a known place, its line."""
        line = self.lines[sample] if self.lines is not None and sample is not None else None
        return FileError(self.path, message, line)


def blanks_of(data: Samples, chosen: Mapping[str, str]) -> dict[str, Counter[str]]:
    """How many cells of the chosen columns look like missing values, by column and text.

    So are cells counted that may be in quotes.
    """
    if not data.cells:
        return {}
    blanks: dict[str, Counter[str]] = {}
    for column, name in chosen.items():
        cells = [cell for cell in data.get(name, ()) if isinstance(cell, str)]
        blanks[column] = Counter(cell for cell in cells if cell in BLANKS)
        if data.quotes and (quoted := [c for c in cells if c[1:] and c[0] == c[-1] == '"']):
            blanks[column][IN_QUOTES] = len(quoted)
    return {column: counts for column, counts in blanks.items() if counts}


def samples_where(
    batches: Iterable[Samples], where: Mapping[str, str | Sequence[str]]
) -> Iterator[Samples]:
    """The samples whose values, as texts, are those of every condition, or one of several.

    Raises:
        MissingColumn: a condition's column isn't there.
    """
    if not where:
        yield from batches
        return
    start = 0
    for samples in batches:
        rows: Sequence[int] = range(samples.size)
        for name, value in where.items():
            allowed = [value] if isinstance(value, str) else value
            values = named_values("where", name, samples, samples.__getitem__, samples.size)
            rows = [row for row in rows if not _texts(values[row]).isdisjoint(allowed)]
        yield replace(samples.take(rows), start=start)
        start += len(rows)


def conditions(where: Mapping[str, str | Sequence[str]]) -> str:
    """Conditions as messages show them: "language=de or fr and known=true"."""
    return " and ".join(
        f"{name}={value if isinstance(value, str) else listed(value, 'or')}"
        for name, value in where.items()
    )


def _texts(value: object) -> set[str]:
    """A value as text; True is also written "true", as in JSON."""
    return {str(value), str(value).lower()} if isinstance(value, bool) else {str(value)}


def in_batches(
    rows: Iterable[T], characters: int, size_of: Callable[[T], int]
) -> Iterator[list[T]]:
    """The rows in lists of about so many characters, a line's end counted for each."""
    batch: list[T] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += size_of(row) + 1
        if size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class Reading(Iterator[Samples]):
    """The batches of one file, in turn; what is known of the file grows with them.

    `needs` maps each column to a metric that asks for it, `columns` to its name in the file.

    Attributes:
        size: The number of samples so far.
        expected: About the number of samples of the whole file; None where nobody knows.
        columns: The names of the columns.
        log: The file, if it is a log of another tool.
    """

    def __init__(
        self,
        batches: Iterable[Samples],
        needs: Mapping[str, str],
        columns: Mapping[str, str],
    ) -> None:
        self.size = 0
        self.expected: float | None = None
        self.columns: tuple[str, ...] = ()
        self.log: str | None = None
        self._needs, self._mapping = needs, columns
        self._batches = self._noticed(iter(batches))
        self._current: Samples | None = None
        self._chosen: Mapping[str, str] = {}

    def __next__(self) -> Samples:
        """The next batch."""
        return next(self._batches)

    def _noticed(self, batches: Iterator[Samples]) -> Iterator[Samples]:
        while samples := next(batches, None):
            self._current = samples
            self._same_names(samples)
            self.size += samples.size
            self.expected = self.size / samples.share if samples.share else None
            self.columns = tuple(samples)
            self.log = samples.path if samples.log else None
            yield samples
            # An error that comes up while the next batch is read names its own place.
            self._current = None

    def located(self, error: InputError) -> InputError:
        """The error with the file, and the line of the first sample that can't be scored."""
        samples = self._current
        if samples is None or isinstance(error, FileError):
            return error
        if isinstance(error, MissingColumn):
            missing = MissingColumn(f"{samples.path}: {error.args[0]}")
            column = error.column
            return missing.with_remedy("choose_column", column, "NAME") if column else missing
        message, sample = str(error.args[0]), None
        with suppress(InputError):
            chosen = resolve(self._needs, samples, self._mapping)
            if error.sample is not None and error.column is not None:
                sample = error.sample
                number = samples.start + sample
                name = chosen.get(error.column, error.column)
                message = message.replace(f"[{sample}]", f"[{number}]", 1)
                if name in samples and samples[name][sample] is None:
                    advice = _advice(samples, name, sample)
                    message = f"{name!r} is missing or null in sample {number}; {advice}"
        in_file = samples.error(message, sample)
        in_file.remedy = error.remedy
        return in_file

    def place(self, sample: int | None) -> str | None:
        """The file and the line of a sample, while its batch is the one that was read last."""
        samples = self._current
        if samples is None or samples.lines is None or sample is None:
            return None
        number = sample - samples.start
        inside = 0 <= number < samples.size
        return f"{samples.path}:{samples.lines[number]}" if inside else None

    def _same_names(self, samples: Samples) -> None:
        """Raise `FileError` if a name that comes up late would be read instead of the first."""
        try:
            chosen = resolve(self._needs, samples, self._mapping)
        except InputError:
            return  # The hub says it.
        for column, name in self._chosen.items():
            if chosen[column] != name:
                error = samples.error(
                    f"{column} were read from {name!r} up to sample {samples.start}, but here "
                    f"{chosen[column]!r} appears"
                )
                raise error.with_remedy("choose_column", column, name)
        self._chosen = chosen


def _advice(samples: Samples, name: str, sample: int) -> str:
    """Advice about a missing value; in logs, a whole task may have none."""
    if samples.log and "task" in samples:
        pairs = zip(samples["task"], samples[name], strict=True)
        others = {task for task, value in pairs if value is not None}
        if others and (task := samples["task"][sample]) not in others:
            return f"the task {task} has none; choose another, such as {min(others)}"
    return f"give it {kind_of(name)} or leave the sample out"


def expected_work(readings: Iterable[Reading], metrics: int) -> float | None:
    """About how many samples times metrics there are; None where nobody knows.

    A file that isn't begun is taken to be like the one before.
    """
    total, last = 0.0, None
    for reading in readings:
        if reading.size:
            last = reading.expected
        if last is None:
            return None
        total += last * metrics
    return total


def check_same_samples(
    systems: Mapping[str, Samples],
    needs: Mapping[str, str],
    columns: Mapping[str, str],
    made: Collection[str] = ("predictions",),
) -> bool:
    """Whether ids, or a column that the metrics read, show that all systems have the same samples.

    Those with ids are in the same order. The columns that systems `made` show nothing, but contexts
    that must be equal where no other column shows it. `needs` maps each column to a metric that
    asks for it, `columns` to its name in the files.

    Raises:
        FileError: a row isn't about the baseline's sample; the text names the first.
    """
    shown = True
    if len(systems) < 2:
        return shown
    first, *others = systems.values()
    needed = {c: metric for c, metric in needs.items() if c == "contexts" or c not in made}
    for other in others:
        ids = "id" in first and "id" in other
        try:
            mine = resolve(needed, first, columns)
            theirs = resolve(needed, other, columns)
        except MissingColumn:
            return shown  # Measuring says it, with the file.
        read_from = fallbacks(mine, columns)
        passages = retrieved(read_from) & mine.keys()
        pairs = [(mine[c], theirs[c]) for c in needed if c not in passages]
        advice, shown = _SAME, shown and bool(ids or pairs or passages)
        # One value for all tells no sample from another.
        distinct = [n for n, _ in pairs if len({*map(str, first.column(n))}) >= min(first.size, 2)]
        if passages and not (distinct or ids):
            unread = [
                read_unread(mine, read_from, s, s.__getitem__, s.size) for s in (first, other)
            ]
            if not any(values == unread[1].get(column) for column, values in unread[0].items()):
                pairs += [(mine[c], theirs[c]) for c in passages]
                advice = SHOW_THE_SAMPLES
        for name, other_name in pairs:
            _same_column(first, other, name, other_name, advice)
        if first.size != other.size:
            raise other.error(
                f"has {other.size} {'sample' if other.size == 1 else 'samples'}, but {first.path} "
                f"has {first.size}; {_SAME}"
            ).with_remedy("compare_common")
    return shown


def _same_column(first: Samples, other: Samples, name: str, other_name: str, advice: str) -> None:
    size = min(first.size, other.size)
    pairs = islice(zip_longest(first.column(name), other.column(other_name)), size)
    for i, (value, other_value) in enumerate(pairs):
        # A number in JSON is a text in CSV, and so are a conversation and other objects.
        if value == other_value or cell_or_text(value) == cell_or_text(other_value):
            continue
        theirs, mine = quoted_apart(other_value, value)
        raise other.error(
            f"{other_name!r} of sample {i} is {theirs}, but in {first.path} it is {mine}; {advice}",
            i,
        )


def quoted_apart(*values: object) -> Iterator[str]:
    """Values that differ, quoted where they part, with code points if they look alike there."""
    # Behind a double quote, repr takes single ones for every text, as JSON takes double ones.
    texts = [
        f"'{repr(chr(34) + value)[2:]}".replace(r"\'", "'")
        if isinstance(value, str)
        else json.dumps(value, default=repr, ensure_ascii=False)
        for value in values
    ]
    at = next((i for i, pair in enumerate(zip(*texts, strict=False)) if len({*pair}) > 1), 0)
    hidden = any(c > "~" and category(c)[0] in "MCZ" for text in texts for c in text[at : at + 1])
    if hidden or len({normalize("NFKC", text) for text in texts}) == 1:
        codes = [text[at : at + 2].encode("ascii", "backslashreplace").decode() for text in texts]
        texts = [text[:at] + code + text[at + 2 :] for text, code in zip(texts, codes, strict=True)]
    start = at - _QUOTED // 2 if max(map(len, texts)) > _QUOTED and at > _QUOTED - 10 else 0
    end = start + _QUOTED
    before = "…" if start > 0 else ""
    yield from (before + text[start:end] + ("…" if len(text) > end else "") for text in texts)
