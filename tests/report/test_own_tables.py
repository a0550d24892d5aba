"""Tables that a corpus metric shows beside its scores, and objects that it reads whole."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from metrichub import Hub, Report
from metrichub.authoring import CorpusMetric
from metrichub.errors import InputError
from metrichub.report.html import write
from tests.report.test_page import Page


@dataclass(frozen=True, kw_only=True)
class Letters(CorpusMetric):
    """The number of different predictions, with a table of how often each occurs."""

    normalizes_unicode: ClassVar[bool] = True

    text_of_objects = staticmethod(str)
    whole_objects = True

    def observe(self, prediction: str) -> str:
        return prediction

    def conclude(self, rows: Sequence[str]) -> Mapping[str, float]:
        return {"score": len({*rows})}

    def tables(self, rows: Sequence[str]) -> Mapping[str, Sequence[Sequence[str | float | None]]]:
        return {"how often": [["letter", "times"], *map(list, Counter(rows).most_common())]}


TABLE = {"letters": {"how often": [["letter", "times"], ["<b>", 2], ["a", 1]]}}


def test_a_report_has_the_tables_of_its_metrics(tmp_path: Path) -> None:
    report = Hub(["exact_match", Letters()]).evaluate(
        predictions=["<b>", "a", "<b>"], references=["a"] * 3
    )
    assert report.tables() == TABLE
    report.save(tmp_path / "run.json")
    assert Report.load(tmp_path / "run.json", metrics=[Letters()]).tables() == TABLE
    assert report.pool().tables() == {}
    # The page shows them by system.
    other = Hub(["exact_match", Letters()]).evaluate(predictions=["a"] * 3, references=["a"] * 3)
    report.to_html(tmp_path / "r.html", name="one", others={"two": other}, trials=9, resamples=9)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<summary>one · letters · how often</summary>" in page
    assert '<tr><td>&lt;b&gt;</td><td class="number">2</td></tr>' in page
    assert "<summary>two · letters · how often</summary>" in page


def test_a_cell_of_the_confusion_matrix_selects_the_samples_that_it_counts(tmp_path: Path) -> None:
    fields = {"one": ["a", "a", "b", "?", "b"], "two": ["b"] * 5}
    hub = Hub("classification(labels=['a', 'b'])")
    first, two = (
        hub.evaluate(predictions=texts, references=["a", "a", "a", "b", "b"])
        for texts in fields.values()
    )
    write(tmp_path / "r.html", {"one": first, "two": two}, trials=9, resamples=9)
    page = Page(tmp_path / "r.html")
    groupings = {entry["name"]: entry for entry in page.data["groupings"]}
    grouping = groupings["confusion matrix of classification on one"]
    assert [grouping["values"][place] for place in grouping["of"]] == [
        "a → predicted a", "a → predicted a", "a → predicted b", "b → predicted no label",
        "b → predicted b",
    ]  # fmt: skip
    cells = re.findall('data-select="([^"]*confusion[^"]*)">(.*?)</button>', page.source)
    assert len(cells) == 6
    for select, number in cells:
        chosen = json.loads(html.unescape(select))
        grouping = groupings[chosen["group"]]
        assert grouping["of"].count(grouping["values"].index(chosen["value"])) == int(number)


def test_a_metric_that_reads_objects_whole_reads_any_and_others_refuse_them() -> None:
    objects: list[Any] = [1, ["a", "b"], {}]
    report = Hub(Letters()).evaluate(predictions=[*objects, None])
    assert [row[0] for row in report.tables()["letters"]["how often"][1:]] == [
        *("1", "['a', 'b']", "{}", "None")
    ]
    # A list would be one object to the first, and two predictions to the second.
    hub = Hub([Letters(), "ttr"])
    for value in objects:
        with pytest.raises(InputError, match="which letters and ttr read in different ways; give"):
            hub.evaluate(predictions=[value])
    assert hub.evaluate(predictions=["a"])["letters"]["score"] == 1


def test_a_metric_that_normalizes_unicode_has_no_note_on_several_forms() -> None:
    forms = [unicodedata.normalize(form, "é") for form in ("NFC", "NFD")]
    assert list(Hub([Letters(), "ttr"]).evaluate(predictions=forms).mixed_forms) == ["ttr"]
