"""Reports as files of Every Eval Ever, validated by its own schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from metrichub import Hub, MetrichubError, ParameterError, Report, ReportError
from metrichub.bridges import eee
from metrichub.testing import Scripted
from tests.bridges import guide

SCHEMA, INSTANCE = (
    json.loads((Path(__file__).parents[1] / "data/eee" / name).read_text("utf-8"))
    for name in ("eval.schema.json", "instance_level_eval.schema.json")
)
COLUMNS: dict[str, Any] = {
    "predictions": ["the cat sat on the mat", "it rains in spring", "a dog", "x"],
    "references": ["the cat sat on a mat", "it rains in the spring", "a dog", "🙂"],
}
ABOUT: dict[str, Any] = {"model": "some/model", "dataset": "rain", "organization": "us"}


def written(report: Report, tmp_path: Path, **more: Any) -> Any:
    """What the file holds, after the schema has found it valid."""
    path = tmp_path / "result.json"
    eee.write(report, path, **(ABOUT | {"timestamp": 1_700_000_000} | more))
    document = json.loads(path.read_text("utf-8"))
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    return document


def by_name(result: Any) -> dict[str, Any]:
    return {entry["metric_config"]["metric_name"]: entry for entry in result["evaluation_results"]}


def test_every_score_is_a_result_with_its_range_and_direction(tmp_path: Path) -> None:
    report = Hub(["bleu", "wer", "rouge", "abstractness"]).evaluate(**COLUMNS)
    result = by_name(written(report, tmp_path))
    for name in report:
        assert result[name]["score_details"]["score"] == report[name]["score"]
    config = {name: entry["metric_config"] for name, entry in result.items()}
    assert (config["bleu"]["min_score"], config["bleu"]["max_score"]) == (0, 1)
    assert (config["wer"]["lower_is_better"], config["wer"]["max_score"]) == (True, "Infinity")
    assert config["abstractness"]["additional_details"]["better"] == "neither"
    assert config["bleu"]["additional_details"]["averaging"] == "micro"
    assert config["rouge.rouge1"]["metric_id"] == "rouge.rouge1"
    assert result["rouge"]["score_details"]["details"] == {"samples": "4", "unscored": "1"}


def test_all_outputs_of_all_kinds_are_valid(tmp_path: Path) -> None:
    metrics = ["bleu", "ter", "chrf", "readability", "nist", "distinct", "ttr", "token_f1"]
    report = Hub(metrics).evaluate(**COLUMNS)
    result = by_name(written(report, tmp_path, outputs="all", intervals=False))
    numbers = sum(v == v for scores in report.scores().values() for v in scores.values())  # noqa: PLR0124
    assert len(result) == numbers
    assert "bleu.precision_1" in result


def test_intervals_are_those_of_the_report(tmp_path: Path) -> None:
    # Fewer than five samples have no interval.
    report = Hub("bleu").evaluate(**{name: texts * 2 for name, texts in COLUMNS.items()})
    uncertainty = by_name(written(report, tmp_path))["bleu"]["score_details"]["uncertainty"]
    interval = report.intervals(confidence=0.95, resamples=1000)["bleu"]["score"]
    assert uncertainty["confidence_interval"]["lower"] == interval.low
    assert uncertainty["standard_error"]["value"] == interval.std
    assert uncertainty["confidence_interval"]["method"] == interval.method
    assert (uncertainty["num_samples"], uncertainty["num_bootstrap_samples"]) == (8, 1000)
    result = by_name(written(report, tmp_path, intervals=False))
    assert "uncertainty" not in result["bleu"]["score_details"]


def test_what_has_no_number_is_left_out(tmp_path: Path) -> None:
    report = Hub(["rouge", "bleu"]).evaluate(predictions=["x"], references=["🙂"])
    assert set(by_name(written(report, tmp_path, outputs="score"))) == {"bleu"}
    with pytest.raises(ReportError, match="no metric has a score in this report"):
        written(Hub("rouge").evaluate(predictions=["x"], references=["🙂"]), tmp_path)


def test_the_source_is_a_page_a_data_set_or_private(tmp_path: Path) -> None:
    report = Hub("bleu").evaluate(**COLUMNS)
    result = written(report, tmp_path, url="https://example.org/rain")["evaluation_results"][0]
    assert result["source_data"]["url"] == ["https://example.org/rain"]
    result = written(report, tmp_path, hf_repo="us/rain", split="test")["evaluation_results"][0]
    assert result["source_data"] == {
        "dataset_name": "rain", "source_type": "hf_dataset", "hf_repo": "us/rain",
        "hf_split": "test", "samples_number": 4,
    }  # fmt: skip
    with pytest.raises(ParameterError, match="choose either url or hf_repo"):
        written(report, tmp_path, url="https://example.org", hf_repo="us/rain")


def test_what_is_said_of_the_run_is_there(tmp_path: Path) -> None:
    report = Hub("bleu").evaluate(**COLUMNS)
    result = written(
        report, tmp_path, relationship="first_party", deployment="self_deployed",
        availability="open_weights",
    )  # fmt: skip
    assert result["evaluation_id"] == "rain/some/model/1700000000"
    assert result["source_metadata"]["evaluator_relationship"] == "first_party"
    assert result["model_info"]["additional_details"] == {
        "deployment_type": "self_deployed", "model_availability": "open_weights",
    }  # fmt: skip
    with pytest.raises(jsonschema.ValidationError):
        written(report, tmp_path, relationship="a friend")


def test_models_that_judged_stand_with_their_prompts(tmp_path: Path) -> None:
    columns = {"predictions": ["The cat sat."], "contexts": [["The cat sat."]]}

    class Model(Scripted):
        is_model = True

    judge = Model({"claims": ["It sat."], "supported": ["yes"]}, label="some/judge")
    report = Hub("faithfulness", judge=judge).evaluate(**columns)
    judged = by_name(written(report, tmp_path))["faithfulness"]["metric_config"]["llm_scoring"]
    assert judged["judges"][0]["model_info"]["name"] == "some/judge"
    assert "claim" in judged["input_prompt"]
    # Rules are no model.
    report = Hub("faithfulness", judge="offline").evaluate(**columns)
    assert "llm_scoring" not in by_name(written(report, tmp_path))["faithfulness"]["metric_config"]


def test_the_line_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guide.run("bridges.eee", report=Hub("bleu").evaluate(**COLUMNS))
    document = json.loads((tmp_path / "result.json").read_text("utf-8"))
    jsonschema.Draft7Validator(SCHEMA).validate(document)


ASKED: dict[str, Any] = {
    "id": ["a", "b", "c", "d"],
    "question": ["Capital of Austria?", "Weather?", "Who?", "What?"],
    "prediction": ["Wien", "rain", "a dog", ""],
    "references": [["Wien", "Vienna"], ["sun"], ["a dog"], ["x"]],
}


def instances(tmp_path: Path, hub: Hub, data: Any = ASKED, **more: Any) -> list[Any]:
    """The lines of the file, each found valid by the schema."""
    how = {"model": "some/model", "dataset": "rain", "timestamp": 1_700_000_000} | more
    keep = [name for name in ("id", "question") if name in data]
    eee.write_instances(hub.evaluate(data, keep=keep), tmp_path / "samples.jsonl", **how)
    lines = (tmp_path / "samples.jsonl").read_text("utf-8").splitlines()
    result = list(map(json.loads, lines))
    for line in result:
        jsonschema.Draft7Validator(INSTANCE).validate(line)
    return result


def test_instances_say_which_samples_are_right(tmp_path: Path) -> None:
    result = instances(tmp_path, Hub(["exact_match", "bleu"]), metric="exact_match")
    assert [line["evaluation"]["is_correct"] for line in result] == [True, False, True, False]
    assert [line["sample_id"] for line in result] == ASKED["id"]
    first = result[0]
    assert first["input"] == {"raw": "Capital of Austria?", "reference": ["Wien", "Vienna"]}
    assert first["output"]["raw"] == ["Wien"]
    # The aggregate's.
    full = written(Hub("exact_match").evaluate(ASKED), tmp_path)
    assert first["evaluation_id"] == full["evaluation_id"]
    assert first["evaluation_result_id"] == full["evaluation_results"][0]["evaluation_result_id"]


def test_other_scores_are_right_from_a_limit_on(tmp_path: Path) -> None:
    data = {**ASKED, "prediction": ["Wien", "sun rain", "a cat", "x"]}
    # Shared words: 1 of 2 and 1, F1 2/3; 1 of 2 and 2, F1 1/2. Word errors: 0, 1, 1/2 and 0.
    hub = Hub("token_f1(normalization='none')")
    result = instances(tmp_path, hub, data, metric="token_f1", correct_at=0.6)
    assert [line["evaluation"]["is_correct"] for line in result] == [True, True, False, True]
    result = instances(tmp_path, Hub("wer"), data, metric="wer", correct_at=0.5)
    assert [line["evaluation"]["is_correct"] for line in result] == [True, False, True, True]


def test_samples_without_a_score_are_no_instances(tmp_path: Path) -> None:
    # No tokenizer of ROUGE reads an emoji.
    data = {**ASKED, "references": ["Wien", "🙂", "a dog", "x"]}
    result = instances(tmp_path, Hub("rouge"), data, metric="rouge", correct_at=0)
    assert [line["sample_id"] for line in result] == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("metric", "data", "how", "message"),
    [
        (
            "wer",
            ASKED | {"prediction": ["a", "b", "a cat", "x"]},
            {},
            "the least score of wer that counts as right",
        ),
        ("bleu", ASKED, {"metric": "rouge"}, "no metric 'rouge' in this report; it has bleu"),
        (
            "exact_match",
            {**ASKED, "question": [1, 2, 3, 4]},
            {},
            "what the model was asked, questions or sources",
        ),
    ],
)
def test_what_instances_need_is_said(
    tmp_path: Path, metric: str, data: Any, how: dict[str, Any], message: str
) -> None:
    with pytest.raises(MetrichubError, match=message):
        instances(tmp_path, Hub(metric), data, **{"metric": metric, **how})


def test_instances_need_samples(tmp_path: Path) -> None:
    report = Hub("exact_match").evaluate(ASKED, samples=False)
    with pytest.raises(ReportError, match="samples=True"):
        eee.write_instances(
            report, tmp_path / "x", metric="exact_match", model="m", dataset="d", timestamp=0
        )
