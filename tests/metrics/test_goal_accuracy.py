"""Goal accuracy: whether a conversation reached its outcome, or the goals of its user."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted
from tests.judge_toys import Ruling

NAME = "goal_accuracy"


def eyewitness(**script: Any) -> Ruling:
    """A judge to which an outcome is reached that the conversation names word for word."""
    return Ruling(script, rule=lambda goal, fields: goal in fields["conversation"])


def evaluated(talks: Sequence[Any], references: Sequence[Any], **how: Any) -> Report:
    hub = Hub(load_metric(NAME, judge=eyewitness()))
    return hub.evaluate(predictions=talks, references=references, **how)


def inferred(goals: Sequence[str], talk: str) -> Report:
    judge = eyewitness(goals=goals)
    hub = Hub(load_metric(NAME, judge=judge, inferred=True))
    return hub.evaluate(predictions=[talk])


@pytest.mark.parametrize(("reference", "expected"), [("booked", 1), ("paid", 0)])
def test_a_given_outcome_is_reached_or_not(reference: str, expected: int) -> None:
    assert evaluated(["it is booked"], [reference]).scores() == {NAME: {"score": expected}}


def test_several_references_are_alternatives_or_with_the_mean_goals() -> None:
    # One of the two is reached.
    talks, references = ["a table"], [["table", "taxi"]]
    assert evaluated(talks, references).scores()[NAME]["score"] == 1
    assert evaluated(talks, references, reduce="mean").scores()[NAME]["score"] == 0.5


@pytest.mark.parametrize(
    ("goals", "expected"),
    [
        (["table", "taxi"], 1 / 2),
        (["taxi", "table"], 1 / 2),
        (["table"], 1),
        (["taxi"], 0),
        (["table", "taxi", "menu"], 1 / 3),
    ],
)
def test_without_a_reference_it_is_the_share_of_the_inferred_goals(
    goals: list[str], expected: float
) -> None:
    report = inferred(goals, "a table")
    assert report.scores()[NAME]["score"] == pytest.approx(expected)


def test_the_goals_are_looked_for_in_the_conversation_and_no_reference_is_read() -> None:
    seen: list[Fields] = []

    def goals(fields: Fields) -> list[str]:
        seen.append(fields)
        return ["x"]

    judge = eyewitness(goals=goals)
    metric = load_metric(NAME, judge=judge, inferred=True)
    assert metric.inputs() == ("prediction",)
    Hub(metric)(predictions=["talk"])
    assert seen == [{"conversation": "talk"}]
    assert judge.asked == [(["x"], {"conversation": "talk"})]


def test_with_a_reference_no_goal_is_inferred() -> None:
    judge = eyewitness()
    Hub(load_metric(NAME, judge=judge))(predictions=["talk"], references=["outcome"])
    assert judge.asked == [(["outcome"], {"conversation": "talk"})]


def test_without_a_goal_it_is_undefined() -> None:
    report = inferred([], "a")
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the user has no goal")
    assert math.isnan(report.scores()[NAME]["score"])


def test_every_goal_has_its_verdict_and_reason() -> None:
    assert inferred(["table", "taxi"], "a table").explain(NAME, 0).steps == [
        {
            "goals": [
                {"index": 0, "item": "table", "verdict": "yes", "reason": "so"},
                {"index": 1, "item": "taxi", "verdict": "no", "reason": "so"},
            ]
        }
    ]


TALK = [
    {"role": "user", "content": "Book a table."},
    {"role": "assistant", "tool_calls": [{"name": "book", "args": {"seats": 2}}]},
    {"role": "tool", "content": "booked"},
    {"role": "assistant", "content": "Anything else?"},
]
LINES = """\
{"index": 0, "role": "user", "text": "Book a table."}
{"index": 1, "role": "assistant", "calls": [{"id": "1", "name": "book", "arguments": {"seats": 2}}]}
{"index": 2, "role": "tool", "text": "booked", "result_of": "1", "name": "book"}
{"index": 3, "role": "assistant", "text": "Anything else?"}"""


def shown(**columns: Any) -> list[Any]:
    """The conversations that a judge is shown of some columns."""
    judge = eyewitness()
    Hub(load_metric(NAME, judge=judge, task="booked")).evaluate(**columns)
    return [fields["conversation"] for _, fields in judge.asked]


@pytest.mark.parametrize("column", ["messages", "conversation", "turns", "trace", "predictions"])
def test_of_a_conversation_all_messages_are_shown(column: str) -> None:
    assert shown(**{column: [TALK]}) == [LINES]


def test_nothing_is_noted_of_a_conversation_that_is_read_as_a_whole() -> None:
    hub = Hub(load_metric(NAME, judge=eyewitness(), task="booked"))
    assert "predictions were read" not in str(hub.evaluate(messages=[TALK]).notes())


@pytest.mark.parametrize("column", ["messages", "predictions", "response"])
@pytest.mark.parametrize("text", ["user: Book a table.", '[{"role": "user", "content": "Book"}]'])
def test_a_text_is_shown_as_it_is(column: str, text: str) -> None:
    assert shown(**{column: [text]}) == [text]


@pytest.mark.parametrize("name", ["predictions", "prediction", "response"])
def test_a_text_of_any_name_wins_over_messages(name: str) -> None:
    assert shown(**{name: ["user: Book"], "messages": [TALK]}) == ["user: Book"]


def test_each_candidate_is_a_conversation() -> None:
    assert shown(predictions=[[TALK, TALK[:1]]]) == [LINES, LINES.splitlines()[0]]


def test_what_is_no_conversation_is_named() -> None:
    with pytest.raises(InputError, match=r"predictions\[1\] isn't a conversation: its entry 0"):
        shown(messages=[TALK, [{"content": "Hi"}]])


def test_a_metric_of_last_answers_is_refused_beside_it() -> None:
    # Both read the column, and only one text of a sample can stand in it.
    hub = Hub([load_metric(NAME, judge=eyewitness(), task="x"), "exact_match"])
    with pytest.raises(InputError, match="goal_accuracy and exact_match read in different ways"):
        hub.evaluate(messages=[TALK], references=["booked"])
    report = hub.evaluate(predictions=["a x"], references=["a x"])
    assert report.scores() == {NAME: {"score": 1}, "exact_match": {"score": 1}}


def test_a_task_takes_the_place_of_references() -> None:
    judge = eyewitness()
    metric = load_metric(NAME, judge=judge, task="booked")
    assert metric.inputs() == ("prediction",)
    report = Hub(metric).evaluate(messages=[TALK, TALK[:1]])
    assert [items for items, _ in judge.asked] == [["booked"], ["booked"]]
    assert (report.scores(), report.counts()) == ({NAME: {"score": 1 / 2}}, {NAME: {}})


def test_a_table_at_another_time_has_no_part_of_the_task_done() -> None:
    # deepeval 4.3.1 gave .6, the number that its judge made up (vector task_completion-018). Here
    # the judge answers yes or no to each goal, and the table isn't booked at 8.
    talk = [
        {"role": "user", "content": "Book a table at 8."},
        {"role": "assistant", "tool_calls": [{"name": "book", "args": {"t": 9}}]},
        {"role": "assistant", "content": "Booked at 9."},
    ]
    judge = Scripted({"reached": ["no"]})
    metric = load_metric(NAME, judge=judge, task="Book a table at 8")
    assert Hub(metric)(messages=[talk]) == {NAME: {"score": 0}}
