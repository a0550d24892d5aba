"""Runs of 100 samples and four metrics against a server: whole, in order, and never paid twice."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from metrichub import Hub, Report
from tests import judge_stub
from tests.judge_faults import KINDS, RandomFaults
from tests.judge_stub import Stub
from tests.judge_toys import spec

SIZE = 100
# Four calls a sample, as the second metric shares those of the first.
METRICS = ["faithfulness", "hallucination", "context_utilization", "answer_relevancy"]
WORKERS = 16


def columns(size: int = SIZE) -> dict[str, list[Any]]:
    """Answers of two claims, of which the stub calls the second unsupported; one in 25 is blank."""
    answers = [f"Claim {i}. This is unsupported {i}." for i in range(size)]
    answers[::25] = [""] * len(answers[::25])
    sources = [f"Passage {i}. More of it {i}." for i in range(size)]
    return {
        "predictions": answers,
        "sources": sources,
        "contexts": [[source] for source in sources],
        "questions": [f"What is claim {i}?" for i in range(size)],
    }


def stored(cache: Path) -> int:
    """How many answers the call store in this folder holds."""
    with sqlite3.connect(cache / "calls.sqlite") as file:
        return int(file.execute("SELECT count(*) FROM calls").fetchone()[0])


class Undisturbed(NamedTuple):
    """A run to compare with: the server, its report, how many calls it made, and most at once."""

    stub: Stub
    report: Report
    calls: int
    most: int


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Undisturbed]:
    cache = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch, judge_stub.serving() as stub:
        patch.setenv("METRICHUB_CACHE", str(cache))
        patch.setenv("OPENAI_API_KEY", judge_stub.KEY)
        # As many at once as if earlier answers had come soon.
        patch.setattr("metrichub.models.limits.START", float(WORKERS))
        gate = threading.Barrier(WORKERS)

        def together(asked: judge_stub.Asked) -> judge_stub.Reply:
            gate.wait(60)
            return judge_stub.completion(json.dumps(judge_stub.answer(asked)))

        # The first ones are answered only once as many are there as may be in flight.
        # But for the very first, which is alone, as it finds out what the server accepts.
        stub.faults = [None, *[together] * WORKERS]
        report = Hub(METRICS, judge=spec(stub), embedder="offline").evaluate(**columns())
        assert stored(cache) == len(stub.asked)
        yield Undisturbed(stub, report, len(stub.asked), stub.most)


def test_no_more_calls_are_in_flight_over_all_metrics_than_allowed(
    undisturbed: Undisturbed,
) -> None:
    assert undisturbed.most == WORKERS


def test_an_undisturbed_run_scores_every_sample_that_has_a_score(undisturbed: Undisturbed) -> None:
    scores, counts = undisturbed.report.scores(), undisturbed.report.counts()
    # One in 25 answers is blank: it has no claims, and nothing is useful for it.
    blank = SIZE // 25
    assert scores["faithfulness"] == {"score": 0.5}
    assert counts["faithfulness"] == {"unanswered": blank}
    assert scores["hallucination"]["score"] == 0.5
    assert scores["context_utilization"] == {"score": 1.0}
    assert counts["context_utilization"] == {"unanswered": blank}
    assert "unanswered" not in counts["answer_relevancy"]
    assert undisturbed.report.failed == 0
    # The claims of the blank answers, and the questions to them, are asked for once.
    assert undisturbed.calls == 4 * (SIZE - blank) + 2


def test_under_random_faults_every_sample_has_a_score_a_reason_or_a_cause(
    undisturbed: Undisturbed, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metrichub.models.limits.FIRST", 0.001)
    monkeypatch.setattr("metrichub.models.limits.LONGEST", 0.001)
    faults = stub.always = RandomFaults(seed=3)
    # Silent servers are given up on after the timeout, and the client tries each call twice.
    judge = spec(stub, concurrency=32, timeout=5.0, max_retries=1)
    report = Hub(METRICS, judge=judge, embedder="offline").evaluate(**columns())
    assert set(faults.injected) == set(KINDS)
    assert 0.17 < faults.injected.total() / faults.asked.total() < 0.23
    failed = 0
    for name, right in undisturbed.report.samples().items():
        score, evidence = report.samples()[name]["score"], report.traces[name]
        status = [report.explain(name, i)[:2] for i in range(SIZE)]
        count = {kind: sum(s == kind for s, _ in status) for kind in ("ok", "unanswered", "error")}
        assert sum(count.values()) == SIZE
        assert count["ok"] == np.count_nonzero(~np.isnan(score)) > SIZE / 2
        assert count["error"] == len(evidence.errors) == evidence.errors_by_cause.total() > 0
        assert all(reason for kind, reason in status if kind != "ok")
        message = report.counts()[name]
        assert message.get("unanswered", 0) == count["unanswered"]
        assert message["errors"] == count["error"]
        # Whatever happened, a score is the right one.
        scored = ~np.isnan(score)
        np.testing.assert_array_equal(score[scored], right["score"][scored])
        failed += count["error"]
    assert report.failed == failed
    # Once the server is well again, the rest is asked for, and nothing else.
    stub.always = None
    before = len(stub.asked)
    again = Hub(METRICS, judge=spec(stub), embedder="offline").evaluate(**columns())
    assert again.failed == 0
    assert again.usage.calls == len(stub.asked) - before < undisturbed.calls / 2
    for name, right in undisturbed.report.samples().items():
        np.testing.assert_array_equal(again.samples()[name]["score"], right["score"])


PROGRAM = """
import json, sys
from metrichub import Hub
metrics, judge, columns = json.load(open(sys.argv[1]))
Hub(metrics, judge=judge, embedder="offline").evaluate(**columns).save(sys.argv[2])
"""


def test_a_run_killed_half_way_is_finished_by_the_next_without_a_call_made_twice(
    undisturbed: Undisturbed, alone: None, tmp_path: Path
) -> None:
    stub, calls = undisturbed.stub, undisturbed.calls
    inputs, saved = tmp_path / "given.json", tmp_path / "report.json"
    inputs.write_text(json.dumps([METRICS, spec(stub), columns()]))
    command = [sys.executable, "-c", PROGRAM, str(inputs), str(saved)]
    start, half = len(stub.asked), calls // 2
    victim: list[subprocess.Popen[bytes]] = []
    ready = threading.Event()

    def deadly(asked: judge_stub.Asked) -> judge_stub.Reply:
        if len(stub.asked) - start >= half:
            ready.wait(60)
            victim[0].kill()
            return judge_stub.dropped(asked)
        return judge_stub.completion(json.dumps(judge_stub.answer(asked)))

    stub.always = deadly
    victim.append(subprocess.Popen(command))
    ready.set()
    assert victim[0].wait(120) == -signal.SIGKILL
    stub.always = None
    answers = stored(tmp_path / "cache")
    # All that was answered is there, but for what was in flight.
    assert half - WORKERS <= answers < half
    start = len(stub.asked)
    subprocess.run(command, check=True)
    later = [json.dumps(asked.body) for asked in stub.asked[start:]]
    # The store grew by one with each call, so that none was there already.
    assert len(later) == len(set(later)) == calls - answers
    assert stored(tmp_path / "cache") == calls
    undisturbed.report.save(tmp_path / "whole.json")
    assert _without_usage(saved) == _without_usage(tmp_path / "whole.json")


def _without_usage(path: Path) -> Mapping[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return {name: part for name, part in content.items() if name != "usage"}


# Runs that end before their end: with a metric that asks several things at once, too.
