"""The app in a browser: cards, files, reports, without scripts, and by the keyboard alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.app_browser import file_of
from tests.app_client import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
TRANSCRIPTS = "speech or text recognition: I have correct transcripts"


def open_metrics(page: Page) -> None:
    """Unfold the list of metrics, if it isn't."""
    if not page.get_by_label("With parameters").is_visible():
        page.locator("#_metrics > summary").click()


def test_a_metrics_example_is_scored(page: Page, home: str) -> None:
    page.goto(f"{home}/metrics")
    page.get_by_role("link", name="faithfulness", exact=True).click()
    expect(page.get_by_role("heading", name="Limitations and bias")).to_be_visible()
    page.get_by_role("link", name="or try an example").click()
    expect(page.get_by_role("status")).to_have_text("With faithfulness.")
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
    expect(page.locator(".scroll table")).to_contain_text("faithfulness")


def test_the_citation_can_be_copied(browser: Browser, home: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{home}/metrics/bleu")
    page.get_by_role("button", name="Copy the citation").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("@inproceedings{")
    context.close()


def test_a_file_is_scored_and_its_report_opens(page: Page, home: str, tmp_path: Path) -> None:
    page.goto(f"{home}/")
    page.get_by_label("File").set_input_files(file_of(tmp_path))
    open_metrics(page)
    page.get_by_label("wer", exact=True).check()
    page.get_by_label("With parameters").fill("new = abstractness(n=1)")
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
    # One of 4 reference words is replaced; "c" is the one new word of 4.
    table = page.locator(".scroll table")
    expect(table.get_by_role("row", name="wer")).to_contain_text("0.250")
    expect(table.get_by_role("row", name="new")).to_contain_text("0.250")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSONL").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["x", "y"]
    with page.expect_download() as download:
        page.get_by_role("link", name="one HTML file").click()
    own = download.value.path().with_suffix(".html")
    download.value.save_as(own)
    page.get_by_role("link", name="Open the report").click()
    expect(page.locator("body")).to_contain_text("new = abstractness")
    expect(page.locator("body")).to_contain_text("a b c")
    # The file needs no server.
    page.goto(own.as_uri())
    expect(page.locator("body")).to_contain_text("new = abstractness")


def test_a_column_can_be_chosen_where_its_name_is_unknown(
    page: Page, home: str, tmp_path: Path
) -> None:
    page.goto(f"{home}/")
    page.get_by_label("File").set_input_files(file_of(tmp_path, [{"mine": "a b", "gold": "a c"}]))
    open_metrics(page)
    page.get_by_label("With parameters").fill("wer")
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Choose the columns")).to_be_visible()
    page.get_by_label("predictions").select_option("mine")
    page.get_by_role("button", name="Score again").click()
    expect(page.locator(".scroll table")).to_contain_text("0.500")


def test_a_file_over_the_limit_is_told_before_it_is_sent(page: Page, tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    large.write_bytes(b"x" * ((1 << 20) + 1))
    with serving("--max-upload", "1") as (address, _):
        page.goto(f"{address}/")
        page.get_by_label("File").set_input_files(large)
        said = page.get_by_label("File").evaluate("field => field.validationMessage")
        page.goto("about:blank")
    assert said == "The file is larger than 1 MB."


def test_all_of_it_works_without_scripts(browser: Browser, home: str, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(home)
    expect(page.get_by_label("Search the metrics")).to_be_hidden()
    page.get_by_label("What do you evaluate?").select_option(label=TRANSCRIPTS)
    page.get_by_label("File").set_input_files(file_of(tmp_path))
    page.get_by_role("button", name="Score").last.click()
    # The page comes again by itself until the run has ended.
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
    expect(page.locator(".scroll table").get_by_role("row", name="wer")).to_contain_text("0.250")
    context.close()


def focused(page: Page) -> str:
    """The words of what has the focus."""
    found: str = page.evaluate(
        "(e => e.labels?.[0]?.innerText || e.ariaLabel || e.innerText || e.tagName)"
        "(document.activeElement)"
    )
    return found.strip().partition("\n")[0]


def tab_to(page: Page, name: str) -> None:
    """Press Tab until something of this name has the focus, which has to be seen."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page) == name:
            style = "getComputedStyle(document.activeElement).outlineStyle"
            assert page.evaluate(style) != "none"
            return
    raise AssertionError(f"Tab never came to {name!r}")


def test_the_keyboard_alone_finds_a_metric_and_scores_with_it(page: Page, home: str) -> None:
    page.goto(home)
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.keyboard.press("Enter")
    tab_to(page, "Paste samples instead")
    page.keyboard.press("Enter")
    tab_to(page, "Samples")
    page.keyboard.type('{"prediction": "the cat", "reference": "cat"}')
    tab_to(page, "Metrics")
    page.keyboard.press("Enter")
    tab_to(page, "Search the metrics")
    page.keyboard.type("exact match")
    expect(page.locator("#_found li").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{home}/#main")
    tab_to(page, "exact_match")
    page.keyboard.press("Space")
    expect(page.get_by_role("status")).to_have_text("With exact_match.")
    tab_to(page, "With parameters")
    page.keyboard.type("squad = exact_match(normalization='squad')")
    tab_to(page, "Score")
    page.keyboard.press("Enter")
    # Without its article "the cat" is the reference.
    table = page.locator(".scroll table")
    expect(table.get_by_role("row", name="squad")).to_contain_text("1.000")
    expect(table.get_by_role("row", name="exact_match")).to_contain_text("0.000")
