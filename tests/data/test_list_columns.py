"""Columns whose cells hold lists as text are read alike in files, frames and tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas
import polars
import pyarrow
import pytest

from metrichub import Hub
from metrichub.data import files
from metrichub.errors import FileError, InputError
from metrichub.hub import Nested


def _array(*items: object) -> Any:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _tables(folder: Path, frame: pandas.DataFrame) -> Iterator[Any]:
    """The table that pandas writes, as each library reads it back."""
    path = folder / "a.csv"
    frame.to_csv(path, index=False)
    read = pandas.read_csv(path)
    yield from (str(path), files.read_samples(path), read, polars.read_csv(path))
    yield pyarrow.Table.from_pandas(read)
    yield datasets.Dataset.from_pandas(read)
    yield {name: read[name] for name in read}
    with path.open(encoding="utf-8", newline="") as file:
        yield list(csv.DictReader(file))
    read.to_json(folder / "a.jsonl", orient="records", lines=True)
    yield str(folder / "a.jsonl")


@pytest.mark.parametrize(
    ("spec", "columns", "score"),
    [
        # 2 of 2 and 0 of 1 keywords.
        (
            "keyword_coverage",
            {
                "prediction": ["Bern lies on the Aare.", "x"],
                "keywords": [_array("Bern", "Aare"), ["it's"]],
            },
            2 / 3,
        ),
        (
            "exact_match",
            {"prediction": ["a", "b"], "references": [_array("a", "it's"), ["c"]]},
            0.5,
        ),
        (
            "exact_match",
            {"prediction": ["a", "b"], "references": [("x", "a"), _array("b", "c")]},
            1.0,
        ),
        # A prediction that is a list, and one that only begins so.
        ("exact_match", {"prediction": ["[1] a", "[sic]"], "references": ["[1] a", "[sic]"]}, 1.0),
        ("exact_match", {"prediction": ["['a']", "['b']"], "references": ["['a']", "['c']"]}, 0.5),
        # Of three questions, the first is right; the last has no answer, but got one.
        (
            "squad_v2",
            {
                "prediction": ["red fox", "a", "c"],
                "answers": [
                    {"text": _array("red fox"), "answer_start": np.array([1])},
                    {"text": _array("b"), "answer_start": np.array([1])},
                    {"text": _array(), "answer_start": np.array([])},
                ],
            },
            1 / 3,
        ),
        # The second of two, and the first of two results is relevant: (1/2 + 1) / 2.
        (
            "ranking(mode='rr')",
            {
                "retrieved": [_array("d1", "d2"), ["d3", "d4"]],
                "relevant": [{"d2": 2, "d1": 0}, _array("d3")],
            },
            0.75,
        ),
        # 1 label of 2 and 1 of 1 is right, of 3: P = 2/3, R = 2/3.
        (
            "multi_label",
            {"prediction": [["a", "b"], _array("c")], "reference": [_array("a"), ["c", "d"]]},
            2 / 3,
        ),
        # The first task's chance is 1/2.
        ("pass_at_k", {"passed": [np.array([True, False]), [True, True]]}, 0.75),
        (
            "majority_vote",
            {"predictions": [["a", "a", "b"], _array("c", "c", "d")], "ref": ["a", "d"]},
            0.5,
        ),
        # One of two facts is named, and one of the two named is right: F1 = 1/2.
        (
            "hotpot",
            {
                "prediction": ["Bern"],
                "reference": ["Bern"],
                "facts": [[["T", 0], ["U", 1]]],
                "supporting_facts": [{"title": _array("T", "V"), "sent_id": np.array([0, 1])}],
            },
            # Answers are right: precision 1 * 1/2, recall 1 * 1/2.
            0.5,
        ),
        (
            "instruction_following",
            {
                "prediction": ["hello world"],
                "instruction_ids": [
                    _array("punctuation:no_comma", "change_case:english_lowercase")
                ],
                "kwargs": [_array({}, {})],
            },
            1.0,
        ),
    ],
)
def test_a_file_and_what_reads_it_have_the_scores_of_the_lists(
    tmp_path: Path, spec: str, columns: Mapping[str, Any], score: float
) -> None:
    hub = Hub(spec)
    frame = pandas.DataFrame(
        {name: pandas.Series(values, dtype=object) for name, values in columns.items()}
    )
    (name,) = expected = hub(frame)
    assert expected[name]["score"] == pytest.approx(score)
    for table in _tables(tmp_path, frame):
        assert hub(table) == expected, table


@pytest.mark.parametrize("cell", ["['Bern is old.' 'Cats.']", '["Bern is old.", "Cats."]'])
def test_passages_are_lists_under_any_name(tmp_path: Path, cell: str) -> None:
    row = {"question": ["Is Bern old?"], "reference": ["Bern is old."], "chunks": [cell]}
    hub = Hub("context_precision", judge="offline")
    lists: Nested = hub({**row, "contexts": [["Cats.", "Bern is old."]]})
    assert lists["context_precision"]["score"] == 0.5
    for table in _tables(tmp_path, pandas.DataFrame(row)):
        # The first of the two is useful.
        assert hub(table, columns={"contexts": "chunks"})["context_precision"]["score"] == 1.0


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (
            {"contexts": ["['a']", "[Document(page_content='a')]"]},
            r"contexts\[1\] looks like a list",
        ),
        ({"contexts": ["['a']", "['a' nan]"]}, r"contexts\[1\]\[1\] is None, not text"),
        ({"contexts": ["['a']", "[{'text': 'a'}]"]}, r"contexts\[1\]\[0\] is .*NAME.text"),
        ({"references": ["['a']", "['a', 'b"]}, r"references\[1\] looks like a list"),
        (
            {"references": ["{'text': array(['a'], dtype=object)}"] * 2},
            r"references\[0\] is {'text': \['a'\]} .*'references': 'NAME.text'",
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, columns: Mapping[str, list[str]], problem: str
) -> None:
    metric = "faithfulness" if "contexts" in columns else "exact_match"
    hub, rows = Hub(metric, judge="offline"), {"prediction": ["a", "b"], **columns}
    with pytest.raises(InputError, match=problem):
        hub(pandas.DataFrame(rows))
    pandas.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(FileError, match=rf"a\.csv:[23]: {problem}"):
        hub(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("predictions", "references", "score"),
    [
        # A model was to write JSON.
        (['["a"]', "a"], ['["a"]', '["a"]'], 0.5),
        # One is a text.
        (["a", "b"], ['["a"]', "b"], 0.5),
        # A blank cell says nothing.
        (["a", "b", "c"], ['["a"]', "", "['b', 'c']"], 2 / 3),
        # One reply of many happens to be a list.
        ([*"ab" * 6, "['a']"], ["['a']", "['b']"] * 6 + ["['c']"], 12 / 13),
    ],
)
def test_references_are_lists_if_all_are_and_predictions_are_not(
    predictions: list[str], references: list[str], score: float
) -> None:
    hub = Hub("exact_match")
    assert hub(pred=predictions, ref=references)["exact_match"]["score"] == pytest.approx(score)
    # A list of one is that text.
    texts = [[text] for text in references]
    same = [prediction == text for prediction, text in zip(predictions, references, strict=True)]
    assert hub(pred=predictions, ref=texts)["exact_match"]["score"] == sum(same) / len(same)


def test_references_are_refused_if_a_part_of_the_predictions_are_lists_too() -> None:
    with pytest.raises(InputError, match=r"so are 1 of 3 predictions.* lists \(json.loads\)"):
        Hub("exact_match")(pred=["['a']", "b", "c"], ref=["['a']", "['b']", "['c']"])


def test_the_first_rows_of_a_file_decide_for_all(tmp_path: Path) -> None:
    rows = [{"pred": "x" * 4000, "ref": "['x']"}] * 1100
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, {**rows[0], "ref": "y"}]))
    assert 4000 * len(rows) > files.BATCH_CHARACTERS
    with pytest.raises(
        FileError, match=r"a.jsonl:1101: references\[1100\] isn't a list, unlike all"
    ):
        Hub("exact_match")(path)


def test_a_path_leads_into_a_cell(tmp_path: Path) -> None:
    answers = [{"text": _array("a", "b")}, {"text": _array("c")}]
    frame = pandas.DataFrame({"prediction": ["b", "d"], "answers": answers})
    for table in (frame, *_tables(tmp_path, frame)):
        scores = Hub("exact_match")(table, columns={"references": "answers.text"})
        assert scores == {"exact_match": {"score": 0.5}}
