"""Files: uploaded, scored with progress, downloaded, and gone at the end."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

from metrichub.app.settings import ServerLimits, ServerSettings
from tests.app_client import Form, calling, ended, grow, run_of, scored_again, words
from tests.commands import ROWS

JSONL = "".join(f"{json.dumps(row)}\n" for row in ROWS)
RUNAWAY = json.dumps({"prediction": "a" * 40 + "!", "patterns": "(a+)+b"})


def sent(
    client: TestClient,
    text: str | bytes,
    name: str = "a.jsonl",
    metrics: Sequence[str] = ("wer",),
    **more: Any,
) -> Any:
    fields = {"metric": list(metrics), **more}
    return client.post("/", data=fields, files={"file": (name, text)}, follow_redirects=False)


def run(client: TestClient, text: str | bytes, *arguments: Any, **more: Any) -> tuple[str, str]:
    """The address of a run that has ended, and its page."""
    answer = sent(client, text, *arguments, **more)
    assert answer.status_code == 303, answer.text
    address = answer.headers["location"]
    return address, ended(client, address)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", JSONL),
        ("A.NDJSON", JSONL),
        ("a.json", json.dumps(ROWS)),
        ("a.tsv", "id\tprediction\treference\nx\ta b c\ta b d\ny\td\td\n"),
        ("a.csv.GZ", gzip.compress(b"id,prediction,reference\nx,a b c,a b d\ny,d,d\n", mtime=0)),
    ],
)
def test_a_file_is_scored(client: TestClient, name: str, text: str | bytes) -> None:
    address, page = run(client, text, name, ["wer", "abstractness"])
    document = client.get(f"{address}/scores.json").json()
    # One of 4 reference words is replaced; "c" is the one new word of 4.
    assert document["samples"] == 2
    assert [scores["score"] for scores in document["scores"].values()] == [0.25, 0.25]
    assert name in words(page)


def test_parameters_are_given_as_specs_and_the_reduction_is_chosen(client: TestClient) -> None:
    text = json.dumps({"prediction": "a", "references": ["a", "b"]})
    _, page = run(
        client, text, "a.jsonl", [], specs="bad = wer(lowercase=True)\n\n", reduce="worst"
    )
    message = words(page)
    assert "bad = wer(lowercase=True" in message
    assert "reduce:worst" in message


def test_scores_and_those_of_every_sample_can_be_downloaded(client: TestClient) -> None:
    text = f'{JSONL}{{"id": "=HYPERLINK(1)", "prediction": "a", "reference": "a"}}'
    address, _ = run(client, text)

    def table(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(client.get(f"{address}/{name}").text)))

    answer = client.get(f"{address}/scores.json")
    assert answer.headers["content-disposition"] == 'attachment; filename="a.jsonl-scores.json"'
    document = answer.json()
    # One of 5 reference words is replaced.
    assert (document["scores"]["wer"]["score"], document["samples"]) == (0.2, 3)
    interval = document["intervals"]["wer"]["score"]
    assert interval["low"] is None
    assert interval["why"] == "3 samples are too few; an interval needs 5"
    assert table("scores.csv")[0]["score"] == "0.2"
    rows = [json.loads(row) for row in client.get(f"{address}/samples.jsonl").text.splitlines()]
    assert [row["id"] for row in rows] == ["x", "y", "=HYPERLINK(1)"]
    assert [row["scores"]["wer"]["score"] for row in rows] == pytest.approx([1 / 3, 0, 0])
    # An id is no formula in a spreadsheet.
    assert [row["id"] for row in table("samples.csv")] == ["x", "y", "'=HYPERLINK(1)"]


def test_only_files_of_the_run_can_be_downloaded(client: TestClient) -> None:
    address, _ = run(client, JSONL)
    for name in ("upload-0.jsonl", "progress.json", "..%2f..%2fetc%2fpasswd", "x"):
        assert client.get(f"{address}/{name}").status_code == 404


def test_the_report_is_shown_in_a_sandbox_and_downloaded_as_one_file(client: TestClient) -> None:
    address, page = run(client, JSONL)
    assert f'src="{address}/report.html" title="Report of a.jsonl"' in page
    assert "frame-src 'self'" in client.get(address).headers["content-security-policy"]
    shown, taken = (client.get(f"{address}/report.html{query}") for query in ("", "?download=1"))
    assert shown.status_code == 200
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in shown.headers["content-security-policy"]
    # Pages of others can't frame it.
    assert "frame-ancestors 'self'" in shown.headers["content-security-policy"]
    assert shown.headers["x-frame-options"] == "SAMEORIGIN"
    assert "content-disposition" not in shown.headers
    assert taken.headers["content-disposition"] == 'attachment; filename="a.jsonl-report.html"'
    assert taken.content == shown.content


def test_a_column_that_is_not_found_can_be_chosen(client: TestClient) -> None:
    address, page = run(client, json.dumps({"mine": "a b", "gold": "a c"}))
    assert "wer needs the column 'predictions'" in words(page)
    fields = Form(page).fields
    assert (fields["as.mine"], fields["as.gold"]) == ("", "references")
    chosen = {"metric": "wer", "as.mine": "predictions", "as.gold": "references", "as.other": "x"}
    assert "0.500" in scored_again(client, address, **chosen)


def test_a_wrong_or_missing_metric_is_chosen_without_sending_the_files_again(
    client: TestClient,
) -> None:
    for specs, says in (
        ("bleu(", "'bleu(' isn't a valid metric"),
        ("bluu", "no metric 'bluu' is installed"),
    ):
        text = json.dumps({"mine": "a b", "reference": "a c"})
        address, page = run(client, text, metrics=(), specs=specs, **{"as.mine": "predictions"})
        # No class of an error is named.
        (error,) = re.findall(r'<p class="error" id="_wrong" role="alert">(.*?)</p>', page, re.S)
        assert words(error).startswith(says)
        fields = Form(page).fields
        assert (fields["specs"], fields["as.mine"]) == (specs, "predictions")
        fields |= {"specs": "wer\nexact_match"}
        page = scored_again(client, address, **fields)
        assert "0.500" in page
        assert "exact_match" in words(page)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a.jsonl: the file is empty"),
        ("{", "a.jsonl:1: "),
        (f"{JSONL}\n[1]\n", "a.jsonl:4: "),
        (b"\xff\xfe", "a.jsonl:1: the text isn't UTF-8"),
        (json.dumps({"prediction": 1, "reference": "a"}), "a.jsonl:1: "),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_name_and_line(
    client: TestClient, text: str | bytes, says: str
) -> None:
    _, page = run(client, text)
    assert says in words(page)
    assert "/tmp" not in words(page)
    assert "upload-0" not in page


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a.txt", "the name has to end in .jsonl"),
        ("a", "the name has to end in .jsonl"),
        ("", "choose a file"),
    ],
)
def test_an_upload_that_cannot_be_scored_is_refused_at_once(
    client: TestClient, name: str, says: str
) -> None:
    answer = sent(client, JSONL, name)
    assert answer.status_code == 422
    assert says in words(answer.text)


def runs_of(client: TestClient) -> Any:
    app: Any = client.app
    return app.state.runs


def test_a_run_can_be_stopped() -> None:
    with calling() as client:
        address = sent(client, RUNAWAY, "a.jsonl", ["regex_match"]).headers["location"]
        assert '<noscript><meta http-equiv="refresh"' in client.get(address).text
        client.post(f"{address}/stop")
        assert "The run was stopped." in ended(client, address)


def test_a_file_that_takes_too_long_is_ended() -> None:
    with calling(ServerSettings(limits=ServerLimits(upload_seconds=0.5))) as client:
        _, page = run(client, RUNAWAY, "a.jsonl", ["regex_match"])
        assert "it didn't finish within 0.5 seconds" in words(page)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its memory")
def test_a_file_that_takes_too_much_memory_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with calling(ServerSettings(limits=ServerLimits(memory=1024 << 20))) as client:
        with monkeypatch.context() as patched:
            patched.setattr("metrichub.app.jobs.score_files", grow)
            _, page = run(client, JSONL)
        assert "it needed more than 1,024 MB of memory, or crashed" in words(page)
        assert "0.250" in run(client, JSONL)[1]


def test_one_run_keeps_no_other_waiting_but_two_do() -> None:
    with calling(ServerSettings(limits=ServerLimits(workers=2))) as client:
        first = sent(client, RUNAWAY, "a.jsonl", ["regex_match"]).headers["location"]
        run(client, JSONL)
        sent(client, RUNAWAY, "a.jsonl", ["regex_match"])
        third = sent(client, JSONL).headers["location"]
        assert client.get(f"{third}/state").json()["state"] == "waiting"
        client.post(f"{first}/stop")
        assert "0.250" in ended(client, third)


def test_the_oldest_runs_are_removed_and_too_many_at_a_time_are_refused() -> None:
    with calling(ServerSettings(limits=ServerLimits(waiting=2, runs=2))) as client:
        first, _ = run(client, JSONL)
        folder = runs_of(client).folder / first.rpartition("/")[2]
        assert folder.is_dir()
        going = [sent(client, RUNAWAY, "a.jsonl", ["regex_match"]) for _ in range(2)]
        assert client.get(first).status_code == 404
        assert not folder.exists()
        assert sent(client, JSONL).status_code == 503
        client.post(f"{going[0].headers['location']}/stop")


def test_nothing_stays_when_the_server_ends() -> None:
    with calling() as client:
        address, _ = run(client, JSONL)
        run(client, JSONL)
        folder: Path = runs_of(client).folder
        assert (folder / address.rpartition("/")[2] / "scores.json").is_file()
        # The file itself isn't needed once it is scored.
        assert not list(folder.rglob("upload*"))
    assert not folder.exists()


def test_ids_of_runs_cannot_be_guessed_and_states_tell_samples_and_stage(
    client: TestClient,
) -> None:
    addresses = [run(client, JSONL)[0] for _ in range(2)]
    ids = {address.rpartition("/")[2] for address in addresses}
    # 18 random bytes in base64.
    assert {len(number) for number in ids} == {24}
    assert len(ids) == 2
    state = client.get(f"{addresses[0]}/state").json()
    assert state == {"state": "done", "done": 0, "total": None, "told": "Writing …"}


def test_a_file_without_a_place_is_refused_before_any_of_it_is_read() -> None:
    with calling(ServerSettings(limits=ServerLimits(waiting=1))) as client:
        going = sent(client, RUNAWAY, "a.jsonl", ["regex_match"]).headers["location"]
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = client.post("/", content=b"", headers=headers)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        client.post(f"{going}/stop")
        assert client.post("/", content=b"", headers=headers).status_code != 503


def test_a_saved_report_is_opened_with_the_same_scores(client: TestClient) -> None:
    address, _ = run(client, JSONL, "a.jsonl", ["wer", "rouge"])
    saved = client.get(f"{address}/report.json.gz").content
    for name, content in (("b.json.gz", saved), ("b.json", gzip.decompress(saved))):
        again, opened = run(client, content, name, [])
        assert "wer" in words(opened)
        scores = [client.get(f"{run}/scores.csv").text for run in (address, again)]
        assert scores[0] == scores[1]


def test_saved_reports_are_compared_with_one_another_alone(client: TestClient) -> None:
    address, _ = run(client, JSONL)
    saved = client.get(f"{address}/report.json.gz").content
    reports = [("file", (f"{name}.json.gz", saved)) for name in "ab"]
    both, _ = run_of(client, reports)
    assert client.get(f"{both}/scores.json").json()["baseline"] == "a"
    _, page = run_of(client, [reports[0], ("file", ("c.jsonl", JSONL))], metric="wer")
    assert "a saved report can be compared only with saved reports" in words(page)


def test_a_saved_report_that_unpacks_to_too_much_is_refused() -> None:
    bomb = gzip.compress(
        b'{"format": "metrichub-report-1", "results": "' + b"x" * (3 << 20) + b'"}'
    )
    with calling(ServerSettings(limits=ServerLimits(unpacked=1 << 20))) as client:
        _, page = run(client, bomb, "a.json.gz", [])
    assert "it unpacks to more than 1 MB" in words(page)


@pytest.mark.parametrize(
    "text",
    [
        JSONL,
        json.dumps(ROWS),
        "id,prediction,reference\nx,a b c,a b d\ny,d,d\n",
        "id;prediction;reference\nx;a b c;a b d\ny;d;d\n",
        "id\tprediction\treference\nx\ta b c\ta b d\ny\td\td\n",
    ],
)
def test_samples_can_be_pasted(client: TestClient, text: str) -> None:
    _, page = run_of(client, [], metric="wer", text=f"\n{text}\n")
    assert "0.250" in page


def test_megabytes_can_be_pasted_and_what_is_too_long_is_to_be_sent_as_a_file(
    client: TestClient,
) -> None:
    row = json.dumps({"prediction": "a " * 500_000, "reference": "a"})
    # As a browser sends them: each field is a part.
    parts = [("metric", (None, "exact_match")), ("text", (None, f"{row}\n{row}"))]
    address, _ = run_of(client, parts)
    assert client.get(f"{address}/scores.json").json()["samples"] == 2
    answer = client.post("/", files=[("text", (None, row * 5))])
    message = "up to 10 files, and 4 MB of pasted text; save longer text as a file, and choose that"
    assert (answer.status_code, message in words(answer.text)) == (400, True)


def test_a_lone_surrogate_harms_nothing(client: TestClient) -> None:
    row = '{"id": "\\ud800", "prediction": "\\ud800", "reference": "a"}'
    address, page = run(client, row)
    assert "1.000" in page
    for name in ("scores.json", "samples.csv", "samples.jsonl", "report.html", "report.json.gz"):
        assert client.get(f"{address}/{name}").status_code == 200
