"""The call store: what becomes of runs, answers and commands where its file fails."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.errors import JudgeUnavailable
from metrichub.models import store as stores
from metrichub.models.store import DamagedStore, Store, store, store_path, stored_files
from metrichub.models.usage import Answer
from tests.commands import error, run
from tests.judge_stub import Asked, Reply, Stub, answer, completion
from tests.judge_toys import columns, spec

pytestmark = pytest.mark.usefixtures("alone")


def hub(stub: Stub, **more: Any) -> Hub:
    return Hub("faithfulness", judge=spec(stub, **({"concurrency": 1} | more)))


def text_instead(path: Path) -> None:
    path.write_text("no data base, whatever its name says, of some length\n" * 40)


def cut_off(path: Path) -> None:
    """A store with a page that holds something else."""
    with closing(Store(path)) as answers:
        for i in range(500):
            answers.put(f"{i:064}", "m", Answer("x" * 100))
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * 4096 * 3 + content[4 * 4096 :])


@pytest.mark.parametrize("damage", [text_instead, cut_off])
def test_a_damaged_store_is_moved_aside_with_a_warning_and_a_new_one_begun(
    stub: Stub, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    store_path().parent.mkdir()
    damage(store_path())
    before = store_path().read_bytes()
    with caplog.at_level(logging.WARNING, "metrichub"):
        for _ in range(2):
            assert hub(stub).evaluate(**columns(2)).scores() == {"faithfulness": {"score": 0.5}}
    messages = [record.getMessage() for record in caplog.records]
    aside = store_path().with_name("calls.damaged-1.sqlite")
    assert f"so it was moved to {aside}; a new one begins empty" in messages[-1]
    assert aside.read_bytes() == before
    assert hub(stub).evaluate(**columns(2)).usage.calls == 0
    # Another damage gets another name.
    for file in stored_files():
        file.unlink()
    text_instead(store_path())
    assert not hub(stub).evaluate(**columns(2)).failed
    assert store_path().with_name("calls.damaged-2.sqlite").exists()


def test_the_doctor_says_what_is_wrong_and_leaves_it() -> None:
    def messages() -> str:
        return str(json.loads(run("doctor", "--format", "json").stdout)["call store"])

    assert messages() == "0 answers"
    assert not store_path().exists()
    store().put("key", "m", Answer("{}"))
    assert messages() == "1 answers"
    store().close()
    store_path().unlink()
    text_instead(store_path())
    assert "is damaged: file is not a database; the next run moves it aside" in messages()
    assert store_path().read_text().startswith("no data base")


@pytest.mark.parametrize("damage", [text_instead, cut_off])
def test_the_cache_can_always_be_cleared(damage: Callable[[Path], None]) -> None:
    store_path().parent.mkdir()
    damage(store_path())
    assert run("cache", "clear", "--yes").exit_code == 0
    assert not list(store_path().parent.glob("calls*"))
    with closing(Store(store_path())) as newer:
        newer._do("PRAGMA user_version = 99")
    assert "a newer version" in error(run("cache", "info"), 4)
    assert run("cache", "clear", "--yes").exit_code == 0
    assert json.loads(run("cache", "info", "--format", "json").stdout)["models"] == {}


def test_a_file_of_the_users_own_is_never_moved(tmp_path: Path) -> None:
    text_instead(tmp_path / "mine.sqlite")
    with pytest.raises(DamagedStore, match=r"mine\.sqlite is damaged"):
        Store(tmp_path / "mine.sqlite")
    assert [path.name for path in tmp_path.glob("*.sqlite")] == ["mine.sqlite"]


def test_a_run_goes_on_without_a_store_that_another_process_keeps_and_says_so_once(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stores, "_PATIENCE", 0.001)
    hub(stub).evaluate(**columns(1))
    judge = spec(stub, concurrency=1)
    with closing(sqlite3.connect(store_path(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.WARNING, "metrichub"):
            both = [
                f"a = faithfulness(judge={judge!r})",
                f"b = faithfulness(judge={judge!r}, idk=1)",
            ]
            usage = Hub(both).evaluate(**columns(3)).usage
    # What is stored was read before; the run itself knows what it was told.
    assert (usage.calls, usage.cached) == (4, 8)
    [message] = [record.getMessage() for record in caplog.records]
    assert "locked; set METRICHUB_CACHE" in message
    assert message.endswith("the run goes on without it")
    # The next run uses it again.
    assert hub(stub).evaluate(**columns(3)).usage.calls == 4
    assert hub(stub).evaluate(**columns(3)).usage.calls == 0


def test_a_store_that_is_deleted_during_a_run_is_begun_anew(stub: Stub) -> None:
    def deleted_early(asked: Asked) -> Reply:
        # Of the three samples' six answers the first two are stored by then.
        if len(stub.asked) == 3:
            shutil.rmtree(store_path().parent)
        return completion(json.dumps(answer(asked)))

    stub.always = deleted_early
    assert hub(stub).evaluate(**columns(3)).usage.calls == 6
    assert len(store()) == 4


PROGRAM = """
import sys
from pathlib import Path
from metrichub.models.store import Store
from metrichub.models.usage import Answer
sys.stdin.readline()
Store(Path(sys.argv[1])).put(sys.argv[2], "m", Answer("{}"))
"""


def test_processes_that_begin_a_store_at_the_same_time_do_not_disturb_each_other(
    tmp_path: Path,
) -> None:
    path = tmp_path / "calls.sqlite"
    command = [sys.executable, "-c", PROGRAM, str(path)]
    running = [
        subprocess.Popen([*command, str(i)], stdin=subprocess.PIPE, text=True) for i in range(6)
    ]
    for process in running:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.wait(60) for process in running] == [0] * 6
    with closing(Store(path)) as answers:
        assert len(answers) == 6


def test_a_folder_that_nobody_may_make_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICHUB_CACHE", __file__)
    with pytest.raises(JudgeUnavailable, match=r"can't be used: .*; set METRICHUB_CACHE to"):
        store()


def test_a_folder_in_place_of_the_file_is_one_line() -> None:
    store_path().mkdir(parents=True)
    for command in (["cache", "info"], ["cache", "clear", "--yes"]):
        assert "can't be used: " in error(run(*command), 4)
    assert "can't be used: " in " ".join(run("doctor").stdout.split())
