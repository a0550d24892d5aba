"""Intervals, comparisons and hubs as tables in a notebook; dicts for all else."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import unescape
from typing import Annotated, Any

from metrichub import Hub, load_metric
from metrichub.authoring import Metric, Secret
from metrichub.evaluation.resample import Interval
from metrichub.report.by_output import ByOutput

REFERENCES = ["the cat sat on the mat"] * 12
ONES = ["the cat sat on the mat", "a cat sat"] * 6
OTHERS = ["nothing of it"] * 12


def cells(shown: Any) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", shown._repr_html_())
    return [[unescape(c) for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_intervals_are_a_row_an_output() -> None:
    found = Hub(["wer", "bleu"]).evaluate(predictions=ONES, references=REFERENCES).intervals()
    head, *rows = cells(found)
    assert head == ["metric", "output", "low", "high", "mean", "std", "method", "why"]
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
    # Printed, it is the same table.
    lines = str(found).splitlines()
    assert [line.split() for line in lines[: len(rows) + 1]] == [head, *rows]
    assert lines[len(rows) + 1 :] == [wer.sentence]


def test_a_hub_says_what_its_metrics_read_and_give() -> None:
    head, *rows = cells(Hub(["b2 = bleu(max_order=2)", "wer"]))
    assert head == ["metric", "what it measures", "reads", "headline outputs", "as"]
    assert rows[0][0] == "b2"
    assert rows[0][2:4] == ["predictions, references", "score ↑"]
    assert rows[0][4].startswith("b2 = bleu(tokenize='13a', ")
    assert rows[1][3].startswith("score ↓")


def test_a_metric_says_what_it_reads_and_gives_and_how_it_is_set() -> None:
    metric = load_metric("b2 = bleu(max_order=2)")
    shown = unescape(metric._repr_html_())
    assert shown.startswith(f"<p><strong>BLEU</strong> (b2): {metric.card.summary}</p>")
    rows = dict(cells(metric))
    assert rows["reads"] == "prediction, references"
    assert rows["score"] == "0 to 1, higher is better"
    assert "<code>max_order=2</code>" in rows["parameters"]
    assert rows["card"] == "<code>metrichub card bleu</code>"
    # The headline of rouge is four of its outputs; abstractness has no direction.
    assert set(dict(cells(load_metric("rouge")))) > {"rouge1", "rouge2", "rougeL", "rougeLsum"}
    assert dict(cells(load_metric("wer")))["score"] == "0 or more, lower is better"
    assert dict(cells(load_metric("abstractness")))["score"] == "0 to 1"


def test_a_metric_without_a_card_shows_itself_and_no_secret() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Length(Metric):
        mark: str = "<b>"
        key: Annotated[str | None, Secret()] = None

        def observe(self, prediction: str) -> float:
            return float(len(prediction))

    shown = Length(key="hush")._repr_html_()
    assert "hush" not in shown
    assert "<b>" not in shown
    assert dict(cells(Length()))["score"] == "any number"
    assert "mark='<b>'" in dict(cells(Length()))["parameters"]


def test_nothing_that_is_shown_can_be_more_than_text() -> None:
    shown = ByOutput({"<script>": {"<b>": Interval(0.1, 0.2, 0.15, 0.01)}})._repr_html_()
    assert "<td>&lt;script&gt;</td><td>&lt;b&gt;</td>" in shown
