"""Hallucination: unsupported over all claims, or contradicted over all contexts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.errors import JudgeUnavailable
from metrichub.testing import Scripted

NAME = "hallucination"


def by_claims(words: list[str], claims: list[str] | None = None) -> Report:
    listed = [f"claim {i}" for i in range(len(words))] if claims is None else claims
    judge = Scripted({"claims": listed, "supported": words})
    return Hub(load_metric(NAME, judge=judge)).evaluate(predictions=["a"], contexts=[["a text"]])


def by_contexts(words: list[str], contexts: list[str] | None = None, answer: str = "a") -> Report:
    judge = Scripted({"contradicted": words})
    hub = Hub(load_metric(NAME, judge=judge, unit="contexts"))
    passages = [f"passage {i}" for i in range(len(words))] if contexts is None else contexts
    return hub.evaluate(predictions=[answer], contexts=[passages])


@pytest.mark.parametrize(
    ("words", "contradicted", "unsupported"),
    [
        (["yes", "yes"], 0, 0),
        (["no"], 1, 0),
        (["idk"], 0, 1),
        (["yes", "no", "idk", "no"], 2 / 4, 1 / 4),
    ],
)
def test_the_score_is_the_sum_of_the_contradicted_and_the_open_claims(
    words: list[str], contradicted: float, unsupported: float
) -> None:
    assert by_claims(words).scores()[NAME] == {
        "score": pytest.approx(contradicted + unsupported),
        "contradicted": pytest.approx(contradicted),
        "unsupported": pytest.approx(unsupported),
    }


WORDS = st.lists(st.sampled_from(["yes", "no", "idk"]), min_size=1, max_size=9)


@given(WORDS)
def test_it_is_one_minus_faithfulness(words: list[str]) -> None:
    judge = Scripted({"claims": [f"claim {i}" for i in range(len(words))], "supported": words})
    hub = Hub([load_metric(NAME, judge=judge), load_metric("faithfulness", judge=judge)])
    scores = hub(predictions=["a"], contexts=[["a text"]])
    assert scores[NAME]["score"] == pytest.approx(1 - scores["faithfulness"]["score"])


@given(WORDS)
def test_a_further_invention_never_lowers_the_score(words: list[str]) -> None:
    first, other = (by_claims(tags).scores()[NAME]["score"] for tags in (words, [*words, "idk"]))
    assert other >= first


def test_claims_are_asked_about_exactly_as_faithfulness_asks() -> None:
    asked = []

    def words(fields: object) -> list[str]:
        asked.append(fields)
        return ["yes"]

    judge = Scripted({"claims": ["a"], "supported": words})
    contexts = [["one", " ", "two"]]
    for name in (NAME, "faithfulness"):
        Hub(load_metric(name, judge=judge)).evaluate(predictions=["a"], contexts=contexts)
    assert asked == [{"evidence": ["one", " ", "two"]}] * 2


def test_an_answer_without_a_claim_is_undefined() -> None:
    report = by_claims(["yes"], claims=[])
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the answer makes no claim")
    assert math.isnan(report.scores()[NAME]["score"])
    assert report.counts()[NAME]["unanswered"] == 1


@pytest.mark.parametrize("contexts", [[], ["", " \n"]])
def test_without_a_context_all_claims_are_unsupported(
    contexts: list[str],
) -> None:
    hub = Hub(load_metric(NAME, judge=Scripted({"claims": ["a", "b"]})))
    scores = hub(predictions=["a"], contexts=[contexts])[NAME]
    assert scores == {"score": 1, "contradicted": 0, "unsupported": 1}


@pytest.mark.parametrize(
    ("words", "score"),
    [
        (["compatible", "compatible"], 0),
        (["contradicted"], 1),
        # deepeval's formula: contradicted contexts over contexts.
        (["compatible", "contradicted", "compatible", "compatible"], 1 / 4),
    ],
)
def test_by_contexts_it_is_the_share_of_contradicted_ones(words: list[str], score: float) -> None:
    assert by_contexts(words).scores() == {NAME: {"score": pytest.approx(score)}}


def test_by_contexts_blank_passages_are_not_counted() -> None:
    report = by_contexts(["contradicted", "compatible"], ["", "one", " ", "two"])
    assert report.scores() == {NAME: {"score": 0.5}}


def test_by_contexts_the_offline_judge_refuses() -> None:
    with pytest.raises(JudgeUnavailable, match=r"can't answer the prompt 'contradicted'"):
        Hub(load_metric(NAME, unit="contexts"), judge="offline")(
            predictions=["a"], contexts=[["a"]]
        )


def test_every_claim_has_its_verdict_and_reason() -> None:
    claims = by_claims(["no", "idk"], ["a", "b"]).explain(NAME, 0).steps[0]["claims"]
    assert claims == [
        {"index": 0, "item": "a", "verdict": "no", "reason": "as scripted"},
        {"index": 1, "item": "b", "verdict": "idk", "reason": "as scripted"},
    ]


def test_every_context_has_its_verdict_and_reason() -> None:
    step = by_contexts(["contradicted", "compatible"], ["one", "two"]).explain(NAME, 0).steps[0]
    assert step == {
        "contexts": [
            {"index": 0, "item": "one", "verdict": "contradicted", "reason": "as scripted"},
            {"index": 1, "item": "two", "verdict": "compatible", "reason": "as scripted"},
        ]
    }
