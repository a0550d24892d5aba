"""No key or password in a pickle, repr, error or report; what a gateway asks for reaches it."""

from __future__ import annotations

import base64
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from metrichub import Hub, OpenAIJudge, load_metric
from metrichub.authoring import Prompt
from metrichub.errors import JudgeError, ParameterError, SpecError
from metrichub.models.loop import run
from metrichub.models.secrets import secrets_travel
from tests.judge_stub import Asked, Fault, Reply, Stub, failure, says, serving
from tests.judge_toys import columns

CLAIMS = Prompt("claims", "List the claims.")
KEY, PASSWORD, HEADER = "sk-canary-0123456789", "s3cret-pass", "gateway-token-987"


def judge(stub: Stub, **more: Any) -> OpenAIJudge:
    url = stub.url.replace("http://", f"http://user:{PASSWORD}@") + "?api-version=v7-hidden"
    options = {"api_key": KEY, "extra_headers": {"X-Gateway": HEADER}, "base_url": url} | more
    return OpenAIJudge(model="stub", max_retries=0, timeout=60, cache=False, **options)


def held(thing: object) -> list[str]:
    """The secrets in a pickle of it."""
    data = pickle.dumps(thing)
    basic = base64.b64encode(f"user:{PASSWORD}".encode())
    names = (KEY, PASSWORD, HEADER, basic.decode())
    return [secret for secret in names if secret.encode() in data]


@pytest.mark.parametrize("chosen", [True, False])
def test_no_pickle_repr_or_report_holds_a_secret(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, chosen: bool
) -> None:
    if not chosen:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    openai = judge(stub) if chosen else judge(stub, api_key=None)
    metric = load_metric("faithfulness", judge=openai)
    hub = Hub(metric)
    report = hub.evaluate(**columns(2))
    assert report.counts()["faithfulness"].get("errors") is None
    for thing in (openai, metric, hub, report):
        assert held(thing) == []
        shown = f"{thing!r} {thing}"
        assert not [secret for secret in (KEY, PASSWORD, HEADER, "hidden") if secret in shown]


def test_a_pickle_works_in_its_process_and_by_the_environment_elsewhere(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pickle.loads(pickle.dumps(judge(stub))) == judge(stub)
    again = pickle.loads(pickle.dumps(judge(stub, base_url=stub.url)))
    assert run(again.extract(CLAIMS, {"text": "One."})) == ["One."]
    assert stub.asked[-1].key == KEY
    code = (
        "import pickle, sys; from metrichub.models.loop import run\n"
        "from metrichub.authoring import Prompt\n"
        "one = pickle.loads(sys.stdin.buffer.read())\n"
        "assert one.api_key is None and one.extra_headers is None\n"
        "print(run(one.extract(Prompt('claims', 'List.'), {'text': 'Two.'})))"
    )
    monkeypatch.setenv("OPENAI_API_KEY", "from-there")
    sent = pickle.dumps(judge(stub, base_url=stub.url))
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert b"['Two.']" in done.stdout
    assert stub.asked[-1].key == "from-there"
    with secrets_travel():
        # To the processes of a run, which have to ask as well.
        assert held(judge(stub)) == [KEY, PASSWORD, HEADER]


@pytest.mark.parametrize("echoed", [KEY, PASSWORD, HEADER, "v7-hidden"])
def test_what_a_server_echoes_is_masked(stub: Stub, echoed: str) -> None:
    stub.always = failure(500, f"bad credentials {echoed}")
    with pytest.raises(JudgeError) as caught:
        run(judge(stub).extract(CLAIMS, {"text": "One."}))
    assert echoed not in str(caught.value)
    assert "***" in str(caught.value)


def test_query_headers_and_body_reach_the_server(stub: Stub) -> None:
    seen: list[Asked] = []

    def note(asked: Asked) -> Reply:
        seen.append(asked)
        return failure(500)(asked)

    stub.always = note
    body = {"chat_template_kwargs": {"enable_thinking": False}}
    openai = judge(stub, extra_body=body, top_p=0.5, max_tokens=300)
    with pytest.raises(JudgeError):
        run(openai.extract(CLAIMS, {"text": "One."}))
    [asked] = seen
    assert asked.path.endswith("/chat/completions?api-version=v7-hidden")
    assert asked.body["chat_template_kwargs"] == {"enable_thinking": False}
    assert (asked.body["top_p"], asked.body["max_tokens"]) == (0.5, 300)
    assert "enable_thinking" in openai.label


def test_another_query_is_another_answer_in_the_store(stub: Stub) -> None:
    for query in ("?api-version=1", "?api-version=2", "?api-version=1"):
        judge = OpenAIJudge(model="stub", base_url=stub.url + query)
        run(judge.extract(CLAIMS, {"text": "One."}))
    assert len(stub.asked) == 2


ENCODED = "p%40ssw0rd-secret"


@pytest.mark.parametrize("listed", [False, True])
def test_a_spec_keeps_its_secrets_out_of_everything_too(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listed: bool
) -> None:
    address = stub.url.replace("://", f"://user:{ENCODED}@")
    text = f"openai(model='stub', base_url='{address}', extra_headers={{'X-Gateway': '{HEADER}'}})"
    monkeypatch.setenv("METRICHUB_EMBEDDER", text)
    hub = Hub(["faithfulness", "answer_relevancy"], judge=[text, "offline"] if listed else text)
    report = hub.evaluate(**columns(2), questions=["Is it?"] * 2)
    report.save(tmp_path / "report.json")
    shown = [
        repr(hub),
        repr(hub.metrics),
        pickle.dumps(hub),
        pickle.dumps(report),
        str(report),
        (tmp_path / "report.json").read_text(),
        json.dumps(report.signatures()),
        json.dumps(report.notes()),
    ]
    for secret in (ENCODED, unquote(ENCODED), HEADER):
        for entry in shown:
            assert secret not in str(entry)


def test_a_spec_that_cannot_be_read_is_not_repeated_with_its_password() -> None:
    with pytest.raises(SpecError) as caught:
        Hub("faithfulness", judge=f"openai(model='m', base_url='http://u:{ENCODED}@h'")
    assert ENCODED not in str(caught.value)
    with pytest.raises(ParameterError, match="starts with http") as refused:
        OpenAIJudge(model="m", base_url=f"u:{ENCODED}@h/v1")
    assert ENCODED not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "echoed"),
    [
        (f"user:{ENCODED}", unquote(ENCODED)),
        (f"user:{ENCODED}", base64.b64encode(f"user:{unquote(ENCODED)}".encode()).decode()),
        ("token-of-mine", "token-of-mine"),
        ("token-of-mine", base64.b64encode(b"token-of-mine:").decode()),
    ],
)
def test_every_form_of_a_password_is_masked(stub: Stub, address: str, echoed: str) -> None:
    stub.always = failure(500, f"bad credentials {echoed}")
    openai = judge(stub, base_url=stub.url.replace("://", f"://{address}@"))
    with pytest.raises(JudgeError) as caught:
        run(openai.extract(CLAIMS, {"text": "One."}))
    assert echoed not in str(caught.value)
    assert echoed.encode() not in pickle.dumps(openai)


@pytest.mark.parametrize("reply", ["Your key {} is out of credit", "x" * 60 + " {}"])
def test_a_key_in_a_reply_is_masked_also_where_it_is_cut(stub: Stub, reply: str) -> None:
    key = "sk-canary-" + "0123456789" * 15
    stub.always = says(reply.format(key))
    with pytest.raises(JudgeError) as caught:
        run(judge(stub, api_key=key).extract(CLAIMS, {"text": "One."}))
    assert "sk-canary" not in str(caught.value)


def test_a_key_with_a_line_feed_is_used_without_it(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    judge = OpenAIJudge(model="stub", base_url=stub.url)
    assert run(judge.extract(CLAIMS, {"text": "One."})) is not None


@pytest.mark.parametrize("key", ["x", "EMPTY"])
def test_a_dummy_key_hides_no_parts_of_words(stub: Stub, key: str) -> None:
    stub.always = failure(400, f"the model gpt-4o-EMPTY does not exist, {key}")
    with pytest.raises(JudgeError, match=r"gpt-4o-EMPTY does not exist, \*\*\*"):
        run(judge(stub, api_key=key).extract(CLAIMS, {"text": "One."}))


def test_keys_and_headers_stay_with_the_server_that_was_called(stub: Stub) -> None:
    first = judge(stub, base_url=stub.url)
    with serving() as other:
        stub.faults = [moved(f"{other.url}/elsewhere"), moved(f"{stub.url}/here")]
        with pytest.raises(JudgeError, match="redirects to http://127"):
            run(first.extract(CLAIMS, {"text": "One."}))
        assert run(first.extract(CLAIMS, {"text": "Two."})) == ["Two."]
    assert not other.asked
    # Another path of the same server is no other server.
    assert [asked.headers["x-gateway"] for asked in stub.asked] == [HEADER] * 3
    assert stub.asked[-1].path.endswith("/v1/here")


def moved(to: str) -> Fault:
    return lambda asked: (307, {"Location": to}, b"")
