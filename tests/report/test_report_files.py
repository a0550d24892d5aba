"""Files of reports: what else a file may hold, every part of a trace, and what is refused."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report
from metrichub.errors import ReportError
from metrichub.evaluation.explanation import Trace
from metrichub.models.usage import Usage
from metrichub.report import serialize
from metrichub.report.deserialize import _untagged, load_if_report
from metrichub.report.serialize import file_text
from tests.toy_metrics import Overlap, Variety

COLUMNS = {"predictions": ["a b", "c"], "references": ["a c", "c"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.json"


def changed(path: Path, change: Callable[[Any], object], *metrics: Any) -> Report:
    """A report of two samples, read again after a change of what its file holds."""
    Hub(list(metrics) or "wer").evaluate(COLUMNS).save(path)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return Report.load(path, metrics=[one for one in metrics if not isinstance(one, str)])


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"\xff", b"[]", b"null", b"3", b'"metrichub-report-1"', b"{}"),
        *(b'{"format": null}', b'{"format": "other"}', b'{"format": ["metrichub-report-1"]}'),
        b"[" * 100_000,
    ],
)
def test_a_file_of_anything_else_is_no_report(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    assert load_if_report(path) is None


def test_a_file_that_is_not_there_or_is_cut_off_is_no_report(path: Path) -> None:
    assert load_if_report(path) is None
    packed = path.with_suffix(".json.gz")
    packed.write_bytes(gzip.compress(b"{}")[:15])
    assert load_if_report(packed) is None
    # Python's own words for it, as there is no number of an error of the system.
    with pytest.raises(ReportError, match="can't be read: Compressed file ended before"):
        Report.load(packed)


def test_a_report_is_told_by_what_it_holds_of_this_version_or_another(path: Path) -> None:
    report = Hub("wer").evaluate(COLUMNS)
    report.save(path)
    found = load_if_report(path)
    assert found is not None
    assert Report.of(found) == report
    path.write_text('{"format": "metrichub-report-2"}')
    with pytest.raises(ReportError, match="newer version"):
        load_if_report(path)


@pytest.mark.parametrize("name", ["r.json.gz", "r.json.GZ"])
def test_a_compressed_report_has_no_time_so_that_one_report_has_one_file(
    name: str, tmp_path: Path
) -> None:
    report = Hub("wer").evaluate(COLUMNS)
    report.save(tmp_path / name)
    data = (tmp_path / name).read_bytes()
    # RFC 1952: two bytes of magic, then the time of change in the fifth to the eighth.
    assert (data[:2], data[4:8]) == (b"\x1f\x8b", bytes(4))
    assert gzip.decompress(data).decode() == f"{file_text(report)}\n"
    assert Report.load(tmp_path / name) == report


def test_every_part_of_a_trace_comes_back(path: Path) -> None:
    report = Hub("wer").evaluate(COLUMNS)
    trace = Trace(
        {0: [{"verdict": "yes"}], 1: []},
        {1: "gone"},
        Counter({"gone": 2}),
        {0: ["key", "other"]},
        Counter({"yes, yes": 3}),
        {1: "a batch"},
        Counter({"a batch": 4}),
        {"contexts": 5},
    )
    usage = Usage(4, 3, 20, 10, 0.5, seconds=1.5, requests=5)
    report = replace(report, traces={"wer": trace}, usage=usage, read_from={"references": ("a",)})
    report.save(path)
    loaded = Report.load(path)
    assert loaded.traces == {"wer": trace}
    assert (loaded.usage, loaded.read_from) == (usage, {"references": ("a",)})


@pytest.mark.parametrize("key", ["id", None])
def test_sums_of_buckets_come_back_whole(key: str | None, path: Path) -> None:
    rows = [{"prediction": f"a b{i % 3}", "reference": "a b1", "id": i} for i in range(20)]
    hub = Hub([Overlap(), "chrf"])
    report = hub.evaluate(rows, samples=False, key=key)
    report.save(path)
    loaded = Report.load(path, metrics=hub.metrics)
    assert loaded.intervals(resamples=20) == report.intervals(resamples=20)
    assert loaded.notes() == report.notes()
    assert loaded == report
    assert (loaded.buckets is None) == (report.buckets is None)


def test_runs_come_back_and_count_for_equality(path: Path) -> None:
    hub = Hub("faithfulness", judge="offline")
    report = hub.evaluate(predictions=["It is."], contexts=[["It is."]], repeats=2)
    report.save(path)
    loaded = Report.load(path)
    assert loaded == report != replace(report, runs={})
    assert loaded.to_dict() == report.to_dict()


def test_reasons_of_corpus_metrics_come_back_pooled_or_not(path: Path) -> None:
    report = Hub(Variety()).evaluate(predictions=["a b", "", "a"])
    for one in (report, report.pool(), Hub(Variety()).evaluate(predictions=[""]).pool()):
        one.save(path)
        loaded = Report.load(path, metrics=[Variety()])
        assert loaded == one
        assert str(loaded.scores()) == str(one.scores())
        assert loaded.notes() == one.notes()
    report.save(path)
    loaded = Report.load(path, metrics=[Variety()])
    assert [loaded.explain("variety", i).reason for i in range(3)] == [
        report.explain("variety", i).reason for i in range(3)
    ]


def scores_of(content: Any) -> Any:
    (saved,) = content["results"].values()
    return saved["scores"]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"score": 0.25}, True),
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
    if change == {"score": 0.25}:
        change = {}

    def update(content: Any) -> None:
        scores_of(content).update(change)

    if same:
        assert changed(path, update)["wer"]["score"] == pytest.approx(1 / 3)
    else:
        with pytest.raises(ReportError, match="the installed version gives"):
            changed(path, update)


def test_a_score_that_there_is_none_of_is_null_and_stays_so(path: Path) -> None:
    Hub("wer").evaluate(predictions=[], references=[]).save(path)
    content = json.loads(path.read_text())
    assert scores_of(content)["score"] is None
    assert str(Report.load(path)["wer"]["score"]) == "nan"
    scores_of(content)["score"] = 0.0
    path.write_text(json.dumps(content))
    with pytest.raises(ReportError, match="the installed version gives"):
        Report.load(path)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("size", 2.0, "samples"),
        ("size", 1, r"its parts have \[1, 2\] samples"),
        ("metadata", {"id": ["a", "b"]}, None),
        ("metadata", {"id": {"a": 1, "b": 2}}, "its column 'id' doesn't have one value per sample"),
        ("lengths", None, None),
        ("lengths", [[2, 1], [1, 1]], None),
        ("lengths", [], "it has the lengths of 0 samples"),
        ("unextracted", {"boxed": 1}, None),
        ("unextracted", {"boxed": "1"}, "'boxed' is counted as '1'"),
    ],
)
def test_parts_have_to_fit_the_samples(part: str, value: Any, said: str | None, path: Path) -> None:
    if said is None:
        changed(path, lambda content: content.update({part: value}))
    else:
        with pytest.raises(ReportError, match=said):
            changed(path, lambda content: content.update({part: value}))


@pytest.mark.parametrize(
    "part",
    [
        *("prompts", "evidence", "usage", "read_from", "mixed_forms", "metadata", "lengths"),
        *("letters", "runs", "buckets"),
    ],
)
def test_a_part_that_older_files_lack_is_empty(part: str, path: Path) -> None:
    loaded = changed(path, lambda content: content.pop(part))
    assert loaded.scores() == Hub("wer").evaluate(COLUMNS).scores()


def test_what_was_not_found_in_the_data_is_not_in_the_file(path: Path) -> None:
    Hub("wer").evaluate(COLUMNS).save(path)
    assert not {"blanks", "unextracted"} & json.loads(path.read_text()).keys()


def test_a_metric_that_is_given_is_used_for_its_name_alone(path: Path) -> None:
    loaded = changed(path, lambda content: None, Overlap(), "exact_match")
    assert [type(result.metric).__name__ for result in loaded.results.values()] == [
        "Overlap",
        "ExactMatch",
    ]


def test_a_file_names_a_metric_with_the_distribution_that_registers_it(path: Path) -> None:
    Hub(["w = wer()", Overlap()]).evaluate(COLUMNS).save(path)
    results = json.loads(path.read_text())["results"]
    assert {name: saved["metric"] for name, saved in results.items()} == {
        "w": "metrichub/wer",
        "overlap": "overlap",
    }


def test_a_file_of_this_machine_is_opened_without_the_package_for_addresses(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hub("wer").evaluate(COLUMNS).save(path)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert Report.load(path).size == 2


@pytest.mark.parametrize("infinite", [float("inf"), float("-inf"), float("nan")])
def test_numbers_that_json_lacks_come_back_in_rows(infinite: float, path: Path) -> None:
    tagged = serialize._tagged([infinite, (1, {2: infinite}), 0.5, True, None, "x"])
    json.dumps(tagged, allow_nan=False)
    assert str(_untagged(tagged)) == str([infinite, (1, {2: infinite}), 0.5, True, None, "x"])
