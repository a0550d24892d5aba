"""Replies of an odd form: no run ends by one, and what they cost is counted."""

import base64
import json
import struct
from typing import Any

import pytest

from metrichub import Hub
from metrichub.authoring import Prompt
from metrichub.errors import JudgeError
from metrichub.models.loop import run
from metrichub.models.resolve import embedder_of
from tests.judge_faults import RandomFaults
from tests.judge_stub import Stub, failure, raw, says
from tests.judge_toys import columns, judge, spec

CLAIMS = Prompt("claims", "List the claims.")
MESSAGE = {"role": "assistant", "content": '{"items": ["One."]}'}
CHOICE = {"index": 0, "finish_reason": "stop", "message": MESSAGE}


def extract(stub: Stub) -> list[str]:
    return run(judge(stub).extract(CLAIMS, {"text": "One."}))


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {"error": "no"},
        {"choices": "text"},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "text"}]},
        {"choices": [{"message": {"content": ["a list"]}}]},
        {"choices": [{"message": {"content": 5}}]},
    ],
)
def test_a_reply_of_another_form_costs_one_sample(stub: Stub, body: object) -> None:
    stub.always = raw(json.dumps(body).encode())
    with pytest.raises(JudgeError) as caught:
        extract(stub)
    assert not caught.value.ends_the_run
    stub.always = None
    assert extract(stub) == ["One."]


@pytest.mark.parametrize("depth", [990, 100_000])
def test_a_reply_that_nests_too_deep_costs_one_sample(stub: Stub, depth: int) -> None:
    stub.always = raw(b'{"choices": ' + b"[" * depth + b"]" * depth + b"}")
    with pytest.raises(JudgeError) as caught:
        extract(stub)
    assert not caught.value.ends_the_run


def test_the_text_of_a_content_in_parts_is_read(stub: Stub) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": '{"items": ["draft"]}'}]}
    parts = [thought, {"type": "text", "text": '{"items":'}, {"type": "text", "text": '["One."]}'}]
    message = {"role": "assistant", "content": parts}
    stub.faults = [raw(json.dumps({"choices": [CHOICE | {"message": message}]}).encode())]
    assert extract(stub) == ["One."]
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    "usage", [None, {}, "text", {"prompt_tokens": "many"}, {"prompt_tokens": None}]
)
def test_a_server_that_counts_no_tokens_is_taken_to_have_used_none(
    stub: Stub, usage: object
) -> None:
    stub.always = raw(json.dumps({"choices": [CHOICE], "usage": usage}).encode())
    report = Hub("faithfulness", judge=spec(stub)).evaluate(predictions=["One."], contexts=[["O."]])
    assert (report.usage.prompt_tokens, report.usage.completion_tokens) == (0, 0)


@pytest.mark.parametrize("content", ['{"items": ["a\\ud800"]}', "{'items': ['a\\ud800']}"])
def test_a_lone_surrogate_in_a_reply_becomes_a_replacement_character(
    stub: Stub, content: str
) -> None:
    stub.faults = [says(content)]
    assert extract(stub) == ["a\ufffd"]
    # It is stored as well as any other.
    assert extract(stub) == ["a\ufffd"]
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    "content",
    [
        '{"reason": "r, }", "score": 4,}',
        '```json\n{"reason": "r, }", "score": 4,\n}\n```',
        'Mind the 5" nail: {"reason": "r, }", "score": 4,}',
        '{"result": {"reason": "r, }", "score": 4}}',
        'So: {"Answer": {"reason": "r, }", "score": 4}}',
        '{"reason": "r, }", "score": "4/5"}',
        '{"reason": "r, }", "score": 4 / 5}',
        '{"response": {"reason": "r, }", "score": "4/5",},}',
    ],
)
def test_a_slip_of_the_form_costs_no_second_call(stub: Stub, content: str) -> None:
    stub.faults = [says(content)]
    grade = run(judge(stub).grade(CLAIMS, {"text": "One."}, (1, 5)))
    assert (grade.score, grade.reason, len(stub.asked)) == (4.0, "r, }", 1)


@pytest.mark.parametrize(
    "content",
    [
        # Of another scale, or another answer that only its form hid.
        '{"reason": "r", "score": "4/10"}',
        '{"reason": "r", "score": 1} No: {"reason": "r", "score": 4,}',
        '{"draft": {"reason": "r", "score": 4}}',
        '{"result": {"reason": "r", "score": 4}, "confidence": "low"}',
    ],
)
def test_a_reply_that_may_mean_something_else_is_asked_for_again(stub: Stub, content: str) -> None:
    stub.faults = [says(content)]
    assert run(judge(stub).grade(CLAIMS, {"text": "One."}, (1, 5))).score == 3.0
    assert len(stub.asked) == 2


@pytest.mark.parametrize("listed", [False, True])
def test_a_reply_that_the_server_found_unreadable_is_asked_for_again(
    stub: Stub, listed: bool
) -> None:
    # As Groq says it.
    unreadable = failure(400, "Failed to generate JSON.", "json_validate_failed")
    stub.faults = [*[None] * listed, unreadable]
    openai = judge(stub, cache=False)
    for _ in range(1 + listed):
        assert run(openai.extract(CLAIMS, {"text": "One."})) == ["One."]
    assert len(stub.asked) == 2 + listed
    assert "Failed to generate JSON" in stub.asked[-1].body["messages"][-1]["content"]


def test_a_whole_reply_counts_though_the_server_cut_off_what_followed(stub: Stub) -> None:
    stub.faults = [says('{"items": ["One."]}\n\n', finish_reason="length")]
    assert extract(stub) == ["One."]
    assert len(stub.asked) == 1


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_a_reply_that_is_all_reasoning_is_called_so(stub: Stub, name: str) -> None:
    stub.always = says(None, **{name: 'It could be {"items": ["One."]}.'})
    with pytest.raises(JudgeError, match="empty but for its reasoning; switch off"):
        extract(stub)


VECTOR = {"index": 0, "embedding": [1.0, 2.0]}


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        [],
        [None],
        ["text"],
        [{}],
        [{"index": 0}],
        [{**VECTOR, "index": 1}],
        [{**VECTOR, "index": "first"}],
        [{**VECTOR, "embedding": []}],
        [{**VECTOR, "embedding": "text"}],
        [{**VECTOR, "embedding": [None]}],
        [{**VECTOR, "embedding": ["one"]}],
        [VECTOR, VECTOR],
        [VECTOR, {"index": 1, "embedding": [1.0]}],
    ],
)
def test_vectors_of_another_form_cost_one_sample_and_are_not_stored(
    stub: Stub, data: object
) -> None:
    stub.always = raw(json.dumps({"data": data}).encode())
    embedder = embedder_of(spec(stub, model="e"))
    with pytest.raises(JudgeError) as caught:
        run(embedder.embed(["a b"]))
    assert not caught.value.ends_the_run
    stub.always = None
    # The stub gives the number of characters and of words.
    assert run(embedder.embed(["a b"])).tolist() == [[3.0, 2.0]]


@pytest.mark.parametrize("packed", [False, True])
def test_a_vector_is_the_same_out_of_the_store_to_the_last_bit(stub: Stub, packed: bool) -> None:
    # Numbers that float32 holds, since a server packs no others.
    expected = [float(number) for number in struct.unpack("<2f", struct.pack("<2f", 0.1, 1 / 3))]
    sent = base64.b64encode(struct.pack("<2f", *expected)).decode() if packed else expected
    stub.always = raw(json.dumps({"data": [{"index": 0, "embedding": sent}]}).encode())
    embedder = embedder_of(spec(stub, model="e"))
    for _ in range(2):
        assert run(embedder.embed(["a b"])).tolist() == [expected]
    assert len(stub.asked) == 1


def test_an_embedder_under_random_faults_scores_every_sample_or_names_the_cause(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Four samples in a call, so that there are calls to fail.
    for module in ("embedders", "openai_embedder"):
        monkeypatch.setattr(f"metrichub.models.{module}.LARGEST", 8)
    stub.always = RandomFaults(seed=2)
    size = 100
    texts = {
        "predictions": [f"Answer {i}." for i in range(size)],
        "references": [f"The answer {i}." for i in range(size)],
    }
    hub = Hub("semantic_similarity", embedder=spec(stub, timeout=3.0))
    report = hub.evaluate(**texts)
    errors = report.traces["semantic_similarity"].errors
    assert 0 < len(errors) < size / 2
    assert all(errors.values())
    assert report.counts()["semantic_similarity"]["errors"] == len(errors)
    assert "unscored" not in report.counts()["semantic_similarity"]
    stub.always = None
    # A busy machine may take longer than the three seconds after which it gave up.
    usage = Hub("semantic_similarity", embedder=spec(stub)).evaluate(**texts).usage
    # The stub counts a token a text, and a sample has two.
    assert usage.calls <= len(errors)
    assert usage.prompt_tokens == 2 * len(errors)


# What failed calls cost.


@pytest.mark.parametrize(
    ("fault", "calls", "tokens"),
    [
        # The stub says 10 prompt tokens and 3 completion tokens a completion. An unreadable one
        # is asked for twice, and so is a refused one.
        (says("no JSON"), 2, (20, 6)),
        (says(None, refusal="I won't."), 2, (20, 6)),
        (says("", finish_reason="length"), 1, (10, 3)),
        (failure(500), 1, (0, 0)),
    ],
)
def test_a_call_that_came_to_nothing_is_counted_with_its_tokens(
    stub: Stub, fault: Any, calls: int, tokens: tuple[int, int]
) -> None:
    stub.always = fault
    priced = spec(stub, prices=[1e6, 1e6])
    usage = Hub("faithfulness", judge=priced).evaluate(**columns(1)).usage
    assert usage.calls == len(stub.asked) == calls
    assert (usage.prompt_tokens, usage.completion_tokens) == tokens
    assert usage.money == sum(tokens)
