"""Reports: merging, pooling, files, comparing, signatures and notes."""

import copy
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report
from metrichub.errors import JudgeError, ReportError, ScoringError
from metrichub.evaluation.resample import Interval
from metrichub.evaluation.result import NO_REASON
from metrichub.metric import Metric, Unscored
from metrichub.models.failures import AnswerPending
from tests.toy_metrics import Errors, Known, Length, Overlap, Variety, card

METRICS = (Overlap(), Length(), Errors(), Known(), Variety())
HUB = Hub(METRICS, block_characters=9)
words = st.lists(st.sampled_from("abc"), max_size=3).map(" ".join)
several = st.lists(words, min_size=1, max_size=2)
samples = st.tuples(words | several, several)
batches = st.lists(samples, max_size=6)


def evaluate(given_samples: Sequence[tuple[Any, Any]], hub: Hub = HUB) -> Report:
    return hub.evaluate(
        predictions=[prediction for prediction, _ in given_samples],
        references=[reference for _, reference in given_samples],
    )


def loaded(report: Report, metrics: Sequence[Any]) -> Report:
    with TemporaryDirectory() as folder:
        report.save(f"{folder}/report.json")
        return Report.load(f"{folder}/report.json", metrics)


def facts(report: Report) -> dict[str, Any]:
    """Everything one can ask of a report of one system."""
    actual: dict[str, Any] = {
        "scores": report.scores(),
        "lost": report.counts(),
        "signatures": report.signatures(),
        "notes": report.notes(),
        "counts": {n: (r.count, r.unscored, r.pooled) for n, r in report.results.items()},
        "size": report.size,
        "candidates": dict(report.items_per_sample),
    }
    if not any(result.pooled for result in report.results.values()):
        actual["samples"] = report.samples()
        actual["intervals"] = report.intervals(resamples=5)
    return actual


def assert_same(first: Any, other: Any) -> None:
    """Equal, but for the rounding of sums."""
    if isinstance(first, Mapping):
        assert first.keys() == other.keys()
        for key in first:
            assert_same(first[key], other[key])
    elif isinstance(first, Interval):
        assert_same((*first.ends, first.mean, first.std), (*other.ends, other.mean, other.std))
        assert (first.method, first.why) == (other.method, other.why)
    elif isinstance(first, (float, np.ndarray)) or (isinstance(first, tuple) and first):
        np.testing.assert_allclose(
            np.asarray(first, float), np.asarray(other, float), rtol=1e-9, atol=1e-12
        )
    else:
        assert first == other


# Merging and pooling.


@given(batches, st.data())
def test_merge_equals_one_pass(given_samples: list[Any], data: Any) -> None:
    cut = data.draw(st.integers(0, len(given_samples)))
    merged = evaluate(given_samples[:cut]).merge(evaluate(given_samples[cut:]))
    assert_same(facts(merged), facts(evaluate(given_samples)))


@given(st.lists(batches, min_size=3, max_size=3))
def test_merge_is_associative(parts: list[list[Any]]) -> None:
    a, b, c = (evaluate(part) for part in parts)
    assert_same(facts(a.merge(b).merge(c)), facts(a.merge(b.merge(c))))
    assert_same(facts(a.merge(b, c)), facts(a.merge(b.merge(c))))
    assert a.merge(b).merge(c).fingerprints == a.merge(b.merge(c)).fingerprints


def with_ids(*ids: Any, **columns: str) -> Report:
    """A report of samples that have these ids, each in other columns alike."""
    text = {"prediction": "a b", "reference": "a c", **columns}
    return Hub("wer").evaluate([{"id": number, **text} for number in ids])


@pytest.mark.parametrize(
    ("report", "others", "shared"),
    [
        (with_ids(1, 2), [with_ids(2, 3)], "2"),
        (with_ids(1, 2), [with_ids(3), with_ids(None, "2")], "2"),
        (with_ids(1, 2), [with_ids(3), with_ids(3)], "3"),
        (with_ids(1, system="x"), [with_ids(1, system="x")], "1"),
        (with_ids(1, system="x"), [with_ids(1, system="y")], None),
        (with_ids(1, epoch="1"), [with_ids(1, epoch="1")], "1"),
        (with_ids(1, epoch="1"), [with_ids(1, epoch="2")], None),
        # A column that repeats within a report names documents, say, not samples.
        (with_ids(1, 1), [with_ids(1, 2)], None),
        (with_ids(1, 1), [with_ids(1, 1)], None),
        (with_ids(None, None), [with_ids(None, None)], None),
    ],
)
def test_a_sample_is_named_by_its_id_with_its_system_and_epoch(
    report: Report, others: list[Report], shared: str | None
) -> None:
    if shared:
        message = f"samples with the same 'id', such as {shared}, which would count twice"
        with pytest.raises(ReportError, match=message):
            report.merge(*others)
    else:
        assert report.merge(*others).size == report.size + sum(other.size for other in others)


def test_a_report_does_not_merge_with_itself() -> None:
    report = with_ids(1)
    with pytest.raises(ReportError, match="can't be merged with itself"):
        report.merge(report)


ADDITIVE = Hub(METRICS[:-1], block_characters=9)


@given(st.lists(batches, min_size=3, max_size=3), st.integers(0, 7))
def test_pooling_before_or_after_merging_is_the_same(parts: list[Any], pooled: int) -> None:
    reports = [evaluate(part, ADDITIVE) for part in parts]
    some = [r.pool() if pooled >> i & 1 else r for i, r in enumerate(reports)]
    merged = some[0].merge(*some[1:])
    assert any(r.pooled for r in merged.results.values()) == bool(pooled)
    assert_same(facts(merged.pool()), facts(reports[0].merge(*reports[1:]).pool()))


@given(batches)
def test_pooling_keeps_the_scores_and_nothing_of_the_samples(given_samples: list[Any]) -> None:
    report = evaluate(given_samples)
    np.testing.assert_equal(report.pool().scores(), report.scores())
    assert report.pool().counts() == report.counts()
    np.testing.assert_equal(report.pool().pool().scores(), report.scores())
    assert report.pool().pool().counts() == report.counts()


def test_a_pooled_report_is_as_large_for_many_samples_as_for_few() -> None:
    few, many = (len(pickle.dumps(evaluate([("a b", "a")] * n).pool())) for n in (10, 1000))
    assert many <= few + 30


@pytest.mark.parametrize("ask", ["samples", "intervals", "compare", "merge"])
def test_a_pooled_report_says_what_it_lacks_and_how_to_keep_it(ask: str) -> None:
    report = evaluate([("a", "b")], Hub(Variety())).pool()
    arguments = (copy.copy(report),) if ask in ("compare", "merge") else ()
    with pytest.raises(ReportError, match=r"^variety: this report was pooled, .* before pool\(\)"):
        getattr(report, ask)(*arguments)


def test_merging_shows_unscored_samples_and_reasons_of_all_parts() -> None:
    hub = Hub(Overlap())
    merged = evaluate([("a", ""), ("a", "a")], hub).merge(evaluate([("b", "")], hub).pool())
    assert merged.scores() == {"overlap": {"score": 1.0}}
    assert merged.counts() == {"overlap": {"unscored": 2}}
    assert merged.notes() == {"overlap": ["2 unscored: the reference has no words"]}


@pytest.mark.parametrize(
    ("other", "error"),
    [
        (Hub(Overlap(lower=True)), r"settings for overlap: lower=False and lower=True; score both"),
        (Hub(Overlap(), reduce="worst"), "settings for overlap: reduce:best and reduce:worst;"),
        (Hub(Overlap(name="other")), "different metrics: overlap and other"),
        (Hub([Overlap(), Length()]), "different metrics: overlap and overlap, length"),
    ],
)
def test_reports_with_different_metrics_or_signatures_do_not_merge(other: Hub, error: str) -> None:
    first, two = evaluate([("a", "a")], Hub(Overlap())), evaluate([("a", "a")], other)
    with pytest.raises(ReportError, match=error):
        first.merge(two)


def test_merging_leaves_the_parts_as_they_were() -> None:
    first, other = evaluate([("a", "a")]), evaluate([("b", "a")])
    before = copy.deepcopy(facts(first))
    first.merge(other)
    assert_same(facts(first), before)


def test_a_report_travels_to_another_process() -> None:
    report = evaluate([("a", "a b"), ("", "")])
    assert_same(facts(pickle.loads(pickle.dumps(report))), facts(report))


# Signatures and notes.


def test_a_signature_holds_parameters_definition_reduction_and_numbers_of_candidates() -> None:
    report = evaluate([(["a", "b"], ["a"]), ("a", ["a", "b", "c"])], Hub(Overlap(lower=True)))
    assert report.signatures() == {
        "overlap": "overlap(lower=True, weight=1.0, ignored=())|definition:1"
        "|local:tests.toy_metrics|reduce:best|predictions:1-2|references:1-3"
    }


def test_a_builtin_is_signed_with_the_version_of_metrichub() -> None:
    import metrichub

    report = Hub("bleu").evaluate(predictions=["a"], references=["a"])
    version = metrichub.__version__
    tail = f"|metrichub:{version}|reduce:best|references:1|samples:sentence-level"
    assert report.signatures()["bleu"].endswith(tail)


def test_notes_count_reasons_most_frequent_first_and_hold_what_the_metric_says() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Talks(Metric):
        card: ClassVar[Any] = card("talks", "prediction")

        def observe(self, prediction: str) -> Any:
            return Unscored(prediction) if prediction else 1.0

        def notes(self, totals: Mapping[str, Any]) -> Sequence[str]:
            return [f"{totals['score']:.0f} in all"]

    report = Hub(Talks()).evaluate(predictions=["b", "", "a", "b", ""])
    assert report.notes() == {"talks": ["2 unscored: b", "1 unscored: a", "2 in all"]}


# Comparing.


@given(batches.filter(bool), st.data())
def test_comparing_the_other_way_round_mirrors_everything(
    given_samples: list[Any], data: Any
) -> None:
    others = [(data.draw(words), reference) for _, reference in given_samples]
    first, other = evaluate(given_samples), evaluate(others)
    forward = first.compare(other, resamples=9, trials=9)
    backward = other.compare(first, resamples=9, trials=9)
    for metric, outputs in forward.items():
        for name, output in outputs.items():
            mirrored = backward[metric][name]
            low, mean, deviation = output.interval.low, output.interval.mean, output.interval.std
            assert_same(
                (output.score, output.difference, low, mean, deviation),
                (
                    *(mirrored.other, -mirrored.difference, -mirrored.interval.high),
                    *(-mirrored.interval.mean, mirrored.interval.std),
                ),
            )
            for same in ("p", "randomization_p", "sacrebleu_bootstrap_p", "samples", "left_out"):
                assert_same(getattr(output, same), getattr(mirrored, same))
            assert (output.rank, output.other_rank) == (mirrored.other_rank, mirrored.rank)


def test_only_common_metrics_are_compared_whatever_else_the_hubs_read() -> None:
    hubs = Hub([Overlap(), Length()]), Hub([Known(), Overlap()]), Hub(Length())
    first, other, length = (
        hub.evaluate(predictions=["a", "b"], references=["a b", "b"]) for hub in hubs
    )
    compared = first.compare(other, resamples=5, trials=5)
    assert list(compared) == ["overlap"]
    assert compared["overlap"]["score"].difference == 0
    assert list(first.compare(length, resamples=5, trials=5)) == ["length"]


def test_intervals_and_tests_of_chosen_metrics_are_those_of_all() -> None:
    samples = [("a", "a b"), ("c b", "b"), ("", "c")]
    first, other = evaluate(samples), evaluate([("b", reference) for _, reference in samples])
    intervals = first.intervals(resamples=9)
    compared = first.compare(other, resamples=9, trials=9)
    for metrics in ("overlap", ["variety", "overlap"], ("length",)):
        names = [metrics] if isinstance(metrics, str) else list(metrics)
        chosen = first.intervals(metrics=metrics, resamples=9)
        assert list(chosen) == names
        tests = first.compare(other, metrics=iter(names), resamples=9, trials=9)
        assert list(tests) == names
        for name in names:
            np.testing.assert_equal(chosen[name], intervals[name])
            np.testing.assert_equal(tests[name], compared[name])


def test_only_chosen_metrics_have_to_be_measured_alike() -> None:
    samples = [("a", "a b"), ("c b", "b")]
    first, other = (evaluate(samples, Hub([Length(), Overlap(lower=x)])) for x in (False, True))
    with pytest.raises(ReportError, match="used different settings for overlap"):
        first.compare(other)
    assert list(first.compare(other, metrics="length")) == ["length"]


def test_only_chosen_metrics_are_resampled() -> None:
    class Unasked(Variety):
        def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
            assert len(rows) == len(set(map(tuple, rows))) == 3, "it was resampled"
            return super().conclude(rows)

    report = evaluate([("a", "a"), ("b", "b"), ("c", "b")], Hub([Unasked(), Overlap()]))
    assert list(report.intervals(metrics="overlap")) == ["overlap"]
    with pytest.raises(ScoringError, match="it was resampled"):
        report.intervals()


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("overlp", "no metric 'overlp' in {}; did you mean 'overlap'?"),
        (["length", "xyz"], "no metric 'xyz' in {}; choose from: overlap, length"),
        ([Overlap()], "choose metrics by their names, not by Overlap(name='overlap', "),
    ],
)
def test_a_metric_that_is_not_there_is_named_with_what_is(metrics: Any, message: str) -> None:
    report = evaluate([("a", "a")], Hub([Overlap(), Length()]))
    for where, ask in (
        ("the report", report.intervals),
        ("both reports", partial(report.compare, report)),
    ):
        with pytest.raises(ReportError) as caught:
            ask(metrics=metrics)
        assert str(caught.value).startswith(message.format(where))
        assert "\n" not in str(caught.value)


def test_systems_without_a_scored_sample_or_without_samples_compare_as_nan() -> None:
    blank, full = (
        Hub(Pairs()).evaluate(predictions=predictions) for predictions in (["", ""], ["a", "bb"])
    )
    for first, other in ((blank, full), (full, blank), (blank, blank)):
        comparison = first.compare(other, resamples=5, trials=5)["pairs"]["score"]
        assert np.isnan(
            [comparison.difference, comparison.sacrebleu_bootstrap_p, comparison.randomization_p]
        ).all()
    none = Hub(Pairs()).evaluate(predictions=[])
    assert np.isnan(
        none.compare(none, resamples=5, trials=5)["pairs"]["score"].sacrebleu_bootstrap_p
    )
    assert np.isnan(none.intervals(resamples=5)["pairs"]["score"].ends).all()


@dataclass(frozen=True, kw_only=True)
class Pairs(Metric):
    """Two numbers in one statistic; an empty prediction has none."""

    card: ClassVar[Any] = card("pairs", "prediction")

    def observe(self, prediction: str) -> Any:
        return {"pair": [len(prediction), 1]} if prediction else None

    def score(self, pair: Any) -> Any:
        return {"score": pair[..., 0] / pair[..., 1]}


def halves(references: Sequence[str]) -> Report:
    """A report in two equal parts, as a stream gives it."""
    parts = [[("a", reference)] for reference in references]
    return evaluate(parts[0]).merge(*(evaluate(part) for part in parts[1:]))


@pytest.mark.parametrize(
    ("first", "other", "message"),
    [
        (lambda: evaluate([("a", "a")]), lambda: evaluate([("a", "b")]), "different references"),
        (lambda: halves("ab"), lambda: halves("cb"), "different references"),
        (lambda: halves("ab"), lambda: halves("ba"), "different references"),
        (lambda: evaluate([("a", "a")]), lambda: evaluate([("a", "a")] * 2), "1 and 2 samples"),
        (
            lambda: evaluate([("a", "a")], Hub(Overlap())),
            lambda: evaluate([("a", "a")], Hub(Length())),
            "no metric in common: overlap and length",
        ),
        (
            lambda: evaluate([("a", "a")], Hub(Overlap())),
            lambda: evaluate([("a", "a")], Hub(Overlap(lower=True))),
            "used different settings",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(first: Any, other: Any, message: str) -> None:
    with pytest.raises(ReportError, match=message):
        first().compare(other())


@dataclass(frozen=True, kw_only=True)
class Awaited(Metric):
    """A judge's metric whose calls wait for a batch, or fail."""

    card: ClassVar[Any] = card("awaited", "prediction")

    async def observe(self, prediction: str) -> float | None:
        if prediction == "later":
            raise AnswerPending("in a batch")
        if prediction == "broken":
            raise JudgeError("no reply")
        return None if prediction == "" else 1.0


def test_a_sample_without_a_score_is_counted_once_by_its_cause() -> None:
    texts = ["ok", "", "later", "later", "broken", "broken", "broken"]
    report = Hub(Awaited()).evaluate(predictions=texts, max_errors=9)
    counts = {"unscored": 1, "pending": 2, "errors": 3}
    assert report.scores() == {"awaited": {"score": 1.0}}
    assert report.counts() == {"awaited": counts}
    # Notes name each cause once too.
    assert sorted(report.notes()["awaited"]) == [
        f"1 unscored: {NO_REASON}",
        "2 pending: in a batch",
        "3 failed: no reply",
    ]


def test_reports_are_equal_by_their_statistics_and_signatures() -> None:
    table = [{"prediction": "the cat", "reference": "the cat", "id": 1}]
    report, again = Hub("bleu").evaluate(table), Hub("bleu").evaluate(table, keep=[], texts=False)
    assert report == again
    assert report != Hub("bleu(max_order=2)").evaluate(table)
    assert report != Hub("bleu").evaluate([table[0] | {"prediction": "a cat"}])
    assert report != report.pool()
    assert report != "a report"


@given(st.lists(batches, min_size=1, max_size=4), st.permutations(range(4)))
def test_condensed_parts_merge_in_any_order_to_the_scores_of_all(
    parts: list[list[Any]], order: list[int]
) -> None:
    hub = Hub([Variety(), Overlap()])
    reports = [loaded(evaluate(part, hub).condense(), hub.metrics) for part in parts]
    ordered = [reports[number] for number in order if number < len(reports)]
    report = ordered[0].merge(*ordered[1:]).without_samples()
    version = evaluate([sample for part in parts for sample in part], hub)
    np.testing.assert_equal(report.scores(), version.scores())
    assert report.counts() == version.counts()
    assert report.size == version.size
    for name, result in report.results.items():
        same = version.results[name]
        assert (result.count, result.unscored) == (same.count, same.unscored)
        assert (result.reasons, result.unanswered) == (same.reasons, same.unanswered)


@pytest.mark.parametrize("ask", [Report.samples, Report.intervals])
def test_a_condensed_report_has_no_samples(ask: Any) -> None:
    report = evaluate([(["a b"], ["a"]), (["b"], ["b"])], Hub(Variety())).condense()
    with pytest.raises(ReportError, match="pooled"):
        ask(report)
    with pytest.raises(ReportError, match="pooled"):
        report.merge(evaluate([(["a"], ["a"])], Hub(Variety())))
    again = report.merge(copy.copy(report))
    with pytest.raises(ReportError, match="pooled"):
        ask(again)
    # "a b" and "b", twice: 2 distinct words of 6.
    assert again.scores() == {"variety": {"score": 2 / 6}}


def test_systems_with_ids_in_another_order_are_not_paired() -> None:
    hub = Hub("exact_match")
    rows = [{"id": i, "prediction": "yes" if i % 3 else "no", "reference": "yes"} for i in range(9)]
    report = hub.evaluate(rows)
    with pytest.raises(
        ReportError, match="'id' of sample 0 is 0 in one system and 8 in the other; sort both by id"
    ):
        report.compare(hub.evaluate(rows[::-1]))
    other = [*rows[:-1], rows[-1] | {"id": 9}]
    with pytest.raises(
        ReportError,
        match="'id' of sample 8 is 8 in one system and 9 in the other; a paired test needs",
    ):
        report.compare(hub.evaluate(other))
    # A CSV has texts for numbers, and a system may name its own outputs.
    for name in ("{}", "mine-{}"):
        same = [row | {"id": name.format(row["id"])} for row in rows]
        assert report.compare(hub.evaluate(same))["exact_match"]["score"].difference == 0


def test_a_pooled_report_of_a_corpus_metric_has_no_groups_and_no_test() -> None:
    first, other = (evaluate([(text, "b")] * 2, Hub(Variety())) for text in ("a b", "b b"))
    for ask in (
        lambda: other.pool().take([0]),
        lambda: first.compare(other.pool(), metrics="variety"),
    ):
        with pytest.raises(ReportError, match=r"^variety: this report was pooled, and a "):
            ask()


def test_a_pooled_report_has_sums_of_lengths_and_no_columns() -> None:
    rows = [{"prediction": text, "reference": "a", "id": text} for text in ("a b", "c")]
    report = Hub("distinct").evaluate(rows)
    assert (report.metadata, report.texts is None) == ({"id": ["a b", "c"]}, False)
    for pooled in (report.pool(), report.without_samples(), report.condense()):
        assert pooled.metadata == {}
        assert pooled.texts is None
        assert pooled.lengths is not None
        # Three words of two predictions.
        assert pooled.lengths.tolist() == [[3, 2]]
