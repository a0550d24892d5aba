"""References in several columns of a table: named together, or numbered."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas
import pytest

import metrichub
from metrichub import Hub, InputError
from tests.commands import error, run, scored

HUB = Hub("exact_match")
# The second sample has one reference, and the third is right by its second.
CELLS = (["a", "x", "c"], ["a", "b", "d"], ["z", "", "c"])
RIGHT = [1.0, 0.0, 1.0]


def table(*names: str) -> dict[str, list[str]]:
    return dict(zip(("hyp", *names), CELLS, strict=True))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (("ref1", "ref2"), {}),
        (("ref0", "ref1"), {}),
        (("reference_1", "reference_2"), {}),
        (("ref-09", "ref-10"), {}),
        (("target", "target 2"), {}),
        (("ref2", "ref10"), {"predictions": "hyp"}),
        (("gold", "other"), {"references": "gold+other"}),
        (("ref", "b.c"), {"references": "ref+b.c"}),
    ],
)
@pytest.mark.parametrize("form", ["csv", "parquet", "frame", "columns"])
def test_several_columns_are_several_references(
    names: tuple[str, ...], columns: dict[str, str], form: str
) -> None:
    data: Any = table(*names)
    if form == "frame":
        data = pandas.DataFrame(data).replace("", None)
    elif form != "columns":
        data = f"t.{form}"
        getattr(pandas.DataFrame(table(*names)), f"to_{form}")(data, index=False)
        how = [f"--columns={column}={name}" for column, name in columns.items()]
        scores = scored(data, "-m", "exact_match", *how)
        assert scores["scores"]["exact_match"]["score"] == sum(RIGHT) / 3
    report = HUB.evaluate(data, columns=columns or None)
    assert report.samples()["exact_match"]["score"].tolist() == RIGHT
    assert f"references were read from {names[0]} and {names[1]}" in report.notes()["exact_match"]
    assert report.metadata == {}


@pytest.mark.parametrize(
    ("names", "columns", "message"),
    [
        (("reference", "reference_1"), {}, "'reference' and 'reference_1' could both be"),
        (("ref1", "target1"), {}, "'ref1' and 'target1' could both be references"),
        (("reference", "ref2"), {}, "'reference' and 'ref2' could both be references"),
        (("references", "reference2"), {}, "'references' and 'reference2' could both be"),
        (("ref1", "x"), {"references": "ref1+ref2"}, "'ref1+ref2', which doesn't exist"),
        (("ref1x", "ref2x"), {}, "needs the column 'references'"),
        (("doc1", "text2"), {}, "needs the column 'references'"),
    ],
)
def test_columns_that_may_be_others_are_refused(
    names: tuple[str, ...], columns: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        HUB.evaluate(table(*names), columns=columns or None)
    pandas.DataFrame(table(*names)).to_csv("t.csv", index=False)
    how = [f"--columns={column}={name}" for column, name in columns.items()]
    assert message in error(run("score", "t.csv", "-m", "exact_match", *how), 3)


def test_an_empty_reference_is_missing_in_cells_alone_and_a_cell_may_hold_a_list() -> None:
    empty = [{"prediction": "", "ref1": "", "ref2": "x"}]
    assert HUB(empty)["exact_match"]["score"] == 1
    Path("t.csv").write_text('prediction,ref1,ref2\nb,"[""a"", ""b""]",\n', encoding="utf-8")
    assert scored("t.csv", "-m", "exact_match")["scores"]["exact_match"]["score"] == 1


def test_a_column_whose_name_has_a_plus_is_one() -> None:
    rows = {"hyp": ["a"], "a+b": ["a"], "a": ["x"], "b": ["y"]}
    assert HUB(rows, columns={"references": "a+b"})["exact_match"]["score"] == 1


def test_systems_with_several_columns_are_compared_and_read_chooses_them() -> None:
    for name in ("t", "u"):
        pandas.DataFrame(table("ref1", "ref2")).to_csv(f"{name}.csv", index=False)
    assert run("compare", "t.csv", "u.csv", "-m", "exact_match").exit_code == 0
    pandas.DataFrame(table("ref1", "ref2") | {"ref2": ["q"] * 3}).to_csv("u.csv", index=False)
    assert "'ref1+ref2' of sample 0" in error(run("compare", "t.csv", "u.csv", "-m", "wer"), 3)
    read = metrichub.read("t.csv", columns={"references": "ref1+ref2"})
    assert read["references"] == [["a", "z"], ["b"], ["d", "c"]]
