"""Parquet as a stream of samples: a file, or a folder of files as Spark and others write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from metrichub.data.classes import classes_of
from metrichub.data.formats import check_width
from metrichub.data.location import PIECE
from metrichub.data.readers import known_logs
from metrichub.data.samples import Samples
from metrichub.data.source import Source, too_large
from metrichub.data.values import as_list, columns_of_path
from metrichub.errors import FileError, InputError, MissingDependency

_MOST_ROWS = 100_000


def parquet(
    source: Source, size: int, paths: Sequence[str] | None, most: int | None = None
) -> Iterator[Samples]:
    """A file in batches of about so many bytes; with `paths`, only the columns that they need.

    Raises:
        FileError: it isn't a Parquet file; with `most`, it holds more bytes than that.
        MissingDependency: pyarrow isn't installed.
    """
    content = None if source.seekable else source.content()
    with _reading(source.name):
        import pyarrow
        import pyarrow.parquet

        stream = source.stream if content is None else pyarrow.BufferReader(content)
        file = pyarrow.parquet.ParquetFile(stream, buffer_size=PIECE, pre_buffer=False)
        columns = _chosen(source.name, file.schema_arrow.names, paths)
        if most is not None:
            file = _packed(stream, file.metadata)
        batches = file.iter_batches(batch_size=_rows([file.metadata], size), columns=columns)
        if most is not None:
            batches = _bounded(source.name, batches, most)
        yield from _samples(source.name, batches, file.metadata.num_rows)


def parquet_folder(folder: Path, size: int, paths: Sequence[str] | None) -> Iterator[Samples]:
    """The Parquet files of a folder, in the order of their names, as one table.

    Folders such as "language=en" in it give a column. Raises what `parquet` does.
    """
    with _reading(str(folder)):
        import pyarrow.dataset

        files = [path for path in sorted(folder.rglob("*.parquet")) if _is_data(path, folder)]
        if not files:
            message = (
                "this folder has no Parquet files; name one file in it (of other tools' logs it "
                f"may have those of {known_logs()})"
            )
            raise FileError(folder, message)
        table = pyarrow.dataset.dataset(
            [str(path) for path in files],
            format="parquet",
            partitioning="hive",
            partition_base_dir=str(folder),
        )
        metadata = [fragment.metadata for fragment in table.get_fragments()]
        batches = table.to_batches(
            batch_size=_rows(metadata, size),
            columns=_chosen(str(folder), table.schema.names, paths),
            batch_readahead=0,
            fragment_readahead=0,
            use_threads=False,
        )
        yield from _samples(str(folder), batches, sum(file.num_rows for file in metadata))


def _packed(stream: Any, metadata: Any) -> Any:
    """The file, its texts to be read as words of a dictionary where it holds them so.

    A text that a file holds once for a million rows takes a few bytes until then.
    """
    import pyarrow.parquet

    columns = (metadata.schema.column(number) for number in range(metadata.num_columns))
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    return pyarrow.parquet.ParquetFile(
        stream, metadata=metadata, read_dictionary=texts, buffer_size=PIECE, pre_buffer=False
    )


def _bounded(name: str, batches: Iterable[Any], most: int) -> Iterator[Any]:
    """The batches, none of which is unpacked with more than `most` bytes up to its end."""
    size = 0
    for batch in batches:
        size += sum(map(_unpacked_size, batch.columns))
        if size > most:
            raise FileError(name, too_large(most))
        yield batch


def _unpacked_size(column: Any) -> int:
    """About how many bytes the values of a column take, and a word for each of them."""
    import pyarrow
    from pyarrow import compute, types

    words: int = 8 * len(column)
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if types.is_dictionary(column.type) and any(is_it(column.type.value_type) for is_it in texts):
        lengths = compute.binary_length(column.dictionary).take(column.indices)
        return words + (compute.sum(lengths.cast(pyarrow.int64())).as_py() or 0)
    if types.is_list(column.type) or types.is_large_list(column.type):
        return words + _unpacked_size(column.flatten())
    if types.is_struct(column.type):
        return words + sum(map(_unpacked_size, column.flatten()))
    return words + int(column.nbytes)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn what pyarrow raises into `FileError`, and that it isn't there into what to install."""
    try:
        import pyarrow
    except ImportError:
        raise MissingDependency("reading Parquet", "pyarrow") from None
    try:
        yield
    except MemoryError:
        # Some of pyarrow's exceptions are this too.
        raise
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        cause = " ".join(str(error).split())
        raise FileError(name, f"this isn't a readable Parquet file: {cause}") from error


def _samples(name: str, batches: Iterable[Any], rows: int) -> Iterator[Samples]:
    start = 0
    for batch in batches:
        if batch.num_rows:
            share = (start + batch.num_rows) / rows
            columns = zip(batch.schema.names, batch.columns, strict=True)
            try:
                lists = {column: list(as_list(column, values)) for column, values in columns}
            except InputError as error:
                raise FileError(name, str(error)) from None
            yield Samples(name, lists, None, start, share, classes=classes_of(batch))
            start += batch.num_rows


def _is_data(path: Path, folder: Path) -> bool:
    """Whether a file holds data: marks, and parts of a write under way, start with "_" or "."."""
    return not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)


def _chosen(file: str, names: Sequence[str], paths: Sequence[str] | None) -> list[str]:
    """The columns to read: all, or those that the paths start at."""
    first = [columns_of_path(path, names) for path in paths or ()]
    # For a column that doesn't exist, the first batch raises an error that lists all columns.
    all_columns = paths is None or [] in first
    chosen = list(names) if all_columns else list(chain.from_iterable(first))
    check_width(file, len(chosen))
    return list(dict.fromkeys(chosen))


def _rows(metadata: Sequence[Any], size: int) -> int:
    """How many rows hold so many bytes, by the sizes that the files state."""
    groups = (file.row_group(number) for file in metadata for number in range(file.num_row_groups))
    total: int = sum(group.total_byte_size for group in groups)
    rows: int = size * sum(file.num_rows for file in metadata) // max(1, total)
    return max(1, min(rows, _MOST_ROWS))
