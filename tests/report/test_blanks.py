"""Cells of tables that may be missing values: every report says how many were scored as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import metrichub
from metrichub import Hub, Report
from metrichub.data.files import read_batches

NOTES = [
    "predictions has 1 empty and 2 'NaN' cells, scored as text; if the values are missing, delete "
    "the rows",
    "references has 1 'null' cell, scored as text; if the value is missing, delete the row",
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text("prediction,reference,id\n,a,\nNaN,b,NA\nNaN,null,x\nc,c,\n", "utf-8")
    return path


@pytest.mark.parametrize(
    "data", [str, metrichub.read, read_batches, lambda path: read_batches(path, characters=1)]
)
def test_a_report_of_a_csv_counts_them(path: Path, data: Any) -> None:
    assert Hub("wer").evaluate(data(path)).notes() == {"wer": NOTES}


def test_they_are_counted_once_with_workers_and_without_samples(path: Path) -> None:
    for options in ({"workers": 2}, {"samples": False}):
        assert NOTES[0] in Hub("wer").evaluate(path, **options).notes()["wer"]  # type: ignore[arg-type]  # options by name


def test_a_metric_notes_the_columns_that_it_reads(path: Path) -> None:
    report = Hub(["ttr", "wer"]).evaluate(path)
    counted = {name: [n for n in notes if n in NOTES] for name, notes in report.notes().items()}
    assert counted == {"ttr": NOTES[:1], "wer": NOTES}


def test_a_saved_report_says_it_too(path: Path, tmp_path: Path) -> None:
    report = Hub("wer").evaluate(path)
    report.save(tmp_path / "saved.json")
    assert Report.load(tmp_path / "saved.json").notes() == {"wer": NOTES}


def test_merged_reports_add_their_counts(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.csv"
    other.write_text("prediction,reference\nNaN,b\nc,d\n", "utf-8")
    hub = Hub("wer")
    merged = hub.evaluate(path).merge(hub.evaluate(other))
    assert merged.notes()["wer"] == [NOTES[0].replace("2 'NaN'", "3 'NaN'"), NOTES[1]]


def test_some_samples_of_a_report_have_no_counts_of_all(path: Path) -> None:
    report = Hub("wer").evaluate(str(path))
    assert report.blanks
    assert not report.take([0]).blanks


def test_texts_given_by_name_or_in_json_are_meant(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"prediction": "NaN", "reference": "null"}', "utf-8")
    hub = Hub("wer")
    assert hub.evaluate(path).notes() == {}
    assert hub.evaluate(predictions=["NaN", ""], references=["a", "b"]).notes() == {}
