"""The page of uploads: starting sets, closed metrics, search, and columns that are checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

import metrichub
from metrichub.app.settings import Judging, ServerSettings
from metrichub.catalog.search import METRIC, search_index
from tests.app_client import calling, run_of, words


def checked(client: TestClient, name: str, text: str | bytes, **chosen: str) -> Any:
    answer = client.post("/columns", data=chosen, files={"file": (name, text)})
    return answer.json() | {"status": answer.status_code}


def test_metrics_that_lack_a_column_are_named_with_it(client: TestClient) -> None:
    found = checked(client, "a.jsonl", json.dumps({"response": "a", "question": "b"}))
    assert found["columns"] == ["response", "question"]
    texts = {"predictions": "response", "questions": "question"}
    # A question and its answer are a conversation to metrics of those.
    read = {column: name for column, name in found["read"].items() if name}
    assert read == texts | {"messages": "response"}
    assert found["lacking"]["wer"] == ["references"]
    assert found["lacking"]["faithfulness"] == ["contexts"]
    assert not {"repetition", "answer_relevancy"} & set(found["lacking"])


def test_a_column_that_is_chosen_is_there(client: TestClient) -> None:
    text = json.dumps({"mine": "a", "gold": "b", "target": "c"})
    assert checked(client, "a.jsonl", text)["lacking"]["wer"] == ["predictions", "references"]
    chosen = {"column.predictions": "mine", "column.references": "gold"}
    assert "wer" not in checked(client, "a.jsonl", text, **chosen)["lacking"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "prediction,gold\nx,y\n"),
        ("a.json", '[{"prediction": "x", "gold": "y"}]'),
        # Cut off in the second line, as the page sends the beginning of large files.
        ("a.jsonl", '{"prediction": "x", "gold": "y"}\n' * 2000 + '{"predi'),
    ],
)
def test_columns_are_found_in_every_format(client: TestClient, name: str, text: str) -> None:
    assert checked(client, name, text)["columns"] == ["prediction", "gold"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.jsonl", "", "a.jsonl: the file is empty"),
        ("a.txt", "a", "a.txt: the name has to end in .jsonl"),
        ("a.json", '{"a": 1}\n{"a": 1}', "; if the file is JSON Lines, rename it to end in .jsonl"),
        ("../../a.jsonl", "{", "a.jsonl:1: broken JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_at_once(
    client: TestClient, name: str, text: str, says: str
) -> None:
    found = checked(client, name, text)
    assert says in found["problem"]
    assert found["status"] == 200
    assert "/tmp" not in found["problem"]


def test_the_search_is_that_of_the_command_line(client: TestClient) -> None:
    question = "is my RAG answer grounded?"
    found = client.get("/api/metrics", params={"search": question}).json()["metrics"]
    names = [page.address for page in search_index().find(question) if page.kind == METRIC]
    assert [one["name"] for one in found] == names
    assert "faithfulness" in names[:3]


def test_a_search_of_a_million_words_is_answered(client: TestClient) -> None:
    search = " ".join(f"x{i}" for i in range(10_000))
    assert client.get("/api/metrics", params={"search": search}).json() == {"metrics": []}


def starting_set(page: str, task: str) -> str:
    """The value of the first choice whose words begin so."""
    return page.partition(f">{task}: I have")[0].rpartition('value="')[2].partition('"')[0]


def test_a_starting_set_is_scored_without_a_script(client: TestClient) -> None:
    chosen = {"set": starting_set(client.get("/").text, "summaries")}
    text = '{"prediction": "a b", "reference": "a c"}'
    _, page = run_of(client, [("file", ("a.jsonl", text))], **chosen)
    assert "rouge1 ↑" in words(page)
    assert "chrf ↑" in words(page)
    # Metrics that were chosen go before it.
    _, page = run_of(client, [("file", ("a.jsonl", text))], metric="wer", **chosen)
    assert "wer ↓" in words(page)
    assert "rouge" not in words(page)


def test_a_starting_set_says_what_is_not_offered_here() -> None:
    with calling(ServerSettings(Judging())) as client:
        page = client.get("/").text
    option = page.partition(">answers to questions: I have reference answers<")[0]
    assert 'data-closed="semantic_similarity"' in option.rpartition("<option")[2]
    # Nothing of a set that only asks judges could be scored.
    assert "translations: I have only the source" not in page


@pytest.mark.parametrize("key", ["x", "-1", "999", "<script>alert(1)</script>"])
def test_a_starting_set_that_is_none_chooses_nothing(client: TestClient, key: str) -> None:
    _, page = run_of(client, [], set=key, text="prediction\na")
    assert "choose a metric" in words(page)
    assert "<script>alert" not in page


def test_every_metric_of_the_form_has_its_summary(client: TestClient) -> None:
    said = words(client.get("/").text)
    entry = next(entry for entry in metrichub.list_metrics() if entry.name == "wer")
    assert " ".join(entry.card.summary.split()) in said


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        (json.dumps({"mine": "a"}), "wer"),
        (json.dumps({"prediction": "a", "target": "a", "gold": "b"}), "wer"),
        ("[1]", "wer"),
        ('{"a":\n1}', "wer"),
        (json.dumps({"prediction": "a", "contexts": ["b"]}), "coverage"),
        ('{"prediction": "a", "target": "a"}\n' * 70_000
         + '{"prediction": "a", "reference": "b"}\n' * 70_000, "wer"),
    ],
)  # fmt: skip
def test_what_a_page_says_names_no_option(client: TestClient, text: str, metric: str) -> None:
    _, page = run_of(client, [("file", ("a.jsonl", text))], metric=metric)
    assert "--" not in words(page)
    assert "columns={" not in words(page)


def test_the_api_names_no_option(client: TestClient) -> None:
    body = {"metrics": ["wer"], "predictions": ["a"], "target": ["a"], "gold": ["a"]}
    message = client.post("/api/score", json=body).json()["message"]
    assert message.endswith("be references; choose one with columns={'references': 'target'}")
