"""Exchanges: a question and its prediction are a conversation to metrics of conversations."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.data.batch import Batch
from metrichub.data.metadata import Frame
from metrichub.errors import InputError, MissingColumn
from metrichub.testing import Scripted

ASKED = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "My chest hurts."},
]
NEEDED = {"messages": "criteria"}


def _read(data: Any, **options: Any) -> list[list[tuple[str, str]]]:
    """The roles and the texts of every sample's messages, of a table and of columns by name."""
    read = []
    for table in (data, Frame.of_columns(data)):
        (block,) = Batch.from_data(table, NEEDED, **options).blocks()
        rows = block.view(("messages",)).arguments["messages"]
        read.append([[(m["role"], m["text"]) for m in messages] for messages in rows])
    assert read[0] == read[1]
    return read[0]


@pytest.mark.parametrize("names", [("questions", "predictions"), ("input", "actual_output")])
def test_a_question_and_its_prediction_are_an_exchange(names: tuple[str, str]) -> None:
    data = dict(zip(names, (["Why?", ""], ["So.", "Yes."]), strict=True))
    assert _read(data) == [[("user", "Why?"), ("assistant", "So.")], [("assistant", "Yes.")]]


def test_a_prediction_alone_is_a_message_of_the_assistant() -> None:
    assert _read({"predictions": ["So.", ""]}) == [[("assistant", "So.")], [("assistant", "")]]


@pytest.mark.parametrize("name", ["prompt", "questions", "user_input"])
def test_a_prediction_goes_on_with_the_conversation_that_asks(name: str) -> None:
    begun = [("system", "Be brief."), ("user", "My chest hurts."), ("assistant", "Call 112.")]
    assert _read({name: [ASKED], "response": ["Call 112."]}) == [begun]


def test_a_conversation_that_ends_with_an_answer_is_whole() -> None:
    conversation = [*ASKED, {"role": "assistant", "content": "Call 112."}]
    read = _read({"user_input": [conversation], "response": ["Call 112."]})
    assert [role for role, _ in read[0]] == ["system", "user", "assistant"]


def test_predictions_that_are_conversations_stay_as_they_are() -> None:
    asked = {"predictions": [json.dumps(ASKED)], "questions": ["My chest hurts."]}
    assert _read(asked) == [[("system", "Be brief."), ("user", "My chest hurts.")]]


def test_one_conversation_among_the_predictions_means_that_all_are() -> None:
    with pytest.raises(InputError, match=r"messages\[1\] isn't a conversation"):
        _read({"predictions": [json.dumps(ASKED), '[{"role": "us']})


def test_json_that_is_no_conversation_is_a_text() -> None:
    assert _read({"predictions": ['{"city": "Oslo"}']}) == [[("assistant", '{"city": "Oslo"}')]]


def test_columns_under_other_names_can_be_mapped() -> None:
    mapping = {"messages": "reply", "questions": "ask"}
    read = _read({"ask": ["Why?"], "reply": ["So."]}, mapping=mapping)
    assert read == [[("user", "Why?"), ("assistant", "So.")]]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            {"user_input": ["Why?"], "response": [["a", "b"]]},
            "as the answer; it has to be one text",
        ),
        ({"questions": [{"a": 1}], "predictions": ["So."]}, "can't begin with the question"),
    ],
)
def test_what_makes_no_conversation_is_an_error(data: Any, problem: str) -> None:
    with pytest.raises(InputError, match=r"messages\[0\] can't") as caught:
        Batch.from_data(data, NEEDED)
    assert problem in str(caught.value)


def test_questions_and_predictions_are_equally_many() -> None:
    data = {"questions": ["Why?"], "predictions": ["So.", "No."]}
    for table in (data, Frame.of_columns(data)):
        with pytest.raises(InputError, match="differ in length: predictions has 2, questions has"):
            Batch.from_data(table, NEEDED)


def test_a_report_says_what_its_conversations_were_made_of() -> None:
    hub = Hub("role_adherence(role='a clerk')", judge=Scripted({"in_role": ["yes"]}))
    (note,) = hub.evaluate(questions=["Why?"], predictions=["So."]).notes()["role_adherence"]
    remark = "messages were read from questions and predictions; if that is wrong, map messages to"
    assert note.startswith(remark)


CALLED = [{"name": "lookup", "input_parameters": {"q": "pain"}, "output": "serious"}]


@pytest.mark.parametrize("end", [ASKED, [*ASKED, {"role": "tool", "content": "serious"}]])
def test_a_prediction_beside_messages_is_their_reply(end: Any) -> None:
    before = [*_read({"messages": [end]})[0]]
    read = _read({"messages": [end], "prediction": ["Call 112."]})
    assert read == [[*before, ("assistant", "Call 112.")]]


def test_messages_that_end_with_the_assistant_have_their_reply() -> None:
    conversation = [*ASKED, {"role": "assistant", "content": "Call 112."}]
    data = {"messages": [conversation, ASKED], "response": ["Another.", None]}
    assert [len(messages) for messages in _read(data)] == [3, 2]


def test_a_report_says_where_a_reply_beside_messages_was_read_from() -> None:
    hub = Hub("role_adherence(role='a clerk')", judge=Scripted({"in_role": ["yes"]}))
    report = hub.evaluate(messages=[ASKED], prediction=["Call 112."])
    assert report.notes()["role_adherence"] == [
        "messages were read from messages and prediction; if that is wrong, map messages to "
        "another column"
    ]
    conversation = [*ASKED, {"role": "assistant", "content": "Call 112."}]
    assert not hub.evaluate(messages=[conversation], prediction=["Call 112."]).notes()


def test_a_question_calls_and_an_answer_are_one_conversation() -> None:
    data = {"input": ["Does it hurt?"], "actual_output": ["Call 112."], "tools_called": [CALLED]}
    assert _read(data) == [
        [
            ("user", "Does it hurt?"),
            ("assistant", ""),
            ("tool", "serious"),
            ("assistant", "Call 112."),
        ]
    ]


@pytest.mark.parametrize("called", [[], None, "[]"])
def test_a_question_without_calls_has_its_answer(called: Any) -> None:
    data = {"input": ["Why?"], "actual_output": ["So."], "tools_called": [called]}
    assert _read(data) == [[("user", "Why?"), ("assistant", "So.")]]


def test_calls_alone_are_the_conversation() -> None:
    assert _read({"tools_called": [CALLED, [], ["search"]]}) == [
        [("assistant", ""), ("tool", "serious")],
        [],
        [("assistant", "")],
    ]


def test_calls_that_cannot_be_read_are_an_error_of_their_sample() -> None:
    with pytest.raises(InputError, match=r"messages\[1\] .*a tool call in it doesn't name a tool"):
        _read({"tools_called": [CALLED, [{"id": "1"}]]})


WHOLE = [*ASKED, {"role": "assistant", "content": "Call 112."}]


def test_the_conversations_of_ragas_are_the_predictions_of_its_metrics() -> None:
    # AgentGoalAccuracyWithReference and TopicAdherenceScore have no other column.
    judge = Scripted(
        {"reached": ["yes"], "asked": ["chest pain"], "answered": ["yes"], "allowed": ["yes"]}
    )
    goal = Hub("goal_accuracy", judge=judge).evaluate(user_input=[WHOLE], reference=["Help."])
    assert goal.scores()["goal_accuracy"]["score"] == 1.0
    assert goal.texts is not None
    assert '"text": "Call 112."' in goal.texts[0]["predictions"]
    assert not goal.notes()
    topics = Hub("topic_adherence", judge=judge)
    scores = topics(user_input=[WHOLE], reference_topics=[["health"]])
    assert scores["topic_adherence"]["score"] == 1.0


def test_the_last_answer_in_user_input_is_a_prediction_with_a_note() -> None:
    report = Hub("exact_match").evaluate(user_input=[WHOLE], reference=["Call 112."])
    assert report.scores() == {"exact_match": {"score": 1.0}}
    assert "read from user_input: the last text" in report.notes()["exact_match"][0]


@pytest.mark.parametrize("metric", ["exact_match", "goal_accuracy"])
def test_a_question_is_no_prediction(metric: str) -> None:
    hub = Hub(metric, judge=Scripted({"reached": ["yes"]}) if metric != "exact_match" else None)
    with pytest.raises(MissingColumn, match="the metrics need predictions"):
        hub(user_input=["Why?"], reference=["So."])


def test_the_role_of_a_chatbot_of_deepeval_is_read() -> None:
    hub = Hub("role_adherence", judge=Scripted({"in_role": ["yes"]}))
    scores = hub(turns=[WHOLE], chatbot_role=["a nurse"])
    assert scores["role_adherence"]["score"] == 1.0


def test_the_calls_of_messages_are_compared_with_the_reference_calls_of_ragas() -> None:
    turn = {"role": "assistant", "content": None, "tool_calls": [{"name": "a", "args": {}}]}
    data = {"messages": [[*ASKED, turn]], "reference_tool_calls": [[{"name": "a", "args": {}}]]}
    for metric in ("tool_call_f1", "tool_call_accuracy"):
        assert Hub(metric)(data)[metric]["score"] == 1.0


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('{"messages": null}', "give it a list of messages or leave the sample out"),
        ('{"role": "user", "content": "Why?"}', "these are messages; write each conversation as"),
    ],
)
def test_a_file_without_conversations_is_told_what_to_write(
    lines: str, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text(lines)
    with pytest.raises(InputError) as caught:
        Hub("call_repetition")(path)
    assert problem in str(caught.value)
    assert "'' is valid" not in str(caught.value)


@pytest.mark.parametrize("messages", [ASKED, [{"type": "human", "content": "Why?"}]])
def test_one_conversation_in_place_of_a_list_is_named_as_such(messages: Any) -> None:
    with pytest.raises(InputError, match=r"it is one message.*messages=\[conversation\]"):
        _read({"messages": messages})


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        (CALLED, [{"name": "lookup", "input_parameters": {"q": "pain"}}]),
        (["lookup"], ["lookup"]),
        ("lookup", [{"name": "lookup"}]),
    ],
)
def test_calls_are_compared_with_calls_alone(called: Any, expected: Any) -> None:
    # The reference has no question, output and answer, which would be messages too many.
    row = {"input": "Does it hurt?", "actual_output": "Call 112."}
    row |= {"tools_called": called, "expected_tools": expected}
    assert Hub("trajectory_match")([row])["trajectory_match"]["score"] == 1.0


@pytest.mark.parametrize("reply", [WHOLE[-1], [WHOLE[-1]]])
def test_a_reply_beside_messages_may_be_a_message(reply: Any) -> None:
    read = _read_rows([{"messages": ASKED, "response": reply}])
    assert [text for _, text in read[0]][-1] == "Call 112."


def test_what_is_no_reply_leaves_messages_as_they_are() -> None:
    assert len(_read_rows([{"messages": ASKED, "output": {"tokens": 5}}])[0]) == len(ASKED)


def _read_rows(rows: list[dict[str, Any]]) -> list[list[tuple[str, str]]]:
    (block,) = Batch.from_data(rows, NEEDED).blocks()
    read = block.view(("messages",)).arguments["messages"]
    return [[(m["role"], m["text"]) for m in messages] for messages in read]
