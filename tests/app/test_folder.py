"""The folder of runs: they outlive their server, are bounded, and belong to a browser."""

from __future__ import annotations

import json
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

from metrichub.app.settings import ServerLimits, ServerSettings
from tests.app_client import Form, calling, ended, run_of, words

RECORD = "run.json"
ROW = json.dumps({"prediction": "a b", "reference": "a c"})
RUNAWAY = json.dumps({"prediction": "a" * 40 + "!", "patterns": "(a+)+b"})


def kept_in(folder: Path, **limits: Any) -> ServerSettings:
    return ServerSettings(folder=folder, limits=ServerLimits(**limits))


def unending(client: TestClient) -> str:
    """The address of a run that doesn't end by itself."""
    answer = client.post(
        "/",
        data={"metric": "regex_match"},
        files={"file": ("a.jsonl", RUNAWAY)},
        follow_redirects=False,
    )
    return str(answer.headers["location"])


def run(client: TestClient, *names: str, text: str = ROW, metric: str = "wer") -> str:
    """The id of a run that has ended."""
    address, _ = run_of(client, [("file", (name, text)) for name in names], metric=metric)
    return address.rpartition("/")[2]


def listed(client: TestClient) -> dict[str, str]:
    """The ids of the runs that this browser sees, and their titles, in their order."""
    return dict(re.findall(r'<h2><a href="/runs/([^"]+)">([^<]*)<', client.get("/runs").text))


def names_of(client: TestClient) -> list[str]:
    return list(listed(client).values())


def do(client: TestClient, what: str, *ids: str, **headers: Any) -> Any:
    data = {"do": what, "run": ids}
    return client.post("/runs", data=data, headers=headers, follow_redirects=False)


def test_a_run_is_there_after_the_server_was_started_again(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        id = run(client, "a.jsonl")
        addresses = (f"/runs/{id}", f"/runs/{id}/samples.csv", f"/runs/{id}/report.html")
        before = [client.get(address).text for address in addresses]
        cookies = client.cookies
    with calling(kept_in(tmp_path), cookies=cookies) as client:
        assert [client.get(address).text for address in addresses] == before
        page = words(client.get("/runs").text)
    # One of two reference words is replaced.
    assert "a.jsonl done · 1 sample" in page
    assert "a.jsonl scores 0.500 on wer." in page


def test_the_newest_is_first_with_its_result(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        run(client, "a.jsonl")
        run(client, "b.jsonl", "c.jsonl")
        assert names_of(client) == ["b, c", "a.jsonl"]
        message = words(client.get("/runs").text)
        assert "No significant difference between b and c on wer" in message


def test_one_run_or_several_can_be_deleted(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        ids = [run(client, f"{i}.jsonl") for i in range(4)]
        client.post(f"/runs/{ids[0]}/delete")
        assert names_of(client) == ["3.jsonl", "2.jsonl", "1.jsonl"]
        assert client.get(f"/runs/{ids[0]}").status_code == 404
        assert do(client, "delete", *ids[1:3]).status_code == 303
        assert names_of(client) == ["3.jsonl"]
        assert [path.name for path in tmp_path.iterdir()] == [ids[3]]


def test_a_run_that_is_being_scored_is_ended_when_it_is_deleted(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        address = unending(client)
        client.post(f"{address}/delete")
        assert names_of(client) == []
        assert list(tmp_path.iterdir()) == []


def test_a_run_is_listed_for_its_browser_and_read_by_all(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        id = run(client, "mine.jsonl")
        cookies = dict(client.cookies)
        client.cookies.clear()
        assert names_of(client) == []
        page = client.get(f"/runs/{id}").text
        assert "<iframe" in page
        assert "<form" not in page
        # Another browser has a cookie of its own.
        run(client, "other.jsonl")
        assert names_of(client) == ["other.jsonl"]
        assert "Delete this run" not in client.get(f"/runs/{id}").text
        client.cookies.clear()
        client.cookies.update(cookies)
        assert "Delete this run" in client.get(f"/runs/{id}").text


@pytest.mark.parametrize("cookie", ["", "short", "x" * 24, "é" * 24])
def test_only_the_browser_that_began_a_run_changes_it(tmp_path: Path, cookie: str) -> None:
    with calling(kept_in(tmp_path)) as client:
        id, going = run(client, "a.jsonl"), unending(client)
        identity = client.cookies["metrichub"]
        client.cookies.clear()
        headers = {"Cookie": f"metrichub={cookie}".encode()}
        again = {"run": going.rpartition("/")[2], "do": "score"}
        for address in (f"/runs/{id}/delete", f"{going}/stop", "/"):
            answer = client.post(address, data=again, headers=headers)
            assert answer.status_code == 403
            assert "only the browser that began a run" in words(answer.text)
        assert do(client, "delete", id, **headers).status_code == 403
        assert client.get(f"{going}/state").json()["state"] in ("waiting", "running")
        assert (tmp_path / id / RECORD).exists()
        client.cookies.set("metrichub", identity)
        client.post(f"{going}/delete")


def test_no_record_holds_the_cookie(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        id = run(client, "a.jsonl")
        cookie = client.cookies["metrichub"]
        assert len(cookie) >= 24
        assert cookie not in (tmp_path / id / RECORD).read_text()
        answer = client.post("/", data={"metric": "wer"}, files={"file": ("a.jsonl", ROW)})
        (sent,) = [header for header in answer.history[0].headers.get_list("set-cookie")]
    # Nobody's script reads it, and no other site sends a form with it.
    assert cookie in sent
    assert "HttpOnly" in sent
    assert "SameSite=lax" in sent


def test_runs_can_be_compared_the_oldest_as_the_baseline(tmp_path: Path) -> None:
    better = json.dumps({"prediction": "a c", "reference": "a c"})
    with calling(kept_in(tmp_path)) as client:
        old, new = run(client, "old.jsonl"), run(client, "new.jsonl", text=better)
        both = do(client, "compare", new, old).headers["location"]
        ended(client, both)
        scores = client.get(f"{both}/scores.json").json()["scores"]
        assert (scores["old"]["wer"]["score"], scores["new"]["wer"]["score"]) == (0.5, 0)
        id = both.rpartition("/")[2]
        for ids in ((old,), (), (id, old)):
            answer = do(client, "compare", *ids)
            assert answer.status_code == 422
            assert "tick two or more runs" in words(answer.text)


def test_a_run_in_hand_when_the_server_stopped_is_shown_as_ended(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        address = unending(client)
        cookies = client.cookies
    with calling(kept_in(tmp_path), cookies=cookies) as client:
        page = client.get(address).text
        assert "the server stopped before this run finished" in words(page)
        assert "Score a" in words(page)
        fields = Form(page).fields | {"do": "score"}
        client.post("/", data=fields, follow_redirects=False)
        assert client.get(f"{address}/state").json()["state"] in ("waiting", "running")
        client.post(f"{address}/stop")


def test_half_a_file_is_not_scored_later(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path)) as client:
        id = run(client, "a.jsonl", text="{")
        upload = tmp_path / id / "upload-0.jsonl"
        assert "a.jsonl:1: broken JSON" in words(client.get(f"/runs/{id}").text)
        upload.rename(upload.with_suffix(".part"))
        assert client.post("/", data={"run": id, "do": "score"}).status_code == 422
        assert client.get(f"/runs/{id}/state").json()["state"] == "failed"


def test_the_oldest_make_room_by_number_and_by_bytes(tmp_path: Path) -> None:
    with calling(kept_in(tmp_path, runs=2)) as client:
        for i in range(3):
            run(client, f"{i}.jsonl")
        assert names_of(client) == ["2.jsonl", "1.jsonl"]
        cookies = client.cookies
    # No run fits into one byte; the newest is kept in any case.
    with calling(kept_in(tmp_path, runs_bytes=1), cookies=cookies) as client:
        run(client, "3.jsonl")
        assert names_of(client) == ["3.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_nobody_else_on_the_machine_can_read_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "runs"
    with calling(kept_in(folder)) as client:
        id = run(client, "a.jsonl")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / id)]
    assert modes == [0o700, 0o700]


@pytest.mark.parametrize(
    "id",
    ["%2e%2e", "..%2f..%2fetc", "%00", "a" * 24, "state", "delete", "a" * 5000],
)
def test_no_id_leads_out_of_the_folder(tmp_path: Path, id: str) -> None:
    (tmp_path / RECORD).write_text("{}")
    with calling(kept_in(tmp_path / "runs")) as client:
        for address in (f"/runs/{id}/scores.json", f"/runs/{id}", f"/runs/{id}/run.json"):
            assert client.get(address, follow_redirects=False).status_code in (404, 405)
        assert client.post(f"/runs/{id}/delete").status_code in (404, 405)
        assert do(client, "delete", id).status_code in (403, 404)
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
        planted(folder, id, files=[f"a{suffix}"], id="../..")
        assert [path.name for path in (folder / id).iterdir() if "secret" in path.name] == []
        client.post("/", data={"run": id, "do": "score"})
        assert client.get(f"/runs/{id}/state").json()["state"] == "failed"
        summary = {"size": 1, "table": "", "signatures": [], "notes": [],
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
        assert listed(client) == {}
        assert client.get(f"/runs/{id}").status_code == 404
        assert client.post(f"/runs/{id}/delete").status_code == 404
    assert (moved / RECORD).exists()
