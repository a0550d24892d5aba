from typing import assert_type

from metrichub import Comparison, Hub

hub = Hub(["bleu", "rouge"])
ours = hub.evaluate("examples/summaries.jsonl")
theirs = hub.evaluate("examples/summaries_b.jsonl")
comparison = ours.compare(theirs)["rouge"]["rougeL"]

assert_type(comparison, Comparison)
assert_type(comparison.p, float)
