"""Journeys through a report of one system: its list, its samples, its charts as files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub, load_metric
from metrichub.report.html import write
from metrichub.report.report import Report
from metrichub.testing import Scripted
from tests.browser.reports import ATTACKS, FEW, numbered, opened, shown, unfold, write_many

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser


def rows(page: Page) -> list[str]:
    """The numbers of the samples in the table."""
    return page.locator("#table tbody button[data-sample]").all_inner_texts()


def heading(page: Page, name: str) -> Locator:
    return page.locator("#table thead th").filter(has=page.get_by_role("button", name=name))


def test_samples_are_sorted_and_opened(page: Page, tmp_path: Path) -> None:
    report = Hub(["wer", "bleu", "abstractness"]).evaluate(**numbered(10))
    page.goto(shown(tmp_path, report))
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
    page.get_by_label("Output", exact=True).select_option("wer hits")
    # Eleven words, of which sample 9 hits two; fewer are worse.
    assert rows(page)[0] == "9"
    # After the text stand the main outputs and the chosen one.
    assert page.locator("#table tbody tr").first.locator("td").nth(3).inner_text() == "2"
    sample = opened(page, 2)
    button = page.get_by_role("button", name="sample 2")
    expect(button).to_have_attribute("aria-expanded", "true")
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


def test_a_large_report_turns_its_pages_and_is_searched(page: Page, tmp_path: Path) -> None:
    report = Hub(["wer", "token_f1"]).evaluate(**numbered(50_000))
    page.goto(shown(tmp_path, report, explained=20))
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
    page.get_by_label("Rows").select_option("10")
    # Of sample 4321, and of 43210 to 43219: the references have it all.
    for text, result in (("W9 N4321", "1 to 10 of 11 samples"), ("no such text", "no samples")):
        page.get_by_label("Text", exact=True).fill(text)
        expect(page.locator("#found")).to_contain_text(f"{result} with text")
    page.get_by_label("Text", exact=True).fill("n25005")
    expect(page.locator("#found")).to_contain_text("1 to 1 of 1 sample with text")
    # A sample far from both ends has its texts, whose marks are made in the page, and no more.
    sample = opened(page, 25005)
    expect(sample).to_contain_text("x x x x x w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 n25005")
    expect(sample).to_contain_text("shows what wer saw in 20 samples at each end")
    expect(sample.locator("ins")).to_have_count(0)
    expect(sample.locator(".side mark.extra")).to_have_text("x x x x x")


def charts(page: Page, inside: str = "main") -> dict[str, ElementTree.Element]:
    """The charts that are saved as SVG files, by their names, and need nothing else."""
    saved = {}
    for button in page.locator(inside).get_by_role("button", name="Save as SVG").all():
        with page.expect_download() as download:
            button.click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert not re.search("currentcolor|var\\(| (class|style|id|href)=", text)
        saved[download.value.suggested_filename] = ElementTree.fromstring(text)
    return saved


def texts_of(chart: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in chart.iter("{http://www.w3.org/2000/svg}text")]


def test_a_browser_that_cannot_unpack_the_samples_says_so(page: Page, two: str) -> None:
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(two)
    expect(page.locator("#samples")).to_contain_text("This browser can't unpack the samples")
    expect(page.locator("#controls")).to_be_hidden()
    # What needs no samples is there: the theme, and tables to be copied.
    expect(page.locator("#theme")).to_be_visible()
    expect(page.get_by_role("button", name="Copy as CSV")).to_be_visible()


def test_charts_are_saved_as_svg_files(page: Page, tmp_path: Path) -> None:
    hub, worse = Hub("wer"), "<b>&\x01"
    systems = {
        name: hub.evaluate(predictions=texts, references=["a b", "a c"])
        for name, texts in (("good", ["a b", "a d"]), (worse, ["a", "c c"]))
    }
    write(tmp_path / "report.html", systems, resamples=2, trials=2)
    page.goto((tmp_path / "report.html").as_uri())
    unfold(page)
    saved = charts(page)
    assert list(saved) == ["ranges.svg", "forest-1.svg", "histograms.svg"]
    words = texts_of(saved["ranges.svg"])
    assert words[:3] == ["metric", "good", "<b>&\N{REPLACEMENT CHARACTER}"]
    # One of 4 words is wrong, and two.
    assert {"0.250", "0.500", "+0.250"} <= {word.partition(" ")[0] for word in words}
    assert len(saved["ranges.svg"].findall(".//{*}circle")) == 1
    lines = saved["histograms.svg"].findall(".//{*}path[@stroke-width='1.6px']")
    # A line a system in the chart, and one in its key; colours and dashes tell them apart.
    assert len({(line.get("stroke"), line.get("stroke-dasharray")) for line in lines}) == 2
    assert len(lines) == 4
    page.goto(write_many(tmp_path, 3))
    unfold(page)
    page.locator("details:has(> #forest-1) > summary").click()
    saved = charts(page, "#scores") | charts(page, "#from")
    assert sorted(saved) == ["board.svg", "forest-1.svg"]
    assert texts_of(saved["board.svg"])[:2] == ["system", "wer ↓"]
    # Two systems against the first.
    assert len(saved["forest-1.svg"].findall(".//{*}circle")) == 2


def test_the_status_filters_what_is_unscored(page: Page, tmp_path: Path) -> None:
    page.goto(shown(tmp_path, Hub("aun").evaluate(predictions=["a b", " ", "c"])))
    # Unscored samples come last.
    assert rows(page) == ["0", "2", "1"]
    status = page.get_by_label("Status")
    status.select_option("unanswered for a metric")
    assert rows(page) == ["1"]
    expect(opened(page, 1)).to_contain_text("unanswered: the text has fewer than 1 token")
    hidden = ("with an error", "unscored for a metric")
    for choice, left in (*((name, []) for name in hidden), ("scored by all metrics", ["0", "2"])):
        status.select_option(choice)
        assert rows(page) == left


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
    page.goto(shown(tmp_path, report))
    side = opened(page, 0).locator(".side").first
    expect(side).to_contain_text(f"marked against reference {place} of 3")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as Markdown").last.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert marked in page.evaluate("navigator.clipboard.readText()")


def test_texts_have_their_own_direction_and_columns_travel_with_them(
    page: Page, tmp_path: Path
) -> None:
    rows = [
        {"prediction": "سبت", "reference": "Saturday", "doc": 3, "ratings": [2, None]},
        {"prediction": "Saturday", "reference": "سبت", "doc": 4, "ratings": [4, 5]},
    ]
    hub = Hub("exact_match")
    worse = hub.evaluate([row | {"ratings": 1} for row in rows])
    report = hub.evaluate(rows)
    page.goto(shown(tmp_path, report, name="ours", others={"base": worse}, trials=9))
    sample = opened(page, 0)
    style = "made => [getComputedStyle(made).direction, getComputedStyle(made).textAlign]"
    reference = sample.locator(".label:text-is('references') + .text")
    assert reference.evaluate(style) == ["ltr", "start"]
    assert sample.locator(".side .text").first.evaluate(style) == ["rtl", "start"]
    # In the table a label stands before the text.
    shown_text = page.locator("#table .reference:has-text('سبت') bdi")
    assert shown_text.evaluate(style)[0] == "rtl"
    figures = sample.locator(".figures").last
    expect(figures).to_have_text("doc 3 · ratings of ours 2, – · ratings of base 1")


def test_a_report_without_texts_still_shows_its_scores(page: Page, tmp_path: Path) -> None:
    Hub("wer").evaluate(**numbered(3)).save(tmp_path / "saved.json")
    page.goto(shown(tmp_path, Report.load(tmp_path / "saved.json")))
    sample = opened(page, 2)
    for sentence in ("doesn't contain the texts", "substitutions 2"):
        expect(sample).to_contain_text(sentence)


def test_claims_are_marked_and_numbered_through_both_systems(
    page: Page, tmp_path: Path, violations: Callable[[Page], list[str]]
) -> None:
    hub = Hub("faithfulness(judge='offline')")
    contexts = [["Mr. Holt left. The cat sat on the mat in 1932.", "Dogs bark at night."]]
    systems = {
        "first": ["The cat sat on the mat. Whales sing songs."],
        "second": ["The cat sat on the mat in 1848."],
    }
    measured = {n: hub.evaluate(predictions=t, contexts=contexts) for n, t in systems.items()}
    write(tmp_path / "report.html", measured, **FEW)
    page.goto((tmp_path / "report.html").as_uri())
    cells = page.locator("#table tbody tr:first-child td.cell")
    assert (
        cells.nth(0).locator("p.text").inner_text()
        == f"{systems['first'][0][:23]}1 Whales sing songs.2"
    )
    lines = {"supported": "solid", "unsettled": "dotted", "contradicted": "wavy"}
    for kind, text in zip(
        lines, ["The cat sat on the mat.", "Whales sing songs.", *systems["second"]], strict=True
    ):
        mark = page.locator(f"#table u.{kind}")
        expect(mark).to_have_text(text)
        expect(mark).to_have_css("text-decoration-style", lines[kind])
    # The reason stands with the number, without the sentence that is marked below.
    messages = page.locator("#table .claims li").all_inner_texts()
    assert messages == [
        "✓ supported: 100% of its words are there",
        "? not settled: 0% of its words are there",
        "✗ contradicted: the number 1848 isn't there",
    ]
    assert page.locator(".claims").nth(1).get_attribute("start") == "3"
    evidence = page.locator("#table .under")
    expect(evidence.locator("summary")).to_have_text(
        "2 contexts; marked: the sentence nearest to each claim"
    )
    expect(evidence.locator("em")).to_have_text("The cat sat on the mat in 1932.")
    expect(evidence.locator("sup")).to_have_text("1,3")
    expect(evidence.locator("p").last).to_contain_text("nearest to no claim")
    assert violations(page) == []


def test_claims_that_a_text_does_not_make_are_listed_with_their_words(
    page: Page, tmp_path: Path
) -> None:
    claims = ["The mat is where the cat sat.", ATTACKS[1], "Whales sing."]
    judge = Scripted({"claims": claims, "supported": ["yes", "no", "idk"]})
    hub = Hub([load_metric("faithfulness", judge=judge)])
    texts = {
        "predictions": [f"The cat sat on the mat. {ATTACKS[1]}.", ""],
        "contexts": [["x"], ["y"]],
    }
    page.goto(shown(tmp_path, hub.evaluate(texts)))
    cell = page.locator("#table td.cell").first
    # Of other words it is the sentence that has most of them.
    assert cell.locator("u").all_inner_texts() == ["The cat sat on the mat.", f"{ATTACKS[1]}."]
    assert cell.locator("li").all_inner_texts() == [
        "✓ supported: as scripted",
        "✗ contradicted: as scripted",
        "? not settledWhales sing.: as scripted",
    ]
    expect(page.locator("#table img")).to_have_count(0)
    # From the evidence j goes on to the next sample.
    page.locator("#table .under summary").first.focus()
    page.keyboard.press("j")
    expect(page.get_by_role("button", name="sample 1", exact=True)).to_be_focused()
    # A report without the texts has the claims still.
    page.goto(shown(tmp_path, hub.evaluate(texts, texts=False)))
    expect(page.locator("#table .claims q").first).to_have_text(claims[0])
