"""Replies of models that think aloud: the answer is what follows the thinking."""

from __future__ import annotations

import pytest

from metrichub.authoring import Prompt
from metrichub.errors import JudgeError
from metrichub.judge.replies import Graded, Items, Unreadable, read_reply
from metrichub.models.loop import run
from tests.judge_stub import Stub, says
from tests.judge_toys import judge

GRADE = Prompt("grade", "Grade the text.")
DRAFT, FINAL = '{"reason": "draft", "score": 1}', '{"reason": "final", "score": 4}'


@pytest.mark.parametrize(
    "content",
    [
        f"<think>{DRAFT} hm, no.</think>{FINAL}",
        f"<think>\n{DRAFT}\n</think>\n\n```json\n{FINAL}\n```",
        # A template may open the thinking in the prompt, so that only its end is in the reply.
        f"{DRAFT} is too low.</think>{FINAL}",
        f"<Thinking>{DRAFT}</Thinking>The answer: {FINAL}",
        f"<think>{DRAFT}</think>{FINAL} and once more: {FINAL}",
        # The reason may differ: it decides nothing.
        f'{{"reason": "first", "score": 4}} or rather {FINAL}',
        # As Mistral, Kimi, Seed and gpt-oss mark it.
        f"[THINK]{DRAFT}[/THINK]{FINAL}",
        f"◁think▷{DRAFT}◁/think▷{FINAL}",
        f"<seed:think>{DRAFT}</seed:think>{FINAL}",
        f"<analysis>{DRAFT}</analysis>{FINAL}",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|channel|>final<|message|>{FINAL}",
        f"<think step='1'>{DRAFT}</think >{FINAL}",
        f"Here it is:\n```json\n{FINAL}\n```\nI hope this helps {{or not}}.",
        f"{{not json}} {FINAL}",
        # A closing tag in a text that is quoted ends no thinking.
        f'So: {FINAL[:-1]}, "quoted": "</think>"}}',
    ],
)
def test_the_answer_is_what_follows_the_thinking(content: str) -> None:
    assert read_reply(Graded, content) == Graded(reason="final", score=4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{DRAFT} …wait, correct: {FINAL}", "2 answers that contradict each other"),
        (f"<think>so</think>{DRAFT} {FINAL} {FINAL}", "3 answers that contradict each other"),
        (f"<think>{DRAFT}", "the reply isn't the JSON that was asked for"),
        (f"Sure. <think>maybe {DRAFT} or better", "the reply isn't the JSON that was asked for"),
        (f"<think >maybe {DRAFT}", "the reply isn't the JSON that was asked for"),
        (f"[THINK]maybe {DRAFT}[/THINK]Grade: 4", "the reply isn't the JSON that was asked for"),
        (f"◁think▷maybe {DRAFT}◁/think▷Grade: 4", "the reply isn't the JSON that was asked for"),
        (
            f"<|channel|>analysis<|message|>{DRAFT}<|end|><|channel|>final<|message|>Grade: 4",
            "the reply isn't the JSON that was asked for",
        ),
        (f"<think>{FINAL}</think>", "the reply isn't the JSON that was asked for"),
        ("{" * 50_000, "the reply isn't the JSON that was asked for"),
    ],
)
def test_what_leaves_the_answer_open_is_unreadable(content: str, message: str) -> None:
    with pytest.raises(Unreadable, match=message):
        read_reply(Graded, content)


def test_an_object_inside_another_is_no_answer_of_its_own() -> None:
    with pytest.raises(Unreadable):
        read_reply(Graded, f'{{"draft": {DRAFT}}}')
    assert read_reply(Items, '{"items": ["{\\"items\\": []}"]} done').items == ['{"items": []}']


@pytest.mark.parametrize("weights", ['{"1": 1.0}', '{"99": 1.0}', '{"1": 0.0}'])
def test_a_model_sets_no_weights_of_its_own(stub: Stub, weights: str) -> None:
    stub.always = says(f'{{"reason": "r", "score": 4, "weights": {weights}}}')
    openai = judge(stub, cache=False)
    assert run(openai.grade(Prompt("p", "Grade."), {"text": "A."}, (1, 5))).score == 4.0


def test_a_judge_grades_by_the_answer_and_asks_again_where_two_contradict(stub: Stub) -> None:
    openai = judge(stub, cache=False)
    stub.always = says(f"<think>{DRAFT}</think>{FINAL}")
    assert run(openai.grade(GRADE, {"text": "a"}, (1, 5))).score == 4
    stub.faults = [says(f"{DRAFT} or {FINAL}")]
    assert run(openai.grade(GRADE, {"text": "b"}, (1, 5))).score == 4
    stub.always = says(f"{DRAFT} or {FINAL}")
    with pytest.raises(JudgeError, match="contradict each other"):
        run(openai.grade(GRADE, {"text": "c"}, (1, 5)))
