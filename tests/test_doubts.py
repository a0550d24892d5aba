"""A score that misleads says so, in Python, in a terminal and on a page, and no other does."""

from __future__ import annotations

import html
import re
import warnings
from pathlib import Path

import pytest

from metrichub import DoubtfulScore, Hub, Report
from metrichub.errors import Doubt, printable
from tests.commands import run, write
from tests.doubt_cases import DOUBTFUL, SOUND, Case


def _name(case: Case) -> str:
    return case.name


def _measured(case: Case) -> Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulScore)
        return Hub([*case.metrics]).evaluate(**dict(case.columns))


def _notes(report: Report) -> list[str]:
    """All notes, each text once."""
    return [*dict.fromkeys(note for notes in report.notes().values() for note in notes)]


def _doubt(case: Case, report: Report) -> str:
    """The note that says what the case is about."""
    notes = [n for n in _notes(report) if re.search(case.words, n)]
    doubts = [note for note in notes if isinstance(note, Doubt)]
    result = notes if case.informs else doubts
    assert result, f"{case.words!r} is in none of {_notes(report)}"
    return result[0]


@pytest.mark.parametrize("case", DOUBTFUL, ids=_name)
def test_a_score_that_misleads_says_so_in_python(case: Case) -> None:
    doubt = _doubt(case, _measured(case))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Hub([*case.metrics])(**dict(case.columns))

    heard = [str(w.message) for w in caught if issubclass(w.category, DoubtfulScore)]
    assert sum(doubt in text for text in heard) == (0 if case.informs else 1)


@pytest.mark.parametrize("case", DOUBTFUL, ids=_name)
def test_a_terminal_says_it_once(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names, columns = [*case.columns], case.columns.values()
    write("a.jsonl", [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)])
    doubt = _doubt(case, _measured(case))

    asked = [part for metric in case.metrics for part in ("-m", metric)]
    result = run("score", "a.jsonl", *asked)

    assert result.exit_code == 0, result.stderr
    assert result.stderr.count(printable(doubt)) == 1


@pytest.mark.parametrize("case", DOUBTFUL, ids=_name)
def test_a_page_says_it(case: Case, tmp_path: Path) -> None:
    report = _measured(case)
    doubt = _doubt(case, report)

    report.to_html(tmp_path / "a.html")

    page = html.unescape((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert doubt in page


@pytest.mark.parametrize("case", SOUND, ids=_name)
def test_a_sound_score_is_not_doubted(case: Case) -> None:
    doubts = [note for note in _notes(_measured(case)) if isinstance(note, Doubt)]

    assert doubts == []
