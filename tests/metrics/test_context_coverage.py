"""Context relevance and context recall: needed sentences and attributable claims."""

import math

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.testing import Scripted

SENTENCES = ["The bridge was built in 1932.", "The town has a market.", "Fish is sold there."]
RATIOS = pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["yes", "no", "no"], 1 / 3),
        (["no", "yes", "yes"], 2 / 3),
        (["yes", "yes", "yes"], 1.0),
        (["no", "no", "no"], 0.0),
    ],
)


def relevance(words: list[str], question: str, contexts: list[str]) -> Report:
    hub = Hub(load_metric("context_relevance", judge=Scripted({"needed": words})))
    return hub.evaluate(questions=[question], contexts=[contexts])


def recall(words: list[str], claims: list[str], contexts: list[str]) -> Report:
    judge = Scripted({"claims": claims, "supported": words})
    hub = Hub(load_metric("context_recall", judge=judge))
    return hub.evaluate(references=["a reference"], contexts=[contexts])


@RATIOS
def test_relevance_is_needed_over_all_sentences(words: list[str], expected: float) -> None:
    report = relevance(words, "q", [" ".join(SENTENCES[:2]), SENTENCES[2]])
    assert report.scores() == {"context_relevance": {"score": pytest.approx(expected)}}


def test_the_sentences_asked_about_are_those_of_the_contexts() -> None:
    report = relevance(["yes"], "q", [" ".join(SENTENCES[:2]), "", SENTENCES[2]])
    steps = report.explain("context_relevance", 0).steps[0]["sentences"]
    assert [(step["index"], step["item"]) for step in steps] == list(enumerate(SENTENCES))


@pytest.mark.parametrize("contexts", [[], ["", "..."]])
def test_relevance_without_a_sentence_is_undefined(contexts: list[str]) -> None:
    report = relevance(["yes"], "q", contexts)
    reason = "the contexts have no sentence"
    assert report.explain("context_relevance", 0)[:2] == ("unanswered", reason)
    assert report.counts()["context_relevance"]["unanswered"] == 1


@RATIOS
def test_recall_is_attributable_over_all_claims(words: list[str], expected: float) -> None:
    report = recall(words, SENTENCES, ["a passage"])
    assert report.scores() == {"context_recall": {"score": pytest.approx(expected)}}


@pytest.mark.parametrize(
    ("claims", "contexts", "unscored"),
    [
        ([], ["a passage"], 1),
        ([], [], 1),
        (["a"], [], 0),
        (["a"], ["", "\n"], 0),
    ],
)
def test_recall_is_0_without_a_context_and_undefined_without_a_claim(
    claims: list[str], contexts: list[str], unscored: int
) -> None:
    report = recall(["yes"], claims, contexts)
    score = report.scores()["context_recall"]["score"]
    assert report.counts()["context_recall"].get("unscored", 0) == unscored
    assert math.isnan(score) if unscored else score == 0


def test_every_claim_of_the_reference_has_its_verdict() -> None:
    claims = recall(["yes", "no"], ["a", "b"], ["c"]).explain("context_recall", 0).steps[0]
    assert [(c["item"], c["verdict"]) for c in claims["claims"]] == [("a", "yes"), ("b", "no")]
