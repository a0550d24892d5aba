"""No character of data that a terminal obeys, or that hides what is beside it, is printed."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from metrichub import Hub, compare_all
from metrichub.cli.output import FORMATS
from metrichub.errors import MetrichubError, printable
from tests.cli.test_terminal import on_terminal
from tests.commands import error, program, run, write
from tests.plugins import distribution, environment

# Clear the screen, set a title, ring, step back, the same in C1, write backwards, hide.
ODD = "\x1b[2J\x1b]0;t\x07\x08\x9b2J\u202e\u2066\u200b\ufeff\x00\u2028"
NAME = f"a{ODD}z"
SHOWN = "a\\x1b[2J\\x1b]0;t\\x07\\x08\\x9b2J\\u202e\\u2066\\u200b\\ufeff\\x00 z"
STYLES = re.compile(r"\x1b\[[0-9;]*m")
METRICS = ("-m", "wer", "-m", "classification")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, end in (("a.jsonl", ""), ("b.jsonl", "!")):
        rows = [
            {"id": f"{NAME}{i}", "prediction": f"{NAME}{end * (i % 2)}", "reference": NAME}
            | {f"column{ODD}": NAME, "group": f"{i % 2}{ODD}"}
            for i in range(12)
        ]
        write(name, rows)
    return tmp_path


def odd(text: str) -> set[str]:
    """The characters that no reader sees: those of Unicode's control, format and line kinds."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (NAME, SHOWN),
        ("line\r\n\tof\ttabs", "line   of tabs"),
        ("\ud800", "\\ud800"),
        # A joiner is part of Persian words and of emoji, and hides nothing there.
        ("می\u200cخواهم 👩\u200d💻 ñ", "می\u200cخواهم 👩\u200d💻 ñ"),
        ("pay\u200dpal", "pay\\u200dpal"),
        ("naïve “x” – 日本\u3000語\xa0₂", "naïve “x” – 日本\u3000語\xa0₂"),
    ],
)
def test_what_no_reader_sees_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "csv"])
@pytest.mark.parametrize(
    "command",
    [
        ("score", f"{NAME}=a.jsonl", f"c{ODD}=b.jsonl", "--by", "group", "--intervals"),
        ("score", "a.jsonl", "--by", "group", "--signature"),
        ("compare", f"{NAME}=a.jsonl", f"c{ODD}=b.jsonl", "--by", "group", "--signature"),
        ("compare", f"{NAME}=a.jsonl", f"c{ODD}=b.jsonl", "--max-drop", "wer=0.01"),
    ],
)
def test_names_of_systems_and_groups_are_printed_escaped(
    command: tuple[str, ...], form: str
) -> None:
    ran = run(*command, *METRICS, "--format", form, "--verbose")
    assert ran.exit_code in (0, 1), ran.stderr
    assert not odd(ran.stdout)
    assert not odd(ran.stderr)
    assert "x1b" in ran.stdout or "u001b" in ran.stdout


def test_a_terminal_obeys_nothing_of_data_in_any_format() -> None:
    systems = (f"a{ODD.replace(chr(0), '')}z=a.jsonl", "b.jsonl", "--by", "group")
    for command in ("score", "compare"):
        for form in FORMATS:
            shown, notes = on_terminal(command, *systems, *METRICS, "--format", form)
            assert "x1b[2J" in shown or "u001b[2J" in shown, form
            assert not odd(STYLES.sub("", f"{shown}{notes}").replace("\r\n", "\n")), form


def test_csv_keeps_what_it_was_given_in_a_pipe() -> None:
    shown = run("score", f"{NAME}=a.jsonl", "b.jsonl", "-m", "wer", "--format", "csv").stdout
    assert ODD[-8:] in shown


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("score", "a.jsonl", "-m", "wer", "--columns", "predictions=x"), 3),
        (("score", "a.jsonl", "-m", "wer", "--columns", f"predictions={NAME}"), 3),
        (("score", "a.jsonl", "-m", NAME), 2),
        (("score", f"{NAME}.jsonl", "-m", "wer"), 3),
        (("score", "bad.jsonl", "-m", "wer"), 3),
        (("score", "a.jsonl", "-m", "wer", "--by", NAME), 2),
        (("score", "a.jsonl", "-m", "wer", f"--{NAME}"), 2),
        (("compare", f"{NAME}=a.jsonl", f"{NAME}=b.jsonl", "-m", "wer"), 2),
        (("compare", "a.jsonl", "other.jsonl", "-m", "wer"), 3),
        (("card", NAME), 2),
        (("cite", NAME), 2),
        ((NAME,), 2),
    ],
)
def test_errors_quote_data_escaped(arguments: tuple[str, ...], status: int) -> None:
    Path("bad.jsonl").write_text(f'{{"{NAME}": \n', encoding="utf-8")
    write("other.jsonl", [{"id": f"{NAME}x", "prediction": "a", "reference": "a"}])
    ran = run(*arguments)
    assert ran.exit_code == status, ran.stderr
    assert not odd(error(ran, status))
    traced = run("--debug", *arguments)
    assert not odd(traced.stderr)


def test_lists_and_cards_of_plugins_are_printed_escaped(folder: Path) -> None:
    run("new", "odd_length")
    card = folder / "odd_length" / "README.md"
    text = card.read_text("utf-8")
    summary = re.search(r"^summary: .*$", text, re.MULTILINE)
    assert summary
    hostile = text.replace(summary[0], f"summary: {json.dumps('Counts' + ODD)}")
    card.write_text(f"{hostile}\n{ODD}\n", encoding="utf-8")
    distribution(folder, "mine", ["odd_length = odd_length:OddLength"])
    for arguments in (("list", "--all"), ("card", "odd_length")):
        piped = program(*arguments, env=environment(folder, COLUMNS="200")).stdout
        shown, _ = on_terminal(*arguments, **environment(folder, COLUMNS="200"))
        for text in (piped, STYLES.sub("", shown).replace("\r\n", "\n")):
            assert "\\x1b[2J" in text
            assert not odd(text)


def test_python_prints_and_writes_them_escaped() -> None:
    hub = Hub("wer")
    right, wrong = (
        hub.evaluate(predictions=[text] * 8, references=["a b"] * 8) for text in ("a b", "c")
    )
    ranking = compare_all({NAME: right, f"b{ODD}": wrong})
    for text in (
        str(ranking),
        ranking.to_markdown(),
        ranking.to_latex(),
        str(MetrichubError(NAME)),
    ):
        assert not odd(text)
        assert "x1b[2J" in text
