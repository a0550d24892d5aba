"""Metrics that fail: the error names the metric and the sample, and has the cause."""

import json
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.authoring import CorpusMetric, Metric
from metrichub.errors import InputError, MetricError, ScoringError
from metrichub.metric import Array, Row, Scores
from metrichub.text import RaggedTexts, Texts
from tests import plugins
from tests.commands import program, write


class Unpicklable(Exception):
    """It takes two arguments and tells its base of one, so that no pickle brings it back."""

    def __init__(self, first: int, other: int) -> None:
        super().__init__(first)
        self.other = other


@dataclass(frozen=True, kw_only=True)
class Rows(Metric):
    def observe(self, prediction: str, reference: str) -> float:
        if prediction == "interrupt":
            raise KeyboardInterrupt
        if prediction == "two":
            raise Unpicklable(1, 2)
        if prediction == "ours":
            raise InputError("a text of the metric's own")
        return 1 / (prediction != "boom")


@dataclass(frozen=True, kw_only=True)
class Columns(Metric):
    def measure(self, prediction: Texts, references: RaggedTexts) -> dict[str, Array]:
        return {"score": np.array([1 / (text != "boom") for text in prediction])}


@dataclass(frozen=True, kw_only=True)
class Together(Metric):
    """It fails for all samples together and for none alone."""

    def measure(self, prediction: Texts) -> dict[str, Array]:
        return {"score": np.ones(len(prediction)) / ("boom" not in list(prediction)[1:] or 1 / 0)}


@dataclass(frozen=True, kw_only=True)
class Objects(CorpusMetric):
    def measure(self, prediction: Texts) -> list[str]:
        return [{"boom": "boom"}.get(text, text) for text in prediction if 1 / (text != "boom")]

    def conclude(self, rows: Any) -> dict[str, float]:
        return {"score": {}["conclude"]}


@dataclass(frozen=True, kw_only=True)
class Awaited(Metric):
    async def observe(self, prediction: str) -> float:
        return 1 / (prediction != "boom")


@dataclass(frozen=True, kw_only=True)
class Scored(Metric):
    def observe(self, prediction: str) -> Row:
        return {"total": 1.0}

    def score(self, total: Array) -> Scores:
        raise RuntimeError("no score")


def _evaluate(metric: Metric, predictions: list[str], **options: Any) -> Report:
    columns = {"predictions": predictions, "references": predictions}
    return Hub(["exact_match", metric]).evaluate(columns, **options)


@pytest.mark.parametrize("metric", [Rows(), Columns(), Objects(), Awaited()])
def test_a_metric_that_raises_is_named_with_the_first_such_sample(metric: Metric) -> None:
    # Blocks hold about 450,000 characters, so the sample stands in another one than the first.
    texts = ["a" * 100_000] * 7 + ["boom", "boom"]
    with pytest.raises(MetricError) as caught:
        _evaluate(metric, texts)
    message = f"{metric.name} failed on sample 7: ZeroDivisionError: division by zero"
    assert str(caught.value) == message
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert isinstance(caught.value, ScoringError)
    assert (caught.value.metric, caught.value.sample) == (metric.name, 7)


@pytest.mark.parametrize("metric", [Rows(), Columns(), Awaited()])
def test_other_processes_say_the_same(metric: Metric) -> None:
    # A process measures about 1,000,000 characters at a time.
    texts = ["a" * 600_000] * 4 + ["boom"]
    with pytest.raises(ScoringError, match=r"failed on sample 4: ZeroDivisionError") as caught:
        _evaluate(metric, texts, workers=2)
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    # Where it was raised, as the other process saw it.
    assert "test_mistakes_metrics.py" in "".join(traceback.format_exception(caught.value))


def test_an_exception_that_cant_travel_is_said_in_text() -> None:
    with pytest.raises(ScoringError, match=r"rows failed on sample 4: Unpicklable: 1"):
        _evaluate(Rows(), ["a" * 600_000] * 4 + ["two"], workers=2)


def test_a_sample_in_a_stream_is_counted_from_its_start() -> None:
    tables = ({"predictions": [text], "references": ["a"]} for text in ("a", "b", "boom"))
    with pytest.raises(ScoringError, match="sample 2"):
        Hub(Rows()).evaluate(tables)


def test_candidates_of_a_sample_have_its_number() -> None:
    with pytest.raises(ScoringError, match="sample 1:"):
        Hub(Rows()).evaluate(predictions=["a", ["a", "b", "boom"]], references=[["a", "b"], "c"])


def test_what_no_sample_raises_alone_has_none() -> None:
    with pytest.raises(ScoringError, match=r"^together failed: ZeroDivisionError") as caught:
        Hub(Together()).evaluate(predictions=["a", "boom"])
    assert caught.value.sample is None


def test_a_score_that_raises_has_its_metric() -> None:
    report = Hub(Scored()).evaluate(predictions=["a"])
    for ask in (report.scores, report.samples, report.intervals):
        with pytest.raises(ScoringError, match="scored failed: RuntimeError: no score"):
            ask()
    with pytest.raises(ScoringError, match="objects failed: KeyError: 'conclude'"):
        Hub(Objects()).evaluate(predictions=["a"]).scores()


def test_errors_of_the_librarys_own_and_interrupts_pass() -> None:
    with pytest.raises(InputError, match=r"^a text of the metric's own, in sample 1$"):
        _evaluate(Rows(), ["fine", "ours"])
    with pytest.raises(KeyboardInterrupt):
        _evaluate(Rows(), ["interrupt"])


PLUGIN = """
from dataclasses import dataclass
from metrichub.metric import Metric

@dataclass(frozen=True, kw_only=True)
class Toy(Metric):
    def observe(self, prediction: str) -> float:
        return {"fine": 1.0}[prediction]
"""


@pytest.mark.parametrize(("workers", "place"), [("1", "a.jsonl:4"), ("2", "a.jsonl")])
def test_the_command_line_says_it_in_one_line(tmp_path: Path, workers: str, place: str) -> None:
    plugins.metric(tmp_path, "toy_pack", "toy", code=PLUGIN)
    plugins.distribution(tmp_path, "toy-dist", ["toy = toy_pack.toy:Toy"])
    write(str(tmp_path / "a.jsonl"), [{"prediction": "fine"}] * 3 + [{"prediction": "x" * 9}])
    command = ("score", "a.jsonl", "-m", "toy", "--workers", workers)
    result = program(*command, cwd=tmp_path, env=plugins.environment(tmp_path))
    assert (result.returncode, result.stdout) == (70, "")
    assert result.stderr == (
        f"metrichub: error: {place}: toy failed on sample 3: KeyError: 'xxxxxxxxx' "
        "(--debug shows where)\n"
    )
    result = program(*command, "--debug", cwd=tmp_path, env=plugins.environment(tmp_path))
    assert 'return {"fine": 1.0}[prediction]' in result.stderr


BEHAVIOURS = {
    "quits": ("        raise SystemExit(0)", 70, "toy failed on sample 0: SystemExit: 0"),
    "interrupts": ("        raise KeyboardInterrupt", 70, "toy failed on sample 0: Keyboard"),
    "returns_text": ("        return 'good'", 2, "toy returned 'good' (str), not a number or a"),
    "prints": ("        print('hello')\n        return 1.0", 0, "hello"),
}


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_no_metric_ends_a_run_quietly_or_prints_between_its_numbers(
    tmp_path: Path, behaviour: str, workers: str
) -> None:
    body, status, said = BEHAVIOURS[behaviour]
    code = PLUGIN.replace('        return {"fine": 1.0}[prediction]', body)
    plugins.metric(tmp_path, "toy_pack", "toy", code=code)
    plugins.distribution(tmp_path, "toy-dist", ["toy = toy_pack.toy:Toy"])
    write(str(tmp_path / "a.jsonl"), [{"prediction": "fine"}] * 3)
    options = ("--workers", workers, "--format", "json", "--fail-under", "toy=0.5")
    environment = plugins.environment(tmp_path)
    result = program("score", "a.jsonl", "-m", "toy", *options, cwd=tmp_path, env=environment)
    assert (result.returncode, said in result.stderr) == (status, True)
    if status:
        assert result.stdout == ""
    else:
        assert json.loads(result.stdout)["scores"] == {"toy": {"score": 1.0}}
    if workers == "1":
        checked = program("check", "toy", cwd=tmp_path, env=environment)
        assert checked.returncode == 1
        assert "contract tests pass" in checked.stdout


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys\nsys.exit(0)", "is installed but can't be imported: SystemExit: 0"),
        ("raise KeyboardInterrupt", "is installed but can't be imported: KeyboardInterrupt"),
        (PLUGIN, "doesn't score without its card"),
    ],
)
def test_a_metric_that_cant_be_imported_or_has_no_card_doesnt_score(
    tmp_path: Path, code: str, said: str
) -> None:
    plugins.metric(tmp_path, "toy_pack", "toy", code=code)
    plugins.distribution(tmp_path, "toy-dist", ["toy = toy_pack.toy:Toy"])
    if code is PLUGIN:
        (tmp_path / "toy_pack" / "toy" / "README.md").unlink()
    write(str(tmp_path / "a.jsonl"), [{"prediction": "fine"}] * 3)
    environment = plugins.environment(tmp_path)
    result = program("score", "a.jsonl", "-m", "toy", cwd=tmp_path, env=environment)
    assert result.returncode in (2, 5)
    assert said in result.stderr
    listed = program("doctor", cwd=tmp_path, env=environment)
    assert (listed.returncode, "toy-dist/toy" in listed.stdout) == (5, True)
