"""Repeats, raw replies and prompts of one's own."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from metrichub import Hub, load_metric
from metrichub.catalog.card import Card
from metrichub.errors import ParameterError, ReportError
from metrichub.metric import CorpusMetric
from metrichub.report.report import Report
from tests import judge_stub
from tests.judge_stub import Stub, completion, failure, judged
from tests.judge_toys import columns, spec
from tests.toy_metrics import card


def wavering(stub: Stub) -> None:
    """Make the stub say "yes" to every claim of a text the first time, and "no" the second."""
    seen: dict[str, int] = {}

    def fault(asked: judge_stub.Asked) -> judge_stub.Reply:
        if "verdicts" not in asked.schema["properties"]:
            return completion(json.dumps(judge_stub.answer(asked)))
        times = seen[asked.system] = seen.get(asked.system, 0) + 1
        verdict = "yes" if times == 1 else "no"
        return completion(json.dumps(judged(asked, verdict=verdict)))

    stub.always = fault


# Several runs.


def test_scores_are_the_means_of_the_runs_and_the_spread_says_how_far_they_lie(stub: Stub) -> None:
    wavering(stub)
    hub = Hub(["faithfulness", "exact_match"], judge=spec(stub))
    report = hub.evaluate(**columns(1), references=["a"], repeats=2)
    # The runs give 1 and 0, whose sample standard deviation is the root of (1/4 + 1/4) / 1.
    assert report.scores()["faithfulness"] == {"score": 0.5}
    score = report.repeated()["faithfulness"]["score"]
    assert score.runs == (1.0, 0.0)
    assert (score.mean, score.low, score.high) == (0.5, 0.0, 1.0)
    assert score.std == pytest.approx(0.5**0.5)
    assert score.samples.tolist() == pytest.approx([0.5**0.5])
    assert list(report.repeated()) == ["faithfulness"]
    assert "|repeats:2" in report.signatures()["faithfulness"]
    assert "repeats" not in report.signatures()["exact_match"]
    assert report.notes()["faithfulness"][0].startswith(
        "score in 2 runs: 1.0000, 0.0000 (standard dev"
    )


@dataclass(frozen=True, kw_only=True)
class Asked(CorpusMetric):
    """How often it was asked about a text, at most."""

    card: ClassVar[Card] = card("asked", "prediction")
    times: ClassVar[Counter[str]] = Counter()

    async def observe(self, prediction: str) -> int:
        self.times[prediction] += 1
        return self.times[prediction]

    def conclude(self, rows: Sequence[int]) -> dict[str, float]:
        return {"score": max(rows)}


def test_rows_that_have_no_mean_are_those_of_the_first_run() -> None:
    Asked.times.clear()
    report = Hub(Asked()).evaluate(predictions=["a"], repeats=3)
    assert report.repeated()["asked"]["score"].runs == (1, 2, 3)
    assert report.scores() == {"asked": {"score": 1}}
    assert report.counts() == {"asked": {}}


def test_every_run_asks_anew_and_is_kept(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=spec(stub))
    assert hub.evaluate(**columns(2), repeats=3).usage.calls == 12
    again = hub.evaluate(**columns(2), repeats=3).usage
    assert (again.calls, again.cached) == (0, 12)
    # The first of several runs is the single run.
    assert hub.evaluate(**columns(2)).usage.cached == 4


def test_explanations_say_of_which_run_they_are(stub: Stub) -> None:
    wavering(stub)
    report = Hub("faithfulness", judge=spec(stub)).evaluate(**columns(1), repeats=2)
    steps = report.explain("faithfulness", 0).steps
    assert [(step["run"], step["claims"][0]["verdict"]) for step in steps] == [
        (1, "yes"),
        (2, "no"),
    ]


def test_a_sample_is_scored_by_the_runs_that_did_not_fail(stub: Stub) -> None:
    # The only call of the first run that is made first is the one that fails.
    stub.faults = [failure(500)]
    report = Hub("faithfulness", judge=spec(stub)).evaluate(**columns(1), repeats=2)
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    assert report.counts() == {"faithfulness": {}}
    score = report.repeated()["faithfulness"]["score"]
    assert np.isnan(score.runs[0])
    assert score.runs[1] == 0.5
    assert np.isnan(score.std)


def test_what_fails_in_every_run_is_an_error(stub: Stub) -> None:
    stub.always = failure(500)
    report = Hub("faithfulness", judge=spec(stub)).evaluate(**columns(1), repeats=2)
    assert report.counts()["faithfulness"]["errors"] == 1
    assert report.explain("faithfulness", 0).status == "error"


def test_repeated_runs_are_saved_merged_and_pooled(stub: Stub, tmp_path: Path) -> None:
    wavering(stub)
    hub = Hub("faithfulness", judge=spec(stub))
    report = hub.evaluate(**columns(1), repeats=2)
    report.save(tmp_path / "report.json")
    loaded = Report.load(tmp_path / "report.json")
    assert loaded.scores() == report.scores()
    assert loaded.counts() == report.counts()
    assert loaded.repeated()["faithfulness"]["score"].runs == (1.0, 0.0)
    merged = report.merge(copy.copy(report))
    assert merged.repeated()["faithfulness"]["score"].samples.shape == (2,)
    assert report.pool().repeated()["faithfulness"]["score"].runs == (1.0, 0.0)


def test_a_metric_without_a_judge_is_measured_once() -> None:
    report = Hub("bleu").evaluate(predictions=["a"], references=["a"], repeats=5)
    assert "repeats" not in report.signatures()["bleu"]
    with pytest.raises(ReportError, match="evaluate with repeats=3"):
        report.repeated()
    with pytest.raises(ParameterError, match="repeats"):
        Hub("bleu").evaluate(predictions=["a"], references=["a"], repeats=0)


# Raw replies.


def test_the_replies_behind_a_score_are_there_on_demand(stub: Stub) -> None:
    report = Hub("faithfulness", judge=spec(stub)).evaluate(**columns(2))
    claims, verdicts = report.replies("faithfulness", 1)
    assert claims["items"] == ["Claim 1.", "This is unsupported 1."]
    assert (claims["models"], claims["repairs"]) == (["stub"], 0)
    assert [verdict["reason"] for verdict in verdicts["verdicts"]] == ["about 0", "about 1"]


def test_replies_that_were_not_kept_are_none(stub: Stub, tmp_path: Path) -> None:
    report = Hub("faithfulness", judge=spec(stub, cache=False)).evaluate(**columns(1))
    assert report.replies("faithfulness", 0) == [None, None]
    offline = Hub("faithfulness", judge="offline").evaluate(**columns(1))
    assert offline.replies("faithfulness", 0) == []
    report.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json").replies("faithfulness", 0) == [None, None]
    with pytest.raises(ReportError, match="no sample 7"):
        report.replies("faithfulness", 7)


# Prompts of one's own.


def test_a_prompt_that_the_metric_does_not_ask_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"claims.*it has: nothing"):
        load_metric("faithfulness", prompts=str(tmp_path))
    (tmp_path / "clams.md").write_text("x", encoding="utf-8")
    with pytest.raises(ParameterError, match="it has: clams"):
        load_metric("faithfulness", prompts=str(tmp_path))
