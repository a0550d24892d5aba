"""Each reader gives what one table gives, and holds a few batches of it at a time, in one pass."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest
from polars.io.plugins import register_io_source

import metrichub
from metrichub import Hub
from metrichub.data import files, source
from metrichub.data.location import PACKED
from metrichub.data.samples import ROWS
from metrichub.errors import FileError, InputError, MissingColumn
from tests.toy_metrics import Overlap

HUB = Hub([Overlap(), "wer"])
TABLE = {
    "prediction": ["a b", "c", "", "d é", "b"],
    "reference": ["a c", "c", "a", "é", "d"],
    "id": [1, 2, 3, 4, 5],
}
ROWS_OF_TABLE = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS_OF_TABLE)


class Stream:
    """An object with an Arrow C stream and nothing else."""

    def __init__(self, table: pyarrow.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def arrow() -> pyarrow.Table:
    return pyarrow.table(TABLE)


def as_folder() -> str:
    for number in range(5):
        folder = Path("parts") / f"language={'en' if number < 3 else 'fr'}"
        folder.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(arrow().slice(number, 1), folder / f"{number}.parquet")
    (Path("parts") / "_SUCCESS").write_text("", encoding="utf-8")
    (Path("parts") / "_temporary").mkdir()
    (Path("parts") / "_temporary" / "9.parquet").write_text("half", encoding="utf-8")
    return "parts"


def as_csv() -> str:
    with Path("a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([TABLE, *zip(*TABLE.values(), strict=True)])
    return "a.csv"


def as_packed(name: str) -> str:
    makers = {"jsonl": as_lines, "csv": as_csv, "parquet": as_parquet}
    content = Path(makers[name.lower().split(".")[1]]()).read_bytes()
    if name.lower().endswith(".gz"):
        Path(name).write_bytes(gzip.compress(content))
    else:
        Path(name).write_bytes(pyarrow.Codec("zstd").compress(content, asbytes=True))
    return name


def as_parquet() -> str:
    pyarrow.parquet.write_table(arrow(), "a.parquet")
    return "a.parquet"


def as_lines() -> Path:
    Path("a.jsonl").write_text(LINES, encoding="utf-8")
    return Path("a.jsonl")


TABLES: dict[str, Callable[[], Any]] = {
    "rows": lambda: ROWS_OF_TABLE,
    "pandas": lambda: pandas.DataFrame(TABLE),
    "polars": lambda: polars.DataFrame(TABLE),
    "Arrow table": arrow,
    "Arrow batch": lambda: arrow().to_batches()[0],
    "Dataset": lambda: datasets.Dataset.from_dict(TABLE),
    "one split": lambda: datasets.DatasetDict({"train": datasets.Dataset.from_dict(TABLE)}),
    "file": as_lines,
    "file by its name": lambda: str(as_lines()),
    "CSV": as_csv,
    "Parquet": as_parquet,
    "folder": as_folder,
    "read": lambda: metrichub.read(as_lines()),
    **{
        name: lambda name=name: as_packed(name)
        for name in ("a.jsonl.gz", "a.jsonl.zst", "b.CSV.GZ", "a.csv.zst", "a.parquet.gz")
    },
}
STREAMS: dict[str, Callable[[], Any]] = {
    "iterator": lambda: iter([ROWS_OF_TABLE[:2], ROWS_OF_TABLE[2:]]),
    "LazyFrame": lambda: polars.LazyFrame(TABLE),
    "DuckDB": lambda: duckdb.from_arrow(arrow()),
    "Arrow stream": lambda: Stream(arrow()),
    "Arrow reader": lambda: arrow().to_reader(2),
    "Arrow data set": lambda: pyarrow.dataset.dataset(arrow()),
    "Arrow scanner": lambda: pyarrow.dataset.dataset(as_folder()).scanner(batch_size=2),
    "IterableDataset": lambda: datasets.Dataset.from_dict(TABLE).to_iterable_dataset(),
    "read_batches": lambda: metrichub.read_batches(as_lines(), characters=1),
    "one streamed split": lambda: datasets.IterableDatasetDict(
        {"train": datasets.Dataset.from_dict(TABLE).to_iterable_dataset()}
    ),
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", [*TABLES, *STREAMS])
@pytest.mark.filterwarnings("ignore::metrichub.DoubtfulScore")
@pytest.mark.filterwarnings("error")
def test_every_reader_gives_the_scores_and_samples_of_one_table(kind: str) -> None:
    expected = HUB.evaluate(TABLE)
    report = HUB.evaluate((TABLES | STREAMS)[kind]())
    # A batch of rows is summed after another: the last digit may differ.
    for name, outputs in expected.scores().items():
        assert report.scores()[name] == pytest.approx(outputs, rel=1e-12)
        for output, values in expected.samples()[name].items():
            assert report.samples()[name][output].tolist() == values.tolist()
    assert report.fingerprints == expected.fingerprints
    # What may be more than memory holds isn't kept to be shown.
    assert (report.texts is None) == (kind in STREAMS)


def test_a_hub_called_with_a_file_gives_its_scores() -> None:
    # By hand, of the references' words: 1 of 2, 1 of 1, 0 of 1, 1 of 1 and 0 of 1.
    assert HUB(as_lines())["overlap"] == {"score": 3 / 6}


COUNTED = 24 * ROWS


def counted(pulled: list[int]) -> Iterator[dict[str, Any]]:
    for number in range(COUNTED):
        pulled.append(number)
        yield {"prediction": "a b", "reference": "a c"}


def counted_batches(pulled: list[int]) -> Iterator[pyarrow.RecordBatch]:
    for _ in range(COUNTED // ROWS):
        pulled.extend(range(len(pulled), len(pulled) + ROWS))
        yield pyarrow.RecordBatch.from_pydict(
            {"prediction": ["a b"] * ROWS, "reference": ["a c"] * ROWS}
        )


def counted_lazy(pulled: list[int]) -> polars.LazyFrame:
    def frames(*_: object) -> Iterator[polars.DataFrame]:
        return (polars.from_arrow(batch) for batch in counted_batches(pulled))

    return register_io_source(
        frames, schema={"prediction": polars.String, "reference": polars.String}
    )


class CountedStream(Stream):
    def __init__(self, pulled: list[int]) -> None:
        self.pulled = pulled

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        schema = pyarrow.schema({"prediction": pyarrow.string(), "reference": pyarrow.string()})
        reader = pyarrow.RecordBatchReader.from_batches(schema, counted_batches(self.pulled))
        return reader.__arrow_c_stream__(requested_schema)


def counted_relation(pulled: list[int]) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    # What it prepares is limited by bytes, which these short rows are few of.
    connection.execute("SET streaming_buffer_size = '10KB'")
    return connection.from_arrow(pyarrow.RecordBatchReader.from_stream(CountedStream(pulled)))


COUNTING: dict[str, Callable[[list[int]], Any]] = {
    "IterableDataset": lambda pulled: datasets.IterableDataset.from_generator(
        counted, gen_kwargs={"pulled": pulled}
    ),
    "Arrow stream": CountedStream,
    "LazyFrame": counted_lazy,
    "DuckDB": counted_relation,
}


@pytest.mark.parametrize("kind", COUNTING)
@pytest.mark.parametrize("samples", [False, True])
def test_a_stream_is_read_once_and_a_few_batches_ahead(kind: str, samples: bool) -> None:
    pulled: list[int] = []
    ahead, measured = 0, 0

    def progress(amount: int) -> None:
        nonlocal ahead, measured
        ahead = max(ahead, len(pulled) - measured)
        measured += amount

    report = Hub(Overlap()).evaluate(COUNTING[kind](pulled), samples=samples, progress=progress)
    assert report.size == COUNTED
    # By hand: one word of two in every sample.
    assert (report.scores(), report.counts()) == ({"overlap": {"score": 0.5}}, {"overlap": {}})
    assert pulled == list(range(COUNTED))
    # The batch that is measured, the next one, and what an engine prepares meanwhile.
    assert ahead <= 8 * ROWS


def test_a_packed_file_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "PIECE", 32)
    for suffix in PACKED:
        parts = list(metrichub.read_batches(as_packed(f"a.jsonl{suffix}"), characters=1))
        assert [part.size for part in parts] == [1] * 5
        assert [value for part in parts for value in part["id"]] == TABLE["id"]
        assert [part.lines for part in parts] == [[1], [2], [3], [4], [5]]
        shares = [part.share or 0 for part in parts]
        assert shares == sorted(shares)
        assert 0 < shares[-1] <= 1


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("broken", [lambda content: content[:-9], lambda content: LINES.encode()])
def test_a_broken_packed_file_is_told_in_one_line(
    suffix: str, broken: Callable[[bytes], bytes]
) -> None:
    path = Path(as_packed(f"a.jsonl{suffix}"))
    path.write_bytes(broken(path.read_bytes()))
    with pytest.raises(FileError, match=rf"^a\.jsonl\{suffix}: can't be read: broken"):
        metrichub.read(path)


def test_plain_texts_may_be_packed_too() -> None:
    Path("p.txt.gz").write_bytes(gzip.compress(b"a\nb\n"))
    (samples,) = files.read_columns({"predictions": ["p.txt.gz"]})
    assert samples["predictions"] == ["a", "b"]


def test_a_parquet_folder_is_one_table_in_the_order_of_names_with_its_parts_as_columns() -> None:
    samples = metrichub.read(as_folder())
    assert {name: samples[name] for name in TABLE} == TABLE
    assert samples["language"] == ["en"] * 3 + ["fr"] * 2
    parts = list(metrichub.read_batches("parts", characters=1))
    assert [part.size for part in parts] == [1] * 5
    assert [part.start for part in parts] == [0, 1, 2, 3, 4]
    assert [part.share for part in parts] == [0.2, 0.4, 0.6, 0.8, 1.0]


@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")
def test_a_plan_that_a_library_cannot_run_is_one_line() -> None:
    wrong = polars.LazyFrame(TABLE).select("nothing")
    with pytest.raises(
        InputError, match=r"rows of the LazyFrame can't be read: .*nothing"
    ) as error:
        HUB.evaluate(wrong)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="rows of the DuckDBPyConnection can't be read"):
        HUB.evaluate(duckdb.connect())

    def rows() -> Iterator[dict[str, list[str]]]:
        raise ZeroDivisionError
        yield {}

    with pytest.raises(ZeroDivisionError):
        HUB.evaluate(rows())


def test_a_folder_without_parquet_and_one_with_a_broken_file_are_told() -> None:
    Path("empty").mkdir()
    with pytest.raises(FileError, match="empty: this folder has no Parquet files; name"):
        metrichub.read("empty")
    Path("empty/a.parquet").write_text("x", encoding="utf-8")
    with pytest.raises(FileError, match="empty: this isn't a readable Parquet file: "):
        metrichub.read("empty")


@pytest.mark.parametrize("kind", ["file", "CSV", "Parquet", "folder"])
def test_read_takes_the_columns_that_are_wanted_alone(kind: str) -> None:
    path = TABLES[kind]()
    assert metrichub.read(path, columns=["reference"]) == {"reference": TABLE["reference"]}
    renamed = metrichub.read(path, columns={"predictions": "reference", "references": "reference"})
    assert list(renamed) == ["predictions", "references"]
    assert HUB(renamed)["wer"]["score"] == 0
    with pytest.raises(MissingColumn, match="no column 'referense'; did you mean 'reference'"):
        metrichub.read(path, columns=["referense"])
    with pytest.raises(InputError, match=r"columns is one string; pass a list, columns=\['refer"):
        metrichub.read(path, columns="reference")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (3, r"columns takes names of columns, .*, not 3 \(int\)"),
        ([1], r"columns takes names of columns, .*, not 1 \(int\)"),
        ({1: "prediction"}, r"columns maps names of columns, .*, not 1 \(int\)"),
        ({"a": ["prediction"]}, r"columns maps each column to one name, .*, not to \['predict"),
    ],
)
def test_wanted_columns_have_names(columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrichub.read(TABLES["file"](), columns=columns)


def test_wanted_columns_reach_inside_and_name_the_line_where_a_path_ends() -> None:
    rows = [{"doc": {"text": "a"}}, {"doc": {}}]
    Path("d.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert metrichub.read("d.jsonl", columns={"doc": "doc"}) == {"doc": [{"text": "a"}, {}]}
    batches = metrichub.read_batches("d.jsonl", columns=["doc.text"], characters=1)
    assert next(batches) == {"doc.text": ["a"]}
    with pytest.raises(FileError) as caught:
        next(batches)
    assert str(caught.value) == "d.jsonl:2: doc.text[1] doesn't exist: doc is an empty object"


def test_of_parquet_only_the_wanted_columns_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    iter_batches = pyarrow.parquet.ParquetFile.iter_batches

    def watched(file: Any, **options: Any) -> Any:
        asked.append(options["columns"])
        return iter_batches(file, **options)

    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "iter_batches", watched)
    metrichub.read(as_parquet(), columns=["reference"])
    assert asked == [["reference"]]


def test_an_error_in_a_file_names_its_line() -> None:
    Path("b.jsonl").write_text(LINES + '{"prediction": 7, "reference": "a"}', encoding="utf-8")
    with pytest.raises(FileError, match=r"^b\.jsonl:6: predictions\[5\] is 7 \(int\), not text"):
        HUB("b.jsonl")


def test_a_column_that_a_file_lacks_is_missing_there() -> None:
    with pytest.raises(MissingColumn, match=r"^a\.jsonl: .* needs the column 'sources'"):
        Hub("sari").evaluate(as_lines())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("nowhere.jsonl", "nowhere.jsonl: no such file"),
        ("a text to score", "a text to score: no such file; pass texts by name, predictions="),
        ("a.xyz", "a.xyz: no such file"),
    ],
)
def test_a_string_that_is_no_file_is_told(data: str, message: str) -> None:
    with pytest.raises(FileError) as caught:
        HUB(data)
    assert str(caught.value).startswith(message)
