"""Files are read as samples or refused with file and line; they are written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from metrichub import files
from metrichub.errors import FileError, MissingDependency


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"p": "a b", "r": "é"}\n{"p": "", "r": "d"}\n'),
        ("a.ndjson", '{"p": "a b", "r": "é"}\r\n{"p": "", "r": "d"}'),
        ("a.JSONL", '\n{"p": "a b", "r": "é"}\n   \n{"p": "", "r": "d"}\n\n'),
        ("a.json", '[{"p": "a b", "r": "é"},\n {"p": "", "r": "d"}]'),
        ("b.json", '{"p": ["a b", ""], "r": ["é", "d"]}'),
        ("a.csv", "p,r\na b,é\n,d\n"),
        ("b.csv", 'p,r\r\n"a b","é"\r\n\r\n,d'),
        ("a.tsv", "p\tr\na b\té\n\td\n"),
    ],
)
def test_every_text_format_gives_the_same_columns(tmp_path: Path, name: str, content: str) -> None:
    expected = {"p": ["a b", ""], "r": ["é", "d"]}
    assert files.read(written(tmp_path, name, content)) == expected
    with_mark = written(tmp_path, name, b"\xef\xbb\xbf" + content.encode())
    assert files.read(with_mark) == expected


def test_parquet_gives_the_same_columns(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"p": ["a b", ""], "r": [["é", "e"], ["d"]]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    assert files.read(tmp_path / "a.parquet") == columns


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match="pip install pyarrow"):
        files.read(written(tmp_path, "a.parquet", "x"))


def test_a_format_can_be_given_against_the_suffix(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "p\n1\n")
    assert files.read(path, format="csv") == {"p": ["1"]}


def test_a_key_that_some_rows_lack_is_none_there(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"p": "a"}\n\n{"p": "b", "r": ["c"]}\n')
    samples = files.read(path)
    assert samples == {"p": ["a", "b"], "r": [None, ["c"]]}
    assert samples.lines == [1, 3]


def test_cells_with_line_breaks_keep_them_and_lines_are_counted(tmp_path: Path) -> None:
    samples = files.read(written(tmp_path, "a.csv", 'p,r\n"a\nb",c\nd,"e ""f"""\n'))
    assert samples == {"p": ["a\nb", "d"], "r": ["c", 'e "f"']}
    assert samples.lines == [2, 4]


def test_a_cell_may_be_longer_than_the_csv_module_s_limit(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    long = "x" * (limit + 1)
    assert files.read(written(tmp_path, "a.csv", f"p\n{long}\n")) == {"p": [long]}
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "", "a.jsonl: the file is empty"),
        ("a.jsonl", "\n\n", "a.jsonl: there are no samples"),
        ("a.jsonl", '{"p": 1}\n{"p": \n', "a.jsonl:2: broken JSON at column"),
        ("a.jsonl", '{"p": 1}\n[1]\n', "a.jsonl:2: this line holds a list, not an object"),
        ("a.jsonl", '"x"\n', "a.jsonl:1: this line holds a string"),
        ("a.jsonl", b'{"p": "a"}\n{"p": "\xe9"}\n', "a.jsonl:2: the text isn't UTF-8 .byte 0xe9"),
        ("a.jsonl", "{}".encode("utf-16"), "a.jsonl:1: .*looks like UTF-16"),
        ("a.jsonl", "[" * 100_000, "a.jsonl:1: this JSON can't be read"),
        ("a.json", '[{"p": 1},\n {"p": }]', "a.json:2: broken JSON"),
        ("a.json", '{"p": "a"}\n{"p": "b"}\n', "a.json:2: .*--input-format jsonl"),
        ("a.json", "[]", "a.json: there are no samples"),
        ("a.json", "3", "a.json: holds a number; a list of objects"),
        ("a.json", '[{"p": 1}, null]', "a.json: item 1 of the list is null"),
        ("a.json", '{"format": "metrichub-report-1"}', "a.json: this is a saved report"),
        ("a.csv", "p,r\na,b\nc\n", "a.csv:3: 1 cells, but the header has 2 .p, r"),
        ("a.csv", "p,r\na,b,c\n", "a.csv:2: 3 cells"),
        ("a.csv", 'p,r\na,"b\n', "a.csv:2: unexpected end of data"),
        ("a.csv", "p,p\na,b\n", "a.csv:1: two columns are called 'p'"),
        ("a.csv", "p,r\n", "a.csv: there are no samples"),
        ("a.csv", "\n\n", "a.csv: the file has no header line"),
        ("a.tsv", "p\tr\nonly\n", "a.tsv:2: 1 cells"),
        ("a.parquet", "PAR?", "a.parquet: no Parquet file"),
        ("a.xlsx", "x", "a.xlsx: unknown suffix '.xlsx'; known: .jsonl, .json, .csv"),
        ("a.txt", "x", "a.txt: unknown suffix '.txt'.*-p FILE -r FILE"),
        ("a", "x", "a: the name has no suffix"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(FileError, match=message) as caught:
        files.read(path)
    assert caught.value.path == str(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_has_a_near_name(tmp_path: Path) -> None:
    written(tmp_path, "summaries.jsonl", "{}")
    with pytest.raises(FileError, match=r"no such file; did you mean 'summaries.jsonl'"):
        files.read(tmp_path / "summarys.jsonl")
    with pytest.raises(FileError, match=r"no such file \(nor a folder"):
        files.read(tmp_path / "nowhere" / "a.jsonl")
    with pytest.raises(FileError, match="no such file"):
        files.read(tmp_path / "a.xyz")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(FileError, match="this is a folder"):
        files.read(tmp_path / "a.jsonl")


def test_standard_input_is_json_lines_unless_said_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"p": "a"}\n')))
    assert files.read("-") == {"p": ["a"]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"p\na\n")))
    assert files.read("-", format="csv") == {"p": ["a"]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[]")))
    with pytest.raises(FileError, match="<stdin>:1: "):
        files.read("-")


def test_lines_lose_their_break_and_nothing_else(tmp_path: Path) -> None:
    # str.splitlines would also break at U+2028, U+0085, form feed and a lone carriage return.
    content = "\ufeff a \u2028b\x0c\x85 \r\n\nc\td \n"
    assert files.read_lines(written(tmp_path, "a.txt", content)) == [
        " a \u2028b\x0c\x85 ",
        "",
        "c\td ",
    ]
    assert files.read_lines(written(tmp_path, "b.txt", "a\nb")) == ["a", "b"]
    assert files.read_lines(written(tmp_path, "c.txt", "\n")) == [""]


def test_an_empty_text_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the file is empty"):
        files.read_lines(written(tmp_path, "a.txt", ""))


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a.txt", "é\r\n\n")
    assert (tmp_path / "a.txt").read_bytes() == "é\r\n\n".encode()
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_error_while_writing_keeps_the_old_file_and_leaves_no_other(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "old")
    with pytest.raises(UnicodeEncodeError):
        files.write_text(path, "new \ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_error_while_writing_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        files.write_text(tmp_path / "a.txt", "\ud800")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions and links")
def test_a_replaced_file_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "old")
    path.chmod(0o640)
    (tmp_path / "link.txt").symlink_to(path)
    files.write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_a_device_is_written_to_and_not_replaced() -> None:
    program = "from metrichub.files import write_text; write_text('/dev/stdout', 'x')"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout == b"x"
    assert Path("/dev/stdout").is_symlink()


def test_a_sample_error_names_file_and_line(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '\n{"p": "a"}\n')
    samples = files.read(path)
    assert str(samples.error("bad", 0)) == f"{path}:2: bad"
    assert str(samples.error("bad")) == f"{path}: bad"
    rows = files.read(written(tmp_path, "a.json", json.dumps([{"p": "a"}])))
    assert str(rows.error("bad", 0)).endswith("a.json: bad")
