from typing import assert_type

from metrichub import Hub, Report

report = Hub(["bleu", "chrf"]).evaluate("outputs.parquet", samples=False)
print(report.intervals())

assert_type(report, Report)
