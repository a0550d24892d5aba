"""Intervals, comparisons and hubs as tables in a notebook; dicts for all else."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

from metrichub import Hub
from metrichub.evaluation.resample import Interval
from metrichub.report.notebook import ByOutput

REFERENCES = ["the cat sat on the mat"] * 12
ONES = ["the cat sat on the mat", "a cat sat"] * 6
OTHERS = ["nothing of it"] * 12


def cells(shown: Any) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", shown._repr_html_())
    return [[unescape(c) for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_intervals_are_a_row_an_output() -> None:
    found = Hub(["wer", "bleu"]).evaluate(predictions=ONES, references=REFERENCES).intervals()
    head, *rows = cells(found)
    assert head == ["metric", "output", "low", "high", "mean", "std"]
    assert [row[:2] for row in rows] == [[m, o] for m in found for o in found[m]]
    low = next(row[2] for row in rows if row[:2] == ["wer", "score"])
    assert float(low) == round(found["wer"]["score"].low, 4)
    # For whatever takes a dict it is one.
    assert json.loads(json.dumps(found)).keys() == {"wer", "bleu"}
    assert found == dict(found)


def test_a_comparison_has_its_tests_and_its_sentence() -> None:
    hub = Hub("wer")
    one, other = (hub.evaluate(predictions=t, references=REFERENCES) for t in (ONES, OTHERS))
    found = one.compare(other)
    shown = found._repr_html_()
    head, *rows = cells(found)
    assert head[2:] == ["score", "other", "difference", "low", "high", "p"]
    wer = found["wer"]["score"]
    row = next(row for row in rows if row[1] == "score")
    assert [float(cell) for cell in row[2:5]] == [
        round(value, 4) for value in (wer.score, wer.other, wer.difference)
    ]
    assert wer.sentence
    assert f"<p>{wer.sentence}</p>" in unescape(shown)
    assert "this system beats the other system on wer" in unescape(shown)


def test_a_hub_says_what_its_metrics_read_and_give() -> None:
    head, *rows = cells(Hub(["b2 = bleu(max_order=2)", "wer"]))
    assert head == ["metric", "what it measures", "reads", "headline outputs", "as"]
    assert rows[0][0] == "b2"
    assert rows[0][2:4] == ["predictions, references", "score ↑"]
    assert rows[0][4].startswith("b2 = bleu(tokenize='13a', ")
    assert rows[1][3].startswith("score ↓")


def test_nothing_that_is_shown_can_be_more_than_text() -> None:
    shown = ByOutput({"<script>": {"<b>": Interval(0.1, 0.2, 0.15, 0.01)}})._repr_html_()
    assert "<td>&lt;script&gt;</td><td>&lt;b&gt;</td>" in shown
