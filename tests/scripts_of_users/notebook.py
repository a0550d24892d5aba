import asyncio
from typing import assert_type

from metrichub import Hub, Report

hub = Hub(["chrf", "faithfulness"], judge="offline")
report = asyncio.run(hub.aevaluate("examples/summaries.jsonl"))

assert_type(report, Report)
