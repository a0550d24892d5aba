"""Outages: calls in a row that were given up for the server's fault end a run, seen from it."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path
from typing import Any

import openai
import pytest

from metrichub import Hub
from metrichub.errors import BudgetSpent, JudgeUnavailable
from tests.commands import run as command
from tests.commands import write
from tests.judge_stub import (
    Asked,
    Fault,
    Reply,
    Stub,
    answer,
    completion,
    dropped,
    failure,
    raw,
    says,
    serving,
    silent,
)
from tests.judge_toys import columns, spec

MANY = 20

CONCURRENCY = 16
SERVER_FAULTS = {
    "500": failure(500),
    "502": failure(502, "bad gateway"),
    "dropped": dropped,
    "a page": raw(b"<html>Bad gateway</html>"),
}
ROW_FAULTS = {
    "refused": failure(400, "flagged", "content_filter"),
    "too long": failure(400, "too many tokens", "context_length_exceeded"),
    "unreadable": says("I'd rather not."),
    "refusal": says(None, refusal="no"),
    "cut off": says('{"items": [', finish_reason="length"),
}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.0)


def hub(stub: Stub, **more: Any) -> Hub:
    return Hub("faithfulness", judge=spec(stub, concurrency=CONCURRENCY, **more))


@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize("fault", SERVER_FAULTS.values(), ids=SERVER_FAULTS)
def test_a_server_that_fails_every_call_ends_the_run(
    stub: Stub, fault: Fault, retries: int
) -> None:
    stub.always = fault
    with pytest.raises(JudgeUnavailable, match="20 calls in a row"):
        hub(stub, max_retries=retries).evaluate(**columns(300))
    # Those that were on their way meanwhile have as many tries.
    assert MANY * (1 + retries) <= len(stub.asked) <= (MANY + CONCURRENCY) * (1 + retries)


@pytest.mark.parametrize(("answers", "timeout"), [(0, 0.1), (60, 0.3)])
def test_a_server_that_never_answers_ends_the_run(stub: Stub, answers: int, timeout: float) -> None:
    stub.faults, stub.always = [None] * answers, silent
    message = r"didn't answer within \S+ s 10 times in a row.*lower concurrency or raise timeout"
    with pytest.raises(JudgeUnavailable, match=message):
        hub(stub, timeout=timeout).evaluate(**columns(300))
    # Sixteen at once and then half as many each time are 16 + 8 + 4 + 2 + 6 times one.
    assert len(stub.asked) - answers <= 36


@pytest.mark.parametrize(("slots", "timeout"), [(1, 0.5), (2, 0.25)])
def test_a_server_of_few_slots_is_not_flooded(stub: Stub, slots: int, timeout: float) -> None:
    # An answer takes 0.05 s, and what comes meanwhile waits, though nobody waits for it any more.
    free, never = threading.Semaphore(slots), threading.Event()

    def slow(asked: Asked) -> Reply:
        with free:
            never.wait(0.05)
        return completion(json.dumps(answer(asked)))

    stub.always = slow
    judge = f"openai(model='stub', base_url='{stub.url}', timeout={timeout})"
    report = Hub("rubric(criterion='Is it good?')", judge=judge).evaluate(
        predictions=columns(40)["predictions"]
    )
    assert report.failed <= 2
    assert len(stub.asked) <= 1.3 * 40


def test_requests_that_time_out_together_cost_no_row(stub: Stub) -> None:
    stub.faults = [None, *[silent] * 4]
    report = hub(stub, max_retries=0, timeout=2.0).evaluate(**columns(10))
    assert report.failed == 0
    assert len(stub.asked) >= 20 + 4


def test_calls_of_an_embedder_that_time_out_together_cost_no_row(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metrichub.models.openai_embedder.LARGEST", 2)
    stub.faults = [None, *[silent] * 4]
    texts = [f"text {i}" for i in range(20)]
    report = Hub("semantic_similarity", embedder=spec(stub, model="e", timeout=2.0)).evaluate(
        predictions=texts[:10], references=texts[10:]
    )
    assert report.failed == 0
    assert len(stub.asked) >= 10 + 4


@pytest.mark.parametrize("fault", ROW_FAULTS.values(), ids=ROW_FAULTS)
def test_refusals_and_unreadable_answers_end_no_run(stub: Stub, fault: Fault) -> None:
    Hub("faithfulness", judge=spec(stub)).evaluate(**columns(1))
    stub.always = fault
    assert Hub("faithfulness", judge=spec(stub, cache=False)).evaluate(**columns(60)).failed == 60


def test_an_answer_in_between_starts_the_count_anew(stub: Stub) -> None:
    turn = itertools.count(1)

    def mostly_down(asked: Asked) -> Reply:
        if next(turn) % MANY:
            return failure(500)(asked)
        return completion(json.dumps(answer(asked)))

    stub.always = mostly_down
    report = Hub("faithfulness", judge=spec(stub, concurrency=1)).evaluate(**columns(100))
    # One call in twenty is answered, of which each row that is scored takes two.
    assert report.failed >= 90


def test_the_message_says_what_is_done_and_a_second_run_asks_for_the_rest(stub: Stub) -> None:
    one_by_one = Hub("faithfulness", judge=spec(stub, concurrency=1))
    answered = itertools.count(1)

    def dies(asked: Asked) -> Reply:
        if next(answered) > 60:
            return failure(500, "out of memory")(asked)
        return completion(json.dumps(answer(asked)))

    stub.always = dies
    with pytest.raises(JudgeUnavailable) as ended:
        one_by_one.evaluate(**columns(50))
    message = str(ended.value)
    assert "out of memory" in message
    assert "all answers are stored" in message
    assert "continues from here" in message
    done = int(message.rpartition(" samples")[0].split()[-1])
    # Of 60 answers at most 50 are claims, so that 10 to 30 samples have both of theirs.
    assert 10 <= done <= 30
    stub.always = None
    stub.asked.clear()
    assert one_by_one.evaluate(**columns(50)).failed == 0
    assert len(stub.asked) == 2 * 50 - 60


def test_who_says_how_many_samples_may_fail_gets_a_report_of_the_others(stub: Stub) -> None:
    # As of a server that answers 500 to texts that are too long for it. Two answers to the only
    # other sample part 59 failures in three, one of at least 20, in whatever order they come.
    def too_long(asked: Asked) -> Reply:
        if any(f"{i}." in str(asked.data) for i in range(1, 60)):
            return failure(500, "too long")(asked)
        return completion(json.dumps(answer(asked)))

    stub.always = too_long
    with pytest.raises(JudgeUnavailable, match="; or set max_errors"):
        hub(stub).evaluate(**columns(60))
    report = hub(stub).evaluate(**columns(60), max_errors=59)
    assert report.failed == 59
    assert report.scores()["faithfulness"]["score"] == 0.5


def test_the_count_goes_on_from_block_to_block(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    from metrichub.authoring import JudgeMetric

    monkeypatch.setattr(JudgeMetric, "block_characters", 100)
    stub.always = failure(500)
    with pytest.raises(JudgeUnavailable, match="20 calls in a row"):
        hub(stub).evaluate(**columns(300))
    assert len(stub.asked) <= MANY + CONCURRENCY


def test_the_next_run_counts_for_itself(stub: Stub) -> None:
    stub.always = failure(500)
    for _ in range(3):
        assert hub(stub).evaluate(**columns(MANY - 1)).failed == MANY - 1


@pytest.mark.parametrize(
    "fault",
    [*(failure(status) for status in (401, 402, 403, 404)), failure(429, "", "insufficient_quota")],
    ids=["401", "402", "403", "404", "quota"],
)
def test_what_no_later_call_can_mend_ends_the_run_at_once(stub: Stub, fault: Fault) -> None:
    stub.always = fault
    with pytest.raises(JudgeUnavailable):
        hub(stub, max_retries=2).evaluate(**columns(300))
    assert len(stub.asked) == 1


def test_an_embedder_ends_its_run_too(stub: Stub) -> None:
    embedder = spec(stub, model="e")
    stub.always = failure(500)
    texts = [f"text {i}" for i in range(5000)]
    with pytest.raises(JudgeUnavailable, match="20 calls in a row"):
        Hub("semantic_similarity", embedder=embedder).evaluate(predictions=texts, references=texts)


def test_a_judge_of_a_panel_whose_server_fails_every_call_ends_the_run_too(stub: Stub) -> None:
    with serving() as down:
        down.always = failure(500)
        panel = [spec(stub, seed=1), spec(down), spec(stub, seed=2)]
        few = Hub("faithfulness", judge=panel).evaluate(**columns(MANY - 1))
        assert few.failed == 0
        with pytest.raises(JudgeUnavailable, match="20 calls in a row"):
            Hub("faithfulness", judge=panel).evaluate(**columns(100))


def test_the_program_says_it_in_one_line(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = columns(40)
    write("a.jsonl", [{name: texts[name][i] for name in texts} for i in range(40)])
    stub.always = failure(500)
    result = command("score", "a.jsonl", "-m", "faithfulness", "--judge", spec(stub))
    assert result.exit_code == 4
    assert result.stderr.count("\n") == 1
    assert "20 calls in a row" in result.stderr


def test_samples_of_a_repeat_are_counted_for_themselves(stub: Stub) -> None:
    one_by_one = Hub("faithfulness", judge=spec(stub, concurrency=1))
    # 24 answers are those of the first run; of the next 13 at most 12 are claims.
    with pytest.raises(BudgetSpent, match=r"; [1-6] samples? of repeat 2 had been scored by then$"):
        one_by_one.evaluate(**columns(12), repeats=2, max_calls=24 + 13)
