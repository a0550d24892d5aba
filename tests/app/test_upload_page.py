"""The page of uploads: what was read, what metrics are proposed, search, and other choices."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

from metrichub.app.settings import Judging, ServerLimits, ServerSettings
from metrichub.catalog.search import METRIC, search_index
from tests.app_client import Form, calling, run_of, scored_again, words

ROWS = [{"id": i, "prediction": f"a b {i}", "reference": f"a c {i}"} for i in range(10)]


def lines(rows: Sequence[object]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def read(client: TestClient, *files: tuple[str, str | bytes], **fields: Any) -> str:
    """The page that says what was read in files."""
    return client.post("/", data=fields, files=[("file", file) for file in files]).text


def sentence(page: str) -> str:
    return words(page.partition('<h1 id="sentence">')[2].partition("</h1>")[0])


def lacking(page: str) -> dict[str, str]:
    """Why metrics that are shown can't be chosen, by name."""
    rows = page.split("<li")[1:]
    shut = [row for row in rows if row.startswith(' class="lacking"')]
    return {row.partition('data-name="')[2].partition('"')[0]: words(f"<li{row}") for row in shut}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ([ROWS], "One system, 10 samples"),
        ([ROWS, ROWS], "Two systems, the same 10 samples"),
        ([ROWS, ROWS[::-1]], "Two systems, the same 10 samples"),
        ([ROWS, ROWS[:8]], "Two systems; 8 of 10 samples are in both"),
        ([ROWS, ROWS[2:], ROWS], "Three systems; 8 of 10 samples are in all"),
        ([[{**row, "system": name} for name in "ab" for row in ROWS]],
         "Two systems, the same 10 samples"),
    ],
)  # fmt: skip
def test_what_was_read_is_said_in_a_sentence(
    client: TestClient, files: Sequence[Sequence[object]], says: str
) -> None:
    named = [(f"{name}.jsonl", lines(rows)) for name, rows in zip("abc", files, strict=False)]
    page = read(client, *named)
    assert sentence(page) == says
    button = {1: "Score a", 2: "Compare a and b", 3: "Compare 3 systems"}
    count = 2 if "Two" in says else len(files)
    assert f'value="score">{button[count]}</button>' in page


def test_systems_are_compared_on_the_samples_that_all_have(client: TestClient) -> None:
    page = read(client, ("a.jsonl", lines(ROWS)), ("b.jsonl", lines(ROWS[:8])))
    fields = Form(page).fields
    page = scored_again(client, f"/runs/{fields['run']}", **fields)
    assert "2 of 10 samples are left out, as not all systems have them" in words(page)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{**row, "id": row["id"] + 10} for row in ROWS], "have no sample in common"),
        ([{"prediction": "a"}] * 3, "give the files a column of ids"),
    ],
)
def test_systems_without_common_samples_are_not_compared(
    client: TestClient, rows: Sequence[object], says: str
) -> None:
    page = read(client, ("a.jsonl", lines(ROWS)), ("b.jsonl", lines(rows)))
    assert says in words(page)
    assert 'value="score" disabled>Compare a and b' in page


def test_columns_say_what_they_are_used_as_and_ratings_are_found(client: TestClient) -> None:
    rows = [{**row, "tone": row["id"] % 4, "words": "x"} for row in ROWS]
    page = read(client, ("a.jsonl", lines(rows)))
    fields = Form(page).fields
    assert {name: use for name, use in fields.items() if name.startswith("as.")} == {
        "as.id": "sample id",
        "as.prediction": "predictions",
        "as.reference": "references",
        "as.tone": "people's rating",
        "as.words": "",
    }
    assert fields["people"] == ["1"]
    assert "agreement with people 1 rating" in words(page)
    address = f"/runs/{fields['run']}"
    page = words(scored_again(client, address, **fields))
    assert "The columns of people's ratings: tone." in page


def test_no_agreement_is_shown_where_it_was_not_wanted(client: TestClient) -> None:
    fields = Form(
        read(client, ("a.jsonl", lines([{**r, "tone": r["id"] % 4} for r in ROWS])))
    ).fields
    del fields["people"]
    page = scored_again(client, f"/runs/{fields['run']}", **fields)
    assert "Agreement with people" not in words(page)


def test_a_metric_is_chosen_by_the_ratings(client: TestClient) -> None:
    texts = ["a", "a c", "a c d", "a c d e"] * 8
    rows = [{"prediction": t, "reference": "a c d e", "tone": len(t)} for t in texts]
    for size, says in ((32, "agrees best with tone"), (10, "10 ratings are too few")):
        page = read(client, ("a.jsonl", lines(rows[:size])))
        assert "choose by the ratings" in words(page)
        fields = Form(page).fields
        assert "choose" not in fields
        page = scored_again(client, f"/runs/{fields['run']}", **fields, choose="1")
        assert says in words(page)


@pytest.mark.parametrize(
    ("row", "ticked"),
    [
        ({"prediction": "a", "reference": "b", "relevance": 3}, "rouge"),
        ({"summary": "a", "reference": "b"}, "rouge"),
        ({"mt": "a", "source": "b", "reference": "c"}, "bleu"),
        ({"question": "a", "answer": "b", "contexts": ["c"]}, "faithfulness"),
        ({"question": "a", "answer": "b", "gold": "c"}, "exact_match"),
        ({"prediction": "a"}, "repetition"),
        ({"messages": [], "reference_messages": []}, "tool_call_f1"),
    ],
)
def test_metrics_are_proposed_for_the_columns(
    client: TestClient, row: dict[str, object], ticked: str
) -> None:
    assert ticked in Form(read(client, ("a.jsonl", json.dumps(row)))).fields["metric"]


def test_another_use_of_a_column_or_another_task_proposes_anew(client: TestClient) -> None:
    page = read(client, ("a.jsonl", json.dumps({"mine": "a", "theirs": "b"})))
    assert "No metric can read these columns" in words(page)
    assert lacking(page)["bleu"].startswith("bleu needs predictions and references")
    fields = Form(page).fields | {"do": "propose", "as.mine": "predictions"}
    page = client.post("/", data=fields | {"as.theirs": "references"}).text
    fields = Form(page).fields
    assert fields["metric"] == ["chrf", "bleu", "ter"]
    transcripts = page.partition(">speech or text recognition: I have")[0].rpartition('value="')[2]
    chosen = {"do": "propose", "task": transcripts.partition('"')[0], "more": "rouge"}
    fields = Form(client.post("/", data=fields | chosen).text).fields
    assert fields["metric"] == ["cer", "wer", "edit_similarity"]
    assert fields["more"] == ["rouge"]


def test_metrics_that_ask_a_model_are_offered_unticked() -> None:
    judging = Judging("openai(model='m', base_url='http://127.0.0.1:9')", "offline")
    row = {"question": "a", "answer": "b", "contexts": ["c"]}
    with calling(ServerSettings(judging)) as client:
        page = read(client, ("a.jsonl", json.dumps(row)))
    assert 'value="faithfulness" data-asks="remote"' in page
    assert "metric" not in Form(page).fields


def test_a_metric_that_is_closed_here_says_why() -> None:
    row = {"prediction": "a", "reference": "b", "correctness": 1}
    with calling(ServerSettings(Judging())) as client:
        page = read(client, ("a.jsonl", json.dumps(row)))
    message = "asks an embedder, and this server was started without one"
    assert message in lacking(page)["semantic_similarity"]


def test_another_baseline_and_a_file_less_are_read_anew(client: TestClient) -> None:
    files = [(f"{name}.jsonl", lines(ROWS)) for name in "abc"]
    fields = Form(read(client, *files)).fields
    page = client.post("/", data=fields | {"do": "baseline-b"}).text
    assert "b is the baseline; instead: a c" in words(page)
    page = client.post("/", data=Form(page).fields | {"do": "remove-1"}).text
    assert sentence(page) == "Two systems, the same 10 samples"
    assert "a is the baseline." in words(page)
    page = read(client, ("d.jsonl", lines(ROWS)), run=fields["run"])
    assert sentence(page) == "Three systems, the same 10 samples"
    for _ in range(3):
        page = client.post("/", data={"run": fields["run"], "do": "remove-0"}).text
    assert "Score generated text" in page
    assert client.get(f"/runs/{fields['run']}").status_code == 404


def test_more_files_than_a_run_may_have_are_refused_and_the_others_stay() -> None:
    with calling(ServerSettings(limits=ServerLimits(systems=2))) as client:
        page = read(client, ("a.jsonl", lines(ROWS)), ("b.jsonl", lines(ROWS)))
        page = read(client, ("c.jsonl", lines(ROWS)), run=Form(page).fields["run"])
    assert "a run may have up to 2 files" in words(page)
    assert sentence(page) == "Two systems, the same 10 samples"


def test_the_search_is_that_of_the_command_line(client: TestClient) -> None:
    question = "is my RAG answer grounded?"
    metrics = client.get("/api/metrics", params={"search": question}).json()["metrics"]
    names = [page.address for page in search_index().find(question) if page.kind == METRIC]
    assert [metric["name"] for metric in metrics] == names
    assert "faithfulness" in names[:3]


def test_a_search_of_a_million_words_is_answered(client: TestClient) -> None:
    search = " ".join(f"x{i}" for i in range(10_000))
    assert client.get("/api/metrics", params={"search": search}).json() == {"metrics": []}


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
    address, _ = run_of(client, [("file", ("a.jsonl", text))], metric=metric)
    page = words(client.get(address).text)
    assert "--" not in page
    assert "columns={" not in page


def test_the_api_names_no_option(client: TestClient) -> None:
    body = {"metrics": ["wer"], "predictions": ["a"], "target": ["a"], "gold": ["a"]}
    message = client.post("/api/score", json=body).json()["message"]
    assert message.endswith("be references; choose one with columns={'references': 'target'}")
