"""Conversations: eight formats become the same messages, and errors say what was looked for."""

import json
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, load_metric
from metrichub.data.conversations import conversation
from metrichub.errors import InputError
from metrichub.testing import Scripted

CALL = {"city": "San Francisco", "units": {"temperature": "celsius"}}

OPENAI: list[Any] = [
    {"role": "developer", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_9x",
                "type": "function",
                "function": {"name": "weather", "arguments": json.dumps(CALL)},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_9x", "content": "sunny"},
    {"role": "assistant", "content": "It is sunny."},
]
RESPONSES = {
    "instructions": "Be kind.",
    "input": "Weather?",
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I'll look it up."}]},
        {
            "type": "function_call",
            "call_id": "fc_1",
            "name": "weather",
            "arguments": json.dumps(CALL),
        },
        {"type": "function_call_output", "call_id": "fc_1", "output": "sunny"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "It is sunny."}],
        },
    ],
}
ANTHROPIC = {
    "system": "Be kind.",
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I'll look it up."},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": CALL},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "sunny"}],
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "It is sunny."}]},
    ],
}
_OTEL_INPUT = [
    {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "t", "name": "weather", "arguments": CALL}],
    },
    {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "t", "response": "sunny"}],
    },
]
_OTEL_ATTRIBUTES = {
    "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be kind."}]),
    "gen_ai.input.messages": json.dumps(_OTEL_INPUT),
    "gen_ai.output.messages": json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "It is sunny."}]}]
    ),
}
_EARLIER = {"attributes": {"gen_ai.input.messages": json.dumps(_OTEL_INPUT[:1])}}
OTEL = {"spans": [_EARLIER, {"name": "chat", "attributes": _OTEL_ATTRIBUTES}]}
OTLP = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "attributes": [
                                {"key": key, "value": {"stringValue": value}}
                                for key, value in _OTEL_ATTRIBUTES.items()
                            ]
                        }
                    ]
                }
            ]
        }
    ]
}
LANGCHAIN = [
    {"type": "system", "content": "Be kind."},
    {"type": "human", "content": "Weather?"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "weather", "args": CALL, "id": "z"}]},
    {"type": "tool", "content": "sunny", "tool_call_id": "z"},
    {"type": "ai", "content": "It is sunny."},
]


def _constructor(kind: str, **kwargs: Any) -> dict[str, Any]:
    path = ["langchain", "schema", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs}


LANGSMITH = {
    "inputs": {
        "messages": [
            [
                _constructor("SystemMessage", content="Be kind."),
                _constructor("HumanMessage", content="Weather?"),
                _constructor("AIMessage", content="", tool_calls=LANGCHAIN[2]["tool_calls"]),
                _constructor("ToolMessage", content="sunny", tool_call_id="z"),
            ]
        ]
    },
    "outputs": {
        "generations": [[{"message": _constructor("AIMessageChunk", content="It is sunny.")}]]
    },
}
LANGGRAPH = {"inputs": {"messages": LANGCHAIN[:2]}, "outputs": {"messages": LANGCHAIN}}
INSPECT = [
    {"id": "m1", "role": "system", "content": "Be kind."},
    {"role": "user", "content": "Weather?", "source": "input"},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "reasoning": "I'll look it up."},
            {"type": "text", "text": ""},
        ],
        "tool_calls": [{"id": "k", "function": "weather", "arguments": CALL, "type": "function"}],
    },
    {"role": "tool", "content": "sunny", "tool_call_id": "k", "function": "weather"},
    {"role": "assistant", "content": "It is sunny."},
]
RAGAS = [
    {"type": "system", "content": "Be kind."},
    {"type": "human", "content": "Weather?"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "weather", "args": CALL}]},
    {"type": "tool", "content": "sunny"},
    {"type": "ai", "content": "It is sunny."},
]
DEEPEVAL = {
    "turns": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": "It is sunny.",
            "tools_called": [{"name": "weather", "input_parameters": CALL, "output": "sunny"}],
        },
    ]
}
FORMATS: dict[str, Any] = {
    **{"openai": OPENAI, "responses": RESPONSES, "anthropic": ANTHROPIC, "otel": OTEL},
    **{"otlp": OTLP, "langchain": LANGCHAIN, "langsmith": LANGSMITH, "langgraph": LANGGRAPH},
    **{"inspect": INSPECT, "ragas": RAGAS, "deepeval": DEEPEVAL},
}
EMPTY: dict[str, Any] = {"calls": [], "result_of": None, "name": None, "contexts": []}
MESSAGES = [
    {"role": role, "text": text, **EMPTY, **more, "left_out": []}
    for role, text, more in [
        ("system", "Be kind.", {}),
        ("user", "Weather?", {}),
        ("assistant", "", {"calls": [{"id": "1", "name": "weather", "arguments": CALL}]}),
        ("tool", "sunny", {"result_of": "1", "name": "weather"}),
        ("assistant", "It is sunny.", {}),
    ]
]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_becomes_the_same_messages(name: str) -> None:
    assert conversation(FORMATS[name]) == MESSAGES
    assert conversation(json.dumps(FORMATS[name])) == MESSAGES


def test_messages_stay_as_they_are() -> None:
    assert conversation(MESSAGES) == MESSAGES


def test_objects_of_a_library_are_read_as_the_mappings_that_they_say_they_are() -> None:
    class Turn:
        def model_dump(self) -> dict[str, str]:
            return {"role": "user", "content": "Hello"}

    (message,) = conversation([Turn()])
    assert (message["role"], message["text"]) == ("user", "Hello")


def test_results_find_their_calls_by_id_in_any_order() -> None:
    calls = [{"id": name, "function": {"name": name, "arguments": ""}} for name in ("a", "b")]
    results = [{"role": "tool", "tool_call_id": name, "content": name} for name in ("b", "a")]
    messages = conversation([{"role": "assistant", "tool_calls": calls}, *results])
    assert [(m["result_of"], m["name"]) for m in messages[1:]] == [("2", "b"), ("1", "a")]


def test_results_without_an_id_belong_to_the_first_open_call_of_their_name() -> None:
    calls = [{"name": "a", "args": {}}, {"name": "b", "args": {}}, {"name": "a", "args": {}}]
    results = [{"type": "tool", "content": "", "name": name} for name in ("b", "a", "a")]
    messages = conversation([{"type": "ai", "content": "", "tool_calls": calls}, *results])
    assert [message["result_of"] for message in messages[1:]] == ["2", "1", "3"]


def test_arguments_that_are_not_an_object_stay_a_text() -> None:
    written = ['{"a": 1', "[1]", '{"a": 1}', ""]
    calls = [{"function": {"name": "f", "arguments": text}} for text in written]
    (message,) = conversation([{"role": "assistant", "tool_calls": calls}])
    assert [call["arguments"] for call in message["calls"]] == ['{"a": 1', "[1]", {"a": 1}, {}]


def test_thinking_is_no_text_and_other_parts_are_named() -> None:
    content = [
        {"type": "thinking", "thinking": "secret"},
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:"}},
        {"type": "text", "text": " a cat."},
    ]
    (message,) = conversation([{"role": "assistant", "content": content}])
    assert (message["text"], message["left_out"]) == ("Look: a cat.", ["image_url"])


def test_a_call_after_text_belongs_to_its_message() -> None:
    # OpenAI's Responses have two items where Chat has one message with both.
    call = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
    items = [{"role": "assistant", "content": "One moment."}, call, call | {"call_id": "2"}]
    (message,) = conversation(items)
    assert (message["text"], len(message["calls"])) == ("One moment.", 2)


def test_a_list_of_calls_is_a_message_that_makes_them() -> None:
    (message,) = conversation([{"name": "f", "input_parameters": {"a": 1}}, {"name": "g"}])
    assert message["role"] == "assistant"
    assert [call["name"] for call in message["calls"]] == ["f", "g"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("Hello!", "isn't JSON, and begins 'Hello!'"),
        ("", "isn't JSON"),
        (None, "is None"),
        (3, "is 3 (int)"),
        (["Hi"], "its entry 0 is 'Hi' (str)"),
        ([{"role": "user", "content": "Hi"}, {"content": "Ho"}], "its entry 1 has no role"),
        ([{"role": "robot", "content": "Hi"}], "its entry 0 has the role 'robot'"),
        ({"text": "Hi"}, "it is an object with 'text'"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "1"}]}],
            "a tool call in it doesn't name a tool",
        ),
        ({"spans": [{"attributes": {"gen_ai.system": "x"}}]}, "no span has gen_ai.input.messages"),
        ("[" * 100_000, "isn't"),
    ],
)
def test_an_error_says_what_is_there_and_what_is_read(value: object, problem: str) -> None:
    hub = Hub(load_metric("role_adherence", judge=Scripted({}), role="a clerk"))
    with pytest.raises(InputError) as caught:
        hub.evaluate(messages=[OPENAI, value])
    assert "messages[1] isn't a conversation" in str(caught.value)
    assert problem in str(caught.value)
    assert "LangSmith, inspect, ragas or deepeval" in str(caught.value)


@pytest.mark.parametrize("column", ["messages", "conversation", "turns", "trajectory", "trace"])
def test_metrics_of_text_read_the_last_answer_with_a_note(column: str) -> None:
    talk = [*OPENAI, {"role": "assistant", "content": None}, {"role": "user", "content": "Thanks!"}]
    data = {column: [talk], "references": ["It is sunny."]}
    report = Hub("exact_match").evaluate(data)
    assert report.scores() == {"exact_match": {"score": 1.0}}
    (note,) = report.notes()["exact_match"]
    assert note.startswith(f"predictions were read from {column}: the last text of the assistant")


def test_a_column_that_is_mapped_to_messages_has_the_predictions_too() -> None:
    data = {"talk": [OPENAI], "references": ["It is sunny."]}
    report = Hub("exact_match").evaluate(data, columns={"messages": "talk"})
    assert report.scores() == {"exact_match": {"score": 1.0}}
    assert "predictions were read from talk: the last text" in report.notes()["exact_match"][0]
    scores = Hub("call_repetition")({"talk": ["Hi"]}, columns={"predictions": "talk"})
    assert scores["call_repetition"]["score"] == 0


def test_predictions_win_over_a_conversation() -> None:
    data = {"predictions": ["It rains."], "messages": [OPENAI], "references": ["It rains."]}
    assert Hub("exact_match")(data) == {"exact_match": {"score": 1.0}}


def test_a_conversation_without_an_answer_is_an_empty_prediction() -> None:
    data = {"messages": [OPENAI[:2]], "references": ["It is sunny."]}
    assert Hub("exact_match")(data) == {"exact_match": {"score": 0.0}}


def test_a_conversation_among_predictions_is_told_where_it_belongs() -> None:
    with pytest.raises(InputError, match="a conversation belongs in the column messages"):
        Hub("exact_match")(predictions=[OPENAI], references=["It is sunny."])


@pytest.mark.parametrize(
    "value",
    [
        [{"role": {}}],
        [{"role": "assistant", "tool_calls": 5}],
        [{"role": "assistant", "retrieval_context": 5}],
        {"resourceSpans": [5]},
        {"inputs": {}, "outputs": {"generations": [[{}]]}},
    ],
)
def test_what_is_malformed_inside_is_an_error_of_its_sample(value: Any) -> None:
    for form in (value, json.dumps(value)):
        with pytest.raises(InputError, match=r"messages\[1\] isn't a conversation: "):
            Hub("call_repetition")(messages=[OPENAI, form])


@pytest.mark.parametrize("arguments", ['{"x": NaN}', '{"x": Infinity}', "[1]", "{"])
def test_arguments_that_are_no_json_object_stay_as_they_were_written(arguments: str) -> None:
    call = {"function": {"name": "f", "arguments": arguments}}
    (message,) = conversation([{"role": "assistant", "tool_calls": [call]}])
    assert message["calls"][0]["arguments"] == arguments


def test_arguments_that_are_nested_too_deeply_stay_text() -> None:
    # Deeper than any Python reads: some read a thousand levels.
    written = '{"a": ' * 20_000 + "1" + "}" * 20_000
    (message,) = conversation([{"name": "f", "arguments": written}])
    assert message["calls"][0]["arguments"] == written
    nested: dict[str, Any] = {}
    for _ in range(2_000):
        nested = {"a": nested}
    with pytest.raises(ValueError, match="nested too deeply"):
        conversation([{"name": "f", "arguments": nested}])


def test_what_only_libraries_have_becomes_json() -> None:
    # As pandas reads Parquet: arrays inside of arrays, and nan for what is missing.
    call = {"name": "f", "args": {"tags": np.array(["a", "b"]), "pair": (1, 2), 3: float("nan")}}
    calls = np.array([call, {"name": "g", "args": {}}], object)
    entry = {"role": "ai", "content": "", "tool_calls": calls, "contexts": np.array(["p", "q"])}
    (message,) = conversation(np.array([entry], object))
    first, second = message["calls"]
    assert first["arguments"] == {"tags": ["a", "b"], "pair": [1, 2], "3": None}
    assert (second["name"], message["contexts"]) == ("g", ["p", "q"])


@pytest.mark.parametrize("key", ["arguments", "args", "input"])
def test_arguments_are_an_object_or_a_text_whatever_was_written(key: str) -> None:
    written = [[1, "ä"], 5, True, {"x": float("inf")}]
    calls = [{"name": "f", key: value} for value in written]
    read = ['[1, "ä"]', "5", "true", {"x": None}]
    for value in (calls, json.dumps(calls), json.dumps(calls).replace("Infinity", "1e999")):
        (message,) = conversation(value)
        assert [call["arguments"] for call in message["calls"]] == read


def test_fields_of_other_types_keep_messages_well_formed() -> None:
    odd: Any = {"name": 3.5, "refusal": ["no"], "left_out": [{"a": 1}], "contexts": "a passage"}
    text, result = conversation([{"role": "user", **odd}, {"role": "tool", **odd, "function": {}}])
    assert (text["name"], text["text"], result["name"]) == (None, "['no']", None)
    assert text["left_out"] == result["left_out"] == ["{'a': 1}"]
    assert text["contexts"] == result["contexts"] == ["a passage"]


def test_null_in_a_row_of_a_table_is_a_missing_key() -> None:
    # Parquet has one type for all objects of a column, and null where one lacks a key.
    parts = [
        {"type": "text", "text": None, "content": "Hi"},
        {"type": "tool_call_response", "id": "1", "content": None, "response": "sunny"},
    ]
    entry = {"role": "user", "parts": None, "content": parts, "left_out": None, "tool_calls": None}
    result, message = conversation([entry])
    assert (result["text"], message["text"], message["left_out"]) == ("sunny", "Hi", [])
    (message,) = conversation([{"role": "user", "content": None, "text": "Hi"}])
    assert message["text"] == "Hi"


def test_what_a_server_ran_within_a_message_follows_its_call() -> None:
    # Anthropic's server tools: one message with the call, the result, and what is said of it.
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "tea"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": "Tea is a drink."},
        {"type": "text", "text": "Tea is a drink."},
    ]
    messages = conversation([{"role": "assistant", "content": content}])
    assert [message["role"] for message in messages] == ["assistant", "tool"]
    assert messages[1]["result_of"] == "1"
    assert conversation(messages) == messages


def test_a_call_in_what_a_tool_returns_is_not_made() -> None:
    part = {"type": "tool_use", "id": "x", "name": "f", "input": {}}
    messages = conversation([{"role": "tool", "content": [part]}])
    assert (messages[0]["calls"], messages[0]["left_out"]) == ([], ["tool_use"])
    assert conversation(messages) == messages


def test_nesting_without_end_is_no_conversation() -> None:
    endless: list[Any] = []
    endless.append({"role": "user", "content": endless})
    for value in (endless, "[" * 100_000):
        with pytest.raises(ValueError, match="isn't a conversation"):
            conversation(value)


@pytest.mark.parametrize("question", [{"resourceSpans": [5]}, [{"role": {}}]])
def test_a_malformed_question_is_an_error_of_its_sample(question: Any) -> None:
    with pytest.raises(InputError, match=r"messages\[0\] can't begin with the question"):
        Hub("call_repetition")(question=[question], response=["Yes."])
