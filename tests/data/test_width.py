"""Files with more columns than any table of texts are refused before they cost time and memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from metrichub.data import files
from metrichub.errors import FileError

MOST = 1000


def csv(path: Path, names: Sequence[str]) -> None:
    path.write_text(f"{','.join(names)}\n{','.join('x' for _ in names)}\n")


def tsv(path: Path, names: Sequence[str]) -> None:
    path.write_text("\t".join(names) + "\n" + "\t".join("x" for _ in names) + "\n")


def jsonl(path: Path, names: Sequence[str]) -> None:
    path.write_text(json.dumps(dict.fromkeys(names, "x")))


def ragged(path: Path, names: Sequence[str]) -> None:
    path.write_text("".join(f"{json.dumps({name: 'x'})}\n" for name in names))


def rows(path: Path, names: Sequence[str]) -> None:
    path.write_text(json.dumps([{name: "x"} for name in names]))


def columns(path: Path, names: Sequence[str]) -> None:
    path.write_text(json.dumps({name: ["x"] for name in names}))


def parquet(path: Path, names: Sequence[str]) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    written = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    written.write_table(pyarrow.table({name: ["x"] for name in names}), path)


@pytest.mark.parametrize(
    ("name", "write", "where"),
    [
        ("a.csv", csv, ":1"),
        ("a.tsv", tsv, ":1"),
        ("a.jsonl", jsonl, ":1"),
        # A column a line: the last line has the one that is too many.
        ("a.jsonl", ragged, f":{MOST + 1}"),
        ("a.json", rows, ""),
        ("a.json", columns, ""),
        ("a.parquet", parquet, ""),
    ],
)
def test_one_column_more_than_are_read_is_refused_with_what_to_do(
    tmp_path: Path, name: str, write: Callable[[Path, Sequence[str]], None], where: str
) -> None:
    path = tmp_path / name
    names = [f"c{i}" for i in range(MOST + 1)]
    write(path, names[:MOST])
    assert set(files.read_samples(path)) == set(names[:MOST])
    write(path, names)
    with pytest.raises(FileError) as caught:
        files.read_samples(path)
    assert str(caught.value) == (
        f"{path}{where}: 1,001 columns are too many (the limit is 1,000); save a copy with "
        "only the columns that the metrics need"
    )
