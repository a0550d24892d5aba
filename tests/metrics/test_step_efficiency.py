"""Step efficiency: which steps there are, and the share that the task needs."""

from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.testing import Scripted
from tests.judge_toys import Listener
from tests.vectors import vectors

NAME = "step_efficiency"
TALK: list[Any] = [
    {"role": "user", "content": "Is table 4 free?"},
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [{"name": "free", "args": {"table": 4}}, {"name": "now", "args": "no JSON"}],
    },
    {"role": "tool", "content": "yes"},
    {"role": "assistant", "content": "It is."},
]


def evaluated(judge: Scripted, talk: Any = TALK, **parameters: Any) -> Report:
    return Hub(load_metric(NAME, judge=judge, **parameters)).evaluate(messages=[talk])


def test_each_text_and_each_call_is_a_step() -> None:
    judge = Listener({"needed": ["needed", "needed", "needless", "needed"]})
    report = evaluated(judge)
    ((items, fields),) = judge.asked
    assert items == [
        {"message": 1, "text": "Let me look."},
        {"message": 1, "call": {"id": "1", "name": "free", "arguments": {"table": 4}}},
        {"message": 1, "call": {"id": "2", "name": "now", "arguments": "no JSON"}},
        {"message": 3, "text": "It is."},
    ]
    assert fields["task"] == ""
    assert report.scores() == {NAME: {"score": 3 / 4, "needless": 1}}
    steps = report.explain(NAME, 0).steps[0]["messages"]
    assert [(step["index"], step["item"]) for step in steps] == [
        (1, "Let me look."),
        (1, 'free({"table": 4})'),
        (1, "now(no JSON)"),
        (3, "It is."),
    ]


@pytest.mark.parametrize("vector", vectors(NAME))
def test_deepeval_grades_a_trace_where_steps_are_counted_here(vector: dict[str, Any]) -> None:
    # Its judge named .5 for a trace of a plan and a booking. A number without a step to it can't
    # be checked; here each step has a verdict, and both of these are needed.
    plan, book = vector["inputs"]["trace"]["children"]
    talk = [
        {"role": "user", "content": vector["inputs"]["input"]},
        {"role": "assistant", "content": plan["output"]},
        {"role": "assistant", "tool_calls": [{"name": book["name"], "args": book["input"]}]},
    ]
    (grade,) = vector["scripted"]["EfficiencyVerdict"]
    assert vector["expected"]["score"] == grade["score"] == 0.5
    assert evaluated(Scripted({"needed": ["needed"]}), talk).scores()[NAME]["score"] == 1


def test_a_task_is_that_of_all_samples() -> None:
    judge = Listener({"needed": ["needless"]})
    calls = [{"name": "free", "input_parameters": {}}, {"name": "book", "input_parameters": {}}]
    scores = evaluated(judge, calls, task="Book a table.").scores()
    assert scores == {NAME: {"score": 0, "needless": 2}}
    assert judge.asked[0][1]["task"] == "Book a table."


@pytest.mark.parametrize(
    ("talk", "reason"),
    [
        ([], "the assistant takes no step"),
        (TALK[:1], "the assistant takes no step"),
        (TALK[3:], "the conversation has no task"),
    ],
)
def test_without_steps_or_a_task_it_is_undefined_and_asks_nothing(
    talk: list[Any], reason: str
) -> None:
    report = evaluated(Scripted({}), talk)
    assert report.explain(NAME, 0)[:2] == ("unanswered", reason)
    assert report.counts()[NAME]["unanswered"] == 1


def test_steps_of_all_parts_stand_together() -> None:
    talk = [{"role": "user", "content": "Go."}]
    talk += [{"role": "assistant", "content": f"Step {i}. " * 60} for i in range(3)]
    judge = Listener({"needed": ["needed"]})
    report = evaluated(judge, talk, limit_tokens=100)
    # The first two messages make no part together: the second is as long as a part by itself.
    assert [[item["message"] for item in items] for items, _ in judge.asked] == [[1], [2], [3]]
    steps = report.explain(NAME, 0).steps[0]["messages"]
    assert [step["index"] for step in steps] == [1, 2, 3]
