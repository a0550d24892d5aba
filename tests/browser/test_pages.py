"""Report pages of every kind of data: all is readable, whatever shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from tests.browser import kinds
from tests.browser.reports import unfold

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

BOXES = Path(__file__).with_name("boxes.js").read_text(encoding="utf-8")
PAPER = (880, 1000)
"""A4 with Chromium's margins, and a fifth: browsers shrink what is wider, and that is legible."""
OPEN = """() => {
    document.querySelector("#table tbody button[data-sample]").click();
    for (const made of document.querySelectorAll("details")) made.open = true;
}"""
CONTROLS = "input, select, textarea, .buttons button, #theme"


def shown(page: Page, address: str, width: int, height: int, scheme: str = "light") -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", media="screen")
    page.goto(address)


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


@pytest.mark.parametrize("kind", kinds.KINDS, ids=lambda kind: kind.__name__)
def test_a_page_is_readable_on_any_screen_on_paper_by_keys_and_without_scripts(
    page: Page,
    browser: Browser,
    kind: Callable[[Path], str],
    tmp_path: Path,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
) -> None:
    address, wrong = kind(tmp_path), {}
    for width, scheme in ((1400, "light"), (800, "dark"), (390, "dark")):
        shown(page, address, width, 900, scheme)
        wrong[width] = page.evaluate(BOXES, False)
        shoot(page, f"{kind.__name__}-{width}-{scheme}")
        page.evaluate(OPEN)
        wrong[width, "opened"] = page.evaluate(BOXES, False)
        shoot(page, f"{kind.__name__}-{width}-{scheme}-opened")
        # It takes seconds; what is opened is least on a phone.
        if width != 800:
            wrong[width, "axe"] = violations(page)
    shown(page, address, 1400, 900)
    wrong["keys"] = walked(page)
    shown(page, address, *PAPER)
    page.evaluate(OPEN)
    page.emulate_media(media="print")
    controls = [control for control in page.locator(CONTROLS).all() if control.is_visible()]
    wrong["controls on paper"] = [entry.evaluate("made => made.outerHTML") for entry in controls]
    wrong["paper"] = page.evaluate(BOXES, True)
    shoot(page, f"{kind.__name__}-print")
    plain = browser.new_page(java_script_enabled=False)
    plain.goto(address)
    for place in ("h1", "#scores table, #ranges", "noscript p"):
        assert plain.locator(place).first.is_visible()
    controls = [control for control in plain.locator(CONTROLS).all() if control.is_visible()]
    wrong["controls without scripts"] = [row.evaluate("made => made.outerHTML") for row in controls]
    plain.close()
    assert {where: what for where, what in wrong.items() if what} == {}


METRICS = ("bleu", "chrf", "rouge", "ter", "meteor", "wer")


@pytest.mark.parametrize(("number", "answer"), [(2, "#ranges"), (6, "#board"), (10, "#board")])
def test_a_comparison_takes_four_screens_and_its_answer_the_first(
    page: Page, tmp_path: Path, number: int, answer: str
) -> None:
    address = kinds.page(tmp_path, METRICS, kinds.summaries(number), explained=1)
    shown(page, address, 1400, 900)
    page.locator("#table tbody tr").first.wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") <= 4 * 900
    box = page.locator(answer).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900
