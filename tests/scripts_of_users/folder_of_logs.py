from typing import assert_type

from metrichub import Comparison, Hub, compare_all

reports = Hub().evaluate_all("examples/logs", as_recorded=True)
ranking = compare_all(reports)
print(ranking)

assert_type(ranking.compare("large", "small")["acc"]["score"], Comparison)
