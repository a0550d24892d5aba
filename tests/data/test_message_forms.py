"""Forms of messages beside the usual ones: Gemini, Bedrock, older LangChain, loose fields."""

from typing import Any

import pytest

from metrichub import Hub
from metrichub.data.conversations import conversation

ARGUMENTS = {"city": "Bern"}
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
        {"toolUse": {"toolUseId": own, "name": own, "input": {}}} for own in ("a", "b")
    ]
    results = [{"toolResult": {"toolUseId": own, "content": [{"text": own}]}} for own in ("b", "a")]
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
