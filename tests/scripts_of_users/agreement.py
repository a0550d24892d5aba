from typing import assert_type

from metrichub import Hub
from metrichub.agreement import Agreement, AgreementRow

report = Hub(["chrf", "rouge"]).evaluate("examples/news/bart.jsonl")
agreement = report.agreement("relevance")

assert_type(agreement, Agreement)
assert_type(agreement.rows[0], AgreementRow)
assert_type(agreement.rows[0].value, float)
