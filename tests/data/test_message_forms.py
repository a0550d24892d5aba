"""Forms of messages beside the usual ones: Gemini, Bedrock, older LangChain, loose fields."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from metrichub import Hub
from metrichub.data.conversations import conversation
from metrichub.errors import InputError

ARGUMENTS = {"city": "Bern"}
Form = Callable[[Mapping[str, Any]], dict[str, Any]]
CALLS: dict[str, Form] = {
    "name": lambda args: {"name": "weather", "arguments": args},
    "openai": lambda args: {
        "id": "call_1",
        "type": "function",
        "index": 0,
        "function": {"name": "weather", "arguments": json.dumps(args)},
    },
    "anthropic": lambda args: {"type": "tool_use", "id": "t", "name": "weather", "input": args},
    "llama": lambda args: {"name": "weather", "parameters": args},
    "llama with a type": lambda args: {"type": "function", "name": "weather", "parameters": args},
    "tau-bench": lambda args: {"name": "weather", "kwargs": args},
    "adk evaluation": lambda args: {"tool_name": "weather", "tool_input": args},
    "adk": lambda args: {"id": None, "args": args, "name": "weather"},
    "langchain": lambda args: {"name": "weather", "args": args, "id": "1", "type": "tool_call"},
    "langchain chunk": lambda args: {"name": "weather", "args": json.dumps(args), "index": 1},
    "llama-index": lambda args: {"tool_id": "1", "tool_name": "weather", "tool_kwargs": args},
    "deepeval": lambda args: {"name": "weather", "input_parameters": args, "output": "sunny"},
    "inspect": lambda args: {
        "id": "k",
        "function": "weather",
        "arguments": args,
        "type": "function",
    },
    "params": lambda args: {"name": "weather", "params": args},
    "tool_args": lambda args: {"name": "weather", "tool_args": args},
    "beside the function": lambda args: {"function": {"name": "weather"}, "arguments": args},
    "an empty one, too": lambda args: {"name": "weather", "arguments": "", "input": args},
    "twice the same": lambda args: {"name": "weather", "arguments": args, "args": dict(args)},
    "the same as text": lambda args: {
        **{"name": "weather", "arguments": json.dumps(args, indent=1), "args": args},
        "input": json.dumps(args),
    },
    "blank texts, too": lambda args: {
        **{"name": "weather", "arguments": "{}", "params": "null", "kwargs": " ", "args": args}
    },
    "its schema, too": lambda args: {
        **{"name": "weather", "arguments": json.dumps(args)},
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
    "the schema of its function": lambda args: {
        "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
        "args": args,
    },
    "what the user said, too": lambda args: {"name": "weather", "args": args, "input": "Weather?"},
    "keys of a log": lambda args: {"name": "weather", "arguments": args, "ms": 9, "log": {"a": 1}},
}
GEMINI: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be kind."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "I'll look it up.", "thought": True},
                {"functionCall": {"name": "weather", "args": ARGUMENTS}, "thoughtSignature": "Cu"},
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "weather", "response": {"output": "sunny"}}}],
        },
        {"role": "model", "parts": [{"text": "It is sunny."}]},
    ],
}
BEDROCK: dict[str, Any] = {
    "system": [{"text": "Be kind."}],
    "messages": [
        {"role": "user", "content": [{"text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "I'll look it up."}}},
                {"toolUse": {"toolUseId": "t1", "name": "weather", "input": ARGUMENTS}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"json": {"output": "sunny"}}]}}
            ],
        },
        {"role": "assistant", "content": [{"text": "It is sunny."}]},
    ],
}


@pytest.mark.parametrize("value", [GEMINI, BEDROCK], ids=["gemini", "bedrock"])
def test_parts_whose_key_is_their_kind_are_read(value: Any) -> None:
    messages = conversation(value)
    assert [(m["role"], m["text"], m["left_out"]) for m in messages] == [
        ("system", "Be kind.", []),
        ("user", "Weather?", []),
        ("assistant", "", []),
        ("tool", '{"output": "sunny"}', []),
        ("assistant", "It is sunny.", []),
    ]
    assert messages[2]["calls"] == [{"id": "1", "name": "weather", "arguments": ARGUMENTS}]
    assert (messages[3]["result_of"], messages[3]["name"]) == ("1", "weather")


def test_results_of_bedrock_find_their_calls_by_id() -> None:
    calls: list[Any] = [
        {"toolUse": {"toolUseId": name, "name": name, "input": {}}} for name in ("a", "b")
    ]
    results = [
        {"toolResult": {"toolUseId": name, "content": [{"text": name}]}} for name in ("b", "a")
    ]
    messages = conversation(
        [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    )
    assert [(m["result_of"], m["text"]) for m in messages[1:]] == [("2", "b"), ("1", "a")]


def test_keys_of_a_library_without_a_value_are_ignored() -> None:
    # As google-genai dumps its objects.
    call = {"name": "weather", "args": ARGUMENTS, "id": None}
    part = {"text": None, "function_call": call, "function_response": None, "thought": None}
    (message,) = conversation([{"role": "model", "parts": [part]}])
    assert [call["name"] for call in message["calls"]] == ["weather"]


def test_a_part_of_an_unknown_kind_is_left_out_by_its_key() -> None:
    parts = [{"text": "Look:"}, {"image": {"format": "png"}}, {"text": None, "inlineData": {}}]
    (message,) = conversation([{"role": "user", "content": parts}])
    assert (message["text"], message["left_out"]) == ("Look:", ["image", "inlineData"])


def test_what_a_tool_returns_stays_json() -> None:
    (message,) = conversation([{"role": "tool", "content": [{"degrees": 20}]}])
    assert message["text"] == '{"degrees": 20}'


@pytest.mark.parametrize("value", [GEMINI, BEDROCK], ids=["gemini", "bedrock"])
@pytest.mark.parametrize(("city", "score"), [("Bern", 1.0), ("Basel", 0.0)])
def test_a_wrong_call_is_wrong_in_every_format(value: Any, city: str, score: float) -> None:
    expected = [*conversation(value)]
    expected[2]["calls"][0]["arguments"] = {"city": city}
    scores = Hub("trajectory_match")(messages=[value], reference_messages=[expected])
    assert scores["trajectory_match"]["score"] == score


@pytest.mark.parametrize("key", ["retrieval_context", "contexts"])
def test_one_passage_is_a_list_of_one(key: str) -> None:
    (message,) = conversation([{"role": "assistant", "content": "1869.", key: "Built in 1869."}])
    assert message["contexts"] == ["Built in 1869."]


def _openai(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}


def test_calls_of_older_langchain_are_read() -> None:
    more = {"additional_kwargs": {"tool_calls": [_openai("search")]}}
    (message,) = conversation([{"type": "ai", "content": "", **more}])
    assert [call["name"] for call in message["calls"]] == ["search"]
    # A newer one has the same calls in both places.
    turn = {"tool_calls": [{"name": "search", "args": {}, "id": "search"}]}
    (message,) = conversation([{"type": "ai", "content": "", **more, **turn}])
    assert [call["name"] for call in message["calls"]] == ["search"]


def test_the_single_call_of_oldest_langchain_is_read() -> None:
    more = {"additional_kwargs": {"function_call": {"name": "search", "arguments": "{}"}}}
    (message,) = conversation([{"type": "ai", "content": "", **more}])
    assert [call["name"] for call in message["calls"]] == ["search"]


def test_invalid_calls_of_langchain_are_calls_with_the_text_that_was_written() -> None:
    calls: dict[str, Any] = {
        "tool_calls": [{"name": "search", "args": {}, "id": "1"}],
        "invalid_tool_calls": [{"name": "book", "args": '{"at": ', "id": "2", "error": "no JSON"}],
    }
    (message,) = conversation([{"type": "ai", "content": "", **calls}])
    read = [(call["name"], call["arguments"]) for call in message["calls"]]
    assert read == [("search", {}), ("book", '{"at": ')]


def test_calls_that_a_message_and_its_tools_called_both_list_count_once() -> None:
    entry = {
        "role": "assistant",
        "content": "Sunny.",
        "tool_calls": [_openai("weather")],
        "tools_called": [{"name": "weather", "input_parameters": {}}],
    }
    (message,) = conversation([entry])
    assert [call["name"] for call in message["calls"]] == ["weather"]


def test_calls_that_langchain_repeats_from_the_content_count_once() -> None:
    # ChatAnthropic keeps the blocks of the reply and lists their calls beside them.
    block = {"type": "tool_use", "id": "t", "name": "weather", "input": {}}
    calls = [{"name": "weather", "args": {}, "id": "t", "type": "tool_call"}]
    (message,) = conversation([{"type": "ai", "content": [block], "tool_calls": calls}])
    assert [call["name"] for call in message["calls"]] == ["weather"]


@pytest.mark.parametrize(
    ("blocks", "listed", "read"),
    [
        # As ChatAnthropic streams: the input of the block stays empty.
        ([("c", {}, '{"city": "Bern"}')], [("c", ARGUMENTS)], [ARGUMENTS]),
        ([("c", {}, '{"ci')], [("c", ARGUMENTS)], [ARGUMENTS]),
        ([("c", {}, '{"city": "Bern"}')], [], [ARGUMENTS]),
        ([("c", ARGUMENTS, "")], [("c", {})], [ARGUMENTS]),
        (
            [("c", {}, "")],
            [("d", ARGUMENTS), ("c", {"city": "Rome"})],
            [{"city": "Rome"}, ARGUMENTS],
        ),
        (
            [("c", ARGUMENTS, ""), ("d", {}, "")],
            [("d", {"city": "Rome"})],
            [ARGUMENTS, {"city": "Rome"}],
        ),
        ([(None, {}, ""), (None, {}, "")], [("c", ARGUMENTS), ("d", {})], [ARGUMENTS, {}]),
    ],
)
def test_calls_in_the_content_and_beside_it_are_merged(blocks: Any, listed: Any, read: Any) -> None:
    content = [
        {"type": "tool_use", "id": key, "name": "weather", "input": args, "partial_json": text}
        for key, args, text in blocks
    ]
    calls = [
        {"name": "weather", "args": args, "id": key, "type": "tool_call"} for key, args in listed
    ]
    message = {"content": content, "tool_calls": calls}
    (read_message,) = conversation([{"type": "ai", **message}])
    assert [call["arguments"] for call in read_message["calls"]] == read
    expected = [{"name": "weather", "arguments": arguments} for arguments in read]
    for form in (message | {"role": "assistant"}, [message | {"type": "ai"}]):
        scores = Hub("tool_call_f1")(predictions=[form], references=[expected])
        assert scores["tool_call_f1"]["score"] == 1


MCP = {"type": "mcp_call", "id": "m", "name": "weather", "arguments": '{"city": "Bern"}'}


@pytest.mark.parametrize("in_content", [True, False])
@pytest.mark.parametrize(
    "outcome", [{"output": "sunny"}, {"output": None, "error": {"message": "sunny"}}]
)
def test_what_a_server_of_mcp_returned_is_a_message_of_the_tool(
    in_content: bool, outcome: Any
) -> None:
    items = [MCP | outcome, {"type": "output_text", "text": "Nice."}]
    text = {"role": "assistant", "content": items[1:]}
    value = [{"role": "assistant", "content": items[:1]}, text] if in_content else [items[0], text]
    call, result, answer = conversation(value)
    assert [(item["name"], item["arguments"]) for item in call["calls"]] == [("weather", ARGUMENTS)]
    assert [result[key] for key in ("role", "text", "result_of", "name")] == [
        *("tool", "sunny", "1", "weather")
    ]
    assert answer["text"] == "Nice."


@pytest.mark.parametrize(
    "part",
    [
        MCP,
        {"tool_call": {"tool_name": "weather", "arguments": ARGUMENTS, "id": "c"}},  # Haystack's.
        {"type": "tool_call", "name": "weather", "args": ARGUMENTS},
        {"type": "server_tool_call", "id": "s", "name": "weather", "args": ARGUMENTS},
        {"type": "tool_call_chunk", "index": 0, "name": "weather", "args": '{"city": "Bern"}'},
    ],
)
def test_a_call_within_a_content_is_read(part: Any) -> None:
    (message,) = conversation([{"role": "assistant", "content": [part]}])
    assert [(call["name"], call["arguments"]) for call in message["calls"]] == [
        ("weather", ARGUMENTS)
    ]


VERCEL = {"toolCallId": "c", "toolName": "weather", "args": ARGUMENTS}


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"content": [VERCEL | {"type": "tool-call"}]}, "tool-call"),
        ({"parts": [{"type": "tool-invocation", "toolInvocation": VERCEL}]}, "tool-invocation"),
        ({"parts": [{"type": "tool-weather", "toolCallId": "c", "input": {}}]}, "tool-weather"),
        ({"content": "Sunny.", "toolInvocations": [VERCEL]}, "toolInvocations"),
    ],
)
def test_calls_that_are_not_read_are_refused_by_their_kind(more: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=f"it has calls as '{kind}', which aren't read; give them"):
        conversation([{"role": "assistant", **more}])


@pytest.mark.parametrize(
    "called", ["search", ["search"], '["search"]', '[{"name": "search"}]', [{"name": "search"}]]
)
def test_tools_called_may_be_names_or_json(called: Any) -> None:
    turn = {"role": "assistant", "content": "Yes.", "tools_called": called}
    first, answer = conversation([turn])
    assert first["calls"] == [{"id": "1", "name": "search", "arguments": {}}]
    assert answer["text"] == "Yes."


def test_an_unknown_role_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="entry 0 has the role 'bot', not system, user, assistant"):
        conversation([{"role": "bot", "content": "Hi"}])


@pytest.mark.parametrize(
    "value",
    [
        {"spanId": "a", "traceId": "b", "name": "GET /", "attributes": {"http.method": "GET"}},
        [{"span_id": "a", "name": "GET /", "attributes": {}}],
        {"spans": [{"name": "GET /", "attributes": {"http.method": "GET"}}]},
    ],
)
def test_spans_of_other_things_are_named_as_such(value: Any) -> None:
    with pytest.raises(ValueError, match=r"these are spans.* gen_ai\.input\.messages"):
        conversation(value)


def test_a_system_instruction_may_be_a_text() -> None:
    request = {"systemInstruction": "Be kind.", "contents": GEMINI["contents"]}
    assert conversation(request) == conversation(GEMINI)


@pytest.mark.parametrize("form", CALLS)
def test_the_arguments_of_a_call_are_read_in_every_form(form: str) -> None:
    called, other = CALLS[form](ARGUMENTS), CALLS[form]({"city": "Rome"})
    turn = {"role": "assistant", "content": "Sunny."}
    for value in ([called], [turn | {"tool_calls": [called]}], [turn | {"tools_called": [called]}]):
        (call, *more) = conversation(value)[0]["calls"]
        assert (call["name"], call["arguments"], more) == ("weather", ARGUMENTS, [])
        expected = {"name": "weather", "arguments": ARGUMENTS}
        # Bern isn't Rome, whichever of the two sides has which form.
        for side, score in ((expected, 1.0), (called, 1.0), (other, 0.0)):
            columns = {"messages": [value], "reference_messages": [[side]]}
            scores = Hub("trajectory_match(mode='unordered')")(columns)["trajectory_match"]
            assert scores["score"] == score
    for sent in ([called], json.dumps([called])):
        scores = Hub("tool_call_f1")(predictions=[sent, sent], references=[[other], [called]])
        assert (scores["tool_call_f1"]["score"], scores["tool_call_f1"]["parsed"]) == (0.5, 1)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ({"name": "w", "city": "Bern"}, "has 'city' beside the name 'w', which isn't read"),
        ({"name": "w", "payload": {"city": "Bern"}}, "has 'payload' beside the name 'w'"),
        ({"name": "w", "on": False}, "has 'on' beside the name 'w'"),
        ({"name": "w", "args": None, "days": 0}, "has 'days' beside the name 'w'"),
        ({"function": {"name": "w", "city": "Bern"}}, "has 'city' beside the name 'w'"),
        (
            {"name": "w", "args": {"city": "Bern"}, "input": {"city": "Rome"}},
            "has arguments for 'w' under 'args' and others under 'input'; keep one",
        ),
        (
            {"name": "w", "args": {"city": "Bern"}, "input": '{"city": "Rome"}'},
            "has arguments for 'w' under 'args' and others under 'input'; keep one",
        ),
    ],
)
def test_what_may_be_arguments_is_refused_by_name(call: dict[str, Any], problem: str) -> None:
    for value in ([call], [{"role": "assistant", "content": None, "tool_calls": [call]}]):
        columns = {"messages": [value], "reference_messages": [value]}
        for metric in ("trajectory_match", "tool_call_f1"):
            with pytest.raises(InputError) as caught:
                Hub(metric)(columns)
            assert problem in str(caught.value)
        with pytest.raises(InputError, match=f"{problem.split(';')[0]}"):
            Hub("tool_call_f1")(predictions=[value], references=["[]"])
    # As a text it is a model's answer, which never raises.
    scores = Hub("tool_call_f1")(predictions=[json.dumps([call])], references=["[]"])
    assert (scores["tool_call_f1"]["score"], scores["tool_call_f1"]["parsed"]) == (0, 0)


@pytest.mark.parametrize(
    "more",
    [
        {"id": "1", "type": "tool_call", "index": 0, "description": "The time.", "output": "noon"},
        {"result": {"time": "noon"}, "error": None, "status": "completed", "unknown": None},
        {"arguments": {}, "elapsed": 0.1},
        {"strict": True},
        {"arguments": "{}", "args": {}, "parameters": {"type": "object", "properties": {}}},
        {"arguments": "", "span": {"id": 1}},
        {"city": "", "tags": [], "more": {}},
    ],
)
def test_a_call_without_arguments_may_have_other_keys(more: dict[str, Any]) -> None:
    (message,) = conversation([{"name": "clock", **more}])
    assert [(call["name"], call["arguments"]) for call in message["calls"]] == [("clock", {})]
    calls, due = [{"name": "clock", **more}], [{"name": "clock"}]
    assert Hub("tool_call_f1")(predictions=[calls], references=[due])["tool_call_f1"]["score"] == 1


def test_what_a_function_returned_is_no_call() -> None:
    # LangChain's FunctionMessage, whose type is that of OpenAI's calls.
    call = {"type": "function", "name": "weather", "parameters": ARGUMENTS}
    messages = conversation([call, {"type": "function", "name": "weather", "content": "sunny"}])
    assert [(m["role"], m["text"], m["result_of"]) for m in messages] == [
        ("assistant", "", None),
        ("tool", "sunny", "1"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<think>I am evil.</think>Sunny.", "Sunny."),
        ("<think>I am evil.</think>\n\nSunny.\n", "Sunny."),
        # As from a template that begins the thinking itself.
        ("I am evil.</think>Sunny.", "Sunny."),
        ("Let me see. <think>Evil.</think>It is <thinking>so</thinking>sunny.", None),
        ("[THINK]Evil.[/THINK]Sunny.", "Sunny."),
        ("◁think▷Evil.◁/think▷Sunny.", "Sunny."),
        ("<|channel|>analysis<|message|>Evil.<|channel|>final<|message|>Sunny.", "Sunny."),
        # Cut off within it.
        ("Sunny. <think>I am evil", "Sunny."),
        ("<think>I am evil", ""),
        (" I think it's <b>sunny</b>.\n", " I think it's <b>sunny</b>.\n"),
    ],
)
def test_thinking_inside_a_text_of_the_assistant_is_no_text(text: str, message: str | None) -> None:
    message = "Let me see. It is sunny." if message is None else message
    user = {"role": "user", "content": text}
    for content in (text, [{"type": "text", "text": text}]):
        asked, answer = conversation([user, {"role": "assistant", "content": content}])
        # What a user writes is nobody's thinking.
        assert (asked["text"], answer["text"]) == (text, message)
