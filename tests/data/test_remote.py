"""Remote files: read and written as those of this machine, and whatever fails fails in one line."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

import metrichub
from metrichub import Hub, Report
from metrichub.data import files
from metrichub.data.location import Location, short_names
from metrichub.errors import FileError, MissingDependency, ReportError
from tests import web_stub
from tests.commands import ROWS, error, run, scored
from tests.entered import loaded

JSONL = "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()
HUB = Hub("wer")


def parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet

    out = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), out)
    return bytes(out.getvalue())


def zstandard(data: bytes) -> bytes:
    import pyarrow

    return bytes(pyarrow.compress(data, codec="zstd", asbytes=True))


FILES = {
    "a.jsonl": JSONL,
    "a.json": json.dumps(ROWS).encode(),
    "a.csv": b"id,prediction,reference\nx,a b c,a b d\ny,d,d\n",
    "a.tsv": b"id\tprediction\treference\nx\ta b c\ta b d\ny\td\td\n",
    "a.parquet": parquet(),
    "a.jsonl.gz": gzip.compress(JSONL),
    "a.csv.zst": zstandard(b"id,prediction,reference\nx,a b c,a b d\ny,d,d\n"),
}


@pytest.fixture(autouse=True)
def memory() -> Iterator[Any]:
    """The file system in memory, without files before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


@pytest.fixture
def web() -> Iterator[web_stub.Web]:
    with web_stub.serving() as web:
        web.files.update(FILES)
        yield web


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", ["memory", "web", "web without ranges"])
def test_every_format_is_read(memory: Any, web: web_stub.Web, place: str, name: str) -> None:
    memory.pipe(f"/runs/{name}", FILES[name])
    web.ranges = place == "web"
    path = f"memory://runs/{name}" if place == "memory" else f"{web.address}/{name}"
    assert metrichub.read(path) == {n: [row[n] for row in ROWS] for n in ROWS[0]}
    assert HUB(path) == HUB(ROWS)


def test_a_file_of_many_pieces_is_read_in_batches(memory: Any, web: web_stub.Web) -> None:
    data = b"".join(b'{"prediction": "%d", "reference": "b"}\n' % n for n in range(200_000))
    assert len(data) > 5 * 2**20  # More than fsspec takes at a time.
    web.files["long.jsonl"] = data
    batches = list(metrichub.read_batches(f"{web.address}/long.jsonl"))
    texts = [text for batch in batches for text in batch["prediction"]]
    assert texts == list(map(str, range(200_000)))
    assert len(batches) > 1
    shares = [batch.share or 0 for batch in batches]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_the_command_line_takes_addresses(memory: Any) -> None:
    memory.pipe("/a.jsonl.gz", FILES["a.jsonl.gz"])
    memory.pipe("/b.csv", FILES["a.csv"].replace(b"a b c", b"a b d"))
    memory.pipe("/p.txt", b"a b c\nd\n")
    memory.pipe("/r.txt", b"a b d\nd\n")
    systems = scored("memory://a.jsonl.gz", "ours=memory://b.csv", "-m", "wer")["systems"]
    assert {name: system["scores"]["wer"]["score"] for name, system in systems.items()} == {
        "a": 0.25,
        "ours": 0,
    }
    texts = scored("-p", "memory://p.txt", "-r", "memory://r.txt", "-m", "wer")
    assert texts["scores"]["wer"]["score"] == 0.25


def test_reports_pages_and_tables_are_written(memory: Any, tmp_path: Path) -> None:
    memory.pipe("/a.jsonl", JSONL)
    options = {"report": "p.html", "save": "r.json.gz", "samples": "s.csv", "output": "t.csv"}
    arguments = [x for name, file in options.items() for x in (f"--{name}", f"memory://out/{file}")]
    assert run("score", "memory://a.jsonl", "-m", "wer", *arguments).exit_code == 0
    arguments = [x for name, file in options.items() for x in (f"--{name}", str(tmp_path / file))]
    assert run("score", "memory://a.jsonl", "-m", "wer", *arguments).exit_code == 0
    # The page has the command, which names other files.
    assert memory.cat(f"/out/{options.pop('report')}").startswith(b"<!DOCTYPE html>")
    for file in options.values():
        assert len(memory.cat(f"/out/{file}")) == (tmp_path / file).stat().st_size
    report = Report.load("memory://out/r.json.gz")
    assert report == Report.load(tmp_path / "r.json.gz")
    saved = run("compare", "memory://out/r.json.gz", str(tmp_path / "r.json.gz"), "--format", "csv")
    assert "wer" in saved.stdout


def test_python_saves_a_report_and_its_page(memory: Any) -> None:
    report = HUB.evaluate(ROWS)
    for name in ("r.json", "r.json.gz"):
        report.save(f"memory://out/{name}")
        assert Report.load(f"memory://out/{name}") == report
    report.to_html("memory://page.html")
    assert memory.cat("/page.html").startswith(b"<!DOCTYPE html>")


def test_what_fails_while_it_is_written_leaves_nothing(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnicodeEncodeError):
        files.write_text("memory://a.txt", "\ud800")

    def full(*_: object, **__: object) -> None:
        raise RuntimeError("the bucket\nis full")

    monkeypatch.setattr(type(memory), "put_file", full)
    with pytest.raises(OSError, match="the bucket is full") as caught:
        HUB.evaluate(ROWS).save("memory://out/r.json")
    assert caught.value.filename == "memory://out/r.json"
    assert memory.find("/") == []


def test_a_web_address_is_refused_before_anything_is_scored(web: web_stub.Web) -> None:
    for option, name in (("--report", "r.html"), ("--save", "r.json"), ("-o", "r.csv")):
        path = f"{web.address}/{name}"
        message = error(run("score", f"{web.address}/a.jsonl", "-m", "wer", option, path), 2)
        assert f"{path}: a web address can only be read" in message
    with pytest.raises(OSError, match="a web address can only be read"):
        HUB.evaluate(ROWS).to_html(f"{web.address}/r.html")
    assert web.asked == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("{web}/none.jsonl", "can't be read: no such file"),
        ("{web}/401.jsonl", "can't be read: the server answered 401 Unauthorized"),
        ("{web}/403.jsonl", "can't be read: the server answered 403 Forbidden"),
        ("{web}/500.jsonl", "can't be read: the server answered 500 Internal Server Error"),
        ("http://127.0.0.1:1/a.jsonl", "can't be read: Connect call failed"),
        ("memory://none.jsonl", "can't be read: no such file"),
        ("memory://runs/a", "the name has no suffix; known: .jsonl"),
        ("htps://host/a.jsonl", "no file system is called 'htps'; did you mean 'https'"),
        ("file:///nowhere/a.jsonl", "can't be read: No such file or directory"),
    ],
)
def test_what_cannot_be_read_is_one_line(web: web_stub.Web, path: str, message: str) -> None:
    path = path.format(web=web.address)
    with pytest.raises(FileError) as caught:
        HUB.evaluate(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert message in error(run("score", path, "-m", "wer"), 3)


def test_an_answer_that_breaks_off_is_an_error(web: web_stub.Web) -> None:
    web.cut = True
    with pytest.raises(FileError, match=r"a\.jsonl: can't be read: "):
        metrichub.read(f"{web.address}/a.jsonl")


def test_a_report_that_cannot_be_read_is_a_report_error(web: web_stub.Web) -> None:
    with pytest.raises(ReportError, match=r"none\.json can't be read: no such file$"):
        Report.load(f"{web.address}/none.json")
    with pytest.raises(ReportError, match=r"/a\.json isn't a saved report"):
        Report.load(f"{web.address}/a.json?key=secret")


@pytest.mark.parametrize(
    ("address", "package"), [("s3://bucket/a.jsonl", "s3fs"), ("gs://bucket/a.json", "gcsfs")]
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, address: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for call in (HUB.evaluate, Report.load, HUB.evaluate(ROWS).save):
        with pytest.raises(MissingDependency, match=rf"^\w+:// needs {package}.*: pip install"):
            call(address)  # type: ignore[operator]  # each takes an address
    page = f"{address.partition('/a.')[0]}/a.html"
    assert package in error(run("score", "a.jsonl", "-m", "wer", "--report", page), 5)


def test_without_fsspec_it_is_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingDependency, match=r"https:// needs fsspec, .*: pip install fsspec$"):
        HUB.evaluate("https://host/a.jsonl")


def test_passwords_and_signatures_are_not_shown(web: web_stub.Web) -> None:
    secret = web.address.replace("://", "://user:word@")
    value = run("score", f"{web.address}/a.jsonl?sig=word", f"{secret}/a.csv?sig=word", "-m", "wer")
    assert value.exit_code == 0
    assert "word" not in value.output + value.stderr
    assert "GET /a.jsonl?sig=word" in web.asked
    for path in (f"{web.address}/none.jsonl?sig=word", f"{secret}/none.jsonl"):
        assert "word" not in error(run("score", path, "-m", "wer"), 3)
    assert short_names([f"{secret}/a.csv?sig=word"], alone=True) == [f"{web.address}/a.csv"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("s3://bucket/a.jsonl", "remote"),
        ("hf://datasets/owner/name/data/test.jsonl", "remote"),
        ("hf://datasets/owner/name", "data set"),
        ("hf://owner/name?split=test", "data set"),
        ("hf:///tmp/data/set", "data set"),
        ("C:\\runs\\a.jsonl", "local"),
        ("://a.jsonl", "local"),
        ("see https://host/a", "local"),
        (Path("s3://bucket/a.jsonl"), "local"),
        ("-", "stdin"),
    ],
)
def test_what_is_an_address(path: Any, kind: str) -> None:
    assert Location.of(path).kind == kind


def test_files_in_a_repository_of_the_hub_are_read(memory: Any) -> None:
    from huggingface_hub import HfFileSystem

    class Repositories(type(memory)):  # type: ignore[misc]  # MemoryFileSystem
        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return str(super()._strip_protocol(path.removeprefix("hf://")))

    memory.pipe("/datasets/owner/name/test.jsonl", JSONL)
    fsspec.register_implementation("hf", Repositories, clobber=True)
    try:
        assert HUB("hf://datasets/owner/name/test.jsonl") == HUB(ROWS)
    finally:
        fsspec.register_implementation("hf", HfFileSystem, clobber=True)


def test_files_of_this_machine_need_no_fsspec(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.csv", "a.jsonl.gz"):
        (tmp_path / name).write_bytes(FILES[name])
    modules = loaded(
        "from metrichub import Hub, Report\n"
        f"for name in ('a.jsonl', 'a.csv', 'a.jsonl.gz'):\n"
        f"    report = Hub('wer').evaluate({str(tmp_path)!r} + '/' + name)\n"
        f"report.save({str(tmp_path / 'r.json')!r})\n"
        f"Report.load({str(tmp_path / 'r.json')!r})\n"
        f"report.to_html({str(tmp_path / 'r.html')!r})\n"
    )
    assert "metrichub.data.location" in modules
    assert "fsspec" not in modules
