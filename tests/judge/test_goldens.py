"""Numbers that other tools publish, out of given verdicts: ours exactly, theirs where they differ.

ragas: its documentation, docs/concepts/metrics/available_metrics, at 3e28e9de; it adds a small
number to divisors, so that its figures lie beside the fractions that its formulas say.
deepeval: the formulas of deepeval/metrics/summarization/summarization.py at a2e0d4cf.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from metrichub import Hub
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted

# What ragas adds to a divisor, and how far that moves a share at most.
TEN, EIGHT = 1e-10, 1e-8

QUESTIONS = [f"Question {i}?" for i in range(8)]
Answers = Mapping[str, object]


class Golden(NamedTuple):
    """Verdicts and their number; `elsewhere` is another tool's, `within` how far it may lie."""

    spec: str
    answers: Answers
    columns: Mapping[str, Sequence[Any]]
    expected: float
    output: str = "score"
    elsewhere: float | None = None
    within: float = 0.0


def labels(*values: int) -> list[str]:
    return ["yes" if label else "no" for label in values]


def by_text(texts: Mapping[str, Sequence[str]]) -> Callable[[Fields], Sequence[str]]:
    """An answer for each text that is asked about."""
    return lambda fields: texts[str(fields["text"])]


def held(texts: Mapping[str, Sequence[str]]) -> Callable[[Fields], Sequence[str]]:
    """The verdicts by the one text of the evidence."""
    return lambda fields: texts[fields["evidence"][0]]


# summarization_score.md: 8 questions, 7 answers "1", 183 and 310 characters.
SEVEN_OF_EIGHT: Answers = {
    "keyphrases": ["a phrase"],
    "questions": QUESTIONS,
    "answered": labels(1, 1, 1, 1, 1, 1, 1, 0),
}
LENGTHS = {"predictions": ["s" * 183], "sources": ["t" * 310]}

ANSWER = {"predictions": ["answer"], "references": ["reference"]}
RANKED = {"questions": ["question"], "predictions": ["answer"], "references": ["answer"]}


def passages(number: int) -> dict[str, list[Any]]:
    return {**RANKED, "contexts": [[f"passage {i}" for i in range(number)]]}


# answer_correctness.md: one claim is right, one is wrong, one is missing.
ONE_EACH: Answers = {
    "claims": by_text({"answer": ["right", "wrong"], "reference": ["right", "missing"]}),
    "supported": held({"reference": labels(1, 0), "answer": labels(1, 0)}),
}
# factual_correctness.md: the answer's claim is right and one of the reference's two.
HALF_THERE: Answers = {
    "claims": by_text({"answer": ["right"], "reference": ["right", "missing"]}),
    "supported": held({"reference": labels(1), "answer": labels(1, 0)}),
}
# noise_sensitivity.md: three claims, of which the relevant passage states a wrong one too.
ONE_NOISY: Answers = {
    "claims": by_text({"answer": ["a", "b", "wrong"], "reference": ["fact"]}),
    "supported": held({"reference": labels(1, 1, 0), "passage": labels(1, 1, 1)}),
}
# topic_adherence.md: three requests answered, two of them on the topics.
THREE_ANSWERED: Answers = {
    "asked": ["physics", "mathematics", "cooking"],
    "answered": labels(1, 1, 1),
    "allowed": labels(1, 1, 0),
}
TOPICS = {"predictions": ["a conversation"], "topics": [["science"]]}
# context_entities_recall.md: both of the reference's entities are in the context.
ENTITIES: Answers = {"entities": ["Taj Mahal", "Agra"]}
PLACES = {"references": ["reference"], "contexts": [["passage"]]}


def summary(its: Sequence[str], mine: Sequence[str]) -> Answers:
    """Claims as yes, yes, idk, no; the questions' answers out of the source and the summary."""
    return {
        "claims": ["a", "b", "c", "d"],
        "supported": ["yes", "yes", "idk", "no"],
        "questions": QUESTIONS[: len(its)],
        "answered": by_text({"source": its, "summary": mine}),
    }


SUMMARY = {"predictions": ["summary"], "sources": ["source"]}
THREE_OF_FOUR = summary(labels(1, 1, 1, 1), labels(1, 1, 1, 0))
NONE_ASKED = summary(labels(0, 0), labels(1, 1))

GOLDENS = {
    "summarization score": Golden(
        "summarization_score", SEVEN_OF_EIGHT, LENGTHS, 0.6423387096775146
    ),
    # The two published weightings: 7/8 · 0.2 + 0.4096… · 0.8, and the other way round.
    "coeff of conciseness": Golden(
        "summarization_score(coeff=0.8)", SEVEN_OF_EIGHT, LENGTHS, 0.5027419354840232
    ),
    "coeff of qa": Golden(
        "summarization_score(coeff=0.8, coeff_of='qa')", SEVEN_OF_EIGHT, LENGTHS, 0.7819354838710059
    ),
    "faithfulness, Einstein": Golden(
        "faithfulness",
        {"claims": ["born in Germany", "born on 20th March"], "supported": labels(1, 0)},
        {"predictions": ["answer"], "contexts": [["passage"]]},
        0.5,
    ),
    "useful first": Golden(
        *("context_utilization", {"useful": labels(1, 0)}, passages(2), 1.0),
        elsewhere=0.9999999999,
        within=2 * TEN,
    ),
    "useful last": Golden(
        *("context_utilization", {"useful": labels(0, 1)}, passages(2), 0.5),
        elsewhere=0.49999999995,
        within=TEN,
    ),
    "useful first, as ragas": Golden(
        *("context_utilization(epsilon=1e-10)", {"useful": labels(1, 0)}, passages(2)), 0.9999999999
    ),
    "useful last, as ragas": Golden(
        *("context_utilization(epsilon=1e-10)", {"useful": labels(0, 1)}, passages(2)),
        0.49999999995,
    ),
    # Precision 1 at rank 1 and 2/3 at rank 3.
    "average precision, utilization": Golden(
        "context_utilization", {"useful": labels(1, 0, 1)}, passages(3), (1 + 2 / 3) / 2
    ),
    "average precision, precision": Golden(
        "context_precision", {"useful": labels(1, 0, 1)}, passages(3), (1 + 2 / 3) / 2
    ),
    "entity recall": Golden(
        *("context_entity_recall", ENTITIES, PLACES, 1.0), elsewhere=0.999999995, within=EIGHT
    ),
    "topics, precision": Golden(
        *("topic_adherence(mode='precision')", THREE_ANSWERED, TOPICS, 2 / 3),
        elsewhere=0.6666666666444444,
        within=TEN,
    ),
    "topics, recall": Golden(
        *("topic_adherence(mode='recall')", THREE_ANSWERED, TOPICS, 1.0),
        elsewhere=0.99999999995,
        within=TEN,
    ),
    "noise sensitivity": Golden(
        "noise_sensitivity", ONE_NOISY, {**ANSWER, "contexts": [["passage"]]}, 0.3333333333333333
    ),
    # F1 = 2 · 1 / (2 · 1 + 1 + 1); without the part that is a cosine.
    "answer correctness": Golden(
        "answer_correctness(weights=[1, 0])", ONE_EACH, ANSWER, 0.5, "factuality"
    ),
    # ragas rounds to two places.
    "factual correctness": Golden(
        *("factual_correctness", HALF_THERE, ANSWER, 2 / 3), elsewhere=0.67, within=0.005
    ),
    "alignment": Golden("summarization", THREE_OF_FOUR, SUMMARY, 0.5, "alignment"),
    "coverage": Golden("summarization", THREE_OF_FOUR, SUMMARY, 0.75, "coverage"),
    "lesser of both": Golden("summarization", THREE_OF_FOUR, SUMMARY, 0.5),
    "no question are_yes": Golden("summarization", NONE_ASKED, SUMMARY, 0.0, "coverage"),
    # Liu et al. (2023), equation 1: 0.2 · 4 + 0.8 · 5, and its place between 1 and 5.
    "G-Eval, grade": Golden(
        *("g_eval(steps=['Read it.'], weighting='logprobs')", {"grade": {4: 0.2, 5: 0.8}}),
        *({"predictions": ["text"]}, 4.8, "grade"),
    ),
    "G-Eval, place on the scale": Golden(
        *("g_eval(steps=['Read it.'], weighting='logprobs')", {"grade": {4: 0.2, 5: 0.8}}),
        *({"predictions": ["text"]}, 0.95),
    ),
}


def score_of(golden: Golden) -> float:
    hub = Hub(golden.spec, judge=Scripted(golden.answers))
    [scores] = hub(golden.columns).values()
    return scores[golden.output]


@pytest.mark.parametrize("golden", GOLDENS.values(), ids=GOLDENS.keys())
def test_the_verdicts_give_the_published_number(golden: Golden) -> None:
    assert score_of(golden) == golden.expected


OTHERS = {name: golden for name, golden in GOLDENS.items() if golden.elsewhere is not None}


@pytest.mark.parametrize("golden", OTHERS.values(), ids=OTHERS.keys())
def test_another_tools_number_lies_as_far_as_what_it_adds_or_rounds(golden: Golden) -> None:
    assert score_of(golden) == pytest.approx(golden.elsewhere, rel=0, abs=golden.within)
