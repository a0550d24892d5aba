"""What a server accepts is found out once a run, and a run that can't go on ends with one line."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, OpenAIJudge, Report
from metrichub.authoring import Prompt
from metrichub.errors import JudgeError, JudgeUnavailable
from metrichub.judge.prompt_files import FewShot
from metrichub.models.loop import run
from tests import judge_toys
from tests.judge_stub import (
    Asked,
    Fault,
    Reply,
    Stub,
    answer,
    completion,
    embeddings,
    failure,
    says,
)
from tests.judge_toys import columns, spec

CLAIMS = Prompt("claims", "List the claims.")
SAMPLES = 20


def judge(stub: Stub, **more: object) -> OpenAIJudge:
    return judge_toys.judge(stub, **{"cache": False, **more})


async def ask_all(judge: OpenAIJudge, samples: int = SAMPLES) -> list[list[str] | BaseException]:
    asks = [judge.extract(CLAIMS, {"text": f"Number {i}."}) for i in range(samples)]
    return await asyncio.gather(*asks, return_exceptions=True)


def only(*forms: str) -> object:
    """A server that refuses all but these forms of request."""

    def fault(asked: Asked) -> Reply:
        if asked.form in forms:
            import json

            return completion(json.dumps(answer(asked)))
        return failure(400, f"unknown response_format {asked.form}")(asked)

    return fault


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize(
    ("forms", "more"), [(("json_schema",), 0), (("json_object", "text"), 1), (("text",), 2)]
)
def test_the_form_that_a_server_accepts_is_found_once_a_run(
    stub: Stub, forms: tuple[str, ...], more: int, concurrency: int
) -> None:
    stub.always = only(*forms)  # type: ignore[assignment]  # a fault
    result = run(ask_all(judge(stub, concurrency=concurrency)))
    assert result == [[f"Number {i}."] for i in range(SAMPLES)]
    assert len(stub.asked) == SAMPLES + more


@pytest.mark.parametrize(("forms", "more"), [(("json_object", "text"), 1), (("text",), 2)])
def test_a_form_is_refused_once_a_run_though_no_reply_is_read(
    stub: Stub, forms: tuple[str, ...], more: int
) -> None:
    def prose(asked: Asked) -> Reply:
        return (says("Sure!") if asked.form in forms else failure(400, "no such form"))(asked)

    stub.always = prose
    result = run(ask_all(judge(stub)))
    assert {type(error) for error in result} == {JudgeError}
    # Each is asked again once.
    assert len(stub.asked) == 2 * SAMPLES + more


def prose(asked: Asked) -> Reply:
    return says("Sure!")(asked)


def test_once_a_request_is_accepted_as_many_are_made_as_may_be(stub: Stub) -> None:
    # The first sample is asked for alone, twice as its reply is of no use. Then 4 at a time: 16
    # samples, twice each, are 8 times 4; a request that came alone would wait for the others.
    four = threading.Barrier(4)

    def together(asked: Asked) -> Reply:
        if len(stub.asked) > 2:
            four.wait(30)
        return prose(asked)

    stub.always = together
    result = run(ask_all(judge(stub, concurrency=4), 17))
    assert [str(error).partition(": ")[2][:44] for error in result] == [
        "the reply isn't the JSON that was asked for "
    ] * 17
    assert (len(stub.asked), stub.most) == (2 * 17, 4)


@pytest.mark.parametrize("concurrency", [1, 16])
def test_one_empty_reply_takes_no_schemas_from_the_run(stub: Stub, concurrency: int) -> None:
    stub.faults = [says("")]
    result = run(ask_all(judge(stub, concurrency=concurrency)))
    assert result == [[f"Number {i}."] for i in range(SAMPLES)]
    # The schema, without it as the server may not know any, and then the schema again.
    forms = ["json_schema", "json_object"] + ["json_schema"] * (SAMPLES - 1)
    assert [asked.form for asked in stub.asked] == forms


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_server_that_ignores_schemas_gets_two(stub: Stub, concurrency: int) -> None:
    def grade(asked: Asked) -> Reply:
        if asked.form == "json_schema":
            return prose(asked)
        return completion(json.dumps(answer(asked)))

    stub.always = grade
    result = run(ask_all(judge(stub, concurrency=concurrency)))
    assert result == [[f"Number {i}."] for i in range(SAMPLES)]
    forms = ["json_schema", "json_object"] * 2 + ["json_object"] * (SAMPLES - 2)
    assert [asked.form for asked in stub.asked] == forms


def test_failures_that_say_nothing_of_the_form_hold_up_few(stub: Stub) -> None:
    # One request, then two and four at a time: 7, and then eight more.
    groups = {size: threading.Barrier(size) for size in (1, 2, 4)}
    lock, came = threading.Lock(), iter([1, *[2] * 2, *[4] * 12])

    def together(asked: Asked) -> Reply:
        with lock:
            size = next(came)
        groups[size].wait(30)
        return failure(500)(asked)

    stub.always = together
    result = run(ask_all(judge(stub, concurrency=8), 15))
    assert all("it failed" in str(error) for error in result)
    assert stub.most == 4


@pytest.mark.parametrize("first", [True, False])
def test_a_server_that_refuses_bounds_gets_schemas_without_them(stub: Stub, first: bool) -> None:
    def unbounded(asked: Asked) -> Reply:
        if "maxItems" in json.dumps(asked.schema):
            return failure(400, "Invalid schema: 'maxItems' is not permitted.")(asked)
        return completion(json.dumps(answer(asked)))

    stub.always = unbounded
    openai = judge(stub)
    if not first:
        # A grade has no list, and so no bounds.
        run(openai.grade(CLAIMS, {"text": "One."}, (1, 5)))
    result = run(ask_all(openai))
    assert result == [[f"Number {i}."] for i in range(SAMPLES)]
    assert {asked.form for asked in stub.asked} == {"json_schema"}
    # Those on their way when the first was refused.
    more = 1 if first else 16 + 1
    assert len(stub.asked) <= SAMPLES + more


@pytest.mark.parametrize("status", [400, 422])
def test_a_parameter_that_the_server_refuses_ends_the_run(stub: Stub, status: int) -> None:
    stub.always = failure(status, "Unsupported parameter: 'temperature'")
    hub = Hub("faithfulness", judge=judge(stub, temperature=0.0))
    with pytest.raises(JudgeUnavailable) as caught:
        hub.evaluate(**columns(SAMPLES))
    assert "Unsupported parameter: 'temperature'" in str(caught.value)
    assert "the server accepts no form of this request, so the run stops" in str(caught.value)
    # Three forms for each of two rows.
    assert len(stub.asked) == 6


def sends(status: int, body: object) -> Fault:
    return lambda asked: (status, {}, json.dumps(body).encode())


# As users of these services report, for example in langchain4j#1079 and BettaFish#108.
FILTERS = {
    "DashScope": failure(
        400, "Input data may contain inappropriate content.", "data_inspection_failed"
    ),
    "DeepSeek": failure(400, "Content Exists Risk", "invalid_request_error"),
    "Gemini": sends(400, [{"error": {"code": 400, "message": "an invalid argument."}}]),
    "Zhipu": failure(400, "系统检测到输入或生成内容可能包含不安全或敏感内容", "1301"),
    "OpenRouter": failure(403, "Your chosen model requires moderation and your input was flagged"),
    "xAI": failure(403, "Content violates usage guidelines."),
    "any": failure(400, "No."),
}


@pytest.mark.parametrize("metric", ["faithfulness", "rubric(criterion='Is it good?', samples=3)"])
@pytest.mark.parametrize("fault", FILTERS.values(), ids=FILTERS)
def test_a_refused_row_costs_itself_alone_though_it_is_the_first(
    stub: Stub, fault: Fault, metric: str
) -> None:
    def filtered(asked: Asked) -> Reply:
        return (fault if "Claim 0." in str(asked.data) else says(json.dumps(answer(asked))))(asked)

    stub.always = filtered
    texts = columns(5) if metric == "faithfulness" else {"predictions": columns(5)["predictions"]}
    report = Hub(metric, judge=judge(stub)).evaluate(**texts)
    (errors,) = (trace.errors for trace in report.traces.values())
    assert list(errors) == [0]
    if metric == "faithfulness":
        assert "refused the request: Error code: 40" in errors[0]


def test_a_refused_row_of_an_embedder_costs_itself_alone(stub: Stub) -> None:
    def filtered(asked: Asked) -> Reply:
        return (failure(400, "No.") if "bad" in str(asked.body) else embeddings)(asked)

    stub.always = filtered
    texts = ["bad.", "One.", "Two."]
    hub = Hub("semantic_similarity", embedder=spec(stub, model="e"))
    report = hub.evaluate(predictions=texts, references=["bad.", "a b", "c d"])
    assert list(report.traces["semantic_similarity"].errors) == [0]


def test_a_text_that_is_too_long_costs_its_sample_alone(stub: Stub) -> None:
    stub.faults = [failure(400, "This model's maximum context length is 4096 tokens")]
    result = run(ask_all(judge(stub)))
    # Calls are made together: whichever comes first is refused.
    (error,) = [outcome for outcome in result if isinstance(outcome, JudgeError)]
    assert not error.ends_the_run
    assert len(stub.asked) == SAMPLES


ECHOED = (
    "The bridge has a safety policy of its own, and the context length of a report is too long."
)


@pytest.mark.parametrize("echo", [ECHOED, ECHOED[:40], json.dumps({"text": ECHOED})])
def test_words_of_the_texts_in_an_error_say_nothing_of_its_cause(stub: Stub, echo: str) -> None:
    text = f"Unsupported parameter: 'temperature' in {echo}".replace("{", "{{").replace("}", "}}")
    stub.always = failure(400, text)
    openai = judge(stub)
    with pytest.raises(JudgeError, match="Unsupported parameter"):
        run(openai.extract(CLAIMS, {"text": ECHOED}))
    with pytest.raises(JudgeUnavailable, match="the server accepts no form of this request"):
        run(openai.extract(CLAIMS, {"text": ECHOED}))


@pytest.mark.parametrize(
    "message",
    [
        "Your request was flagged by our safety system",
        "maximum context length is 4096 tokens, and you sent 'The bridge has a safety policy'",
    ],
)
def test_what_an_error_says_itself_counts_whatever_the_texts_say(stub: Stub, message: str) -> None:
    stub.always = failure(400, message)
    with pytest.raises(JudgeError) as caught:
        run(judge(stub).extract(CLAIMS, {"text": ECHOED}))
    assert not caught.value.ends_the_run
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    ("status", "message"), [(402, "no credit is left"), (501, "doesn't support")]
)
def test_no_credit_and_no_such_service_end_the_run(stub: Stub, status: int, message: str) -> None:
    stub.always = failure(status, "Insufficient Balance")
    with pytest.raises(JudgeUnavailable, match=message):
        run(judge(stub).extract(CLAIMS, {"text": "One."}))


@pytest.mark.parametrize("status", [400, 501])
def test_a_server_that_embeds_nothing_ends_the_run(stub: Stub, status: int) -> None:
    stub.always = failure(status, "This server does not support embeddings")
    texts = [f"Text {i}." for i in range(1_000)]
    hub = Hub("semantic_similarity", embedder=spec(stub, model="e"))
    with pytest.raises(JudgeUnavailable, match="does not support embeddings"):
        hub.evaluate(predictions=texts, references=texts[::-1])
    # A call of many, and of one and of the others for each of two rows.
    assert len(stub.asked) <= 6


def test_asking_again_says_what_was_wrong(stub: Stub) -> None:
    openai = judge(stub)
    run(openai.extract(CLAIMS, {"text": "First."}))
    stub.faults = [says('{"items": "no list"}')]
    assert run(openai.extract(CLAIMS, {"text": "One."})) == ["One."]
    *_, reply, wrong = stub.asked[-1].body["messages"]
    assert reply == {"role": "assistant", "content": '{"items": "no list"}'}
    assert "items: Input should be a valid" in wrong["content"]


def test_lists_have_an_end_where_a_server_ignores_the_schema(stub: Stub) -> None:
    stub.always = says(json.dumps({"items": [f"Claim {i}." for i in range(3000)]}))
    assert len(run(judge(stub).extract(Prompt("claims", "List."), {"text": "A."}))) == 100


@pytest.mark.parametrize("how", [{}, {"samples": False}, {"repeats": 2}])
def test_a_report_says_which_lists_were_cut(
    stub: Stub, tmp_path: Path, how: dict[str, Any]
) -> None:
    def endless(asked: Asked) -> Reply:
        if "items" in asked.schema["properties"] and "Claim 0" in str(asked.data):
            return says(json.dumps({"items": [f"Claim {i}." for i in range(3000)]}))(asked)
        return completion(json.dumps(answer(asked)))

    stub.always = endless
    report = Hub("faithfulness", judge=judge(stub)).evaluate(**columns(2), **how)
    report.save(tmp_path / "report.json")
    note = "cut: the list of claims ends at 100 items, so the rest doesn't count"
    note = f"{how.get('repeats', 1)} {note}"
    for version in (report, Report.load(tmp_path / "report.json"), report.pool()):
        assert note in version.notes()["faithfulness"]
    if not how:
        assert [note in report.take([i]).notes().get("faithfulness", ()) for i in (0, 1)] == [
            True,
            False,
        ]


def test_lists_have_an_end_in_their_schema(stub: Stub) -> None:
    openai = judge(stub)
    run(openai.extract(CLAIMS, {"text": "One."}))
    assert stub.asked[-1].schema["properties"]["items"]["maxItems"] == 100
    run(openai.extract(CLAIMS, {"text": "One."}, limit=3))
    assert stub.asked[-1].schema["properties"]["items"]["maxItems"] == 3
    run(openai.verify(CLAIMS, ["a", "b"], {"text": "One."}, ("yes", "no")))
    verdicts = stub.asked[-1].schema["properties"]["verdicts"]
    assert (verdicts["minItems"], verdicts["maxItems"]) == (2, 2)
    (judged,) = stub.asked[-1].schema["$defs"].values()
    assert judged["properties"]["index"]["enum"] == [0, 1]


@pytest.mark.parametrize("keyword", ["words", "none"])
def test_a_server_that_refuses_an_enum_of_numbers_gets_none(stub: Stub, keyword: str) -> None:
    # As Gemini words it, whose values are texts, or a server that knows no enum at all.
    def refusing(asked: Asked) -> Reply:
        listed = re.findall(r'"enum": \[([^]]*)', json.dumps(asked.body.get("response_format")))
        if listed if keyword == "none" else any('"' not in values for values in listed):
            return failure(400, "reply.verdicts.index.enum: only allowed for STRING type")(asked)
        return completion(json.dumps(answer(asked)))

    stub.always = refusing
    openai = judge(stub)
    for _ in range(2):
        result = run(
            openai.verify(CLAIMS, ["a", "b"], {"text": str(len(stub.asked))}, ("yes", "no"))
        )
        assert [verdict.verdict for verdict in result] == ["yes", "yes"]
    forms = [asked.form for asked in stub.asked]
    refused = ["json_schema"] * (1 if keyword == "words" else 2)
    assert forms == refused + ["json_schema" if keyword == "words" else "json_object"] * 2


def test_a_model_that_repeats_itself_is_not_told_to_go_on(stub: Stub) -> None:
    stub.always = says('{"items": [' + '"the same words", ' * 100, finish_reason="length")
    with pytest.raises(JudgeError, match="cut off; the model repeats itself"):
        run(judge(stub).extract(CLAIMS, {"text": "One."}))


# Without a role for instructions.

SYSTEM_REFUSED = {
    "vLLM": (400, "System role not supported"),
    "o1-mini": (
        400,
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ),
    "Mistral": (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
    "Gemini": (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
    "llama.cpp": (500, "Error: Jinja Exception: System role not supported"),
}


def in_turns(status: int, body: str) -> Fault:
    """A model that knows users and assistants alone, in turns."""

    def fault(asked: Asked) -> Reply:
        roles = [message["role"] for message in asked.body["messages"]]
        if roles != [("user", "assistant")[i % 2] for i in range(len(roles))]:
            return failure(status, body)(asked)
        return completion(json.dumps({"items": ["One."]}))

    return fault


@pytest.mark.parametrize(("status", "message"), SYSTEM_REFUSED.values(), ids=SYSTEM_REFUSED)
def test_instructions_go_with_the_users_message_where_a_model_has_no_role_for_them(
    stub: Stub, status: int, message: str
) -> None:
    stub.always = in_turns(status, message)
    shown = FewShot('{"text": "Ann sings."}', '{"items": ["Ann sings."]}', "extract")
    prompt = Prompt("claims", "List the claims.", examples=(shown,))
    openai = judge(stub)
    asks = [lambda i=i: openai.extract(prompt, {"text": f"Text {i}."}) for i in range(5)]

    async def ask_all() -> list[list[str]]:
        return await asyncio.gather(*(each() for each in asks))

    assert run(ask_all()) == [["One."]] * 5
    # The first is refused once, and the rest know.
    assert len(stub.asked) == 6
    first, reply, data = stub.asked[-1].body["messages"]
    assert first["content"].startswith("List the claims.")
    assert first["content"].endswith('User message:\n{"text": "Ann sings."}')
    assert reply == {"role": "assistant", "content": '{"items": ["Ann sings."]}'}
    assert json.loads(data["content"])["text"].startswith("Text ")


def test_a_second_try_keeps_the_turns(stub: Stub) -> None:
    stub.always = in_turns(400, "System role not supported")
    openai = judge(stub)
    assert run(openai.extract(CLAIMS, {"text": "One."})) == ["One."]
    stub.faults = [says("")]
    assert run(openai.extract(CLAIMS, {"text": "One."})) == ["One."]
    roles = [message["role"] for message in stub.asked[-1].body["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_a_run_learns_the_roles_and_the_form(stub: Stub) -> None:
    def odd(asked: Asked) -> Reply:
        if asked.body["messages"][0]["role"] == "system":
            return failure(400, "System role not supported")(asked)
        if asked.form == "json_schema":
            return failure(400, "unknown response_format")(asked)
        return completion('{"reason": "r", "score": 4}')

    stub.always = odd
    report = Hub("rubric", judge=judge(stub)).evaluate(predictions=["A.", "B.", "C."])
    assert report.scores()["rubric"]["grade"] == 4.0
    assert len(stub.asked) == 3 + 2
