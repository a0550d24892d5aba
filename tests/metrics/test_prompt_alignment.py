"""Prompt alignment: followed over all instructions."""

from collections.abc import Sequence
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from metrichub.testing import Scripted
from tests.judge_toys import Ruling

NAME = "prompt_alignment"


def rule() -> Ruling:
    """A judge to which what says "do" is met."""
    return Ruling({}, rule=lambda item, _: "do" in item)


def evaluated(instructions: Sequence[Any], judge: Scripted | None = None) -> Report:
    hub = Hub(load_metric(NAME, judge=judge or rule()))
    texts = [f"reply {i}" for i in range(len(instructions))]
    return hub.evaluate(predictions=texts, instructions=instructions)


@pytest.mark.parametrize(
    ("listed", "score", "number"),
    [
        (["do a", "do b", "miss c"], 2 / 3, 0),
        (["do a", "do b", "do c"], 1, 1),
        (["miss a", "miss b"], 0, 0),
        ("do a", 1, 1),  # one text is a list of one
    ],
)
def test_the_score_is_followed_over_all_instructions(
    listed: Any, score: float, number: int
) -> None:
    expected = {"score": pytest.approx(score), "all_followed": number}
    assert evaluated([listed]).scores()[NAME] == expected


def test_the_instructions_of_the_parameter_are_those_of_all_samples() -> None:
    judge = rule()
    hub = Hub(load_metric(NAME, judge=judge, instructions=["do a", "miss b"]))
    assert hub(predictions=["one", "two"])[NAME]["score"] == 0.5
    assert sorted(judge.asked, key=str) == [
        (["do a", "miss b"], {"reply": "one"}),
        (["do a", "miss b"], {"reply": "two"}),
    ]


def test_the_column_is_needed_only_without_the_parameter() -> None:
    with_rules = load_metric(NAME, instructions=["do a"])
    assert list(Hub(with_rules, judge="chance").needs()) == ["predictions"]
    assert list(Hub(NAME, judge="chance").needs()) == ["predictions", "instructions"]


def test_the_judge_sees_the_question_where_that_is_asked_for() -> None:
    judge = rule()
    metric = load_metric(NAME, judge=judge, question=True)
    assert metric.inputs() == ("prediction", "instructions", "question")
    Hub(metric)(predictions=["r"], instructions=[["do a"]], questions=["q?"])
    assert judge.asked == [(["do a"], {"reply": "r", "question": "q?"})]


def test_blank_instructions_are_left_out() -> None:
    report = evaluated([["do a", " ", "miss b"]])
    assert report.scores()[NAME]["score"] == 0.5
    listed = report.explain(NAME, 0).steps[0]["instructions"]
    assert [(step["item"], step["verdict"]) for step in listed] == [
        ("do a", "yes"),
        ("miss b", "no"),
    ]


@pytest.mark.parametrize("item", [None, 3, {"text": "do a"}])
def test_an_instruction_that_is_no_text_is_named(item: object) -> None:
    with pytest.raises(InputError, match=r"'instructions' holds .*, not text"):
        evaluated([["do a", item]])
