"""Reports of other versions and other definitions: what is read, compared, merged and refused."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.errors import ReportError
from metrichub.report.saved import _models_named
from tests.toy_metrics import Overlap

OLD = Path(__file__).parents[1] / "data" / "report-0.1.0.json"
"""Saved by metrichub 0.1.0, when a signature had no definition."""
SYSTEMS = ("wer", "distinct")
"""Those of its metrics that measure the same today."""


def measured(*metrics: str) -> Report:
    """The samples of the old report, measured now."""
    return Hub(metrics, judge="offline").evaluate(
        predictions=[
            "The cat sat on the mat.",
            "Marie Curie won two Nobel Prizes in Paris.",
            ["It rained.", "It was a dry day in May."],
        ],
        references=[
            ["The cat is on the mat."],
            ["Marie Curie won two Nobel Prizes.", "Curie won the Nobel Prize twice."],
            ["It was a dry day in May."],
        ],
        contexts=[
            ["The cat sat on the mat all day."],
            ["Marie Curie won the Nobel Prize in Physics and in Chemistry.", "She lived in Paris."],
            ["May was dry."],
        ],
    )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The old report with the metrics that measure the same today."""
    return only(tmp_path / "old.json", *SYSTEMS)


def only(path: Path, *metrics: str) -> Path:
    """The old report with these metrics alone."""
    content = json.loads(OLD.read_text())
    content["results"] = {name: content["results"][name] for name in metrics}
    path.write_text(json.dumps(content))
    return path


def elsewhere(report: Report, path: Path, old: str, new: str) -> Report:
    """A report as it is after saving, with a part of its signatures as another version has it."""
    report.save(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return Report.load(path)


def test_a_report_of_0_1_0_loads_and_gives_its_scores(old: Path) -> None:
    content = json.loads(old.read_text())
    report = Report.load(old)
    assert {name: saved["scores"] for name, saved in content["results"].items()} == report.scores()
    assert tuple(report.scores()) == SYSTEMS
    for name, signature in report.signatures().items():
        saved = content["results"][name]["signature"]
        assert "definition" not in saved
        label, home, reduction = saved.rsplit("|", 2)
        assert signature.startswith(f"{label}|definition:1|{home}|{reduction}|")


def test_a_report_of_0_1_0_compares_and_merges_with_one_measured_now(old: Path) -> None:
    report, now = Report.load(old), measured(*SYSTEMS)
    comparison = report.compare(now, resamples=5, trials=5)
    assert tuple(comparison) == SYSTEMS
    # The same samples, so that the systems are equal.
    for outputs in comparison.values():
        for output in outputs.values():
            np.testing.assert_equal(output.score, output.other)
    merged = report.merge(now)
    assert merged.size == 6
    assert merged.counts() == now.merge(copy.copy(now)).counts()
    for name, outputs in now.merge(copy.copy(now)).scores().items():
        assert merged.scores()[name] == pytest.approx(outputs)


def test_answers_of_other_rules_neither_merge_nor_compare(tmp_path: Path) -> None:
    now = measured("faithfulness")
    # Before the offline judge had versions, its reports named it alone.
    report = elsewhere(now, tmp_path / "old.json", "judge='offline(version=3)'", "judge='offline'")
    for ask in (report.merge, report.compare):
        with pytest.raises(ReportError, match=r"judge='offline' and judge='offline\(version=3\)'"):
            ask(now)


def test_reports_of_two_versions_compare_and_merge_and_both_are_recorded(tmp_path: Path) -> None:
    now = measured("wer")
    home = str(now.results["wer"].signature.versions[0])
    other = elsewhere(now, tmp_path / "r.json", f"metrichub:{home}", "metrichub:9.9")
    assert other.compare(now, resamples=5, trials=5)["wer"]
    merged = now.merge(other, copy.copy(now))
    assert f"|metrichub:{home},9.9|" in merged.signatures()["wer"]
    merged.save(tmp_path / "merged.json")
    again = Report.load(tmp_path / "merged.json")
    assert again.signatures() == merged.signatures()
    assert now.merge(again).signatures() == merged.signatures()


@pytest.mark.parametrize(
    ("signature", "models"),
    [
        ("m(judge='offline', k=2)|definition:1", {"judge": "offline"}),
        # A bar may stand within a text.
        ("m(pattern='a|b', embedder='offline')|definition:1", {"embedder": "offline"}),
        ("m(k=2)", {}),
        ("m(k=<lambda>)|judge='offline'", {}),
    ],
)
def test_a_signature_names_its_models(signature: str, models: dict[str, str]) -> None:
    assert _models_named(signature) == models


def test_a_report_of_another_definition_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="the installed bleu has definition 3 and gives"):
        Report.load(OLD)
    with pytest.raises(ReportError) as caught:
        elsewhere(measured("wer"), tmp_path / "r.json", "|definition:1|", "|definition:7|")
    message = str(caught.value)
    assert "|definition:7|" in message
    assert "the installed wer has definition 1 and gives different scores" in message
    assert "\n" not in message


def test_reports_of_two_definitions_neither_merge_nor_compare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = Hub(Overlap()).evaluate(predictions=["a"], references=["a"])
    monkeypatch.setattr(Overlap, "card", replace(Overlap.card, definition=2))
    two = Hub(Overlap()).evaluate(predictions=["a"], references=["a"])
    for ask in (first.merge, first.compare):
        with pytest.raises(ReportError, match=r"definition:1 and definition:2"):
            ask(two)


def test_a_report_from_before_a_metric_got_an_output_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    report = measured("wer")
    report.save(path)
    content = json.loads(path.read_text())
    scores = content["results"]["wer"]["scores"]
    del scores["deletions"]
    path.write_text(json.dumps(content))
    assert Report.load(path).scores() == report.scores()
    assert Report.load(path).counts() == report.counts()
    scores["score"] += 0.1
    path.write_text(json.dumps(content))
    with pytest.raises(ReportError, match="the installed version gives"):
        Report.load(path)


def test_sums_that_are_no_longer_made_keep_their_scores() -> None:
    # Saved with samples=False when cider and nist were summed in two passes.
    loaded = Report.load(OLD.with_name("report_of_weighed_sums.json"))
    rows = {
        "predictions": [
            "a man rides a brown horse",
            "two dogs play in the snow",
            "a plate of food on a table",
        ],
        "references": [
            ["a man is riding a horse"],
            ["dogs are playing in snow"],
            ["a white plate with food"],
        ],
    }
    again = Hub(["cider", "nist"]).evaluate(**rows, samples=False)
    for name, scores in again.scores().items():
        assert loaded[name] == pytest.approx(scores)
    with pytest.raises(ReportError, match="pooled"):
        loaded.samples()
    with pytest.raises(ReportError, match="pooled"):
        loaded.merge(again)
