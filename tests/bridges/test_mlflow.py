"""A hub inside MLflow, with a store of the test's own; what it logged is read back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas
import pytest

from metrichub import Hub, SpecError
from metrichub.bridges._hub_scores import hub_of
from metrichub.bridges.mlflow import make_metric, scorer, scorers
from metrichub.testing import Scripted
from tests.bridges import guide
from tests.bridges.hosts import needs

pytestmark = needs("mlflow", "mlflow")

import mlflow  # noqa: E402  # after the skip

METRICS = ["bleu", "rouge", "wer", "distinct", "token_f1"]
TEXTS: dict[str, list[Any]] = {
    "predictions": ["the cat sat on the mat", "it rains in spring", "a dog", "the dog ran off"],
    "references": ["the cat sat on a mat", "it rains in the spring", "🙂", "a dog ran"],
}


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("DO_NOT_TRACK", "true")
        patch.chdir(folder)
        mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
        mlflow.set_experiment("bridges")
        yield


def rows() -> list[dict[str, Any]]:
    pairs = zip(TEXTS["predictions"], TEXTS["references"], strict=True)
    return [
        {
            "inputs": {"question": f"What {number}?"},
            "outputs": prediction,
            "expectations": {"expected_response": reference},
        }
        for number, (prediction, reference) in enumerate(pairs)
    ]


def logged(result: Any) -> dict[str, float]:
    """What the store has of a run."""
    metrics: dict[str, float] = mlflow.get_run(result.run_id).data.metrics
    return metrics


def assessments(result: Any, name: str) -> list[Any]:
    """What the store has of every sample, in the order of the rows."""
    traces = [mlflow.get_trace(trace) for trace in result.result_df["trace_id"]]
    traces.sort(key=lambda trace: str(trace.data.request))
    return [a for t in traces for a in t.info.assessments if a.name == name]


@pytest.mark.parametrize(
    ("metrics", "key"), [("bleu", "bleu/corpus"), (Hub(["rouge", "token_f1"]), "rouge/mean")]
)
def test_one_scorer_stands_beside_others(metrics: Any, key: str) -> None:
    @mlflow.genai.scorers.scorer
    def words(outputs: str) -> int:
        return len(outputs.split())

    report = mlflow.genai.evaluate(data=rows(), scorers=[scorer(metrics), words])
    name = key.partition("/")[0]
    assert logged(report)[key] == pytest.approx(hub_of(metrics)(**TEXTS)[name]["score"], abs=1e-12)
    # 6 + 4 + 2 + 4 words.
    assert logged(report)["words/mean"] == 4


def test_metrics_that_need_several_scorers_are_told_the_line() -> None:
    with pytest.raises(
        SpecError, match=r"2 scorers in MLflow \(rouge, bleu\): give them as scorers="
    ):
        scorer(["bleu", "rouge"])


def test_what_is_logged_is_the_score_of_the_corpus() -> None:
    report = mlflow.genai.evaluate(data=rows(), scorers=scorers(METRICS))
    expected = Hub(METRICS)(**TEXTS)
    rouge, distinct = expected["rouge"], expected["distinct"]
    shown = {
        **{f"{name}/corpus": expected[name]["score"] for name in ("bleu", "wer", "distinct")},
        **{f"{name}/mean": expected[name]["score"] for name in ("rouge", "token_f1")},
        # What their cards name as headline.
        **{f"rouge/{n}/mean": rouge[n] for n in ("rouge1", "rouge2", "rougeL", "rougeLsum")},
        **{f"distinct/{n}": distinct[n] for n in ("distinct_1", "distinct_2")},
    }
    assert logged(report) == pytest.approx(shown, rel=1e-12)


def test_samples_have_their_scores_and_none_where_there_is_none() -> None:
    result = mlflow.genai.evaluate(data=rows(), scorers=scorers(METRICS))
    report = Hub(METRICS).evaluate(**TEXTS)
    for name, scores in report.samples().items():
        values = [assessment.value for assessment in assessments(result, name)]
        assert [math.nan if v is None else v for v in values] == pytest.approx(
            scores["score"].tolist(), nan_ok=True
        )
    unscored = assessments(result, "rouge")[2]
    assert unscored.value is None
    assert unscored.rationale == report.explain("rouge", 2).reason
    assert unscored.metadata["signature"].startswith("rouge(")


def test_a_second_run_starts_anew_and_a_broken_one_leaves_nothing() -> None:
    metrics = scorers("bleu")
    report = mlflow.genai.evaluate(data=rows(), scorers=metrics)
    # As if a run had been broken off before its end.
    metrics[0](inputs={"question": "?"}, outputs="x", expectations={"expected_response": "y"})
    two = mlflow.genai.evaluate(data=rows()[:2], scorers=metrics)
    assert logged(report)["bleu/corpus"] == Hub("bleu")(**TEXTS)["bleu"]["score"]
    first = {name: values[:2] for name, values in TEXTS.items()}
    assert logged(two)["bleu/corpus"] == Hub("bleu")(**first)["bleu"]["score"]


def test_many_threads_measure_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_GENAI_EVAL_MAX_WORKERS", "10")
    many = rows()[:2] * 15
    report = mlflow.genai.evaluate(data=many, scorers=scorers(["bleu", "rouge"]))
    columns = {name: values[:2] * 15 for name, values in TEXTS.items()}
    expected = Hub(["bleu", "rouge"])(**columns)
    assert logged(report)["bleu/corpus"] == expected["bleu"]["score"]
    assert logged(report)["rouge/mean"] == pytest.approx(expected["rouge"]["score"], rel=1e-12)


def test_judges_see_questions_and_contexts_and_say_why() -> None:
    judge = Scripted({"claims": ["It sat.", "It ran."], "supported": ["yes", "no"]})
    data = [
        {
            "inputs": {"query": "What did it do?", "contexts": ["It sat."]},
            "outputs": {"response": "It sat and ran."},
        }
    ]
    report = mlflow.genai.evaluate(data=data, scorers=scorers(Hub("faithfulness", judge=judge)))
    assert logged(report) == {"faithfulness/mean": 0.5}


def test_a_judge_that_fails_is_an_error_and_no_0() -> None:
    data = [{"inputs": {"contexts": ["It sat."], "query": "?"}, "outputs": "It sat."}]
    hub = Hub("faithfulness", judge=Scripted({}))
    report = mlflow.genai.evaluate(data=data, scorers=scorers(hub))
    assert logged(report) == {}
    (assessment,) = assessments(report, "faithfulness")
    assert assessment.value is None
    assert "no answer to the prompt" in assessment.error.error_message


@pytest.mark.parametrize(
    "outputs",
    ["x y", {"response": "x y"}, {"answer": "x y", "cost": 1}, {"text": "x y"},
     {"choices": [{"message": {"role": "assistant", "content": "x y"}}]}],
)  # fmt: skip
def test_outputs_of_all_shapes_are_read(outputs: Any) -> None:
    (entry,) = scorers("exact_match")
    (result,) = entry(
        inputs={"question": "?"}, outputs=outputs, expectations={"references": ["a", "x y"]}
    )
    assert (result.name, result.value) == ("exact_match", 1.0)


def test_outputs_without_a_text_are_an_error_that_mlflow_shows() -> None:
    data = [{"inputs": {"question": "?"}, "outputs": {"a": "x", "b": "y"},
             "expectations": {"expected_response": "x"}}]  # fmt: skip
    report = mlflow.genai.evaluate(data=data, scorers=scorers("bleu"))
    (assessment,) = assessments(report, "bleu")
    assert "one of its values has to be the text" in assessment.error.error_message


def test_the_older_call_has_the_corpus_and_the_samples() -> None:
    frame = pandas.DataFrame({"prediction": TEXTS["predictions"], "reference": TEXTS["references"],
                              "sources": ["the cat", "it rains", "dogs", "a dog"]})  # fmt: skip
    with mlflow.start_run() as run:
        result = mlflow.models.evaluate(
            data=frame, predictions="prediction", targets="reference", evaluators="default",
            extra_metrics=[*map(make_metric, ("bleu", "coverage", "wer", "rouge"))],
        )  # fmt: skip
    stored = mlflow.get_run(run.info.run_id).data.metrics
    report = Hub(["bleu", "coverage", "wer", "rouge"]).evaluate(**TEXTS, sources=frame["sources"])
    for name in report:
        assert stored[f"{name}/score"] == report[name]["score"]
    assert {name for name in stored if name.startswith("rouge/")} == {
        f"rouge/{n}" for n in ("score", "rouge1", "rouge2", "rougeL", "rougeLsum")
    }
    assert stored["rouge/rouge2"] == report["rouge"]["rouge2"]
    table = result.tables["eval_results_table"]
    assert table["bleu/score"].tolist() == pytest.approx(
        report.samples()["bleu"]["score"].tolist(), abs=1e-9
    )
    assert make_metric("wer").greater_is_better is False


def test_the_older_call_takes_one_metric() -> None:
    with pytest.raises(SpecError, match="make_metric takes one metric"):
        make_metric(Hub(["bleu", "wer"]))


def test_the_lines_of_the_guide() -> None:
    result = guide.run("bridges.mlflow.scorers", mlflow=mlflow, rows=rows())
    rouge = {f"rouge/{name}/mean" for name in ("rouge1", "rouge2", "rougeL", "rougeLsum")}
    assert set(logged(result)) == {"bleu/corpus", "rouge/mean", *rouge}
    frame = pandas.DataFrame({"prediction": TEXTS["predictions"], "reference": TEXTS["references"]})
    with mlflow.start_run():
        older = guide.run("bridges.mlflow.make_metric", mlflow=mlflow, frame=frame)
    assert older.metrics == {"bleu/score": Hub("bleu")(**TEXTS)["bleu"]["score"]}
