from typing import assert_type

from metrichub import Comparison, Hub, Ranking, Report, compare_all

names = ["bart", "pointer_generator", "t5"]
reports = Hub(["chrf", "rouge"]).evaluate_all({n: f"examples/news/{n}.jsonl" for n in names})
ranking = compare_all(reports)

assert_type(ranking, Ranking[Report])
assert_type(ranking.compare("bart", "t5")["chrf"]["score"], Comparison)
assert_type(ranking.reports["bart"], Report)
