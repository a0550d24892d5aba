from typing import assert_type

from metrichub import Hub, Interval

report = Hub("chrf").evaluate("examples/summaries.jsonl")
interval = report.intervals(confidence=0.9)["chrf"]["score"]

assert_type(interval, Interval)
assert_type(interval.low, float)
