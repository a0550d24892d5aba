"""Contextual relevancy: relevant over all statements of the contexts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields, Verdict
from metrichub.testing import Scripted

NAME = "contextual_relevancy"


@dataclass(frozen=True)
class Echo(Scripted):
    """A judge to which every word of a passage is a statement, and every statement its verdict."""

    script: Mapping[str, Any] = field(
        default_factory=lambda: {"claims": lambda fields: fields["text"].strip(".").split()},
        hash=False,
    )

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        return [Verdict(i, item, item, "as it says") for i, item in enumerate(items)]


def evaluated(passages: list[list[str]]) -> Report:
    """Each passage is the list of its verdicts."""
    contexts = [" ".join(words) + "." for words in passages]
    hub = Hub(load_metric(NAME, judge=Echo()))
    return hub.evaluate(questions=["q"], contexts=[contexts])


@pytest.mark.parametrize(
    ("passages", "score"),
    [
        ([["yes"]], 1),
        ([["no", "no"]], 0),
        # Pooled: 2 of 5, where the mean of the passages' shares would be (1 + 1/4) / 2.
        ([["yes"], ["no", "yes", "no", "no"]], 2 / 5),
        # A passage that states nothing changes nothing.
        ([["yes", "no"], []], 1 / 2),
    ],
)
def test_the_score_is_relevant_over_all_statements(passages: list[list[str]], score: float) -> None:
    assert evaluated(passages).scores() == {NAME: {"score": pytest.approx(score)}}


PASSAGES = st.lists(st.lists(st.sampled_from(["yes", "no"]), max_size=4), min_size=1, max_size=4)


@given(PASSAGES.filter(any))
def test_a_passage_without_relevance_never_helps(passages: list[list[str]]) -> None:
    first, other = (
        evaluated(verdicts).scores()[NAME] for verdicts in (passages, [*passages, ["no"]])
    )
    assert other["score"] <= first["score"]


def test_each_passage_has_its_verdicts_at_its_place() -> None:
    step = evaluated([["no"], [], ["yes", "no"]]).explain(NAME, 0).steps[0]
    assert [[verdict["verdict"] for verdict in passage] for passage in step["contexts"]] == [
        ["no"],
        [],
        ["yes", "no"],
    ]
    first = {"index": 0, "item": "no", "verdict": "no", "reason": "as it says"}
    assert step["contexts"][0] == [first]


def test_statements_are_asked_about_with_the_question_alone() -> None:
    asked = []

    def words(fields: object) -> list[str]:
        asked.append(fields)
        return ["yes"]

    judge = Scripted({"claims": ["a"], "relevant": words})
    hub = Hub(load_metric(NAME, judge=judge))
    hub.evaluate(questions=["Why?"], contexts=[["one", "two"]])
    assert asked == [{"question": "Why?"}] * 2


def test_a_blank_passage_costs_no_call_and_keeps_its_place() -> None:
    read = []

    def statements(fields: Any) -> list[str]:
        read.append(fields["text"])
        return ["a"]

    judge = Scripted({"claims": statements, "relevant": ["yes"]})
    report = Hub(load_metric(NAME, judge=judge)).evaluate(questions=["q"], contexts=[[" ", "b"]])
    assert read == ["b"]
    assert [len(passage) for passage in report.explain(NAME, 0).steps[0]["contexts"]] == [0, 1]


def test_contexts_that_state_nothing_are_undefined() -> None:
    report = evaluated([[], []])
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the contexts state nothing")
    assert report.counts()[NAME]["unanswered"] == 1
