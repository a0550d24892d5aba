"""Report pages of every kind of data: all is readable, whatever shows it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from tests.browser.kinds import KINDS, LARGE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

BOXES = Path(__file__).with_name("boxes.js").read_text(encoding="utf-8")
# Large pages take minutes, and are for those who look at them.
SHOWN = (*KINDS, *LARGE) if os.environ.get("METRICHUB_SCREENSHOTS") else KINDS
OPEN = """() => {
    document.querySelector("#table tbody button[data-sample]").click();
    for (const made of document.querySelectorAll("details")) made.open = true;
}"""


@pytest.fixture(scope="module", params=SHOWN, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of each kind."""
    return str(request.param(tmp_path_factory.mktemp(request.param.__name__)))


def name_of(address: str) -> str:
    return Path(address).parent.name.rstrip("0")


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (800, "dark"), (390, "dark")])
def test_nothing_is_cut_or_covered(
    page: Page,
    kind: str,
    width: int,
    scheme: str,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(kind)
    wrong = page.evaluate(BOXES, False)
    shoot(page, f"{name_of(kind)}-{width}-{scheme}")
    page.evaluate(OPEN)
    wrong += [f"opened: {line}" for line in page.evaluate(BOXES, False) if line not in wrong]
    shoot(page, f"{name_of(kind)}-{width}-{scheme}-opened")
    assert wrong == []
    # It takes seconds; what is opened is least on a phone.
    if width == 390:
        assert violations(page) == []


def test_without_scripts_the_answer_and_the_tables_are_there(browser: Browser, kind: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(kind)
    assert page.locator("h1").inner_text()
    assert page.locator("#scores table, #ranges").first.is_visible()
    assert page.locator("noscript p").is_visible()
    for control in page.locator("input, select, textarea, .buttons button, #theme").all():
        assert not control.is_visible()
    page.close()
