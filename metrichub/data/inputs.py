"""Tables, files or columns by name, as batches; tables may come in parts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from metrichub.data.batch import Batch, lists_of
from metrichub.data.classes import classes_of
from metrichub.data.columns import CONVERSATIONS, TEXT, column_of, column_of_alias, is_typo
from metrichub.data.list_columns import LISTS
from metrichub.data.location import Location
from metrichub.data.metadata import Frame, only_split
from metrichub.data.samples import ROWS, Reading, Samples
from metrichub.data.values import Objects, TextOf, check_mapping, sample_error
from metrichub.errors import (
    FileError,
    InputError,
    MetrichubError,
    MissingColumn,
    MissingDependency,
    what,
)


class Columnar(Protocol):
    """Anything that gives its columns by name: a data frame, an Arrow table, a data set."""

    def __getitem__(self, column: str, /) -> Any: ...


class ArrowStream(Protocol):
    """Anything that gives its rows as an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream in a capsule."""


class InBatches(Protocol):
    """Anything that gives its rows by batches, such as an `IterableDataset`."""

    def iter(self, batch_size: int) -> Iterator[Any]:
        """The rows, so many at a time."""


Tabular: TypeAlias = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]] | Columnar
"""A mapping of columns, a list of dicts, or a table of pandas, polars, Arrow or `datasets`."""
Data: TypeAlias = Tabular | Iterator[Tabular] | ArrowStream | InBatches | str | Path
"""What a hub scores: one table, one that comes in parts, or the path of a file."""

_ELSEWHERE = {
    "dataset": "pass the table as the first argument: hub.evaluate(rows)",
    "judge": "pass the judge to the hub: Hub(metrics, judge=...)",
    "embedder": "pass the embedder to the hub: Hub(metrics, embedder=...)",
    "language": "pass the language of the prompts to the hub: Hub(metrics, language=...)",
    "reduce_fn": "it is called reduce",
    "n_jobs": "the number of processes is workers=...",
    "num_workers": "the number of processes is workers=...",
    "cluster": "pass it to the report: report.intervals(cluster=...) or compare(cluster=...)",
    "prices": "pass prices to the judge: judge=\"openai(model='...', prices=[0.25, 2])\"",
}
"""Advice for names that aren't options of a call, and that people try there."""
_DISTRIBUTED = {
    "ray.data": "bridges.ray.evaluate_dataset",
    "pyspark.sql": "bridges.pyspark.evaluate_dataframe",
}
"""The functions that score data on several machines, by the packages of its type."""
_TOKEN = re.compile("(a|and|but|for|from|had|has|in|of|on|that|the|this|to|was|with)|[,.،。，、।]")
"""What texts have, and no answer, label or keyword is."""


def batches_of(
    data: Data | None,
    by_name: Mapping[str, Iterable[Any]],
    needed: Mapping[str, str],
    columns: Mapping[str, str] | None = None,
    objects: Mapping[str, TextOf] | None = None,
    keep: Iterable[str] | None = None,
    key: Sequence[str] = (),
    unreduced: Iterable[Any] = (),
) -> Iterator[Batch]:
    """The batches of a table, of one that comes in parts, of a file, or of columns given by name.

    `needed` maps a column to a metric that asks for it, `columns` a column to its name in the
    table, `objects` a column to what makes texts of its objects. `keep` names the columns that
    stay with the report, `key` those that name a sample. `unreduced` are the metrics for which
    nobody chose how several candidates count.

    Raises:
        InputError: samples that can't be scored, or both a table and columns.
    """
    if data is not None and by_name:
        raise InputError(
            "pass either a table or columns by name, not both "
            f"(got a {type(data).__name__} and {', '.join(by_name)})"
        )
    check_mapping(columns)
    if data is None:
        table = Frame.of_columns(by_name)
        batch = Batch.from_data(table, needed, columns, objects, keep=keep, key=key)
        yield _checked(batch, unreduced)
        return
    shared: dict[str, bool] = {}

    def read(table: Any) -> Batch:
        batch = Batch.from_data(table, needed, columns, objects, keep=keep, key=key, shared=shared)
        return _checked(batch, unreduced)

    try:
        yield from _table_batches(data, read, needed, columns)
    except MissingColumn as error:
        # Of columns given by name there are no others to choose from.
        if error.column:
            error.with_remedy("choose_column", error.column, "NAME")
        raise


def _checked(batch: Batch, unreduced: Iterable[Any]) -> Batch:
    for name in ("predictions", "references"):
        column = batch.columns.get(name)
        # Most lists begin with a text of several words.
        if column and column.offsets is not None and not "".join(column.items[:1]).split()[1:]:
            _check_word_lists(batch, unreduced)
    return batch


def objects_of(metrics: Iterable[Any]) -> dict[str, TextOf]:
    """How objects in a column become text, where all metrics that read it take the same.

    A metric's `text_of_objects` makes them, in all columns or in each of a mapping, and its
    `names_of_objects` has by column the names under which other tools keep them. With
    `whole_objects`, whatever a sample has is one object: also a number, or a list of texts. Beside
    a metric that reads such a list as several texts, it is refused. With `reads_conversations`,
    `text_of_objects` gets the whole conversation where predictions are read from `messages`. With
    `several_objects`, a list is several objects. A column that has none of this is one of `LISTS`
    if a metric asks for all of a sample's.
    """
    lists: set[str] = set()
    no_lists = (*TEXT, *CONVERSATIONS)
    ways: dict[str, dict[TextOf | None, str]] = {}
    for metric in metrics:
        text_of = getattr(metric, "text_of_objects", None)
        names = getattr(metric, "names_of_objects", {})
        is_single = text_of is not None and getattr(metric, "whole_objects", False)
        talks = text_of is not None and getattr(metric, "reads_conversations", False)
        several = text_of is not None and getattr(metric, "several_objects", False)
        for name in metric.inputs():
            column = column_of(name)
            way = text_of.get(column) if isinstance(text_of, Mapping) else text_of
            if way and (is_single or talks or column in names):
                way = Objects(way, names.get(column, ()), is_single, talks, several)
            # A module of another library names all its columns in the plural.
            own_lists = text_of is None or several
            listed = own_lists if column == "predictions" else column not in no_lists
            if listed and name == column and (several or not way):
                lists.add(column)
            ways.setdefault(column, {}).setdefault(way, metric.name)
    common: dict[str, TextOf] = {}
    for column, metric_of in ways.items():
        way, *others = metric_of
        if way and not others:
            common[column] = way
        if not others:
            continue
        single = [way for way in metric_of if isinstance(way, Objects) and way.single]
        if single:
            text_of = partial(_shared, single, list(metric_of.values()))
            talks = any(way.conversations for way in single)
            several = all(way.several for way in single)
            common[column] = Objects(text_of, (), True, talks, several)
    for column in lists:
        way = common.get(column, LISTS)
        common[column] = way._replace(listed=True) if isinstance(way, Objects) else way
    return common


def _shared(ways: Sequence[Objects], metrics: Sequence[str], value: object) -> Any:
    """The text of an object for all metrics, also for those that read it as one object."""
    texts = [way.text_of(value) for way in ways]
    alike = len(ways) == len(metrics) and all(text == texts[0] for text in texts)
    if not alike and any(isinstance(text, str) for text in texts):
        raise ValueError(
            f"is {what(value)}, which {' and '.join(metrics)} read in different ways; give text, "
            "or score each by itself"
        )
    return texts[0]


def check_options(
    by_name: Mapping[str, Any],
    needed: Mapping[str, str],
    options: Collection[str],
    metrics: Iterable[Any] = (),
    with_table: bool = False,
) -> None:
    """Raise `InputError` for what was meant as an option or a parameter, and is taken for a column.

    `needed` maps a column to a metric that asks for it; beside a table no column is given by name.
    """
    for name, value in by_name.items():
        if name in _ELSEWHERE and name not in needed:
            raise InputError(f"{name} isn't a column; {_ELSEWHERE[name]}")
        if slip := next((column for column in needed if is_typo(name, column)), None):
            raise InputError(f"there is no column {name!r}; did you mean {slip!r}?")
        if name in options and name not in needed:
            raise InputError(f"an estimate sends nothing and has no {name}; evaluate has it")
        if column_of_alias(name) in TEXT:
            continue
        if isinstance(value, str) or not isinstance(value, Iterable):
            _check_parameter(name, value, metrics)
        if with_table or not isinstance(value, Iterable):
            import difflib

            close = difflib.get_close_matches(name, options, n=1)
            if close:
                raise InputError(f"there is no option {name!r}; did you mean {close[0]!r}?")


def _check_parameter(name: str, value: object, metrics: Iterable[Any]) -> None:
    for metric in metrics:
        # A module of another library knows its parameters itself.
        names_of = getattr(metric, "parameter_names", None)
        names = names_of() if names_of else getattr(metric, "__dataclass_fields__", ())
        if name in names and name != "name":
            raise InputError(
                f"{name} is a parameter of {metric.name}, not a column; write it in the spec: "
                f"{metric.card.name}({name}={value!r})"
            )


def is_stream(data: object) -> bool:
    """Whether data comes in parts, and may be more than memory holds; a file isn't a stream."""
    return not isinstance(data, (str, Path)) and _parts(only_split(data)) is not None


def _check_on_one_machine(data: object) -> None:
    """Raise `InputError` for data that lies on several machines; the text has the line for it."""
    kind = type(data)
    for package, function in _DISTRIBUTED.items():
        if f"{kind.__module__}.".startswith(f"{package}.") and kind.__name__.endswith(
            ("Dataset", "DataFrame")
        ):
            call = f"metrichub.{function}(hub, data, key='id')"
            raise InputError(
                f"the rows of a {package} {kind.__name__} are spread over several machines; score "
                f"them there with {call}, where key is a column that identifies each sample"
            )


def _table_batches(
    data: Data,
    read: Callable[[Any], Batch],
    needed: Mapping[str, str],
    columns: Mapping[str, str] | None = None,
) -> Iterator[Batch]:
    """The batches that `read` makes of a table, or of each part of one, or of a file.

    `needed` and `columns` are those by which it reads, so that an error finds its line in a file.

    Raises:
        InputError: as `read`, and a file that can't be read.
    """
    _check_on_one_machine(data)
    data = only_split(data)
    if isinstance(data, (str, Path)):
        reading = Reading(_samples(data), needed, columns or {})
        for samples in reading:
            try:
                batch = read(samples)
            except InputError as error:
                raise reading.located(error) from error
            yield batch
        return
    if _parts(data) is None:
        yield read(data)
        return
    empty = True
    for part in parts_of(data):
        if isinstance(part, Mapping) and any(isinstance(value, str) for value in part.values()):
            raise InputError(
                "the iterator yields single rows; pass a list of them, list(rows), or an "
                "iterator of tables, for example lists of a thousand rows"
            )
        yield read(part)
        empty = False
    if empty:
        yield Batch.of(**{name: () for name in needed})


def _samples(path: str | Path) -> Iterator[Samples]:
    from metrichub.data.files import read_batches

    text = path if isinstance(path, str) and Location.of(path).kind == "local" else None
    if text is not None and not (os.path.splitext(text)[1] or os.path.exists(text)):
        shown = text if len(text) <= 40 else f"{text[:37]}..."
        raise FileError(shown, "no such file; pass texts by name, predictions=[...]")
    return read_batches(path)


def _parts(data: Any) -> Callable[[], Iterable[Tabular]] | None:
    """A function that gives the parts of data that comes in parts; None for a table.

    Polars, DuckDB and others say that they have columns or Arrow streams, and would make all rows
    of them at once; so those that give rows batch by batch are known by the method that does.
    """
    kind = type(data)
    if isinstance(data, Iterator):
        return lambda: data
    if hasattr(kind, "collect_batches"):  # polars.LazyFrame
        return lambda: data.collect_batches(chunk_size=ROWS)
    # duckdb.DuckDBPyRelation, of today and up to 1.4.
    for method in ("to_arrow_reader", "fetch_arrow_reader"):
        if hasattr(kind, method):
            return partial(getattr(data, method), ROWS)
    if hasattr(kind, "iter") and not hasattr(kind, "__len__"):  # datasets.IterableDataset
        return lambda: (
            Samples(kind.__name__, part, classes=classes_of(data))
            for part in data.iter(batch_size=ROWS)
        )
    if hasattr(kind, "__getitem__"):
        return None
    if hasattr(kind, "scanner"):  # pyarrow.dataset.Dataset
        return lambda: data.to_batches(batch_size=ROWS, batch_readahead=1, fragment_readahead=1)
    if hasattr(kind, "to_batches"):  # pyarrow.dataset.Scanner
        return lambda: data.to_batches()
    return partial(_arrow_batches, data) if hasattr(kind, "__arrow_c_stream__") else None


def parts_of(data: Any) -> Iterator[Tabular]:
    """The parts of data that comes in parts.

    What a library says of a plan that it can't run is one line of an `InputError`; what the
    caller's own iterator raises is the caller's.
    """
    if isinstance(data, Iterator):
        yield from data
        return
    parts = _parts(data)
    try:
        yield from parts() if parts else ()
    except MetrichubError:
        raise
    except Exception as error:
        cause = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise InputError(f"the rows of the {type(data).__name__} can't be read: {cause}") from error


def _arrow_batches(data: Any) -> Iterable[Tabular]:
    try:
        import pyarrow
    except ImportError:
        raise MissingDependency(f"reading a {type(data).__name__}", "pyarrow") from None
    reader: Iterable[Tabular] = pyarrow.RecordBatchReader.from_stream(data)
    return reader


def _check_word_lists(batch: Batch, metrics: Iterable[Any]) -> None:
    """Raise `InputError` if the lists of a column are certainly the words of one text each.

    `metrics` are those that would count their items by a default, as nobody chose a reduction.
    """
    if not any("prediction" in m.inputs() and not hasattr(m, "text_of_objects") for m in metrics):
        return
    names = [name for name in ("predictions", "references") if name in batch.columns]
    lists = [lists_of(batch.columns[name]) for name in names]
    for name, column, others in zip(names, lists, lists[::-1], strict=True):
        sample = _words_of_a_text(column, others)
        if sample is not None:
            several = "candidates" if name == "predictions" else name
            problem = (
                f"is a list of words or characters, read as {len(column[sample])} {several}; join "
                f"those of one text (words by blanks), or say how {several} become one score"
            )
            raise sample_error(name, sample, problem).with_remedy("reduce_in_hub")


def _words_of_a_text(lists: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> int | None:
    """The first sample by which lists are words of texts, beside another column or the same."""
    items = list(chain.from_iterable(lists))
    if len({len(words) for words in lists}) == 1 < len(lists) or any(i.split()[1:] for i in items):
        return None
    pairs = list(zip(lists, others, strict=True))
    tokens = [item for item in items if _TOKEN.fullmatch(item)]
    # One of several answers may be the whole other text.
    answers = any(
        len(words) > 1 and len(other) == 1 and other[0] in words for words, other in pairs
    )
    if len({*tokens}) > 1 and 3 * len(tokens) <= 2 * len(items) and not answers:
        return next((k for k, words in enumerate(lists) if len(words) > 1), None)
    parts = [any(_make_up(words, text) for text in other) for words, other in pairs]
    return parts.index(True) if True in parts else None


def _make_up(items: Sequence[str], text: str) -> bool:
    """Whether the items, in their order, are most of a text."""
    remainder, parts = text, []
    for item in filter(str.strip, items):
        if item in remainder:
            remainder = remainder.partition(item)[2]
            parts.append(item)
    return len(parts) > 2 and len("".join(parts)) >= 0.6 * len("".join(text.split()))
