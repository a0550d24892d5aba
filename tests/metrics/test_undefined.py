"""Samples that a judged metric can't be asked about: why they have no score, and no question."""

from __future__ import annotations

import math
from typing import Any

import pytest

from metrichub import Hub
from metrichub.testing import Scripted

SAMPLE: dict[str, Any] = {
    **{"predictions": "a", "references": "b", "questions": "q", "sources": "s", "topics": "t"},
    **{"contexts": ["c"], "instructions": ["do"], "roles": "a clerk"},
}
ITS_OWN = {"prediction", "answer", "context", "conversation", "reply", "summary"}
"""What a system writes or retrieves; the rest comes with the sample."""
BLANK = [
    ("answer_accuracy", {"questions": "\t"}, "question"),
    ("answer_accuracy", {"predictions": ""}, "answer"),
    ("answer_accuracy", {"references": " "}, "reference"),
    ("answer_correctness", {"predictions": " "}, "prediction"),
    ("answer_correctness", {"references": "\n"}, "reference"),
    ("answer_relevancy", {"questions": " "}, "question"),
    ("aspect", {"predictions": " "}, "prediction"),
    ("aspect(sees=('prediction', 'question'))", {"questions": " "}, "question"),
    ("atomic_facts(evidence='source')", {"sources": " "}, "source"),
    ("atomic_facts(question=True)", {"questions": ""}, "question"),
    ("coherence", {"sources": " \n"}, "source"),
    ("conciseness", {"questions": " \n"}, "question"),
    ("consistency", {"predictions": " \n"}, "prediction"),
    ("context_precision", {"questions": " "}, "question"),
    ("context_precision", {"references": "\n"}, "answer"),
    ("context_precision", {"contexts": []}, "context"),
    ("context_relevance", {"questions": " "}, "question"),
    ("context_relevance_graded", {"questions": ""}, "question"),
    ("context_relevance_graded", {"contexts": [" "]}, "context"),
    ("context_utilization", {"questions": " "}, "question"),
    ("context_utilization", {"predictions": "\n"}, "answer"),
    ("context_utilization", {"contexts": ["", " \n"]}, "context"),
    ("contextual_relevancy", {"questions": " "}, "question"),
    ("contextual_relevancy", {"contexts": []}, "context"),
    ("contextual_relevancy", {"contexts": ["", "\n"]}, "context"),
    ("factual_correctness", {"predictions": " \n"}, "prediction"),
    ("factual_correctness", {"references": ""}, "reference"),
    ("fluency", {"predictions": " \n"}, "prediction"),
    ("g_eval", {"predictions": " "}, "prediction"),
    ("goal_accuracy", {"references": " \n"}, "reference"),
    ("goal_accuracy", {"predictions": "\t"}, "conversation"),
    ("goal_accuracy(inferred=True)", {"predictions": ""}, "conversation"),
    ("goal_accuracy(task='x')", {"predictions": []}, "conversation"),
    ("hallucination(unit='contexts')", {"predictions": " "}, "answer"),
    ("hallucination(unit='contexts')", {"contexts": ["", " \n"]}, "context"),
    ("noise_sensitivity", {"predictions": " "}, "prediction"),
    ("noise_sensitivity", {"references": "\n"}, "reference"),
    ("noise_sensitivity", {"contexts": []}, "context"),
    ("noise_sensitivity", {"contexts": ["", " "]}, "context"),
    ("pairwise", {"questions": ""}, "question"),
    ("pairwise", {"questions": " \n"}, "question"),
    ("policy_compliance(role_violation)", {"roles": " "}, "role"),
    ("policy_compliance(role_violation)", {"predictions": " "}, "prediction"),
    ("prompt_alignment", {"predictions": "\t"}, "reply"),
    ("prompt_alignment", {"instructions": []}, "instruction"),
    ("prompt_alignment", {"instructions": [" ", "\n"]}, "instruction"),
    ("prompt_alignment", {"instructions": ""}, "instruction"),
    ("relevance", {"sources": " \n"}, "source"),
    ("response_groundedness", {"predictions": " "}, "answer"),
    ("rubric", {"predictions": " "}, "prediction"),
    ("semantic_similarity", {"predictions": " "}, "prediction"),
    ("semantic_similarity(threshold=0.5)", {"references": ""}, "reference"),
    ("summarization", {"sources": " \n"}, "source"),
    ("summarization", {"predictions": "\t"}, "summary"),
    ("summarization_score", {"sources": " \n"}, "source"),
    ("summarization_score", {"predictions": "\t"}, "summary"),
    ("topic_adherence", {"topics": []}, "topic"),
    ("topic_adherence", {"topics": [""]}, "topic"),
    ("topic_adherence", {"topics": " "}, "topic"),
    ("topic_adherence", {"predictions": " \n"}, "conversation"),
]


@pytest.mark.parametrize(("spec", "blank", "missing"), BLANK)
def test_a_blank_text_is_undefined_and_asks_nothing(
    spec: str, blank: dict[str, Any], missing: str
) -> None:
    hub = Hub([spec], judge=Scripted({}), embedder="offline")
    needed = {name: [value] for name, value in (SAMPLE | blank).items() if name in hub.needs()}
    report = hub.evaluate(**needed)
    (name,) = report.scores()
    assert math.isnan(report.scores()[name]["score"])
    its_own = missing in ITS_OWN and "references" not in blank
    status = "unanswered" if its_own else "unscored"
    assert report.counts()[name] == {status: 1}
    assert report.explain(name, 0)[:2] == (status, f"there is no {missing}")
