"""Merging call stores: answers of other machines come in, and none is lost or changed."""

from pathlib import Path

import pytest

from metrichub.errors import JudgeUnavailable
from metrichub.models.store import Store
from metrichub.models.usage import Answer
from tests.commands import error, run

FOLDERS = ("one", "two")


@pytest.fixture(autouse=True)
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: None) -> None:
    """Two stores that share an answer, each in a folder of its own, and an empty one here."""
    monkeypatch.chdir(tmp_path)
    for name in FOLDERS:
        store = Store(Path(name, "calls.sqlite"))
        store.put("both", "m", Answer(f"of {name}", 1, 2))
        store.put(name, "m", Answer(name))
        store.close()


def test_answers_that_are_lacking_are_taken_in_and_the_first_of_two_stays() -> None:
    store = Store(Path("here.sqlite"))
    assert [store.merge(Path(name, "calls.sqlite")) for name in FOLDERS] == [2, 1]
    assert store.get("both") == Answer("of one", 1, 2)
    assert store.get("two") == Answer("two")
    assert store.merge(Path("two", "calls.sqlite")) == 0
    assert Store(Path("two", "calls.sqlite")).get("both") == Answer("of two", 1, 2)


def test_a_file_that_is_no_store_takes_nothing_in_and_is_left_as_it_is() -> None:
    store, text = Store(Path("here.sqlite")), Path("text.sqlite")
    text.write_text("no data base, whatever its name says, of some length\n" * 40)
    for path in (text, Path("nowhere.sqlite")):
        with pytest.raises(JudgeUnavailable, match=path.name):
            store.merge(path)
    assert (len(store), Path("nowhere.sqlite").exists()) == (0, False)
    assert store.merge(Path("one", "calls.sqlite")) == 2


def test_the_command_takes_files_and_folders() -> None:
    merged = run("cache", "merge", "one", str(Path("two", "calls.sqlite")))
    assert merged.exit_code == 0, merged.stderr
    first, second, last = merged.stdout.splitlines()
    assert first.endswith("calls.sqlite: 2 answers merged")
    assert second.endswith("calls.sqlite: 1 answers merged")
    assert last.endswith("calls.sqlite: 3 answers")
    assert "there is no call store three" in error(run("cache", "merge", "one", "three"), 2)
