"""Parquet and compressed files: scored like any other, and no bomb."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow
import pyarrow.parquet
from starlette.testclient import TestClient

from metrichub.app.settings import ServerLimits, ServerSettings
from tests.app_client import calling, run_of, words

ROWS = ({"prediction": "a b c", "reference": "a b d"}, {"prediction": "d", "reference": "d"})
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()
MIB = 1 << 20


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A client of a server that unpacks up to 8 MB."""
    with calling(ServerSettings(limits=ServerLimits(unpacked=8 * MIB))) as result:
        yield result


def scored(client: TestClient, name: str, content: bytes) -> str:
    _, page = run_of(client, [("file", (name, content))], metric="wer")
    return words(page)


def parquet(table: Any) -> bytes:
    """The table as a file that doesn't say how Arrow held it."""
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, store_schema=False)
    return sink.getvalue()


def zstd(content: bytes) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def repeated(times: int, text: str) -> Any:
    """A column of one text many times, which a file holds once."""
    return pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * times, pyarrow.int32()), pyarrow.array([text])
    )


def test_packed_files_and_parquet_are_scored(client: TestClient) -> None:
    table = parquet(pyarrow.Table.from_pylist(list(ROWS)))
    for name, content in (
        ("a.jsonl.zst", zstd(LINES)),
        ("a.parquet", table),
        ("a.parquet.gz", gzip.compress(table, mtime=0)),
    ):
        message = scored(client, name, content)
        # One of 4 reference words is replaced.
        assert "0.250" in message, name


def test_a_parquet_file_of_short_repeated_texts_is_scored(client: TestClient) -> None:
    table = pyarrow.table({"prediction": repeated(1000, "a b"), "reference": repeated(1000, "a c")})
    message = scored(client, "a.parquet", parquet(table))
    assert "0.500" in message


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet"])
@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_a_file_that_unpacks_to_more_than_allowed_is_refused(
    client: TestClient, suffix: str, packing: str
) -> None:
    # Nine megabytes that take a few kilobytes.
    content = b" " * (9 * MIB)
    packed = gzip.compress(content, mtime=0) if packing == ".gz" else zstd(content)
    assert len(packed) < MIB // 50
    message = scored(client, f"a{suffix}{packing}", packed)
    assert f"a{suffix}{packing}: can't be read: it unpacks to more than 8 MB" in message


def bombs() -> Iterator[Any]:
    """Texts that a small file holds once and means so often that they take 20 GB; rows likewise."""
    texts = repeated(20_000, "x" * MIB)
    plain = repeated(20_000, "a")
    offsets = pyarrow.array(range(20_001), pyarrow.int32())
    yield pyarrow.table({"prediction": texts, "reference": plain})
    lists = pyarrow.ListArray.from_arrays(offsets, texts)
    yield pyarrow.table({"prediction": plain, "reference": lists})
    yield pyarrow.table({"prediction": plain, "reference": pyarrow.StructArray.from_arrays(
        [texts], ["text"])})  # fmt: skip
    # Two million rows of two cells.
    yield pyarrow.table({name: repeated(2_000_000, "a") for name in ("prediction", "reference")})


@pytest.mark.parametrize("number", range(4))
def test_a_parquet_file_that_means_more_than_allowed_is_refused(
    client: TestClient, number: int
) -> None:
    content = parquet(list(bombs())[number])
    assert len(content) < MIB
    assert "a.parquet: it unpacks to more than 8 MB" in scored(client, "a.parquet", content)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl.gz", LINES, "a.jsonl.gz: can't be read: broken .gz"),
        ("a.jsonl.zst", LINES, "a.jsonl.zst: can't be read: broken .zst"),
        ("a.parquet", LINES, "a.parquet: this isn't a readable Parquet file"),
        ("a.parquet", b"", "a.parquet: "),
    ],
)
def test_what_is_broken_is_said(client: TestClient, name: str, content: bytes, says: str) -> None:
    message = scored(client, name, content)
    assert says in message
    assert "upload-" not in message
