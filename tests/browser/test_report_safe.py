"""Report files in a browser: hostile texts are shown and run nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub
from metrichub.report.html import write
from tests.browser.conversations import calling, turn, written
from tests.browser.reports import ATTACKS, FEW, Told, opened, unfold

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
# A lone surrogate has no place in a page; NUL and separators are shown in some way.
STARTS = [attack.split(" \u2028")[0] for attack in ATTACKS]


def hostile(folder: Path) -> str:
    """A report whose texts, names, ids, columns, reasons and marks are attacks."""
    path = folder / "</script><img src=x onerror=alert(1)>.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"prediction": attack, "reference": other, "id": attack}
        | {name: (i * k) % 5 for k, name in enumerate((*ATTACKS[:6], "__proto__"), 2)}
        for i, (attack, other) in enumerate(zip(ATTACKS, reversed(ATTACKS), strict=True))
    ]
    metrics = [Told(name=ATTACKS[0]), Told(name="constructor"), Hub("wer").metrics[0]]
    report = Hub(metrics).evaluate(rows)
    systems = {ATTACKS[1]: report, ATTACKS[4]: report}
    write(path, systems, ids=ATTACKS, human=ATTACKS[:6], **FEW)
    return path.as_uri()


def test_hostile_texts_and_columns_are_shown_and_never_run(page: Page, tmp_path: Path) -> None:
    page.goto(hostile(tmp_path))
    unfold(page)
    page.get_by_label("Output", exact=True).select_option(index=1)
    for i, start in enumerate(STARTS):
        expect(opened(page, i)).to_contain_text(start)
    expect(page.locator("#samples")).to_contain_text(f"unscored: {ATTACKS[0]}")
    heading = page.locator("h1")
    for name in (ATTACKS[1], ATTACKS[4]):
        expect(heading).to_contain_text(name)
    expect(heading).to_contain_text(ATTACKS[0])
    expect(page.locator("body")).to_be_visible()
    expect(page.locator("#scores thead")).to_contain_text(ATTACKS[1])
    # The name of a metric opens what it is about.
    page.locator("#scores .metric").first.click()
    expect(page.locator("#about-0")).to_be_visible()
    for name in ("Output", "Rating"):
        for choice in page.get_by_label(name, exact=True).locator("option").all():
            page.get_by_label(name, exact=True).select_option(label=choice.inner_text())
            page.locator("#scatter").press("End")
    page.get_by_role("button", name="Largest disagreements").click()
    expect(page.locator(".shares").first).to_be_visible()
    expect(page.locator("#people")).to_contain_text(ATTACKS[5])
    assert page.evaluate("() => window.hit") is None
    drawn = "svg:not(.range, .dot, .chart, .key, #histogram, #scatter, #kinds svg, .dumbbell)"
    for markup in (
        drawn,
        "a:not(.links a)",
        "style",
        "img[src='x']",
        "svg svg",
        "svg script",
        "svg [onload]",
    ):
        assert page.locator(f"main {markup}").count() == 0, markup


def test_hostile_messages_are_texts(page: Page, tmp_path: Path) -> None:
    chat = [
        message
        for k, attack in enumerate(ATTACKS)
        for message in (
            turn("user", attack, name=attack, retrieval_context=[attack]),
            calling(attack, (f"{k}", attack, {attack: attack})),
            turn("tool", attack, tool_call_id=f"{k}"),
        )
    ]
    page.goto(written(tmp_path, chat, words=("yes",)))
    sample = opened(page, 0)
    for summary in sample.locator(".conversation details").all():
        summary.evaluate("made => { made.open = true; }")
    for start in STARTS:
        expect(sample).to_contain_text(start)
    assert page.evaluate("() => window.hit") is None
    assert sample.locator("a, img, svg, style, script, h1").count() == 0


def test_nothing_but_the_scripts_of_the_page_may_run(browser: Browser, two: str) -> None:
    # A page of its own, as the browser complains of what it refuses.
    page = browser.new_page()
    page.goto(two)
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.hit = 1";
            const handler = document.createElement("div");
            handler.innerHTML = "<b onclick='window.hit = 2'>b</b>";
            document.body.append(script, handler);
            handler.firstChild.click();
        }"""
    )
    assert page.evaluate("() => window.hit") is None
    page.close()
