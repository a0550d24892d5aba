"""Runs against a server: usage, faults, loops, threads, processes, restarts, the program."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report, load_metric
from metrichub.authoring import JudgeMetric
from metrichub.errors import MetricError
from metrichub.models.usage import Usage
from tests import commands, judge_stub
from tests.judge_stub import KEY, Stub, failure
from tests.judge_toys import Chars, Length, columns, spec

pytestmark = pytest.mark.usefixtures("alone")


# Through a server.


def test_scores_explanations_and_usage_come_from_the_servers_answers(stub: Stub) -> None:
    report = Hub(load_metric("faithfulness", judge=spec(stub))).evaluate(**columns(3))
    # One of two claims each; a call for the claims and one for the verdicts, 13 tokens each.
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    assert report.counts() == {"faithfulness": {}}
    assert report.usage == Usage(6, 0, 60, 18, money=None, requests=6)
    claims = report.explain("faithfulness", 2).steps[0]["claims"]
    assert [claim["verdict"] for claim in claims] == ["yes", "no"]
    again = Hub(load_metric("faithfulness", judge=spec(stub))).evaluate(**columns(3))
    assert again.usage == Usage(cached=6)
    assert again.scores() == report.scores()
    assert again.counts() == report.counts()


def test_a_judge_given_as_an_object_is_saved_as_its_spec(stub: Stub, tmp_path: Path) -> None:
    from metrichub import OpenAIJudge

    judge = OpenAIJudge(model="stub", base_url=stub.url, api_key=KEY)
    report = Hub(load_metric("faithfulness", judge=judge)).evaluate(**columns(1))
    report.save(tmp_path / "report.json")
    loaded = Report.load(tmp_path / "report.json")
    assert loaded.signatures() == report.signatures()
    assert f"judge={judge.label!r}" in report.signatures()["faithfulness"]


def faulty(seed: int) -> judge_stub.Fault:
    """A server of which one answer in five is bad, by the request and by how often it came."""
    faults: list[judge_stub.Fault] = [
        failure(429, retry_after_ms="1"),
        failure(500),
        judge_stub.dropped,
        judge_stub.says('{"items": ["cut'),
        judge_stub.says("no JSON at all"),
        judge_stub.says(None, refusal="no"),
        judge_stub.raw(b"\xff\xfe"),
        judge_stub.verdicts([0]),
        judge_stub.verdicts([0, 0, 1], "perhaps"),
    ]
    times: Counter[str] = Counter()

    def fault(asked: judge_stub.Asked) -> judge_stub.Reply:
        message = json.dumps(asked.body["messages"])
        times[message] += 1
        chance = random.Random(f"{seed} {times[message]} {message}")
        verifies = "verdicts" in asked.schema["properties"]
        if chance.random() < 0.2:
            return chance.choice(faults if verifies else faults[:-2])(asked)
        return judge_stub.completion(json.dumps(judge_stub.answer(asked)))

    return fault


def test_under_random_faults_every_sample_is_scored_or_an_error_and_runs_converge(
    stub: Stub,
) -> None:
    stub.always = faulty(1)
    hub = Hub(load_metric("faithfulness", judge=spec(stub)))
    size, failed = 100, []
    for _ in range(6):
        report = hub.evaluate(**columns(size))
        scores = report.samples()["faithfulness"]["score"]
        errors = report.traces["faithfulness"].errors
        # Whatever happened, a score is the right one, and what has none has a cause.
        assert set(scores[~np.isnan(scores)].tolist()) == {0.5}
        assert sorted(errors) == np.flatnonzero(np.isnan(scores)).tolist()
        assert all(errors.values())
        failed.append(report.failed)
    # What was answered stays stored, so that each run has less to do than the one before.
    assert failed[0] > 0
    assert failed == sorted(failed, reverse=True)
    assert failed[-1] < failed[0]


# Loops and threads.


def test_it_works_inside_a_running_loop() -> None:
    async def cell() -> dict[str, Any]:
        return Hub(Length(), judge="offline")(predictions=["ab"])

    assert asyncio.run(cell()) == {"length": {"score": 2.0}}


def test_it_can_be_awaited_by_many() -> None:
    async def server() -> list[Report]:
        hub = Hub(Length(), judge="offline")
        return await asyncio.gather(*(hub.aevaluate(predictions=["a" * n]) for n in (1, 2, 3)))

    assert [r.scores()["length"]["score"] for r in asyncio.run(server())] == [1.0, 2.0, 3.0]


def test_what_is_cancelled_asks_no_further(stub: Stub) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def held(call: judge_stub.Asked) -> judge_stub.Reply:
        asked.set()
        go_on.wait(30)
        return judge_stub.completion(json.dumps(judge_stub.answer(call)))

    async def given_up() -> None:
        stub.always = held
        hub = Hub("faithfulness", judge=spec(stub, concurrency=1))
        task = asyncio.create_task(hub.aevaluate(**columns(20)))
        await asyncio.to_thread(asked.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(given_up())
    go_on.set()
    stub.always = None
    # The next run on the same loop and slots is made after all that the first still had to do.
    Hub("faithfulness", judge=spec(stub, concurrency=1)).evaluate(**columns(1))
    assert len(stub.asked) <= 1 + 2


def test_it_works_from_threads_with_one_limit_for_all(stub: Stub) -> None:
    hub = Hub(load_metric("faithfulness", judge=spec(stub, concurrency=2)))
    results: list[Report] = []
    first, texts = columns(1), {k: v[1:] for k, v in columns(5).items()}
    # The first call is alone, as it finds out what the server accepts.
    hub.evaluate(**first)
    stub.gate = threading.Barrier(2)

    def score(start: int) -> None:
        results.append(hub.evaluate(**{k: v[start : start + 2] for k, v in texts.items()}))

    threads = [threading.Thread(target=score, args=(start,)) for start in (0, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.scores()["faithfulness"]["score"] for report in results] == [0.5, 0.5]
    assert stub.most == 2


def test_scoring_inside_an_asynchronous_observe_is_refused_and_does_not_hang() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Nested(JudgeMetric):
        async def observe(self, prediction: str) -> float:
            return Hub(Length(), judge="offline")(predictions=[prediction])["length"]["score"]

    with pytest.raises(MetricError, match="can't call a hub; await what it needs"):
        Hub(Nested(), judge="offline").evaluate(predictions=["a"])


def test_progress_counts_every_sample_of_every_metric_once() -> None:
    done: list[int] = []
    texts = ["ab", ["abc", "fail"], "none"]
    Hub([Length(), Chars()], judge="offline").evaluate(predictions=texts, progress=done.append)
    assert sum(done) == 2 * 3
    assert done.count(1) >= 3


PROGRAM = """
import json, sys
from metrichub import Hub, load_metric
judge, columns = json.loads(sys.argv[1])
report = Hub(load_metric("faithfulness", judge=judge)).evaluate(**columns)
print(json.dumps([report.scores(), report.usage.calls]))
"""


def test_a_run_that_is_killed_and_started_again_repeats_no_finished_call(stub: Stub) -> None:
    settings = json.dumps([spec(stub, concurrency=1), columns(6)])
    command = [sys.executable, "-c", PROGRAM, settings]
    victim: list[subprocess.Popen[bytes]] = []
    ready = threading.Event()

    def kill(asked: judge_stub.Asked) -> judge_stub.Reply:
        ready.wait(60)
        os.kill(victim[0].pid, signal.SIGKILL)
        return judge_stub.dropped(asked)

    # With one call at a time, the first four are answered and stored before the fifth is sent.
    stub.faults = [None, None, None, None, kill]
    victim.append(subprocess.Popen(command))
    ready.set()
    assert victim[0].wait(60) == -signal.SIGKILL
    finished = [asked.body["messages"] for asked in stub.asked[:4]]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == [{"faithfulness": {"score": 0.5}}, 8]
    later = [asked.body["messages"] for asked in stub.asked[5:]]
    # Six samples take twelve calls.
    assert len(later) == 12 - 4
    assert not [messages for messages in later if messages in finished]


def test_several_processes_share_a_store(stub: Stub) -> None:
    commands_ = [
        [sys.executable, "-c", PROGRAM, json.dumps([spec(stub), columns(10)])] for _ in range(2)
    ]
    running = [subprocess.Popen(c, stdout=subprocess.PIPE, text=True) for c in commands_]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [json.loads(text)[0] for text in outputs] == [{"faithfulness": {"score": 0.5}}] * 2
    report = Hub(load_metric("faithfulness", judge=spec(stub))).evaluate(**columns(10))
    assert report.usage == Usage(cached=20)


# The command line.


def test_the_program_ends_with_4_where_a_judge_failed(stub: Stub, tmp_path: Path) -> None:
    rows = [{"prediction": "One.", "contexts": ["One."]}] * 2
    file = tmp_path / "in.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    metric = f'faithfulness(judge="{spec(stub)}")'
    assert commands.run("score", str(file), "-m", metric).exit_code == 0
    stub.always = failure(500)
    failing = f'faithfulness(judge="{spec(stub, cache=False)}")'
    result = commands.run("score", str(file), "-m", failing)
    assert result.exit_code == 4
    assert "2 failed" in result.stderr
    stub.always = failure(401)
    result = commands.run("score", str(file), "-m", failing)
    assert result.exit_code == 4
    assert result.stderr.count("\n") == 1
    assert "set OPENAI_API_KEY" in result.stderr


# With an embedder too.
