"""What a terminal and a pipe get: tables, colour, a progress bar, a quiet end."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from metrichub.cli.output import page_progress, progress
from tests.commands import program, write_systems


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_systems()
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "metrichub", "score", "a.jsonl", "-m", "wer"]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert ran.stderr == b""
    assert ran.returncode == 128 + signal.SIGPIPE


def test_output_that_the_console_cannot_show_has_other_signs() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    arguments = ("score", "a.jsonl", "-m", "abstractness(n=9)", "--format", "table")
    ran = program(*arguments, env=environment)
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[3].split() == ["abstractness", "-"]


def on_terminal(*arguments: str, **environment: str) -> tuple[str, str]:
    """What a command writes to stdout and stderr, which both are terminals."""
    pty = pytest.importorskip("pty", reason="could not import 'pty', which Windows hasn't")
    out, err = pty.openpty(), pty.openpty()
    command = [sys.executable, "-m", "metrichub", *arguments]
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "CI")}
    process = subprocess.Popen(
        command,
        stdout=out[1],
        stderr=err[1],
        env={**plain, "TERM": "xterm-256color", "COLUMNS": "200", **environment},
    )
    os.close(out[1])
    os.close(err[1])
    texts = tuple(_drained(end) for end in (out[0], err[0]))
    process.wait()
    return texts[0], texts[1]


def _drained(end: int) -> str:
    content = b""
    try:
        while part := os.read(end, 65536):
            content += part
    except OSError:  # Linux ends a closed terminal with EIO.
        pass
    os.close(end)
    return content.decode()


def test_a_terminal_gets_a_table_and_colour_unless_it_is_declined() -> None:
    shown, _ = on_terminal("score", "a.jsonl", "-m", "abstractness")
    assert "abstractness" in shown
    assert "0.250" in shown
    assert "\x1b[" in shown
    plain, _ = on_terminal("score", "a.jsonl", "-m", "abstractness", NO_COLOR="1")
    assert not any(f"\x1b[{colour}" in plain for colour in ("3", "9"))
    piped, _ = on_terminal("score", "a.jsonl", "-m", "abstractness", "--format", "json")
    assert json.loads(piped)["scores"] == {"abstractness": {"score": 0.25}}


def test_a_pipe_gets_whole_lines_of_the_table_however_wide() -> None:
    metrics = ("-m", "abstractness", "-m", "wer", "-m", "chrf", "-m", "gleu")
    arguments = ("compare", "a.jsonl", "b.jsonl", *metrics)
    ran = program(*arguments, env={**os.environ, "COLUMNS": "40"})
    message, _, head, *rows = ran.stdout.splitlines()
    assert ran.returncode == 0
    assert message.startswith("abstractness ")
    assert head.split() == ["a", "b", "difference", "[95%", "interval]", "p"]
    outputs = ["abstractness", "wer", "chrf", "gleu"]
    assert [row.split()[0] for row in rows[: len(outputs)]] == outputs
    shown = program("score", "a.jsonl", "-m", "abstractness").stdout.splitlines()
    assert shown[:3] == ["a scores 0.250 on abstractness.", "", "metric        score"]


def bar(clock: Callable[[], float], amounts: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> str:
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]  # a fake terminal
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress(lambda: sum(amounts), after=1, clock=clock) as advance:
        assert advance
        for amount in amounts:
            advance(amount)
    return stream.getvalue()


def test_the_progress_bar_appears_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bar(lambda: 0.0, [1, 1], monkeypatch) == ""
    ticks = iter([0.0, 0.5, 1.5])
    assert "100%" in bar(lambda: next(ticks), [1, 1], monkeypatch)


def test_there_is_no_progress_bar_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress(lambda: 1) as advance:
        assert advance is None


def test_a_terminal_is_told_what_is_done_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]  # a fake terminal
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    ticks = iter([0.0, 0.5, 1.5])
    with page_progress(after=1, clock=lambda: next(ticks)) as tell:
        assert tell
        tell("testing", 0, None)
        tell("explaining", 1200, 2400)
    shown = stream.getvalue()
    assert "report: explaining 1,200 of 2,400 samples" in shown
    assert "50%" in shown
    assert "testing" not in shown
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with page_progress() as tell:
        assert tell is None


def test_a_narrow_terminal_loses_no_number_and_no_name() -> None:
    arguments = ("compare", "a.jsonl", "b.jsonl", "-m", "abstractness", "-m", "wer")
    wide, _ = on_terminal(*arguments, NO_COLOR="1")
    narrow, _ = on_terminal(*arguments, NO_COLOR="1", COLUMNS="40")
    assert "hidden, widen the window" in narrow
    lost = {*wide.split()} - {*narrow.split()}
    # The scores, the names and the headline stay.
    assert not {word for word in lost if word[:2] in ("0.", "1.") or word in ("a", "b")}


def test_a_note_is_broken_between_words_on_a_terminal() -> None:
    arguments = ("score", "a.jsonl", "-m", "abstractness(n=9)")
    _, wide = on_terminal(*arguments)
    _, narrow = on_terminal(*arguments, COLUMNS="60")
    assert wide.count("\n") == 1 < narrow.count("\n")
    assert narrow.split() == wide.split()
    assert max(map(len, narrow.splitlines())) <= 60
