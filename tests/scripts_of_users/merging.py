from typing import assert_type

from metrichub import Hub, Report

hub = Hub(["bleu", "chrf"])
parts = [hub.evaluate(path) for path in ("part-0.jsonl", "part-1.jsonl")]
report = parts[0].merge(parts[1])

assert_type(report, Report)
