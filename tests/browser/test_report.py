"""Report files in a browser: small and large, one system and two."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub
from metrichub.metric import Metric
from metrichub.report.html import write
from metrichub.report.report import Report
from tests.browser.reports import numbered, unfold, write_many

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of 50,000 samples."""
    path = tmp_path_factory.mktemp("large") / "report.html"
    report = Hub(["wer", "token_f1"]).evaluate(**numbered(50_000))
    report.to_html(path, resamples=2, explained=20)
    return path.as_uri()


def rows(page: Page) -> list[str]:
    """The numbers of the samples in the table."""
    return page.locator("#table tbody button[data-sample]").all_inner_texts()


def heading(page: Page, name: str) -> Locator:
    return page.locator("#table thead th").filter(has=page.get_by_role("button", name=name))


def test_the_worst_sample_comes_first_and_a_click_turns_the_order(page: Page, small: str) -> None:
    page.goto(small)
    # More errors are worse: sample 9 has nine.
    assert rows(page) == ["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"]
    expect(heading(page, "wer")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="wer", exact=True).click()
    assert rows(page)[0] == "0"
    expect(heading(page, "wer")).to_have_attribute("aria-sort", "ascending")
    # Less BLEU is worse, and sample 9 has the fewest n-grams of its reference.
    page.get_by_role("button", name="bleu", exact=True).click()
    assert rows(page)[0] == "9"
    expect(heading(page, "bleu")).to_have_attribute("aria-sort", "ascending")
    expect(heading(page, "wer")).to_have_attribute("aria-sort", "none")


def test_any_output_can_be_sorted_by(page: Page, small: str) -> None:
    page.goto(small)
    page.get_by_label("Output", exact=True).select_option("wer hits")
    # Eleven words, of which sample 9 hits two; fewer are worse.
    assert rows(page)[0] == "9"
    # After the text stand the main outputs and the chosen one.
    assert page.locator("#table tbody tr").first.locator("td").nth(3).inner_text() == "2"


def test_an_opened_sample_shows_its_texts_and_what_the_metrics_saw(page: Page, small: str) -> None:
    page.goto(small)
    button = page.get_by_role("button", name="sample 2")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    sample = page.locator("#sample-2")
    expect(sample.locator(".side p.text").first).to_have_text(
        "x x w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 n2"
    )
    # The text against its reference, and the edits that wer counts.
    assert sample.locator(".side mark.extra").all_inner_texts() == ["x x"]
    assert sample.locator(".side del.missing").all_inner_texts() == ["w0 w1"]
    assert sample.locator("del:not(.missing)").all_inner_texts() == ["w0 w1 "]
    assert sample.locator("ins").all_inner_texts() == ["x x "]
    # One metric at a time; the others are folded.
    folded = sample.locator("details", has_text="abstractness")
    folded.locator("summary").first.click()
    assert folded.locator("mark.novel").first.inner_text() == "x x"
    expect(sample).to_contain_text("substitutions 2")
    button.click()
    expect(sample).to_have_count(0)


@dataclass(frozen=True, kw_only=True)
class Marking(Metric):
    """A metric that finds an error of each severity."""

    def observe(self, prediction: str) -> float:
        return 1.0

    def explain(self, prediction: str) -> Mapping[str, Any]:
        kinds = ["minor", "outside", "major", "outside", "critical"]
        parts = zip(re.split("( )", prediction), kinds, strict=True)
        return {"prediction": [{"text": text, "kind": kind, "length": 0} for text, kind in parts]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_errors_are_marked_by_severity(
    page: Page, tmp_path: Path, scheme: Literal["light", "dark"], shoot: Callable[[Page, str], None]
) -> None:
    path = tmp_path / "report.html"
    Hub(Marking()).evaluate(predictions=["Teh cat meowde"]).to_html(path)
    page.emulate_media(color_scheme=scheme)
    page.goto(path.as_uri())
    page.get_by_role("button", name="sample 0").click()
    marks = page.locator("#sample-0 mark")
    titles = [mark.get_attribute("title") for mark in marks.all()]
    assert titles == ["minor error", "major error", "critical error"]
    style = "mark => getComputedStyle(mark).borderBottomStyle"
    assert [mark.evaluate(style) for mark in marks.all()] == ["dotted", "solid", "double"]
    shoot(page, f"errors-{scheme}")


def test_a_large_report_holds_few_rows_and_turns_its_pages(page: Page, large: str) -> None:
    page.goto(large)
    expect(page.locator("#table tbody tr")).to_have_count(10)
    expect(page.locator("#page")).to_have_text("page 1 of 5,000")
    assert rows(page)[:2] == ["9", "19"]
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#found")).to_have_text("11 to 20 of 50,000 samples")
    page.get_by_role("button", name="Last").click()
    expect(page.locator("#page")).to_have_text("page 5,000 of 5,000")
    assert rows(page)[-1] == "49990"
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="First").click()
    page.get_by_label("Rows").select_option("100")
    expect(page.locator("#table tbody tr")).to_have_count(100)
    expect(page.locator("#page")).to_have_text("page 1 of 500")


def test_charts_are_saved_as_svg_files_that_need_nothing_else(page: Page, tmp_path: Path) -> None:
    hub, worse = Hub("wer"), "<b>&\x01"
    systems = {
        name: hub.evaluate(predictions=texts, references=["a b", "a c"])
        for name, texts in (("good", ["a b", "a d"]), (worse, ["a", "c c"]))
    }
    write(tmp_path / "report.html", systems, resamples=2, trials=2)
    page.goto((tmp_path / "report.html").as_uri())
    unfold(page)
    saved = {}
    for button in page.get_by_role("button", name="Save as SVG").all():
        with page.expect_download() as download:
            button.click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert not re.search("currentcolor|var\\(| (class|style|id|href)=", text)
        saved[download.value.suggested_filename] = ElementTree.fromstring(text)
    assert list(saved) == ["ranges.svg", "differences.svg", "histograms.svg"]
    said = [one.text for one in saved["ranges.svg"].iter("{http://www.w3.org/2000/svg}text")]
    assert said[:3] == ["metric", "good", "<b>&\N{REPLACEMENT CHARACTER}"]
    # One of 4 words is wrong, and two.
    first = {(one or "").split()[0] for one in said}
    assert {"0.250", "0.500", "+0.250", "+100.0%"} <= first
    assert len(saved["ranges.svg"].findall(".//{*}circle")) == 1
    lines = saved["histograms.svg"].findall(".//{*}path[@stroke-width='1.6px']")
    # A line a system in the chart, and one in its key; colours and dashes tell them apart.
    assert len({(one.get("stroke"), one.get("stroke-dasharray")) for one in lines}) == 2
    assert len(lines) == 4


def test_the_leaderboard_and_each_forest_are_saved_as_svg_files(page: Page, tmp_path: Path) -> None:
    page.goto(write_many(tmp_path, 3))
    page.locator("details:has(#forest-1) > summary").click()
    saved = {}
    for button in page.locator("#scores").get_by_role("button", name="Save as SVG").all():
        with page.expect_download() as download:
            button.click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        saved[download.value.suggested_filename] = ElementTree.fromstring(text)
    assert sorted(saved) == ["board.svg", "forest-1.svg"]
    said = [one.text for one in saved["board.svg"].iter("{http://www.w3.org/2000/svg}text")]
    assert said[:3] == ["rank", "system", "wer ↓"]
    # Two systems against the first.
    assert len(saved["forest-1.svg"].findall(".//{*}circle")) == 2


def test_a_text_is_found_among_all_samples(page: Page, large: str) -> None:
    page.goto(large)
    page.get_by_label("Text", exact=True).fill("W9 N4321")
    # Of sample 4321, and of 43210 to 43219: the references have it all.
    expect(page.locator("#found")).to_contain_text("1 to 10 of 11 samples with text")
    page.get_by_label("Text", exact=True).fill("no such text")
    expect(page.locator("#found")).to_contain_text("no samples with text")
    page.get_by_label("Text", exact=True).fill("")
    expect(page.locator("#found")).to_contain_text("50,000")


def test_far_samples_have_texts_but_no_explanation(page: Page, large: str) -> None:
    page.goto(large)
    page.get_by_label("Text", exact=True).fill("n25005")
    expect(page.locator("#found")).to_contain_text("1 to 1 of 1 sample with text")
    page.get_by_role("button", name="sample 25005").click()
    sample = page.locator("#sample-25005")
    expect(sample).to_contain_text("x x x x x w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 n25005")
    expect(sample).to_contain_text("shows what wer saw in 20 samples at each end")
    expect(sample.locator("ins")).to_have_count(0)
    # Marks against the reference are made in the page, for every sample.
    expect(sample.locator(".side mark.extra")).to_have_text("x x x x x")


def test_the_status_filters_what_is_unscored(page: Page, tmp_path: Path) -> None:
    report = Hub("aun").evaluate(predictions=["a b", " ", "c"])
    report.to_html(tmp_path / "report.html", resamples=2)
    page.goto((tmp_path / "report.html").as_uri())
    # Unscored samples come last.
    assert rows(page) == ["0", "2", "1"]
    page.get_by_label("Status").select_option("without a score by a metric")
    assert rows(page) == ["1"]
    page.get_by_role("button", name="sample 1").click()
    expect(page.locator("#sample-1")).to_contain_text("no score: the text has fewer than 1 token")
    page.get_by_label("Status").select_option("with an error")
    assert rows(page) == []
    page.get_by_label("Status").select_option("scored by all metrics")
    assert rows(page) == ["0", "2"]


def test_systems_stand_side_by_side_with_the_worst_loss_first(page: Page, two: str) -> None:
    page.goto(two)
    expect(page.locator("h1")).to_contain_text("b.jsonl vs a.jsonl: ")
    expect(page.get_by_label("Sort by")).to_have_value("0-1")
    # Sample 7 goes from 7 to 10 wrong words (at most 10), sample 8 from 8 to 10.
    assert rows(page)[:2] == ["7", "8"]
    cells = page.locator("#table tbody tr").first.locator("td").all_inner_texts()
    assert cells[0].startswith("7 id7")
    # 7 of 11 words are wrong, then 10 of 11.
    assert [text.split("\n")[0] for text in cells[1:]] == [
        "0.636 7\N{NO-BREAK SPACE}missing",
        "0.909 +0.273 · 10\N{NO-BREAK SPACE}missing",
    ]
    page.get_by_role("button", name="sample 7").click()
    expect(page.locator("#sample-7")).to_contain_text("b.jsonl 0.909 worst here")
    page.get_by_label("Text", exact=True).fill("id12")
    expect(page.locator("#found")).to_contain_text("1 to 1 of 1 sample with text")


def test_the_keyboard_alone_suffices(page: Page, small: str) -> None:
    page.goto(small)

    def tab_to(name: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            focused = page.evaluate(
                "() => [document.activeElement.ariaLabel, document.activeElement.innerText]"
            )
            if name in focused:
                return
        pytest.fail(f"no way to {name}")

    tab_to("Skip to the samples")
    page.keyboard.press("Enter")
    tab_to("wer")
    page.keyboard.press("Enter")
    assert rows(page)[0] == "0"
    expect(page.get_by_role("button", name="wer", exact=True)).to_be_focused()
    outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    tab_to("sample 3")
    page.keyboard.press("Enter")
    expect(page.locator("#sample-3")).to_be_visible()


def test_a_sample_of_three_systems_and_eleven_references_fits_on_a_screen(
    page: Page, tmp_path: Path
) -> None:
    words = [f"word{k}" for k in range(45)]
    references = [[" ".join(words[k:]) for k in range(11)]] * 2
    hub, path = Hub(["rouge", "bleu", "wer", "abstractness"]), tmp_path / "report.html"
    one, *others = (
        hub.evaluate(predictions=[" ".join([*words[k:], "x"])] * 2, references=references)
        for k in range(3)
    )
    named = {f"b{k}": other for k, other in enumerate(others)}
    one.to_html(path, name="a", others=named, resamples=2, trials=9)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(path.as_uri())
    output = page.get_by_label("Output", exact=True)
    expect(output.locator("option:checked")).to_have_text("rouge1")
    page.get_by_role("button", name="sample 1").click()
    opened = page.locator("#sample-1")
    box = opened.bounding_box()
    assert box
    assert box["height"] < 800
    # What one reads first is there, all else a click away.
    side = opened.locator(".side").first
    assert "rouge1 " in side.inner_text()
    assert "rouge1_recall" not in side.inner_text()
    side.get_by_text("All 15 outputs").click()
    assert "rouge1_recall" in side.inner_text()
    # An output that was chosen is read first too.
    output.select_option("rouge1_recall")
    page.get_by_role("button", name="sample 1").click()
    expect(side.locator("> .figures")).to_contain_text("rouge1_recall")


@pytest.mark.parametrize(
    ("metric", "place", "marked"), [("rouge", 3, "z ~~y x w~~"), ("bleu", 2, "п **z**")]
)
def test_marks_are_against_the_reference_that_the_score_came_from(
    page: Page, tmp_path: Path, metric: str, place: int, marked: str
) -> None:
    # Of nine words the second reference has in order all but "z", the third "z" and no other; but
    # as words are read for ROUGE, which are of letters from a to z, the second has none.
    text = "ж и к л м н о п z"
    references = ["none", "ж и к л м н о п", "z y x w"]
    report = Hub(metric).evaluate(predictions=[text], references=[references])
    report.to_html(tmp_path / "report.html", resamples=2)
    page.goto((tmp_path / "report.html").as_uri())
    page.get_by_role("button", name="sample 0").click()
    side = page.locator("#sample-0 .side").first
    expect(side).to_contain_text(f"marked against reference {place} of 3")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as Markdown").last.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert marked in page.evaluate("navigator.clipboard.readText()")


def test_texts_are_aligned_by_their_own_direction(page: Page, tmp_path: Path) -> None:
    texts = ["سبت", "Saturday"]
    report = Hub("exact_match").evaluate(predictions=texts, references=texts[::-1])
    report.to_html(tmp_path / "report.html", resamples=2)
    page.goto((tmp_path / "report.html").as_uri())
    page.get_by_role("button", name="sample 0").click()
    sides = "made => [getComputedStyle(made).direction, getComputedStyle(made).textAlign]"
    for name, direction in (("references", "ltr"), ("prediction", "rtl")):
        shown = page.locator(f"#sample-0 .label:text-is('{name}') + .text")
        assert shown.evaluate(sides) == [direction, "start"]
    # In the table a label stands before the text.
    shown = page.locator("#table .reference:has-text('سبت') bdi")
    assert shown.evaluate("made => getComputedStyle(made).direction") == "rtl"


def test_a_report_without_texts_still_shows_its_scores(page: Page, tmp_path: Path) -> None:
    Hub("wer").evaluate(**numbered(3)).save(tmp_path / "saved.json")
    Report.load(tmp_path / "saved.json").to_html(tmp_path / "report.html", resamples=2)
    page.goto((tmp_path / "report.html").as_uri())
    page.get_by_role("button", name="sample 2").click()
    expect(page.locator("#sample-2")).to_contain_text("doesn't contain the texts")
    expect(page.locator("#sample-2")).to_contain_text("substitutions 2")


def test_columns_that_travelled_stand_with_their_sample(page: Page, tmp_path: Path) -> None:
    rows = [
        {"id": "a7", "prediction": "the cat", "reference": "a cat", "doc": 3, "ratings": [4, 5]},
        {"id": "b8", "prediction": "a cat", "reference": "a cat", "doc": 4, "ratings": [2, None]},
    ]
    hub, path = Hub("wer"), tmp_path / "report.html"
    worse = hub.evaluate([row | {"prediction": "x", "ratings": 1} for row in rows])
    hub.evaluate(rows).to_html(path, name="ours", others={"base": worse}, resamples=2, trials=9)
    page.goto(path.as_uri())
    page.get_by_role("button", name="sample 1", exact=True).click()
    shown = page.locator("#sample-1 .figures").last
    expect(shown).to_have_text("doc 4 · ratings of ours 2, – · ratings of base 1")


def test_the_claims_of_a_judge_stand_with_verdict_and_reason(page: Page, tmp_path: Path) -> None:
    report = Hub("faithfulness(judge='offline')").evaluate(
        predictions=["The cat sat on the mat. Dogs fly south."],
        contexts=[["The cat sat on the mat."]],
    )
    report.to_html(tmp_path / "report.html", resamples=2)
    page.goto((tmp_path / "report.html").as_uri())
    page.get_by_role("button", name="sample 0").click()
    table = page.locator("#sample-0 table")
    heads = table.locator("th").all_inner_texts()
    # On a phone it is a table, too.
    page.set_viewport_size({"width": 390, "height": 800})
    tops = "made => [...made.rows].map(row => new Set([...row.cells].map(c => c.offsetTop)).size)"
    assert table.evaluate(tops) == [1, 1, 1]
    # A row's place and a weight of one say nothing more.
    assert heads == ["item", "verdict", "reason"]
    (first, second) = (
        row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()
    )
    assert first[:2] == ["The cat sat on the mat.", "yes"]
    assert second[0] == "Dogs fly south."
    assert second[1] != "yes"
