"""Report files in a browser: hostile texts run nothing, and everyone can read them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub
from metrichub.report.html import write
from tests.browser.reports import ATTACKS, FEW, Told, unfold, write_many

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    """The address of a report whose texts, names, ids, reasons and marks are attacks."""
    path = tmp_path / "</script><img src=x onerror=alert(1)>.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    metrics = [Told(name=ATTACKS[0]), Told(name="constructor"), Hub("wer").metrics[0]]
    columns: dict[str, Any] = {"predictions": list(ATTACKS), "references": list(reversed(ATTACKS))}
    report = Hub(metrics).evaluate(**columns)
    systems = {ATTACKS[1]: report, ATTACKS[4]: report}
    write(path, systems, ids=ATTACKS, **FEW)
    return path.as_uri()


def test_hostile_texts_are_shown_and_never_run(page: Page, hostile: str) -> None:
    page.goto(hostile)
    page.get_by_label("Output", exact=True).select_option(index=1)
    for i in range(len(ATTACKS)):
        page.get_by_role("button", name=f"sample {i}").click()
    for i, attack in enumerate(ATTACKS):
        # A lone surrogate has no place in a page; NUL and separators are shown in some way.
        start = attack.split(" \u2028")[0]
        expect(page.locator(f"#sample-{i}")).to_contain_text(start)
    expect(page.locator("#samples")).to_contain_text(f"no score: {ATTACKS[0]}")
    assert page.evaluate("() => window.hit") is None
    heading = page.locator("h1")
    expect(heading).to_contain_text(f"{ATTACKS[4]} vs {ATTACKS[1]}: no significant difference on")
    expect(heading).to_contain_text(ATTACKS[0])
    expect(page.locator("body")).to_be_visible()
    assert (
        page.locator(
            "main a, main svg:not(.range, .chart, .key, #histogram, #scatter), main style"
        ).count()
        == 0
    )
    expect(page.locator("#scores thead")).to_contain_text(ATTACKS[1])
    # The name of a metric opens what it is about.
    page.locator("#scores .metric").first.click()
    expect(page.locator("#about-0")).to_be_visible()
    assert page.evaluate("() => window.hit") is None


def test_nothing_but_the_scripts_of_the_page_may_run(browser: Browser, small: str) -> None:
    # A page of its own, as the browser complains of what it refuses.
    page = browser.new_page()
    page.goto(small)
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
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    page.close()


@pytest.mark.parametrize(
    ("address", "scheme"), [("small", "dark"), ("two", "light"), ("two", "dark")]
)
def test_axe_finds_nothing_serious(
    page: Page,
    address: str,
    scheme: str,
    request: pytest.FixtureRequest,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(request.getfixturevalue(address))
    page.locator("#table tbody button").first.click()
    unfold(page)
    shoot(page, f"report-{address}-{scheme}")
    assert violations(page) == []


@pytest.mark.parametrize(("width", "scheme"), [(1400, "dark"), (800, "light"), (390, "light")])
def test_ten_systems_fit_at_any_width_with_all_parts_open(
    page: Page,
    tmp_path: Path,
    width: int,
    scheme: str,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(write_many(tmp_path, 10))
    # The answer and its tables, in two screens of the widest window.
    if width == 1400:
        assert page.locator("#samples").evaluate("made => made.offsetTop") < 1800
    unfold(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    # What is wider than its place can be scrolled to, and shows an edge that says so.
    for region in page.locator("#scores .wide").all():
        inside, outside = region.evaluate("made => [made.scrollWidth, made.clientWidth]")
        assert inside <= outside or region.get_attribute("tabindex") == "0"
    shoot(page, f"report-ten-{width}-{scheme}")
    assert violations(page) == []


def test_a_phone_shows_a_sample_without_scrolling_sideways(
    page: Page, two: str, shoot: Callable[[Page, str], None]
) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(two)
    page.locator("#table tbody button").first.click()
    shoot(page, "report-two-phone")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    box = page.locator(".sample > div").bounding_box()
    assert box is not None
    assert box["width"] <= 390


def test_a_printed_report_has_no_controls_and_shows_the_citations(
    page: Page, small: str, shoot: Callable[[Page, str], None]
) -> None:
    page.goto(small)
    expect(page.locator("#method pre")).not_to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("#controls")).not_to_be_visible()
    expect(page.locator("#pages")).not_to_be_visible()
    expect(page.locator("#method pre")).to_be_visible()
    expect(page.locator(".chart").first).to_be_visible()
    shoot(page, "report-small-print")
