"""What several test modules share."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from metrichub.catalog.registry import registry
from tests import judge_stub
from tests.allowed_skips import pytest_addoption, pytest_configure

__all__ = ["pytest_addoption", "pytest_configure"]

# A busy machine is slow, not wrong. The same texts are drawn each time, so that no run fails by
# chance; --hypothesis-profile=search draws ten times as many others, and remembers those that fail.
settings.register_profile("metrichub", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("search", deadline=None, max_examples=600)
settings.load_profile("metrichub")


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
