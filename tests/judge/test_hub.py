"""Judge metrics in a hub: status of samples, explanations, errors, mistakes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.authoring import JudgeMetric, Prompt
from metrichub.errors import MetricError, ReportError, ScoringError, TooManyErrors
from metrichub.evaluation.explanation import Trace
from metrichub.judge.panel import Panel
from metrichub.testing import Scripted
from tests.judge_toys import TEXTS, Chars, Length

pytestmark = pytest.mark.usefixtures("alone")


# Status and explanations.


def test_scores_undefined_and_errors_are_counted_apart() -> None:
    report = Hub([Length(), Chars()], judge="offline").evaluate(predictions=TEXTS)
    # (4 + 2) / 2 over the two scored; two undefined, one error.
    assert report.scores()["length"] == {"score": 3.0}
    assert report.counts()["length"] == {"unscored": 2, "errors": 1}
    # All five: (4 + 6 + 4 + 9 + 2) / 5.
    assert report.scores()["chars"] == {"score": 5.0}
    assert report.failed == 1
    assert report.notes()["length"] == [
        "1 unscored: nothing to say",
        "1 unscored: no verdict",
        "1 failed: fail a went wrong",
        "judged offline by matching words: a baseline that recognizes no paraphrases",
    ]


@dataclass(frozen=True)
class Limited(Scripted):
    script: Any = field(default_factory=dict, hash=False)
    concurrency: int | None = None


@pytest.mark.parametrize(
    ("judge", "most"),
    [
        (Limited(concurrency=2), 8),
        (Panel(judges=(Limited(concurrency=2), Limited(concurrency=3, label="b"))), 12),
        (Limited(), 30),
        (Panel(judges=(Limited(concurrency=2), Limited(label="b"))), 30),
    ],
)
def test_four_rows_wait_for_each_call_that_a_judge_makes_at_once(judge: Any, most: int) -> None:
    running: list[int] = [0]

    @dataclass(frozen=True, kw_only=True)
    class Busy(JudgeMetric):
        async def observe(self, prediction: str) -> float:
            running.append(running[-1] + 1)
            # Every second row takes longer than the one after it.
            for _ in range(1 + 2 * (int(prediction) % 2)):
                await asyncio.sleep(0)
            running.append(running[-1] - 1)
            return float(prediction)

    report = Hub(Busy(judge=judge)).evaluate(predictions=[str(i) for i in range(30)])
    assert max(running) == most
    assert report.samples()["busy"]["score"].tolist() == [*range(30)]


def test_every_sample_has_its_explanation() -> None:
    report = Hub([Length(), Chars()], judge="offline").evaluate(predictions=TEXTS)
    ok = report.explain("length", 0)
    assert (ok.status, ok.reason, ok.scores) == ("ok", None, {"score": 4.0})
    verdict = {"index": 0, "item": "abcd", "verdict": "yes", "reason": "so"}
    assert list(ok.steps) == [{"letters": [verdict], "pair": [1, None]}]
    failed = report.explain("length", 1)
    assert failed[:2] == ("error", "fail a went wrong")
    assert np.isnan(failed.scores["score"])
    assert report.explain("length", 2)[:2] == ("unscored", "nothing to say")
    undefined = report.explain("length", 3)
    assert undefined[:2] == ("unscored", "no verdict")
    assert list(undefined.steps) == [{"seen": "undefined"}]
    assert report.explain("chars", 0)[:2] == ("ok", None)


@pytest.mark.parametrize(("metric", "sample"), [("lengthy", 0), ("length", 5), ("length", -1)])
def test_explaining_what_is_not_there_is_refused(metric: str, sample: int) -> None:
    with pytest.raises(ReportError, match=r"no metric 'lengthy'|no sample"):
        Hub(Length(), judge="offline").evaluate(predictions=TEXTS).explain(metric, sample)


def test_explanations_and_errors_are_saved_and_loaded(tmp_path: Path) -> None:
    report = Hub(Length(), judge="offline").evaluate(predictions=TEXTS)
    report.save(tmp_path / "report.json")
    loaded = Report.load(tmp_path / "report.json", [Length()])
    assert loaded.traces == report.traces
    assert loaded.scores() == report.scores()
    assert loaded.counts() == report.counts()
    for sample in range(5):
        assert loaded.explain("length", sample)[:2] == report.explain("length", sample)[:2]
        assert loaded.explain("length", sample).steps == report.explain("length", sample).steps


def test_merging_keeps_each_explanation_with_its_sample() -> None:
    report = Hub(Length(), judge="offline").evaluate(predictions=TEXTS)
    for cut in range(1, 5):
        parts = [
            Hub(Length(), judge="offline").evaluate(predictions=p)
            for p in (TEXTS[:cut], TEXTS[cut:])
        ]
        assert parts[0].merge(parts[1]).traces == report.traces


def test_a_pooled_report_keeps_the_counts_of_errors_but_no_samples() -> None:
    report = Hub(Length(), judge="offline").evaluate(predictions=TEXTS, samples=False)
    assert report.scores()["length"] == {"score": 3.0}
    assert report.counts()["length"] == {"unscored": 2, "errors": 1}
    assert report.traces["length"] == Trace(errors_by_cause=report.traces["length"].errors_by_cause)
    with pytest.raises(ReportError, match="pooled"):
        report.explain("length", 0)


def test_a_sample_with_one_failed_candidate_is_an_error_and_one_step_a_candidate_is_kept() -> None:
    report = Hub(Length(), judge="offline").evaluate(predictions=[["abcd", "fail"], ["ab", "abcd"]])
    assert report.explain("length", 0)[:2] == ("error", "fail went wrong")
    assert [step["letters"][0]["item"] for step in report.explain("length", 1).steps] == [
        "ab",
        "abcd",
    ]
    # The metric names no direction, so that candidates are averaged.
    assert report.scores()["length"] == {"score": 3.0}
    assert report.counts()["length"] == {"errors": 1}


# How many errors a run may have.


def test_more_errors_than_allowed_end_the_run() -> None:
    texts = ["fail 1", "ab", "fail 2"]
    assert Hub(Length(), judge="offline").evaluate(predictions=texts, max_errors=2).failed == 2
    tables = ({"predictions": [text]} for text in texts)
    for data in ({"predictions": texts}, tables):
        with pytest.raises(TooManyErrors, match=r"more than 1 samples failed.*went wrong"):
            Hub(Length(), judge="offline").evaluate(data, max_errors=1)


def test_a_sample_that_two_metrics_fail_on_counts_once() -> None:
    hub = Hub([Length(), Length(name="other")], judge="offline")
    assert hub.evaluate(predictions=["fail", "ab"], max_errors=1).failed == 2


def test_a_defect_of_the_metric_is_no_error_of_the_judge() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Broken(JudgeMetric):
        async def observe(self, prediction: str) -> float:
            raise ZeroDivisionError("a slip")

    with pytest.raises(ScoringError, match=r"broken failed on sample 0: Zero.*: a slip") as caught:
        Hub(Broken(), judge="offline").evaluate(predictions=["a"])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


# What an author and a user get wrong.


def test_a_prompt_that_is_not_there_is_named() -> None:
    with pytest.raises(MetricError, match=r"nowhere\.md can't be read"):
        Length().prompt("nowhere")


def test_choices_are_asked_for_in_both_orders_and_wavering_is_a_tie() -> None:
    from metrichub.models.loop import run

    @dataclass(frozen=True, kw_only=True)
    class Better(JudgeMetric):
        def prompt(self, name: str) -> Prompt:
            return Prompt(name, "Choose.")

        async def observe(self, prediction: str) -> float:
            return 0.0

    class Longer(Scripted):
        async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Any) -> Any:
            choice = await super().choose(prompt, candidates, fields)
            return choice._replace(winner=int(len(candidates[1]) > len(candidates[0])))

    always_first = Better(judge=Scripted({"better": 0}))
    assert run(always_first.choose("better", ["a", "bb"])).winner is None
    assert run(Better(judge=Longer({"better": 0})).choose("better", ["a", "bb"])).winner == 1
    assert run(Better(judge=Scripted({"better": None})).choose("better", ["a", "b"])).winner is None
