"""The JSON API: what is installed, scores, and why there are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

from metrichub import Hub, list_metrics, load_metric
from metrichub.app.settings import ServerLimits, ServerSettings
from metrichub.data.values import json_value
from tests.app_client import CATS, calling


def scored(client: TestClient, **body: Any) -> Any:
    answer = client.post("/api/score", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: TestClient, status: int, **body: Any) -> Any:
    answer = client.post("/api/score", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_metrics_are_listed_and_found_by_their_task_and_words(client: TestClient) -> None:
    def names(query: str) -> set[str]:
        return {metric["name"] for metric in client.get(f"/api/metrics?{query}").json()["metrics"]}

    assert names("") >= {entry.name for entry in list_metrics()}
    assert "abstractness" in names("task=summarization")
    assert "wer" not in names("task=summarization")
    assert "bleu" in names("search=bleu&task=translation")
    assert names("search=xyzzy") == set()


def test_a_metric_is_told_with_its_card(client: TestClient) -> None:
    document = client.get("/api/metrics/bleu").json()
    assert document["inputs"] == ["predictions", "references"]
    assert "papineni" in document["citation"].lower()
    assert "## Limitations and bias" in document["card"]
    assert client.get("/api/metrics/metrichub/bleu").json()["name"] == "bleu"


def test_scores_are_those_of_the_hub(client: TestClient) -> None:
    specs = ["bleu2 = bleu(max_order=2)", "rouge", "cider"]
    scores = scored(client, metrics=specs, intervals=True, samples=True, **CATS)
    report = Hub(specs).evaluate(**CATS)
    assert scores["scores"] == report.scores()
    assert scores["counts"] == report.counts()
    assert scores["signatures"] == report.signatures()
    assert scores["size"] == 2
    interval = report.intervals()["bleu2"]["score"]
    # Two samples are too few for an interval; the resamples' mean is there.
    assert scores["intervals"]["bleu2"]["score"] == json_value(interval)
    assert scores["samples"]["rouge"]["score"] == report.samples()["rouge"]["score"].tolist()


def test_a_metric_may_be_an_object_with_a_name_of_its_own(client: TestClient) -> None:
    metric = {"metric": "bleu", "parameters": {"max_order": 2}, "name": "two"}
    scores = scored(client, metrics=[metric], **CATS)
    assert scores["scores"]["two"] == Hub(load_metric("bleu", max_order=2))(**CATS)["bleu"]


def test_columns_may_have_other_names(client: TestClient) -> None:
    columns = {"mine": ["a b"], "gold": ["a c"], "other": ["a b"]}
    # One of the two words of "a c" is replaced, none of those of "a b".
    for mapping, wer in (({}, 0.5), ({"references": "other"}, 0)):
        chosen = {"predictions": "mine", **mapping}
        scores = scored(client, metrics=["wer"], columns=chosen, **columns)
        assert scores["scores"]["wer"]["score"] == wer


def test_a_column_may_be_one_that_only_one_metric_knows(client: TestClient) -> None:
    scores = scored(client, metrics=["regex_match"], predictions=["B", "x"], patterns=["[A-D]"] * 2)
    assert scores["scores"] == {"regex_match": {"score": 0.5}}


def test_a_column_called_like_an_argument_is_only_a_column(client: TestClient) -> None:
    scores = scored(
        client, metrics=["wer"], workers=["8"], progress=["x"], predictions=["a"], references=["a"]
    )
    assert scores["scores"]["wer"]["score"] == 0


def test_the_reduction_can_be_chosen(client: TestClient) -> None:
    texts = {"predictions": ["a"], "references": [["a", "b"]]}
    assert scored(client, metrics=["wer"], reduce="worst", **texts)["scores"]["wer"]["score"] == 1
    assert scored(client, metrics=["wer"], **texts)["scores"]["wer"]["score"] == 0


def test_samples_are_told_with_their_reasons_and_explanations(client: TestClient) -> None:
    texts = {"predictions": ["It rained.", ""], "contexts": [["It rained."]] * 2}
    scores = scored(client, metrics=["faithfulness"], explanations=True, **texts)
    (lost,) = scores["without_score"]["faithfulness"]
    assert (lost["sample"], lost["status"]) == (1, "unanswered")
    assert lost["reason"] in scores["notes"]["faithfulness"][0]
    assert scores["scores"]["faithfulness"] == {"score": 1.0}
    assert scores["counts"] == {"faithfulness": {"unanswered": 1}}
    why, _ = scores["explanations"]["faithfulness"]
    assert why["status"] == "ok"
    assert why["steps"][0]["claims"][0]["verdict"] == "yes"
    assert scored(client, metrics=["faithfulness"], **texts).get("explanations") is None
    # A score that doesn't exist is null.
    scores = scored(client, metrics=["faithfulness"], predictions=[""], contexts=[["x"]])
    assert scores["scores"]["faithfulness"]["score"] is None


@pytest.mark.parametrize("text", ["\ud800 lone", "a\0b", "</script>", "\u2028", "😀"])
def test_any_text_comes_through(client: TestClient, text: str) -> None:
    body = json.dumps({"metrics": ["exact_match"], "predictions": [text], "references": [text]})
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/score", content=body, headers=headers)
    assert answer.json()["scores"]["exact_match"]["score"] == 1.0


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        ({"metrics": ["blue"], **CATS}, "UnknownMetric", "did you mean 'bleu'"),
        ({"metrics": ["bleu("], **CATS}, "SpecError", "bleu("),
        ({"metrics": ["bleu(max_order=99)"], **CATS}, "ParameterError", "from 1 to 16"),
        ({"metrics": ["bleu(order=2)"], **CATS}, "UnknownParameter", "max_order"),
        ({"metrics": ["bleu", "bleu"], **CATS}, "SpecError", "two metrics are called 'bleu'"),
        ({"metrics": ["bleu"], "predictions": ["a"]}, "MissingColumn", "references"),
        ({"metrics": ["bleu"], "predictions": [1], "references": ["a"]}, "InputError", "not text"),
        (
            {"metrics": ["bleu"], "predictions": ["a", "b"], "references": ["a"]},
            "InputError",
            "differ in length",
        ),
        ({"metrics": [], **CATS}, "InvalidBody", "metrics"),
        ({"metrics": "bleu", **CATS}, "InvalidBody", "metrics"),
        ({"metrics": [{"metric": "bleu", "parameter": {}}], **CATS}, "InvalidBody", "metrics.0"),
        ({"metrics": ["bleu"], "predictions": "a", "references": ["a"]}, "InvalidBody", "list"),
        ({"metrics": ["bleu"], **CATS, "more": 3}, "InvalidBody", "more"),
        ({"metrics": ["bleu"], **CATS, "reduce": "median"}, "InvalidBody", "reduce"),
        ({"metrics": ["bleu(name=[1])"], **CATS}, "ParameterError", "a text of up to 100"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(
    client: TestClient, body: dict[str, Any], error: str, says: str
) -> None:
    result = refused(client, 422, **body)
    assert result["error"] == error
    assert says in result["message"]


@pytest.mark.parametrize(
    "body",
    [
        '{"metrics": ["bleu"], "predictions": [%s], "references": ["a"]}',
        '{"metrics": [{"metric": "json_schema_match", "parameters": {"schema": {"a": %s}}}], '
        '"predictions": ["a"]}',
    ],
)
def test_what_is_nested_deeper_than_anything_real_is_refused(client: TestClient, body: str) -> None:
    headers = {"Content-Type": "application/json"}
    for depth in (400, 900):
        deep = body % ("[" * depth + "]" * depth)
        answer = client.post("/api/score", content=deep, headers=headers)
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"] in ("InputError", "ParameterError"), answer.text


def test_a_body_that_is_no_json_is_refused(client: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (b"{", b"\xff", b"[" * 100_000, b""):
        answer = client.post("/api/score", content=body, headers=headers)
        assert answer.status_code in (400, 422), answer.text
        assert answer.json()["error"] in ("BadRequest", "InvalidBody")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"[1]", "application/json"),
        (b'{"metrics": ["bleu"]}', "text/plain"),
        (b'{"metrics": ["bleu"]}', "application/x-www-form-urlencoded"),
        (b'{"metrics": ["bleu"]}', ""),
    ],
)
def test_a_body_has_to_be_an_object_and_called_json(
    client: TestClient, body: bytes, kind: str
) -> None:
    answer = client.post("/api/score", content=body, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["error"]) == (422, "InvalidBody")
    how = "send it with the header Content-Type: application/json"
    assert (how in answer.json()["message"]) == (kind != "application/json")


def test_what_is_not_there_and_a_wrong_method_are_refused_in_json(client: TestClient) -> None:
    for path in ("/api/metrics/blue", "/api/nothing", "/api/metrics/"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert answer.json()["error"]
    answer = client.get("/api/score")
    assert (answer.status_code, answer.json()["error"]) == (405, "NotAllowed")


def test_a_pattern_that_runs_away_costs_only_its_own_request() -> None:
    # 2 to the power of 40 ways to cut the text into runs of "a", none of which a "b" follows.
    runaway = {"metrics": ["regex_match"], "predictions": ["a" * 40 + "!"], "patterns": ["(a+)+b"]}
    with calling(ServerSettings(limits=ServerLimits(seconds=5))) as client:
        assert refused(client, 503, **runaway)["error"] == "TimeLimit"
        scored(client, metrics=["exact_match"], **CATS)


def test_the_document_describes_the_api_and_nothing_else(client: TestClient) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    document = client.get("/api/openapi.json").json()
    assert document["paths"].keys() == {"/api/metrics", "/api/metrics/{name}", "/api/score"}
    schema = document["components"]["schemas"]["ScoreRequest"]
    jsonschema.Draft202012Validator.check_schema(schema)
    body = {"metrics": ["bleu", {"metric": "rouge", "name": "r"}], **CATS}
    everything = {**schema, "components": document["components"]}
    validator = jsonschema.Draft202012Validator(everything)
    assert validator.is_valid(body)
    assert not validator.is_valid({**body, "reduce": "median"})
    assert not validator.is_valid({**body, "metrics": [{"metrik": "bleu"}]})
