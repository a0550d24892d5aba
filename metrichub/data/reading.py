"""Reading: a system's samples on their way to the hub, so that an error finds its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from metrichub.data import columns as names
from metrichub.data.samples import Samples
from metrichub.errors import FileError, InputError, MissingColumn


class Reading:
    """The batches of one file, in turn; what is known of the file grows with them.

    `needs` maps each column to a metric that asks for it, `columns` to its name in the file.

    Attributes:
        size: The number of samples so far.
        expected: About the number of samples of the whole file; None where nobody knows.
        columns: The names of the columns.
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
        self._batches, self._needs, self._mapping = batches, needs, columns
        self._current: Samples | None = None
        self._chosen: Mapping[str, str] = {}

    def __iter__(self) -> Iterator[Samples]:
        """The batches."""
        batches = iter(self._batches)
        while samples := next(batches, None):
            self._current = samples
            self._notice(samples)
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
            return missing.with_remedy("choose_column", error.column or "COLUMN", "NAME")
        found = self._in_file(error, samples)
        found.remedy = error.remedy
        return found

    def _in_file(self, error: InputError, samples: Samples) -> FileError:
        message = str(error.args[0])
        try:
            chosen = names.resolve(self._needs, samples, self._mapping)
        except InputError:
            return samples.error(message)
        if error.sample is None or error.column is None:
            return samples.error(message)
        number = samples.start + error.sample
        name = chosen.get(error.column, error.column)
        message = message.replace(f"[{error.sample}]", f"[{number}]", 1)
        if name in samples and samples[name][error.sample] is None:
            message = (
                f"{name!r} is missing or null in sample {number}; "
                "give it a text ('' is valid) or leave the sample out"
            )
        return samples.error(message, error.sample)

    def place(self, sample: int | None) -> str | None:
        """The file and the line of a sample, while its batch is the one that was read last."""
        samples = self._current
        if samples is None or samples.lines is None or sample is None:
            return None
        number = sample - samples.start
        inside = 0 <= number < samples.size
        return f"{samples.path}:{samples.lines[number]}" if inside else None

    def _notice(self, samples: Samples) -> None:
        self._same_names(samples)
        self.size += samples.size
        self.expected = self.size / samples.share if samples.share else None
        self.columns = tuple(samples)

    def _same_names(self, samples: Samples) -> None:
        """Raise `FileError` if a name that comes up late would be read instead of the first."""
        try:
            chosen = names.resolve(self._needs, samples, self._mapping)
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
