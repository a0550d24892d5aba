"""Paths reach into nested fields of every kind of table, or say where they end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas
import polars
import pyarrow
import pytest

from metrichub import Hub
from metrichub.data.values import column_of_path
from metrichub.errors import InputError, MissingColumn
from tests.commands import error, run, scored

ROWS = [
    {"doc": {"answers": ["a b", "x"]}, "filtered_resps": ["a b"], "a.b": "no"},
    {"doc": {"answers": ["d"]}, "filtered_resps": ["c", "d"], "a.b": "no"},
]
PATHS = {"predictions": "filtered_resps.0", "references": "doc.answers.0"}
HUB = Hub("exact_match")
# By hand: "a b" is its first answer, "c" isn't "d".
SAMPLES = [1.0, 0.0]

KINDS: dict[str, Callable[[], Any]] = {
    "rows": lambda: ROWS,
    "columns": lambda: {name: [row[name] for row in ROWS] for name in ROWS[0]},
    "iterator": lambda: iter([ROWS[:1], ROWS[1:]]),
    "pandas": lambda: pandas.DataFrame(ROWS),
    "pandas from Arrow": lambda: pyarrow.Table.from_pylist(ROWS).to_pandas(),
    "polars": lambda: polars.DataFrame(ROWS),
    "pyarrow": lambda: pyarrow.Table.from_pylist(ROWS),
    "datasets": lambda: datasets.Dataset.from_list(ROWS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_reaches_into_every_kind_of_table(kind: str) -> None:
    report = HUB.evaluate(KINDS[kind](), columns=PATHS)
    assert report.samples()["exact_match"]["score"].tolist() == SAMPLES


def test_a_path_reaches_into_columns_that_are_given_by_name() -> None:
    columns = KINDS["columns"]()
    report = HUB.evaluate(columns=PATHS, **columns)
    assert report.samples()["exact_match"]["score"].tolist() == SAMPLES


@pytest.mark.parametrize(
    ("path", "names", "column"),
    [
        ("a", ["a"], "a"),
        ("a.b.0", ["a"], "a"),
        # A name that has a dot of its own wins over a path.
        ("a.b", ["a", "a.b"], "a.b"),
        ("a.b.c", ["a", "a.b"], "a.b"),
        ("b.a", ["a"], None),
        ("", ["a"], None),
    ],
)
def test_a_path_starts_at_the_longest_name(path: str, names: list[str], column: str | None) -> None:
    assert column_of_path(path, names) == column


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("doc.answer", "doc.answer[0] doesn't exist: doc has answers; did you mean 'answers'?"),
        ("doc.answers.one", "[0] doesn't exist: doc.answers is a list of 2, whose items"),
        ("doc.answers.1", "[1] doesn't exist: doc.answers is a list of 1, numbered from 0"),
        ("filtered_resps.0.text", "[0] doesn't exist: filtered_resps.0 is 'a b' (str)"),
    ],
)
def test_an_error_says_where_a_path_ends_and_what_is_there(path: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        HUB.evaluate(ROWS, columns={**PATHS, "references": path})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [(None, "doc is None"), ({}, "doc is an empty object"), ([], "doc is an empty list")],
)
def test_an_error_says_that_there_is_nothing(value: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        HUB.evaluate([{"prediction": "a", "doc": value}], columns={"references": "doc.0"})
    assert str(caught.value) == f"doc.0[0] doesn't exist: {message}"


def test_an_object_in_place_of_a_text_is_shown_the_way_inside() -> None:
    with pytest.raises(InputError, match=r"columns=\{'predictions': 'NAME.de'\}"):
        HUB.evaluate([{"translation": {"de": "a", "en": "b"}, "reference": "a"}])
    rows = [{"translation": {"de": "a", "en": "b"}, "reference": "a"}]
    assert HUB(rows, columns={"predictions": "translation.de"})["exact_match"]["score"] == 1


def test_a_path_from_a_column_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(MissingColumn, match=r"'dog.answers', which doesn't exist .*doc, filtered"):
        HUB.evaluate(ROWS, columns={**PATHS, "references": "dog.answers"})


def test_the_command_line_takes_paths_and_names_the_line_where_one_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("o.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    columns = ("--columns", "predictions=filtered_resps.0,references=doc.answers.0")
    # By hand: one of two is right.
    assert scored("o.jsonl", "-m", "exact_match", *columns)["scores"]["exact_match"]["score"] == 0.5
    columns = ("--columns", "predictions=filtered_resps.0,references=doc.answers.1")
    text = error(run("score", "o.jsonl", "-m", "exact_match", *columns), 3)
    assert text.startswith("o.jsonl:2: doc.answers.1[1] doesn't exist: doc.answers is a list of 1")
