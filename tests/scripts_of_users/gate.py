from metrichub import Hub
from metrichub.testing import assert_scores

report = Hub(["chrf", "wer"]).evaluate("examples/summaries.jsonl")
assert_scores(report, {"chrf": ">= 0.4", "wer": "<= 1"})
