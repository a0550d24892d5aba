"""GradedMetric: the row that a grade makes, how it is asked for, and what leaves it unscored."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.authoring import Grade, Prompt, Sampling, Unscored, WithTrace
from metrichub.errors import MetricError, MissingColumn, ParameterError
from metrichub.judge.metric import missing_input
from metrichub.judge.metric_bases import GradedMetric, OpenGradedMetric
from metrichub.models.loop import run
from metrichub.testing import Scripted

TONE = Prompt("tone", "Grade the tone.")
PAIR: dict[str, Any] = {"predictions": ["Good day."], "sources": ["Hello."]}


@dataclass(frozen=True)
class Listening(Scripted):
    """A scripted judge that keeps what grades it was asked for."""

    heard: list[Any] = field(default_factory=list, hash=False)

    async def grade(
        self,
        prompt: Prompt,
        fields: Mapping[str, Any],
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        self.heard.append((prompt.name, dict(fields), scale, weighing))
        return await super().grade(prompt, fields, scale, weighing)


@dataclass(frozen=True, kw_only=True)
class Tone(GradedMetric):
    async def observe(self, prediction: str, source: str) -> WithTrace | Unscored:
        return await self.graded(TONE, prediction=prediction, source=source)


@dataclass(frozen=True, kw_only=True)
class Ten(Tone):
    @property
    def scale(self) -> tuple[int, int]:
        return 0, 10


@dataclass(frozen=True, kw_only=True)
class Open(OpenGradedMetric):
    async def observe(self, /, **texts: Any) -> WithTrace | Unscored:
        return await self.graded(TONE, **texts)


def evaluated(answer: object, kind: type[GradedMetric] = Tone) -> Report:
    return Hub(kind(judge=Scripted({"tone": answer}))).evaluate(**PAIR)


@pytest.mark.parametrize(
    ("kind", "grade", "score"),
    [
        # (g - 1) / (5 - 1) on the scale of 1 to 5, g / 10 on that of 0 to 10.
        (Tone, 1, 0.0),
        (Tone, 4, 0.75),
        (Tone, 5, 1.0),
        (Ten, 0, 0.0),
        (Ten, 7, 0.7),
    ],
)
def test_the_score_is_the_place_of_the_grade_on_its_scale(
    kind: type[GradedMetric], grade: int, score: float
) -> None:
    report = evaluated(grade, kind)
    (scores,) = report.scores().values()
    assert scores == {"score": score, "grade": grade}


@given(st.dictionaries(st.integers(1, 5), st.floats(1e-6, 1.0), min_size=1))
def test_any_weights_stay_on_the_scale(weights: dict[int, float]) -> None:
    metric = Tone(judge=Scripted({"tone": weights}))
    result = run(metric.observe("Good day.", "Hello."))
    assert isinstance(result, WithTrace)
    assert -1e-9 <= result.row["score"] <= 1 + 1e-9
    assert min(weights) - 1e-9 <= result.row["grade"] <= max(weights) + 1e-9


@pytest.mark.parametrize(
    ("parameters", "weighing"),
    [
        ({}, Sampling(1, False)),
        ({"samples": 7}, Sampling(1, False)),
        ({"weighting": "samples"}, Sampling(20, False)),
        ({"weighting": "samples", "samples": 7}, Sampling(7, False)),
        ({"weighting": "logprobs", "samples": 7}, Sampling(1, True)),
    ],
)
def test_the_judge_is_asked_by_weighting_and_samples(
    parameters: dict[str, Any], weighing: Sampling
) -> None:
    judge = Listening({"tone": 3})
    Hub(Tone(judge=judge, **parameters))(**PAIR)
    fields = {"prediction": "Good day.", "source": "Hello."}
    assert judge.heard == [("tone", fields, (1, 5), weighing)]


def test_the_explanation_has_the_grade_with_reason_and_shares() -> None:
    step = evaluated({4: 1, 5: 3}).explain("tone", 0).steps[0]
    assert step == {
        "grade": {"score": 4.75, "reason": "as scripted", "weights": {"4": 0.25, "5": 0.75}}
    }


@pytest.mark.parametrize("grade", [0.9, 5.1, -3, math.nan])
def test_a_grade_off_the_scale_is_refused(grade: float) -> None:
    with pytest.raises(MetricError, match=r"the judge scripted returned .* on a scale of 1 to 5"):
        evaluated(grade)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"predictions": [" \n"], "sources": ["Hello."]}, "there is no prediction"),
        ({"predictions": ["Good day."], "sources": [""]}, "there is no source"),
    ],
)
def test_a_blank_text_is_undefined_and_asks_nothing(columns: dict[str, Any], reason: str) -> None:
    report = Hub(Tone(judge=Scripted({}))).evaluate(**columns)
    status = "unscored" if "source" in reason else "unanswered"
    assert report.explain("tone", 0)[:2] == (status, reason)
    assert math.isnan(report.scores()["tone"]["score"])


@pytest.mark.parametrize("contexts", [[], [""], [" ", "\t"]])
def test_a_list_without_a_text_is_absent(contexts: list[str]) -> None:
    assert missing_input({"prediction": "a", "contexts": contexts}) == Unscored(
        "there are no contexts"
    )


@pytest.mark.parametrize(
    ("parameters", "allowed"),
    [
        ({"weighting": "both"}, "'none', 'samples' or 'logprobs'"),
        ({"samples": 0}, "an integer of at least 1"),
    ],
)
def test_a_bad_parameter_is_refused(parameters: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ParameterError, match=allowed):
        Tone(**parameters)


# Inputs that the user chooses.


def test_the_judge_sees_the_chosen_columns_in_their_order() -> None:
    judge = Listening({"tone": 3})
    hub = Hub(Open(judge=judge, sees=("prediction", "contexts", "question")))
    hub(predictions=["a"], contexts=[["b", "c"]], questions=["d"], sources=["e"])
    (_, fields, _, _) = judge.heard[0]
    assert list(fields.items()) == [
        ("prediction", "a"),
        ("contexts", ["b", "c"]),
        ("question", "d"),
    ]


@pytest.mark.parametrize("name", ["prompt", "scale", "weighing", "self", "limit"])
def test_an_input_may_have_any_name(name: str) -> None:
    judge = Listening({"tone": 3})
    result = run(Open(judge=judge, sees=(name,)).observe(**{name: "a"}))
    assert isinstance(result, WithTrace)
    assert judge.heard[0][1] == {name: "a"}


def test_a_missing_column_is_named() -> None:
    with pytest.raises(MissingColumn, match="open needs the column 'questions'"):
        Hub(Open(sees=("prediction", "question")), judge="chance")(predictions=["a"])


TALK: list[Any] = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "<think>Rude.</think>Bye", "tool_calls": []},
]


@pytest.mark.parametrize("name", ["aspect", "g_eval", "rubric"])
def test_the_judge_sees_a_conversation(name: str) -> None:
    seen = []

    def keep(fields: Mapping[str, Any]) -> Any:
        seen.append({**fields})
        return ["yes"] if name == "aspect" else 5

    answers = {"aspect": keep, "grade": keep, "rubric": keep, "steps": ["Read it."]}
    hub = Hub(load_metric(name, judge=Scripted(answers), sees=("messages", "reference")))
    assert hub(messages=[TALK], references=["So?"])[name]["score"] == 1
    # As the judges of conversations are shown them: without what is empty.
    texts = [
        '{"index": 0, "role": "user", "text": "Hi"}',
        '{"index": 1, "role": "assistant", "text": "Bye"}',
    ]
    assert seen == [{"messages": texts, "reference": "So?"}]
    report = Hub(load_metric(name, judge=Scripted({}), sees=("messages",))).evaluate(messages=[[]])
    assert report.explain(name, 0)[:2] == ("unanswered", "there are no messages")
    with pytest.raises(ParameterError, match="'messages' for a conversation"):
        load_metric(name, sees=("conversation",))


@pytest.mark.parametrize(
    "sees", [(), ("prediction", "prediction"), ("the source",), ("", "source")]
)
def test_names_of_inputs_that_are_none_are_refused(sees: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match="names of inputs, each once"):
        Open(sees=sees)
