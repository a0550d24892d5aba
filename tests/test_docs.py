"""The examples in the pages of docs/ run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = [path.name for path in sorted(DOCS.glob("*.md")) if ">>>" in path.read_text("utf-8")]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page: str) -> None:
    found = doctest.testfile(str(DOCS / page), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0
