"""Tool calls as JSON text: the forms that are read, equality of values, and the best pairing."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards._bases.pairing import best_pairing
from metric_cards._bases.tool_calls import Call, read_calls
from metrichub import Hub, InputError
from tests.oracles.text_twins import any_text

PARIS = [Call("weather", {"city": "Paris"})]


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "weather", "arguments": {"city": "Paris"}}]',
        '[{"name": "weather", "args": {"city": "Paris"}}]',
        '[{"id": "1", "function": {"name": "weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}]',
        '[{"type": "function", "function": {"name": "weather", "arguments": {"city": "Paris"}}}]',
        '[{"name": "weather", "arguments": {"city": "Bonn", "city": "Paris"}, "args": {}}]',
        '{"role": "assistant", "content": null, "tool_calls": [{"name": "weather", "args": '
        '{"city": "Paris"}}]}',
        # As OpenAI's older clients dump a message.
        '{"role": "assistant", "content": null, "tool_calls": null, "function_call": '
        '{"name": "weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}',
        '{"role": "assistant", "content": null, "tool_calls": [], "function_call": '
        '{"name": "weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}',
    ],
)
def test_every_documented_form_is_read(text):
    assert read_calls(text) == (tuple(PARIS), None)


@pytest.mark.parametrize("sent_as", [dict, json.dumps, lambda message: [message]])
def test_a_message_as_a_server_sends_it_has_the_score_of_its_calls(sent_as):
    function = {"name": "weather", "arguments": '{"city": "Paris"}'}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": function}],
    }
    expected = [{"name": "weather", "arguments": {"city": "Paris"}}]
    for metric in ("tool_call_f1", "tool_call_accuracy"):
        report = Hub(metric).evaluate(predictions=[sent_as(message)], references=[expected])
        assert report.scores()[metric]["score"] == 1.0


CONVERSATION = [
    {"role": "user", "content": "How is the weather in Paris?"},
    {
        "role": "assistant",
        "tool_calls": [{"function": {"name": "weather", "arguments": '{"city": "Paris"}'}}],
    },
    {"role": "tool", "name": "weather", "content": "It rains."},
]


PLAIN = [{"name": "weather", "arguments": {"city": "Paris"}}]
# The same conversation as other APIs write it.
CONVERSATIONS = {
    "OpenAI": CONVERSATION,
    "OpenAI's request": {"model": "m", "messages": CONVERSATION},
    "OpenAI's responses": [
        {"role": "user", "content": "How is the weather in Paris?"},
        {
            "type": "function_call",
            "call_id": "c",
            "name": "weather",
            "arguments": '{"city": "Paris"}',
        },
        {"type": "function_call_output", "call_id": "c", "output": "It rains."},
    ],
    "Anthropic": [
        {"role": "user", "content": "How is the weather in Paris?"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Paris"}}
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "-"}]},
    ],
    "Anthropic's message": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Paris"}}],
    },
    "OpenTelemetry": [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "name": "weather", "arguments": {"city": "Paris"}}],
        }
    ],
    "LangChain": [
        {"type": "human", "content": "How is the weather?", "name": "Ann"},
        {"type": "ai", "content": "", "name": "agent", "tool_calls": PLAIN},
    ],
    "deepeval": {"turns": [{"role": "assistant", "content": "Rain.", "tools_called": PLAIN}]},
}


@pytest.mark.parametrize("metric", ["tool_call_f1", "tool_call_accuracy"])
@pytest.mark.parametrize("form", CONVERSATIONS)
@pytest.mark.parametrize("as_text", [True, False])
def test_the_calls_of_a_whole_conversation_are_read(metric, form, as_text):
    value = json.dumps(CONVERSATIONS[form]) if as_text else CONVERSATIONS[form]
    other = [{"name": "weather", "arguments": {"city": "Rome"}}]
    report = Hub(metric).evaluate(
        predictions=[value, PLAIN, value], references=[PLAIN, value, other]
    )
    assert report.samples()[metric]["score"].tolist() == [1, 1, 0]
    assert report.scores()[metric]["parsed"] == 1


@pytest.mark.parametrize("form", CONVERSATIONS)
def test_the_calls_of_a_conversation_are_matched_by_the_rules_of_bfcl(form):
    expected = [{"weather": {"city": ["Paris"]}}]
    weather = {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}
    for value in (CONVERSATIONS[form], json.dumps(CONVERSATIONS[form])):
        for name in ("predictions", "messages"):
            columns = {name: [value], "references": [expected], "functions": [[weather]]}
            assert Hub("tool_call_match")(**columns)["tool_call_match"]["score"] == 1


@pytest.mark.parametrize(
    "part",
    [
        {"functionCall": {"name": "weather", "args": {"city": "Paris"}}, "thoughtSignature": "Cu"},
        {"functionCall": {"name": "weather", "args": {"city": "Paris"}}},
        {"toolUse": {"toolUseId": "t", "name": "weather", "input": {"city": "Paris"}}},
        {"tool_call": {"tool_name": "weather", "arguments": {"city": "Paris"}}},
    ],
)
def test_a_part_whose_key_names_a_call_is_no_tool_of_that_name(part):
    weather = {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}
    for form in ([part], json.dumps([part])):
        for city, score in (("Paris", 1), ("Rome", 0)):
            bfcl = {"references": [[{"weather": {"city": [city]}}]], "functions": [[weather]]}
            assert (
                Hub("tool_call_match")(predictions=[form], **bfcl)["tool_call_match"]["score"]
                == score
            )
            expected = [{"name": "weather", "arguments": {"city": city}}]
            scores = Hub("tool_call_f1")(predictions=[form], references=[expected])
            assert scores["tool_call_f1"]["score"] == score
    # BFCL's form of a call of a tool that has such a name.
    assert read_calls('[{"toolUse": {"city": "Paris"}}]', plain=True).calls[0].name == "toolUse"


@pytest.mark.parametrize("metric", ["tool_call_f1", "tool_call_accuracy"])
@pytest.mark.parametrize("name", ["messages", "conversation", "trace"])
def test_the_calls_of_messages_count_where_there_is_no_prediction(metric, name):
    report = Hub(metric).evaluate([{name: CONVERSATION, "references": PLAIN}])
    assert report.scores()[metric]["score"] == 1
    assert not report.notes()
    row = {name: CONVERSATION, "references": PLAIN, "predictions": "[]"}
    assert Hub(metric)([row])[metric]["score"] == 0


@pytest.mark.parametrize("metric", ["tool_call_f1", "tool_call_accuracy"])
def test_two_conversations_are_compared_by_their_calls(metric):
    columns = {"messages": [CONVERSATION], "reference_messages": [CONVERSATIONS["Anthropic"]]}
    assert Hub(metric)(**columns)[metric]["score"] == 1


def test_beside_a_metric_of_text_a_conversation_is_its_last_answer():
    answer = {"role": "assistant", "content": "It rains."}
    columns = {"messages": [[*CONVERSATION, answer]], "references": ["It rains."]}
    assert Hub("exact_match")(**columns)["exact_match"]["score"] == 1


def test_one_call_with_broken_arguments_makes_a_conversation_unreadable():
    for arguments in ('{"city": ', '{"city": NaN}', "[1]"):
        call = {"name": "weather", "arguments": arguments}
        conversation = [*CONVERSATION, {"role": "assistant", "tool_calls": [call]}]
        for value in (conversation, json.dumps(conversation)):
            scores = Hub("tool_call_f1")(predictions=[value], references=[PLAIN])["tool_call_f1"]
            assert (scores["score"], scores["parsed"]) == (0, 0)


def test_arguments_of_any_depth_have_a_score():
    deep = '{"a":' * 600 + "1" + "}" * 600
    messages = [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": deep}]}]
    scores = Hub("tool_call_f1")(predictions=[json.dumps(messages)], references=["[]"])
    assert scores["tool_call_f1"]["score"] == 0


@pytest.mark.parametrize("metric", ["tool_call_f1", "tool_call_accuracy"])
def test_a_note_says_that_no_prediction_has_calls(metric):
    # As a text it is a model's answer, which never raises.
    report = Hub(metric).evaluate(predictions=["Paris"], references=["[]"])
    (note,) = report.notes()[metric]
    assert note == (
        "no prediction is a JSON list of tool calls or a conversation, so that all score 0"
    )
    with pytest.raises(InputError, match="its entry 0 has the role 'poet'"):
        Hub(metric).evaluate(predictions=[[{"role": "poet"}]], references=["[]"])


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": {}}]',
        '[{"role": "assistant", "tool_calls": 5}]',
        '[{"role": "assistant", "retrieval_context": 5}]',
        '{"inputs": {}, "outputs": {"generations": [[{}]]}}',
        '{"resourceSpans": [5]}',
        '{"messages": 5}',
        '{"messages": []}',
    ],
)
def test_what_only_looks_like_a_conversation_is_no_list_of_calls(text):
    assert read_calls(text).problem


@pytest.mark.parametrize("more", ["", ', "arguments": null', ', "args": ""', ', "arguments": {}'])
def test_a_call_may_have_no_arguments(more):
    assert read_calls(f'[{{"name": "clock"{more}}}]') == ((Call("clock", {}),), None)


@pytest.mark.parametrize("text", ["[]", "null", " [ ] ", '{"content": "Hi.", "tool_calls": null}'])
def test_an_empty_list_and_null_are_no_calls(text):
    assert read_calls(text) == ((), None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it isn't JSON (empty)"),
        ("It is sunny.", "it isn't JSON (syntax)"),
        ('[{"name": "a"', "it isn't JSON (truncated)"),
        ('{"name": "a"}', "it is JSON, but not a list"),
        ("0", "it is JSON, but not a list"),
        ('[{"name": "a"}, "a"]', "its entry 1 doesn't name a tool"),
        ('[{"args": {}}]', "its entry 0 doesn't name a tool"),
        ('[{"name": 1}]', "its entry 0 doesn't name a tool"),
        ('[{"function": ["a"]}]', "its entry 0 doesn't name a tool"),
        ('[{"type": "function", "function": {"name": 1}}]', "its entry 0 doesn't name a tool"),
        ('[{"name": "a", "args": [1]}]', "its entry 0 has arguments that aren't an object"),
        ('[{"name": "a", "args": false}]', "its entry 0 has arguments that aren't an object"),
        ('[{"name": "a", "args": "[1]"}]', "its entry 0 has arguments that aren't an object"),
        ('[{"name": "a", "args": "{"}]', "its entry 0 has arguments that aren't JSON (truncated)"),
        ('[{"name": "a", "args": {"b": NaN}}]', "it isn't JSON (syntax)"),
    ],
)
def test_anything_else_is_no_list_of_calls_and_the_problem_is_said(text, problem):
    assert read_calls(text) == ((), problem)


@given(any_text, st.booleans())
def test_any_text_is_read_or_has_a_problem(text, wrapped):
    calls = read_calls(json.dumps([{"name": "a", "args": text}]) if wrapped else text)
    assert calls.problem is None or not calls.calls


@pytest.mark.parametrize(
    ("entry", "other", "equal"),
    [
        ("75", "75.0", True),
        ("1e2", "100", True),
        ("75", '"75"', False),
        # Python's True is 1.
        ("true", "1", False),
        ("[true]", "[1]", False),
        ("false", "0.0", False),
        ("null", "false", False),
        ("[]", "{}", False),
        ("[1, 2]", "[2, 1]", False),
        ('{"a": 1, "b": [2]}', '{"b": [2.0], "a": 1}', True),
        ('{"a": true}', '{"a": 1}', False),
        ('["array", 1]', '[["array", 1]]', False),
        ('["boolean", true]', "true", False),
        ('"\\u00e9"', '"é"', True),
    ],
)
def test_values_are_equal_where_they_are_equal_as_json(entry, other, equal):
    first, second = (read_calls(f'[{{"name": "a", "args": {{"x": {v}}}}}]') for v in (entry, other))
    assert (first == second) is equal
    # What is equal has to have one hash, or sets would tell them apart.
    hashes = {hash(result.calls[0].arguments["x"]) for result in (first, second)}
    assert not equal or len(hashes) == 1


squares = st.integers(1, 5).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 6).map(lambda n: n / 6), min_size=size, max_size=size),
        min_size=size,
        max_size=size,
    )
)


@given(squares)
def test_the_best_pairing_is_the_best_of_all_permutations(square):
    rows = range(len(square))
    best = max(sum(square[i][j] for i, j in enumerate(order)) for order in permutations(rows))
    assert best_pairing(np.array(square)) == pytest.approx(best)


@pytest.mark.parametrize("size", [30, 80])
def test_the_best_pairing_of_many_is_scipys(size):
    optimize = pytest.importorskip("scipy.optimize", reason="needs scipy, the reference here")
    scores = np.random.default_rng(size).integers(0, 5, (size, size)) / 4
    picked = optimize.linear_sum_assignment(scores, maximize=True)
    assert best_pairing(scores) == pytest.approx(scores[picked].sum())


MADE = [{"name": "weather", "args": {"city": "Paris"}}, {"name": "clock", "args": {}}]
RAGAS = {
    "user_input": [
        {"type": "human", "content": "What is it like in Paris?"},
        {"type": "ai", "content": "I look.", "tool_calls": MADE[:1]},
        {"type": "tool", "content": "Rain."},
        {"type": "ai", "content": "And the time.", "tool_calls": MADE[1:]},
        {"type": "ai", "content": "It rains.", "tool_calls": None},
    ],
    "reference": "It rains.",
    "reference_tool_calls": MADE,
}
DEEPEVAL = {
    "input": "What is it like in Paris?",
    "actual_output": "It rains.",
    "expected_output": "It rains.",
    "tools_called": [{"name": c["name"], "input_parameters": c["args"]} for c in MADE],
    "expected_tools": [{"name": c["name"], "inputParameters": c["args"]} for c in MADE],
}


@pytest.mark.parametrize("row", [RAGAS, DEEPEVAL])
@pytest.mark.parametrize("metric", ["tool_call_f1", "tool_call_accuracy"])
def test_the_calls_in_rows_of_other_frameworks_are_read(metric, row, tmp_path):
    assert Hub(metric)([row])[metric]["score"] == 1.0
    assert Hub(metric)(**{name: [value] for name, value in row.items()})[metric]["score"] == 1.0
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row))
    assert Hub(metric)(path)[metric]["score"] == 1.0


def test_a_conversation_without_a_call_made_none():
    row = RAGAS | {"user_input": RAGAS["user_input"][:1]}
    assert Hub("tool_call_f1")([row])["tool_call_f1"]["score"] == 0.0
    assert Hub("tool_call_f1")([row | {"reference_tool_calls": []}])["tool_call_f1"]["score"] == 1.0


def test_columns_that_were_chosen_win_over_those_of_frameworks():
    rows = [DEEPEVAL | {"predictions": "[]"}]
    assert Hub("tool_call_f1")(rows)["tool_call_f1"]["score"] == 0.0
    rows = [DEEPEVAL | {"mine": MADE[:1]}]
    report = Hub("tool_call_f1").evaluate(rows, columns={"predictions": "mine"})
    # One of two calls, and no other.
    assert report["tool_call_f1"]["score"] == pytest.approx(2 / 3)
    # Else the calls would be looked for in the text of `actual_output`, and a perfect case be 0.
    report = Hub("tool_call_f1").evaluate([DEEPEVAL], columns={"references": "expected_tools"})
    assert report["tool_call_f1"]["score"] == 1.0


def test_texts_of_such_rows_are_read_by_other_metrics():
    assert Hub("exact_match")([DEEPEVAL])["exact_match"]["score"] == 1.0


def test_messages_of_a_table_have_null_for_the_keys_of_others():
    # inspect writes the function beside a result; in a table, all messages have the key.
    ask = {"role": "user", "content": "Hi", "tool_calls": None, "function": None}
    call = {"id": "k", "function": "clock", "arguments": {}, "type": "function"}
    message = {"role": "assistant", "content": "", "tool_calls": [call], "function": None}
    assert Hub("tool_call_f1")(messages=[[ask, message]], references=['[{"name": "clock"}]']) == {
        "tool_call_f1": {"score": 1, "precision": 1, "recall": 1, "parsed": 1}
    }
