"""Texts: reports keep the samples to show them, and metrics explain themselves on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.evaluation.explanation import Explanation
from metrichub.metric import Metric
from metrichub.report.report import Report
from tests.toy_metrics import Length

PARTS = (slice(0, 2), slice(2, 3))
COLUMNS: dict[str, list[Any]] = {
    "predictions": ["a b", ["c d", "e"], "f"],
    "references": [["a b"], ["c", "d"], ["f"]],
}


@dataclass(frozen=True, kw_only=True)
class Found(Metric):
    """How many references hold the prediction; it shows which."""

    def observe(self, prediction: str, references: Sequence[str]) -> float:
        return float(sum(prediction in reference for reference in references))

    def explain(self, prediction: str, references: Sequence[str]) -> dict[str, Any]:
        return {"looked_for": prediction, "in": references}


def test_a_report_shows_each_sample_as_it_was_given() -> None:
    report = Hub("bleu").evaluate(**COLUMNS)
    assert report.texts is not None
    assert report.texts.size == 3
    assert report.texts[1] == {"predictions": ["c d", "e"], "references": ["c", "d"]}
    # A column in which some sample has a list gives a list for all.
    assert report.texts[2] == {"predictions": ["f"], "references": ["f"]}
    assert [*report.texts] == [report.texts[sample] for sample in range(len(report.texts))]
    assert repr(report.texts) == "<Texts of 3 samples: predictions, references>"
    none = report.take([]).texts
    assert none is not None
    assert len(none) == 0
    evaluated = Hub("exact_match").evaluate(predictions=["a"], references=["b"])
    assert evaluated.texts is not None
    assert evaluated.texts[0] == {"predictions": "a", "references": "b"}
    for sample in (1, -1):
        with pytest.raises(IndexError):
            evaluated.texts[sample]


def test_a_metric_explains_each_candidate_of_a_sample() -> None:
    report = Hub(Found()).evaluate(**COLUMNS)
    assert report.explain("found", 1).steps == [
        {"looked_for": "c d", "in": ["c", "d"]},
        {"looked_for": "e", "in": ["c", "d"]},
    ]
    assert Hub("bleu").evaluate(**COLUMNS).explain("bleu", 0).status == "ok"


def _tables() -> Iterator[dict[str, list[Any]]]:
    for i in range(3):
        yield {name: values[i : i + 1] for name, values in COLUMNS.items()}


def test_an_iterator_is_kept_only_when_asked() -> None:
    assert Hub("bleu").evaluate(_tables()).texts is None
    texts = Hub("bleu").evaluate(_tables(), texts=True).texts
    assert texts is not None
    # Each table is a batch of its own: only the second has a sample with several references.
    assert [texts[i]["references"] for i in range(3)] == ["a b", ["c", "d"], "f"]


def test_pooled_and_saved_reports_hold_no_texts(tmp_path: Path) -> None:
    report = Hub("bleu").evaluate({**COLUMNS, "language": ["en", "de", "en"]})
    assert report.metadata
    assert (report.pool().texts, report.pool().metadata) == (None, {})
    assert Hub("bleu").evaluate(**COLUMNS, samples=False).texts is None
    report.save(tmp_path / "report.json")
    assert '"c d"' not in (tmp_path / "report.json").read_text("utf-8")
    assert Report.load(tmp_path / "report.json").texts is None


def test_a_saved_report_knows_why_a_row_of_a_corpus_metric_is_missing(tmp_path: Path) -> None:
    report = Hub("distinct").evaluate(predictions=["", "a b"])
    report.save(tmp_path / "report.json")
    loaded = Report.load(tmp_path / "report.json")
    assert loaded.explain("distinct", 0).reason == "the text has no token"
    assert loaded.take([0]).results["distinct"].unanswered == {"no_tokens": 1}


def test_merged_reports_show_all_samples_if_all_parts_do() -> None:
    first, two = (Hub("bleu").evaluate(**{k: v[s] for k, v in COLUMNS.items()}) for s in PARTS)
    merged = first.merge(two)
    assert merged.texts is not None
    assert merged.texts[2]["predictions"] == "f"
    assert first.merge(Hub("bleu").evaluate(_last())).texts is None


def _last() -> Iterator[dict[str, list[Any]]]:
    yield {name: values[2:] for name, values in COLUMNS.items()}


def test_workers_keep_the_samples_too() -> None:
    report = Hub("bleu").evaluate(**COLUMNS, workers=2)
    assert report.texts is not None
    assert report.texts[0]["predictions"] == ["a b"]


def test_a_metric_that_explains_nothing_has_no_steps() -> None:
    report = Hub(Length()).evaluate(predictions=["abc"])
    assert report.explain("length", 0) == Explanation("ok", None, {"score": 3.0}, ())
