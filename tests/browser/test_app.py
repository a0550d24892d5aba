"""The app in a browser: filters, trying a metric, files, and the keyboard alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.app_browser import file_of
from tests.app_client import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def names(page: Page) -> list[str]:
    return page.locator("ul.cards > li:visible h3").all_inner_texts()


def test_search_and_filters_of_the_gallery_combine(page: Page, home: str) -> None:
    page.goto(home)
    every = len(names(page))
    page.get_by_label("Search").fill("fragments")
    expect(page.get_by_role("status")).not_to_have_text(f"{every} of {every} metrics")
    assert {"coverage", "density"} <= set(names(page))
    page.get_by_label("Family").select_option("overlap")
    page.get_by_label("Input").select_option("sources")
    expect(page.get_by_role("link", name="bleu", exact=True)).to_be_hidden()
    found = names(page)
    assert {"coverage", "density"} <= set(found)
    expect(page.get_by_role("status")).to_have_text(f"{len(found)} of {every} metrics")
    assert "family=overlap" in page.url


def test_a_filtered_gallery_can_be_linked_to(page: Page, home: str) -> None:
    page.goto(f"{home}/?judge=model&search=fluen")
    assert "fluency" in names(page)
    page.get_by_label("Search").fill("")
    expect(page.get_by_role("link", name="rubric", exact=True)).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_role("link", name="bleu", exact=True)).to_be_visible()


def test_the_example_gives_the_number_that_the_card_prints(page: Page, home: str) -> None:
    page.goto(f"{home}/metrics/abstractness")
    printed = "0.2727272727272727"
    expect(page.locator("article")).to_contain_text(printed)
    page.get_by_role("button", name="Score").last.click()
    score = page.locator(".result table data").first
    expect(score).to_have_text("0.2727")
    expect(score).to_have_attribute("value", printed)
    expect(page.locator(".result mark[data-kind=novel]").first).to_have_text("There")


def test_a_claim_is_shown_with_its_verdict_and_reason(page: Page, home: str) -> None:
    page.goto(f"{home}/metrics/faithfulness")
    page.get_by_role("button", name="Score").last.click()
    row = page.locator(".result tbody tr", has_text="He was born in 1897.")
    expect(row.locator("[data-word=no]")).to_be_visible()
    expect(row).to_contain_text("1897 isn't there")


def test_parameters_change_the_score(page: Page, home: str) -> None:
    page.goto(f"{home}/metrics/exact_match")
    page.locator("summary", has_text="Parameters").click()
    page.get_by_label("ignore_case").check()
    page.get_by_role("button", name="Score").last.click()
    # Of the card's four answers "theater" and, without case, "yelling" are right.
    expect(page.locator(".result table data").first).to_have_text("0.5000")
    expect(page.locator(".signature")).to_contain_text("ignore_case=True")


def test_the_citation_can_be_copied(browser: Browser, home: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{home}/metrics/bleu")
    page.get_by_role("button", name="Copy the citation").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("@inproceedings{")
    context.close()


def test_a_file_is_scored_and_its_report_opens(page: Page, home: str, tmp_path: Path) -> None:
    page.goto(f"{home}/score")
    page.get_by_label("File").set_input_files(file_of(tmp_path))
    page.get_by_label("wer", exact=True).check()
    page.get_by_label("With parameters").fill("new = abstractness(n=1)")
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
    # One of 4 reference words is replaced; "c" is the one new word of 4.
    scores = page.locator("table.scores tr:has(td:text-is('score')) td:nth-child(3) data")
    assert [score.get_attribute("value") for score in scores.all()] == ["0.25", "0.25"]
    with page.expect_download() as download:
        page.get_by_role("link", name="JSONL").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["x", "y"]
    page.get_by_role("link", name="Open the report").click()
    expect(page.locator("body")).to_contain_text("new = abstractness")
    expect(page.locator("body")).to_contain_text("a b c")


def test_a_column_can_be_chosen_where_its_name_is_unknown(
    page: Page, home: str, tmp_path: Path
) -> None:
    page.goto(f"{home}/score")
    page.get_by_label("File").set_input_files(file_of(tmp_path, [{"mine": "a b", "gold": "a c"}]))
    page.get_by_label("With parameters").fill("wer")
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Map the columns")).to_be_visible()
    page.get_by_label("predictions").select_option("mine")
    page.get_by_role("button", name="Score again").click()
    expect(page.locator("table.scores data[value='0.5']").first).to_be_visible()


def test_a_file_over_the_limit_is_told_before_it_is_sent(page: Page, tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    large.write_bytes(b"x" * ((1 << 20) + 1))
    with serving("--max-upload", "1") as (address, _):
        page.goto(f"{address}/score")
        page.get_by_label("File").set_input_files(large)
        said = page.get_by_label("File").evaluate("field => field.validationMessage")
    assert said == "The file is larger than 1 MB."


def test_all_of_it_works_without_scripts(browser: Browser, home: str, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(home)
    page.get_by_label("Family").select_option("edit distance")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("link", name="bleu", exact=True)).to_have_count(0)
    assert "wer" in names(page)
    page.get_by_role("link", name="wer", exact=True).click()
    page.get_by_role("button", name="+ sample").click()
    page.get_by_label("predictions").last.fill("a b")
    page.get_by_role("button", name="Add another text to references of sample 2").click()
    page.get_by_label("references 2").fill("a b")
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_text("Sample 2: 0.0000")).to_be_visible()
    page.goto(f"{home}/score")
    page.get_by_label("File").set_input_files(file_of(tmp_path))
    page.get_by_label("wer", exact=True).check()
    page.get_by_role("button", name="Score").last.click()
    # The page comes again by itself until the run has ended.
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
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
    tab_to(page, "Search")
    page.keyboard.type("exact match")
    tab_to(page, "exact_match")
    page.keyboard.press("Enter")
    page.wait_for_url("**/metrics/exact_match")
    tab_to(page, "predictions")
    page.keyboard.press("Control+A")
    page.keyboard.type("the cat")
    tab_to(page, "Parameters")
    page.keyboard.press("Enter")
    tab_to(page, "ignore_case")
    page.keyboard.press("Space")
    tab_to(page, "normalization")
    page.keyboard.type("squad")
    tab_to(page, "Score")
    page.keyboard.press("Enter")
    # Now "cat?" is "the cat" as its reference is, and three of four are right.
    expect(page.locator(".result table data").first).to_have_text("0.7500")
    expect(page.locator(".signature")).to_contain_text("normalization='squad'")


def test_enter_in_a_field_scores_and_adds_nothing(page: Page, home: str) -> None:
    page.goto(f"{home}/metrics/abstractness")
    page.locator("summary", has_text="Parameters").click()
    page.get_by_label("n", exact=True).press("Enter")
    expect(page.locator(".result")).to_be_visible()
    expect(page.locator("fieldset.sample textarea")).to_have_count(4)
