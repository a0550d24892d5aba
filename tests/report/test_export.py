"""Export: a report as text, a dictionary, JSON, a data frame, flat keys and in notebooks."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Annotated, Any

import pandas
import pytest

from metrichub import Hub, Report, compare_all, load_metric
from metrichub.authoring import Metric, Secret
from metrichub.data.values import json_value
from metrichub.errors import JudgeError, ParameterError, ReportError, UnknownParameter
from metrichub.evaluation import significance
from metrichub.evaluation.measurement import with_facts
from metrichub.evaluation.resample import NO_INTERVAL, SEED
from metrichub.models.usage import Usage
from metrichub.report.by_output import OutputTable
from metrichub.report.export import document, usage_counts
from metrichub.report.sample_rows import sample_lines
from metrichub.testing import Scripted
from tests.toy_metrics import Variety

COLUMNS: dict[str, Any] = {
    "predictions": ["the cat sat", "a dog", "not at all"],
    "references": ["the cat sat", "the dog ran", "yes"],
}
TEN: dict[str, Any] = {"predictions": ["a b", "a c"] * 5, "references": ["a b"] * 10}


@pytest.fixture(scope="module")
def report() -> Report:
    return Hub(["bleu(max_order=2)", "rouge", "wer"]).evaluate(**COLUMNS)


@pytest.fixture(scope="module")
def ten() -> Report:
    """Half of ten samples have one of two words wrong."""
    return Hub(["wer", "exact_match"]).evaluate({**TEN, "doc": [*range(5)] * 2})


@pytest.fixture(scope="module")
def judged() -> Report:
    hub = Hub("faithfulness", judge="offline")
    return hub.evaluate(predictions=["It is old.", ""], contexts=[["It is old."]] * 2)


def test_a_metric_is_looked_up_by_its_name(report: Report, tmp_path: Path) -> None:
    assert report["bleu"] == report.scores()["bleu"]
    assert list(report) == ["bleu", "rouge", "wer"]
    assert "rouge" in report
    assert "chrf" not in report
    with pytest.raises(ReportError, match=r"no metric 'blue' in the report; did you mean 'bleu'\?"):
        report["blue"]
    with pytest.raises(ReportError, match="choose metrics by their names"):
        report[0]  # type: ignore[index]  # a list would take it
    with pytest.raises(ReportError, match="choose metrics by their names"):
        report[["bleu"]]  # type: ignore[index]  # a data frame would take it
    with pytest.raises(UnknownParameter, match="no parameter 'colour'; did you mean 'cluster'"):
        report.to_html(tmp_path / "page.html", colour=1)


def test_keys_are_flat_and_a_metrics_own_name_is_its_score(report: Report) -> None:
    scores = report.scores()
    assert report.flatten() == {
        "bleu": scores["bleu"]["score"],
        **{
            f"rouge.{output}": scores["rouge"][output] for output in load_metric("rouge").headline()
        },
        "wer": scores["wer"]["score"],
    }
    every = report.flatten(outputs="all", separator="/")
    assert every["bleu/brevity_penalty"] == scores["bleu"]["brevity_penalty"]
    assert len(every) == sum(len(result.scores()) for result in report.results.values())


# Dictionaries and JSON.


def test_a_dictionary_has_what_was_given_and_nothing_else(report: Report) -> None:
    signed = {"samples": 3, "signatures": report.signatures()}
    result = report.to_dict()
    assert {name: result[name] for name in ("scores", *signed)} == {
        "scores": report.scores()
    } | signed
    assert set(result) <= {"scores", "samples", "signatures", "notes"}
    few = Hub("exact_match").evaluate(predictions=["a"], references=["a"])
    plain = {"scores": few.scores(), "samples": 1}
    assert document(few) == plain
    assert document(few, {"m": {}}, {}) == {**plain, "intervals": {"m": {}}, "signatures": {}}
    noted = with_facts(few, blanks={"predictions": {"": 1}})
    assert document(noted) == {**plain, "notes": noted.notes()}
    for usage in (Usage(calls=2), Usage(cached=2)):
        assert "usage" in with_facts(report, usage=usage).to_dict()
    hub = Hub("faithfulness", judge="offline")
    twice = hub.evaluate(predictions=["It is old."], contexts=[["It is old."]], repeats=2)
    repeated = twice.to_dict()["repeated"]["faithfulness"]["score"]
    assert repeated == {"mean": 1, "std": 0, "low": 1, "high": 1, "runs": (1, 1)}


def test_json_has_null_where_there_is_no_score_and_letters_as_they_are(judged: Report) -> None:
    empty = Hub("größe = bleu()").evaluate(predictions=[], references=[])
    assert math.isnan(empty.to_dict()["scores"]["größe"]["score"])
    text = empty.to_json()
    assert "NaN" not in text
    assert '"größe"' in text
    assert text.splitlines()[1].startswith('  "')
    assert json.loads(text)["scores"]["größe"]["score"] is None
    line = judged.to_json(indent=None)
    assert "\n" not in line
    assert json.loads(line)["counts"] == {"faithfulness": {"unanswered": 1}}


def test_usage_counts_have_the_time_and_the_requests_that_an_estimate_lacks() -> None:
    usage = Usage(4, 3, 20, 10, 0.5, seconds=1.5, requests=5)
    counts = {"calls": 4, "cached": 3, "prompt_tokens": 20, "completion_tokens": 10, "money": 0.5}
    assert usage_counts(usage, seconds=False) == counts
    assert usage_counts(usage) == counts | {"seconds": 1.5, "requests": 5}
    # Money and seconds are rounded to nine decimals.
    rounded = usage_counts(Usage(money=1.23456789e-4, seconds=0.1 + 0.2))
    assert (rounded["money"], rounded["seconds"]) == (0.000123457, 0.3)
    small = usage_counts(Usage(money=1e-9, seconds=4e-10))
    assert (small["money"], small["seconds"]) == (1e-9, 0.0)


# Data frames.


def test_a_frame_has_a_row_a_sample_with_its_reason(report: Report, judged: Report) -> None:
    frame = report.to_frame()
    assert (frame.shape[0], frame.index.name) == (3, "sample")
    assert frame["wer.score"].tolist() == report.samples()["wer"]["score"].tolist()
    assert not [name for name in frame if name.endswith(".reason")]
    other = judged.to_frame()
    assert other["faithfulness.score"].isna().tolist() == [False, True]
    assert other["faithfulness.reason"].isna().tolist() == [True, False]
    assert other["faithfulness.reason"][1] == judged.results["faithfulness"].why(1)
    with pytest.raises(ReportError):
        Hub("bleu").evaluate(samples=False, **COLUMNS).to_frame()


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
        _SCORED.sort_values("pred", ascending=False),
        _SCORED[_SCORED["system"] == "y"],
        _SCORED.set_index(["system", _SCORED.index]).iloc[::-1],
        pandas.concat([_SCORED, _SCORED]),
    ],
    ids=["sorted", "filtered", "two levels", "doubled"],
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


def test_a_frame_keeps_given_columns_that_are_named_as_scores_or_have_no_utf8() -> None:
    options = {
        "wer.score": [0.25, 0.75],
        "wer.reason": ["mine", "yours"],
        "id\udc00": ["x\ud800", "ü"],
    }
    report = Hub("wer").evaluate(predictions=["a", "b"], references=["b", "b"], **options)
    frame = report.to_frame()
    assert frame["wer.score"].tolist() == [1.0, 0.0]
    assert frame["wer.score (kept)"].tolist() == [0.25, 0.75]
    assert frame["wer.reason (kept)"].tolist() == ["mine", "yours"]
    assert "wer.reason" not in frame
    assert frame["id\ufffd"].tolist() == ["x\ufffd", "ü"]


def test_a_frame_says_what_failed() -> None:
    def failing(fields: object) -> Any:
        raise JudgeError("the judge was tired")

    judge = Scripted({"claims": failing})
    hub = Hub(load_metric("faithfulness", judge=judge))
    report = hub.evaluate(predictions=["It is old."], contexts=[["It is old."]])
    (reason,) = report.to_frame()["faithfulness.reason"]
    assert reason == report.explain("faithfulness", 0).reason == "the judge was tired"


def test_a_frame_has_texts_and_what_judges_said_if_asked(judged: Report, tmp_path: Path) -> None:
    frame = judged.to_frame(texts=True)
    head = ["score", "status", "reason", "steps"]
    assert [*frame] == ["predictions", "contexts", *(f"faithfulness.{part}" for part in head)]
    assert frame["predictions"].tolist() == ["It is old.", ""]
    assert frame["faithfulness.status"].tolist() == ["ok", "unanswered"]
    assert frame["faithfulness.steps"][0] == judged.explain("faithfulness", 0).steps
    several = Hub("wer").evaluate(
        predictions=["a\ud800", ""], references=[["a", "\ud800"], [""]], contexts=["mine", "x"]
    )
    frame = several.to_frame(texts=True)
    assert frame["references"].tolist() == [["a", "\ufffd"], [""]]
    # A metric that left a sample without a score says of all how they are.
    unscored = Hub("tool_call_f1").evaluate(predictions=["[]"] * 2, references=["[]", "f("])
    frame = unscored.to_frame(texts=True)
    assert frame["tool_call_f1.status"].tolist() == ["ok", "unscored"]
    assert frame["tool_call_f1.reason"][1] == unscored.explain("tool_call_f1", 1).reason
    assert "tool_call_f1.steps" not in frame
    ((_, first), (_, second)) = (row["explanations"].popitem() for row in rows_of({"": unscored}))
    assert (first["status"], second["status"]) == ("ok", "unscored")
    assert len(unscored.worst()) == 1
    judged.save(tmp_path / "r.json")
    with pytest.raises(ReportError, match="the report has no texts; evaluate with"):
        Report.load(tmp_path / "r.json").to_frame(texts=True)


def test_a_frame_joins_the_one_that_was_scored() -> None:
    frame = _SCORED.sort_values("pred", ascending=False)
    report = Hub("exact_match").evaluate(frame)
    assert "system" in report.to_frame()
    joined = frame.join(report.to_frame(metadata=False))
    assert [*joined] == ["pred", "ref", "system", "exact_match.score"]
    assert (joined["exact_match.score"] == (joined["pred"] == joined["ref"])).all()


# The worst samples.


_WORDS: dict[str, Any] = {
    "predictions": ["a b c d", "x b c d", "x y c d", "a b c d", "x y z d"],
    "references": ["a b c d"] * 3 + ["a", "a b c d"],
    "id": ["u0", "u1", "u2", "u3", "u4"],
}


@pytest.mark.parametrize(
    ("name", "samples", "scores"),
    [
        # One to three of four words are wrong; the fourth has three too many.
        ("wer", [3, 4, 2, 1, 0], [3, 0.75, 0.5, 0.25, 0]),
        ("", [3, 4, 2, 1, 0], [3, 0.75, 0.5, 0.25, 0]),
        ("exact_match", [1, 2, 3, 4, 0], [0.0, 0.0, 0.0, 0.0, 1.0]),
        # F of precision 1/4 and recall 1 is 0.4.
        ("rouge", [4, 3, 2, 1, 0], [0.25, 0.4, 0.5, 0.75, 1]),
        ("rouge.rougeL", [4, 3, 2, 1, 0], [0.25, 0.4, 0.5, 0.75, 1]),
        ("wer.hits", [3, 4, 2, 1, 0], [1, 1, 2, 3, 4]),
    ],
)
def test_the_worst_samples_come_first(name: str, samples: list[int], scores: list[float]) -> None:
    report = Hub(["wer", "exact_match", "rouge"]).evaluate(**_WORDS)
    headline = {"": "wer.score", "wer": "wer.score", "rouge": "rouge.rouge1"}
    key = headline.get(name, name if "." in name else f"{name}.score")
    rows = report.worst(name)
    assert [row["sample"] for row in rows] == samples
    assert [row[key] for row in rows] == pytest.approx(scores)
    for row in rows:
        mapping = {"id": "id", "predictions": "predictions", "references": "references"}
        assert {n: row[n] for n in mapping} == {n: _WORDS[n][row["sample"]] for n in mapping}
    assert report.worst(name, 2) == rows[:2]
    # A frame of them has the columns of the whole.
    assert {*rows[0]} - {"sample"} <= {*report.to_frame(texts=True)}


def test_the_worst_samples_have_what_judges_said(judged: Report, tmp_path: Path) -> None:
    (row,) = judged.worst("faithfulness")
    assert row["faithfulness.steps"] == judged.explain("faithfulness", 0).steps
    assert (row["faithfulness.status"], row["faithfulness.reason"]) == ("ok", None)
    judged.save(tmp_path / "r.json")
    (saved,) = Report.load(tmp_path / "r.json").worst()
    assert {*row} - {*saved} == {"predictions", "contexts"}


def test_kept_columns_that_are_named_as_scores_stay_beside_them() -> None:
    scored = {"predictions": ["a"], "references": ["b"], "wer.score": [0.25], "scores": ["x"]}
    report = Hub("wer").evaluate(**scored)
    (row,) = report.worst()
    assert (row["wer.score"], row["metadata.wer.score"], row["metadata.scores"]) == (1, 0.25, "x")
    for number in (0, -1, "20"):
        with pytest.raises(ParameterError, match="a whole number of samples, from 1"):
            report.worst("wer", number)  # type: ignore[arg-type]  # people give texts


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blue", "no metric 'blue' is scored; did you mean 'bleu'?"),
        ("bleu.precision_5", "bleu.precision_5: no such output"),
        ("abstractness", "neither more nor less is better"),
    ],
)
def test_only_outputs_with_a_direction_have_worst_samples(name: str, message: str) -> None:
    with pytest.raises(ReportError, match=re.escape(message)):
        Hub(["bleu", "abstractness"]).evaluate(**COLUMNS).worst(name)


# A line a sample.


def rows_of(reports: dict[str, Report]) -> list[dict[str, Any]]:
    """The samples in JSON Lines."""
    return [json.loads(line) for line in sample_lines(reports, ".jsonl")]


@pytest.mark.parametrize(("suffix", "second"), [(".csv", "?"), (".jsonl", "\\ud800")])
def test_samples_are_written_with_what_stands_behind_them(
    judged: Report, suffix: str, second: str
) -> None:
    named = with_facts(judged, metadata={"name": ["é", "\ud800"]})
    lines = [*sample_lines({"": named}, suffix)][-2:]
    # A text that has no UTF-8 is written otherwise, the others as they are.
    assert "é" in lines[0]
    assert second in lines[1]
    why = judged.explain("faithfulness", 1)
    assert all(text in lines[1] for text in (why.status, str(why.reason)))


def test_a_line_of_a_sample_has_its_number_columns_and_scores(judged: Report) -> None:
    names = ("sample", "scores", "file", "explanations")
    fields: dict[str, Any] = {name: [name, 2] for name in names}
    report = with_facts(judged, metadata={**fields, "id": ["x", None]})
    first, second = rows_of({"only": report})
    why = judged.explain("faithfulness", 1)
    assert first["scores"] == {"faithfulness": {"score": 1.0}}
    steps = json.loads(json.dumps(why.steps))
    explained = {"status": "unanswered", "reason": why.reason, "steps": steps}
    assert second == {
        "sample": 1,
        **{f"metadata.{name}": 2 for name in names},
        "id": None,
        "predictions": "",
        "contexts": "It is old.",
        "scores": {"faithfulness": {"score": None}},
        "explanations": {"faithfulness": explained},
    }
    assert list(first) == list(second)
    # Of several files each line names its own, and a metric without a judge has no explanation.
    plain = Hub("wer").evaluate(**COLUMNS)
    rows = rows_of({"a": plain, "b": plain})
    assert [row["file"] for row in rows] == ["a"] * 3 + ["b"] * 3
    assert [row["sample"] for row in rows] == [0, 1, 2] * 2
    assert "explanations" not in rows[0]


def test_a_table_of_samples_has_a_column_for_all_that_any_sample_has(judged: Report) -> None:
    plain = Hub("exact_match").evaluate(predictions=["a"], references=["a"], n=[7])
    both = {"a": judged, "b": plain}
    for suffix in (".csv", ".CSV"):
        head, first, _, third = csv.reader(sample_lines(both, suffix))
        assert head == [
            *("file", "sample", "predictions", "contexts", "faithfulness.score"),
            *("faithfulness.status", "faithfulness.reason", "faithfulness.steps", "n"),
            *("references", "exact_match.score"),
        ]
        steps = json.loads(first.pop(7))
        assert [claim["verdict"] for claim in steps[0]["claims"]] == ["yes"]
        assert first == ["a", "0", "It is old.", "It is old.", "1.0", "ok", "", "", "", ""]
        assert third == ["b", "0", "a", "", "", "", "", "", "7", "a", "1.0"]
    assert rows_of(both) == [json.loads(line) for line in sample_lines(both, ".JSONL")]


# Tables.


def test_tables_hold_headline_outputs_or_all_with_intervals_if_asked(ten: Report) -> None:
    intervals = ten.intervals()["wer"]
    assert ten.to_csv() == "metric,output,score\nwer,score,0.25\nexact_match,score,0.5\n"
    rows = list(csv.reader(io.StringIO(ten.to_csv(intervals=True))))
    assert rows[0] == ["metric", "output", "score", "low", "high"]
    assert rows[1] == ["wer", "score", "0.25", *map(str, intervals["score"].ends)]
    every = list(csv.reader(io.StringIO(ten.to_csv(outputs="all", intervals=True))))
    assert [(row[1], row[3]) for row in every[1:] if row[0] == "wer"] == [
        (output, "" if math.isnan(entry.low) else str(entry.low))
        for output, entry in intervals.items()
    ]
    pooled = ten.pool()
    assert (pooled.to_csv(), pooled.to_markdown()) == (ten.to_csv(), ten.to_markdown())
    with pytest.raises(ReportError, match="pooled"):
        pooled.to_csv(intervals=True)


def test_a_paper_s_table_is_in_percent_or_has_all_outputs_where_that_is_asked_for() -> None:
    report = Hub("wer").evaluate(TEN)
    (signature,) = report.signatures().values()
    assert report.to_markdown() == (
        f"| metric | score |\n| --- | ---: |\n| wer ↓ | 0.250 |\n\n10 samples.\n\n`{signature}`\n"
    )
    for write, row in (
        (report.to_markdown, "| wer % ↓ | 25.0 |"),
        (report.to_latex, "wer \\% $\\downarrow$ & 25.0 \\\\"),
    ):
        assert row in write(percent=True).splitlines()
        assert "hits" not in write()
        assert "hits" in write(outputs="all")
        assert "interval" not in write()
        assert "interval]" in write(intervals=True)


# Values by output, as text and in notebooks.


def cells(shown: Any) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", shown._repr_html_())
    return [[unescape(c) for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]


def lines_of(shown: Any) -> list[list[str]]:
    return [line.split() for line in str(shown).splitlines()]


def test_intervals_are_a_dictionary_that_is_shown_as_a_table(ten: Report) -> None:
    intervals = ten.intervals()
    head, *rows = cells(intervals)
    assert head == ["metric", "output", "low", "high", "mean", "std", "method", "why"]
    assert [row[:2] for row in rows] == [["wer", "score"], ["exact_match", "score"]]
    assert repr(intervals) == str(intervals)
    assert str(intervals).endswith(f"{len(intervals['wer']) - 1} other outputs are in the dict")
    assert float(rows[0][2]) == round(intervals["wer"]["score"].low, 4)
    assert intervals == dict(intervals)
    hostile = OutputTable({"<script>": {"<b>": replace(NO_INTERVAL, low=0.25)}})
    assert lines_of(hostile) == [head, ["<script>", "<b>", "0.2500", *"–––", "–"]]
    assert "<td>&lt;script&gt;</td><td>&lt;b&gt;</td>" in hostile._repr_html_()


def test_comparisons_are_shown_with_each_sentence_once(ten: Report) -> None:
    comparison = ten.compare(ten, resamples=7, trials=11)
    head, *rows = cells(comparison)
    assert head == ["metric", "output", "score", "other", "difference", "low", "high", "p"]
    assert [row[:2] for row in rows] == [["wer", "score"], ["exact_match", "score"]]
    assert (rows[0][2:5], rows[0][-1]) == (["0.2500", "0.2500", "0.0000"], "1.0000")
    sentences = [str(output["score"].sentence) for output in comparison.values()]
    sentences.append(f"{len(comparison['wer']) - 1} other outputs are in the dict")
    assert lines_of(comparison) == [*([*head], *rows), *(text.split() for text in sentences)]
    assert re.findall("<p>(.*)</p>", unescape(comparison._repr_html_())) == sentences
    withheld = replace(comparison["wer"]["score"], withheld="a reason")
    assert str(OutputTable({"wer": {"score": withheld}})).splitlines()[2:] == ["a reason"]


def test_a_hub_says_what_its_metrics_read_give_and_are_set_to() -> None:
    hub = Hub(["b2 = bleu(max_order=2)", "wer"])
    head, *rows = cells(hub)
    assert head == ["metric", "what it measures", "reads", "headline outputs", "as"]
    assert [row[0] for row in rows] == ["b2", "wer"]
    assert [row[2:4] for row in rows] == [
        ["predictions, references", f"score {arrow}"] for arrow in "↑↓"
    ]
    assert [row[4] for row in rows] == [metric.label() for metric in hub.metrics]


def test_a_metric_says_what_it_reads_and_gives_and_how_it_is_set() -> None:
    metric = load_metric("b2 = bleu(max_order=2)")
    shown = unescape(metric._repr_html_())
    assert shown.startswith(f"<p><strong>BLEU</strong> (b2): {metric.card.summary}</p>")
    rows = dict(cells(metric))
    assert rows["reads"] == "prediction, references"
    assert rows["score"] == "0 to 1, higher is better"
    assert "<code>max_order=2</code>" in rows["parameters"]
    assert rows["card"] == "<code>metrichub card bleu</code>"
    # The headline of rouge is four of its outputs; abstractness has no direction.
    assert set(dict(cells(load_metric("rouge")))) > {"rouge1", "rouge2", "rougeL", "rougeLsum"}
    assert dict(cells(load_metric("wer")))["score"] == "0 or more, lower is better"
    assert dict(cells(load_metric("abstractness")))["score"] == "0 to 1"


def test_a_metric_without_a_card_shows_itself_and_no_secret() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Length(Metric):
        mark: str = "<b>"
        key: Annotated[str | None, Secret()] = None

        def observe(self, prediction: str) -> float:
            return float(len(prediction))

    shown = Length(key="hush")._repr_html_()
    assert "hush" not in shown
    assert "<b>" not in shown
    rows = dict(cells(Length()))
    assert rows["score"] == "any number"
    assert "mark='<b>'" in rows["parameters"]


# What has no intervals, and what a ranking was asked for.


def test_what_was_pooled_by_key_has_intervals_of_the_metrics_that_add_up_alone() -> None:
    hub = Hub([Variety(), "wer"])
    rows = [{"prediction": f"a b{i % 2}", "reference": "a b0", "id": i} for i in range(12)]
    summed = hub.evaluate(rows, samples=False, key="id")
    intervals = summed.intervals(resamples=20)
    assert list(intervals) == ["variety", "wer"]
    reasons = {interval.why for interval in intervals["variety"].values()}
    assert reasons == {significance.NOT_KEPT}
    assert intervals["variety"].keys() == summed.results["variety"].scores().keys()
    # Half of the samples have one of two words wrong.
    low, high = intervals["wer"]["score"].ends
    assert low < 0.25 < high
    with pytest.raises(ReportError, match="pooled"):
        summed.intervals(metrics="variety")


def test_a_metric_that_read_almost_nothing_has_no_interval_and_no_reason() -> None:
    texts = ["中文"] * 6 + ["a"] * 2
    (interval,) = Hub("rouge").evaluate(predictions=texts, references=texts).intervals().values()
    # As text, since nan is equal to nothing.
    assert {*map(str, interval.values())} == {str(NO_INTERVAL)}


def test_a_ranking_keeps_what_it_was_asked_for(ten: Report) -> None:
    how: dict[str, Any] = {"confidence": 0.9, "resamples": 7, "seed": 3, "cluster": "doc"}
    comparison = compare_all({"a": ten, "b": ten}, metrics="wer", trials=11, **how)
    assert comparison.options._asdict() == {**how, "trials": 11, "calibrate": None}
    assert list(comparison.pairs["b", "a"]) == ["wer"]
    usual = compare_all({"a": ten, "b": ten}, metrics="wer").options
    assert usual == (0.95, 1000, 10_000, SEED, None, None)
    assert comparison.intervals() == dict.fromkeys("ab", ten.intervals(**how))
    assert repr(ten) == "<Report of 10 samples: wer 0.2500, exact_match 0.5000>"


def test_intervals_comparisons_and_rankings_are_written_as_reports_are(ten: Report) -> None:
    compared = ten.compare(ten, resamples=7, trials=11)
    for table in (ten.intervals(), compared):
        outputs = [(metric, output) for metric in table for output in table[metric]]
        frame = table.to_frame()
        assert [*zip(frame["metric"], frame["output"], strict=True)] == outputs
        values = [value for outputs in table.values() for value in outputs.values()]
        lows = [getattr(value, "interval", value).low for value in values]
        assert frame["low"].tolist() == pytest.approx(lows, nan_ok=True)
        lines = [*csv.reader(io.StringIO(table.to_csv()))]
        assert [(metric, output) for metric, output, *_ in lines[1:]] == outputs
        assert table.to_markdown().count("\n") == 2 + 2
        assert json.loads(table.to_json()) == json_value(table)
    ranking = compare_all({"one": ten, "other": ten}, resamples=7, trials=11)
    assert json.loads(ranking.to_json()) == json_value(ranking.to_dict())
    explained = ten.explain("wer", 0)._repr_html_()
    assert "<td>deletions</td>" in explained
