from typing import assert_type

from metrichub import Hub, Report, Usage

hub = Hub("faithfulness", judge="openai(model='gpt-5.4-mini', prices=[0.25, 2])")
usage = hub.estimate("examples/summaries.jsonl")
report = Hub("faithfulness", judge="offline").evaluate("examples/summaries.jsonl")
print(usage.calls, usage.money, report.explain("faithfulness", 0))

assert_type(usage, Usage)
assert_type(usage.money, float | None)
assert_type(report, Report)
