"""Journeys through scores beside people's ratings, by mouse and keyboard."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub
from metrichub.report.html import write
from tests.browser.kinds import agreement
from tests.browser.reports import FEW, numbered, shown, unfold

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def rated(size: int, wrong: int = 0, **columns: list[Any]) -> list[dict[str, Any]]:
    """Samples of `numbered` as rows, with columns that travel."""
    texts = numbered(size, wrong)
    named = {"prediction": texts["predictions"], "reference": texts["references"], **columns}
    return [dict(zip(named, values, strict=True)) for values in zip(*named.values(), strict=True)]


@pytest.fixture
def rated_page(page: Page, tmp_path: Path) -> Page:
    """Thirty samples, rated high where few words are wrong, but for samples 0 and 29."""
    stars = [1, *(5 - (i % 10) // 2 for i in range(1, 29)), 5]
    fluency = [[1 + i % 3, 2 + i % 3] for i in range(30)]
    rows = rated(30, stars=stars, fluency=fluency, id=[f"id{i}" for i in range(30)])
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(shown(tmp_path, Hub(["wer", "bleu"]).evaluate(rows)))
    unfold(page)
    return page


def test_the_largest_disagreements_come_first_with_both_on_a_line(rated_page: Page) -> None:
    samples = rated_page.locator("#table [data-sample]")
    rated_page.get_by_label("Text", exact=True).fill("n17")
    expect(rated_page.locator("#found")).to_contain_text("1 to 1 of 1 sample with text")
    rated_page.get_by_role("button", name="Show all samples").click()
    rated_page.get_by_role("button", name="Largest disagreements").click()
    # wer finds nothing wrong with sample 0, which people rated lowest; 29 is the other way round.
    expect(samples.nth(0)).to_have_text("id0")
    expect(samples.nth(1)).to_have_text("id29")
    shares = rated_page.locator("#table .shares")
    # Six of 30 samples have one star, as many five; three have no error, and more are worse. Of
    # equal ones half are below: 3 / 30 and 28.5 / 30, and 27 / 30 and 1.5 / 30.
    expect(shares.first).to_have_text("stars1above 10%wer0.000above 95%")
    expect(shares.nth(1)).to_have_text("stars5above 90%wer0.818above 5%")
    rated_page.get_by_label("Rating", exact=True).select_option("fluency")
    expect(shares.first).to_contain_text("fluency")
    rated_page.reload()
    expect(rated_page.get_by_label("Rating", exact=True).locator("option:checked")).to_have_text(
        "fluency"
    )
    expect(rated_page.get_by_label("Sort by").locator("option:checked")).to_have_text(
        "largest disagreement"
    )


def test_a_point_opens_its_sample_even_where_a_filter_hides_it(rated_page: Page) -> None:
    query = rated_page.get_by_label("Text", exact=True)
    query.fill("n17")
    expect(rated_page.locator("#found")).to_contain_text("1 to 1 of 1 sample with text")
    points = rated_page.locator("#scatter .point")
    expect(points).to_have_count(30)
    expect(rated_page.locator("#drawn")).to_contain_text("30 rated samples.")
    rated_page.locator("#scatter").scroll_into_view_if_needed()
    # The one sample of five stars with nine wrong words lies highest.
    boxes = points.evaluate_all("all => all.map(e => e.getBoundingClientRect().toJSON())")
    box = boxes[29]
    assert box["y"] == min(other["y"] for other in boxes)
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    rated_page.mouse.move(*at)
    expect(rated_page.locator("#pointed")).to_have_text("sample 29 (id29): stars 5, wer 0.818")
    rated_page.mouse.click(*at)
    expect(rated_page.locator("#sample-29")).to_be_in_viewport()
    expect(rated_page.locator("#sample-29")).to_contain_text("stars 5")
    expect(query).to_have_value("")


def test_the_points_are_walked_by_keyboard_and_of_other_scores_and_ratings(
    rated_page: Page,
) -> None:
    keys, pointed = rated_page.keyboard, rated_page.locator("#pointed")
    rated_page.get_by_text("All coefficients").focus()
    while rated_page.evaluate("document.activeElement.id") != "scatter":
        keys.press("Tab")
    assert rated_page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    # Of those with most stars the one with most errors; of those with one star with fewest.
    for key, message in (
        ("End", "sample 29"),
        ("Home", "sample 0 (id0): stars 1, wer 0.000"),
        ("ArrowRight", "stars 1, wer 0.727"),
        ("ArrowLeft", "sample 0 (id0)"),
    ):
        keys.press(key)
        expect(pointed).to_contain_text(message)
    keys.press("Enter")
    expect(rated_page.get_by_role("button", name="sample id0", exact=True)).to_be_focused()
    rated_page.get_by_label("Output", exact=True).select_option("bleu")
    rated_page.get_by_label("Rating", exact=True).select_option("fluency")
    rated_page.locator("#scatter").press("Home")
    # The raters of sample 0 gave 1 and 2.
    expect(pointed).to_contain_text("fluency 1.500, bleu")


WIDE = "text { font-family: monospace; letter-spacing: .4em }"
APART = """found => found.map(chart => {
    const frame = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("text")].filter(one => one.textContent);
    const boxes = texts.map(one => one.getBoundingClientRect());
    const apart = (a, b) => a.right < b.left + 1 || a.bottom < b.top + 2;
    const inside = box => box.left >= frame.left - 1 && box.right <= frame.right + 1
        && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
    const wrong = texts.filter((_, i) => !inside(boxes[i])
        || boxes.some((box, k) => k < i && !apart(box, boxes[i]) && !apart(boxes[i], box)));
    return [texts.length, wrong.map(one => one.textContent)];
})"""


@pytest.mark.parametrize("style", ["", WIDE])
def test_charts_keep_their_texts_apart_and_inside_whatever_the_font(
    page: Page, tmp_path: Path, style: str
) -> None:
    hub, path = Hub(["wer", "token_f1"]), tmp_path / "report.html"
    names = [f"a_system_of_a_long_name_{k}.jsonl" for k in range(2)]
    systems = {
        name: hub.evaluate(rated(30, k, my_stars=[1000 * (k + i % 4) for i in range(30)]))
        for k, name in enumerate(names)
    }
    write(path, systems, **FEW)
    # As if the machine had such a font: before any script of the page runs.
    page.add_init_script(
        f"const sheet = new CSSStyleSheet(); sheet.replaceSync({json.dumps(style)});"
        "document.adoptedStyleSheets.push(sheet);"
    )
    page.goto(path.as_uri())
    unfold(page)
    # Two metrics: two of differences, two histograms, one of both, and one against people.
    charts = page.locator(".chart, #scatter")
    expect(charts).to_have_count(6)
    for number, wrong in charts.evaluate_all(APART):
        assert number > 6
        assert wrong == []
    # Names of systems and columns stay as they are.
    expect(page.locator("#kinds li")).to_have_text([f" {name}" for name in names])
    heads = page.locator("#people table").first.locator("th")
    expect(heads).to_have_text(["metric", "my_stars"])
    # Another width draws the points again.
    before = page.locator("#scatter").get_attribute("viewBox")
    page.set_viewport_size({"width": 600, "height": 900})
    expect(page.locator("#scatter")).not_to_have_attribute("viewBox", before or "")


def test_a_page_of_agreement_begins_with_where_they_disagree(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(agreement(tmp_path))
    expect(page.locator("h1")).to_contain_text(
        "No metric is shown to agree with people on coherence: "
    )
    expect(page.get_by_role("heading", name="Where they disagree")).to_be_visible()
    # A bar a metric, the best first, which is what the samples are read by.
    best = page.locator(".bars tbody th").first.inner_text()
    output = page.get_by_label("Output", exact=True).locator("option:checked").inner_text()
    assert best.rpartition(".")[2] == output
    expect(page.locator(".bars thead svg")).to_have_attribute(
        "aria-label", re.compile("chance 0.000, one rater")
    )
    expect(page.locator("#table .shares").first).to_contain_text("coherence")
    expect(page.locator(".numbers thead th")).to_have_text(["coherence", "fluency"])
    # It isn't said twice.
    unfold(page)
    expect(page.get_by_role("region", name="Agreement with people")).to_have_count(0)
