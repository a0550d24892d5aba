"""For tests: score thresholds, the contract tests for metrics, and judges with fixed answers.

In your own tests, or in continuous integration:

    from metrichub import Hub
    from metrichub.testing import assert_scores

    def test_summaries_are_good_enough():
        report = Hub(["bleu", "rouge"]).evaluate("outputs.jsonl")
        assert_scores(report, {"bleu": ">= 0.30", "rouge.rougeL": ">= 0.25"}, on="interval")

The command line has the same: `metrichub score outputs.jsonl -m wer --fail-under 'wer<=0.2'`.
"""

from metrichub.judge.scripted import Recorded, Scripted
from metrichub.testing.assertions import assert_scores
from metrichub.testing.contract import Finding, MetricContract, check, update_card

__all__ = [
    "Finding",
    "MetricContract",
    "Recorded",
    "Scripted",
    "assert_scores",
    "check",
    "update_card",
]
