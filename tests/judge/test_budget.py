"""What a run may take: it ends before it would take more, and what was done is kept."""

from __future__ import annotations

import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, OpenAIJudge
from metrichub.authoring import Prompt
from metrichub.errors import BudgetSpent, JudgeUnavailable, ParameterError
from metrichub.models.loop import run
from metrichub.models.store import Store, store
from metrichub.models.usage import Answer
from tests.commands import run as command
from tests.commands import write
from tests.judge_stub import Asked, Reply, Stub, answer, completion
from tests.judge_toys import columns, spec

CLAIMS = Prompt("claims", "List the claims.")
SAMPLES = 12
LONG = 60.0


def hub(stub: Stub, **more: Any) -> Hub:
    return Hub("faithfulness", judge=spec(stub, **({"concurrency": 2} | more)))


def test_a_run_ends_before_it_passes_its_calls_and_goes_on_from_there(stub: Stub) -> None:
    with pytest.raises(BudgetSpent, match="the next call would exceed max_calls=7 "):
        hub(stub).evaluate(**columns(SAMPLES), max_calls=7)
    assert len(stub.asked) == 7
    # Two calls a sample; the second run makes those that are left.
    report = hub(stub).evaluate(**columns(SAMPLES), max_calls=2 * SAMPLES - 7)
    assert report.size == SAMPLES
    assert len(stub.asked) == 2 * SAMPLES


def test_tokens_and_money_are_counted_as_the_estimate_counts_them(stub: Stub) -> None:
    prices = {"prices": [100.0, 1000.0]}
    expected = hub(stub, **prices).estimate(**columns(SAMPLES))
    tokens = expected.prompt_tokens + expected.completion_tokens
    assert expected.money
    # The stub says 13 tokens a call, far fewer than were held for it.
    report = hub(stub, **prices).evaluate(**columns(SAMPLES), max_tokens=tokens)
    assert report.usage.calls == 2 * SAMPLES
    for limit in ({"max_tokens": tokens // 100}, {"max_cost": expected.money / 100}):
        with pytest.raises(BudgetSpent, match=f"the next call would exceed {next(iter(limit))}="):
            hub(stub, cache=False, **prices).evaluate(**columns(SAMPLES), **limit)


def test_room_is_held_for_the_largest_reply_so_far(stub: Stub) -> None:
    def thoughtful(asked: Asked) -> Reply:
        body = json.loads(completion(json.dumps(answer(asked)))[2] or b"")
        body["usage"] |= {"completion_tokens": 5_000}
        return 200, {}, json.dumps(body).encode()

    stub.always = thoughtful
    with pytest.raises(BudgetSpent, match="the next call would exceed max_tokens=20,000 "):
        hub(stub, concurrency=16).evaluate(**columns(SAMPLES), max_tokens=20_000)
    # 10 tokens are sent each time.
    assert len(stub.asked) * 5_010 <= 20_000


def without_usage(asked: Asked) -> Reply:
    status, headers, body = completion(json.dumps(answer(asked)))
    assert body
    document = json.loads(body)
    del document["usage"]
    return status, headers, json.dumps(document).encode()


@pytest.mark.parametrize("limit", ["max_tokens", "max_cost"])
def test_a_server_that_counts_no_tokens_is_counted_by_the_estimate(stub: Stub, limit: str) -> None:
    prices = {"prices": [100.0, 1000.0]}
    expected = hub(stub, **prices).estimate(**columns(SAMPLES))
    most = {
        "max_tokens": (expected.prompt_tokens + expected.completion_tokens) // 2,
        "max_cost": (expected.money or 0.0) / 2,
    }
    stub.always = without_usage
    with pytest.raises(BudgetSpent, match=f"would exceed {limit}="):
        hub(stub, **prices).evaluate(**columns(SAMPLES), **{limit: most[limit]})
    assert 0 < len(stub.asked) < 2 * SAMPLES


def test_a_budget_of_the_estimate_is_enough_and_a_token_less_is_not(stub: Stub) -> None:
    expected = hub(stub).estimate(**columns(SAMPLES))
    tokens = expected.prompt_tokens + expected.completion_tokens
    # What the stub finds in the texts is what the estimate takes for the claims: the sentences.
    stub.always = without_usage
    scores = hub(stub, cache=False)
    assert scores.evaluate(**columns(SAMPLES), max_tokens=tokens).failed == 0
    with pytest.raises(BudgetSpent, match="would exceed max_tokens="):
        scores.evaluate(**columns(SAMPLES), max_tokens=tokens - 1)


def test_the_limit_of_a_run_ends_no_other(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrichub.models.limits.START", 100.0)
    arrived, go_on = threading.Semaphore(0), threading.Event()

    def held(asked: Asked) -> Reply:
        arrived.release()
        go_on.wait(LONG)
        return completion(json.dumps(answer(asked)))

    # A slot for each sample of both: a call that waits for room in its budget holds one too.
    limited, free = (hub(stub, cache=False, concurrency=2 * SAMPLES) for _ in range(2))
    # Once the server is known to answer, no call waits for the first.
    free.evaluate(**columns(1))
    stub.always = held
    # A run takes the answers that another waits for, so these texts are other ones.
    others = {name: column[SAMPLES:] for name, column in columns(2 * SAMPLES).items()}
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(free.evaluate, **columns(SAMPLES))
        ending = pool.submit(limited.evaluate, **others, max_calls=3)
        in_flight = [arrived.acquire(timeout=LONG) for _ in range(SAMPLES + 3)]
        go_on.set()
        assert all(in_flight)
        with pytest.raises(BudgetSpent, match="would exceed max_calls=3 "):
            ending.result(LONG)
        assert running.result(LONG).scores() == {"faithfulness": {"score": 0.5}}


def test_money_needs_prices_and_limits_are_positive(stub: Stub) -> None:
    with pytest.raises(BudgetSpent, match="max_cost needs the judge's prices"):
        hub(stub).evaluate(**columns(1), max_cost=1.0)
    assert not stub.asked
    with pytest.raises(ParameterError, match="max_calls"):
        hub(stub).evaluate(**columns(1), max_calls=0)


def test_the_command_line_takes_limits(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = columns(3)
    rows = [{name: texts[name][i] for name in texts} for i in range(3)]
    write("a.jsonl", rows)
    asked = ("score", "a.jsonl", "-m", "faithfulness", "--judge", spec(stub), "--max-calls", "2")
    result = command(*asked)
    assert result.exit_code == 4
    assert "would exceed max_calls=2" in result.stderr
    assert len(stub.asked) == 2


# A store that fails.


def extract(stub: Stub, text: str = "One.") -> list[str]:
    return run(OpenAIJudge(model="stub", base_url=stub.url).extract(CLAIMS, {"text": text}))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA user_version = 99", "a newer version of metrichub made it"),
        ("ALTER TABLE calls ADD COLUMN more TEXT", "its answers have other columns"),
    ],
)
def test_a_store_of_another_version_is_left_alone(
    tmp_path: Path, statement: str, message: str
) -> None:
    path = tmp_path / "calls.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (1,)
        file.execute(statement)
    with pytest.raises(JudgeUnavailable, match=message):
        Store(path)


def test_a_store_of_before_versions_were_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    old = Store(path)
    old.put("key", "model", Answer("{}", 1, 2))
    old.close()
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version = 0")
        # Of versions in which processes told each other what they asked for.
        file.execute("CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT, since REAL)")
    assert Store(path).get("key") == Answer("{}", 1, 2)


@pytest.mark.parametrize("text", ['{"texts": []}', "[]", "nothing", "{}"])
def test_an_answer_of_another_form_is_asked_for_anew(stub: Stub, text: str) -> None:
    extract(stub)
    store()._do("UPDATE calls SET reply = ?", (text,))
    assert extract(stub) == ["One."]
    assert extract(stub) == ["One."]
    assert len(stub.asked) == 2
