"""What several test modules share."""

import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from metrichub.catalog.registry import registry
from tests import judge_stub
from tests.allowed_skips import pytest_sessionfinish

__all__ = ["pytest_sessionfinish"]

# Thousands of short processes would each compile every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A busy machine is slow, not wrong. The same texts are drawn each time, so that no run fails by
# chance; --hypothesis-profile=search draws many others, and remembers those that fail.
settings.register_profile("metrichub", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("search", deadline=None, max_examples=600)
settings.load_profile("metrichub")


@pytest.fixture(autouse=True, scope="module")
def no_process_goes_on() -> Iterator[None]:
    """A worker process that outlives its module's tests fails the last of them, and ends."""
    yield
    left = multiprocessing.active_children()
    for process in left:
        # One that was told to end may need a while on a busy machine.
        process.join(60)
    going = [process for process in left if process.is_alive()]
    for process in going:
        process.kill()
    assert not going


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path; what is installed there is seen until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    registry.cache_clear()
    yield tmp_path
    registry.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith("toy_"):
            del sys.modules[name]


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call store and a key of the test's own."""
    monkeypatch.setenv("METRICHUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", judge_stub.KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("METRICHUB_NO_CACHE", "")


@pytest.fixture
def stub(alone: None) -> Iterator[judge_stub.Stub]:
    """A server on loopback that speaks as a judge."""
    with judge_stub.serving() as server:
        yield server


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A folder of a name that the first worker to ask fills for all of them."""
    from filelock import FileLock

    root = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        root = root.parent

    def folder(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = root / name, root / f"{name}.done"
        with FileLock(root / f"{name}.lock"):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                fill(folder)
                done.touch()
        return folder

    return folder
