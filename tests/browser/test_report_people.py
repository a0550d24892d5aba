"""Journeys through scores beside people's ratings, by mouse and keyboard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub
from metrichub.report.html import write
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
def one(page: Page, tmp_path: Path) -> Page:
    """Thirty samples, rated high where few words are wrong, but for samples 0 and 29."""
    stars = [1, *(5 - (i % 10) // 2 for i in range(1, 29)), 5]
    fluency = [[1 + i % 3, 2 + i % 3] for i in range(30)]
    rows = rated(30, stars=stars, fluency=fluency, id=[f"id{i}" for i in range(30)])
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(shown(tmp_path, Hub(["wer", "bleu"]).evaluate(rows)))
    unfold(page)
    return page


def test_a_sample_on_which_both_part_is_a_click_or_a_point_away(one: Page) -> None:
    tables = one.locator("#parted table")
    # wer finds nothing wrong with sample 0, which people rated lowest; 29 is the other way round.
    for k, sample in enumerate(("0", "29")):
        assert tables.nth(k).locator("tbody button").first.inner_text() == sample
    expect(tables.first).to_contain_text("wer ranks them higher than people do")
    row = tables.first.locator("tbody tr").first
    assert row.locator("td").all_inner_texts()[1:4] == ["id0", "0.000", "1"]
    # One that the filters hide is shown without them.
    query = one.get_by_label("Text", exact=True)
    query.fill("n17")
    expect(one.locator("#found")).to_contain_text("1 to 1 of 1 sample with text")
    row.get_by_role("button", name="show sample 0 (id0)").click()
    expect(one.locator("#sample-0")).to_be_in_viewport()
    expect(one.get_by_role("button", name="sample 0", exact=True)).to_be_focused()
    expect(one.locator("#sample-0")).to_contain_text("stars 1")
    expect(query).to_have_value("")
    points = one.locator("#scatter .point")
    expect(points).to_have_count(30)
    expect(one.locator("#drawn")).to_contain_text("30 rated samples.")
    one.locator("#scatter").scroll_into_view_if_needed()
    # The one sample of five stars with nine wrong words lies highest.
    boxes = points.evaluate_all("all => all.map(e => e.getBoundingClientRect().toJSON())")
    box = boxes[29]
    assert box["y"] == min(other["y"] for other in boxes)
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    one.mouse.move(*at)
    expect(one.locator("#pointed")).to_have_text("sample 29 (id29): stars 5, wer 0.818")
    one.mouse.click(*at)
    expect(one.locator("#sample-29")).to_be_in_viewport()


def test_the_points_are_walked_by_keyboard_and_of_other_scores_and_ratings(one: Page) -> None:
    keys, pointed = one.keyboard, one.locator("#pointed")
    one.get_by_label("Rating", exact=True).focus()
    while one.evaluate("document.activeElement.id") != "scatter":
        keys.press("Tab")
    assert one.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    # Of those with most stars the one with most errors; of those with one star with fewest.
    for key, said in (
        ("End", "sample 29"),
        ("Home", "sample 0 (id0): stars 1, wer 0.000"),
        ("ArrowRight", "stars 1, wer 0.727"),
        ("ArrowLeft", "sample 0 (id0)"),
    ):
        keys.press(key)
        expect(pointed).to_contain_text(said)
    keys.press("Enter")
    expect(one.get_by_role("button", name="sample 0", exact=True)).to_be_focused()
    one.get_by_label("Score", exact=True).select_option("bleu")
    one.get_by_label("Rating", exact=True).select_option("fluency")
    one.locator("#scatter").press("Home")
    # The raters of sample 0 gave 1 and 2.
    expect(pointed).to_contain_text("fluency 1.500, bleu")
    expect(one.locator("#parted caption").first).to_contain_text("bleu")
    # The samples are then read by this score, too.
    keys.press("Enter")
    expect(one.get_by_label("Output", exact=True).locator("option:checked")).to_have_text("bleu")


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
    # Another width draws the points again and leaves the focus.
    button = page.locator("#parted tbody button").first
    button.focus()
    before = page.locator("#scatter").get_attribute("viewBox")
    page.set_viewport_size({"width": 600, "height": 900})
    expect(page.locator("#scatter")).not_to_have_attribute("viewBox", before or "")
    expect(button).to_be_focused()
    button.press("Enter")
    expect(page.locator(".sample")).to_contain_text(f"my_stars of {names[0]}")


def test_a_plot_of_many_samples_has_few_points(page: Page, tmp_path: Path) -> None:
    size = 20_000
    report = Hub("wer").evaluate(rated(size, stars=[(i % 10) // 2 for i in range(size)]))
    page.goto(shown(tmp_path, report, explained=2))
    unfold(page)
    expect(page.locator("#drawn")).to_contain_text("of 20,000 rated samples are drawn.")
    # An even choice of 2,000, and the listed ones.
    assert 2000 <= page.locator("#scatter .point").count() <= 2020
    button = page.locator("#parted tbody button").first
    sample = button.inner_text()
    button.click()
    expect(page.locator(f"#sample-{sample}")).to_be_in_viewport()
