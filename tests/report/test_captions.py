"""Captions and notes in words: how intervals were made, and which samples have no score."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from metrichub import Hub
from metrichub.authoring import Metric
from metrichub.evaluation.resample import Interval
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.captions import about_intervals, captioned
from metrichub.report.scoreboard import OutputColumn, ScoreFormat

BOOTSTRAP, MIXED, WILSON = (
    "bootstrap percentiles",
    "Wilson, bootstrap standard error",
    "Wilson",
)
BY_MIXED = "by Wilson's method with the bootstrap's standard error"


@pytest.mark.parametrize(
    ("methods", "how"),
    [
        ([BOOTSTRAP], "by the bootstrap (500 resamples)"),
        ([WILSON], "by Wilson's method"),
        ([MIXED], f"{BY_MIXED} (500 resamples)"),
        ([BOOTSTRAP, WILSON], "by the bootstrap (500 resamples) and by Wilson's method"),
        ([MIXED, WILSON], f"{BY_MIXED} (500 resamples) and by Wilson's method alone"),
        ([BOOTSTRAP, MIXED], f"by the bootstrap (500 resamples) and {BY_MIXED}"),
        ([""], ""),
    ],
)
def test_a_caption_says_how_the_intervals_were_made(methods: list[str], how: str) -> None:
    outputs = [f"o{k}" for k in range(len(methods))]
    columns = [OutputColumn("m", output, output, output, 1, 3) for output in outputs]
    intervals = {
        "a": {"m": {o: Interval(0, 1, 0.5, 0.1, m) for o, m in zip(outputs, methods, strict=True)}}
    }
    options = SignificanceOptions(level=0.9, resamples=500)
    said = about_intervals(columns, intervals, options)
    assert said == (f"In brackets: 90% intervals {how}." if how else "")
    whole = about_intervals(columns, intervals, options._replace(cluster="doc"))
    assert whole == said.replace("500 resamples", "500 resamples that draw each doc whole")


@pytest.mark.parametrize(("size", "said"), [(1, "1 sample."), (2, "2 samples.")])
def test_a_caption_counts_the_samples(size: int, said: str) -> None:
    report = Hub("wer").evaluate(predictions=["a"] * size, references=["a"] * size)
    table = captioned({"": report}, None, {}, ScoreFormat(), SignificanceOptions())
    assert table.caption == said


@pytest.mark.parametrize(("empty", "said"), [(1, "1 of 3 samples is"), (2, "2 of 3 samples are")])
def test_a_note_counts_what_is_unanswered(empty: int, said: str) -> None:
    texts = ["" if k < empty else "a b" for k in range(3)]
    notes = Hub("ttr").evaluate(predictions=texts).notes()["ttr"]
    assert any(note.startswith(f"{said} unanswered and left out of the mean") for note in notes)


@dataclass(frozen=True, kw_only=True)
class Forgetful(Metric):
    """Gives a score of texts of one word alone."""

    def observe(self, prediction: str) -> float | None:
        """One, or nothing."""
        return None if " " in prediction else 1.0


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (
            ["a b", "c d"],
            "2 unscored: the metric returned no score; is a `return` missing in its code?",
        ),
        (["a b", "c"], "1 unscored: the metric returned no score"),
    ],
)
def test_a_metric_that_never_gives_a_score_may_lack_a_return(texts: list[str], note: str) -> None:
    assert Hub(Forgetful()).evaluate(predictions=texts).notes()["forgetful"][0] == note
