"""Prompt alignment: followed over all instructions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields, Verdict
from metrichub.testing import Scripted

NAME = "prompt_alignment"


@dataclass(frozen=True)
class Told(Scripted):
    """A judge to which an instruction that says "do" is followed; it keeps what it was asked."""

    asked: list[tuple[list[str], Fields]] = field(default_factory=list, hash=False)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        assert (prompt.name, tuple(verdicts)) == ("followed", ("yes", "no"))
        self.asked.append((list(items), fields))
        return [Verdict(i, t, "yes" if "do" in t else "no", "so") for i, t in enumerate(items)]


def evaluated(instructions: Sequence[Any], judge: Scripted | None = None) -> Report:
    hub = Hub(load_metric(NAME, judge=judge or Told({})))
    texts = [f"reply {i}" for i in range(len(instructions))]
    return hub.evaluate(predictions=texts, instructions=instructions)


@pytest.mark.parametrize(
    ("listed", "score", "whole"),
    [
        (["do a", "do b", "miss c"], 2 / 3, 0),
        (["do a", "do b", "do c"], 1, 1),
        (["miss a", "miss b"], 0, 0),
        ("do a", 1, 1),  # one text is a list of one
    ],
)
def test_the_score_is_followed_over_all_instructions(listed: Any, score: float, whole: int) -> None:
    expected = {"score": pytest.approx(score), "all_followed": whole}
    assert evaluated([listed]).scores()[NAME] == expected


def test_the_instructions_of_the_parameter_are_those_of_all_samples() -> None:
    judge = Told({})
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
    judge = Told({})
    metric = load_metric(NAME, judge=judge, question=True)
    assert metric.inputs() == ("prediction", "instructions", "question")
    Hub(metric)(predictions=["r"], instructions=[["do a"]], questions=["q?"])
    assert judge.asked == [(["do a"], {"reply": "r", "question": "q?"})]


@pytest.mark.parametrize("listed", [[], [""], [" ", "\n"], ""])
def test_a_sample_without_an_instruction_is_undefined_and_asks_nothing(listed: Any) -> None:
    report = evaluated([listed], Scripted({}))
    assert report.explain(NAME, 0)[:2] == ("undefined", "there is no instruction")
    assert math.isnan(report.scores()[NAME]["score"])
    assert report.scores()[NAME]["unscored"] == 1


def test_a_blank_reply_is_undefined_and_asks_nothing() -> None:
    hub = Hub(load_metric(NAME, judge=Scripted({}), instructions=["do a"]))
    report = hub.evaluate(predictions=["\t"])
    assert report.explain(NAME, 0)[:2] == ("undefined", "there is no reply")


def test_blank_instructions_are_left_out() -> None:
    report = evaluated([["do a", " ", "miss b"]])
    assert report.scores()[NAME]["score"] == 0.5
    listed = report.explain(NAME, 0).steps[0]["instructions"]
    assert [(one["item"], one["verdict"]) for one in listed] == [("do a", "yes"), ("miss b", "no")]


@pytest.mark.parametrize("item", [None, 3, {"text": "do a"}])
def test_an_instruction_that_is_no_text_is_named(item: object) -> None:
    with pytest.raises(InputError, match=r"'instructions' holds .*, not text"):
        evaluated([["do a", item]])
