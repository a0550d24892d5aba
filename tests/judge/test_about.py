"""What judges and embedders say of themselves: whether they are models, and what they answer."""

from collections.abc import Sequence
from typing import Any

import pytest

from metrichub import Hub, OpenAIJudge, load_metric
from metrichub.authoring import Prompt
from metrichub.judge.chance import ChanceJudge
from metrichub.judge.offline import OfflineJudge
from metrichub.judge.prompt_files import Question
from metrichub.judge.protocol import SelfDescribed
from metrichub.models.embedders import OfflineEmbedder
from metrichub.models.openai_embedder import OpenAIEmbedder
from metrichub.models.resolve import about
from metrichub.testing import Scripted

QUESTIONS: Sequence[Question] = ("extract", "verify", "grade", "choose")
MODEL = OpenAIJudge(model="m", base_url="http://127.0.0.1:1/v1")
SAMPLE: dict[str, Any] = {"predictions": ["It is old."], "contexts": [["It is old."]]}


class Silent:
    """A judge of the test's own that says no more of itself than it has to."""

    label = "silent"
    extract, verify = Scripted.extract, Scripted.verify
    grade, choose = Scripted.grade, Scripted.choose
    _answer = Scripted._answer
    script = {"claims": ["It is old."], "supported": ["yes"]}  # noqa: RUF012  # nobody changes it


def test_only_a_model_says_that_it_is_one() -> None:
    for asked in (MODEL, OpenAIEmbedder()):
        assert (about(asked).is_model, about(asked).note) == (True, None)
    for asked in (OfflineJudge(), ChanceJudge(), Scripted({}), OfflineEmbedder()):
        assert not about(asked).is_model


def test_a_judge_that_is_silent_about_itself_is_taken_for_a_model() -> None:
    info = about(Silent())
    assert (info.is_model, info.note) == (True, None)
    assert all(info.answers(question, Prompt("any", "Judge.")) for question in QUESTIONS)
    report = Hub(load_metric("faithfulness", judge=Silent())).evaluate(**SAMPLE)
    assert report.scores() == {"faithfulness": {"score": 1.0}}
    assert report.counts() == {"faithfulness": {}}
    assert report.notes() == {}


@pytest.mark.parametrize(
    ("rule", "answered"),
    [
        (None, set()),
        ("sentences", {"extract"}),
        ("questions", {"extract"}),
        ("names", {"extract"}),
        ("supported", {"verify"}),
        ("covers", {"verify"}),
        ("unheard_of", set()),
    ],
)
def test_rules_answer_what_the_prompt_has_a_rule_for(rule: str | None, answered: set[str]) -> None:
    prompt = Prompt("any", "Judge.", rule)
    assert {q for q in QUESTIONS if OfflineJudge().answers(q, prompt)} == answered


@pytest.mark.parametrize("judge", [MODEL, ChanceJudge(), Scripted({})])
def test_all_others_answer_everything(judge: SelfDescribed) -> None:
    assert all(judge.answers(question, Prompt("any", "Judge.")) for question in QUESTIONS)


def test_the_note_of_a_judge_stands_in_the_report() -> None:
    report = Hub("faithfulness", judge="chance").evaluate(**SAMPLE)
    assert report.notes() == {"faithfulness": [ChanceJudge.note]}
