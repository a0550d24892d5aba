"""Export: a report as a dictionary, JSON, a data frame, flat keys and tables of text."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import JudgeError, ParameterError, ReportError, UnknownParameter
from metrichub.models.usage import Usage
from metrichub.report.export import document, samples_text, usage_counts
from metrichub.testing import Scripted

COLUMNS: dict[str, Any] = {
    "predictions": ["the cat sat", "a dog", "not at all"],
    "references": ["the cat sat", "the dog ran", "yes"],
}


@pytest.fixture(scope="module")
def report() -> Report:
    return Hub(["bleu", "rouge", "wer"]).evaluate(**COLUMNS)


@pytest.fixture(scope="module")
def judged() -> Report:
    hub = Hub("faithfulness", judge="offline")
    return hub.evaluate(predictions=["It is old.", ""], contexts=[["It is old."]] * 2)


def test_a_metric_is_looked_up_by_its_name(report: Report) -> None:
    assert report["bleu"] == report.scores()["bleu"]
    assert list(report) == ["bleu", "rouge", "wer"]
    assert "rouge" in report
    assert "chrf" not in report
    with pytest.raises(ReportError, match=r"no metric 'blue' in the report; did you mean 'bleu'\?"):
        report["blue"]
    with pytest.raises(ReportError, match="choose metrics by their names"):
        report[0]  # type: ignore[index]  # a list would take it


def test_a_document_of_repeated_runs_has_each_run_and_no_samples() -> None:
    hub = Hub("faithfulness", judge="offline")
    report = hub.evaluate(predictions=["It is old."], contexts=[["It is old."]], repeats=2)
    repeated = report.to_dict()["repeated"]["faithfulness"]["score"]
    assert repeated == {"mean": 1, "std": 0, "low": 1, "high": 1, "runs": (1, 1)}


def test_an_option_that_pages_lack_is_named(report: Report, tmp_path: Path) -> None:
    with pytest.raises(UnknownParameter, match="no parameter 'colour'; did you mean 'cluster'"):
        report.to_html(tmp_path / "page.html", colour=1)


@pytest.mark.parametrize(("suffix", "second"), [(".csv", "?"), (".jsonl", "\\ud800")])
def test_samples_are_written_with_what_stands_behind_them(
    judged: Report, suffix: str, second: str
) -> None:
    named = replace(judged, metadata={"name": ["é", "\ud800"]})
    lines = samples_text({"": named}, suffix).splitlines()[-2:]
    # A text that has no UTF-8 is written otherwise, the others as they are.
    assert "é" in lines[0]
    assert second in lines[1]
    why = judged.explain("faithfulness", 1)
    assert all(text in lines[1] for text in (why.status, str(why.reason)))


def test_keys_are_flat_and_a_metrics_own_name_is_its_score(report: Report) -> None:
    scores = report.scores()
    assert report.flatten() == {
        "bleu": scores["bleu"]["score"],
        **{
            f"rouge/{output}": scores["rouge"][output] for output in load_metric("rouge").headline()
        },
        "wer": scores["wer"]["score"],
    }
    every = report.flatten(outputs="all", separator=".")
    assert every["bleu.brevity_penalty"] == scores["bleu"]["brevity_penalty"]
    assert len(every) == sum(len(result.scores()) for result in report.results.values())


def test_a_dictionary_holds_what_the_command_line_prints(report: Report) -> None:
    found = report.to_dict()
    assert found["scores"] == report.scores()
    assert found["samples"] == 3
    assert found["signatures"] == report.signatures()
    assert set(found) <= {"scores", "samples", "signatures", "notes"}


def test_a_document_has_what_was_given_and_nothing_else(report: Report) -> None:
    few = Hub("exact_match").evaluate(predictions=["a"], references=["a"])
    assert document(few) == {"scores": few.scores(), "samples": 1}
    found = document(few, {"exact_match": {}}, {})
    assert found == {**document(few), "intervals": {"exact_match": {}}, "signatures": {}}
    noted = replace(few, blanks={"predictions": {"": 1}})
    assert document(noted) == {**document(few), "notes": noted.notes()}


def test_json_has_null_where_there_is_no_score(judged: Report) -> None:
    empty = Hub("bleu").evaluate(predictions=[], references=[])
    assert math.isnan(empty.to_dict()["scores"]["bleu"]["score"])
    text = empty.to_json()
    assert "NaN" not in text
    assert json.loads(text)["scores"]["bleu"]["score"] is None
    assert json.loads(judged.to_json(indent=None))["scores"]["faithfulness"]["unanswered"] == 1


def test_a_frame_has_a_row_a_sample_with_its_reason(report: Report, judged: Report) -> None:
    frame = report.to_frame()
    assert frame.shape[0] == 3
    assert frame.index.name == "sample"
    assert frame["wer.score"].tolist() == report.samples()["wer"]["score"].tolist()
    assert not [name for name in frame if name.endswith(".reason")]
    other = judged.to_frame()
    assert other["faithfulness.score"].isna().tolist() == [False, True]
    assert other["faithfulness.reason"].isna().tolist() == [True, False]
    assert other["faithfulness.reason"][1] == judged.results["faithfulness"].why(1)
    pooled = Hub("bleu").evaluate(samples=False, **COLUMNS)
    with pytest.raises(ReportError):
        pooled.to_frame()


_SCORED = pandas.DataFrame(
    # Rows 0 to 2 are right.
    {
        "pred": ["a", "b", "c", "a", "b", "c"],
        "ref": ["a", "b", "c"] + ["d"] * 3,
        "system": [*"xyxyxy"],
    }
)


@pytest.mark.parametrize(
    "frame",
    [
        _SCORED,
        _SCORED.sort_values("pred", ascending=False),
        _SCORED[_SCORED["system"] == "y"],
        _SCORED.set_index(["system", _SCORED.index]).iloc[::-1],
        pandas.concat([_SCORED, _SCORED]),
    ],
    ids=["as it is", "sorted", "filtered", "two levels", "doubled"],
)
def test_a_frame_has_the_index_of_the_frame_that_was_scored(frame: Any) -> None:
    hub, expected = Hub("exact_match"), (frame["pred"] == frame["ref"]).astype(float)
    halves = [frame[:2], frame[2:]]
    reports = {
        "frame": hub.evaluate(frame),
        "columns": hub.evaluate(predictions=frame["pred"], references=frame["ref"]),
        "mapping": hub.evaluate({"pred": frame["pred"], "ref": frame["ref"]}),
        "parts": hub.evaluate(iter(halves)),
        "merged": hub.evaluate(halves[0]).merge(hub.evaluate(halves[1])),
    }
    for report in reports.values():
        scores = report.to_frame()["exact_match.score"]
        pandas.testing.assert_series_equal(scores, expected, check_names=False)
    taken = reports["frame"].take([0, 2]).to_frame()["exact_match.score"]
    pandas.testing.assert_series_equal(taken, expected.iloc[[0, 2]], check_names=False)


def test_a_saved_report_has_no_index(tmp_path: Path) -> None:
    Hub("exact_match").evaluate(_SCORED[3:]).save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json").to_frame().index.tolist() == [0, 1, 2]


def test_a_frame_takes_texts_that_have_no_utf8() -> None:
    ids = {"id\udc00": ["x\ud800", "ü"]}
    report = Hub("wer").evaluate(predictions=["a", "b"], references=["a", "b"], **ids)
    assert report.to_frame()["id\ufffd"].tolist() == ["x\ufffd", "ü"]


def test_a_frame_keeps_a_given_column_that_is_named_as_a_score() -> None:
    given = {"wer.score": [0.25, 0.75], "wer.reason": ["mine", "yours"]}
    report = Hub("wer").evaluate(predictions=["a", "b"], references=["b", "b"], **given)
    frame = report.to_frame()
    assert frame["wer.score"].tolist() == [1.0, 0.0]
    assert frame["wer.score (kept)"].tolist() == [0.25, 0.75]
    assert frame["wer.reason (kept)"].tolist() == ["mine", "yours"]
    assert "wer.reason" not in frame


def test_a_frame_says_what_failed() -> None:
    def failing(fields: object) -> Any:
        raise JudgeError("the judge was tired")

    judge = Scripted({"claims": failing})
    hub = Hub(load_metric("faithfulness", judge=judge))
    report = hub.evaluate(predictions=["It is old."], contexts=[["It is old."]])
    (reason,) = report.to_frame()["faithfulness.reason"]
    assert reason == report.explain("faithfulness", 0).reason == "the judge was tired"


def test_tables_hold_headline_outputs_or_all(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    shown = [(row["metric"], row["output"], float(row["score"])) for row in rows]
    assert shown == [
        (name, output, result.scores()[output])
        for name, result in report.results.items()
        for output in result.scores()
        if output in result.metric.headline()
    ]
    every = list(csv.DictReader(io.StringIO(report.to_csv(outputs="all", intervals=True))))
    assert len(every) == sum(len(result.scores()) for result in report.results.values())
    # Three samples are too few for an interval.
    assert every[0]["low"] == every[0]["high"] == ""
    markdown, latex = report.to_markdown(), report.to_latex(intervals=True)
    assert markdown.startswith("| metric | score |\n| --- | ---: |\n| bleu ↑ | 0.")
    assert markdown.count("\n| ") == len(rows) + 1
    assert "\n3 samples.\n" in markdown
    for signature in report.signatures().values():
        assert f"\n`{signature}`\n" in markdown
    assert latex.startswith("\\begin{table}\n\\centering\n\\begin{tabular}{ll}\n\\toprule\n")
    assert "metric & score [95\\% interval] \\\\" in latex
    assert "3 samples. No interval for bleu, rouge1" in latex


@pytest.mark.parametrize("method", ["flatten", "to_csv", "to_markdown", "to_latex"])
def test_another_choice_of_outputs_is_refused(report: Report, method: str) -> None:
    with pytest.raises(ParameterError, match="choose 'headline' or 'all'"):
        getattr(report, method)(outputs="main")


def test_json_is_indented_by_two_or_as_asked(report: Report) -> None:
    assert report.to_json().splitlines()[1].startswith('  "')
    assert "\n" not in report.to_json(indent=None)


def test_json_keeps_letters_as_they_are() -> None:
    report = Hub(["größe = exact_match()"]).evaluate(predictions=["a"], references=["a"])
    assert '"größe"' in report.to_json()


@pytest.mark.parametrize("usage", [Usage(calls=2), Usage(cached=2)])
def test_what_judges_took_is_there_if_any_was_asked_or_remembered(
    report: Report, usage: Usage
) -> None:
    assert "usage" not in report.to_dict()
    assert "usage" in replace(report, usage=usage).to_dict()


def test_usage_counts_have_the_time_and_the_requests_that_an_estimate_lacks() -> None:
    usage = Usage(4, 3, 20, 10, 0.5, seconds=1.5, requests=5)
    counts = {"calls": 4, "cached": 3, "prompt_tokens": 20, "completion_tokens": 10, "money": 0.5}
    assert usage_counts(usage, seconds=False) == counts
    assert usage_counts(usage) == counts | {"seconds": 1.5, "requests": 5}


@pytest.mark.parametrize(
    ("money", "seconds", "kept"),
    [(1.23456789e-4, 0.1 + 0.2, (0.000123457, 0.3)), (1e-9, 4e-10, (1e-9, 0.0))],
)
def test_money_and_seconds_are_rounded_to_nine_decimals(
    money: float, seconds: float, kept: tuple[float, float]
) -> None:
    counts = usage_counts(Usage(money=money, seconds=seconds))
    assert (counts["money"], counts["seconds"]) == kept


def rows_of(reports: dict[str, Report]) -> list[dict[str, Any]]:
    """What JSON Lines have of the samples."""
    return [json.loads(line) for line in samples_text(reports, ".jsonl").splitlines()]


def test_a_line_of_a_sample_has_its_number_columns_and_scores(judged: Report) -> None:
    given: dict[str, Any] = {
        "sample": ["s", "t"],
        "scores": [1, 2],
        "file": ["f", "g"],
        "explanations": [3, 4],
    }
    report = replace(judged, metadata={**given, "id": ["x", None]})
    first, second = rows_of({"only": report})
    why = judged.explain("faithfulness", 1)
    assert list(first) == [
        "sample",
        *(f"metadata.{name}" for name in given),
        *("id", "scores", "explanations"),
    ]
    assert first["scores"] == {"faithfulness": {"score": 1.0}}
    assert second == {
        "sample": 1,
        **{f"metadata.{name}": values[1] for name, values in given.items()},
        "id": None,
        "scores": {"faithfulness": {"score": None}},
        "explanations": {
            "faithfulness": {
                "status": "undefined",
                "reason": why.reason,
                "steps": second_steps(why),
            }
        },
    }
    # Of several files each line names its own, and a metric without a judge has no explanation.
    plain = Hub("wer").evaluate(**COLUMNS)
    rows = rows_of({"a": plain, "b": plain})
    assert [row["file"] for row in rows] == ["a"] * 3 + ["b"] * 3
    assert [row["sample"] for row in rows] == [0, 1, 2] * 2
    assert "explanations" not in rows[0]


def second_steps(why: Any) -> list[Any]:
    """The steps as JSON has them."""
    steps: list[Any] = json.loads(json.dumps(why.steps))
    return steps


def test_a_table_of_samples_has_a_column_for_all_that_any_sample_has(judged: Report) -> None:
    plain = Hub("exact_match").evaluate(predictions=["a"], references=["a"], n=[7])
    both = {"a": judged, "b": plain}
    for suffix in (".csv", ".CSV"):
        head, first, _, third = csv.reader(io.StringIO(samples_text(both, suffix)))
        assert head == [
            *("file", "sample", "faithfulness.score", "faithfulness.status"),
            *("faithfulness.reason", "n", "exact_match.score"),
        ]
        assert first == ["a", "0", "1.0", "ok", "", "", ""]
        assert third == ["b", "0", "", "", "", "7", "1.0"]
    assert rows_of(both) == [json.loads(line) for line in samples_text(both, ".JSONL").splitlines()]


def test_a_text_says_why_a_metric_scored_no_sample_at_all() -> None:
    silent = Hub(["ttr", "exact_match"]).evaluate(predictions=["", ""], references=["a", "b"])
    lines = str(silent).splitlines()
    notes = [line for line in lines if ": " in line]
    assert notes == [f"ttr: {note}" for note in silent.notes()["ttr"]]
    assert notes[0] == "ttr: 2 unanswered: the text has no words"
    for texts in (["", "a"], []):
        assert ": " not in str(Hub("ttr").evaluate(predictions=texts))


def test_a_table_in_full_precision_has_the_intervals_of_its_rows() -> None:
    report = Hub("wer").evaluate(predictions=["a b", "a c"] * 5, references=["a b"] * 10)
    found = report.intervals()["wer"]
    rows = list(csv.reader(io.StringIO(report.to_csv(intervals=True))))
    assert rows[0] == ["metric", "output", "score", "low", "high"]
    assert rows[1:] == [["wer", "score", "0.25", *map(str, found["score"][:2])]]
    every = list(csv.reader(io.StringIO(report.to_csv(outputs="all", intervals=True))))
    assert [(row[1], row[3]) for row in every[1:]] == [
        (output, "" if math.isnan(own.low) else str(own.low)) for output, own in found.items()
    ]


def test_a_paper_s_table_is_in_percent_or_has_all_outputs_where_that_is_asked_for() -> None:
    report = Hub("wer").evaluate(predictions=["a b", "a c"] * 5, references=["a b"] * 10)
    for write, row in (
        (report.to_markdown, "| wer {}↓ | {} |"),
        (report.to_latex, "wer {}$\\downarrow$ & {} \\\\"),
    ):
        assert row.format("", "0.250") in write().splitlines()
        percent = row.format("% " if write == report.to_markdown else "\\% ", "25.0")
        assert percent in write(percent=True).splitlines()
        assert "hits" not in write()
        assert "hits" in write(outputs="all")
        assert "interval" not in write()
        assert "interval" in write(intervals=True)
