"""Response groundedness, answer accuracy and graded context relevance: the mean of two grades."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields, Grade, Sampling
from metrichub.testing import Scripted

GROUNDED, ACCURATE, RELEVANT = (
    "response_groundedness",
    "answer_accuracy",
    "context_relevance_graded",
)
PROMPTS = {
    GROUNDED: ("grounded", "struck_out"),
    ACCURATE: ("agrees", "marked"),
    RELEVANT: ("informative", "answerable"),
}
COLUMNS: dict[str, dict[str, Any]] = {
    GROUNDED: {"predictions": ["an answer"], "contexts": [["a text", "another"]]},
    ACCURATE: {"questions": ["Why?"], "predictions": ["an answer"], "references": ["a right one"]},
    RELEVANT: {"questions": ["Why?"], "contexts": [["a text", "another"]]},
}
EACH = pytest.mark.parametrize("name", PROMPTS)
SHORTCUTS = pytest.mark.parametrize("name", [GROUNDED, RELEVANT])


def evaluated(
    name: str, grades: tuple[Any, Any], columns: dict[str, Any] | None = None, **more: Any
) -> Report:
    judge = Scripted(dict(zip(PROMPTS[name], grades, strict=True)))
    return Hub(load_metric(name, judge=judge, **more)).evaluate(
        **{**COLUMNS[name], **(columns or {})}
    )


@dataclass(frozen=True)
class Watched(Scripted):
    """A scripted judge that keeps what it is asked to grade."""

    asked: list[tuple[str, dict[str, Any], tuple[int, int]]] = field(
        default_factory=list, hash=False
    )

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        self.asked.append((prompt.name, dict(fields), scale))
        return await super().grade(prompt, fields, scale, weighing)


def watched(name: str) -> list[tuple[str, dict[str, Any], tuple[int, int]]]:
    judge = Watched(dict.fromkeys(PROMPTS[name], 2))
    Hub(load_metric(name, judge=judge)).evaluate(**COLUMNS[name])
    return judge.asked


# The documentation of ragas: each grade over the greatest one, then the mean of both.
GOLDENS = [
    ((2, 2), 1.0),
    ((2, 1), 0.75),
    ((1, 1), 0.5),
    ((0, 2), 0.5),
    ((1, 0), 0.25),
    ((0, 0), 0.0),
]


@EACH
@pytest.mark.parametrize(("grades", "score"), GOLDENS)
def test_the_score_is_half_the_mean_of_both_grades(
    name: str, grades: tuple[int, int], score: float
) -> None:
    assert evaluated(name, grades).scores() == {name: {"score": score}}


@EACH
def test_both_grades_are_explained_with_their_reasons(name: str) -> None:
    step = evaluated(name, (2, 1)).explain(name, 0).steps[0]
    assert step == {
        "grades": [
            {"score": 2.0, "reason": "as scripted", "weights": {}},
            {"score": 1.0, "reason": "as scripted", "weights": {}},
        ]
    }


@EACH
def test_a_missing_grade_is_an_error_and_no_score_of_the_other(name: str) -> None:
    judge = Scripted({PROMPTS[name][0]: 2})
    report = Hub(load_metric(name, judge=judge)).evaluate(**COLUMNS[name])
    assert report.explain(name, 0).status == "error"
    assert report.counts()[name]["errors"] == 1


@EACH
def test_the_prompts_differ_and_have_the_same_scale(name: str) -> None:
    asked = watched(name)
    assert [(prompt, scale) for prompt, _, scale in asked] == [
        (prompt, (0, 2)) for prompt in PROMPTS[name]
    ]
    first, other = (load_metric(name).prompt(prompt).text for prompt in PROMPTS[name])
    assert first != other


@EACH
def test_every_field_that_is_sent_is_named_in_its_prompt(name: str) -> None:
    for prompt, fields, _ in watched(name):
        text = load_metric(name).prompt(prompt).text
        assert all(f'"{inputs}"' in text for inputs in fields)


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        (GROUNDED, [["answer", "contexts"], ["contexts", "answer"]]),
        (ACCURATE, [["question", "answer", "reference"], ["question", "reference", "answer"]]),
        (RELEVANT, [["question", "contexts"], ["contexts", "question"]]),
    ],
)
def test_the_second_prompt_shows_the_texts_in_the_other_order(
    name: str, orders: list[list[str]]
) -> None:
    assert [list(fields) for _, fields, _ in watched(name)] == orders


def test_the_answer_and_the_reference_keep_their_names_in_both_prompts() -> None:
    for _, fields, _ in watched(ACCURATE):
        assert (fields["answer"], fields["reference"]) == ("an answer", "a right one")


@pytest.mark.parametrize("contexts", [[], ["", "\n"]])
def test_an_answer_without_contexts_rests_on_nothing(contexts: list[str]) -> None:
    report = Hub(load_metric(GROUNDED, judge=Scripted({}))).evaluate(
        predictions=["an answer"], contexts=[contexts]
    )
    assert report.scores()[GROUNDED] == {"score": 0}


@pytest.mark.parametrize(
    ("name", "column", "value", "score", "why"),
    [
        (GROUNDED, "predictions", " ", 0, "there is no answer"),
        (GROUNDED, "contexts", ["", " "], 0, "there is no context"),
        (GROUNDED, "predictions", " text\nanother ", 1, "word for word in the contexts"),
        (GROUNDED, "contexts", ["an answer"], 1, "word for word in the contexts"),
        (RELEVANT, "questions", " ", 0, "there is no question"),
        (RELEVANT, "contexts", [], 0, "there is no context"),
        (RELEVANT, "contexts", ["hy"], 0, "word for word in the question"),
        (RELEVANT, "questions", "a text\nanother", 0, "word for word in the question"),
    ],
)
def test_shortcuts_give_what_ragas_gives_without_a_judge(
    name: str, column: str, value: Any, score: float, why: str
) -> None:
    metric = load_metric(name, judge=Scripted({}), shortcuts=True)
    report = Hub(metric).evaluate(**{**COLUMNS[name], column: [value]})
    assert report.scores() == {name: {"score": score}}
    step = report.explain(name, 0).steps[0]
    assert step["grades"] == []
    assert step["shortcut"].endswith(why)


@SHORTCUTS
def test_without_a_shortcut_to_take_the_grades_count(name: str) -> None:
    assert evaluated(name, (2, 1), shortcuts=True).scores() == {name: {"score": 0.75}}


def test_without_shortcuts_a_copied_answer_is_graded() -> None:
    report = evaluated(GROUNDED, (1, 0), {"predictions": ["a text"]})
    assert report.scores() == {GROUNDED: {"score": 0.25}}


def test_the_reference_that_gives_the_best_score_counts() -> None:
    def grade(fields: Any) -> int:
        return 2 if fields["reference"] == "right" else 0

    report = evaluated(ACCURATE, (grade, grade), {"references": [["wrong", "right"]]})
    assert report.scores() == {ACCURATE: {"score": 1.0}}
