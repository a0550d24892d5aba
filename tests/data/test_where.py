"""Conditions choose the samples that are read, in every kind of file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from metrichub import Hub, read
from metrichub.data.files import read_batches
from metrichub.errors import FileError, MissingColumn
from tests.commands import run

ROWS: list[dict[str, Any]] = [
    {"prediction": "a", "reference": "a", "language": "de", "known": True, "doc": {"level": 1}},
    {"prediction": "b", "reference": "c", "language": "en", "known": False, "doc": {"level": 1}},
    {"prediction": "d", "reference": "e", "language": "de", "known": False, "doc": {"level": 2}},
    {"prediction": "f", "reference": "f", "language": "fr", "known": True, "doc": {"level": 3}},
]


def lines(path: Path) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return path


def table(path: Path) -> Path:
    path.write_text("prediction,reference,language\na,a,de\nb,c,en\nd,e,de\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("where", "predictions"),
    [
        ({"language": "de"}, ["a", "d"]),
        ({"language": ["de", "fr"]}, ["a", "d", "f"]),
        ({"language": "de", "known": "false"}, ["d"]),
        ({"known": "True"}, ["a", "f"]),
        ({"doc.level": "1"}, ["a", "b"]),
    ],
)
def test_samples_with_these_values_are_read(
    tmp_path: Path, where: dict[str, str | list[str]], predictions: list[str]
) -> None:
    assert read(lines(tmp_path / "a.jsonl"), where=where)["prediction"] == predictions


def test_lines_and_numbers_of_samples_stay_right(tmp_path: Path) -> None:
    batches = list(
        read_batches(lines(tmp_path / "a.jsonl"), where={"language": "de"}, characters=1)
    )
    assert [(batch.start, batch.lines) for batch in batches] == [(0, [1]), (1, [3])]


def test_tables_and_folders_are_read_by_the_same_conditions(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv")
    samples = read(path, columns=["prediction"], where={"language": "de"})
    assert dict(samples) == {"prediction": ["a", "d"]}
    folder = tmp_path / "parts"
    folder.mkdir()
    columns = {"prediction": ["a", "b", "d"], "language": ["de", "en", "de"]}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "0.parquet")
    for source in (folder, folder / "0.parquet"):
        parts = read(source, columns=["prediction"], where={"language": "de"})
        assert dict(parts) == {"prediction": ["a", "d"]}


def test_an_unknown_column_and_a_value_that_no_sample_has_are_errors(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl")
    with pytest.raises(MissingColumn, match="where names the column 'lang', which doesn't exist"):
        read(path, where={"lang": "de"})
    with pytest.raises(FileError, match="the file has no samples with language=it and known=true"):
        read(path, where={"language": "it", "known": "true"})


def test_the_commands_score_samples_with_these_values(tmp_path: Path) -> None:
    path = str(lines(tmp_path / "a.jsonl"))
    ours = str(lines(tmp_path / "b.jsonl"))
    options = ["-m", "exact_match", "--where", "language=de", "--format", "json"]
    scored = run("score", path, *options)
    assert json.loads(scored.stdout)["scores"]["exact_match"]["score"] == 0.5
    either = run("score", path, *options, "--where", "language=fr")
    assert json.loads(either.stdout)["scores"]["exact_match"]["score"] == 2 / 3
    for key in ([], ["--key", "prediction"]):
        compared = run("compare", path, ours, *options, *key)
        assert json.loads(compared.stdout)["samples"] == 2


def test_texts_of_lines_and_saved_reports_have_no_columns_to_choose_by(tmp_path: Path) -> None:
    for name in ("p", "r"):
        (tmp_path / name).write_text("a\nb\n", encoding="utf-8")
    where = ["-m", "exact_match", "--where", "language=de"]
    plain = run("score", "-p", str(tmp_path / "p"), "-r", str(tmp_path / "r"), *where)
    assert plain.exit_code == 3
    assert "where names the column 'language', which doesn't exist" in plain.stderr
    saved = tmp_path / "saved.json"
    Hub("exact_match").evaluate(lines(tmp_path / "a.jsonl")).save(saved)
    compared = run("compare", str(saved), str(tmp_path / "a.jsonl"), *where)
    assert compared.exit_code == 2
    assert "is a saved report, whose samples --where can't choose" in compared.stderr


def test_a_condition_is_written_as_a_column_and_its_value() -> None:
    ran = run("score", "a.jsonl", "-m", "exact_match", "--where", "de")
    assert ran.exit_code == 2
    assert "'de' isn't COLUMN=VALUE" in ran.stderr
