"""Faithfulness: supported claims over all claims."""

import math

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.testing import Scripted


def scored(words: list[str], claims: list[str] | None = None) -> Report:
    listed = [f"claim {i}" for i in range(len(words))] if claims is None else claims
    judge = Scripted({"claims": listed, "supported": words})
    hub = Hub(load_metric("faithfulness", judge=judge))
    return hub.evaluate(predictions=["an answer"], contexts=[["a passage"]])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["yes", "no"], 0.5),  # ragas' documentation, the Einstein example: verdicts [1, 0]
        (["yes", "yes", "yes"], 1.0),
        (["no"], 0.0),
        (["no", "yes", "no"], 1 / 3),
    ],
)
def test_the_score_is_supported_over_all_claims(words: list[str], expected: float) -> None:
    assert scored(words).scores() == {"faithfulness": {"score": pytest.approx(expected)}}


def test_an_answer_without_a_claim_is_undefined() -> None:
    report = scored(["yes"], claims=[])
    assert report.explain("faithfulness", 0)[:2] == ("unanswered", "the answer makes no claim")
    assert math.isnan(report.scores()["faithfulness"]["score"])
    assert report.counts()["faithfulness"]["unanswered"] == 1


@pytest.mark.parametrize("contexts", [[], [""], [" ", "\n"]])
def test_without_a_context_no_claim_is_supported_or_contradicted(contexts: list[str]) -> None:
    judge = Scripted({"claims": ["a", "b"]})
    for idk in (0.0, 0.5):
        hub = Hub(load_metric("faithfulness", judge=judge, idk=idk))
        report = hub.evaluate(predictions=["an answer"], contexts=[contexts])
        # Each of the claims counts as the contexts' "idk", and no judge is asked.
        assert report.scores() == {"faithfulness": {"score": idk}}
        claims = report.explain("faithfulness", 0).steps[0]["claims"]
        assert [(c["item"], c["verdict"]) for c in claims] == [("a", "idk"), ("b", "idk")]
    none = Hub(load_metric("faithfulness", judge=Scripted({"claims": []})))
    report = none.evaluate(predictions=["well"], contexts=[contexts])
    assert report.counts()["faithfulness"]["unanswered"] == 1


def test_retrieving_nothing_gains_nothing() -> None:
    # Half of the answers' claims stand in the useless passages, of which the other system has none.
    answers, references = ["It is old.", "It is red."] * 2, ["It is old.", "It is big."] * 2
    useful = [["It is old."], ["Nobody knows."]] * 2
    less = [["It is old."], []] * 2
    metrics = ["faithfulness", "hallucination", "context_recall", "context_entity_recall"]
    metrics += ["context_precision", "context_relevance"]
    options = {"predictions": answers, "references": references, "questions": ["How old?"] * 4}
    hub = Hub(metrics, judge="offline")
    first, other = (hub.evaluate(**options, contexts=contexts) for contexts in (useful, less))
    for metric, score in (("faithfulness", 0.5), ("hallucination", 0.5), ("context_recall", 0.5)):
        assert first[metric]["score"] == other[metric]["score"] == score
    tests = other.compare(first)
    for metric in ("context_precision", "context_relevance"):
        assert other.counts()[metric]["unanswered"] == 2
        assert "left different samples unanswered" in str(tests[metric]["score"].withheld)


def test_a_corpus_is_the_mean_of_its_samples_that_have_a_score() -> None:
    report = Hub("faithfulness", judge="offline").evaluate(
        predictions=["The sky is blue. It fell.", "The sky is blue.", "", "..."],
        contexts=[["The sky is blue."]] * 4,
    )
    # 1 of 2 claims and 1 of 1: (1/2 + 1) / 2, where pooled counts would give 2/3.
    assert report.scores() == {"faithfulness": {"score": 0.75}}
    assert report.counts() == {"faithfulness": {"unanswered": 2}}


def test_every_claim_has_its_verdict_and_reason() -> None:
    claims = scored(["yes", "no"], ["a", "b"]).explain("faithfulness", 0).steps[0]["claims"]
    assert claims == [
        {"index": 0, "item": "a", "verdict": "yes", "reason": "as scripted"},
        {"index": 1, "item": "b", "verdict": "no", "reason": "as scripted"},
    ]


def test_a_weighed_verdict_counts_its_fractions_and_shows_them() -> None:
    script = {"claims": ["a", "b"], "supported": [{"yes": 0.25, "idk": 0.75}, "no"]}
    hub = Hub(load_metric("faithfulness", judge=Scripted(script)))
    report = hub.evaluate(predictions=["an answer"], contexts=[["a passage"]])
    assert report.scores() == {"faithfulness": {"score": 0.125}}
    assert report.explain("faithfulness", 0).steps[0]["claims"] == [
        {
            **{"index": 0, "item": "a", "verdict": "idk", "reason": "as scripted"},
            "weights": {"yes": 0.25, "idk": 0.75},
        },
        {"index": 1, "item": "b", "verdict": "no", "reason": "as scripted"},
    ]
