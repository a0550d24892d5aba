"""The app in a browser: hostile texts, barriers and narrow screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.app_browser import HOSTILE, lines

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture
def untouched(page: Page) -> Iterator[Page]:
    """A page on which nothing of a hostile text must run."""
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    yield page
    assert opened == []
    nothing_ran(page)


def nothing_ran(page: Page) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("getComputedStyle(document.body).display") != "none"
    assert page.locator("main img, main svg, main script, main iframe").count() == 0
    assert page.locator("a[href^='javascript' i]").count() == 0


def test_hostile_texts_run_nothing_in_a_form_and_a_run(untouched: Page, home: str) -> None:
    page = untouched
    page.goto(f"{home}/?metric=exact_match")
    page.locator("summary", has_text="Paste samples").click()
    rows = [{"prediction": text, "reference": text, "id": text} for text in HOSTILE]
    page.get_by_label("Samples", exact=True).fill(lines(rows))
    page.get_by_label("With parameters").fill(f"x = {HOSTILE[0]}")
    page.get_by_role("button", name="Score").last.click()
    # The spec is refused and shown; then the samples are scored.
    expect(page.get_by_role("alert")).to_contain_text("<script>")
    nothing_ran(page)
    page.go_back()
    expect(page.get_by_label("Samples", exact=True)).to_have_value(lines(rows))
    page.get_by_label("With parameters").fill("")
    page.get_by_role("button", name="Score").last.click()
    expect(page.locator(".scroll table")).to_contain_text("1.000")
    nothing_ran(page)


def test_a_hostile_card_is_shown_and_runs_nothing(untouched: Page, home: str) -> None:
    untouched.goto(f"{home}/metrics/hostile")
    expect(untouched.locator("article")).to_contain_text("window.hacked = 1")


def test_a_hostile_file_runs_nothing_in_its_page_and_its_report(
    untouched: Page, home: str, tmp_path: Path
) -> None:
    page = untouched
    rows = [{"id": text, "prediction": text, "reference": text} for text in HOSTILE]
    rows += [{text: text, "prediction": "a", "reference": "b"} for text in HOSTILE]
    name = "<img src=x onerror=alert(1)>'\".jsonl"
    page.goto(home)
    page.get_by_label("File").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": lines(rows).encode()}
    )
    page.locator("#_metrics > summary").click()
    page.get_by_label("exact_match", exact=True).check()
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x")
    address = page.url
    page.get_by_role("link", name="Open the report").click()
    expect(page.get_by_role("heading", name="Distribution over the samples")).to_be_visible()
    expect(page.locator("body")).to_contain_text("exact_match")
    assert page.evaluate("window.hacked") is None
    page.goto(address)


PAGES = (
    "/",
    "/?metric=bleu&example=1",
    "/metrics",
    "/metrics/bleu",
    "/metrics/fluency",
    "/runs",
)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 390)])
def test_no_page_has_a_serious_barrier(
    page: Page,
    home: str,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
    scheme: str,
    width: int,
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for path in PAGES:
        page.goto(f"{home}{path}", wait_until="load")
        assert violations(page) == [], path
        shoot(page, f"app-{path.strip('/').partition('?')[0].replace('/', '-')}-{scheme}-{width}")


def test_no_page_scrolls_sideways_on_a_phone(page: Page, home: str) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    for path in PAGES:
        page.goto(f"{home}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
