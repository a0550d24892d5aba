from dataclasses import dataclass
from typing import assert_type

from metrichub import Hub
from metrichub.authoring import Metric


def length_ratio(prediction: str, reference: str) -> float:
    return len(prediction) / len(reference)


@dataclass(frozen=True, kw_only=True)
class Mentions(Metric):
    word: str = "please"

    def observe(self, prediction: str) -> float:
        return float(self.word in prediction.lower())


report = Hub([length_ratio, Mentions(word="cat")]).evaluate("examples/summaries.jsonl")
scores = report.scores()

assert_type(scores["mentions"]["score"], float)
