"""Samples whose rows have no score among those of the corpus, and have one in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.catalog.card import Card
from metrichub.metric import CorpusMetric
from tests.toy_metrics import card


@dataclass(frozen=True, kw_only=True)
class Rareness(CorpusMetric):
    """The mean of one over how often a prediction occurs; none where it occurs alone."""

    card: ClassVar[Card] = card("rareness", "prediction")

    def observe(self, prediction: str) -> str | None:
        """The text; an empty one has none."""
        return prediction or None

    def conclude(self, rows: Sequence[str]) -> Mapping[str, float]:
        """The mean over the samples that have a score."""
        scores = np.array(self.samples(rows)["score"])
        scored = scores[~np.isnan(scores)]
        return {"score": float(scored.mean()) if len(scored) else np.nan}

    def samples(self, rows: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """`nan` where no other row is another text."""
        times = Counter(rows)
        return {"score": [np.nan if len(times) == 1 else 1 / times[row] for row in rows]}

    def unscored(self, rows: Sequence[str]) -> Mapping[int, str]:
        """All rows, if they are one text."""
        return dict.fromkeys(range(len(rows)), "no other text") if len({*rows}) == 1 else {}


def measured(predictions: list[Any]) -> Report:
    return Hub(Rareness()).evaluate(predictions=predictions)


def test_they_are_counted_with_their_reason() -> None:
    report = measured(["a", "a", ""])
    assert report.scores()["rareness"] == pytest.approx({"score": np.nan}, nan_ok=True)
    assert report.counts() == {"rareness": {"unscored": 3}}
    assert "2 unscored: no other text" in report.notes()["rareness"]
    assert [report.explain("rareness", sample).status for sample in (0, 2)] == ["unscored"] * 2
    assert report.explain("rareness", 0).reason == "no other text"


def test_candidates_of_one_sample_count_as_one() -> None:
    assert measured([["a", "a"]]).counts()["rareness"]["unscored"] == 1


def test_a_merge_and_a_group_count_anew() -> None:
    parts = [measured(["a"]), measured(["b", "b"])]
    merged = parts[0].merge(parts[1])
    assert merged.scores() == {"rareness": {"score": pytest.approx(2 / 3)}}
    assert merged.counts() == {"rareness": {}}
    assert not merged.notes()
    assert merged.scores() == measured(["a", "b", "b"]).scores()
    assert merged.counts() == measured(["a", "b", "b"]).counts()
    group = merged.take([1, 2])
    assert group.counts()["rareness"]["unscored"] == 2
    assert group.notes()["rareness"] == parts[1].notes()["rareness"]


def test_a_merge_keeps_the_reasons_of_each_part() -> None:
    # Both parts lack another text, and so does the whole: "a" three times.
    parts = [measured(["a", ""]), measured(["a", "a"])]
    merged = parts[0].merge(parts[1])
    assert merged.results["rareness"].reasons == {"no other text": 3}
    assert merged.results["rareness"].unscored == 4
