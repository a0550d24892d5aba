"""A client of the app, for the tests that need no settings of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from starlette.testclient import TestClient


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A client of an app whose judge and embedder are baselines."""
    # Without the app's packages its tests are skipped, and this file is read all the same.
    from tests.app_client import calling

    with calling() as result:
        yield result
