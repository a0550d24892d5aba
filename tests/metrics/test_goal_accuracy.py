"""Goal accuracy: whether a conversation reached its outcome, or the goals of its user."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import JudgeUnavailable, MissingColumn, ParameterError
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields, Verdict
from metrichub.testing import Scripted

NAME = "goal_accuracy"


@dataclass(frozen=True)
class Eyewitness(Scripted):
    """A judge to which an outcome is reached that the conversation names word for word."""

    asked: list[tuple[list[str], Fields]] = field(default_factory=list, hash=False)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        assert (prompt.name, tuple(verdicts)) == ("reached", ("yes", "no"))
        self.asked.append((list(items), fields))
        return [
            Verdict(i, goal, "yes" if goal in fields["conversation"] else "no", "so")
            for i, goal in enumerate(items)
        ]


def evaluated(talks: Sequence[Any], references: Sequence[Any], **how: Any) -> Report:
    hub = Hub(load_metric(NAME, judge=Eyewitness({})))
    return hub.evaluate(predictions=talks, references=references, **how)


def inferred(goals: Sequence[str], talk: str) -> Report:
    judge = Eyewitness({"goals": goals})
    hub = Hub(load_metric(NAME, judge=judge, inferred=True))
    return hub.evaluate(predictions=[talk])


@pytest.mark.parametrize(("reference", "expected"), [("booked", 1), ("paid", 0)])
def test_a_given_outcome_is_reached_or_not(reference: str, expected: int) -> None:
    assert evaluated(["it is booked"], [reference]).scores() == {NAME: {"score": expected}}


def test_a_corpus_is_the_share_of_conversations_that_reached_their_outcome() -> None:
    report = evaluated(["a", "b", "c", "d"], ["a", "b", "c", "x"])
    assert report.scores()[NAME]["score"] == 3 / 4


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

    judge = Eyewitness({"goals": goals})
    metric = load_metric(NAME, judge=judge, inferred=True)
    assert metric.inputs() == ("prediction",)
    Hub(metric)(predictions=["talk"])
    assert seen == [{"conversation": "talk"}]
    assert judge.asked == [(["x"], {"conversation": "talk"})]


def test_with_a_reference_no_goal_is_inferred() -> None:
    judge = Eyewitness({})
    Hub(load_metric(NAME, judge=judge))(predictions=["talk"], references=["outcome"])
    assert judge.asked == [(["outcome"], {"conversation": "talk"})]


def test_the_reference_is_needed_unless_goals_are_inferred() -> None:
    with pytest.raises(MissingColumn, match="references"):
        Hub(NAME, judge="chance")(predictions=["a"])


@pytest.mark.parametrize(
    ("talk", "reference", "reason"),
    [("a", " \n", "there is no reference"), ("\t", "a", "there is no conversation")],
)
def test_a_blank_text_is_undefined_and_asks_nothing(talk: str, reference: str, reason: str) -> None:
    hub = Hub(load_metric(NAME, judge=Scripted({})))
    report = hub.evaluate(predictions=[talk], references=[reference])
    assert report.explain(NAME, 0)[:2] == ("undefined", reason)
    lost = "unanswered" if "conversation" in reason else "unscored"
    assert report.scores()[NAME][lost] == 1


@pytest.mark.parametrize(
    ("talk", "reason"), [("a", "the user has no goal"), ("", "there is no conversation")]
)
def test_without_a_goal_it_is_undefined(talk: str, reason: str) -> None:
    report = inferred([], talk)
    assert report.explain(NAME, 0)[:2] == ("undefined", reason)
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


def test_two_agents_are_compared_on_the_same_tasks() -> None:
    one = evaluated(["a b", "c"], ["a", "b"])
    other = evaluated(["a b", "b"], ["a", "b"])
    assert one.compare(other)[NAME]["score"].difference == pytest.approx(-0.5)


@pytest.mark.parametrize("way", [True, False])
def test_no_rule_over_words_will_do(way: bool) -> None:
    with pytest.raises(JudgeUnavailable, match="the offline judge can't"):
        Hub(load_metric(NAME, inferred=way), judge="offline")


def test_inferred_is_true_or_false() -> None:
    with pytest.raises(ParameterError, match="True or False"):
        load_metric(NAME, inferred="yes")
