"""A recorded run: written by one command, replayed without a network, complete or refused."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from benchmarks import record
from metrichub import Hub
from tests.judge_stub import KEY, Asked, Reply, Stub, answer, completion, serving
from tests.judge_toys import spec

DOCUMENTS = 1
TEXTS = Path(__file__).resolve().parents[1] / "data"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(record.main, [*arguments, "--documents", str(DOCUMENTS)])


def varied(asked: Asked) -> Reply:
    """Answers that depend on the texts, so that scores of summaries differ."""
    message = answer(asked)
    if "score" in message:
        scale = asked.schema["properties"]["score"]["enum"]
        message["score"] = scale[len(str(asked.data)) % len(scale)]
    return completion(json.dumps(message))


@pytest.fixture(scope="module")
def served() -> Iterator[Stub]:
    with serving() as stub:
        stub.always = varied
        yield stub


@pytest.fixture(scope="module")
def recording(served: Stub, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording, with the call store of its run beside it."""
    file = tmp_path_factory.mktemp("record") / "recorded.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("METRICHUB_CACHE", str(file.parent))
        patch.setenv("METRICHUB_NO_CACHE", "")
        patch.setenv("OPENAI_API_KEY", KEY)
        judge = spec(served, temperature=0.0, extra_headers={"x-gateway": "hidden"})
        result = run(str(file), "--judge", judge)
    assert result.exit_code == 0, result.output
    return file


@pytest.fixture
def recorded(recording: Path, tmp_path: Path, alone: None) -> Path:
    """A copy that a test may change."""
    return shutil.copy(recording, tmp_path / "recorded.jsonl")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


def test_a_recording_is_replayed_without_a_network_and_gives_the_same_agreement(
    recorded: Path, served: Stub, no_network: None
) -> None:
    head, answers = record.read(recorded)
    [(_, texts)] = record.studies(TEXTS, DOCUMENTS)
    with record.replayed(head, answers) as judge:
        report = Hub(record.METRICS, judge=judge).evaluate(**record.columns(texts))
    assert report.failed == 0
    assert report.usage.calls == 0
    assert len(served.asked) == len(answers)
    # And so is each recording of a real model, as long as its prompts are those of today.
    for file in (recorded, *TEXTS.glob("recorded-*.jsonl")):
        replay = run(str(file))
        assert replay.exit_code == 0, replay.output
        # Each metric beside each of the experts' dimensions.
        for metric in ("faithfulness", "summarization", "g_eval"):
            assert replay.output.count(f"\n{metric} ") >= 4


def test_a_recording_names_model_and_date_and_holds_no_key_header_or_address(
    recorded: Path, served: Stub
) -> None:
    text = recorded.read_text("utf-8")
    head = json.loads(text.split("\n")[0])
    assert head["judge"] == "openai(model='stub', temperature=0.0)"
    assert len(head["date"]) == len("2026-01-31")
    for secret in (KEY, "hidden", "x-gateway", "127.0.0.1", served.url):
        assert secret not in text


def test_a_second_recording_asks_nothing_and_is_the_same(
    recording: Path, recorded: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METRICHUB_CACHE", str(recording.parent))
    # Another server with the same model.
    assert run(str(recorded), "--judge", spec(stub, temperature=0.0)).exit_code == 0
    assert not stub.asked
    first, second = (file.read_text("utf-8").split("\n") for file in (recording, recorded))
    # The head has the date.
    assert first[1:] == second[1:]


def test_a_question_that_is_not_in_the_file_fails_the_replay(
    recorded: Path, no_network: None
) -> None:
    lines = recorded.read_text("utf-8").splitlines()
    recorded.write_text("\n".join(lines[:-1]), "utf-8")
    result = run(str(recorded))
    assert result.exit_code == 1
    assert "has no recorded answer" in result.output


def test_a_recording_of_data_that_are_not_there_is_an_error(recorded: Path, tmp_path: Path) -> None:
    result = run(str(recorded), "--data", str(tmp_path))
    assert result.exit_code == 1
    assert "--data lacks what was recorded: summeval-cut" in result.output


def test_only_a_model_behind_a_server_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="a model behind a server"):
        record.placeless("offline")


def test_an_estimate_asks_nothing(stub: Stub, tmp_path: Path) -> None:
    result = run(str(tmp_path / "none.jsonl"), "--judge", spec(stub), "--estimate")
    assert result.output.startswith("summeval-cut: ")
    assert " calls, " in result.output
    assert not stub.asked
