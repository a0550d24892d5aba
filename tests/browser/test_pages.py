"""Report pages of every kind of data: all is readable, whatever shows it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from tests.browser.kinds import KINDS, LARGE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

# Large pages take minutes, and are for those who look at them.
SHOWN = (*KINDS, *LARGE) if os.environ.get("METRICHUB_SCREENSHOTS") else KINDS


@pytest.fixture(scope="module", params=SHOWN, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of each kind."""
    return str(request.param(tmp_path_factory.mktemp(request.param.__name__)))


def test_without_scripts_the_answer_and_the_tables_are_there(browser: Browser, kind: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(kind)
    assert page.locator("h1").inner_text()
    assert page.locator("#scores table, #ranges").first.is_visible()
    assert page.locator("noscript p").is_visible()
    for control in page.locator("input, select, textarea, .buttons button, #theme").all():
        assert not control.is_visible()
    page.close()
