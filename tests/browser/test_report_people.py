"""Report files in a browser: scores beside people's ratings, by mouse and keyboard."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub
from metrichub.report.html import write
from tests.browser.reports import ATTACKS, FEW, Told, numbered, unfold

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def rated(size: int, wrong: int = 0, **columns: list[Any]) -> list[dict[str, Any]]:
    """Samples of `numbered` as rows, with columns that travel."""
    given = numbered(size, wrong)
    return [
        {"prediction": prediction, "reference": reference}
        | {name: values[i] for name, values in columns.items()}
        for i, (prediction, reference) in enumerate(
            zip(given["predictions"], given["references"], strict=True)
        )
    ]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Thirty samples, rated high where few words are wrong, but for samples 0 and 29."""
    path = tmp_path_factory.mktemp("one") / "report.html"
    stars = [5 - (i % 10) // 2 for i in range(30)]
    stars[0], stars[29] = 1, 5
    fluency = [[1 + i % 3, 2 + i % 3] for i in range(30)]
    rows = rated(30, stars=stars, fluency=fluency, id=[f"id{i}" for i in range(30)])
    Hub(["wer", "bleu"]).evaluate(rows).to_html(path, **FEW)
    return path.as_uri()


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two systems with names of a user's own."""
    path = tmp_path_factory.mktemp("several") / "report.html"
    hub = Hub(["wer"])
    write(
        path,
        {
            "by_a": hub.evaluate(rated(30, my_stars=[5 - (i % 10) // 2 for i in range(30)])),
            "by_b_2": hub.evaluate(rated(30, 4, my_stars=[1 + i % 4 for i in range(30)])),
        },
        **FEW,
    )
    return path.as_uri()


def listed(page: Page, table: int) -> list[str]:
    return page.locator("#parted table").nth(table).locator("tbody button").all_inner_texts()


def test_a_sample_on_which_both_part_is_a_click_away(page: Page, one: str) -> None:
    page.goto(one)
    unfold(page)
    # wer finds nothing wrong with sample 0, which people rated lowest; 29 is the other way round.
    assert listed(page, 0)[0] == "0"
    assert listed(page, 1)[0] == "29"
    first = page.locator("#parted table").first
    expect(first).to_contain_text("wer ranks them higher than people do")
    cells = first.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells[1:4] == ["id0", "0.000", "1"]
    first.get_by_role("button", name="show sample 0 (id0)").click()
    expect(page.locator("#sample-0")).to_be_in_viewport()
    expect(page.get_by_role("button", name="sample 0", exact=True)).to_be_focused()
    expect(page.locator("#sample-0")).to_contain_text("stars 1")


def test_a_sample_that_the_filters_hide_is_shown_without_them(page: Page, one: str) -> None:
    page.goto(one)
    unfold(page)
    page.get_by_label("Text", exact=True).fill("n17")
    expect(page.locator("#found")).to_contain_text("1 to 1 of 1 sample with text")
    page.get_by_role("button", name="show sample 29 (id29)").click()
    expect(page.locator("#sample-29")).to_be_in_viewport()
    expect(page.get_by_label("Text", exact=True)).to_have_value("")


def test_a_point_shows_its_sample(page: Page, one: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(one)
    unfold(page)
    expect(page.locator("#scatter .point")).to_have_count(30)
    expect(page.locator("#drawn")).to_contain_text("30 rated samples.")
    page.locator("#scatter").scroll_into_view_if_needed()
    # The one sample of five stars with nine wrong words lies highest.
    boxes = page.locator("#scatter .point").evaluate_all(
        "found => found.map(e => e.getBoundingClientRect().toJSON())"
    )
    box = boxes[29]
    assert box["y"] == min(other["y"] for other in boxes)
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*at)
    expect(page.locator("#pointed")).to_have_text("sample 29 (id29): stars 5, wer 0.818")
    page.mouse.click(*at)
    expect(page.locator("#sample-29")).to_be_in_viewport()


def test_the_points_are_walked_by_keyboard(page: Page, one: str) -> None:
    page.goto(one)
    unfold(page)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "scatter":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("End")
    # Of those with most stars the one with most errors.
    expect(page.locator("#pointed")).to_contain_text("sample 29")
    page.keyboard.press("Home")
    # Of those with one star the one with fewest.
    expect(page.locator("#pointed")).to_have_text("sample 0 (id0): stars 1, wer 0.000")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pointed")).to_contain_text("stars 1, wer 0.727")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="sample 0", exact=True)).to_be_focused()


def test_other_scores_and_ratings_can_be_chosen(page: Page, one: str) -> None:
    page.goto(one)
    unfold(page)
    page.get_by_label("Score", exact=True).select_option("bleu")
    page.get_by_label("Rating", exact=True).select_option("fluency")
    page.locator("#scatter").press("Home")
    # The raters of sample 0 gave 1 and 2.
    expect(page.locator("#pointed")).to_contain_text("fluency 1.500, bleu")
    expect(page.locator("#parted caption").first).to_contain_text("bleu")
    # The samples are then read by this score, too.
    page.keyboard.press("Enter")
    expect(page.get_by_label("Output", exact=True).locator("option:checked")).to_have_text("bleu")


def test_another_width_draws_the_points_again_and_leaves_the_focus(
    page: Page, several: str
) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(several)
    unfold(page)
    button = page.locator("#parted tbody button").first
    button.focus()
    before = page.locator("#scatter").get_attribute("viewBox")
    page.set_viewport_size({"width": 600, "height": 900})
    expect(page.locator("#scatter")).not_to_have_attribute("viewBox", before or "")
    expect(button).to_be_focused()


def test_names_of_systems_and_columns_stay_as_they_are(page: Page, several: str) -> None:
    page.goto(several)
    unfold(page)
    expect(page.locator("#kinds li")).to_have_text([" by_a", " by_b_2"])
    page.locator("#parted tbody button").first.click()
    shown = page.locator(".sample")
    expect(shown).to_contain_text("by_a 0.000 best here")
    expect(shown).to_contain_text("by_b_2 0.364 worst here")
    expect(shown).to_contain_text("my_stars of by_a")
    expect(page.locator("#people table").first.locator("th")).to_have_text(["metric", "my_stars"])


def test_hostile_columns_are_shown_and_never_run(page: Page, tmp_path: Path) -> None:
    rows = [
        {"prediction": attack, "reference": attack, "id": attack}
        | {name: (i * k) % 5 for k, name in enumerate((*ATTACKS[:6], "__proto__"), 2)}
        for i, attack in enumerate(ATTACKS * 2)
    ]
    metrics = [Told(name=ATTACKS[0]), Told(name="constructor"), Hub("wer").metrics[0]]
    report = Hub(metrics).evaluate(rows)
    write(tmp_path / "report.html", {ATTACKS[1]: report, "b": report}, human=ATTACKS[:6], **FEW)
    page.goto((tmp_path / "report.html").as_uri())
    unfold(page)
    for name in ("Score", "Rating"):
        for choice in page.get_by_label(name, exact=True).locator("option").all():
            page.get_by_label(name, exact=True).select_option(label=choice.inner_text())
            page.locator("#scatter").press("End")
    page.locator("#parted button").first.click()
    expect(page.locator("#people")).to_contain_text(ATTACKS[5])
    assert page.evaluate("() => window.hit") is None
    expect(page.locator("h1")).to_contain_text(f"b vs {ATTACKS[1]}: ")
    assert page.locator("main a, main style, main img[src='x']").count() == 0
    assert page.locator("main svg svg, main svg script, main svg [onload]").count() == 0


@pytest.mark.parametrize(
    ("address", "scheme", "width"),
    [("one", "light", 1400), ("one", "dark", 390), ("several", "dark", 800)],
)
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_page(
    page: Page,
    address: str,
    scheme: str,
    width: int,
    request: pytest.FixtureRequest,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(request.getfixturevalue(address))
    unfold(page)
    page.locator("#people details summary").click()
    page.locator("#scatter").press("End")
    assert violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    box = page.locator("#scatter").bounding_box()
    assert box is not None
    assert box["width"] <= width
    shoot(page, f"report-people-{address}-{scheme}-{width}")


def test_a_plot_of_many_samples_has_few_points(page: Page, tmp_path: Path) -> None:
    size = 20_000
    stars = [(i % 10) // 2 for i in range(size)]
    report = Hub("wer").evaluate(rated(size, stars=stars))
    report.to_html(tmp_path / "report.html", resamples=2, explained=2)
    page.goto((tmp_path / "report.html").as_uri())
    unfold(page)
    expect(page.locator("#drawn")).to_contain_text("of 20,000 rated samples are drawn.")
    # An even choice of 2,000, and the listed ones.
    assert 2000 <= page.locator("#scatter .point").count() <= 2020
    sample = page.locator("#parted tbody button").first.inner_text()
    page.locator("#parted tbody button").first.click()
    expect(page.locator(f"#sample-{sample}")).to_be_in_viewport()


WIDE = "text { font-family: monospace; letter-spacing: .4em }"


@pytest.mark.parametrize("style", ["", WIDE])
def test_charts_keep_their_texts_apart_and_inside_whatever_the_font(
    page: Page, tmp_path: Path, style: str
) -> None:
    hub, path = Hub(["wer", "token_f1"]), tmp_path / "report.html"
    systems = {
        f"a_system_of_a_long_name_{k}.jsonl": hub.evaluate(
            rated(30, k, stars=[1000 * (k + i % 4) for i in range(30)])
        )
        for k in range(2)
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
    drawn = charts.evaluate_all(
        """found => found.map(chart => {
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
    )
    for number, wrong in drawn:
        assert number > 6
        assert wrong == []
