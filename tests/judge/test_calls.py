"""The judge behind a server: its names and secrets, the store, calls in flight; the embedder."""

import asyncio
import json
import logging
import pickle
from pathlib import Path

import pytest

from metrichub import OpenAIJudge
from metrichub.authoring import Prompt, Verdict
from metrichub.errors import JudgeError, SpecError
from metrichub.models.loop import run
from metrichub.models.resolve import embedder_of, judge_of
from metrichub.testing import Recorded
from tests.judge_stub import KEY, Stub, raw
from tests.judge_toys import judge

CLAIMS = Prompt("claims", "List the claims.")
SUPPORTED = Prompt("supported", "Decide on each item.")

pytestmark = pytest.mark.usefixtures("alone")


def verify(judge: OpenAIJudge, *items: str) -> list[Verdict]:
    fields = {"contexts": ["It is old."]}
    return run(judge.verify(SUPPORTED, items, fields, ("yes", "no")))


def extract(judge: OpenAIJudge, text: str = "One. Two.") -> list[str]:
    return run(judge.extract(CLAIMS, {"text": text}))


# Names and secrets.


def test_the_label_says_what_bears_on_the_answers_and_nothing_secret() -> None:
    openai = OpenAIJudge(
        model="m", base_url="http://me:pw@host:1/v1?k=s", temperature=0.5, concurrency=3
    )
    assert openai.label == "openai(model='m', base_url='http://host:1/v1', temperature=0.5)"
    assert KEY not in repr(openai)
    assert "pw" not in repr(openai)
    assert pickle.loads(pickle.dumps(openai)) == openai


def test_a_spec_gives_the_judge_with_the_servers_address_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    result = judge_of("openai(model='m')")
    assert result == OpenAIJudge(model="m", base_url="http://127.0.0.1:8000/v1")


def test_a_key_in_a_spec_is_refused_without_being_shown() -> None:
    with pytest.raises(SpecError, match="OPENAI_API_KEY") as caught:
        judge_of(f"openai(api_key='{KEY}'")
    assert KEY not in str(caught.value)


# The store.


def test_an_answer_is_asked_for_once_and_stored_without_the_key(stub: Stub, tmp_path: Path) -> None:
    assert extract(judge(stub)) == extract(judge(stub))
    assert len(stub.asked) == 1
    extract(judge(stub, temperature=1.0))
    assert len(stub.asked) == 2
    files = [path.read_bytes() for path in (tmp_path / "cache").iterdir()]
    assert files
    assert not any(KEY.encode() in content for content in files)
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "cache").glob("*.sqlite"))


def test_without_the_cache_every_call_is_made(stub: Stub) -> None:
    extract(judge(stub, cache=False))
    extract(judge(stub, cache=False))
    assert len(stub.asked) == 2


def test_a_recording_answers_without_a_server(stub: Stub, tmp_path: Path) -> None:
    expected = verify(judge(stub), "a", "unsupported b")
    path = str(tmp_path / "cache" / "calls.sqlite")
    recorded = Recorded(model="stub", base_url=stub.url, path=path)
    assert verify(recorded, "a", "unsupported b") == expected
    assert recorded.label == judge(stub).label
    with pytest.raises(JudgeError, match="has no recorded answer"):
        verify(recorded, "c")
    assert len(stub.asked) == 1


def test_an_unusable_store_is_one_clear_line(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("METRICHUB_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING, "metrichub"):
        assert extract(judge(stub)) == extract(judge(stub)) == ["One.", "Two."]
    [message] = [record.getMessage() for record in caplog.records]
    assert "set METRICHUB_CACHE to another folder" in message
    assert message.endswith("the run goes on without it")


# Calls in flight.


def test_the_same_call_in_flight_is_made_once(stub: Stub) -> None:
    openai = judge(stub, cache=False)

    async def twice() -> list[list[str]]:
        asks = [openai.extract(CLAIMS, {"text": "One."}) for _ in range(5)]
        return await asyncio.gather(*asks)

    assert run(twice()) == [["One."]] * 5
    assert len(stub.asked) == 1


def test_one_that_gives_up_does_not_take_the_answer_from_the_others(stub: Stub) -> None:
    openai = judge(stub, cache=False)

    async def two() -> list[str]:
        first = asyncio.create_task(openai.extract(CLAIMS, {"text": "One."}))
        second = asyncio.create_task(openai.extract(CLAIMS, {"text": "One."}))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert run(two()) == ["One."]


def test_no_more_calls_are_in_flight_than_allowed_and_no_fewer(stub: Stub) -> None:
    # Three at a time pass the gate; with fewer in flight none would.
    import threading

    openai = judge(stub, concurrency=3)

    async def many() -> None:
        # The first is alone, as it finds out what the server accepts.
        await openai.extract(CLAIMS, {"text": "First."})
        stub.gate = threading.Barrier(3)
        asks = [openai.extract(CLAIMS, {"text": f"{i}."}) for i in range(12)]
        await asyncio.gather(*asks)

    run(many())
    assert stub.most == 3
    assert len(stub.asked) == 13


# The embedder.


def test_the_embedder_gives_vectors_in_the_order_of_the_texts_and_asks_once(stub: Stub) -> None:
    embedder = embedder_of(f"openai(model='e', base_url='{stub.url}')")
    result = run(embedder.embed(["a b", "abcd", "a b", ""]))
    # The stub gives the number of characters and of words; the empty text is sent as a space.
    assert result.tolist() == [[3, 2], [4, 1], [3, 2], [1, 0]]
    assert stub.asked[0].body["input"] == ["a b", "abcd", " "]
    run(embedder.embed(["a b", "abcd", "a b", ""]))
    assert len(stub.asked) == 1


def test_an_embedder_that_gives_too_few_vectors_is_an_error(stub: Stub) -> None:
    stub.faults = [raw(json.dumps({"object": "list", "data": [], "model": "e"}).encode())]
    embedder = embedder_of(f"openai(base_url='{stub.url}')")
    with pytest.raises(JudgeError, match=r"vectors for 1 texts|failed|No embedding"):
        run(embedder.embed(["a"]))
