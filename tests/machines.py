"""Rows, metrics and claims that tests of Ray and Spark share: parts of any size, equal to one."""

from __future__ import annotations

import os
import random
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import metrichub
from metrichub import Hub, Report
from metrichub.catalog.card import Card
from metrichub.errors import (
    Doubt,
    InputError,
    MetricError,
    MissingColumn,
    ReportError,
    ScoringError,
)
from metrichub.evaluation.result_sums import SumResult
from metrichub.metric import Metric, Row, Unscored
from tests.toy_metrics import Overlap, Variety, card

METRICS = [
    *("bleu", "rouge", "wer", Overlap(), "distinct", "distinct5 = distinct(n=5)"),
    *("cider", "nist", "novelty", "novelty2 = novelty(n=2)"),
]
"""Metrics that add up, in integers and in fractions, and some that don't."""
HUB = Hub(METRICS)
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "rains", "it", "is", "not", "there"]
Rows = list[dict[str, Any]]
PAGE = Path(metrichub.__file__).parents[1] / "docs" / "LARGE.md"
_SNIPPETS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def run_guide(start: str, **names: Any) -> Report:
    """The report that the only snippet of the guide with `start` in it makes."""
    (snippet,) = [snippet for snippet in _SNIPPETS if start in snippet]
    exec(snippet, names)  # our own page
    report: Report = names["report"]
    return report


def rows(number: int, start: int = 0, words: Sequence[str] = WORDS) -> Rows:
    """Samples of which some predictions are empty; each row depends on its own number alone."""
    results = []
    for i in range(start, start + number):
        draw = random.Random(i)
        texts = [" ".join(draw.choices(words, k=draw.randint(low, 9))) for low in (0, 1, 1)]
        results.append({"id": f"q{i}", "group": i % 7, "prediction": texts[0], "refs": texts[1:]})
    return results


def unscored(number: int, start: int) -> Rows:
    """Samples that no metric here but distinct scores: Overlap has no words in the reference."""
    return [{**row, "prediction": "", "refs": [""]} for row in rows(number, start)]


def table(rows: Rows) -> Any:
    """The rows as an Arrow table of one schema, also where there are none."""
    import pyarrow as pa

    texts = pa.list_(pa.string())
    fields = {"id": pa.string(), "group": pa.int64(), "prediction": pa.string(), "refs": texts}
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


def assert_equals_one_process(report: Report, samples: Rows, hub: Hub = HUB) -> None:
    """The same as `hub.evaluate` of all rows: integers bit for bit, the rest but for rounding."""
    stored = hub.evaluate(samples, samples=False, key="id")
    assert report.size == stored.size == len(samples)
    np.testing.assert_equal(rounded(report.scores()), rounded(stored.scores()))
    assert report.counts() == stored.counts()
    for name, result in stored.results.items():
        same = report.results[name]
        assert (same.count, same.unscored) == (result.count, result.unscored)
        assert (same.reasons, same.unanswered) == (result.reasons, result.unanswered)
        if isinstance(result, SumResult):
            assert isinstance(same, SumResult)
            _assert_equal_sums(same.totals, result.totals)
            assert same.bucket_sums
            assert result.bucket_sums
            _assert_equal_sums(same.bucket_sums.arrays, result.bucket_sums.arrays)
    assert report.signatures() == stored.signatures()
    adds = [name for name, result in stored.results.items() if isinstance(result, SumResult)]
    mine, other = (r.intervals(metrics=adds, resamples=50) for r in (report, stored))
    for name in adds:
        for output, interval in other[name].items():
            np.testing.assert_allclose(mine[name][output].ends, interval.ends, rtol=1e-9)
            expected = mine[name][output]
            assert (expected.method, expected.why) == (interval.method, interval.why)
    # A test against the same samples finds no difference.
    assert report.compare(stored, metrics="bleu", trials=10)["bleu"]["score"].p == 1


def _assert_equal_sums(mine: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    assert mine.keys() == other.keys()
    for name, array in other.items():
        # A block with a sample that has no score holds its counts as fractions, equal ones.
        if "i" in (array.dtype.kind, mine[name].dtype.kind):
            np.testing.assert_array_equal(mine[name], array)
        else:
            np.testing.assert_allclose(mine[name], array, rtol=1e-12)


def rounded(scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {
        name: {output: float(f"{value:.12g}") for output, value in outputs.items()}
        for name, outputs in scores.items()
    }


@dataclass(frozen=True, kw_only=True)
class Deadly(Metric):
    """1 for each sample; the process that measures the text "die" is killed, once or each time."""

    card: ClassVar[Card] = card("deadly", "prediction")
    marker: str
    once: bool = True

    def observe(self, prediction: str) -> float:
        """1, or the end."""
        if prediction == "die":
            marker = Path(self.marker)
            with marker.open("a") as file:
                file.write("x")
            if not self.once or marker.stat().st_size == 1:
                os.kill(os.getpid(), signal.SIGKILL)
        return 1.0


@dataclass(frozen=True, kw_only=True)
class Raises(Metric):
    """The length; a text "raise" raises, and notes that it did."""

    card: ClassVar[Card] = card("raises", "prediction")
    marker: str

    def observe(self, prediction: str) -> Row | Unscored:
        """The length, or an error."""
        if prediction == "raise":
            with Path(self.marker).open("a") as file:
                file.write("x")
            raise ZeroDivisionError("there is nothing to divide by")
        return {"score": len(prediction)}


def with_text(rows: Rows, place: int, text: str) -> Rows:
    """The rows, with one prediction changed."""
    return [{**row, "prediction": text} if i == place else row for i, row in enumerate(rows)]


class OnMachines:
    """What holds on every engine. `evaluate` takes a hub and the rows of each partition.

    `attempts` says how often a part is tried whose worker dies.
    """

    attempts = 4

    def evaluate(self, hub: Any, parts: Sequence[Rows], key: Any = "id", **options: Any) -> Report:
        raise NotImplementedError  # each engine has its own

    def test_uneven_and_empty_parts_equal_one_process(self) -> None:
        parts = [rows(3), [], rows(150, 3), unscored(4, 153), rows(1, 157)]
        assert_equals_one_process(
            self.evaluate(HUB, parts), [row for part in parts for row in part]
        )

    def test_a_data_set_without_rows_has_no_score(self) -> None:
        report = self.evaluate(["bleu", "distinct"], [[], []])
        assert report.size == 0
        assert np.isnan([report["bleu"]["score"], report["distinct"]["score"]]).all()

    def test_a_killed_worker_is_run_again_and_counted_once(self, tmp_path: Path) -> None:
        marker = tmp_path / "died"
        hub = Hub([Deadly(marker=str(marker)), "bleu"])
        parts = [rows(20), with_text(rows(20, 20), 11, "die"), rows(20, 40)]
        report = self.evaluate(hub, parts)
        # Measured twice: the first time the process died there.
        assert marker.read_text() == "xx"
        assert report.results["deadly"].count == report.size == 60
        plain = Hub("bleu").evaluate([row for part in parts for row in part])
        assert report["bleu"] == plain["bleu"]

    def test_a_worker_that_always_dies_ends_the_run(self, tmp_path: Path) -> None:
        marker = tmp_path / "died"
        hub = Hub(Deadly(marker=str(marker), once=False))
        with pytest.raises(MetricError, match="died each time it measured a certain part"):
            self.evaluate(hub, [rows(5), with_text(rows(5, 5), 2, "die")])
        assert len(marker.read_text()) == self.attempts

    def test_a_metric_that_raises_ends_the_run_with_the_sample(self, tmp_path: Path) -> None:
        marker = tmp_path / "raised"
        parts = [rows(4), with_text(rows(1500, 4), 1234, "raise")]
        text = "raises failed: ZeroDivisionError: there is nothing to divide by (the sample with "
        with pytest.raises(ScoringError, match=f"^{re.escape(text)}id='q1238'\\)$") as caught:
            self.evaluate(Hub(Raises(marker=str(marker))), parts)
        assert caught.value.metric == "raises"
        # No engine tries again what would raise again.
        assert marker.read_text() == "x"

    def test_a_sample_that_cannot_be_scored_is_named_by_its_key(self) -> None:
        parts = [rows(4), with_text(rows(4, 4), 2, None)]  # type: ignore[arg-type]  # on purpose
        with pytest.raises(
            InputError, match=r"predictions\[2\] .*\(the sample with id='q6', group=6\)$"
        ):
            self.evaluate(Hub("bleu"), parts, key=["id", "group"])

    def test_samples_of_one_key_are_drawn_together(self) -> None:
        parts = [rows(30), rows(30, 30)]
        report = self.evaluate("bleu", parts, key="group")
        result = Hub("bleu").evaluate([r for p in parts for r in p], samples=False, key="group")
        assert report.intervals(resamples=50) == result.intervals(resamples=50)
        # Which rows checks read depends on the parts.
        facts, of_one = (
            [note for note in of.notes()["bleu"] if not isinstance(note, Doubt)]
            for of in (report, result)
        )
        assert facts == of_one != []

    def test_a_metric_that_a_notebook_defines_travels(self) -> None:
        @dataclass(frozen=True, kw_only=True)
        class Mine(Metric):
            limit: int = 3

            def observe(self, prediction: str) -> float:
                return float(len(prediction) > self.limit)

        parts = [rows(5), rows(5, 5)]
        report = self.evaluate(Mine(limit=9), parts)
        assert report["mine"] == Hub(Mine(limit=9)).evaluate(parts[0] + parts[1])["mine"]

    def test_columns_are_found_by_the_names_given(self) -> None:
        parts = [rows(5), rows(5, 5)]
        how = {"references": "refs.0"}
        report = self.evaluate("bleu", parts, columns=how)
        assert report["bleu"] == Hub("bleu").evaluate(parts[0] + parts[1], columns=how)["bleu"]

    @pytest.mark.parametrize(
        ("key", "message"), [((), "need a key"), ("", "need a key"), ("idd", "did you mean 'id'")]
    )
    def test_a_key_is_demanded(self, key: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            self.evaluate("bleu", [rows(2)], key=key)

    def test_a_missing_column_is_said_before_anything_runs(self) -> None:
        with pytest.raises(MissingColumn, match="sources"):
            self.evaluate("sari", [rows(2)])

    def test_rows_are_gathered_up_to_a_limit(self) -> None:
        parts = [rows(3), rows(3, 3)]
        hub = Hub([Variety(), "distinct"])
        assert self.evaluate(hub, parts, gathered=6).size == 6
        with pytest.raises(ReportError, match=r"variety doesn't add up: .* of 5 at most"):
            self.evaluate(hub, parts, gathered=5)
        with pytest.raises(ReportError, match=r"cider doesn't add up: .* of 5 at most"):
            self.evaluate("cider", parts, gathered=5)
        # What merges as a vocabulary has no limit.
        assert self.evaluate("distinct", parts, gathered=5).size == 6
