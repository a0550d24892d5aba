"""Summarization: the lesser of alignment and coverage."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields, Verdict
from metrichub.testing import Scripted

SOURCE, SUMMARY = "the source", "the summary"
CLAIMS = {"claims": ["a", "b", "c", "d"], "supported": ["yes", "yes", "idk", "no"]}


@dataclass(frozen=True)
class ByText(Scripted):
    """A scripted judge that answers questions by the text that they are asked of."""

    texts: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    held: list[object] = field(default_factory=list, hash=False)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        if prompt.name != "answered":
            self.held.append((fields, tuple(verdicts)))
            return await super().verify(prompt, items, fields, verdicts)
        words = self.texts[str(fields["text"])]
        return [Verdict(i, item, words[i], "as scripted") for i, item in enumerate(items)]


def judge_of(its: Sequence[str], mine: Sequence[str], **answers: Sequence[str]) -> ByText:
    questions = [f"{i}?" for i in range(len(its))]
    columns = {**CLAIMS, "questions": questions, **answers}
    return ByText(columns, texts={SOURCE: its, SUMMARY: mine})


def evaluated(judge: Scripted, **parameters: object) -> Report:
    hub = Hub(load_metric("summarization", judge=judge, **parameters))
    return hub.evaluate(predictions=[SUMMARY], sources=[SOURCE])


def scored(judge: Scripted, **parameters: object) -> dict[str, float]:
    return dict(evaluated(judge, **parameters).scores()["summarization"])


THREE_OF_FOUR = judge_of(["yes"] * 4, ["yes", "yes", "no", "yes"])


def test_the_score_is_the_lesser_of_both_parts() -> None:
    # By deepeval's formulas: 2 of 4 claims, 3 of 4 questions.
    expected = {"score": 0.5, "alignment": 0.5, "coverage": 0.75, "passed": 1.0}
    assert scored(THREE_OF_FOUR) == expected


@pytest.mark.parametrize(
    ("its", "mine", "coverage"),
    [
        (["no", "no"], ["yes", "yes"], 0.0),  # deepeval: no question has a yes of the source
        (["yes", "no", "yes"], ["yes", "yes", "no"], 1 / 2),
        (["yes", "no"], ["yes", "no"], 1.0),
        (["yes", "no"], ["no", "no"], 0.0),
    ],
)
def test_only_questions_that_the_source_affirms_count(
    its: list[str], mine: list[str], coverage: float
) -> None:
    scores = scored(judge_of(its, mine, supported=["yes"]))
    assert (scores["coverage"], scores["score"]) == (coverage, coverage)


@pytest.mark.parametrize("word", ["no", "idk"])
def test_contradictions_and_additions_cost_the_same(word: str) -> None:
    scores = scored(judge_of(["yes"], ["yes"], supported=["yes", word, word, word]))
    assert scores["alignment"] == scores["score"] == 1 / 4


@pytest.mark.parametrize(("threshold", "passed"), [(0, 1), (0.5, 1), (0.51, 0), (1.0, 0)])
def test_a_summary_passes_from_the_threshold_on(threshold: float, passed: int) -> None:
    assert scored(THREE_OF_FOUR, threshold=threshold)["passed"] == passed


def test_own_questions_are_asked_and_none_are_written() -> None:
    judge = ByText(CLAIMS, texts={SOURCE: ["yes", "yes"], SUMMARY: ["no", "yes"]})
    report = evaluated(judge, assessment_questions=["mine?", "yours?"])
    assert report.scores()["summarization"]["coverage"] == 0.5
    step = report.explain("summarization", 0).steps[0]
    assert [answer["item"] for answer in step["source_answers"]] == ["mine?", "yours?"]
    assert [answer["verdict"] for answer in step["summary_answers"]] == ["no", "yes"]


def test_at_most_n_questions_are_asked() -> None:
    # The first three have the summary's yes, yes, no.
    assert scored(THREE_OF_FOUR, n=3)["coverage"] == pytest.approx(2 / 3)
    step = evaluated(THREE_OF_FOUR, n=3).explain("summarization", 0).steps[0]
    assert len(step["source_answers"]) == 3


@pytest.mark.parametrize(("truths", "against"), [(False, [SOURCE]), (True, ["t", "u"])])
def test_claims_are_held_against_the_source_or_its_truths(truths: bool, against: object) -> None:
    judge = judge_of(["yes"], ["yes"], truths=["t", "u"])
    scored(judge, truths=truths)
    assert judge.held == [({"evidence": against}, ("yes", "no", "idk"))]


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (judge_of(["yes"], ["yes"], claims=[]), "the summary makes no claim"),
        (judge_of([], []), "the source gives no question to ask"),
    ],
)
def test_nothing_to_count_is_undefined(judge: Scripted, reason: str) -> None:
    report = evaluated(judge)
    status = "unscored" if "source" in reason else "unanswered"
    assert report.explain("summarization", 0)[:2] == (status, reason)
    assert math.isnan(report.scores()["summarization"]["score"])
    # A source that gives no question is no summary's fault.
    lost = "unanswered" if "summary" in reason else "unscored"
    assert report.counts()["summarization"][lost] == 1
