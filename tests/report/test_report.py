"""Reports: merging, pooling, files, comparing, signatures and notes."""

import contextlib
import copy
import errno
import gzip
import json
import pickle
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report
from metrichub.errors import JudgeError, ReportError, ScoringError
from metrichub.evaluation.resample import Interval
from metrichub.evaluation.result import NO_REASON
from metrichub.evaluation.result_rows import RowsResult
from metrichub.metric import CorpusMetric, Metric, Unscored
from metrichub.models.failures import AnswerPending
from tests.toy_metrics import Errors, InContext, Known, Length, Overlap, Variety, card

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


def facts(report: Report) -> dict[str, Any]:
    """Everything one can ask of a report of one system."""
    found: dict[str, Any] = {
        "scores": report.scores(),
        "signatures": report.signatures(),
        "notes": report.notes(),
        "counts": {n: (r.count, r.unscored, r.pooled) for n, r in report.results.items()},
        "size": report.size,
        "candidates": dict(report.candidates),
    }
    if not any(result.pooled for result in report.results.values()):
        found["samples"] = report.samples()
        found["intervals"] = report.intervals(resamples=5)
    return found


def assert_same(one: Any, other: Any) -> None:
    """Equal, but for the rounding of sums."""
    if isinstance(one, Mapping):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, Interval):
        assert_same(one[:4], other[:4])
        assert one[4:] == other[4:]
    elif isinstance(one, (float, np.ndarray)) or (isinstance(one, tuple) and one):
        np.testing.assert_allclose(
            np.asarray(one, float), np.asarray(other, float), rtol=1e-9, atol=1e-12
        )
    else:
        assert one == other


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
    assert a.merge(b).merge(c).segments == a.merge(b.merge(c)).segments


def with_ids(*ids: Any, **columns: str) -> Report:
    """A report of samples that have these ids, each in other columns alike."""
    text = {"prediction": "a b", "reference": "a c", **columns}
    return Hub("wer").evaluate([{"id": one, **text} for one in ids])


@pytest.mark.parametrize(
    "others", [[with_ids(2, 3)], [with_ids(3), with_ids(None, "2")], [with_ids(3), with_ids(3)]]
)
def test_reports_that_share_a_sample_do_not_merge(others: list[Report]) -> None:
    with pytest.raises(ReportError, match=r"samples with the same 'id', such as [23], which"):
        with_ids(1, 2).merge(*others)


def test_a_report_does_not_merge_with_itself() -> None:
    report = Hub("wer").evaluate(predictions=["a"], references=["b"])
    with pytest.raises(ReportError, match="can't be merged with itself"):
        report.merge(report)


@pytest.mark.parametrize("column", ["system", "epoch"])
def test_a_sample_is_named_by_its_id_with_its_system_and_epoch(column: str) -> None:
    one, same, other = (
        Hub("wer").evaluate([{"prediction": "a", "reference": "a", "id": 1, column: value}])
        for value in (1, 1, 2)
    )
    assert one.merge(other).size == 2
    with pytest.raises(ReportError, match="same 'id', such as 1, which would count twice"):
        one.merge(same)


def test_ids_that_recur_in_a_part_name_no_sample() -> None:
    rows = [{"prediction": "a", "reference": "a", "id": i} for i in (1, 1)]
    assert Hub("wer").evaluate(rows).merge(Hub("wer").evaluate(rows)).size == 4


def test_parts_that_counted_no_extraction_add_nothing() -> None:
    hub = Hub("exact_match", extract="last_number")
    report = hub.evaluate(predictions=["none", "3"], references=["3", "3"])
    before = replace(hub.evaluate([]), unextracted={})
    for merged in (report.merge(before), before.merge(report)):
        assert merged.unextracted == {"last_number": 1}


def test_a_report_without_samples_merges_any_number_of_times() -> None:
    hub = Hub("wer")
    empty = hub.evaluate(predictions=[], references=[])
    report = hub.evaluate(predictions=["a b"], references=["a c"])
    assert empty.merge(report, empty) == report


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (with_ids(1, system="x"), with_ids(1, system="y")),
        (with_ids(1, epoch="1"), with_ids(1, epoch="2")),
        # A column that repeats within a report names documents, say, not samples.
        (with_ids(1, 1), with_ids(1, 2)),
        (with_ids(None, None), with_ids(None, None)),
    ],
)
def test_an_id_alone_may_not_name_a_sample(one: Report, other: Report) -> None:
    assert one.merge(other).size == one.size + other.size


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
    np.testing.assert_equal(report.pool().pool().scores(), report.scores())


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
    assert merged.scores() == {"overlap": {"score": 1.0, "unscored": 2}}
    assert merged.notes() == {"overlap": ["2 unscored: the reference has no words"]}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (Hub(Overlap(lower=True)), r"settings for overlap: lower=False and lower=True; score both"),
        (Hub(Overlap(), reduce="worst"), "settings for overlap: reduce:best and reduce:worst;"),
        (Hub(Overlap(name="other")), "different metrics: overlap and other"),
        (Hub([Overlap(), Length()]), "different metrics: overlap and overlap, length"),
    ],
)
def test_reports_with_different_metrics_or_signatures_do_not_merge(other: Hub, said: str) -> None:
    one, two = evaluate([("a", "a")], Hub(Overlap())), evaluate([("a", "a")], other)
    with pytest.raises(ReportError, match=said):
        one.merge(two)


def test_merging_leaves_the_parts_as_they_were() -> None:
    one, other = evaluate([("a", "a")]), evaluate([("b", "a")])
    before = copy.deepcopy(facts(one))
    one.merge(other)
    assert_same(facts(one), before)


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


def test_a_report_is_shown_as_a_table() -> None:
    lines = str(evaluate([("a b", "a c"), ("x", "")], Hub(Overlap()))).splitlines()
    assert lines[0].split() == ["metric", "score", "unscored"]
    assert lines[1].split() == ["overlap", "↑", "0.500", "·", "1", "of", "2", "1"]


# Comparing.


@given(batches.filter(bool), st.data())
def test_comparing_the_other_way_round_mirrors_everything(
    given_samples: list[Any], data: Any
) -> None:
    others = [(data.draw(words), reference) for _, reference in given_samples]
    one, other = evaluate(given_samples), evaluate(others)
    forward = one.compare(other, resamples=9, trials=9)
    backward = other.compare(one, resamples=9, trials=9)
    for metric, outputs in forward.items():
        for name, found in outputs.items():
            mirrored = backward[metric][name]
            low, _, mean, deviation, *_ = found.interval
            assert_same(
                (found.score, found.difference, low, mean, deviation, *found[4:9]),
                (
                    *(mirrored.other, -mirrored.difference, -mirrored.interval.high),
                    *(-mirrored.interval.mean, mirrored.interval.std, *mirrored[4:9]),
                ),
            )
            assert (found.rank, found.other_rank) == (mirrored.other_rank, mirrored.rank)


def test_only_common_metrics_are_compared() -> None:
    one = evaluate([("a", "a b")], Hub([Overlap(), Length()]))
    other = evaluate([("b", "a b")], Hub([Known(), Overlap()]))
    compared = one.compare(other, resamples=5, trials=5)
    assert list(compared) == ["overlap"]
    assert compared["overlap"]["score"].difference == 0


def test_intervals_and_tests_of_chosen_metrics_are_those_of_all() -> None:
    samples = [("a", "a b"), ("c b", "b"), ("", "c")]
    one, other = evaluate(samples), evaluate([("b", reference) for _, reference in samples])
    intervals = one.intervals(resamples=9)
    compared = one.compare(other, resamples=9, trials=9)
    for metrics in ("overlap", ["variety", "overlap"], ("length",)):
        names = [metrics] if isinstance(metrics, str) else list(metrics)
        chosen = one.intervals(metrics=metrics, resamples=9)
        assert list(chosen) == names
        tests = one.compare(other, metrics=iter(names), resamples=9, trials=9)
        assert list(tests) == names
        for name in names:
            np.testing.assert_equal(chosen[name], intervals[name])
            np.testing.assert_equal(tests[name], compared[name])


def test_only_chosen_metrics_have_to_be_measured_alike() -> None:
    samples = [("a", "a b"), ("c b", "b")]
    one, other = (evaluate(samples, Hub([Length(), Overlap(lower=x)])) for x in (False, True))
    with pytest.raises(ReportError, match="used different settings for overlap"):
        one.compare(other)
    assert list(one.compare(other, metrics="length")) == ["length"]


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
    ("metrics", "said"),
    [
        ("overlp", "no metric 'overlp' in {}; did you mean 'overlap'?"),
        (["length", "xyz"], "no metric 'xyz' in {}; choose from: overlap, length"),
        ([Overlap()], "choose metrics by their names, not by Overlap(name='overlap', "),
    ],
)
def test_a_metric_that_is_not_there_is_named_with_what_is(metrics: Any, said: str) -> None:
    report = evaluate([("a", "a")], Hub([Overlap(), Length()]))
    for where, ask in (
        ("the report", report.intervals),
        ("both reports", partial(report.compare, report)),
    ):
        with pytest.raises(ReportError) as caught:
            ask(metrics=metrics)
        assert str(caught.value).startswith(said.format(where))
        assert "\n" not in str(caught.value)


def test_hubs_that_read_different_columns_are_compared_on_the_metrics_they_share() -> None:
    one = Hub([Length()]).evaluate(predictions=["a", "bb"], references=["x", "y"])
    other = Hub([Length(), Overlap()]).evaluate(predictions=["aa", "b"], references=["x", "y"])
    assert one.compare(other, resamples=5, trials=5)["length"]["score"].difference == 0


def test_systems_without_a_scored_sample_or_without_samples_compare_as_nan() -> None:
    blank, full = (
        Hub(Pairs()).evaluate(predictions=predictions) for predictions in (["", ""], ["a", "bb"])
    )
    for one, other in ((blank, full), (full, blank), (blank, blank)):
        found = one.compare(other, resamples=5, trials=5)["pairs"]["score"]
        assert np.isnan(
            [found.difference, found.sacrebleu_bootstrap_p, found.randomisation_p]
        ).all()
    none = Hub(Pairs()).evaluate(predictions=[])
    assert np.isnan(
        none.compare(none, resamples=5, trials=5)["pairs"]["score"].sacrebleu_bootstrap_p
    )
    assert np.isnan(none.intervals(resamples=5)["pairs"]["score"][:4]).all()


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
    ("one", "other", "said"),
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
def test_what_cannot_be_compared_is_refused(one: Any, other: Any, said: str) -> None:
    with pytest.raises(ReportError, match=said):
        one().compare(other())


# Files.


@given(batches)
def test_a_saved_report_loads_as_it_was(given_samples: list[Any]) -> None:
    report = evaluate(given_samples)
    with tempfile.TemporaryDirectory() as folder:
        for one in (report, report.pool()):
            path = Path(folder, "report.json")
            one.save(path)
            loaded = Report.load(path, metrics=METRICS)
            assert_same(facts(loaded), facts(one))
            assert loaded.segments == one.segments
            loaded.save(path.with_suffix(".2"))
            assert path.with_suffix(".2").read_bytes() == path.read_bytes()
        if given_samples:
            report.save(path)
            loaded = Report.load(path, metrics=METRICS)
            assert_same(facts(loaded.merge(report)), facts(report.merge(copy.copy(report))))
            loaded.compare(report, resamples=3, trials=3)


def test_a_report_of_installed_metrics_needs_nothing_to_load(tmp_path: Path) -> None:
    hub = Hub(["bleu2 = bleu(max_order=2)", "exact_match(regexes_to_ignore=('a', 'b'))"])
    report = hub.evaluate(predictions=["a b c", "x"], references=["a b d", "x"])
    report.save(tmp_path / "report.json")
    loaded = Report.load(tmp_path / "report.json")
    assert loaded.scores() == report.scores()
    assert [r.metric for r in loaded.results.values()] == list(hub.metrics)


def test_a_file_is_strict_json_even_with_nan_and_any_text(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    hub = Hub([Overlap(), Variety(), Errors(), Pairs()])
    report = evaluate([("\ud800 \0 é", ""), ("", "")], hub)
    report.save(path)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    json.loads(path.read_bytes(), parse_constant=refuse)
    assert_same(facts(Report.load(path, metrics=hub.metrics)), facts(report))


@dataclass(frozen=True, kw_only=True)
class Keeps(CorpusMetric):
    """A corpus metric with any rows."""

    card: ClassVar[Any] = card("keeps", "record")

    def observe(self, record: Any) -> Any:
        return record

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        return {"score": float(len({json.dumps(str(row)) for row in rows}))}


@pytest.mark.parametrize(
    "row",
    [{1, 2}, object(), b"a", np.array([{1}]), np.array([1j]), Unscored("x")],
    ids=lambda row: type(row).__name__,
)
def test_rows_that_json_cannot_hold_are_refused_and_leave_no_file(row: Any, tmp_path: Path) -> None:
    report = Hub(Keeps()).evaluate(records=[[row, "a"], {"in": (row,)}])
    with pytest.raises(ReportError, match="can't be written as JSON: a row holds "):
        report.save(tmp_path / "report.json")
    assert not list(tmp_path.iterdir())


def test_arrays_of_rows_come_back_with_their_types(tmp_path: Path) -> None:
    hub, path = Hub(Keeps()), tmp_path / "report.json"
    rows = [np.array([[1, 2]], np.uint8), np.array([0.5, np.nan]), np.zeros(0, np.uint64)]
    hub.evaluate(records=[{"in": row} for row in rows]).save(path)
    (result,) = Report.load(path, metrics=hub.metrics).results.values()
    assert isinstance(result, RowsResult)
    for loaded, row in zip(result.rows, rows, strict=True):
        np.testing.assert_array_equal(loaded["in"], row, strict=True)


def test_a_failed_save_keeps_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    evaluate([("a", "a")]).save(path)
    before = path.read_bytes()
    with pytest.raises(ReportError):
        Hub(Keeps()).evaluate(records=[object()]).save(path)
    assert path.read_bytes() == before


rows = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.text()), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(rows, max_size=4))
def test_rows_of_plain_values_come_back_as_they_were(given_rows: list[Any]) -> None:
    report = Hub(Keeps()).evaluate(records=[{"row": row} for row in given_rows])
    with tempfile.TemporaryDirectory() as folder:
        report.save(Path(folder, "report.json"))
        loaded: Any = Report.load(Path(folder, "report.json"), metrics=[Keeps()])
    assert loaded.results["keeps"].rows == report.results["keeps"].rows  # type: ignore[attr-defined]  # rows
    assert repr(loaded.results["keeps"].rows) == repr(report.results["keeps"].rows)  # type: ignore[attr-defined]  # rows


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "isn't a saved report"),
        (b"{", "isn't a saved report"),
        (b"\xff", "isn't a saved report"),
        (b"[]", "isn't a saved report"),
        (b"{}", "isn't a saved report"),
        (b"[" * 100_000 + b"]" * 100_000, "isn't a saved report"),
        (b'{"format": "metrichub-report-1"}', "is damaged"),
        (b'{"format": "metrichub-report-2"}', "by a newer version of metrichub .*; upgrade"),
    ],
)
def test_what_is_no_report_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(ReportError, match=said):
        Report.load(path)


def test_a_report_is_compressed_by_its_name(tmp_path: Path) -> None:
    report = Hub("wer").evaluate(predictions=["a b"], references=["a c"])
    plain, packed = tmp_path / "r.json", tmp_path / "r.json.gz"
    report.save(plain)
    report.save(packed)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert Report.load(packed) == report
    packed.write_bytes(packed.read_bytes()[:40])
    with pytest.raises(ReportError, match=r"r\.json\.gz can't be read: "):
        Report.load(packed)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    report = Hub("wer").evaluate(predictions=["a b"], references=["a c"])
    for name, write in (("r.json", report.save), ("r.html", report.to_html)):
        path = tmp_path / "nowhere" / name
        with pytest.raises(FileNotFoundError) as caught:
            write(path)
        assert caught.value.filename == str(path)
        assert caught.value.strerror == f"there is no folder {str(path.parent)!r}"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    report = Hub("wer").evaluate(predictions=["a b"], references=["a c"])
    for write in (report.save, report.to_html):
        with pytest.raises(IsADirectoryError, match="is a folder; name a file in it") as caught:
            write(tmp_path)
        assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*r\.json'"):
        Hub("wer").evaluate(predictions=["a"], references=["a"]).save(tmp_path / "r.json")


def test_a_missing_file_is_a_report_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"none\.json can't be read: No such file"):
        Report.load(tmp_path / "none.json")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


def test_damage_anywhere_is_a_report_error_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    hub = Hub([Overlap(), Variety(), Errors()])
    report = evaluate([("a b", "a"), ("", ""), (["c", "b"], "b c")], hub)
    report.save(path)
    content = json.loads(path.read_text())
    for place in places(content):
        for damage in (None, "x", -7, [], {}):
            broken = copy.deepcopy(content)
            target = broken
            for key in place[:-1]:
                target = target[key]
            target[place[-1]] = damage
            path.write_text(json.dumps(broken))
            with contextlib.suppress(ReportError):
                # What loads answers as a report does; numbers may have been changed by hand.
                facts(Report.load(path, metrics=hub.metrics))


def test_a_damaged_number_of_letters_is_a_report_error(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    Hub("bleu").evaluate(predictions=["a b"], references=["a c"]).save(path)
    content = json.loads(path.read_text())
    [letters] = content["letters"]["bleu"].values()
    letters["total"] = []
    path.write_text(json.dumps(content))
    with pytest.raises(ReportError, match="is damaged"):
        Report.load(path)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        (("metadata", "id"), [1], "its column 'id' doesn't have one value per sample"),
        (("metadata", "id"), "ab", "its column 'id' doesn't have one value per sample"),
        (("segments", 0, 0), 3, r"its parts have \[2, 3\] samples"),
        (("size",), 3, r"its parts have \[3, 2\] samples"),
        (("results", "cider", "sample"), [0, 2], "its rows don't belong to its samples"),
        (("results", "cider", "sample"), [-1, 0], "its rows don't belong to its samples"),
        (("results", "cider", "sample"), [0], "its rows don't belong to its samples"),
    ],
)
def test_columns_and_rows_that_do_not_fit_the_samples_are_refused(
    part: tuple[str, ...], value: Any, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    samples = [{"prediction": text, "references": [text], "id": text} for text in ("a", "b")]
    Hub("cider").evaluate(samples).save(path)
    assert Report.load(path).metadata == {"id": ["a", "b"]}
    content = json.loads(path.read_text())
    *outer, last = part
    reduce(getitem, outer, content)[last] = value
    path.write_text(json.dumps(content))
    with pytest.raises(ReportError, match=said):
        Report.load(path)


def test_a_metric_that_is_not_installed_is_named_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    evaluate([("a", "a")], Hub(Overlap())).save(path)
    with pytest.raises(ReportError, match="can't be loaded here: no metric 'overlap'") as caught:
        Report.load(path)
    assert str(caught.value).endswith(
        "pass metrics of your own with Report.load(path, metrics=[...])"
    )


def test_a_metric_that_scores_otherwise_now_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    evaluate([("a", "a b")], Hub(Overlap())).save(path)
    with pytest.raises(ReportError, match=r"scores \{'score': 0.5\}, .* gives \{'score': 1.0\}"):
        Report.load(path, metrics=[Overlap(weight=2)])


def test_contexts_of_any_number_stand_in_the_signature_and_the_file(tmp_path: Path) -> None:
    hub = Hub(InContext())
    report = hub.evaluate(predictions=["a", "b"], contexts=[[], ["b", "c"]])
    assert report.signatures()["in_context"].endswith("|contexts:0-2")
    report.save(tmp_path / "report.json")
    assert_same(facts(Report.load(tmp_path / "report.json", metrics=hub.metrics)), facts(report))


def test_sums_of_another_number_of_samples_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    evaluate([("a", "a"), ("b", "b")]).pool().save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["size"] = content["segments"][0][0] = 3
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ReportError, match=r"its parts have \[3\] samples"):
        Report.load(path, metrics=METRICS)


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
    assert report.scores() == {"awaited": {"score": 1.0, **counts}}
    # Notes name each cause once too.
    assert sorted(report.notes()["awaited"]) == [
        f"1 unscored: {NO_REASON}",
        "2 pending: in a batch",
        "3 failed: no reply",
    ]


def test_a_sample_of_a_corpus_metric_is_explained_by_its_own_rows() -> None:
    report = Hub(Variety()).evaluate(predictions=["a b", "", "c c"])
    assert [report.explain("variety", i).status for i in range(3)] == ["ok", "undefined", "ok"]


def test_reports_are_equal_by_their_statistics_and_signatures() -> None:
    table = [{"prediction": "the cat", "reference": "the cat", "id": 1}]
    one, again = Hub("bleu").evaluate(table), Hub("bleu").evaluate(table, keep=[], texts=False)
    assert one == again
    assert one != Hub("bleu(max_order=2)").evaluate(table)
    assert one != Hub("bleu").evaluate([table[0] | {"prediction": "a cat"}])
    assert one != one.pool()
    assert one != "a report"


@given(st.lists(batches, min_size=1, max_size=4), st.permutations(range(4)))
def test_condensed_parts_merge_in_any_order_to_the_scores_of_all(
    parts: list[list[Any]], order: list[int]
) -> None:
    hub = Hub([Variety(), Overlap()])
    reports = [evaluate(part, hub).condense() for part in parts]
    ordered = [reports[number] for number in order if number < len(reports)]
    found = ordered[0].merge(*ordered[1:]).without_samples()
    whole = evaluate([sample for part in parts for sample in part], hub)
    np.testing.assert_equal(found.scores(), whole.scores())
    assert found.size == whole.size
    for name, result in found.results.items():
        same = whole.results[name]
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


@pytest.mark.parametrize("data", [[], iter([]), {"prediction": [], "reference": []}])
def test_a_report_without_samples_says_so(data: Any) -> None:
    [note] = Hub("exact_match").evaluate(data).notes()["exact_match"]
    assert note == "there are no samples; a stream or an iterator can be read only once"


def test_a_pooled_report_of_a_corpus_metric_has_no_groups_and_no_test() -> None:
    one, other = (evaluate([(text, "b")] * 2, Hub(Variety())) for text in ("a b", "b b"))
    for ask in (
        lambda: other.pool().take([0]),
        lambda: one.compare(other.pool(), metrics="variety"),
    ):
        with pytest.raises(ReportError, match=r"^variety: this report was pooled, and a "):
            ask()


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (("buckets", "shared", "values"), "the sums over its buckets d"),
        (("bucket_counts",), "the number of samples in its buckets d"),
    ],
)
def test_buckets_that_do_not_fit_the_sums_are_refused(
    numbers: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    hub = Hub(Overlap())
    hub.evaluate(predictions=["a", "b"], references=["a", "a"], samples=False).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    reduce(getitem, numbers, content["results"]["overlap"])[0] += 1
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ReportError, match=said):
        Report.load(path, metrics=hub.metrics)


@pytest.mark.parametrize(("number", "whole"), [(1, True), (2, True), (3, False)])
def test_lengths_are_those_of_every_sample_or_their_sums(
    number: int, whole: bool, tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    report = Hub("exact_match").evaluate(predictions=["a b", "c"], references=["a", "c"])
    report.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["lengths"] = [[1, 1]] * number
    path.write_text(json.dumps(content), encoding="utf-8")
    if whole:
        lengths = Report.load(path).lengths
        assert lengths is not None
        assert lengths.tolist() == [[1, 1]] * number
    else:
        with pytest.raises(ReportError, match="it has the lengths of 3 samples"):
            Report.load(path)


def test_a_saved_report_keeps_what_it_says_of_the_data(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    # An empty cell, "NaN" and "null"; an é in both forms of Unicode; a reply without an answer.
    rows = ["response,reference,id", ",a,x", "NaN,e\u0301,y", "\u00e9 \\boxed{b},null,z"]
    table.write_text("\n".join(rows), "utf-8")
    report = Hub(["rouge", "distinct", "exact_match(extract='boxed')"]).evaluate(table)
    report.save(tmp_path / "report.json")
    loaded = Report.load(tmp_path / "report.json")
    for name in ("blanks", "mixed_forms", "metadata", "unextracted", "candidates"):
        assert getattr(report, name), name
        assert getattr(loaded, name) == getattr(report, name), name
    assert loaded.segments == report.segments
    assert loaded.letters == report.letters
    assert report.lengths is not None
    assert loaded.lengths is not None
    assert loaded.lengths.tolist() == report.lengths.tolist()
    assert loaded.notes() == report.notes()


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
