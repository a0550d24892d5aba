"""Bucket totals: sums that merge in any order and still have intervals and paired tests."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Interval, Report, compare_all, list_metrics, load_metric
from metrichub.errors import InputError, MissingColumn, ReportError
from metrichub.evaluation.buckets import BUCKETS, CELLS, FEW, BucketSizes, buckets_for
from metrichub.evaluation.result_sums import SumResult
from metrichub.metric import Metric
from tests.resampled import drawn
from tests.toy_metrics import Variety
from tests.vectors import SUMMEVAL, WMT16, corpus, slow

Row = dict[str, Any]
READ = {"predictions", "references", "sources"}


@cache
def additive() -> tuple[str, ...]:
    """The metrics of metrichub that add up and read texts alone."""
    ours = [card.name for card in list_metrics() if card.distribution == "metrichub"]
    metrics = [load_metric(name) for name in ours]
    return tuple(
        metric.name
        for metric in metrics
        if metric.averaging != "corpus"
        and not hasattr(metric, "judge")
        and not hasattr(metric, "embedder")
        and set(Hub(metric).needs()) <= READ
    )


@cache
def rows(name: str, most: int) -> list[Row]:
    """The rows of a corpus, each with an id."""
    return [
        {
            "prediction": row["hyp"],
            "references": row["refs"],
            "source": row["refs"][0],
            "id": number,
            "doc_id": row.get("doc_id", number // 5),
        }
        for number, row in enumerate(corpus(name, most))
    ]


def sums(report: Report, metric: str) -> tuple[Any, Any]:
    """The buckets of a metric, as lists."""
    result = report.results[metric]
    assert isinstance(result, SumResult)
    assert result.bucket_sums is not None
    arrays = {name: array.tolist() for name, array in result.bucket_sums.arrays.items()}
    return arrays, result.bucket_sums.counts.tolist()


@pytest.mark.parametrize("name", additive())
def test_shuffling_cutting_and_retrying_give_equal_buckets(name: str) -> None:
    hub, samples = Hub(name), rows(SUMMEVAL, 16)
    report = hub.evaluate(samples, samples=False, key="id")
    shuffled = random.Random(5).sample(samples, len(samples))
    parts = [shuffled[:7], shuffled[7:8], shuffled[8:]]
    hub.evaluate(parts[1], samples=False, key="id")  # a try whose result was lost
    measured = [hub.evaluate(part, samples=False, key="id") for part in parts]
    merged = measured[2].merge(measured[0]).merge(measured[1])
    (first, counts), (other, others) = sums(report, name), sums(merged, name)
    assert counts == others
    for statistic, values in first.items():
        if np.asarray(values).dtype.kind == "i":
            assert values == other[statistic]
        np.testing.assert_allclose(values, other[statistic], rtol=1e-12, atol=1e-15)
    assert report.buckets is not None
    assert merged.buckets is not None
    report.buckets.check_same(merged.buckets)
    assert merged.scores()[name] == pytest.approx(report.scores()[name], rel=1e-12, nan_ok=True)
    assert merged.counts()[name] == report.counts()[name]


def test_up_to_a_thousand_samples_by_position_are_drawn_as_samples_are() -> None:
    hub, samples = Hub(["bleu", "rouge", "wer", "chrf"]), rows(SUMMEVAL, 240)
    report = hub.evaluate(samples)
    summed = hub.evaluate(iter([samples[:100], samples[100:]]), samples=False)
    assert summed.intervals() == report.intervals()
    worse = [row | {"prediction": " ".join(row["prediction"].split()[:-3])} for row in samples]
    first = report.compare(hub.evaluate(worse))
    other = summed.compare(hub.evaluate(worse, samples=False))
    for name, outputs in first.items():
        for output, test in outputs.items():
            again = other[name][output]
            for field in fields(test):
                mine, its = getattr(again, field.name), getattr(test, field.name)
                if isinstance(its, Interval):
                    np.testing.assert_allclose(mine.ends, its.ends, rtol=1e-12)
                elif isinstance(its, float):
                    np.testing.assert_allclose(mine, its, rtol=1e-12)
                else:
                    assert mine == its


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5))
def test_reports_by_position_merge_to_that_of_all_samples(sizes: list[int]) -> None:
    hub, samples = Hub("wer"), rows(SUMMEVAL, 240)[: sum(sizes)]
    cuts = np.cumsum([0, *sizes]).tolist()
    columns = {name: [row[name] for row in samples] for name in ("prediction", "references")}
    parts = [{n: values[a:b] for n, values in columns.items()} for a, b in pairwise(cuts)]
    first, *others = [hub.evaluate(part, samples=False) for part in parts]
    report = hub.evaluate(columns, samples=False)
    merged = first.merge(*others)
    assert sums(merged, "wer") == sums(report, "wer")
    assert merged.buckets is not None
    assert report.buckets is not None
    merged.buckets.check_same(report.buckets)


@pytest.mark.parametrize(
    ("name", "most", "dear"),
    [
        (SUMMEVAL, 240, ("codebleu", "character", "ter", "eed")),
        slow(SUMMEVAL, 240, ("codebleu", "character")),
        slow(WMT16, 2999, ("codebleu", "character")),
    ],
)
def test_intervals_of_buckets_are_as_wide_as_those_of_samples(
    name: str, most: int, dear: tuple[str, ...]
) -> None:
    # JSON similarity takes a list of texts for one value, and refuses to share it with others.
    cheap = [metric for metric in additive() if metric not in (*dear, "json_similarity")]
    hub, samples = Hub(cheap), rows(name, most)
    ordinary = hub.evaluate(samples).intervals()
    bucketed = hub.evaluate(iter([samples]), samples=False, key="id").intervals()
    for metric in cheap:
        first, other = ordinary[metric]["score"], bucketed[metric]["score"]
        width = first.high - first.low
        if np.isnan(width):
            assert metric in ("tool_call_accuracy", "tool_call_f1", "json_schema_match"), metric
            continue
        assert other.high - other.low == pytest.approx(width, rel=0.15, abs=1e-9), metric


def test_clusters_are_drawn_whole() -> None:
    # Ten documents of 24 equal samples each say no more than ten samples do.
    texts = [("the cat", "the cat"), ("a dog", "the cat"), ("a cat", "the cat"), ("x y", "x z")] * 2
    single = [{"prediction": p, "reference": r, "doc": i} for i, (p, r) in enumerate(texts)]
    hub = Hub(["token_f1", "distinct"])
    alone = hub.evaluate(single)
    repeated = hub.evaluate([row for row in single for _ in range(24)])
    clustered = repeated.intervals(cluster="doc")["token_f1"]["score"]
    assert clustered == pytest.approx(alone.intervals()["token_f1"]["score"])
    plain = repeated.intervals()["token_f1"]["score"]
    assert plain.high - plain.low < (clustered.high - clustered.low) / 2
    other = [row | {"prediction": "the cat"} for row in single]
    once = alone.compare(hub.evaluate(other), metrics="token_f1")
    often = repeated.compare(
        hub.evaluate([row for row in other for _ in range(24)]), metrics="token_f1", cluster="doc"
    )
    assert often["token_f1"]["score"].randomization_p == once["token_f1"]["score"].randomization_p


def test_the_rows_of_a_corpus_metric_are_drawn_by_their_clusters() -> None:
    texts = [("a b", "x"), ("a b", "x"), ("c c d d", "y")]
    report = Hub(Variety()).evaluate([{"prediction": text, "doc": doc} for text, doc in texts])
    result = report.results["variety"]
    # Eight words each time: of the two of x, of the two of y, and of all four.
    index = [[0, 0], [1, 1], [0, 1]]
    scores = drawn(result, index, report.units(result, "doc"))["score"]
    assert scores.tolist() == [2 / 8, 2 / 8, 4 / 8]


def test_clusters_have_to_be_there_and_the_same() -> None:
    hub = Hub("bleu")
    report = hub.evaluate(rows(SUMMEVAL, 20))
    with pytest.raises(ReportError, match=r"the report has no column 'doc'; did you mean 'doc_id'"):
        report.intervals(cluster="doc")
    holes = hub.evaluate([row | {"doc_id": None} for row in rows(SUMMEVAL, 20)])
    with pytest.raises(ReportError, match="sample 0 has no doc_id"):
        holes.intervals(cluster="doc_id")
    moved = hub.evaluate([row | {"doc_id": row["id"]} for row in rows(SUMMEVAL, 20)])
    with pytest.raises(ReportError, match="the systems differ in 'doc_id'"):
        compare_all({"a": report, "b": moved}, cluster="doc_id")
    bare = hub.evaluate(rows(SUMMEVAL, 20), keep=[])
    for first, other in ((report, bare), (bare, report)):
        assert not np.isnan(first.compare(other, cluster="doc_id")["bleu"]["score"].p)
    with pytest.raises(ReportError, match="evaluate with key='doc_id'"):
        hub.evaluate(rows(SUMMEVAL, 20), samples=False).intervals(cluster="doc_id")


def _other(samples: Sequence[Row], **changes: Any) -> Report:
    return Hub("wer").evaluate([row | changes for row in samples], samples=False, key="id")


def test_only_the_same_samples_are_compared() -> None:
    samples = rows(SUMMEVAL, 30)
    report = _other(samples)
    with pytest.raises(ReportError, match="have different references"):
        report.compare(_other(samples, references=["something else"]))
    with pytest.raises(ReportError, match="different values of 'id'"):
        report.compare(_other([row | {"id": row["id"] + 1} for row in samples]))
    with pytest.raises(ReportError, match=r"holds sums by 'id' and the other by position"):
        report.compare(Hub("wer").evaluate(samples, samples=False))
    with pytest.raises(ReportError, match="holds sums by 'id' and the other doesn't"):
        report.compare(Hub("wer").evaluate(samples))
    with pytest.raises(ReportError, match="hold sums by 'id' and others samples"):
        report.merge(Hub("wer").evaluate(samples))
    shuffled = _other(random.Random(1).sample(samples, len(samples)))
    assert report.compare(shuffled)["wer"]["score"].difference == 0


def test_a_metric_that_scored_other_samples_is_not_tested() -> None:
    # A text without words has no ratio of types to tokens, and each system has another such text.
    hub = Hub("ttr")
    first, two = (
        hub.evaluate({"prediction": texts, "id": [1, 2, 3]}, samples=False, key="id")
        for texts in (["a b a", "", "c c"], ["a b a", "c d", ""])
    )
    test = first.compare(two)["ttr"]["score"]
    assert test.withheld == "the systems have scores of different samples, which weren't kept"
    assert np.isnan(test.p)
    assert test.rank is None


def test_what_does_not_add_up_has_no_intervals_and_says_so() -> None:
    samples = rows(SUMMEVAL, 20)
    report = Hub(["bleu", "self_bleu"]).evaluate(samples, samples=False)
    intervals = report.intervals()
    assert np.isnan(intervals["self_bleu"]["score"].low)
    assert not np.isnan(intervals["bleu"]["score"].low)
    assert (
        "the metric needs all samples for this, and they weren't kept"
        in report.notes()["self_bleu"][0]
    )
    with pytest.raises(ReportError, match="self_bleu: this report was pooled"):
        report.intervals(metrics="self_bleu")
    test = report.compare(Hub(["bleu", "self_bleu"]).evaluate(samples, samples=False))
    assert (
        test["self_bleu"]["score"].withheld
        == "the metric needs all samples for this, and they weren't kept"
    )
    assert test["bleu"]["score"].p == 1


@pytest.mark.parametrize(
    ("values", "samples", "rough"), [(49, 60, True), (50, 60, False), (49, 49, False)]
)
def test_intervals_are_rough_of_fewer_than_50_filled_buckets(
    values: int, samples: int, rough: bool
) -> None:
    # A bucket for each value; where every sample has its own, no two were drawn together.
    sizes = np.bincount(np.arange(samples) % values, minlength=BUCKETS)
    notes = BucketSizes(("doc",), sizes, {}).notes()
    what = "intervals are rough, as 'doc' has only about 49 different values"
    assert notes == [what] * rough
    assert BucketSizes((), sizes, {}).notes() == []


@pytest.mark.parametrize(("key", "kind"), [("doc", "4 buckets"), ("id", "4 samples")])
def test_an_interval_counts_the_buckets_that_were_drawn(key: str, kind: str) -> None:
    samples = [
        {"prediction": "a", "reference": "a", "doc": doc, "id": f"{doc}{copy}"}
        for doc in range(4)
        for copy in range(10 if key == "doc" else 1)
    ]
    report = Hub("wer").evaluate(samples, samples=False, key=key)
    why = f"{kind} are too few; an interval needs 5"
    assert report.intervals()["wer"]["score"].why == why


def test_sums_merge_with_a_part_without_samples() -> None:
    summed, empty = _other(rows(SUMMEVAL, 3)), Hub("wer").evaluate([])
    for merged in (summed.merge(empty), empty.merge(summed)):
        assert merged.size == 3
        assert merged.scores() == summed.scores()
        assert merged.counts() == summed.counts()


def test_only_columns_that_both_systems_have_need_to_be_the_same() -> None:
    def summed(*metrics: str, **columns: str) -> Report:
        columns_used = {"predictions": "a", "references": "a", "sources": "a"} | columns
        rows = {name: [text, "b c"] for name, text in columns_used.items()}
        return Hub(metrics).evaluate(rows, samples=False)

    summed_up = summed("exact_match", "density")
    for other in (summed("exact_match", sources="x"), summed("density", references="x")):
        assert summed_up.compare(other)
        assert other.compare(summed_up)
    with pytest.raises(ReportError, match="the systems have different references and sources;"):
        summed_up.compare(summed("exact_match", "density", references="x", sources="x"))


def test_a_key_names_columns_that_are_there_and_full() -> None:
    hub, samples = Hub("wer"), rows(SUMMEVAL, 3)
    with pytest.raises(MissingColumn, match=r"the key names the column 'ids', .* 'id'"):
        hub.evaluate(samples, samples=False, key="ids")
    with pytest.raises(
        InputError, match=r"id\[1\] is missing; every sample needs a key: a text, number, date"
    ):
        hub.evaluate([samples[0], samples[1] | {"id": None}], samples=False, key="id")
    with pytest.raises(InputError, match="without samples; add samples=False"):
        hub.evaluate(samples, key="id")


def test_a_key_is_the_same_in_every_table_of_numbers() -> None:
    import pandas

    frame = pandas.DataFrame(rows(SUMMEVAL, 10))
    fractions = frame.assign(id=frame["id"].astype(float))
    hub = Hub("wer")
    report = [hub.evaluate(t, samples=False, key=["id", "doc_id"]) for t in (frame, fractions)]
    assert sums(report[0], "wer") == sums(report[1], "wer")


def test_a_key_of_dates_or_uuids_is_that_of_the_file_which_has_them_as_text() -> None:
    samples = rows(SUMMEVAL, 10)
    hub = Hub("wer")
    days = [datetime.date(2026, 1, 1 + number) for number in range(10)]
    names = [UUID(int=number) for number in range(10)]
    for values, texts in ((days, [day.isoformat() for day in days]), (names, map(str, names))):
        report = [
            hub.evaluate(
                [row | {"id": value} for row, value in zip(samples, column, strict=True)],
                samples=False,
                key="id",
            )
            for column in (values, texts)
        ]
        assert report[0] == report[1]
        assert report[0].buckets is not None


def test_a_pooled_report_has_nothing_left_to_draw() -> None:
    pooled = Hub("wer").evaluate(rows(SUMMEVAL, 9), samples=False).pool()
    assert pooled.results["wer"].buckets is None
    with pytest.raises(ReportError, match="this report was pooled"):
        pooled.intervals()


def test_wide_statistics_take_fewer_buckets_and_the_widest_none() -> None:
    assert buckets_for(CELLS // BUCKETS) == BUCKETS
    assert buckets_for(CELLS // BUCKETS + 1) == FEW
    assert buckets_for(CELLS // FEW + 1) is None
    # Saved reports hold as many, and merge with those of today.
    assert (BUCKETS, FEW) == (1000, 200)


def test_one_value_of_a_cluster_or_a_key_has_no_interval() -> None:
    samples = [row | {"doc_id": "only"} for row in rows(SUMMEVAL, 5)]
    with pytest.raises(
        ReportError, match=r"all samples have the same doc_id; .* need at least two"
    ):
        Hub("wer").evaluate(samples).intervals(cluster="doc_id")
    with pytest.raises(ReportError, match="all samples have the same doc_id"):
        Hub("wer").evaluate(samples, samples=False, key="doc_id").intervals()
    interval = Hub("wer").evaluate(samples[:1]).intervals()["wer"]["score"]
    assert interval.why == "1 sample is too few; an interval needs 5"


def test_reports_of_other_keys_do_not_merge() -> None:
    samples = rows(SUMMEVAL, 4)
    first = Hub("wer").evaluate(samples, samples=False, key="id")
    for key in ("doc_id", None):
        other = Hub("wer").evaluate(samples, samples=False, key=key)
        with pytest.raises(ReportError, match="to merge them, evaluate all with the same key"):
            first.merge(other)


def test_repeated_runs_take_no_key() -> None:
    hub = Hub("faithfulness", judge="offline")
    data = {"predictions": ["It rains."], "contexts": [["It rains."]], "id": [1]}
    with pytest.raises(InputError, match="a key can't be combined with repeats"):
        hub.evaluate(data, samples=False, key="id", repeats=2)


@dataclass(frozen=True, kw_only=True)
class Wide(Metric):
    """So many statistics that they take few buckets; a blank prediction has no score."""

    def observe(self, prediction: str) -> dict[str, list[float]] | None:
        """The length of the text, often."""
        return {"length": [len(prediction)] * (CELLS // BUCKETS + 1)} if prediction else None

    def score(self, length: Any) -> dict[str, Any]:
        """The sum."""
        return {"score": length[..., 0]}


@dataclass(frozen=True, kw_only=True)
class TooWide(Wide):
    """As many statistics as even few buckets can't hold."""

    def observe(self, prediction: str) -> dict[str, list[int]] | None:
        """The length, often."""
        return {"length": [len(prediction)] * (CELLS // FEW + 1)}


def test_a_part_without_a_scored_sample_costs_no_buckets() -> None:
    hub, texts = Hub(Wide()), ["a", "bb", "", ""]
    results = [{"id": i, "prediction": text} for i, text in enumerate(texts)]
    parts = [hub.evaluate(p, samples=False, key="id") for p in (results[:2], results[2:])]
    stored = hub.evaluate(results, samples=False, key="id")
    for report in (parts[0].merge(parts[1]), parts[1].merge(parts[0])):
        assert sums(report, "wide") == sums(stored, "wide")


def test_a_part_of_one_reference_each_compares_with_all_samples() -> None:
    hub = Hub("bleu")
    text, references = "a b c d", ["a b c d", "b"]
    results = [{"id": i, "prediction": text, "references": references[: i + 1]} for i in range(2)]
    parts = [hub.evaluate([row], samples=False, key="id") for row in results]
    report = hub.evaluate(results, samples=False, key="id")
    assert parts[0].merge(parts[1]).compare(report, trials=5)["bleu"]["score"].p == 1
