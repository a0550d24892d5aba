"""Batch: samples as equal columns, checked; Block: the part of it that metrics see at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.data import columns as names
from metrichub.data.metadata import Frame, read_keys, read_metadata, read_questions
from metrichub.data.samples import Samples, blanks_of
from metrichub.data.values import TextOf, as_list, check_texts, inner_list, paths_of
from metrichub.errors import InputError, MissingColumn, listed
from metrichub.text import RaggedTexts, Texts
from metrichub.text.ragged import offsets_of, positions_within, row_sums, take_rows

BLOCK_CHARACTERS = 450_000
"""About how much text is measured at a time: more fits no cache, and less costs calls."""


class Column(NamedTuple):
    """One column: the items of all samples, flat, and where each sample's items start.

    `offsets` is (N + 1,); None says that every sample has exactly one item.
    """

    items: Sequence[Any]
    offsets: NDArray[np.int64] | None

    def take(self, index: NDArray[np.int64]) -> Column:
        """The column of the samples at `index`, in that order."""
        if self.offsets is None:
            return Column([self.items[i] for i in index.tolist()], None)
        ends = self.offsets.tolist()
        groups = [self.items[ends[i] : ends[i + 1]] for i in index.tolist()]
        return Column(list(chain.from_iterable(groups)), offsets_of(self.counts[index]))

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of items of every sample, (N,)."""
        if self.offsets is None:
            return np.ones(len(self.items), np.int64)
        return np.diff(self.offsets)

    def part(self, start: int, stop: int) -> Column:
        """The column of the samples from start to stop."""
        if self.offsets is None:
            return Column(self.items[start:stop], None)
        offsets = self.offsets[start : stop + 1]
        return Column(self.items[offsets[0] : offsets[-1]], offsets - offsets[0])


@dataclass(frozen=True)
class Batch:
    """Samples as equal columns. Make one with `Batch.of`, which checks what it is given.

    `keys` has a hash of what names each sample, (N,), if a key was chosen. `answers` are columns of
    what was extracted from the predictions, by the extraction; None for nothing. `unread` are the
    columns beside contexts that no metric reads and that show which sample a row is. `beside`
    reads sources and questions that no metric reads. `facts` is
    what a report tells of the data, by name; of its "metadata", columns that can't stay are None.
    """

    columns: Mapping[str, Column]
    size: int
    keys: NDArray[np.uint64] | None = None
    answers: Mapping[str, Column] = field(default_factory=dict)
    unread: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    beside: Mapping[str, Callable[[], Iterable[Any]]] = field(
        default_factory=dict, repr=False, compare=False
    )
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, **columns: Iterable[Any]) -> Batch:
        """The batch of columns that hold, for each sample, one item or a list of items.

        Lists, tuples, arrays, pandas, polars and Arrow columns are read; nothing is changed.

        Raises:
            InputError: unequal lengths, None, numbers, bytes, a bare string, an empty list;
                the text names the column, the sample, what was found and what to do.
        """
        read = {name: as_list(name, values) for name, values in columns.items()}
        _equal_lengths(read)
        size = len(next(iter(read.values()), []))
        return cls({name: _column(name, values) for name, values in read.items()}, size)

    @classmethod
    def from_data(
        cls,
        data: object,
        needed: Mapping[str, str],
        mapping: Mapping[str, str] | None = None,
        objects: Mapping[str, TextOf] | None = None,
        *,
        keep: Iterable[str] | None = None,
        key: Sequence[str] = (),
        shared: dict[str, bool] | None = None,
    ) -> Batch:
        """The batch of the columns that metrics need out of a table.

        `data` is a mapping of columns, a list of dicts, a `datasets.Dataset`, a data frame, an
        Arrow table or a `Frame` of columns given by name, all of which are checked. `needed` maps
        a column to a metric that asks for it; names are found through `columns.ALIASES`,
        `columns.FALLBACKS` or the caller's `mapping`. `objects` makes texts of a column's objects.
        A list without rows makes an empty batch.

        `keep` names the columns that stay with the report, which are all short ones that no metric
        reads unless given; see `read_metadata`. `key` names those that tell the samples apart.
        `shared` is what the parts of one table have in common; see `columns.chosen_columns`.

        Raises:
            MissingColumn: a needed column isn't there.
            InputError: the data isn't a table, or a column holds what can't be scored.
        """
        table = data if isinstance(data, Frame) else Frame.of(data)
        if isinstance(data, (list, tuple)) and not data:
            # Rows have the names of columns, so that no rows lack none.
            return cls.of(**{name: () for name in needed})
        mapping = names.own_names(objects, table.names, mapping) if objects else mapping
        try:
            chosen = names.resolve(needed, table.names, mapping)
        except MissingColumn as error:
            error.args = (f"{error.args[0]}{table.objects_shown()}",)
            raise
        fallbacks = names.fallbacks(chosen, mapping)
        beside = partial(names.present, available=table.names, mapping=mapping)
        shared = {} if shared is None else shared
        # A path is written by a mapping, or numbers in names.
        read_as_one = {c: paths_of(n, table.names) for c, n in chosen.items() if "+" in n}
        several = {column: paths for column, paths in read_as_one.items() if paths[1:]}
        values_of = table.column if mapping or several else table.source.__getitem__
        if table.classes:
            values_of = table.by_numbers(chosen, shared).column
        # A question that messages are made of may be a conversation.
        message_parts = ("questions",) if "messages" in fallbacks else ()
        by_name = table.source if table.by_name else {}
        unread = by_name.keys() - {*chosen, *chosen.values(), *message_parts}
        try:
            read = names.chosen_columns(chosen, values_of, fallbacks, objects or {}, beside, shared)
            checked = cls.of(**read, **{name: by_name[name] for name in by_name if name in unread})
        except InputError as error:
            names.check_key(error, data, chosen)
            raise
        available = table.names if table.by_name or keep is not None else table.plain_names()
        facts = {
            "read_from": fallbacks,
            "metadata": read_metadata(
                available,
                [*chosen.values(), *chain.from_iterable(several.values())],
                table.column,
                checked.size,
                keep,
            ),
            "questions": read_questions(table, mapping or {}),
            "blanks": blanks_of(data, chosen) if isinstance(data, Samples) else {},
            "index": table.index,
            "remarks": (
                *(data.remarks if isinstance(data, Samples) else ()),
                *(f"{c} were read from {listed(n)}" for c, n in several.items()),
            ),
        }
        return cls(
            dict(islice(checked.columns.items(), len(read))),
            checked.size,
            read_keys(key, table.names, table.column, checked.size) if key else None,
            unread=names.read_unread(chosen, fallbacks, table.names, table.column, checked.size),
            beside={
                column: partial(table.column, name)
                for name in table.plain_names()
                if (column := names.column_of_alias(name)) in ("sources", "questions")
                and column not in chosen
                and name not in chosen.values()
            },
            facts=facts,
        )

    def blocks(self, characters: int = BLOCK_CHARACTERS) -> Iterator[Block]:
        """The batch cut into blocks of about so many characters, in order."""
        for start, stop in self.cuts(characters):
            columns = {name: c.part(start, stop) for name, c in self.columns.items()}
            answers = self.answers and self.part(start, stop).answers
            yield Block(columns, start, stop, answers)

    def parts(self, characters: int) -> Iterator[Batch]:
        """The batch cut into batches of about so many characters, in order."""
        for start, stop in self.cuts(characters):
            yield self.part(start, stop)

    def part(self, start: int, stop: int) -> Batch:
        """The columns, answers and keys of the samples from start to stop."""
        columns = {name: column.part(start, stop) for name, column in self.columns.items()}
        keys = None if self.keys is None else self.keys[start:stop]
        if not self.answers:
            return Batch(columns, stop - start, keys=keys)
        answers = {name: column.part(start, stop) for name, column in self.answers.items()}
        return Batch(columns, stop - start, keys=keys, answers=answers)

    def cuts(self, characters: int) -> list[tuple[int, int]]:
        """Where each block of about so many characters starts and ends."""
        sizes = np.zeros(self.size, np.int64)
        for column in self.columns.values():
            lengths = np.full(len(column.items), 8)
            if _is_text(column.items):
                lengths = np.fromiter(map(len, column.items), np.int64, len(column.items))
            offsets = column.offsets
            sizes += lengths if offsets is None else row_sums(lengths, offsets)
        number = np.cumsum(sizes) // characters
        starts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), self.size]
        return [(a, b) for a, b in pairwise(starts) if a < b]


class View(NamedTuple):
    """A metric's view of a block: its arguments by name, and the sample of every row.

    `sample` is (R,); None says that row i is sample i.
    """

    arguments: Mapping[str, Any]
    rows: int
    sample: NDArray[np.int64] | None


class Block:
    """The samples from `start` to `stop` of a batch; its tokens are shared by all metrics.

    `answers` may take the place of the predictions. `original` is the block with the predictions,
    which keeps the texts of all other columns.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        start: int,
        stop: int,
        answers: Mapping[str, Column] = MappingProxyType({}),
        original: Block | None = None,
    ) -> None:
        self.columns, self.start, self.stop, self.answers = columns, start, stop, answers
        self._original = original
        self._texts: dict[str, Any] = {}
        self._views: dict[tuple[str, ...], View] = {}
        self.answered: dict[tuple[str, bool], Block] = {}

    def __len__(self) -> int:
        return self.stop - self.start

    def view(self, inputs: tuple[str, ...]) -> View:
        """The arguments for inputs named as a metric names them.

        A singular input gives one item per row: a sample with 2 predictions and 3 references has
        6 rows, the last input varying fastest. A plural input gives every row the whole list.
        """
        if inputs not in self._views:
            self._views[inputs] = self._expand(inputs)
        return self._views[inputs]

    def with_predictions(self, predictions: Column) -> Block:
        """The block with other predictions, which shares the texts of all other columns."""
        columns = {**self.columns, "predictions": predictions}
        return Block(columns, self.start, self.stop, original=self)

    def _expand(self, inputs: tuple[str, ...]) -> View:
        single = [name for name in inputs if not names.is_plural(name)]
        columns = [self.columns[names.column_of(name)] for name in single]
        if all(column.offsets is None for column in columns):
            arguments = {
                name: self._groups(name) if names.is_plural(name) else self._flat(name)
                for name in inputs
            }
            return View(arguments, len(self), None)
        sample, picks = _product([column.counts for column in columns])
        arguments = {}
        for name, column, pick in zip(single, columns, picks, strict=True):
            starts = np.arange(len(self)) if column.offsets is None else column.offsets[:-1]
            arguments[name] = _take(self._flat(name), starts[sample] + pick)
        for name in inputs:
            if names.is_plural(name):
                arguments[name] = _take_groups(self._groups(name), sample)
        return View(arguments, len(sample), sample)

    def _flat(self, name: str) -> Any:
        column = names.column_of(name)
        if self._original and column != "predictions":
            return self._original._flat(name)  # noqa: SLF001  # of this class
        if column not in self._texts:
            items = self.columns[column].items
            self._texts[column] = Texts(items) if _is_text(items) else items
        return self._texts[column]

    def _groups(self, name: str) -> Any:
        items, offsets = self._flat(name), self.columns[names.column_of(name)].offsets
        offsets = np.arange(len(items) + 1) if offsets is None else offsets
        if isinstance(items, Texts):
            return RaggedTexts(items, offsets)
        return lists_of(Column(items, offsets))


def lists_of(column: Column) -> list[list[Any]]:
    """The items of every sample."""
    ends = np.arange(len(column.items) + 1) if column.offsets is None else column.offsets
    return [list(column.items[a:b]) for a, b in pairwise(ends.tolist())]


def _product(
    counts: Sequence[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """The sample of every row, and for each column the position of the row's item in its list."""
    total = np.prod(counts, axis=0)
    sample = np.repeat(np.arange(len(total)), total)
    number = positions_within(offsets_of(total))
    picks = []
    for count in reversed(counts):
        number, pick = np.divmod(number, count[sample])
        picks.append(pick)
    return sample, picks[::-1]


def _take(items: Any, index: NDArray[np.int64]) -> Any:
    return items.take(index) if isinstance(items, Texts) else [items[i] for i in index]


def _take_groups(groups: Any, sample: NDArray[np.int64]) -> Any:
    if not isinstance(groups, RaggedTexts):
        return [groups[i] for i in sample]
    items, offsets = take_rows(groups.offsets, sample)
    return RaggedTexts(groups.items.take(items), offsets)


def _is_text(items: Iterable[object]) -> bool:
    kinds = set(map(type, items))
    return kinds <= {str} or all(issubclass(kind, str) for kind in kinds)


def _equal_lengths(read: Mapping[str, Sequence[Any]]) -> None:
    lengths = {name: len(values) for name, values in read.items()}
    if len(set(lengths.values())) <= 1:
        return
    counts = ", ".join(f"{name} has {length}" for name, length in lengths.items())
    message = f"the columns differ in length: {counts}; each needs one entry per sample"
    for name, values in read.items():
        inner = {len(v) for v in values if isinstance(v, (list, tuple))}
        others = {length for other, length in lengths.items() if other != name}
        if len(inner) == 1 and inner == others and all(not isinstance(v, str) for v in values):
            message += (
                f". Is {name} transposed? It holds {lengths[name]} lists of {inner.pop()}; "
                f"give one list per sample: {name}=[list(r) for r in zip(*{name})]"
            )
    raise InputError(message)


def _column(name: str, values: Sequence[Any]) -> Column:
    if set(map(type, values)) == {str}:
        return Column(values, None)
    lists = [inner_list(value) for value in values]
    if name in names.TEXT:
        check_texts(name, values, lists)
    if all(items is None for items in lists):
        return Column(values, None)
    groups = [[v] if items is None else items for v, items in zip(values, lists, strict=True)]
    offsets = np.concatenate(([0], np.cumsum([len(group) for group in groups], dtype=np.int64)))
    flat = list(chain.from_iterable(groups))
    single = name not in names.CONVERSATIONS and (np.diff(offsets) == 1).all()
    return Column(flat, None if single else offsets)
