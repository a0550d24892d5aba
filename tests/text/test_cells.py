"""Cells: the lists and objects that texts hold, and texts that only look like one."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from metrichub.text.cells import read_cell

_PIECES = [
    *"ab 'z\"',,[](){}\\\n\t\r:…éß中文😀\u200b\xa0\x07\u2028.-",
    *("nan", "None", "array(", "], [", "', '", "' '", "\\n", "\\u00e9", ", dtype=object", "..."),
]


def _array(items: list[Any]) -> Any:
    array = np.empty(len(items), object)
    array[:] = items
    return array


_FORMS: Mapping[str, Callable[[list[str | None]], object]] = {
    "JSON": json.dumps,
    "JSON in UTF-8": lambda items: json.dumps(items, ensure_ascii=False, indent=1),
    "repr": repr,
    "tuple": tuple,
    "numpy": _array,
    "numpy of texts": lambda items: np.array([item or "" for item in items]),
    "repr of numpy": lambda items: repr(_array(items)),
    "scalars of numpy": lambda items: [item if item is None else np.str_(item) for item in items],
    "arrays in an array": lambda items: _array([_array(items), None]),
    "lists in an array": lambda items: _array([items, [1, 2.5]]),
    "object": lambda items: {"text": _array(items), "answer_start": np.array([1, 2])},
    "objects": lambda items: _array([{"a": items}, {}]),
}


def _meant(form: str, items: list[str | None]) -> object:
    """The value of a cell in a form."""
    table: dict[str, object] = {
        "numpy of texts": [item or "" for item in items],
        "arrays in an array": [items, None],
        "lists in an array": [items, [1, 2.5]],
        "object": {"text": items, "answer_start": [1, 2]},
        "objects": [{"a": items}, {}],
    }
    return table.get(form, items)


def test_lists_are_read_as_every_library_writes_them(tmp_path: Path) -> None:
    chance = random.Random(0)
    lists = [
        [
            None
            if chance.random() < 0.1
            else "".join(chance.choices(_PIECES, k=chance.randint(0, 9)))
            for _ in range(chance.randint(0, 6))
        ]
        for _ in range(420)
    ]
    frame = pandas.DataFrame(
        {
            form: pandas.Series([write(value) for value in lists], dtype=object)
            for form, write in _FORMS.items()
        }
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) * len(_FORMS) > 5000
    for row, items in zip(rows, lists, strict=True):
        for form, cell in row.items():
            assert read_cell(cell) == _meant(form, items), (form, cell)


@pytest.mark.parametrize(
    "text",
    [
        *("[1] see below", "[sic] hello", "[sic]", "[deleted]", "[Music] hello [Applause]"),
        *("[1] Bern [2]", "[[Bern]] is the capital of [[Switzerland]]", "(see below)", "('a')"),
        *(
            "('a' and 'b')",
            "{citation needed}",
            "[see 1]",
            "[0, 1)",
            "[1] [2]",
            "[], []",
            "{x: x > 0}",
            "a",
            "",
        ),
    ],
)
def test_a_text_that_only_has_brackets_stays_one(text: str) -> None:
    assert read_cell(text) == text


@pytest.mark.parametrize(
    "cell",
    [
        # Objects of other libraries, and numpy's dots in place of items.
        "[Document(page_content='a'), Document(page_content='b')]",
        "[<Document a>]",
        "['a', datetime.date(2020, 1, 1)]",
        "['a' 'b' ... 'y' 'z']",
        "[1 2 ... 3]",
        "array(['a', ..., 'z'], dtype=object, shape=(2000,))",
        # Python would join these two.
        "['a', 'b' 'c']",
        "['it''s']",
        # Cut off, as spreadsheets do, without quotes, or with those of a word processor.
        "['a', 'b",
        "[d1, d2]",
        "[“a”, “b”]",
        "{a, b}",
        "['a' \0]",
        "{'a', 'b'}",
        "[b'a']",
        "['a\\d']",
        '{"a": 1, "a": 2}',
        # Deeper than any limit of recursion that other tests may have raised.
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_a_list_that_cannot_be_read_is_an_error(cell: str) -> None:
    with pytest.raises(ValueError, match=r"looks like|twice"):
        read_cell(cell)
