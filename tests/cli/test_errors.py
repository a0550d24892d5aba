"""Every exit status, and every error as one line that says where and what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from metrichub.cli import main
from metrichub.errors import BrokenMetric, MissingDependency
from tests.commands import ROWS, error, program, run, write, write_systems


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_systems()
    return tmp_path


KEPT = "; the judges' answers are stored: repeat the command to continue"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to score; give a FILE"),
        (("a.jsonl",), "no metric is chosen; add -m NAME, for example: metrichub score a.jsonl -m"),
        (("a.jsonl", "-m", "blue"), "no metric 'blue' is installed; did you mean 'bleu'"),
        (("a.jsonl", "-m", "wer", "--reduce", "median"), "reduce='median' is not allowed"),
        (("a.jsonl", "-m", "wer(reduce='mean')"), "unit); give it as --reduce"),
        (("a.jsonl", "-m", "wer", "--format", "xml"), "'xml' is not one of 'table', 'json'"),
        (("a.jsonl", "-m", "wer", "--columns", "gold"), "'gold' isn't COLUMN=NAME"),
        (
            ("a.jsonl", "-m", "wer", "--samples", "s.txt"),
            "s.txt: the name has to end in .jsonl or .csv",
        ),
        (("a.jsonl", "-m", "wer", "-o", "no/where"), "there is no folder 'no'"),
        (("a.jsonl", "-m", "wer", "-o", "."), ".: is a folder; name a file in it"),
        (
            ("a.jsonl", "-m", "wer", "-o", "o.xlsx"),
            "unknown suffix '.xlsx'; use .json, .csv, .md, .tex or .txt",
        ),
        (("a.jsonl", "-m", "wer", "-o", "o.PDF"), "unknown suffix '.PDF'"),
        (("a.jsonl", "bleu"), "'bleu' is a metric, and no file has this name; write -m before"),
        (("a.jsonl", "-m", "bleu", "rouge"), "write -m before each metric: -m bleu -m rouge"),
        (("-m", "wer", "cer", "a.jsonl", "ter"), "each metric: -m wer -m cer -m ter (try"),
        (("-m", "bleu", "rouge", "a.jsonl"), "'rouge' is a metric, and no file has this name"),
        (("a.jsonl", "-m", "bleu,rouge"), "names several metrics; give each a separate -m"),
        (("a.jsonl", "b.jsonl", "-m", "wer", "--save", "r.json"), "give one FILE"),
        (("a.jsonl", "a.jsonl", "-m", "wer"), "a.jsonl is given twice"),
        (("a.jsonl", "-p", "p.txt", "-m", "wer"), "predictions as FILEs or by -p, not both"),
        (("-r", "r.txt", "-m", "wer"), "nothing to score; give a FILE, or FILE -r FILE, or -"),
        (("-p", "-", "-r", "-", "-m", "wer"), "standard input can be read only once"),
        (("-p", "a.jsonl", "-m", "readability", "-m", "wer"), "wer needs references; add -r FILE"),
        (("a.jsonl", "-m", "wer", "--fail-under", "wer"), "'wer' isn't a valid threshold"),
        (("a.jsonl", "-m", "wer", "--fail-under", "wer=nan"), "'wer=nan' isn't a valid threshold"),
        (("a.jsonl", "-m", "wer", "--fail-under", "wet=1"), "did you mean 'wer'"),
        (("a.jsonl", "-m", "wer", "--fail-over", "wer>=0.2"), "write --fail-under 'wer>=0.2'"),
        (("a.jsonl", "-m", "wer", "--workers", "0"), "--workers"),
        (("a.jsonl", "-m", "wer", "--fail-under", "mer=1"), "did you mean 'wer.mer'?"),
        (
            ("a.jsonl", "-m", "wer", "--columns", "references=a", "--columns", "target=b"),
            "references is mapped to 'a' and to 'b'; choose one",
        ),
        (("a.jsonl", "-m", "wer", "--fail-under", "wer.mre=1"), "did you mean 'mer'"),
        (
            ("a.jsonl", "-m", "bleu", "--fail-under", "bleu=30"),
            "thresholds are fractions: write 0.3",
        ),
        (("a.jsonl", "-m", "wer", "--intervals", "--confidence", "95"), "95.0 is not in the range"),
        (("a.jsonl", "-m", "wer", "--nonsense"), "No such option"),
    ],
)
def test_wrong_use_exits_with_2_and_one_line(arguments: tuple[str, ...], message: str) -> None:
    assert message in error(run("score", *arguments), 2)


def test_a_group_without_a_command_shows_its_help_in_lines() -> None:
    ran = run("cache")
    assert ran.exit_code == 2
    assert "\n  clear  Delete stored answers" in ran.output + ran.stderr


def test_an_unknown_command_exits_with_2() -> None:
    assert "there is no command 'scor'; did you mean 'score'" in error(run("scor"), 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"prediction": "a", "reference": 5}], "c.jsonl:1: references[0] is 5 (int), not text"),
        (
            [*ROWS, {"prediction": None, "reference": "a"}],
            "c.jsonl:3: 'prediction' is missing or null in sample 2",
        ),
        ([{"prediction": "a", "refrences": "b"}], "is 'refrences' a misspelling of it"),
        ([{"prediction": "a", "right": "b"}], "; choose one with --columns references=NAME"),
        (
            [{"prediction": "a", "gold": "b", "target": "c"}],
            "could both be references; choose one with --columns references=target",
        ),
    ],
)
def test_bad_samples_exit_with_3_and_name_file_and_line(
    rows: list[dict[str, object]], message: str
) -> None:
    write("c.jsonl", rows)
    assert message in error(run("score", "c.jsonl", "-m", "wer"), 3)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("none.jsonl",), "none.jsonl: no such file"),
        (("c.jsonl",), "c.jsonl:2: broken JSON"),
        (("c.doc",), "c.doc: unknown suffix '.doc'"),
        (("-p", "c.txt", "-r", "r.txt"), "c.txt has 2, r.txt has 1"),
    ],
)
def test_bad_files_exit_with_3(files: tuple[str, ...], message: str) -> None:
    for name, content in {
        "c.jsonl": "{}\n{",
        "c.doc": "x",
        "c.txt": "a\nb\n",
        "r.txt": "a\n",
    }.items():
        Path(name).write_text(content, encoding="utf-8")
    assert message in error(run("score", *files, "-m", "wer"), 3)


@pytest.mark.parametrize(
    "raised", [MissingDependency("reading Parquet", "pyarrow"), BrokenMetric("x is broken")]
)
def test_a_missing_package_exits_with_5(raised: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("metrichub.hub.Hub.evaluate", broken)
    assert error(run("score", "a.jsonl", "-m", "wer"), 5) == str(raised)


def test_a_defect_is_one_line_with_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr("metrichub.hub.Hub.evaluate", broken)
    assert "a defect: ZeroDivisionError: by zero" in error(run("score", "a.jsonl", "-m", "wer"), 70)


def test_an_interrupt_of_the_imports_exits_with_130_and_no_traceback() -> None:
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'metrichub.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from metrichub.__main__ import start\n"
        "start()\n"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "metrichub: interrupted\n")


@pytest.mark.parametrize(
    ("judge", "more", "message"),
    [
        ("openai(model='stub', base_url='http://127.0.0.1:9')", (), KEPT),
        ("openai(model='stub', base_url='http://127.0.0.1:9')", ("--no-cache",), ""),
        ("offline", (), ""),
    ],
)
def test_an_interrupt_says_that_answers_are_kept_where_a_model_gives_them(
    monkeypatch: pytest.MonkeyPatch, alone: None, judge: str, more: tuple[str, ...], message: str
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("metrichub.hub.Hub.evaluate", interrupted)
    result = run("score", "a.jsonl", "-m", "faithfulness", "--judge", judge, *more)
    assert (result.exit_code, result.stderr.strip()) == (130, f"metrichub: interrupted{message}")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--debug", "score", "none.jsonl", "-m", "wer"),
        ("score", "none.jsonl", "-m", "wer", "--debug"),
    ],
)
def test_debug_shows_the_traceback_before_the_line(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 3
    assert result.stderr.startswith("Traceback (most recent call last)")
    assert result.stderr.splitlines()[-1] == "metrichub: error: none.jsonl: no such file"


def test_verbose_says_what_was_read() -> None:
    ran = program("score", "a.jsonl", "-m", "wer", "--verbose")
    assert "metrichub: a.jsonl: 2 samples, columns id, prediction, reference" in ran.stderr


def test_the_statuses_are_those_of_a_real_process() -> None:
    assert program("score", "a.jsonl", "-m", "wer").returncode == 0
    assert program("score", "a.jsonl", "-m", "wer", "--fail-over", "wer=0").returncode == 1
    assert program("score", "a.jsonl").returncode == 2
    ran = program("score", "-", "-m", "wer", input="{")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr.startswith("metrichub: error: <stdin>:1: broken JSON")
    ran = program("score", "-", "-m", "wer", input="prediction,reference")
    assert ran.stderr.endswith("; if the file is CSV, give --input-format csv\n")


def test_closed_standard_streams_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Python has None for a stream that the shell closed, as in `metrichub score - <&-`.
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit, match=r"^3$"):
        main(["score", "-", "-m", "wer"])
    assert capsys.readouterr().err == "metrichub: error: <stdin>: standard input is closed\n"
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["doctor"])
    assert capsys.readouterr().err.startswith("metrichub: error: standard output is closed; ")


@pytest.mark.parametrize(("file", "status"), [("a.jsonl", 0), ("none.jsonl", 3)])
def test_closed_standard_error_leaves_the_result_and_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: str, status: int
) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with pytest.raises(SystemExit, match=f"^{status}$"):
        main(["score", file, "-m", "wer"])
    assert ("0.250" in capsys.readouterr().out) is (status == 0)


def test_the_statuses_are_documented() -> None:
    shown = run("--help").stdout
    assert all(f"\n    {status} " in shown for status in (0, 1, 2, 3, 4, 5))


@pytest.mark.parametrize("command", [(), ("score",), ("compare",), ("cache", "clear")])
def test_h_is_short_for_help(command: tuple[str, ...]) -> None:
    short, long = run(*command, "-h"), run(*command, "--help")
    assert short.exit_code == 0
    assert short.stdout == long.stdout
    assert "Usage: metrichub" in short.stdout


def test_without_arguments_the_help_is_shown_and_the_status_is_2() -> None:
    result = run()
    assert result.exit_code == 2
    assert "Usage: metrichub" in result.stderr
    assert result.stdout == ""


def test_the_version_is_the_installed_one() -> None:
    from importlib_metadata import version

    assert run("--version").stdout == f"metrichub {version('metrichub')}\n"
