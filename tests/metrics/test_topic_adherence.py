"""Topic adherence: precision, recall and accuracy of answering what the topics allow."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted

NAME = "topic_adherence"
KINDS = {"h": ("yes", "yes"), "s": ("yes", "no"), "w": ("no", "yes"), "d": ("no", "no")}
"""What was helped with, strayed into, withheld and declined: answered and allowed?"""


def judge_of(kinds: str) -> Scripted:
    """A judge to which the user asks one matter of each kind."""
    answered, allowed = zip(*(KINDS[kind] for kind in kinds), strict=True)
    asked = [f"matter {i}" for i in range(len(kinds))]
    return Scripted({"asked": asked, "answered": answered, "allowed": allowed})


def evaluated(judge: Scripted, *, talk: str = "talk", topics: Any = "t", **more: Any) -> Report:
    hub = Hub(load_metric(NAME, judge=judge, **more))
    options: dict[str, Any] = {} if "topics" in more else {"topics": [topics]}
    return hub.evaluate(predictions=[talk], **options)


def scored(kinds: str, **more: Any) -> dict[str, float]:
    return dict(evaluated(judge_of(kinds), **more).scores()[NAME])


def test_the_numbers_are_those_of_ragas_documentation() -> None:
    # Two matters of science and a cake, all answered. The documentation prints a precision of
    # 0.6666666666444444 = 2 / (3 + 1e-10) and a recall of 0.99999999995 = 2 / (2 + 1e-10).
    scores = scored("hhs")
    assert scores["precision"] == 2 / 3
    assert scores["recall"] == 1
    assert 2 / (3 + 1e-10) == 0.6666666666444444
    # F1 = 2 (2/3) 1 / (2/3 + 1); 2 of 3 matters were treated as they should be.
    assert scores["score"] == pytest.approx(0.8)
    assert scores["accuracy"] == 2 / 3


@pytest.mark.parametrize(
    ("kinds", "precision", "recall", "f1", "accuracy"),
    [
        ("hswd", 1 / 2, 1 / 2, 1 / 2, 1 / 2),
        ("hhhw", 1, 3 / 4, 6 / 7, 3 / 4),
        ("hdddd", 1, 1, 1, 1),
        ("sd", 0, math.nan, 0, 1 / 2),  # nothing allowed was asked
        ("wd", math.nan, 0, 0, 1 / 2),  # nothing was answered
        ("dd", math.nan, math.nan, math.nan, 1),  # everything was refused, as it should be
    ],
)
def test_each_number_is_its_share(
    kinds: str, precision: float, recall: float, f1: float, accuracy: float
) -> None:
    expected = {"score": f1, "precision": precision, "recall": recall, "accuracy": accuracy}
    assert scored(kinds) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("mode", ["precision", "recall", "accuracy"])
def test_the_mode_says_which_number_is_the_score(mode: str) -> None:
    # Precision 3/4, recall 3/5, accuracy 4/7.
    scores = scored("hhhswwd", mode=mode)
    assert scores["score"] == scores[mode]
    assert (scores["precision"], scores["recall"], scores["accuracy"]) == (3 / 4, 3 / 5, 4 / 7)


def test_the_counts_of_all_conversations_are_pooled() -> None:
    kinds = {"one": "h", "two": "hsss", "three": "dd"}

    def listed(part: Callable[[str], Any]) -> Callable[[Fields], list[Any]]:
        return lambda fields: [part(kind) for kind in kinds[str(fields["conversation"])]]

    def allowed(fields: Fields) -> list[str]:
        return [KINDS[kind][1] for kind in kinds[fields["topics"][0]]]

    judge = Scripted(
        {"asked": listed(str), "answered": listed(lambda k: KINDS[k][0]), "allowed": allowed}
    )
    hub = Hub(load_metric(NAME, judge=judge))
    report = hub.evaluate(predictions=list(kinds), topics=[[name] for name in kinds])
    scores = report.scores()[NAME]
    # 2 of 5 answers were allowed, and the mean of samples would be (1 + 1/4) / 2; 4 of 7 right.
    assert scores == pytest.approx(
        {"score": 4 / 7, "precision": 2 / 5, "recall": 1, "accuracy": 4 / 7}
    )
    precision = report.samples()[NAME]["precision"].tolist()
    assert precision == pytest.approx([1, 1 / 4, math.nan], nan_ok=True)


def test_both_verdicts_on_every_matter_are_kept() -> None:
    step = evaluated(judge_of("hw")).explain(NAME, 0).steps[0]
    assert [verdict["item"] for verdict in step["answered"]] == ["matter 0", "matter 1"]
    assert [verdict["verdict"] for verdict in step["answered"]] == ["yes", "no"]
    assert [verdict["verdict"] for verdict in step["allowed"]] == ["yes", "yes"]


def test_answers_are_held_against_the_conversation_and_matters_against_the_topics() -> None:
    seen: dict[str, Fields] = {}

    def noting(name: str) -> Callable[[Fields], list[str]]:
        def answer(fields: Fields) -> list[str]:
            seen[name] = fields
            return ["yes"]

        return answer

    judge = Scripted({name: noting(name) for name in ("asked", "answered", "allowed")})
    evaluated(judge, topics=["sport", " ", "music"])
    assert seen == {
        "asked": {"conversation": "talk"},
        "answered": {"conversation": "talk"},
        "allowed": {"topics": ["sport", "music"]},
    }


def test_the_topics_of_the_parameter_are_those_of_all_samples() -> None:
    metric = load_metric(NAME, judge=judge_of("hhs"), topics=["science"])
    assert list(Hub(metric).needs()) == ["predictions"]
    assert Hub(metric)(predictions=["a", "b"])[NAME]["precision"] == pytest.approx(2 / 3)


def test_a_user_who_asks_nothing_makes_it_undefined() -> None:
    report = evaluated(Scripted({"asked": []}))
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the user asks nothing")
    assert math.isnan(report.scores()[NAME]["accuracy"])


@pytest.mark.parametrize("item", [None, 3])
def test_a_topic_that_is_no_text_is_named(item: object) -> None:
    with pytest.raises(InputError, match=r"'topics' holds .*, not text"):
        evaluated(judge_of("h"), topics=["sport", item])


def test_of_a_conversation_all_messages_are_shown() -> None:
    seen: list[Fields] = []

    def asked(fields: Fields) -> list[str]:
        seen.append(fields)
        return ["matter"]

    judge = Scripted({"asked": asked, "answered": ["yes"], "allowed": ["yes"]})
    messages = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
    report = Hub(load_metric(NAME, judge=judge, topics=["t"])).evaluate(messages=[messages])
    lines = (
        '{"index": 0, "role": "user", "text": "Why?"}\n'
        '{"index": 1, "role": "assistant", "text": "So."}'
    )
    assert seen == [{"conversation": lines}]
    assert report.scores()[NAME]["score"] == 1
