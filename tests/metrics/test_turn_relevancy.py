"""Turn relevancy: the share of exchanges whose last answer is relevant, and its context."""

from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import MetricError
from metrichub.testing import Scripted
from tests.judge_toys import Listener
from tests.vectors import vectors

NAME = "turn_relevancy"


def evaluated(judge: Scripted, talk: Any, **parameters: Any) -> Report:
    return Hub(load_metric(NAME, judge=judge, **parameters)).evaluate(messages=[talk])


def turns(roles: str) -> list[dict[str, str]]:
    """A conversation of users (u), assistants (a) and tools (t), whose texts are numbers."""
    names = {"u": "user", "a": "assistant", "t": "tool", "s": "system"}
    return [{"role": names[role], "content": str(i)} for i, role in enumerate(roles)]


@pytest.mark.parametrize("vector", vectors(NAME))
def test_deepeval_judges_the_same_exchanges(vector: dict[str, Any]) -> None:
    verdicts = [answer["verdict"] for answer in vector["scripted"]["TurnRelevancyVerdict"]]
    judge = Listener({"relevant": verdicts})
    window = vector["params"].get("window_size", 10)
    report = evaluated(judge, vector["inputs"]["turns"], window=window)
    assert report.scores()[NAME]["score"] == pytest.approx(vector["expected"]["score"])
    assert len(judge.items) == len(verdicts)


def test_a_verdict_that_is_neither_yes_nor_no_is_an_error_and_not_relevant() -> None:
    # deepeval counts all but "no" as relevant, so that an unsure judge makes systems look better.
    with pytest.raises(MetricError, match="'unsure', which is none of 'yes', 'no'"):
        evaluated(Scripted({"relevant": ["unsure"]}), turns("ua"))


def test_a_conversation_without_an_exchange_is_1_in_deepeval_and_undefined_here() -> None:
    # Nobody was answered: a perfect score would reward silence.
    report = evaluated(Scripted({}), turns("au"))
    assert report.explain(NAME, 0)[:2] == (
        "unanswered",
        "the assistant answers no message of a user",
    )
    assert report.counts()[NAME]["unanswered"] == 1
    scores = evaluated(Scripted({}), turns("au"), empty=1).scores()
    assert scores == {NAME: {"score": 1, "irrelevant": 0}}


@pytest.mark.parametrize(
    ("roles", "judged"),
    [
        ("ua", [1]),
        ("uaua", [1, 3]),
        ("uaaua", [2, 4]),
        ("suatua", [2, 5]),
        ("auau", [2]),
        ("uuaa", [3]),
    ],
)
def test_the_last_answer_of_each_exchange_is_judged(roles: str, judged: list[int]) -> None:
    judge = Listener({"relevant": ["yes"]})
    evaluated(judge, turns(roles))
    assert [item["index"] for item in judge.items] == judged


def test_an_answer_without_text_gives_way_to_the_one_before_it() -> None:
    call = {"role": "assistant", "tool_calls": [{"name": "f", "args": {}}]}
    judge = Listener({"relevant": ["yes"]})
    evaluated(judge, [*turns("ua"), call, *turns("ua")])
    assert [item["index"] for item in judge.items] == [1, 4]
    assert evaluated(Scripted({}), [*turns("u"), call]).explain(NAME, 0)[0] == "unanswered"


@pytest.mark.parametrize(
    ("window", "since"), [(1, [0, 2, 4, 6]), (2, [0, 0, 2, 4]), (3, [0, 0, 0, 2]), (10, [0] * 4)]
)
def test_the_context_begins_so_many_exchanges_before(window: int, since: list[int]) -> None:
    judge = Listener({"relevant": ["yes"]})
    evaluated(judge, turns("uauauaua"), window=window)
    assert [item["since"] for item in judge.items] == since


def test_irrelevant_answers_are_counted_and_explained() -> None:
    judge = Scripted({"relevant": ["yes", "no", "no"]})
    report = evaluated(judge, turns("uauaua"))
    assert report.scores() == {NAME: {"score": pytest.approx(1 / 3), "irrelevant": 2}}
    steps = report.explain(NAME, 0).steps[0]["messages"]
    assert [(step["index"], step["item"], step["verdict"]) for step in steps] == [
        (1, "1", "yes"),
        (3, "3", "no"),
        (5, "5", "no"),
    ]
