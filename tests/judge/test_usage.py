"""Usage: what a run will ask for and what it asked for, in calls, tokens, money and limits."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import sqlite3
from pathlib import Path

import pytest

from metrichub import Hub, OpenAIJudge, Report
from metrichub.errors import ParameterError
from metrichub.models.store import store_path
from metrichub.models.usage import BYTES_A_TOKEN, Answer, Prices, Usage, tokens_in
from tests.judge_stub import Asked, Reply, Stub, answer, completion
from tests.judge_toys import columns, spec

# Before: the estimate.


def test_an_estimate_counts_the_calls_that_the_run_then_makes_and_sends_nothing(stub: Stub) -> None:
    hub = Hub(["faithfulness", "context_recall"], judge=spec(stub))
    options = columns(5)
    options["references"] = [f"The reference {i}." for i in range(5)]
    estimate = hub.estimate(**options)
    assert not stub.asked
    # Claims of the answer and of the reference, and the verdicts on both.
    assert (estimate.calls, estimate.cached) == (20, 0)
    assert hub.evaluate(**options).usage.calls == 20
    assert hub.estimate(**options) == Usage(cached=20)


def test_an_estimate_counts_a_call_that_two_metrics_share_once(stub: Stub) -> None:
    hub = Hub(["faithfulness", "again = faithfulness(idk=1.0)"], judge=spec(stub))
    estimate = hub.estimate(**columns(3))
    assert (estimate.calls, estimate.cached) == (6, 6)


def test_an_estimate_takes_four_bytes_for_a_token(stub: Stub) -> None:
    estimate = Hub("faithfulness", judge=spec(stub)).estimate(**columns(1))
    Hub("faithfulness", judge=spec(stub)).evaluate(**columns(1))
    # Each request's messages and schema, as they are sent (the claims are the sentences, as the
    # stub has it too); in JSON, without the spaces that the client leaves out.
    sent = [[asked.body["messages"], asked.schema] for asked in stub.asked]
    assert estimate.prompt_tokens == sum(map(tokens_in, sent))
    assert tokens_in("x" * (4 * BYTES_A_TOKEN - 2)) == 4
    assert tokens_in("x" * (4 * BYTES_A_TOKEN - 1)) == 5


def test_an_estimate_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert Hub("faithfulness", judge="openai").estimate(**columns(2)).calls == 4


def test_repeated_runs_are_estimated_too(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=spec(stub))
    hub.evaluate(**columns(2))
    estimate = hub.estimate(**columns(2), repeats=3)
    assert (estimate.calls, estimate.cached) == (8, 4)


def test_without_a_model_nothing_is_estimated() -> None:
    assert Hub("faithfulness", judge="offline").estimate(**columns(2)) == Usage()
    assert Hub("bleu").estimate(predictions=["a"], references=["a"]) == Usage()


@pytest.mark.parametrize(
    "metric", ["pairwise", "answer_relevancy(embedder={0!r})", "coherence", "summarization"]
)
def test_every_primitive_is_estimated(stub: Stub, metric: str) -> None:
    options = {name: ["A text. Another."] for name in ("predictions", "references", "sources")}
    hub = Hub(metric.format(spec(stub)), judge=spec(stub))
    options["questions"] = ["Which one?"]
    options["predictions"] = ["Some text. Yet another."]
    estimate = hub.estimate(**options)
    assert estimate.calls == hub.evaluate(**options).usage.calls > 0


# After: money.


def test_prices_are_for_a_million_tokens(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=spec(stub, prices=[2.0, 10.0]))
    # The stub says 10 prompt tokens and 3 completion tokens a call; 4 calls.
    usage = hub.evaluate(**columns(2)).usage
    assert usage.money == pytest.approx((40 * 2 + 12 * 10) / 1e6)
    assert "at the judge's prices" in str(usage)
    # What was paid for before costs nothing now.
    assert hub.evaluate(**columns(2)).usage.money == 0.0


def test_without_prices_the_cost_is_unknown(stub: Stub) -> None:
    usage = Hub("faithfulness", judge=spec(stub)).evaluate(**columns(2)).usage
    assert usage.money is None
    assert "prices" not in str(usage)
    assert usage.seconds > 0
    assert (usage + Usage(calls=1, money=2.0)).money is None


def test_prices_are_two() -> None:
    with pytest.raises(ParameterError, match="two prices, of prompt"):
        OpenAIJudge(prices=(1.0,))
    assert Prices(1.0, 2.0).of(Answer("", 1_000_000, 500_000)) == 2.0


def test_prices_and_limits_are_no_part_of_the_signature() -> None:
    judge = OpenAIJudge(model="m", base_url="http://127.0.0.1", prices=(1.0, 2.0))
    assert judge.label == "openai(model='m', base_url='http://127.0.0.1')"
    limited = OpenAIJudge(model="m", requests_per_minute=3, tokens_per_minute=4)
    assert "minute" not in limited.label


# Limits a minute.


# The store can be done without.


def test_the_environment_turns_the_store_off(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub("faithfulness", judge=spec(stub))
    hub.evaluate(**columns(1))
    monkeypatch.setenv("METRICHUB_NO_CACHE", "1")
    assert hub.evaluate(**columns(1)).usage.calls == 2


# One judge for all.


# Who answered.


@pytest.mark.parametrize("panel", [False, True])
def test_a_report_says_which_models_answered_and_notes_where_there_were_two(
    stub: Stub, tmp_path: Path, panel: bool
) -> None:
    def snapshots(asked: Asked) -> Reply:
        # Claims and verdicts of the first sample come from a newer one.
        newer = "laim 0" in str(asked.data)
        model = "m-2026-08-06" if newer else "m-2026-05-13"
        return completion(json.dumps(answer(asked)), model=model, system_fingerprint="fp_1")

    stub.always = snapshots
    asked = spec(stub, model="m")
    hub = Hub(
        ["faithfulness", "rubric(judge='chance')"], judge=[asked, "chance"] if panel else asked
    )
    report = hub.evaluate(**columns(3))
    counts = {"m": {"m-2026-08-06 fp_1": 2, "m-2026-05-13 fp_1": 4}}
    assert report.usage.models == counts
    report.save(tmp_path / "report.json")
    report.to_html(tmp_path / "report.html")
    # Kept answers say it too, and so do those of several processes and parts.
    stored = hub.evaluate(**columns(3))
    assert stored.usage.calls == 0
    parts = [{name: column[i : i + 1] for name, column in columns(3).items()} for i in range(3)]
    merged = functools.reduce(Report.merge, map(lambda part: hub.evaluate(**part), parts))
    for version in (report, stored, merged, Report.load(tmp_path / "report.json"), report.pool()):
        assert version.usage.models == counts
        notes = version.notes()
        both = "m was answered by m-2026-08-06 fp_1 (2) and m-2026-05-13 fp_1 (4)"
        swapped = "m was answered by m-2026-05-13 fp_1 (4) and m-2026-08-06 fp_1 (2)"
        assert {both, swapped} & {*notes["faithfulness"]}
        assert not {both, swapped} & {*notes["rubric"]}
        for text in (str(version.usage), json.dumps(version.to_dict()["usage"])):
            assert "m-2026-08-06 fp_1" in text
    assert "m-2026-08-06 fp_1 (2)" in (tmp_path / "report.html").read_text("utf-8")


def test_one_model_is_named_without_a_note(stub: Stub) -> None:
    report = Hub("faithfulness", judge=spec(stub)).evaluate(**columns(2))
    assert report.usage.models == {"stub": {"stub": 4}}
    assert str(report.usage).endswith("; answered by stub (4)")
    assert "answered by" not in str(report.notes())


def test_a_server_that_names_no_model_is_none_of_the_report(stub: Stub) -> None:
    stub.always = lambda asked: completion(json.dumps(answer(asked)), model=None)
    usage = Hub("faithfulness", judge=spec(stub)).evaluate(**columns(1)).usage
    assert (usage.models, "answered by" in str(usage)) == ({}, False)


def test_answers_that_were_kept_without_a_name_are_read(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=spec(stub))
    hub.evaluate(**columns(1))
    with contextlib.closing(sqlite3.connect(store_path(), isolation_level=None)) as file:
        file.execute("UPDATE calls SET reply = json_remove(reply, '$.models', '$.repairs')")
    report = hub.evaluate(**columns(1))
    assert (report.usage.calls, report.usage.models) == (0, {})
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    assert report.counts() == {"faithfulness": {}}


def test_a_report_of_before_the_names_loads(stub: Stub, tmp_path: Path) -> None:
    report = Hub("faithfulness", judge=spec(stub)).evaluate(**columns(1))
    report.save(tmp_path / "report.json")
    text = (tmp_path / "report.json").read_text("utf-8")
    without = re.sub(r',\s*"models":\s*{[^{}]*{[^{}]*}\s*}', "", text)
    assert without != text
    (tmp_path / "report.json").write_text(without, "utf-8")
    loaded = Report.load(tmp_path / "report.json")
    assert (loaded.usage, loaded.usage.models) == (report.usage, {})
