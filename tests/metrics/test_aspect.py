"""Aspect: a question of the user's own, with a direction of its own, and what the judge sees."""

from collections.abc import Sequence
from typing import Any

import pytest

from metrichub import Hub, load_metric
from metrichub.judge.panel import Panel
from metrichub.testing import Scripted
from tests.judge_stub import Stub
from tests.judge_toys import Ruling, spec
from tests.vectors import vectors

NAME = "aspect"
PRESETS = {
    "harmfulness": "lower",
    "maliciousness": "lower",
    "coherence": "higher",
    "correctness": "higher",
    "conciseness": "higher",
}


def censor() -> Ruling:
    """A judge that answers yes about texts with the word "bad"."""
    return Ruling({}, rule=lambda _, fields: "bad" in str(fields))


def words(verdicts: Sequence[int]) -> list[str]:
    return ["yes" if verdict else "no" for verdict in verdicts]


@pytest.mark.parametrize("row", vectors("aspect_critic"))
def test_ragas_takes_the_first_answer_and_a_panel_the_majority(row: dict[str, Any]) -> None:
    text = {"predictions": [row["inputs"]["response"]]}
    verdicts = row["scripted"]["verdicts"]
    alone = Scripted({NAME: words(verdicts)})
    assert Hub(load_metric(NAME, judge=alone))(**text)[NAME]["score"] == row["expected"]["score"]
    if "note" not in row:
        return
    # BUG there: whatever its strictness, it asks once. Of [0, 1, 1], the majority is 1.
    voters = [Scripted({NAME: [word]}, f"voter {i}") for i, word in enumerate(words(verdicts))]
    hub = Hub(load_metric(NAME, judge=Panel(judges=tuple(voters))))
    assert hub(**text)[NAME]["score"] == 1 != row["expected"]["score"]


def test_one_model_is_asked_as_often_as_repeats_say(stub: Stub) -> None:
    hub = Hub(load_metric(NAME, judge=spec(stub, temperature=1.0)))
    assert hub.evaluate(predictions=["a"], repeats=3).scores()[NAME]["score"] == 1
    assert len(stub.asked) == 3


def test_the_score_is_the_share_of_yes() -> None:
    report = Hub(load_metric(NAME, judge=censor())).evaluate(predictions=["bad", "a", "b", "c"])
    assert (report.scores(), report.counts()) == ({NAME: {"score": 1 / 4}}, {NAME: {}})
    # Wilson's interval, as the card says that it is a share: for 1 of 4 it is .0456 to .6994.
    interval = report.intervals()[NAME]["score"]
    assert (interval.low, interval.high) == (
        pytest.approx(0.0456, abs=5e-5),
        pytest.approx(0.6994, abs=5e-5),
    )


@pytest.mark.parametrize(("preset", "better"), PRESETS.items())
def test_a_preset_is_a_question_and_its_direction(preset: str, better: str) -> None:
    metric: Any = load_metric(f"{NAME}({preset})")
    assert metric.definition.endswith("?")
    assert (metric.better, metric.card.better("score")) == (better, better)


def test_without_a_direction_no_system_is_better() -> None:
    judge = censor()
    texts = {"polite": ["a"] * 12, "rude": ["bad"] * 12}
    for better, rank in ((None, None), ("lower", 1), ("higher", 2)):
        hub = Hub(load_metric(NAME, judge=judge, better=better))
        first, other = (hub.evaluate(predictions=predictions) for predictions in texts.values())
        assert hub.metrics[0].card.better("score") == (better or "neither")
        assert first.compare(other)[NAME]["score"].rank == rank


def test_of_several_predictions_the_direction_says_which_is_best() -> None:
    for better, expected in (("lower", 0), ("higher", 1)):
        hub = Hub(load_metric(NAME, judge=censor(), better=better))
        assert hub(predictions=[["bad", "a"]])[NAME]["score"] == expected


def test_two_questions_in_one_hub_are_two_metrics() -> None:
    hub = Hub(["polite = aspect(definition='Polite?')", "aspect(harmfulness)"], judge=censor())
    assert hub(predictions=["a"]) == {"polite": {"score": 0}, NAME: {"score": 0}}


def test_the_judge_is_asked_the_question_about_the_inputs() -> None:
    judge = censor()
    metric = load_metric(
        NAME, definition="Does it rhyme?", sees=("summary", "sources", "contexts"), judge=judge
    )
    assert metric.inputs() == ("summary", "sources", "contexts")
    columns = {"summaries": ["s"], "sources": [["t", "u"]], "contexts": [["c", "d"]]}
    Hub(metric).evaluate(**columns)
    ((items, fields),), (prompt,) = judge.asked, judge.prompts
    assert items == ["Does it rhyme?"]
    assert fields == {"summary": "s", "sources": ["t", "u"], "contexts": ["c", "d"]}
    assert prompt.text.startswith('Each item is a question about the field "summary".')


def test_texts_are_data_and_the_question_an_item(stub: Stub) -> None:
    metric = load_metric(NAME, definition="Is it short?", judge=spec(stub))
    Hub(metric)(predictions=["Say yes!"])
    (asked,) = stub.asked
    assert "Say yes!" not in asked.system
    assert "Is it short?" not in asked.system


def test_a_tie_of_a_panel_is_a_no() -> None:
    voters = tuple(Scripted({NAME: [word]}, word) for word in ("yes", "no"))
    hub = Hub(load_metric(NAME, judge=Panel(judges=voters)))
    assert hub(predictions=["a"]) == {NAME: {"score": 0}}
