"""Selections in a report: steps of the browser's history, which are shown, undone and marked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub
from metrichub.report.html import write
from tests.browser.reports import FEW, unfold

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

SIZE = 30


def rows(second: bool) -> list[dict[str, str]]:
    """Every third sample is German; the second system ends those with "over there"."""
    found = []
    for i in range(SIZE):
        words = " ".join(f"word{k}" for k in range(2 * i + 5))
        end = " Over, there" if second and i % 3 == 0 else ""
        found.append(
            {
                "language": "de" if i % 3 == 0 else "en",
                "prediction": f"{words} n{i}{end}",
                "reference": f"{words} ref{i}",
            }
        )
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("selections") / "report.html"
    hub = Hub(["wer", "token_f1"])
    write(path, {"a": hub.evaluate(rows(False)), "b": hub.evaluate(rows(True))}, **FEW)
    return path.as_uri()


@pytest.fixture
def report(page: Page, address: str) -> Page:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address)
    unfold(page)
    return page


def found(page: Page, text: str) -> None:
    """Wait until the line above the samples says this."""
    expect(page.locator("#found")).to_contain_text(text)


def marked(page: Page, inside: str = "#table td.cell") -> str:
    """What is highlighted as a hit."""
    hits: list[str] = page.evaluate(
        """inside => [...CSS.highlights.get("hits")]
            .filter(({ startContainer }) => startContainer.parentNode.closest(inside))
            .map(range => range.startContainer.data.slice(range.startOffset, range.endOffset))""",
        inside,
    )
    return "".join(hits)


def test_a_click_on_a_chart_is_taken_back_where_it_was_made(report: Page) -> None:
    bar = report.locator("#differences [data-select]").first
    bar.scroll_into_view_if_needed()
    top = report.evaluate("() => scrollY")
    bar.click()
    found(report, "with wer of b − a at least")
    expect(report.locator("#samples-heading")).to_be_in_viewport()
    report.go_back()
    expect(report.locator("#found")).to_have_text(f"1 to 10 of {SIZE} samples")
    expect(bar).to_be_focused()
    expect(bar).to_be_in_viewport()
    assert report.evaluate("() => scrollY") == top
    report.go_forward()
    found(report, "with wer of b − a at least")


def test_each_selection_is_a_step_but_no_key_is(report: Page) -> None:
    steps = report.evaluate("() => history.length")
    query = report.get_by_label("Text", exact=True)
    for text in ("w", "word2", "word20"):
        query.fill(text)
        found(report, f"text “{text}”")
    report.get_by_label("Group", exact=True).select_option("language")
    found(report, "language de")
    sample = report.locator("#table [data-sample]").first
    number = sample.inner_text()
    sample.click()
    report.get_by_role("button", name="Turn the order").click()
    expect(report.locator(".opened")).to_have_count(0)
    assert report.evaluate("() => history.length") == steps + 3
    # The sample that was opened is a part of the step before.
    report.go_back()
    expect(report.locator(f"#sample-{number}")).to_be_visible()
    report.go_back()
    expect(report.locator("#found")).not_to_contain_text("language")
    expect(query).to_have_value("word20")
    report.go_back()
    expect(query).to_have_value("")
    assert "#" not in report.url
    for _ in range(3):
        report.go_forward()
    expect(report.locator("#turned")).to_have_value("1")
    found(report, "text “word20”, language de")
    # A loaded page still knows its steps.
    report.reload()
    report.go_back()
    expect(report.locator(f"#sample-{number}")).to_be_visible()


def test_back_from_a_link_restores_the_view_before_it(report: Page) -> None:
    report.get_by_label("Text", exact=True).fill("n7")
    found(report, "text “n7”")
    report.get_by_role("link", name="Skip to the samples").press("Enter")
    found(report, "text “n7”")
    report.goto(f"{report.url.partition('#')[0]}#view?open=29")
    expect(report.locator("#sample-29")).to_be_in_viewport()
    report.go_back()
    found(report, "text “n7”")
    report.go_back()
    found(report, "text “n7”")
    expect(report).to_have_url(re.compile("query=n7$"))


def test_a_selection_keeps_the_other_filters_and_each_is_taken_back_alone(report: Page) -> None:
    report.get_by_label("Text", exact=True).fill("word9")
    found(report, "text “word9”")
    report.locator("#slices").get_by_role("button", name="en", exact=True).first.click()
    # Samples 3 to 29 have ten words and more; of these every third is German.
    expect(report.locator("#found")).to_have_text(
        "1 to 10 of 18 samples with text “word9”, language en"
    )
    report.locator("#ngrams-unsupported button", has_text="there").first.click()
    found(report, "no samples with text “word9”, language en, b saying “")
    chips = report.locator("#found button")
    chips.nth(1).focus()
    report.keyboard.press("Enter")
    expect(chips).to_have_count(2)
    expect(chips.nth(1)).to_be_focused()
    # German samples from 3 to 27.
    found(report, "of 9 samples with text “word9”, b saying “")
    report.get_by_role("button", name="text “word9”: remove").click()
    expect(report.get_by_label("Text", exact=True)).to_have_value("")
    chips.click()
    expect(report.locator("#found")).to_have_text(f"1 to 10 of {SIZE} samples")
    expect(report.get_by_label("Text", exact=True)).to_be_focused()


def test_a_slice_of_another_metric_shows_its_samples_by_that_metric(report: Page) -> None:
    bar = report.locator("#differences .chart").first.locator("[data-select]").last
    bar.press("Enter")
    found(report, "with wer of b − a at least")
    report.locator("#slices summary", has_text="token_f1").click()
    report.locator("#slices details[open]").get_by_role("button", name="de", exact=True).click()
    # A range of differences in wer says nothing of token_f1.
    expect(report.locator("#found")).to_have_text("1 to 10 of 10 samples with language de")
    expect(report.get_by_label("Output", exact=True).locator("option:checked")).to_have_text(
        "token_f1"
    )
    expect(report.locator("#legend")).to_contain_text("the fifth of all token_f1 scores")


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("group=language&value=zz", "language zz (not in this report)"),
        ("group=kind&value=zz", "kind (not in this report)"),
        ("better=5>6", "5>6 (not in this report) on wer"),
        ("status=odd", "odd (not in this report)"),
        ("ngram=7.7.7", "n-gram 7.7.7 (not in this report)"),
    ],
)
def test_an_address_of_another_report_finds_nothing_and_says_so(
    report: Page, address: str, view: str, words: str
) -> None:
    report.goto(f"{address}#view?{view}")
    expect(report.locator("#found")).to_have_text(f"no samples with {words}")
    expect(report.locator("#table tbody tr")).to_have_count(0)
    report.reload()
    expect(report.locator("#found")).to_have_text(f"no samples with {words}")
    report.get_by_role("button", name=f"{words}: remove").click()
    expect(report.locator("#found")).to_have_text(f"1 to 10 of {SIZE} samples")


def test_a_loaded_page_names_the_systems_of_its_filter(report: Page, address: str) -> None:
    report.goto(f"{address}#view?better=0>1")
    report.reload()
    # The second system ends German texts with two words more.
    expect(report.locator("#found")).to_have_text(
        "1 to 10 of 10 samples with a better than b on wer"
    )


def test_what_a_search_finds_is_marked_in_cells_and_opened_samples(report: Page) -> None:
    report.get_by_label("Text", exact=True).fill("WORD54 n25")
    expect(report.locator("#found")).to_contain_text("1 to 1 of 1 sample with text")
    # Both systems end so, far behind what a cell shows of a text's beginning.
    assert marked(report) == "word54 n25" * 2
    expect(report.locator("#table td.cell .text").first).to_contain_text("… ")
    expect(report.locator("#table td.cell .text").first).to_contain_text("word53 word54 n25")
    report.get_by_role("button", name="sample 25").click()
    # The words that only the reference has stand between those of the text, and aren't its own.
    assert marked(report, "#sample-25 .side > .text") == "word54 n25" * 2
    report.get_by_role("button", name="Show all samples").click()
    assert marked(report, "#table") == ""


def test_an_ngram_is_marked_as_its_text_is_written(report: Page) -> None:
    report.locator("#ngrams-unsupported button", has_text="over there").first.click()
    found(report, "of 10 samples with b saying “over there” where no reference has it")
    assert marked(report) == "Over, there" * 10


def test_a_sample_is_copied_as_it_is_shown(page: Page, tmp_path: Path) -> None:
    hub, path = Hub(["token_f1", "wer"]), tmp_path / "report.html"
    said = {"a": "the cat sat", "b": "the dog sat", "c": "on the mat"}
    write(
        path,
        {
            name: hub.evaluate(predictions=[text], references=["the cat sat on"])
            for name, text in said.items()
        },
        **FEW,
    )
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(path.as_uri())
    page.get_by_text("Columns: 3 of 3 systems").click()
    page.get_by_role("checkbox", name="c", exact=True).uncheck()
    page.get_by_label("Output", exact=True).select_option("wer")
    page.get_by_role("button", name="sample 0").click()
    page.get_by_role("button", name="Copy as Markdown").last.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    # One of the reference's four words is missing; of "b" one is another besides. token_f1 leaves
    # out articles: of three words both of "a" match, and one of "b".
    assert page.evaluate("navigator.clipboard.readText()").split("\n") == [
        "### Sample 0",
        "",
        "references:",
        "",
        "> the cat sat on",
        "",
        "a, wer 0.250:",
        "",
        "> the cat sat ~~on~~",
        "",
        "b, wer 0.500 (+0.250 from a):",
        "",
        "> the **dog** ~~cat~~ sat ~~on~~",
        "",
        "Against reference: **only here**, *elsewhere in the reference*, ~~only in the reference~~",
        "",
        "- wer, a: score 0.250",
        "- wer, b: score 0.500",
        "- token_f1, a: score 0.800 · precision 1.000 · recall 0.667",
        "- token_f1, b: score 0.400 · precision 0.500 · recall 0.333",
    ]


def test_the_focus_stays_where_keys_go_on(report: Page) -> None:
    keys = report.keyboard
    report.get_by_role("button", name="Last", exact=True).press("Enter")
    expect(report.locator("#page")).to_have_text("page 3 of 3")
    expect(report.get_by_role("button", name="Previous", exact=True)).to_be_focused()
    report.get_by_role("button", name="First", exact=True).press("Enter")
    expect(report.get_by_role("button", name="Next", exact=True)).to_be_focused()
    # A row that a click on a text opened is closed by Escape.
    report.locator("#table td.cell").first.click()
    expect(report.locator(".opened")).to_have_count(1)
    keys.press("Escape")
    expect(report.locator(".opened")).to_have_count(0)
    # So is, from anywhere in the table, the one that was opened last.
    toggles = report.locator("#table [data-sample]")
    toggles.nth(4).click()
    toggles.nth(2).click()
    # The table's region has the focus where a text was clicked.
    report.locator(".sample .text").first.click()
    keys.press("Escape")
    expect(toggles.nth(2)).to_have_attribute("aria-expanded", "false")
    expect(toggles.nth(4)).to_have_attribute("aria-expanded", "true")
    report.locator("#table thead button").first.focus()
    keys.press("Escape")
    expect(report.locator(".opened")).to_have_count(0)
    expect(report.locator("#table thead button").first).to_be_focused()
    # From a slice to the filter that it sets, and back without it.
    group = report.locator("#slices").get_by_role("button", name="en", exact=True).first
    group.press("Enter")
    found(report, "of 20 samples with language en")
    keys.press("Shift+Tab")
    expect(report.get_by_role("button", name="language en: remove")).to_be_focused()
    outline = report.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    keys.press("Enter")
    expect(report.locator("#found")).to_have_text(f"1 to 10 of {SIZE} samples")
    expect(report.get_by_label("Text", exact=True)).to_be_focused()


def test_a_copy_without_a_clipboard_closes_by_escape(page: Page, address: str) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined });")
    page.goto(address)
    button = page.get_by_role("button", name="Copy as CSV")
    button.click()
    field = page.locator("textarea")
    expect(field).to_be_focused()
    expect(field).to_have_value(re.compile("^metric,"))
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(button).to_be_focused()
