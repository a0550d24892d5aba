"""What metrics ask their judge is what they declare, whatever their parameters are."""

import pytest

from metrichub import Hub, load_metric
from metrichub.authoring import JudgeMetric
from metrichub.catalog.registry import registry
from metrichub.judge.chance import ChanceJudge
from metrichub.testing.card_laws import JudgeSpy
from metrichub.testing.under_test import MetricUnderTest

OFF_DEFAULT = (
    "answer_relevancy(noncommittal='all')",
    "context_relevance_graded(shortcuts=True)",
    "factual_correctness(mode='precision')",
    "g_eval(steps=['Look.'])",
    "goal_accuracy(inferred=True)",
    "hallucination(unit='contexts')",
    "pairwise(question=False)",
    "summarization(truths=True)",
    "summarization(assessment_questions=['Is it old?'])",
)


@pytest.mark.parametrize("spec", OFF_DEFAULT)
def test_a_metric_asks_what_it_declares_off_its_defaults(spec: str) -> None:
    judge = JudgeSpy(ChanceJudge())
    metric = load_metric(spec, judge=judge)
    assert isinstance(metric, JudgeMetric)
    under_test = MetricUnderTest(registry().find(metric.card.name))
    Hub(metric, embedder="offline").evaluate(**under_test.columns)
    declared = {(kind, name) for kind, names in metric.questions().items() for name in names}
    assert judge.questions == declared
