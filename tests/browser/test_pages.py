"""Report pages of every kind of data: all is readable, whatever shows it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from tests.browser.kinds import KINDS, LARGE
from tests.browser.reports import unfold

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

BOXES = Path(__file__).with_name("boxes.js").read_text(encoding="utf-8")
# Large pages take minutes, and are for those who look at them.
SHOWN = (*KINDS, *LARGE) if os.environ.get("METRICHUB_SCREENSHOTS") else KINDS
PAPER = {"width": 880, "height": 1000}
"""A4 with Chromium's margins, and a fifth: browsers shrink what is wider, and that is legible."""
OPEN = """() => {
    document.querySelector("#table tbody button[data-sample]").click();
    for (const made of document.querySelectorAll("details")) made.open = true;
}"""


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Callable[[Path], str]], str]:
    """The address of the page of a kind, written once."""
    return cache(lambda made: made(tmp_path_factory.mktemp(made.__name__)))


# Not by a parameter of the module: pytest would sort the tests by its hash.
@pytest.fixture(params=SHOWN, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest, written: Callable[..., str]) -> str:
    """The address of a page of each kind."""
    return written(request.param)


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


WATCH = """() => {
    const all = "a[href], button, input, select, textarea, summary, [tabindex='0']";
    const shown = [...document.querySelectorAll(all)].filter(
        made => !made.disabled && made.tabIndex >= 0 && made.checkVisibility());
    const reached = new Set(), wrong = [];
    const called = made => `${made.tagName}#${made.id} ${made.ariaLabel ?? made.textContent}`;
    addEventListener("focusin", ({ target }) => {
        reached.add(target);
        const { outlineStyle } = getComputedStyle(target);
        if (outlineStyle === "none") wrong.push(`unseen: ${called(target)}`);
        const [box] = target.getClientRects();
        const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
        const middle = (box.left + Math.min(box.right, innerWidth)) / 2;
        const at = document.elementFromPoint(middle, (top + bottom) / 2);
        if (!target.contains(at) && !at?.contains(target)) wrong.push(`hidden: ${called(target)}`);
    });
    window.result = () => [...wrong,
        ...shown.filter(made => !reached.has(made)).map(made => `not reached: ${called(made)}`)];
    return shown.length;
}"""


def walked(page: Page) -> list[str]:
    """What the Tab key doesn't reach in a page, or what one doesn't see when it does."""
    page.locator("#table tbody button[data-sample]").first.click()
    unfold(page)
    page.evaluate("() => document.activeElement.blur()")
    page.goto(f"{page.url.partition('#')[0]}#")
    for _ in range(page.evaluate(WATCH) + 9):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement === document.body"):
            return list(page.evaluate("() => result()"))
    return ["the focus never leaves the page"]


def test_the_keyboard_reaches_and_leaves_everything(page: Page, kind: str) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(kind)
    assert walked(page) == []


def printed(page: Page, kind: str) -> list[str]:
    """What is cut on paper, and the controls that are on it."""
    page.set_viewport_size(PAPER)  # type: ignore[arg-type]  # a size
    page.goto(kind)
    page.evaluate(OPEN)
    page.emulate_media(media="print")
    controls = page.locator("input, select, textarea, .buttons button, #theme").all()
    wrong = [str(one.evaluate("made => made.outerHTML")) for one in controls if one.is_visible()]
    return wrong + list(page.evaluate(BOXES, True))


def test_on_paper_nothing_is_cut_and_there_are_no_controls(
    page: Page, kind: str, shoot: Callable[[Page, str], None]
) -> None:
    wrong = printed(page, kind)
    shoot(page, f"{name_of(kind)}-print")
    assert wrong == []


def test_without_scripts_the_answer_and_the_tables_are_there(browser: Browser, kind: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(kind)
    assert page.locator("h1").inner_text()
    assert page.locator("#scores table, #ranges").first.is_visible()
    assert page.locator("noscript p").is_visible()
    for control in page.locator("input, select, textarea, .buttons button, #theme").all():
        assert not control.is_visible()
    page.close()
