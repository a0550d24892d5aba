"""Files are read as samples or refused with file and line; they are written whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metrichub.data import files, source
from metrichub.errors import FileError, InputError, MissingDependency, ParameterError
from metrichub.hub import Hub


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
        # As lm-evaluation-harness 0.4.0 named it.
        ("b.jsonl", '\n[\n {"p": "a b",\n "r": "é"},\n {"p": "", "r": "d"}\n]\n'),
        ("b.json", '{"p": ["a b", ""], "r": ["é", "d"]}'),
        ("c.json", '{"data": [{"p": "a b", "r": "é"}, {"p": "", "r": "d"}]}'),
        ("a.csv", "p,r\na b,é\n,d\n"),
        ("b.csv", 'p,r\r\n"a b","é"\r\n\r\n,d'),
        ("a.tsv", "p\tr\na b\té\n\td\n"),
    ],
)
def test_every_text_format_gives_the_same_columns(tmp_path: Path, name: str, content: str) -> None:
    expected = {"p": ["a b", ""], "r": ["é", "d"]}
    assert files.read_samples(written(tmp_path, name, content)) == expected
    with_mark = written(tmp_path, name, b"\xef\xbb\xbf" + content.encode())
    assert files.read_samples(with_mark) == expected


ROW, OTHER = {"prediction": "a", "gold": "é"}, {"prediction": "", "gold": "d"}
TABLE = {"prediction": ["a", ""], "gold": ["é", "d"]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"model": "m", "results": [ROW, OTHER], "errors": []}, TABLE),
        ({"model": "m", "tags": ["x"], "rows": [ROW, OTHER]}, TABLE),
        # W&B's table.json; MLflow, and pandas' to_json(orient="split"), have it too.
        ({"columns": ["prediction", "gold"], "data": [["a", "é"], ["", "d"]], "ncols": 2}, TABLE),
        # By ids, as OpenCompass writes; pandas' orient="index".
        ({"7": ROW, "9": OTHER}, {"id": ["7", "9"], **TABLE}),
        ({"7": {**ROW, "id": "x"}, "9": {**OTHER, "id": "y"}}, {"id": ["x", "y"], **TABLE}),
        # pandas' to_json, as it is by default.
        ({"prediction": {"0": "a", "1": ""}, "gold": {"0": "é", "1": "d"}}, TABLE),
        # A conversation, or columns that hold objects, are no rows.
        ({"messages": [ROW]}, {"messages": [ROW]}),
        ({"x": [{"a": 1}, {}], "y": [1, 2]}, {"x": [{"a": 1}, {}], "y": [1, 2]}),
    ],
)
def test_json_holds_a_table_in_many_forms(tmp_path: Path, content: Any, expected: Any) -> None:
    path = written(tmp_path, "a.json", json.dumps(content))
    assert files.read_samples(path) == expected
    if "prediction" in expected:
        scores = Hub("exact_match")(str(path), columns={"references": "gold"})
        assert scores["exact_match"]["score"] == 0


@pytest.mark.parametrize(
    "content",
    [
        {"model": "m", "results": [ROW], "config": [ROW]},
        {"columns": ["a"], "data": [["x", "y"]], "v": 1},
        {"a": {"b": 1}, "c": 2},
        {},
    ],
)
def test_other_json_is_no_table(tmp_path: Path, content: Any) -> None:
    path = written(tmp_path, "a.json", json.dumps(content))
    with pytest.raises(FileError, match=r"a\.json: (holds an object, not a list|the file has no)"):
        files.read_samples(path)


def test_parquet_gives_the_same_columns(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    columns = {"p": ["a b", ""], "r": [["é", "e"], ["d"]]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    assert files.read_samples(tmp_path / "a.parquet") == columns


def test_bytes_in_a_column_of_texts_are_one_line(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    texts = pyarrow.array([b"a", b"\xe6("], pyarrow.binary()).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"p": ["a", "b"], "r": texts}), tmp_path / "a.parquet")
    with pytest.raises(FileError, match=r"a\.parquet: r contains text that isn't UTF-8"):
        files.read_samples(tmp_path / "a.parquet")


def test_a_parquet_column_without_a_readable_name_is_one_line(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"a name": ["x"]}), path)
    path.write_bytes(path.read_bytes().replace(b"a name", b"\xc5 name"))
    with pytest.raises(FileError, match="this isn't a readable Parquet file: 'utf-8' codec"):
        files.read_samples(path)


ROWS = [
    ("a.jsonl", '{"p": "a b", "r": "é"}\n\n{"p": "", "r": "d"}\n{"p": "x", "r": "y"}'),
    ("a.csv", 'p,r\r\na b,é\r\n\r\n"","d"\r\nx,y'),
    ("b.csv", 'p,r\n"a\n""b","é\r\n"\n,d\nx,y\n'),
    ("a.tsv", "p\tr\na b\té\n\td\nx\ty\n"),
    ("a.json", '[{"p": "a b", "r": "é"}, {"p": "", "r": "d"}]'),
]


@pytest.mark.parametrize(("name", "content"), ROWS)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("characters", [1, 5, 10**6])
@pytest.mark.parametrize("piece", [1, 4, 10**6])
def test_batches_are_the_file_in_parts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str,
    mark: bytes,
    characters: int,
    piece: int,
) -> None:
    path = written(tmp_path, name, mark + content.encode())
    samples = files.read_samples(path)
    monkeypatch.setattr(source, "PIECE", piece)
    parts = list(files.read_batches(path, characters=characters))
    expected = 1 if characters > 5 or name == "a.json" else samples.size
    assert len(parts) == expected or (characters == 5 and 1 < len(parts) < expected)
    for column, values in samples.items():
        assert [value for part in parts for value in part[column]] == values
    starts = [sum(part.size for part in parts[:i]) for i in range(len(parts))]
    assert [part.start for part in parts] == starts
    if samples.lines is not None:
        assert [line for part in parts for line in part.lines or ()] == samples.lines
    assert parts[-1].share == 1


def test_each_batch_says_how_much_of_the_file_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Lines of 11, 12 and 12 bytes: an "é" has two.
    path = written(tmp_path, "a.jsonl", '{"p": "a"}\n{"p": "é"}\n{"p": "bc"}\n'.encode())
    monkeypatch.setattr(source, "PIECE", 1)
    shares = [part.share for part in files.read_batches(path, characters=1)]
    assert shares == [11 / 35, 23 / 35, 1]


def test_a_parquet_file_is_read_in_parts(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    columns = {"p": [f"text {i}" for i in range(1000)], "r": [["x"] * (i % 3) for i in range(1000)]}
    for groups in (100, 1000):
        parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", row_group_size=groups)
        assert files.read_samples(tmp_path / "a.parquet") == columns
        parts = list(files.read_batches(tmp_path / "a.parquet", characters=1000))
        assert len(parts) > 5
        assert max(part.size for part in parts) < 200
        assert [value for part in parts for value in part["p"]] == columns["p"]
        assert [value for part in parts for value in part["r"]] == columns["r"]
        assert parts[-1].start + parts[-1].size == 1000


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_the_first_batch_comes_while_the_file_is_still_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "PIECE", 1)
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb", buffering=0) as stream:
        parts = files.read_batches(f"/dev/fd/{reader}", format="jsonl", characters=1)
        for text in ("a", "b"):
            stream.write(f'{{"p": "{text}"}}\n'.encode())
            part = next(parts)
            assert part == {"p": [text]}
            assert part.share is None
    assert list(parts) == []
    os.close(reader)


def test_a_key_that_comes_up_late_is_none_only_from_there_on(tmp_path: Path) -> None:
    content = '{"p": "a"}\n{"p": "b", "r": "c"}\n{"p": "d"}\n'
    path = written(tmp_path, "a.jsonl", content)
    assert list(files.read_batches(path, characters=1)) == [
        {"p": ["a"]},
        {"p": ["b"], "r": ["c"]},
        {"p": ["d"], "r": [None]},
    ]


def test_the_csv_module_s_limit_is_untouched_between_two_batches(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    long = "x" * (limit + 1)
    path = written(tmp_path, "a.csv", f"p\n{long}\n{long}\n")
    parts = files.read_batches(path, characters=1)
    assert next(parts) == {"p": [long]}
    assert csv.field_size_limit() == limit
    assert next(parts) == {"p": [long]}


def test_an_error_late_in_a_stream_comes_after_the_batches_before_it(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"p": "a"}\n{"p": "b"}\n{')
    parts = files.read_batches(path, characters=1)
    assert [next(parts), next(parts)] == [{"p": ["a"]}, {"p": ["b"]}]
    with pytest.raises(FileError, match=r"a\.jsonl:3: broken JSON"):
        next(parts)


def test_a_missing_file_is_missed_before_it_is_streamed(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        files.read_batches(tmp_path / "a.jsonl")
    with pytest.raises(FileError, match="no such file"):
        files.read_columns({"predictions": [str(tmp_path / "a.txt")]})


@pytest.mark.parametrize("characters", [1, 10**6])
def test_plain_lines_are_columns_in_parts(tmp_path: Path, characters: int) -> None:
    p = str(written(tmp_path, "p.txt", "\ufeffa b\r\n\nc"))
    r = str(written(tmp_path, "r.txt", "é\nd\ne\n"))
    parts = list(
        files.read_columns({"predictions": [p], "references": [r, p]}, characters=characters)
    )
    assert len(parts) == (3 if characters == 1 else 1)
    assert [value for part in parts for value in part["predictions"]] == ["a b", "", "c"]
    references = [value for part in parts for value in part["references"]]
    assert references == [("é", "a b"), ("d", ""), ("e", "c")]
    assert str(parts[-1].error("bad", parts[-1].size - 1)) == f"{p}:3: bad"


@pytest.mark.parametrize("characters", [1, 10**6])
def test_files_of_unequal_length_are_told_with_all_their_lines(
    tmp_path: Path, characters: int
) -> None:
    p = str(written(tmp_path, "p.txt", "a\nb\nc\n"))
    r = str(written(tmp_path, "r.txt", "a\n"))
    message = f"{p} has 3, {r} has 1; line i of each is sample i"
    with pytest.raises(InputError, match=re.escape(message)):
        list(files.read_columns({"predictions": [p], "references": [r]}, characters=characters))


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match="pip install pyarrow"):
        files.read_samples(written(tmp_path, "a.parquet", "x"))


def test_a_format_can_be_given_against_the_suffix(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "p\n1\n")
    assert files.read_samples(path, format="csv") == {"p": ["1"]}


def test_a_key_that_some_rows_lack_is_none_there(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"p": "a"}\n\n{"p": "b", "r": ["c"]}\n')
    samples = files.read_samples(path)
    assert samples == {"p": ["a", "b"], "r": [None, ["c"]]}
    assert samples.lines == [1, 3]


def test_cells_with_line_breaks_keep_them_and_lines_are_counted(tmp_path: Path) -> None:
    samples = files.read_samples(written(tmp_path, "a.csv", 'p,r\n"a\nb",c\nd,"e ""f"""\n'))
    assert samples == {"p": ["a\nb", "d"], "r": ["c", 'e "f"']}
    assert samples.lines == [2, 4]


def test_a_cell_may_be_longer_than_the_csv_module_s_limit(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    long = "x" * (limit + 1)
    assert files.read_samples(written(tmp_path, "a.csv", f"p\n{long}\n")) == {"p": [long]}
    assert csv.field_size_limit() == limit


REFUSED = [
    ("a.jsonl", "", "a.jsonl: the file is empty"),
    ("a.jsonl", "\n\n", "a.jsonl: the file has no samples"),
    ("a.jsonl", '{"p": 1}\n{"p": \n', "a.jsonl:2: broken JSON at column"),
    ("a.jsonl", '{"p": 1}\n[1]\n', "a.jsonl:2: this line holds a list, not an object"),
    (
        "a.jsonl",
        '{\n "p": "a"\n}\n{\n "p": "b"\n}',
        "a.jsonl:1: .* one whole object: .* use 'jq -c .'",
    ),
    (
        "a.jsonl",
        '{"p": 1}\n{"p": 1, "p": 2}',
        "a.jsonl:2: an object has the key 'p' twice; keep one",
    ),
    ("a.json", '[{"q": {"p": 1, "p": 1}}]', "a.json: an object has the key 'p' twice"),
    ("a.jsonl", '"x"\n', "a.jsonl:1: this line holds a string"),
    ("a.jsonl", b'{"p": "a"}\n{"p": "\xe9"}\n', "a.jsonl:2: the text isn't UTF-8 .byte 0xe9"),
    ("a.jsonl", "{}".encode("utf-16"), "a.jsonl:1: .*looks like UTF-16"),
    (
        "a.jsonl",
        gzip.compress(b"{}", mtime=0),
        "a.jsonl:1: .*looks like gzip; rename it to end in .gz",
    ),
    ("a.jsonl", "[" * 100_000, "a.jsonl: this JSON can't be read"),
    ("a.jsonl", '\n[{"p": "a"},\n {"p": }]', "a.jsonl:3: broken JSON at column 8"),
    ("a.jsonl", '["a"]\n["b"]\n', "a.jsonl:2: broken JSON at column 1: Extra data$"),
    ("a.jsonl", '["a", "b"]', "a.jsonl: item 0 of the list is a string, not an object"),
    ("a.json", '[{"p": 1},\n {"p": }]', "a.json:2: broken JSON"),
    ("a.json", '{"p": "a"}\n{"p": "b"}\n', "a.json:2: .* JSON Lines, .*format='jsonl'"),
    ("a.json", "[]", "a.json: the file has no samples"),
    ("a.json", "3", "a.json: holds a number, not a list of objects"),
    ("a.json", '[{"p": 1}, null]', "a.json: item 1 of the list is null"),
    ("a.json", '{"format": "metrichub-report-1"}', "a.json: this is a saved report"),
    ("a.csv", "p,r\na,b\nc\n", "a.csv:3: 1 cells under a header of 2 .p, r"),
    ("a.csv", "p,r\na,b,c\n", "a.csv:2: 3 cells"),
    ("a.csv", 'p,r\na,"b\n', "a.csv:2: unexpected end of data"),
    ("a.csv", "p,p\na,b\n", "a.csv:1: two columns are called 'p'"),
    ("a.csv", "p,r\n", "a.csv: the file has no samples"),
    ("a.csv", "\n\n", "a.csv: the file has no header line"),
    ("a.tsv", "p\tr\nonly\n", "a.tsv:2: 1 cells"),
    ("a.parquet", "PAR?", "a.parquet: this isn't a readable Parquet file"),
    ("a.xlsx", "x", "a.xlsx: unknown suffix '.xlsx'; known: .jsonl, .json, .csv"),
    ("a.txt", "x", "a.txt: unknown suffix '.txt'.*; or name the format: metrichub.read"),
    ("a", "x", "a: the name has no suffix"),
]


@pytest.mark.parametrize(("name", "content", "message"), REFUSED)
def test_a_file_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(FileError, match=message) as caught:
        files.read_samples(path)
    assert caught.value.path == str(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "content", "message"), REFUSED)
def test_a_stream_gives_the_errors_of_the_whole_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str | bytes,
    message: str,
) -> None:
    monkeypatch.setattr(source, "PIECE", 3)
    path = written(tmp_path, name, content)
    with pytest.raises(FileError) as caught:
        files.read_samples(path)
    with pytest.raises(FileError, match=message) as streamed:
        list(files.read_batches(path, characters=1))
    assert str(streamed.value) == str(caught.value)


def test_a_missing_file_has_a_near_name(tmp_path: Path) -> None:
    written(tmp_path, "summaries.jsonl", "{}")
    with pytest.raises(FileError, match=r"no such file; did you mean 'summaries.jsonl'"):
        files.read_samples(tmp_path / "summarys.jsonl")
    with pytest.raises(FileError, match=r"no such file; there is no folder .*nowhere.* either"):
        files.read_samples(tmp_path / "nowhere" / "a.jsonl")
    with pytest.raises(FileError, match="no such file"):
        files.read_samples(tmp_path / "a.xyz")


@pytest.mark.parametrize("target", ["nowhere.jsonl", "link.jsonl"])
def test_a_symbolic_link_that_leads_nowhere_is_called_broken(tmp_path: Path, target: str) -> None:
    (tmp_path / "link.jsonl").symlink_to(target)
    with pytest.raises(FileError) as caught:
        files.read_samples(tmp_path / "link.jsonl")
    assert str(caught.value).endswith(f"link.jsonl: is a broken symbolic link (to '{target}')")


def test_a_symbolic_link_to_itself_is_not_written_to(tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(link)
    with pytest.raises(OSError, match="is a symbolic link that leads to itself"):
        files.write_text(link, "a")
    assert list(tmp_path.iterdir()) == [link]


def test_a_link_into_a_missing_folder_names_the_folder(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "gone" / "a.json")
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*gone'"):
        files.write_text(tmp_path / "link.json", "a")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(FileError, match="this folder has no Parquet files; name one file"):
        files.read_samples(tmp_path / "a.jsonl")


def test_standard_input_is_json_lines_unless_said_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"p": "a"}\n')))
    assert files.read_samples("-") == {"p": ["a"]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"p\na\n")))
    assert files.read_samples("-", format="csv") == {"p": ["a"]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'[{"p": "a"}]')))
    assert files.read_samples("-") == {"p": ["a"]}


def lines(path: str | Path) -> list[str]:
    (samples,) = files.read_columns({"predictions": [str(path)]})
    return samples["predictions"]


def test_lines_lose_their_break_and_nothing_else(tmp_path: Path) -> None:
    # str.splitlines would also break at U+2028, U+0085, form feed and a lone carriage return.
    content = "\ufeff a \u2028b\x0c\x85 \r\n\nc\td \n"
    assert lines(written(tmp_path, "a.txt", content)) == [
        " a \u2028b\x0c\x85 ",
        "",
        "c\td ",
    ]
    assert lines(written(tmp_path, "b.txt", "a\nb")) == ["a", "b"]
    assert lines(written(tmp_path, "c.txt", "\n")) == [""]


def test_an_empty_text_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the file is empty"):
        lines(written(tmp_path, "a.txt", ""))


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
    program = "from metrichub.data.files import write_text; write_text('/dev/stdout', 'x')"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout == b"x"
    assert Path("/dev/stdout").is_symlink()


def test_a_sample_error_names_file_and_line(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '\n{"p": "a"}\n')
    samples = files.read_samples(path)
    assert str(samples.error("bad", 0)) == f"{path}:2: bad"
    assert str(samples.error("bad")) == f"{path}: bad"
    rows = files.read_samples(written(tmp_path, "a.json", json.dumps([{"p": "a"}])))
    assert str(rows.error("bad", 0)).endswith("a.json: bad")


@pytest.mark.parametrize(("mark", "message"), [("\t", "tabs"), ("|", "bars")])
def test_columns_that_are_separated_otherwise_are_told(
    tmp_path: Path, mark: str, message: str
) -> None:
    path = written(tmp_path, "a.csv", f"prediction{mark}reference\na{mark}b\n")
    with pytest.raises(FileError, match=f"seems to be separated by {message}; save it with commas"):
        files.read_samples(path)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # As spreadsheets write it where the comma is the decimal mark.
        ("prediction;score\r\na, b;0,5\r\n", {"prediction": ["a, b"], "score": ["0,5"]}),
        ('"prediction";"reference"\n"a;b";"c"\n', {"prediction": ["a;b"], "reference": ["c"]}),
        # With a comma, commas separate; one quoted name is one column.
        ("prediction,a;b\nx;y,z\n", {"prediction": ["x;y"], "a;b": ["z"]}),
        ('"a;b"\nx;y\n', {"a;b": ["x;y"]}),
    ],
)
def test_a_header_with_semicolons_and_no_comma_is_separated_by_them(
    tmp_path: Path, text: str, columns: dict[str, list[str]]
) -> None:
    assert dict(files.read_samples(written(tmp_path, "a.csv", text))) == columns


def test_lines_are_counted_below_a_header_with_semicolons(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "prediction;reference\na;b\nc\n")
    with pytest.raises(FileError, match=r"a\.csv:3: 1 cells under a header of 2"):
        files.read_samples(path)


UNQUOTED = [
    # A quote that opens a cell and one that closes another, lines apart, are no cell of CSV.
    ('p\tr\n"hello there\tx\nokay\ty\nthe end"\tz\n', ['"hello there', "okay", 'the end"']),
    ('p\tr\n"Yes," he said.\tx\n"Yes"\ty\n', ['"Yes," he said.', '"Yes"']),
    ('p\tr\n"Yes"\tx\nNo\ty\n', ['"Yes"', "No"]),
    ('p\tr\n"open\tx\n"Yes"\ty\n', ['"open', '"Yes"']),
    # A doubled quote elsewhere doesn't make one row of two lines that are rows.
    ('p\tr\n"a\tx\nb"\ty\n"c ""d"""\tz\n', ['"a', 'b"', '"c ""d"""']),
]
QUOTED = [
    # As pandas' and Python's writers quote what needs it: quotes, line breaks and tabs.
    ('p\tr\n"say ""hi"""\tx\n"Yes"\ty\n', ['say "hi"', "Yes"]),
    ('p\tr\n"a\n\nb"\tx\nc\ty\n', ["a\n\nb", "c"]),
    ('p\tr\n"a\tb"\tx\nc\ty\n', ["a\tb", "c"]),
    ('p\tr\tq\n"a\tb\nc"\tx\ty\n', ["a\tb\nc"]),
    # As R's write.table and QUOTE_NONNUMERIC quote every text, the header too.
    ('"p"\t"r"\n"a"\t1\nNA\t2\n', ["a", "NA"]),
    ('p\tr\n"a"\tx\n"b"\ty\n\n', ["a", "b"]),
    ('p\n"a\nb"\nc\n', ["a\nb", "c"]),
]


@pytest.mark.parametrize(("content", "predictions"), UNQUOTED + QUOTED)
@pytest.mark.parametrize("way", ["file", "batches", ".gz", ".zst", "pipe", "stdin"])
def test_a_tsv_is_quoted_only_where_a_csv_writer_made_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str,
    predictions: list[str],
    way: str,
) -> None:
    monkeypatch.setattr(source, "PIECE", 1)
    path = written(tmp_path, "a.tsv", content)
    if way == "file":
        assert files.read_samples(path)["p"] == predictions
        return
    if way == ".gz":
        path = written(tmp_path, "a.tsv.gz", gzip.compress(content.encode()))
    elif way == ".zst":
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        packed = pyarrow.compress(content.encode(), "zstd", asbytes=True)
        path = written(tmp_path, "a.tsv.zst", packed)
    elif way == "pipe":
        with path.open("rb") as file:
            end = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        assert end.stdout is not None
        path = Path(f"/dev/fd/{end.stdout.fileno()}")
    elif way == "stdin":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    name = "-" if way == "stdin" else path
    parts = list(files.read_batches(name, format="tsv", characters=1))
    assert [text for part in parts for text in part["p"]] == predictions
    if way == "pipe":
        end.wait()
        end.stdout.close()


@pytest.mark.parametrize(
    ("name", "content", "quoting", "predictions"),
    [
        ("a.tsv", 'p\tr\n"Yes"\tx\nNo\ty\n', "standard", ["Yes", "No"]),
        ("a.tsv", 'p\tr\n"a ""b"""\tx\n', "none", ['"a ""b"""']),
        ("a.csv", 'p,r\n"Yes" he said,x\n', "none", ['"Yes" he said']),
        ("a.csv", 'p;r\n"a;b\n', "none", ['"a']),
    ],
)
def test_a_chosen_quoting_is_obeyed(
    tmp_path: Path, name: str, content: str, quoting: Any, predictions: list[str]
) -> None:
    assert files.read_samples(written(tmp_path, name, content), quoting=quoting)["p"] == predictions


def test_a_quoting_that_cannot_be_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'p,r\n"Yes" he said,x\n')
    with pytest.raises(FileError, match=r"a\.csv:2: .*; or, if quotes are text, read it with"):
        files.read_samples(path)
    with pytest.raises(ParameterError, match="choose 'standard' or 'none'"):
        files.read_samples(path, quoting="all")  # type: ignore[arg-type]
    with pytest.raises(FileError, match=r"a\.jsonl: isn't CSV or TSV"):
        files.read_samples(written(tmp_path, "a.jsonl", "{}"), quoting="none")


@pytest.mark.parametrize(
    ("content", "noted"),
    [
        ('prediction\treference\n"Yes"\ta\nNo\tb\n', True),
        # Certain: no CSV writer leaves what follows a cell's quotes.
        ('prediction\treference\n"Yes"\ta\n"No," he said.\tb\n', False),
        ('prediction\treference\n"Yes ""so"""\ta\nNo\tb\n', False),
        ('prediction\treference\nthe "x"\t"\n', False),
    ],
)
def test_cells_in_quotes_are_noted_where_they_may_be_none_of_the_text(
    tmp_path: Path, content: str, noted: bool
) -> None:
    report = Hub("wer").evaluate(written(tmp_path, "a.tsv", content))
    note = (
        "predictions has 1 cell in quotes, scored with them; if they aren't part of the text, read "
        "the file with standard quoting"
    )
    assert report.notes() == ({"wer": [note]} if noted else {})


@pytest.mark.parametrize("most", [None, "1", "1 MB"])
def test_a_file_that_unpacks_to_far_more_than_texts_do_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str | None
) -> None:
    if most:
        monkeypatch.setenv("METRICHUB_MAX_UNPACKED", most)
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"prediction": "' + b"a" * (2 << 20) + b'"}\n'))
    if most is None:
        assert files.read_samples(path)
        return
    message = r"more than 1 MB, the limit; .* METRICHUB_MAX_UNPACKED"
    if not most.isdecimal():
        message = "METRICHUB_MAX_UNPACKED is a whole number of MB, such as 1000, not '1 MB'"
    with pytest.raises(InputError, match=message):
        files.read_samples(path)
