"""Files of reports: what comes back, what older files lack, and what is refused."""

from __future__ import annotations

import contextlib
import copy
import errno
import gzip
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report
from metrichub.errors import ReportError
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.measurement import with_facts
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.reuse import tagged, untagged
from metrichub.metric import CorpusMetric, Unscored
from metrichub.models.usage import Usage
from metrichub.report.saved import file_text, load_if_report
from tests.report.test_report import METRICS, Pairs, assert_same, batches, evaluate, facts
from tests.toy_metrics import Errors, InContext, Overlap, Variety

COLUMNS = {"predictions": ["a b", "c"], "references": ["a c", "c"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.json"


def saved_and_loaded(report: Report, path: Path, *metrics: Any) -> Report:
    report.save(path)
    return Report.load(path, metrics=metrics)


def content_of(path: Path, report: Report) -> Any:
    """The content of a report's file."""
    report.save(path)
    return json.loads(path.read_text("utf-8"))


def load_changed(
    path: Path, content: Any, place: Sequence[Any], value: Any, *metrics: Any
) -> Report:
    """A report of a file in which something else stands at a place."""
    *outer, last = place
    changed = copy.deepcopy(content)
    reduce(getitem, outer, changed)[last] = value
    path.write_text(json.dumps(changed), "utf-8")
    return Report.load(path, metrics=metrics)


# What comes back.


@given(batches)
def test_a_saved_report_loads_as_it_was(given_samples: list[Any]) -> None:
    report = evaluate(given_samples)
    with tempfile.TemporaryDirectory() as folder:
        for version in (report, report.pool()):
            path = Path(folder, "report.json")
            loaded = saved_and_loaded(version, path, *METRICS)
            assert_same(facts(loaded), facts(version))
            assert loaded.fingerprints == version.fingerprints
            loaded.save(path.with_suffix(".2"))
            assert path.with_suffix(".2").read_bytes() == path.read_bytes()
        if given_samples:
            loaded = saved_and_loaded(report, path, *METRICS)
            assert_same(facts(loaded.merge(report)), facts(report.merge(copy.copy(report))))
            loaded.compare(report, resamples=3, trials=3)


def test_a_report_of_installed_metrics_needs_nothing_to_load(path: Path) -> None:
    hub = Hub(["bleu2 = bleu(max_order=2)", "exact_match(regexes_to_ignore=('a', 'b'))"])
    report = hub.evaluate(predictions=["a b c", "x"], references=["a b d", "x"])
    loaded = saved_and_loaded(report, path)
    assert loaded.scores() == report.scores()
    assert loaded.counts() == report.counts()
    assert [r.metric for r in loaded.results.values()] == list(hub.metrics)


def test_a_file_is_strict_json_even_with_nan_and_any_text(path: Path) -> None:
    hub = Hub([Overlap(), Variety(), Errors(), Pairs()])
    report = evaluate([("\ud800 \0 é", ""), ("", "")], hub)
    loaded = saved_and_loaded(report, path, *hub.metrics)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    json.loads(path.read_bytes(), parse_constant=refuse)
    assert_same(facts(loaded), facts(report))


@dataclass(frozen=True, kw_only=True)
class Keeps(CorpusMetric):
    """A corpus metric with any rows."""

    def observe(self, record: Any) -> Any:
        return record

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        return {"score": float(len({json.dumps(str(row)) for row in rows}))}


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
        loaded = saved_and_loaded(report, Path(folder, "report.json"), Keeps())
    loaded_result, result = (version.results["keeps"] for version in (loaded, report))
    assert isinstance(loaded_result, RowsResult)
    assert isinstance(result, RowsResult)
    assert loaded_result.rows == result.rows
    assert repr(loaded_result.rows) == repr(result.rows)


def test_arrays_and_numbers_that_json_lacks_come_back_in_rows(path: Path) -> None:
    arrays = [np.array([[1, 2]], np.uint8), np.array([0.5, np.nan]), np.zeros(0, np.uint64)]
    report = Hub(Keeps()).evaluate(records=[{"in": row} for row in arrays])
    (result,) = saved_and_loaded(report, path, Keeps()).results.values()
    assert isinstance(result, RowsResult)
    for loaded, row in zip(result.rows, arrays, strict=True):
        np.testing.assert_array_equal(loaded["in"], row, strict=True)
    for infinite in (float("inf"), float("-inf"), float("nan")):
        given_row = [infinite, (1, {2: infinite}), 0.5, True, None, "x", Unscored("x")]
        written = tagged(given_row)
        json.dumps(written, allow_nan=False)
        assert str(untagged(written)) == str(given_row)


@pytest.mark.parametrize(
    "row",
    [{1, 2}, object(), b"a", np.array([{1}]), np.array([1j])],
    ids=lambda row: type(row).__name__,
)
def test_rows_that_json_cannot_hold_are_refused_and_what_was_there_stays(
    row: Any, path: Path
) -> None:
    report = Hub(Keeps()).evaluate(records=[[row, "a"], {"in": (row,)}])
    with pytest.raises(ReportError, match="can't be written as JSON: a row holds "):
        report.save(path)
    assert not list(path.parent.iterdir())
    path.write_text("before")
    with pytest.raises(ReportError):
        report.save(path)
    assert path.read_text() == "before"


def test_every_part_of_a_trace_comes_back(path: Path) -> None:
    trace = Trace(
        {0: [{"verdict": "yes"}], 1: []},
        {1: "gone"},
        Counter({"gone": 2}),
        {0: ["key", "other"]},
        Counter({'["yes", "yes"]': 3}),
        {1: "a batch"},
        Counter({"a batch": 4}),
        {"contexts": 5},
    )
    usage = Usage(4, 3, 20, 10, 0.5, seconds=1.5, requests=5)
    report = Hub("wer").evaluate(COLUMNS)
    report = replace(report, traces={"wer": trace})
    report = with_facts(report, usage=usage, read_from={"references": ("a",)})
    loaded = saved_and_loaded(report, path)
    assert loaded.traces == {"wer": trace}
    assert (loaded.usage, loaded.read_from) == (usage, {"references": ("a",)})


def test_a_saved_report_keeps_what_it_says_of_the_data(path: Path) -> None:
    table = path.with_name("table.csv")
    # An empty cell, "NaN" and "null"; an é in both forms of Unicode; a reply without an answer.
    lines = ["response,reference,id", ",a,x", "NaN,e\u0301,y", "\u00e9 \\boxed{b},null,z"]
    table.write_text("\n".join(lines), "utf-8")
    report = Hub(["rouge", "distinct", "exact_match(extract='boxed')"]).evaluate(table)
    loaded = saved_and_loaded(report, path)
    for name in ("blanks", "mixed_forms", "metadata", "unextracted", "items_per_sample"):
        assert getattr(report, name), name
        assert getattr(loaded, name) == getattr(report, name), name
    assert loaded.fingerprints == report.fingerprints
    assert loaded.script_coverage == report.script_coverage
    assert report.lengths is not None
    assert loaded.lengths is not None
    assert loaded.lengths.tolist() == report.lengths.tolist()
    assert loaded.notes() == report.notes()
    # What was not found in the data is not in the file.
    nothing = content_of(path, Hub("wer").evaluate(COLUMNS))
    assert not {"blanks", "unextracted"} & nothing.keys()


@pytest.mark.parametrize("key", ["id", None])
def test_sums_of_buckets_come_back_whole(key: str | None, path: Path) -> None:
    table = [{"prediction": f"a b{i % 3}", "reference": "a b1", "id": i} for i in range(20)]
    hub = Hub([Overlap(), "chrf"])
    report = hub.evaluate(table, samples=False, key=key)
    loaded = saved_and_loaded(report, path, *hub.metrics)
    assert loaded.intervals(resamples=20) == report.intervals(resamples=20)
    assert loaded.notes() == report.notes()
    assert loaded == report
    assert (loaded.buckets is None) == (report.buckets is None)


def test_runs_come_back_and_count_for_equality(path: Path) -> None:
    hub = Hub("faithfulness", judge="offline")
    report = hub.evaluate(predictions=["It is."], contexts=[["It is."]], repeats=2)
    loaded = saved_and_loaded(report, path)
    assert loaded == report != replace(report, runs={})
    assert loaded.to_dict() == report.to_dict()


def test_contexts_of_any_number_stand_in_the_signature_and_the_file(path: Path) -> None:
    report = Hub(InContext()).evaluate(predictions=["a", "b"], contexts=[[], ["b", "c"]])
    assert report.signatures()["in_context"].endswith("|contexts:0-2")
    assert_same(facts(saved_and_loaded(report, path, InContext())), facts(report))


# Metrics of a file.


def test_a_file_names_metrics_with_their_distribution_and_takes_given_ones_by_name(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = content_of(path, Hub(["w = wer()", Overlap()]).evaluate(COLUMNS))
    assert {name: saved["metric"] for name, saved in content["results"].items()} == {
        "w": "metrichub/wer",
        "overlap": "overlap",
    }
    loaded = Report.load(path, metrics=[Overlap()])
    kinds = [type(result.metric).__name__ for result in loaded.results.values()]
    assert kinds == ["WordErrorRate", "Overlap"]
    with pytest.raises(ReportError, match="can't be loaded here: no metric 'overlap'") as caught:
        Report.load(path)
    assert str(caught.value).endswith("pass your own metrics with Report.load(path, metrics=[...])")
    evaluate([("a", "a b")], Hub(Overlap())).save(path)
    with pytest.raises(ReportError, match=r"scores \{'score': 0.5\}, .* gives \{'score': 1.0\}"):
        Report.load(path, metrics=[Overlap(weight=2)])
    monkeypatch.setattr(Overlap, "score", lambda _, **other: other["words"])
    with pytest.raises(ReportError, match="whose sums the installed version doesn't score"):
        Report.load(path, metrics=[Overlap()])


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        # The last digits may be another machine's: one of two words and none of one is a third.
        ({"score": 1 / 3 * (1 + 1e-12)}, True),
        ({"score": 1 / 3 * (1 + 1e-6)}, False),
        ({"score": None}, False),
        ({"one more": 1.0}, False),
        ({"one more": None}, False),
    ],
)
def test_a_file_has_the_scores_that_the_metric_gives_and_no_others(
    change: dict[str, Any], same: bool, path: Path
) -> None:
    content = content_of(path, Hub("wer").evaluate(COLUMNS))
    place = ("results", "wer", "scores")
    scores = reduce(getitem, place, content) | change
    if same:
        loaded = load_changed(path, content, place, scores)
        assert loaded["wer"]["score"] == pytest.approx(1 / 3)
    else:
        with pytest.raises(ReportError, match="the installed version gives"):
            load_changed(path, content, place, scores)


def test_a_score_that_there_is_none_of_is_null_and_stays_so(path: Path) -> None:
    content = content_of(path, Hub("wer").evaluate(predictions=[], references=[]))
    assert content["results"]["wer"]["scores"]["score"] is None
    assert str(Report.load(path)["wer"]["score"]) == "nan"
    with pytest.raises(ReportError, match="the installed version gives"):
        load_changed(path, content, ("results", "wer", "scores", "score"), 0.0)


# Files that are none, damaged or from elsewhere.


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((other, "isn't a saved report") for other in (b"", b"{", b"\xff", b"[]", b"null", b"3")),
        *((b'{"format": null}', "isn't a saved report"), (b"{}", "isn't a saved report")),
        (b'"metrichub-report-1"', "isn't a saved report"),
        (b'{"format": "other"}', "isn't a saved report"),
        (b'{"format": ["metrichub-report-1"]}', "isn't a saved report"),
        (b"[" * 100_000, "isn't a saved report"),
        (b"[" * 100_000 + b"]" * 100_000, "isn't a saved report"),
        (b'{"format": "metrichub-report-1"}', "is damaged"),
        (b'{"format": "metrichub-report-2"}', "by a newer version of metrichub .*; upgrade"),
    ],
)
def test_what_is_no_report_is_refused(content: bytes, message: str, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(ReportError, match=message):
        Report.load(path)
    if message == "isn't a saved report":
        assert load_if_report(path) is None
    elif message != "is damaged":
        with pytest.raises(ReportError, match="newer version"):
            load_if_report(path)


def test_a_missing_file_is_no_report(path: Path) -> None:
    assert load_if_report(path) is None
    with pytest.raises(ReportError, match=r"report\.json can't be read: No such file"):
        Report.load(path)


@pytest.mark.parametrize("suffix", [".json.gz", ".json.GZ"])
def test_a_report_is_compressed_by_its_name_without_the_time(suffix: str, path: Path) -> None:
    report = Hub("wer").evaluate(COLUMNS)
    packed = path.with_suffix(suffix)
    assert saved_and_loaded(report, packed) == report
    if_report = load_if_report(packed)
    assert if_report is not None
    assert Report.of(if_report) == report
    data = packed.read_bytes()
    # RFC 1952: two bytes of magic, then the time of change in the fifth to the eighth.
    assert (data[:2], data[4:8]) == (b"\x1f\x8b", bytes(4))
    report.save(path)
    assert gzip.decompress(data) == path.read_bytes() == f"{file_text(report)}\n".encode()
    packed.write_bytes(data[:40])
    assert load_if_report(packed) is None
    # Python's own words for it, as there is no number of an error of the system.
    with pytest.raises(ReportError, match="can't be read: Compressed file ended before"):
        Report.load(packed)


def test_a_file_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = Hub("wer").evaluate(COLUMNS)
    for name, write in (("r.json", report.save), ("r.html", report.to_html)):
        path = tmp_path / "nowhere" / name
        with pytest.raises(FileNotFoundError) as caught:
            write(path)
        assert caught.value.filename == str(path)
        assert caught.value.strerror == f"there is no folder {str(path.parent)!r}"
        with pytest.raises(IsADirectoryError, match="is a folder; name a file in it") as folder:
            write(tmp_path)
        assert folder.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*r\.json'"):
        report.save(tmp_path / "r.json")


def test_a_file_of_this_machine_is_opened_without_the_package_for_addresses(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hub("wer").evaluate(COLUMNS).save(path)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert Report.load(path).size == 2


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


def test_damage_anywhere_is_a_report_error_or_harmless(path: Path) -> None:
    hub = Hub([Overlap(), Variety(), Errors()])
    content = content_of(path, evaluate([("a b", "a"), ("", ""), (["c", "b"], "b c")], hub))
    for place in places(content):
        for damage in (None, "x", -7, [], {}):
            with contextlib.suppress(ReportError):
                # What loads answers as a report does; numbers may have been changed by hand.
                facts(load_changed(path, content, place, damage, *hub.metrics))


NOT_PER_SAMPLE = "its column 'id' doesn't have one value per sample"
FOREIGN_ROWS = "its rows don't belong to its samples"


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("metadata", "id"), [1], NOT_PER_SAMPLE),
        (("metadata", "id"), "ab", "it holds 'ab' .* in place of list"),
        (("metadata", "id"), ["a", {}], "its column 'id' holds objects"),
        (("metadata", "id"), ["a", "b"], None),
        (("segments", 0, 0), 3, r"its parts have \[2, 3\] samples"),
        (("size",), 3, r"its parts have \[3, 2\] samples"),
        (("size",), 1, r"its parts have \[1, 2\] samples"),
        (("size",), 2.0, r"it holds 2\.0 \(float\) in place of int"),
        (("results", "cider", "sample"), [0, 2], FOREIGN_ROWS),
        (("results", "cider", "sample"), [-1, 0], FOREIGN_ROWS),
        (("results", "cider", "sample"), [0], FOREIGN_ROWS),
        (("lengths",), None, None),
        (("lengths",), [[2, 1], [1, 1]], None),
        (("lengths",), [[3, 2]], None),
        (("lengths",), [], "it has the lengths of 0 samples"),
        (("lengths",), [[1, 1]] * 3, "it has the lengths of 3 samples"),
        (("unextracted",), {"boxed": 1}, None),
        (("unextracted",), {"boxed": "1"}, "it holds '1' .* in place of int"),
        (("letters",), {"cider": {"13a": {"total": []}}}, "is damaged"),
    ],
)
def test_parts_have_to_fit_the_samples(
    place: tuple[Any, ...], value: Any, message: str | None, path: Path
) -> None:
    samples = [{"prediction": text, "references": [text], "id": text} for text in ("a", "b")]
    content = content_of(path, Hub("cider").evaluate(samples))
    if message is None:
        loaded = load_changed(path, content, place, value)
        if place == ("lengths",):
            assert (None if loaded.lengths is None else loaded.lengths.tolist()) == value
    else:
        with pytest.raises(ReportError, match=message):
            load_changed(path, content, place, value)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("buckets", "shared", "values", 0), "the sums over its buckets d"),
        (("bucket_counts", 0), "the number of samples in its buckets d"),
    ],
)
def test_buckets_that_do_not_fit_the_sums_are_refused(
    place: tuple[Any, ...], message: str, path: Path
) -> None:
    hub = Hub(Overlap())
    summed = hub.evaluate(predictions=["a", "b"], references=["a", "a"], samples=False)
    content = content_of(path, summed)
    keys = ("results", "overlap", *place)
    with pytest.raises(ReportError, match=message):
        load_changed(path, content, keys, reduce(getitem, keys, content) + 1, *hub.metrics)


def test_sums_of_another_number_of_samples_are_refused(path: Path) -> None:
    content = content_of(path, evaluate([("a", "a"), ("b", "b")]).pool())
    content["size"] = 3
    with pytest.raises(ReportError, match=r"its parts have \[3, 2\] samples"):
        load_changed(path, content, ("segments", 0, 0), 3, *METRICS)


@pytest.mark.parametrize(
    "part",
    [
        *("prompts", "evidence", "usage", "read_from", "mixed_forms", "metadata", "lengths"),
        *("letters", "runs", "buckets"),
    ],
)
def test_a_part_that_older_files_lack_is_empty(part: str, path: Path) -> None:
    report = Hub("wer").evaluate(COLUMNS)
    content = content_of(path, report)
    del content[part]
    path.write_text(json.dumps(content))
    assert Report.load(path).scores() == report.scores()
    assert Report.load(path).counts() == report.counts()
