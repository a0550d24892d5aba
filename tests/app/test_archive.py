"""The archive: runs outlive their server, are bounded, and may be shared by two servers."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

import anyio
from starlette.testclient import TestClient

from metrichub.app.archive import RECORD, Archive
from metrichub.app.settings import ServerLimits, ServerSettings
from tests.app_client import calling, calling_from, run_of, words

ROW = json.dumps({"prediction": "a b", "reference": "a c"})
RUNAWAY = json.dumps({"prediction": "a" * 40 + "!", "patterns": "(a+)+b"})


def kept_in(folder: Path, **limits: Any) -> ServerSettings:
    return ServerSettings(folder=folder, limits=ServerLimits(**limits))


def unending(client: TestClient) -> str:
    """The address of a run that doesn't end by itself."""
    answer = client.post(
        "/score",
        data={"metric": "regex_match"},
        files={"file": ("a.jsonl", RUNAWAY)},
        follow_redirects=False,
    )
    return str(answer.headers["location"])


def run(client: TestClient, *names: str, text: str = ROW, metric: str = "wer") -> str:
    """The id of a run that has ended."""
    address, _ = run_of(client, [("file", (name, text)) for name in names], metric=metric)
    return address.rpartition("/")[2]


def listed(client: TestClient) -> list[Any]:
    found: list[Any] = client.get("/api/runs").json()["runs"]
    return found


def names_of(client: TestClient) -> list[str]:
    return [one["name"] for one in listed(client)]


def test_a_run_is_there_after_the_server_was_started_again(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        id = run(client, "a.jsonl")
        addresses = (f"/runs/{id}", f"/runs/{id}/samples.csv", f"/runs/{id}/report.html")
        before = [client.get(address).text for address in addresses]
    with calling(kept_in(tmp_path)) as client:
        assert [client.get(address).text for address in addresses] == before
        (one,) = listed(client)
        page = words(client.get("/runs").text)
    # One of two reference words is replaced.
    score = {"metric": "wer", "output": "score", "system": "", "score": 0.5}
    assert score in one["scores"]
    assert (one["name"], one["state"], one["samples"]) == ("a.jsonl", "done", 1)
    assert "a.jsonl" in page
    assert "0.5000" in page


def test_a_comparison_is_there_after_the_server_was_started_again(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        id = run(client, "a.jsonl", "b.jsonl")
        before = client.get(f"/runs/{id}").text
    with calling(kept_in(tmp_path)) as client:
        assert client.get(f"/runs/{id}").text == before
        (one,) = listed(client)
    assert [score["system"] for score in one["scores"] if score["output"] == "score"] == ["a", "b"]


def test_the_newest_is_first_and_each_leads_to_its_page(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        first, second = run(client, "a.jsonl"), run(client, "b.jsonl")
        page = client.get("/runs").text
        assert names_of(client) == ["b.jsonl", "a.jsonl"]
        assert page.index(f'href="/runs/{second}"') < page.index(f'href="/runs/{first}"')
        assert client.get(f"/api/runs/{first}").json()["name"] == "a.jsonl"


def test_one_run_or_all_can_be_deleted(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        ids = [run(client, f"{i}.jsonl") for i in range(4)]
        client.post(f"/runs/{ids[0]}/delete")
        assert client.delete(f"/api/runs/{ids[1]}").json() == {"deleted": 1}
        assert names_of(client) == ["3.jsonl", "2.jsonl"]
        assert not (tmp_path / ids[0]).exists()
        assert client.get(f"/runs/{ids[0]}").status_code == 404
        client.post("/runs/delete")
        assert listed(client) == []
        run(client, "5.jsonl")
        assert client.delete("/api/runs").json() == {"deleted": 1}
        assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_being_scored_is_ended_when_it_is_deleted(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        address = unending(client)
        client.post("/runs/delete")
        assert names_of(client) == ["a.jsonl"]
        client.post(f"{address}/delete")
        assert listed(client) == []


def test_a_run_in_hand_when_the_server_stopped_is_shown_as_ended(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        address = unending(client)
    with calling(kept_in(tmp_path)) as client:
        (one,) = listed(client)
        assert (one["state"], one["error"]) == ("failed", "Interrupted")
        page = client.get(address).text
        assert "the server stopped before this run finished" in words(page)
        assert "Score again" in words(page)
        client.post(f"{address}/columns")
        assert client.get(f"{address}/state").json()["state"] in ("waiting", "running")
        client.post(f"{address}/stop")


def test_half_a_file_is_not_scored_later(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        id = run(client, "a.jsonl", text="{")
        upload = tmp_path / id / "upload-0.jsonl"
        assert "Score again" in words(client.get(f"/runs/{id}").text)
        upload.rename(upload.with_suffix(".part"))
        assert "Score again" not in words(client.get(f"/runs/{id}").text)
        client.post(f"/runs/{id}/columns")
        assert client.get(f"/runs/{id}/state").json()["state"] == "failed"


def test_the_oldest_make_room_by_number_and_by_bytes(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path, runs=2)) as client:
        for i in range(3):
            run(client, f"{i}.jsonl")
        assert names_of(client) == ["2.jsonl", "1.jsonl"]
    # No run fits into one byte; the newest is kept in any case.
    with calling(kept_in(tmp_path, runs_bytes=1)) as client:
        run(client, "3.jsonl")
        assert names_of(client) == ["3.jsonl"]


def test_nobody_sees_or_deletes_the_list_of_another() -> None:
    async def told() -> tuple[list[str], Any, str]:
        async with calling_from(ServerSettings(), "10.0.0.1", "10.0.0.2") as (first, other):
            files = {"file": ("mine.jsonl", ROW)}
            await first.post("/score", data={"metric": "wer"}, files=files)
            await other.post("/runs/delete")
            deleted = (await other.delete("/api/runs")).json()
            page = (await other.get("/runs")).text
            seen = [one["name"] for one in (await first.get("/api/runs")).json()["runs"]]
            return seen, deleted, page

    seen, deleted, page = anyio.run(told)
    assert seen == ["mine.jsonl"]
    assert deleted == {"deleted": 0}
    assert "mine.jsonl" not in page


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_nobody_else_on_the_machine_can_read_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "runs"
    with calling(kept_in(folder)) as client:
        id = run(client, "a.jsonl")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / id)]
    assert modes == [0o700, 0o700]


def test_two_servers_share_a_folder(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as first, calling(kept_in(tmp_path)) as second:
        ours = run(first, "ours.jsonl")
        theirs = run(second, "theirs.jsonl")
        assert names_of(first) == names_of(second) == ["theirs.jsonl", "ours.jsonl"]
        assert first.get(f"/runs/{theirs}/scores.json").status_code == 200
        assert second.delete(f"/api/runs/{ours}").json() == {"deleted": 1}
        assert names_of(first) == ["theirs.jsonl"]
        assert first.get(f"/runs/{ours}").status_code == 404


def test_what_another_living_server_scores_is_left_alone(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as first, calling(kept_in(tmp_path, runs=1)) as second:
        address = unending(first)
        run(second, "b.jsonl")
        assert names_of(second) == ["b.jsonl", "a.jsonl"]
        assert second.get(f"{address}/state").json()["state"] in ("waiting", "running")
        assert second.delete(f"/api{address}").status_code == 409
        first.post(f"{address}/stop")


def test_a_deleted_run_is_not_written_again(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    with calling(kept_in(tmp_path)) as client:
        record = archive.find(run(client, "a.jsonl"))
        assert record
        client.delete("/api/runs")
    archive.write(record)
    assert archive.all() == []
    archive.close()


@pytest.mark.parametrize(
    "id",
    ["%2e%2e", "..%2f..%2fetc", "%00", "a" * 24, "state", "delete", "a" * 5000],
)
def test_no_id_leads_out_of_the_folder(tmp_path: Path, id: str) -> None:
    (tmp_path / RECORD).write_text("{}")
    with calling(kept_in(tmp_path / "runs")) as client:
        for address in (f"/runs/{id}/scores.json", f"/api/runs/{id}", f"/runs/{id}/run.json"):
            assert client.get(address, follow_redirects=False).status_code in (404, 405)
        assert client.delete(f"/api/runs/{id}").status_code in (404, 405)
    assert (tmp_path / RECORD).exists()


def planted(folder: Path, run_id: str, **changed: Any) -> None:
    """Change the record of a run as somebody with an editor could."""
    path = folder / run_id / RECORD
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


@pytest.mark.parametrize("suffix", ["/../../../secret.jsonl", ".jsonl/../../secret", "", "\0"])
def test_a_record_that_was_changed_leads_nowhere(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "secret.jsonl").write_text(ROW)
    folder = tmp_path / "runs"
    with calling(kept_in(folder)) as client:
        id = run(client, "a.jsonl", text="{")
        planted(folder, id, files=[[suffix, "a"]], id="../..")
        assert [path.name for path in (folder / id).iterdir() if "secret" in path.name] == []
        client.post(f"/runs/{id}/columns")
        assert client.get(f"/runs/{id}/state").json()["state"] == "failed"
        summary = {"size": 1, "table": [["a"], []], "signatures": [], "notes": [],
                   "files": ["../../secret.jsonl", RECORD, "upload-0.jsonl"]}  # fmt: skip
        planted(folder, id, summary=summary, state="done")
        for name in ("..%2f..%2fsecret.jsonl", RECORD, "upload-0.jsonl"):
            assert client.get(f"/runs/{id}/{name}").status_code == 404


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", "\0"])
def test_a_record_that_is_broken_is_left_out(tmp_path: Path, content: str) -> None:
    with calling(kept_in(tmp_path)) as client:
        broken, _ = run(client, "a.jsonl"), run(client, "b.jsonl")
        (tmp_path / broken / RECORD).write_text(content)
        assert names_of(client) == ["b.jsonl"]
        assert client.get("/runs").status_code == 200
        assert client.get(f"/runs/{broken}").status_code == 404


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_is_no_run(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    with calling(kept_in(folder)) as client:
        id = run(client, "a.jsonl")
        moved = tmp_path / id
        (folder / id).rename(moved)
        (folder / id).symlink_to(moved)
        assert listed(client) == []
        assert client.get(f"/runs/{id}").status_code == 404
        client.delete("/api/runs")
    assert (moved / RECORD).exists()


HOSTILE: Sequence[str] = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "{{7*7}}",
    "javascript:alert(1)",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_metrics_are_only_text_in_the_list(tmp_path: Path, text: str) -> None:
    with calling(kept_in(tmp_path)) as client:
        run(client, f"{text.replace('/', '')}.jsonl", metric=text)
        page = client.get("/runs").text
    assert "<script>" not in page
    assert "<img" not in page
    assert ">49<" not in page
    assert text.replace("/", "")[:10] in words(page)
    assert 'href="javascript' not in page


@pytest.mark.parametrize(
    "header", [{"Origin": "http://evil.test"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_no_page_of_another_server_deletes_runs(tmp_path: Path, header: dict[str, str]) -> None:
    with calling(kept_in(tmp_path)) as client:
        id = run(client, "a.jsonl")
        for answer in (
            client.post(f"/runs/{id}/delete", headers=header),
            client.post("/runs/delete", headers=header),
            client.delete(f"/api/runs/{id}", headers=header),
            client.delete("/api/runs", headers=header),
        ):
            assert answer.status_code == 403
        for path in ("/runs", "/api/runs", f"/api/runs/{id}"):
            assert client.get(path, headers={"Host": "evil.test"}).status_code == 400
        assert names_of(client) == ["a.jsonl"]


def test_a_record_says_what_is_read_back(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    with calling(kept_in(tmp_path)) as client:
        found = archive.find(run(client, "a.jsonl", "b.jsonl"))
    assert found
    archive.write(replace(found, title="other"))
    again = archive.find(found.id)
    assert again == replace(found, title="other")
    archive.close()
