"""Logs of inspect itself are read, and scores made here are applied and shown by it."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report, ReportError, conversation, read
from metrichub.bridges.inspect_ai import metrics, write_scores
from tests.bridges import guide
from tests.bridges.hosts import needs

pytestmark = needs("inspect_ai", "inspect_ai")

import inspect_ai  # noqa: E402  # after the skip
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log  # noqa: E402
from inspect_ai.model import (  # noqa: E402
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import precomputed_scores  # noqa: E402
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver  # noqa: E402

LONG = "it rains in spring " * 100
METRICS = ["bleu", "rouge", "exact_match", "wer", "distinct"]
# In the order of the samples, epoch after epoch.
ANSWERS = ["the cat sat on the mat", LONG, "Wien", "no", "the cat sat", "it rains", "wien", "no"]

Write = Callable[..., Path]


@solver
def fails(ids: list[Any]) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id in ids and state.epoch == 2:
            raise ValueError("no answer")
        return state

    return solve


def output(text: str) -> ModelOutput:
    parts = [ContentReasoning(reasoning="hm"), ContentText(text=text)]
    result = ModelOutput.from_content("mockllm/model", parts if text == "wien" else text)
    # Else tokens are counted with a file from the net.
    result.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return result


@pytest.fixture
def log(tmp_path: Path) -> Write:
    """Runs a task of four samples in two epochs, and gives the path of its log."""

    def write(form: str = "eval", reference: str = "x", failing: tuple[Any, ...] = ()) -> Path:
        messages = [ChatMessageSystem(content="Be short."), ChatMessageUser(content="Weather?")]
        samples = [
            Sample(id="a", input="Where?", target="the cat sat on a mat"),
            Sample(id="b", input=messages, target=["it rains in the spring", "it rains"],
                   metadata={"language": "en", "summary": "weather"}),
            Sample(id=10, input="Hauptstadt?", target="Wien", metadata={"language": "de"}),
            Sample(id=9, input="Empty?", target=reference),
        ]  # fmt: skip
        (result,) = inspect_ai.eval(
            inspect_ai.Task(
                dataset=MemoryDataset(samples),
                solver=[fails(list(failing)), generate()],
                fail_on_error=False,
            ),
            model=get_model("mockllm/model", custom_outputs=list(map(output, ANSWERS))),
            epochs=2, log_dir=str(tmp_path / "logs"), log_format=form, display="none",
            max_samples=1, log_realtime=False,
        )  # fmt: skip
        return Path(result.location)

    return write


def test_a_log_is_read_as_inspect_reads_it(log: Write) -> None:
    samples = {form: dict(read(log(form))) for form in ("eval", "json")}
    # Each run gives its messages ids of their own.
    talks = [list(map(conversation, columns.pop("messages"))) for columns in samples.values()]
    assert talks[0] == talks[1]
    assert [talk[-1]["text"] for talk in talks[0]] == samples["eval"]["predictions"]
    assert samples["eval"] == samples["json"]
    logged = read_eval_log(str(log())).samples
    assert logged
    assert len(logged) == 8
    # The order is inspect's own but for numbers, which are in theirs.
    assert sorted(map(str, samples["eval"]["id"])) == sorted(str(entry.id) for entry in logged)
    for sample in logged:
        number = list(zip(samples["eval"]["id"], samples["eval"]["epoch"], strict=True)).index(
            (sample.id, sample.epoch)
        )
        row = {name: values[number] for name, values in samples["eval"].items()}
        assert row["predictions"] == sample.output.completion
        assert row["references"] == sample.target
        message = sample.input if isinstance(sample.input, str) else sample.input[-1].text
        assert row["questions"] == message
        assert row["language"] == sample.metadata.get("language")
    assert LONG in samples["eval"]["predictions"]


def test_samples_that_ended_in_an_error_are_left_out(
    log: Write, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "metrichub"):
        samples = read(log(failing=(9,)))
    assert (samples.size, samples["id"].count(9)) == (7, 1)
    assert "left out 1 of 8 samples, which ended in an error" in caplog.text


def applied(path: Path, report: Report, tmp_path: Path) -> dict[str, dict[str, float]]:
    """What inspect stores of the scores, read back from its file: metric -> name -> value."""
    write_scores(report, tmp_path / "scores.jsonl")
    scorer = precomputed_scores(str(tmp_path / "scores.jsonl"), metrics=metrics(report))
    scored = inspect_ai.score(read_eval_log(str(path)), scorer, action="overwrite", display="none")
    return stored(scored, tmp_path)


def stored(scored: EvalLog, tmp_path: Path) -> dict[str, dict[str, float]]:
    """The same of a scored log; inspect adds the package to a name if it finds it installed."""
    write_eval_log(scored, str(tmp_path / "scored.eval"))
    results = read_eval_log(str(tmp_path / "scored.eval")).results
    assert results
    return {
        score.name: {
            name.rpartition("/")[2]: metric.value for name, metric in score.metrics.items()
        }
        for score in results.scores
    }


def test_inspect_shows_the_score_of_the_corpus(log: Write, tmp_path: Path) -> None:
    path = log()
    report = Hub(METRICS).evaluate(read(path))
    scores = applied(path, report, tmp_path)
    assert scores["rouge"]["mean"] == pytest.approx(report["rouge"]["score"], rel=1e-12)
    assert scores["exact_match"]["mean"] == report["exact_match"]["score"]
    for name in ("bleu", "wer", "distinct"):
        assert scores[name] == {"corpus": report[name]["score"]}
        # The mean that inspect would have shown is another number.
        assert report.samples()[name]["score"].mean() != pytest.approx(report[name]["score"])


def test_samples_have_their_scores(log: Write, tmp_path: Path) -> None:
    path = log()
    report = Hub(METRICS).evaluate(read(path))
    applied(path, report, tmp_path)
    scored = read_eval_log(str(tmp_path / "scored.eval")).samples
    ids = list(zip(report.metadata["id"], report.metadata["epoch"], strict=True))
    for entry in scored or ():
        (value,) = [score.value for score in (entry.scores or {}).values()]
        number = ids.index((entry.id, entry.epoch))
        for name, scores in report.samples().items():
            assert value[name] == pytest.approx(scores["score"][number], nan_ok=True)


def test_a_sample_without_a_score_is_none_and_not_0(log: Write, tmp_path: Path) -> None:
    path = log(reference="🙂")
    report = Hub(["rouge", "bleu"]).evaluate(read(path))
    assert report.counts()["rouge"]["unscored"] == 2
    scores = applied(path, report, tmp_path)
    assert scores["rouge"]["mean"] == pytest.approx(report["rouge"]["score"], rel=1e-12)
    assert "unscored" in (tmp_path / "scores.jsonl").read_text()


def test_where_an_epoch_alone_has_no_score_the_corpus_is_shown(log: Write, tmp_path: Path) -> None:
    path = log()
    samples = {name: list(values) for name, values in read(path).items()}
    samples["references"][0] = "🙂"
    report = Hub("rouge").evaluate(samples)
    assert applied(path, report, tmp_path)["rouge"] == {"corpus": report["rouge"]["score"]}


def test_other_samples_are_not_shown_under_the_score_of_these(log: Write, tmp_path: Path) -> None:
    path = log()
    samples = read(path)
    report = Hub(METRICS).evaluate({name: values[:3] for name, values in samples.items()})
    write_scores(report, tmp_path / "scores.jsonl")
    scored_report = Hub(METRICS).evaluate(samples)
    scorer = precomputed_scores(str(tmp_path / "scores.jsonl"), metrics=metrics(scored_report))
    scored = inspect_ai.score(read_eval_log(str(path)), scorer, action="overwrite", display="none")
    assert math.isnan(stored(scored, tmp_path)["bleu"]["corpus"])


def test_ids_are_needed_and_may_be_given(tmp_path: Path) -> None:
    report = Hub("bleu").evaluate(predictions=["a", "b"], references=["a", "c"])
    with pytest.raises(ReportError, match="no column 'id'; score an inspect log, or pass ids"):
        write_scores(report, tmp_path / "scores.jsonl")
    with pytest.raises(ReportError, match="1 ids are given for 2 samples"):
        write_scores(report, tmp_path / "scores.jsonl", ids=["x"])
    write_scores(report, tmp_path / "scores.jsonl", ids=["x", "y"], epochs=[1, 1])
    assert (
        '{"id": "y", "epoch": 1, "value": {"bleu": 0.0}}' in (tmp_path / "scores.jsonl").read_text()
    )


def test_the_line_of_the_guide(log: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = Hub("bleu").evaluate(read(log()))
    guide.run("bridges.inspect_ai.write_scores", report=report)
    assert (tmp_path / "scores.jsonl").exists()
