"""Batches: rounds in a folder, answered by the stub, give what a server gives, call for call."""

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report, load_metric
from metrichub.authoring import JudgeMetric, Verdict
from metrichub.errors import BudgetSpent, ParameterError, Pending
from metrichub.models import batch_files as batches
from tests.batch_stub import Change, Line, lines_of, serve, shuffled
from tests.judge_stub import KEY, Stub, failure, says, verdicts
from tests.judge_toys import columns, spec

pytestmark = pytest.mark.usefixtures("alone")
MODEL = "openai(model='stub')"
EMBEDDER = "openai(model='vectors')"


@pytest.fixture(autouse=True)
def nowhere(alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no server: whatever left this process by another way than a file would fail."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY")


def rounds(stub: Stub, ask: Callable[[], Report], *changes: Change) -> tuple[Report, list[int]]:
    """The report after as many rounds as it takes, and the calls of each."""
    calls = []
    for change in (*changes, *[shuffled] * 9):
        try:
            return ask(), calls
        except Pending as pending:
            calls.append(pending.calls)
            for path in pending.paths:
                serve(stub, path, change)
    raise AssertionError(f"no end: {calls}")


def progress_of(report: Report, names: Iterator[str] | list[str]) -> list[Any]:
    """All that a report says of its samples."""
    return [
        report.scores(),
        report.counts(),
        report.notes(),
        {name: [report.explain(name, i) for i in range(report.size)] for name in names},
    ]


def asked_of(stub: Stub) -> Counter[str]:
    return Counter(json.dumps(asked.body, sort_keys=True) for asked in stub.asked)


# Rounds.


def test_a_batch_gives_the_report_of_a_server_call_for_call(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = ["faithfulness", "context_precision", "context_recall", "exact_match"]
    data = columns(7) | {"references": [f"Passage {i}." for i in range(7)]}
    data["questions"] = [f"What is {i}?" for i in range(7)]
    hub = Hub(names, judge="openai(model='stub', prices=[1, 2])")
    report, calls = rounds(stub, lambda: hub.evaluate(**data, batch="judging"))
    # Claims of answers and, of references, verdicts on passages and on sentences; then the
    # verdicts on the claims.
    assert len(calls) == 2
    batched, stub.asked = asked_of(stub), []
    monkeypatch.setenv("METRICHUB_CACHE", str(tmp_path / "another"))
    direct = Hub(names, judge=spec(stub, prices=[1, 2])).evaluate(**data)
    assert progress_of(report, names) == progress_of(direct, names)
    assert batched == asked_of(stub)
    assert sum(calls) == direct.usage.calls
    # What several rounds took is counted together, by the tokens that the answers name.
    assert report.usage == direct.usage


def test_extracting_is_a_round_and_verifying_another(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    with pytest.raises(Pending) as first:
        hub.evaluate(**columns(3), batch="judging")
    [path] = first.value.paths
    assert (first.value.round, first.value.calls) == (0, 3)
    assert path == str(Path("judging", "round-0.jsonl"))
    text = str(first.value)
    assert text.startswith(
        f"3 calls of round 0 wait for answers: send {path} (3 × stub) as a batch to "
    )
    assert (
        "/v1/chat/completions, put the answers next to it as round-0.output.jsonl (or any" in text
    )
    serve(stub, path)
    with pytest.raises(Pending) as second:
        hub.evaluate(**columns(3), batch="judging")
    assert (second.value.round, second.value.calls) == (1, 3)
    serve(stub, second.value.paths[0], name="whatever you like.jsonl")
    report = hub.evaluate(**columns(3), batch="judging")
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    assert report.counts() == {"faithfulness": {}}
    assert sorted(path.name for path in Path("judging").iterdir()) == [
        *(
            "finished",
            "round-0.jsonl",
            "round-0.output.jsonl",
            "round-1.jsonl",
            "whatever you like.jsonl",
        )
    ]


def test_a_round_that_nobody_answered_is_not_written_again(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    message = []
    for _ in range(2):
        with pytest.raises(Pending) as pending:
            hub.evaluate(**columns(2), batch="judging")
        message.append((str(pending.value), pending.value.paths))
    assert message[0][1] == message[1][1]
    assert "still wait" in message[1][0]
    # What is asked beside it is a file of its own.
    with pytest.raises(Pending) as more:
        hub.evaluate(**columns(3), batch="judging")
    assert [len(lines_of(path)) for path in more.value.paths] == [2, 1]


def test_a_key_is_in_no_file(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    judge = f"openai(model='stub', base_url='http://me:{KEY}@127.0.0.1:9/v1')"
    with pytest.raises(Pending) as pending:
        Hub("faithfulness", judge=judge).evaluate(**columns(1), batch="judging")
    [line] = lines_of(pending.value.paths[0])
    assert line["url"] == "/v1/chat/completions"
    assert KEY not in json.dumps(line) + str(pending.value)


def test_the_process_may_end_between_rounds(stub: Stub, tmp_path: Path) -> None:
    program = (
        "import json, sys\n"
        "from metrichub import Hub, Pending\n"
        "data = json.load(open('data.json'))\n"
        "try:\n"
        f"    report = Hub('faithfulness', judge={MODEL!r}).evaluate(**data, batch='judging')\n"
        "    print(json.dumps(report.scores()))\n"
        "except Pending as pending:\n"
        "    print(json.dumps(pending.paths))\n"
    )
    Path("data.json").write_text(json.dumps(columns(2)), "utf-8")
    results: Any = []
    for _ in range(3):
        # The folder is the whole state: no call store helps.
        ran = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True,
            env={"PATH": "", "METRICHUB_NO_CACHE": "1"},
        )  # fmt: skip
        results = json.loads(ran.stdout)
        if isinstance(results, list):
            serve(stub, results[0])
    assert results == {"faithfulness": {"score": 0.5}}
    assert len(stub.asked) == 4


@dataclass(frozen=True, kw_only=True)
class TwoChains(JudgeMetric):
    """A metric that gives up one chain of calls when the other fails."""

    asks = {"extract": ("claims",), "verify": ("supported",)}  # noqa: RUF012  # as authors write it

    async def observe(self, prediction: str, reference: str) -> float:
        async def long() -> list[Verdict]:
            verdicts = await self.checked_claims(prediction, [reference])
            return await self.support([verdict.reason for verdict in verdicts], [prediction])

        ways: tuple[Coroutine[Any, Any, Any], ...] = (self.claims(reference), long())
        chains = [asyncio.create_task(chain) for chain in ways]
        try:
            return float(len((await asyncio.gather(*chains))[1]))
        finally:
            for entry in chains:
                entry.cancel()


def test_a_round_asks_all_that_can_be_asked_though_one_chain_of_a_sample_waits(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each run takes all steps anew, out of the folder.
    monkeypatch.setenv("METRICHUB_NO_CACHE", "1")
    hub = Hub(TwoChains(judge=MODEL))

    def without_the_reference(lines: list[Line]) -> list[Line]:
        first = lines_of("judging/round-0.jsonl")
        [lost] = [
            request["custom_id"]
            for request in first
            if "An answer" not in json.dumps(request["body"])
        ]
        return [line for line in lines if line["custom_id"] != lost]

    texts = {"predictions": ["An answer."], "references": ["A text."]}
    ask = lambda: hub.evaluate(**texts, batch="judging")
    _, calls = rounds(stub, ask, without_the_reference, without_the_reference)
    # The claims of both; twice those of the reference again, beside the next step of the other.
    assert calls == [2, 2, 2]


# What goes wrong with files.


def lost(lines: list[Line]) -> list[Line]:
    return shuffled(lines)[2:]


def expired(lines: list[Line]) -> list[Line]:
    error = {"code": "batch_expired", "message": "The completion window is over."}
    return [line | {"response": None, "error": error} for line in lines]


def crashed(lines: list[Line]) -> list[Line]:
    """As vllm run-batch writes an error of the server."""
    error = {"error": {"message": "out of memory", "type": "InternalServerError", "code": 500}}
    response = {"status_code": 500, "request_id": "r", "body": None}
    return [line | {"response": response, "error": error} for line in lines[:1]] + lines[1:]


@pytest.mark.parametrize(
    ("changes", "calls"),
    [
        ([lost], [4, 2, 4]),
        ([expired, lost], [4, 4, 2, 4]),
        ([expired, expired, expired, expired], [4, 4, 4, 4, 4, 4]),
        ([crashed, shuffled], [4, 1, 4]),
        ([shuffled, crashed], [4, 4, 1]),
    ],
)
def test_what_was_lost_or_failed_is_asked_again(
    stub: Stub, changes: list[Change], calls: list[int]
) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    report, numbers = rounds(stub, lambda: hub.evaluate(**columns(4), batch="judging"), *changes)
    # The claims of those that came are asked about a round before the others.
    assert sum(numbers) == sum(calls)
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    assert report.counts() == {"faithfulness": {}}
    assert report.failed == 0


def test_the_reason_of_what_failed_is_said(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    with pytest.raises(Pending) as pending:
        hub.evaluate(**columns(2), batch="judging")
    serve(stub, pending.value.paths[0], expired)
    with Path("judging", "cut.jsonl").open("w") as file:
        file.write('{"custom_id": "x", "respo')
    with pytest.raises(Pending) as again:
        hub.evaluate(**columns(2), batch="judging")
    assert "of them failed before: 2 × The completion window is over." in str(again.value)
    assert "1 lines of cut.jsonl can't be read" in str(again.value)


def test_a_call_that_keeps_failing_is_an_error_of_its_sample_in_the_end(stub: Stub) -> None:
    hub = Hub("faithfulness", judge="openai(model='stub', max_retries=1)")
    ask = lambda: hub.evaluate(**columns(3), batch="judging")
    report, _ = rounds(stub, ask, crashed, crashed)
    # Of three claims one crashed twice, as often as it would have been tried.
    assert report.scores()["faithfulness"] == {"score": 0.5}
    assert report.counts()["faithfulness"] == {"errors": 1}
    [note] = [note for note in report.notes()["faithfulness"] if "failed" in note]
    assert "out of memory" in note


def test_a_refused_request_is_an_error_of_its_sample_and_not_asked_again(stub: Stub) -> None:
    stub.faults = [failure(400, "this text is filtered by content policy")]
    hub = Hub("faithfulness", judge=MODEL)
    report, calls = rounds(stub, lambda: hub.evaluate(**columns(3), batch="judging"))
    assert calls == [3, 2]
    assert report.scores()["faithfulness"] == {"score": 0.5}
    assert report.counts()["faithfulness"] == {"errors": 1}


def test_a_refusal_in_a_batch_is_read_and_counted_once(stub: Stub) -> None:
    stub.faults = [says(None, refusal="I won't.")]
    hub = Hub("faithfulness", judge=MODEL)
    report, calls = rounds(stub, lambda: hub.evaluate(**columns(3), batch="judging"))
    assert calls == [3, 2]
    assert report.scores()["faithfulness"] == {"score": 0.5}
    assert report.counts()["faithfulness"] == {"errors": 1}
    assert report.usage.calls == len(stub.asked)


def test_missing_verdicts_are_asked_for_in_one_more_round(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    stub.faults = [None, verdicts([0])]
    report, calls = rounds(stub, lambda: hub.evaluate(**columns(1), batch="judging"))
    assert calls == [1, 1, 1]
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    assert report.counts() == {"faithfulness": {}}
    assert report.usage.calls == 3


# What runs ask.


def test_repeats_panels_and_weighed_grades_ask_as_often_as_a_server(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    graded = load_metric("g_eval", criteria="It is short.", samples=3)
    metrics, names = [graded, "faithfulness"], ["g_eval", "faithfulness"]
    data = columns(2)
    two = ["openai(model='stub')", "openai(model='other', temperature=0.5)"]
    hub = Hub(metrics, judge=two)
    report, calls = rounds(stub, lambda: hub.evaluate(**data, batch="judging", repeats=2))
    batched, stub.asked = asked_of(stub), []
    monkeypatch.setenv("METRICHUB_CACHE", str(tmp_path / "another"))
    served = [spec(stub), spec(stub, model="other", temperature=0.5)]
    direct = Hub(metrics, judge=served).evaluate(**data, repeats=2)
    assert report.scores() == direct.scores()
    assert report.counts() == direct.counts()
    assert batched == asked_of(stub)
    assert len(calls) == 2
    assert report.usage == direct.usage
    assert set(names) == set(report.scores())


def test_a_panel_waits_for_all_of_its_judges(stub: Stub) -> None:
    judges = [f"openai(model='{name}')" for name in ("one", "two", "three")]
    hub = Hub(load_metric("g_eval", criteria="It is short."), judge=judges)
    for served in (1, 2):  # The first round is that of the judge who extracts the steps.
        with pytest.raises(Pending) as pending:
            hub.evaluate(**columns(2), batch="judging")
        for path in pending.value.paths[:served]:
            serve(stub, path)
    with pytest.raises(Pending) as last:
        hub.evaluate(**columns(2), batch="judging")
    # Two votes of three would do if the third had failed; here it is on its way.
    assert last.value.report.counts()["g_eval"]["pending"] == 2
    assert last.value.paths == pending.value.paths[2:]
    serve(stub, last.value.paths[0])
    assert "pending" not in hub.evaluate(**columns(2), batch="judging").counts()["g_eval"]


def test_each_file_has_one_endpoint_and_one_model(stub: Stub) -> None:
    hub = Hub(["faithfulness", "semantic_similarity"], judge=MODEL, embedder=EMBEDDER)
    data = columns(3) | {"references": [f"Passage {i}." for i in range(3)]}
    with pytest.raises(Pending) as pending:
        hub.evaluate(**data, batch="judging")
    files = {
        (line["url"], line["body"]["model"], Path(path).name)
        for path in pending.value.paths
        for line in lines_of(path)
    }
    assert files == {
        ("/v1/chat/completions", "stub", "round-0-part-1.jsonl"),
        ("/v1/embeddings", "vectors", "round-0-part-2.jsonl"),
    }
    report, calls = rounds(stub, lambda: hub.evaluate(**data, batch="judging"))
    # Six texts; a line for each, so that chance doesn't decide which go together.
    assert calls == [3 + 6, 3]
    direct = Hub("semantic_similarity", embedder=spec(stub, model="vectors"))
    assert report.scores()["semantic_similarity"] == direct(**data)["semantic_similarity"]


def test_the_form_of_replies_is_fixed(stub: Stub) -> None:
    def form(judge: str, folder: str) -> Any:
        with pytest.raises(Pending) as pending:
            Hub("faithfulness", judge=judge).evaluate(**columns(1), batch=folder)
        serve(stub, pending.value.paths[0])
        return lines_of(pending.value.paths[0])[0]["body"].get("response_format", {}).get("type")

    assert form(MODEL, "a") == "json_schema"
    assert form("openai(model='stub', form='json_object')", "b") == "json_object"
    assert form("openai(model='stub', form='text')", "c") is None


def test_a_server_is_asked_in_the_form_that_is_given_alone(stub: Stub) -> None:
    stub.always = failure(400, "what is this response_format?")
    hub = Hub("faithfulness", judge=spec(stub, form="json_object"))
    with pytest.raises(Exception, match="the server accepts no form of this request"):
        hub.evaluate(**columns(2))
    assert [asked.form for asked in stub.asked] == ["json_object"] * 2


def test_many_samples_ask_for_all_of_a_round_at_once(stub: Stub) -> None:
    hub = Hub("faithfulness", judge="openai(model='stub', concurrency=1, requests_per_minute=1)")
    report, calls = rounds(stub, lambda: hub.evaluate(**columns(60), batch="judging"))
    assert calls == [60, 60]
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    assert report.counts() == {"faithfulness": {}}


def test_what_the_call_store_holds_is_not_asked(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    rounds(stub, lambda: hub.evaluate(**columns(2), batch="judging"))
    report, calls = rounds(stub, lambda: hub.evaluate(**columns(3), batch="another"))
    assert calls == [1, 1]
    assert (report.usage.calls, report.usage.cached) == (2, 4)


def test_a_finished_batch_reports_no_calls_until_it_goes_on(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    report, _ = rounds(stub, lambda: hub.evaluate(**columns(2), batch="judging"))
    assert (report.usage.calls, report.usage.cached) == (4, 0)
    again = hub.evaluate(**columns(2), batch="judging")
    assert again.scores() == report.scores()
    assert again.counts() == report.counts()
    reused = "0 calls, 4 answers reused, 0 + 0 tokens; answered by stub (4)"
    assert str(again.usage) == reused
    # On another machine, whose store has none of the answers, too.
    Path(os.environ["METRICHUB_CACHE"], "calls.sqlite").unlink()
    assert hub.evaluate(**columns(2), batch="judging").usage == again.usage
    # With the calls of the new sample, it is all one batch again.
    more, calls = rounds(stub, lambda: hub.evaluate(**columns(3), batch="judging"))
    assert calls == [1, 1]
    assert (more.usage.calls, more.usage.cached) == (6, 0)


# While a batch is under way.


def test_samples_that_wait_are_pending_beside_those_that_are_known(stub: Stub) -> None:
    hub = Hub(["hallucination(unit='contexts')", "exact_match"], judge=MODEL)
    data = columns(3) | {"references": ["x"] * 3}
    data["contexts"][1] = []
    with pytest.raises(Pending) as pending:
        hub.evaluate(**data, batch="judging")
    report = pending.value.report
    result = [report.explain("hallucination", i) for i in range(3)]
    assert [explanation.status for explanation in result] == ["pending", "unanswered", "pending"]
    assert result[0].reason == "the answer is still to come from a batch"
    assert report.scores()["exact_match"] == {"score": 0.0}
    assert np.isnan(report.scores()["hallucination"]["score"])
    assert report.counts() == {"hallucination": {"unanswered": 1, "pending": 2}, "exact_match": {}}
    assert "2 pending: the answer is still to come from a batch" in report.notes()["hallucination"]
    assert report.usage.calls == 0
    assert np.isnan(report.samples()["hallucination"]["score"]).all()
    assert "pending" in report.to_markdown()
    report.save("waiting.json")
    again = Report.load("waiting.json")
    assert [again.explain("hallucination", i)[:2] for i in range(3)] == [
        explanation[:2] for explanation in result
    ]
    assert again.counts()["hallucination"]["pending"] == 2


def test_sums_alone_and_parts_wait_together(stub: Stub) -> None:
    parts = [columns(4), {name: values[2:] for name, values in columns(6).items()}]
    hub = Hub("faithfulness", judge=MODEL)
    ask = lambda: hub.evaluate(iter(parts), samples=False, batch="judging")
    with pytest.raises(Pending) as pending:
        ask()
    assert pending.value.calls == 6
    assert pending.value.report.counts()["faithfulness"]["pending"] == 8
    report, _ = rounds(stub, ask)
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    assert report.counts() == {"faithfulness": {}}


def test_a_round_is_cut_where_a_file_would_hold_too_much(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub("faithfulness", judge=MODEL)

    def sizes(folder: str) -> list[int]:
        with pytest.raises(Pending) as pending:
            hub.evaluate(**columns(5), batch=folder)
        assert pending.value.calls == 5
        return [len(lines_of(path)) for path in pending.value.paths]

    monkeypatch.setattr(batches, "MOST_LINES", 2)
    assert sizes("lines") == [2, 2, 1]
    report, calls = rounds(stub, lambda: hub.evaluate(**columns(5), batch="lines"))
    assert (calls, report.failed) == ([5, 5], 0)
    [line, *_] = Path("lines", "round-0-part-1.jsonl").read_bytes().splitlines(keepends=True)
    monkeypatch.setenv("METRICHUB_NO_CACHE", "1")
    monkeypatch.setattr(batches, "MOST_LINES", 50_000)
    # All lines are as long as the first: the bytes of two fit, and one less doesn't.
    monkeypatch.setattr(batches, "MOST_BYTES", 2 * len(line))
    assert sizes("bytes") == [2, 2, 1]
    monkeypatch.setattr(batches, "MOST_BYTES", 2 * len(line) - 1)
    assert sizes("fewer") == [1, 1, 1, 1, 1]


def test_what_a_batch_would_take_counts_for_the_limits_of_a_run(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    with pytest.raises(BudgetSpent, match="max_calls=2"):
        hub.evaluate(**columns(3), batch="judging", max_calls=2)
    with pytest.raises(BudgetSpent, match="max_tokens=50"):
        hub.evaluate(**columns(3), batch="judging", max_tokens=50)
    assert not Path("judging").exists()


def test_several_systems_share_their_rounds(stub: Stub) -> None:
    hub = Hub("faithfulness", judge=MODEL)
    systems = {"one": columns(2), "two": columns(3)}
    calls = []
    for _ in range(2):
        with pytest.raises(Pending) as pending:
            hub.evaluate_all(systems, batch="judging")
        calls.append(pending.value.calls)
        assert list(pending.value.report) == ["one", "two"]
        serve(stub, pending.value.paths[0])
    assert calls == [3, 3]
    assert [report.size for report in hub.evaluate_all(systems, batch="judging").values()] == [2, 3]


def test_a_batch_is_a_folder_of_one_process() -> None:
    hub = Hub("exact_match")
    texts = {"predictions": ["a"], "references": ["a"]}
    assert hub.evaluate(**texts, batch="judging").scores() == {"exact_match": {"score": 1.0}}
    assert not Path("judging").exists()
    Path("file").write_text("")
    with pytest.raises(ParameterError, match="batch='file' is not allowed; choose a folder"):
        hub.evaluate(**texts, batch="file")
    with pytest.raises(ParameterError, match="1 with a batch"):
        hub.evaluate(**texts, batch="judging", workers=2)
