"""A claim of a process that was killed holds nobody up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from metrichub.models.store import Store, has_ended, new_owner

ELSEWHERE = "0123/1/a-machine-of-another-name"
PROGRAM = """
import sys
import time
from pathlib import Path
from metrichub.models.store import Store, new_owner
name = new_owner()
assert Store(Path(sys.argv[1])).claim("key", name)
print(name, end="")
"""


@pytest.fixture
def ended(tmp_path: Path) -> str:
    """The owner of a claim in calls.sqlite whose process has ended."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "calls.sqlite")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_claim_of_a_process_that_has_ended_is_free_at_once(ended: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "calls.sqlite")
    assert has_ended(ended)
    assert store.claim("key", "mine")
    assert not store.claim("key", ELSEWHERE)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_a_process_that_nobody_took_note_of_has_ended_too() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "print('here', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout
    child.stdout.readline()
    name = new_owner().split("/")
    name[1] = str(child.pid)
    assert not has_ended("/".join(name))
    child.kill()
    # Wait for its end, but leave it there, as a parent does that doesn't ask.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert has_ended("/".join(name))
    child.communicate()


@pytest.mark.parametrize("holder", ["", ELSEWHERE, "0123", "0123/x/y"])
def test_a_claim_holds_while_nobody_knows_that_its_process_has_ended(
    holder: str, tmp_path: Path
) -> None:
    store, holder = Store(tmp_path / "calls.sqlite"), holder or new_owner()
    assert store.claim("key", holder)
    assert not store.claim("key", "mine")
    store.release("key", holder)
    assert store.claim("key", "mine")


def test_windows_is_asked_nothing(ended: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert not has_ended(ended)
