"""Modules of Hugging Face evaluate as metrics of a hub, from Python and on the command line."""

from __future__ import annotations

import json
import math
import pickle
import shlex
import threading
from pathlib import Path
from typing import Any

import evaluate
import jiwer
import pytest
import sacrebleu

from metrichub import (
    Hub,
    InputError,
    MetricError,
    ParameterError,
    Report,
    ReportError,
    ScoringError,
    SpecError,
    UnknownMetric,
    UnknownParameter,
)
from metrichub.bridges import evaluate as bridge
from metrichub.bridges._modules import forget
from tests.bridges import guide
from tests.bridges.conftest import Write
from tests.commands import error
from tests.commands import run as command

PREDICTIONS = ["the cat sat on the mat", "it rains in spring", "a dog"]
REFERENCES = ["the cat sat on a mat", "it rains in the spring", "a dog"]

TEXT = 'datasets.Value("string")'
MANY = f'datasets.Features({{"predictions": {TEXT}, "references": datasets.Sequence({TEXT})}})'


def wer(write: Write) -> str:
    return write("word_errors", "return jiwer.wer(references, predictions)", imports="import jiwer")


def bleu(write: Write) -> str:
    return write(
        "some_bleu",
        "found = sacrebleu.corpus_bleu(predictions, list(zip(*references)), lowercase=lowercase)",
        'return {"precisions": found.precisions, "sys_len": found.sys_len, "score": found.score}',
        features=MANY,
        arguments="predictions, references, lowercase=False",
        imports="import sacrebleu",
    )


def test_a_module_is_called_with_all_samples_at_once(write: Write) -> None:
    hub = Hub([bridge.load(wer(write)), "wer"])
    scores = hub(predictions=PREDICTIONS, references=REFERENCES)
    # 2 errors in 6 + 5 + 2 words, which no mean of samples gives.
    assert scores["word_errors"] == {"score": 2 / 13}
    assert scores["word_errors"]["score"] == scores["wer"]["score"]
    assert scores["word_errors"]["score"] == jiwer.wer(REFERENCES, PREDICTIONS)


def test_a_module_may_take_several_references_and_parameters(write: Write) -> None:
    references = [["the cat sat on a mat", "The cat sat on the mat"], ["it rains"] * 2, ["a"] * 2]
    lower = bridge.load(bleu(write), name="lower", lowercase=True)
    scores = Hub([bridge.load(bleu(write)), lower])(predictions=PREDICTIONS, references=references)
    for name, lowercase in (("some_bleu", False), ("lower", True)):
        result = sacrebleu.corpus_bleu(
            PREDICTIONS, [list(each) for each in zip(*references, strict=True)], lowercase=lowercase
        )
        assert scores[name] == {"score": result.score, "sys_len": result.sys_len}
    assert scores["lower"]["score"] > scores["some_bleu"]["score"]


def test_several_references_are_refused_where_a_module_takes_one(write: Write) -> None:
    # The first of several would silently be another number.
    with pytest.raises(InputError, match=r"references\[1\] has 2 items, and word_errors takes one"):
        Hub(bridge.load(wer(write)))(predictions=["a", "b"], references=["a", ["b", "c"]])


def test_a_module_of_numbers_reads_them_from_texts(write: Write) -> None:
    kinds = '"predictions": datasets.Value("int64"), "references": datasets.Value("float32")'
    path = write(
        "sums",
        'return {"predicted": sum(predictions), "given": sum(references)}',
        features=f"datasets.Features({{{kinds}}})",
    )
    hub = Hub(bridge.load(path, score="given"))
    scores = hub(predictions=["1", "4"], references=["0.5", "2"])
    assert scores["sums"] == {"score": 2.5, "predicted": 5.0, "given": 2.5}
    with pytest.raises(
        InputError, match=r"predictions\[1\] contains no int, which sums takes: 'x'"
    ):
        hub(predictions=["1", "x"], references=["1", "1"])


def test_numbers_of_samples_give_means_samples_and_intervals(write: Write) -> None:
    path = write(
        "each", 'return {"same": [float(p == r) for p, r in zip(predictions, references)]}'
    )
    report = Hub([bridge.load(path), "exact_match"]).evaluate(
        predictions=["a", "b", "c"] * 20, references=["a", "x", "c"] * 20
    )
    assert report["each"] == {"score": pytest.approx(2 / 3), "same": pytest.approx(2 / 3)}
    samples, intervals = report.samples(), report.intervals(resamples=200)
    assert samples["each"]["same"].tolist() == samples["exact_match"]["score"].tolist()
    # That exact match is a share is on its card; of the module's output nobody knows.
    mine, exact = intervals["each"]["score"], intervals["exact_match"]["score"]
    assert (mine.mean, mine.std) == pytest.approx((exact.mean, exact.std))


def test_without_asking_a_module_is_called_once_and_has_no_samples(write: Write) -> None:
    path = write("calls", "calls.append(1)", "return len(calls)", imports="calls = []")
    report = Hub(bridge.load(path)).evaluate(predictions=["a", "b"], references=["a", "b"])
    assert report["calls"] == report["calls"] == {"score": 1.0}
    assert all(math.isnan(score) for score in report.samples()["calls"]["score"])
    assert math.isnan(report.intervals(resamples=50)["calls"]["score"].low)
    assert math.isnan(report.compare(report, trials=50, resamples=50)["calls"]["score"].p)
    assert report["calls"] == {"score": 1.0}


def test_a_module_may_be_called_for_each_sample_and_resample(write: Write) -> None:
    metric = bridge.load(wer(write), per_sample=True, resamples=True)
    report = Hub([metric, "wer"]).evaluate(predictions=PREDICTIONS, references=REFERENCES)
    samples, intervals = report.samples(), report.intervals(resamples=30)
    assert samples["word_errors"]["score"].tolist() == samples["wer"]["score"].tolist()
    first, other = intervals["word_errors"]["score"], intervals["wer"]["score"]
    assert (first.mean, first.std) == pytest.approx((other.mean, other.std))
    assert first.why == other.why == "3 samples are too few; an interval needs 5"


def test_the_card_says_what_the_module_says_of_itself(write: Write) -> None:
    metric = bridge.load(wer(write), better="lower")
    assert (metric.card.name, metric.card.title) == ("evaluate:word_errors", "word_errors")
    assert (metric.card.summary, metric.card.license) == ("Counts wrong words.", "MIT")
    assert metric.card.better("score") == "lower"
    assert Hub(metric).cite() == "@misc{key, title={A module}}"
    assert Hub(metric).needs() == {"predictions": "word_errors", "references": "word_errors"}
    assert Hub(metric, reduce="best")


def test_the_signature_holds_the_code_and_what_was_chosen(write: Write) -> None:
    metric = bridge.load(bleu(write), name="lower", lowercase=True)
    report = Hub(metric).evaluate(predictions=["a"], references=["a"])
    signature = report.signatures()["lower"]
    assert signature.startswith(f"lower = evaluate:some_bleu(code='{metric.code}', lowercase=True)")
    # Published signatures and saved reports name it, so it can't be renamed without another home.
    assert "|local:metrichub.bridges._module_metric|" in signature
    assert len(metric.code) == 12


def test_one_measures_with_several_processes_and_threads(write: Write) -> None:
    metric = bridge.load(wer(write))
    assert pickle.loads(pickle.dumps(metric)) == metric
    columns = {"predictions": PREDICTIONS * 40, "references": REFERENCES * 40}
    assert Hub(metric).evaluate(**columns, workers=2)["word_errors"] == {"score": 2 / 13}
    results: list[Any] = []
    threads = [
        threading.Thread(
            target=lambda n=n: results.append(Hub(metric)(**{k: v[:n] for k, v in columns.items()}))
        )
        for n in (3, 30, 60, 90)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{"word_errors": {"score": 2 / 13}}] * 4


def test_a_saved_report_runs_no_code_of_a_module(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    metric = bridge.load(write("bleu", "return 0.25"))
    report = Hub(metric).evaluate(predictions=["a"], references=["b"])
    report.save(path)
    # Not even our own metric of that name.
    with pytest.raises(ReportError, match=r"Report.load\(path, metrics="):
        Report.load(path)
    assert Report.load(path, metrics=[metric]) == report


def test_specs_of_hubs_load_no_module(write: Write) -> None:
    with pytest.raises(SpecError):
        Hub(f"evaluate:{wer(write)}")


def test_what_a_module_raises_names_it_and_leaves_nothing_behind(write: Write) -> None:
    path = write("strict", 'assert "x" not in predictions, "no x"', "return len(predictions)")
    hub = Hub(bridge.load(path))
    with pytest.raises(ScoringError, match="strict failed: AssertionError: no x"):
        hub(predictions=["x", "a"], references=["a", "a"])
    assert hub(predictions=["a"], references=["a"]) == {"strict": {"score": 1.0}}


@pytest.mark.parametrize("result", ['"good"', "{}", '{"a": [1.0, 2.0, 3.0]}', "None"])
def test_a_result_without_a_number_is_an_error(write: Write, result: str) -> None:
    hub = Hub(bridge.load(write("wordy", f"return {result}")))
    with pytest.raises(MetricError, match=r"wordy returned .*, which contains no number"):
        hub(predictions=["a"], references=["a"])


def test_slips_are_errors_before_anything_is_measured(write: Write, tmp_path: Path) -> None:
    path = bleu(write)
    with pytest.raises(UnknownParameter, match=r"has no parameter 'lower'.*it has: lowercase"):
        bridge.load(path, lower=True)
    with pytest.raises(ParameterError, match="better='up' is not allowed"):
        bridge.load(path, better="up")
    with pytest.raises(MetricError, match=r"has no output 'f1'; it has sys_len, score"):
        Hub(bridge.load(path, score="f1"))(predictions=["a"], references=["a"])
    for missing in ("./nowhere", str(tmp_path / "nowhere"), "~/no.py", "one/two/three"):
        with pytest.raises(UnknownMetric, match="there is no evaluate module at"):
            bridge.load(missing)
    with pytest.raises(MetricError, match=r"can't load the module .*ZeroDivisionError"):
        bridge.load(write("broken", "pass", imports="1 / 0"))


def test_offline_a_name_that_is_not_there_says_so_at_once(write: Write) -> None:
    with pytest.raises(UnknownMetric, match="in evaluate's cache, and HF_EVALUATE_OFFLINE keeps"):
        bridge.load("no_such_module_of_anyone")


def test_changed_code_is_another_metric(write: Write) -> None:
    old = bridge.load(write("moving", "return 1"))
    new = bridge.load(write("moving", "return 2"))
    assert old.code != new.code
    columns = {"predictions": ["a"], "references": ["a"]}
    assert Hub(new)(**columns) == {"moving": {"score": 2.0}}
    assert Hub(old)(**columns) == {"moving": {"score": 1.0}}
    # A process that has yet to load it can't.
    forget(old.origin)
    with pytest.raises(MetricError, match="has changed since it was loaded; load it again"):
        Hub(old)(**columns)


def test_the_line_of_the_guide(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(wer(write)).parent)
    hub = guide.run("bridges.evaluate.load")
    scores = hub(predictions=PREDICTIONS, references=REFERENCES)
    assert scores["word_errors"]["score"] == 2 / 13
    assert "bleu" in scores


def test_the_command_line_scores_with_a_module(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wer(write)
    monkeypatch.chdir(tmp_path)
    rows = '{"prediction": "a b", "reference": "a c"}\n{"prediction": "a", "reference": "a"}\n'
    Path("rows.jsonl").write_text(rows)
    (line,) = [line for line in guide.lines() if "-m evaluate:" in line]
    ran = command(*shlex.split(line)[1:], "--format", "json")
    assert ran.exit_code == 0, ran.stderr
    # One error in three words.
    assert json.loads(ran.stdout)["scores"]["word_errors"] == {"score": 1 / 3}
    spec = "errors = evaluate:./word_errors(better='lower')"
    result = command("score", "rows.jsonl", "-m", spec, "--fail-over", "errors=0.3")
    assert result.exit_code == 1
    assert "failed: errors" in result.stderr
    message = error(command("score", "rows.jsonl", "-m", "evaluate:./nothing"), 2)
    assert "there is no evaluate module at './nothing'" in message


def test_a_local_module_is_combined_with_two_metrics_of_ours(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else it would count this at the hub.
    monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", True)
    theirs = evaluate.load(write("lengths", 'return {"length": sum(map(len, predictions))}'))
    ours = [bridge.module("bleu"), bridge.module("rouge")]
    result = evaluate.combine([ours[0], theirs, ours[1]]).compute(
        predictions=PREDICTIONS, references=REFERENCES
    )
    hub = Hub(["bleu", "rouge"])(predictions=PREDICTIONS, references=REFERENCES)
    # 22 + 18 + 5 letters and blanks.
    expected = {"bleu": hub["bleu"]["score"], "length": 45, "rouge": hub["rouge"]["score"]}
    assert {name: result[name] for name in expected} == pytest.approx(expected, abs=1e-12)
