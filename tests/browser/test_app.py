"""Journeys through the app: cards, files, comparisons, runs, keys, no scripts, hostile texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.app_browser import HOSTILE, file_of, lines
from tests.app_client import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser
ROWS = [{"prediction": f"a b {i}", "reference": f"a c {i}"} for i in range(20)]
BETTER = [{**row, "prediction": row["reference"]} for row in ROWS]
SUMMARIES = "summaries: I have reference summaries"
TRANSCRIPTS = "speech or text recognition: I have correct transcripts"


def payload(name: str, rows: Sequence[object]) -> Any:
    return {"name": name, "mimeType": "text/plain", "buffer": lines(rows).encode()}


def chosen(page: Page, home: str, *files: Any) -> None:
    """Open the form and choose files, whose columns are then known."""
    page.goto(f"{home}/")
    page.get_by_label("Files").set_input_files(list(files))
    expect(page.locator("#_columns")).to_be_visible()
    page.locator("#_metrics > summary").click()


def scored(page: Page) -> Locator:
    """The scores of what was chosen."""
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
    return page.locator(".scroll table")


def said(page: Page) -> Locator:
    return page.locator("#_said")


def test_a_metric_s_citation_is_copied_and_its_example_scored(page: Page, home: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{home}/metrics")
    page.get_by_role("link", name="faithfulness", exact=True).click()
    expect(page.get_by_role("heading", name="Limitations and bias")).to_be_visible()
    page.get_by_role("button", name="Copy the citation").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("@inproceedings{")
    page.get_by_role("link", name="or try an example").click()
    expect(page.get_by_role("status")).to_have_text("With faithfulness.")
    expect(scored(page)).to_contain_text("faithfulness")


def test_a_file_is_scored_taken_along_and_opened_again(
    page: Page, home: str, tmp_path: Path
) -> None:
    page.goto(home)
    page.locator("button.main").click()
    expect(said(page)).to_have_text("Choose a file, or paste samples.")
    unread = {"name": "a.jsonl", "mimeType": "text/plain", "buffer": b"{"}
    page.get_by_label("Files").set_input_files(unread)
    expect(page.locator("#_unread")).to_contain_text("a.jsonl:1: broken JSON")
    chosen(page, home, file_of(tmp_path))
    expect(page.get_by_label("Baseline")).to_be_hidden()
    page.locator("button.main").click()
    expect(said(page)).to_have_text("Choose a metric.")
    page.get_by_label("wer", exact=True).check()
    page.get_by_label("With parameters").fill("new = abstractness(n=1)")
    # One of 4 reference words is replaced; "c" is the one new word of 4.
    table = scored(page)
    expect(table.get_by_role("row", name="wer")).to_contain_text("0.250")
    expect(table.get_by_role("row", name="new")).to_contain_text("0.250")
    files = {}
    for link in ("JSONL", "one HTML file", "saved"):
        with page.expect_download() as download:
            page.get_by_role("link", name=link).click()
        files[link] = download.value.path()
    samples = files["JSONL"].read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in samples] == ["x", "y"]
    page.get_by_role("link", name="Open the report").click()
    # The file needs no server.
    own = files["one HTML file"].rename(tmp_path / "own.html")
    for address in (page.url, own.as_uri()):
        page.goto(address)
        for text in ("new = abstractness", "a b c"):
            expect(page.locator("body")).to_contain_text(text)
    # A saved report is opened without a metric.
    page.goto(home)
    content = files["saved"].read_bytes()
    again = {"name": "again.json.gz", "mimeType": "application/gzip", "buffer": content}
    page.get_by_label("Files").set_input_files(again)
    expect(scored(page)).to_contain_text("wer ↓")


def test_files_are_dropped_and_compared_with_the_chosen_baseline(page: Page, home: str) -> None:
    page.goto(f"{home}/")
    page.evaluate(
        """files => {
          const data = new DataTransfer();
          for (const [name, text] of files) data.items.add(new File([text], name));
          document.getElementById("_drop").dispatchEvent(
            new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        [["run-old.jsonl", lines(ROWS)], ["run-new.jsonl", lines(BETTER)]],
    )
    expect(page.locator("#_columns")).to_be_visible()
    page.get_by_label("Baseline").select_option("run-new.jsonl")
    page.locator("#_metrics > summary").click()
    page.get_by_label("wer", exact=True).check()
    scored(page)
    expect(page.locator(".summary")).to_contain_text("the baseline is run-new")
    expect(page.locator(".answer")).to_contain_text("run-new scores lower than run-old on wer")
    page.get_by_role("link", name="Open the comparison").click()
    expect(page.get_by_role("heading", name="Differences")).to_be_visible()


def test_runs_are_ticked_and_compared_and_read_by_others_who_cannot_delete(
    page: Page, browser: Browser, home: str
) -> None:
    for name, rows in (("old.jsonl", ROWS), ("new.jsonl", BETTER)):
        chosen(page, home, payload(name, rows))
        page.get_by_label("wer", exact=True).check()
        scored(page)
    guest = browser.new_context().new_page()
    guest.goto(page.url)
    expect(guest.locator(".scroll table")).to_contain_text("wer ↓")
    expect(guest.get_by_text("Delete this run")).to_have_count(0)
    guest.goto(f"{home}/runs")
    expect(guest.locator(".summary")).to_contain_text("This browser has scored nothing yet.")
    guest.context.close()
    page.get_by_role("link", name="Your runs").click()
    for box in ("Choose old.jsonl", "Choose new.jsonl"):
        page.get_by_label(box).check()
    page.get_by_role("button", name="Compare the chosen").click()
    expect(page.locator(".answer")).to_contain_text("new scores lower than old on wer")
    expect(page.locator(".summary")).to_contain_text("the baseline is old")


def test_metrics_that_lack_a_column_are_closed_until_it_is_chosen(page: Page, home: str) -> None:
    chosen(page, home, payload("a.jsonl", [{"prediction": "a b", "mine": "a b"}]))
    box = page.get_by_label("bleu", exact=True)
    expect(page.get_by_label("faithfulness", exact=True)).to_be_disabled()
    expect(page.locator("li[data-name=faithfulness]")).to_contain_text("Needs contexts.")
    expect(box).to_be_disabled()
    # Those of a starting set are said to be left out.
    page.get_by_label("What do you evaluate?").select_option(label=SUMMARIES)
    left = "No metric is chosen yet. Left out, as a column is missing: abstractness, chrf, meteor,"
    expect(page.get_by_role("status")).to_contain_text(left)
    page.get_by_label("references").select_option("mine")
    expect(box).to_be_enabled()
    box.check()
    expect(scored(page)).to_contain_text("bleu ↑")
    # Where a name is unknown to the form, the run's page asks for it.
    chosen(page, home, payload("a.jsonl", [{"mine": "a b", "gold": "a c"}]))
    page.get_by_label("With parameters").fill("wer")
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Choose the columns")).to_be_visible()
    page.get_by_label("predictions").select_option("mine")
    page.get_by_role("button", name="Score again").click()
    expect(page.locator(".scroll table")).to_contain_text("0.500")


def test_a_starting_set_or_a_question_chooses_metrics_and_keeps_the_file(
    page: Page, home: str
) -> None:
    page.goto(f"{home}/?metric=bleu")
    query = page.get_by_label("Search the metrics")
    query.fill("is my RAG answer grounded?")
    expect(page.locator("#_found li").nth(2)).to_be_visible()
    first = [row.get_attribute("data-name") for row in page.locator("#_found li").all()[:3]]
    assert "faithfulness" in first
    page.get_by_label("faithfulness", exact=True).check()
    query.fill("")
    expect(said(page)).to_have_text("With faithfulness, bleu.")
    expect(page.get_by_label("wer", exact=True)).to_be_visible()
    chosen(page, home, payload("a.jsonl", ROWS))
    page.get_by_label("What do you evaluate?").select_option(label=SUMMARIES)
    expect(page.get_by_role("status")).to_have_text("With abstractness, chrf, meteor, rouge.")
    page.get_by_label("meteor", exact=True).uncheck()
    assert page.get_by_label("Files").evaluate("field => field.files.length") == 1
    table = scored(page)
    expect(table).to_contain_text("rouge1")
    expect(table).not_to_contain_text("meteor")


def test_a_file_over_the_limit_is_told_before_it_is_sent(page: Page, tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    large.write_bytes(b"x" * ((1 << 20) + 1))
    with serving("--max-upload", "1") as (address, _):
        page.goto(f"{address}/")
        page.get_by_label("File").set_input_files(large)
        told = page.get_by_label("File").evaluate("field => field.validationMessage")
        page.goto("about:blank")
    assert told == "The file is larger than 1 MB."


def test_a_run_is_stopped(page: Page, home: str) -> None:
    chosen(page, home, payload("a.jsonl", [{"prediction": "a" * 40 + "!", "patterns": "(a+)+b"}]))
    page.get_by_label("regex_match", exact=True).check()
    page.get_by_role("button", name="Score").last.click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The run was stopped.")).to_be_visible()
    expect(page.get_by_role("button", name="Score again")).to_be_visible()


def test_the_theme_is_kept_for_all_pages(page: Page, home: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(home)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    button = page.locator("#theme")
    for theme in ("light", "dark"):
        button.click()
        expect(button).to_have_text(f"Theme: {theme}")
    dark = page.evaluate(paper)
    assert dark != light
    page.goto(f"{home}/runs")
    assert page.evaluate(paper) == dark
    expect(button).to_have_text("Theme: dark")
    button.click()
    expect(button).to_have_text("Theme: auto")
    assert page.evaluate(paper) == light


def test_without_scripts_a_starting_set_and_several_files_are_scored_and_deleted(
    browser: Browser, home: str, tmp_path: Path
) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(home)
    expect(page.get_by_label("Search the metrics")).to_be_hidden()
    page.get_by_label("What do you evaluate?").select_option(label=TRANSCRIPTS)
    page.get_by_label("File").set_input_files(file_of(tmp_path))
    # The page comes again by itself until the run has ended.
    expect(scored(page).get_by_role("row", name="wer")).to_contain_text("0.250")
    page.goto(f"{home}/")
    files = [payload("run-old.jsonl", ROWS), payload("run-new.jsonl", BETTER)]
    page.get_by_label("Files").set_input_files(files)
    page.locator("#_metrics > summary").click()
    page.get_by_label("wer", exact=True).check()
    scored(page)
    expect(page.locator(".answer")).to_contain_text("run-new scores lower than run-old on wer")
    # One that deletes is shown when it is asked for, and deletes when it is asked again.
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    page.get_by_text("Delete this run").click()
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/runs")
    page.context.close()


def focused(page: Page) -> str:
    """The words of what has the focus."""
    found: str = page.evaluate(
        "(e => e.labels?.[0]?.innerText || e.ariaLabel || e.innerText || e.tagName)"
        "(document.activeElement)"
    )
    return found.strip().partition("\n")[0]


def tab_to(page: Page, name: str, press: str = "") -> None:
    """Press Tab until something of this name has the focus, which has to be seen, and a key."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page) == name:
            style = "getComputedStyle(document.activeElement).outlineStyle"
            assert page.evaluate(style) != "none"
            if press:
                page.keyboard.press(press)
            return
    raise AssertionError(f"Tab never came to {name!r}")


def test_the_keyboard_alone_finds_a_metric_scores_with_it_and_deletes_the_run(
    page: Page, home: str
) -> None:
    keys = page.keyboard
    page.goto(home)
    keys.press("Tab")
    assert focused(page) == "Skip to the content"
    keys.press("Enter")
    tab_to(page, "Paste samples instead", "Enter")
    tab_to(page, "Samples")
    keys.type('{"prediction": "the cat", "reference": "cat"}')
    tab_to(page, "Metrics", "Enter")
    tab_to(page, "Search the metrics")
    keys.type("exact match")
    expect(page.locator("#_found li").first).to_be_visible()
    keys.press("Enter")
    expect(page).to_have_url(f"{home}/#main")
    tab_to(page, "exact_match", "Space")
    expect(page.get_by_role("status")).to_have_text("With exact_match.")
    tab_to(page, "With parameters")
    keys.type("squad = exact_match(normalization='squad')")
    tab_to(page, "Score", "Enter")
    # Without its article "the cat" is the reference.
    table = page.locator(".scroll table")
    expect(table.get_by_role("row", name="squad")).to_contain_text("1.000")
    expect(table.get_by_role("row", name="exact_match")).to_contain_text("0.000")
    tab_to(page, "Your runs", "Enter")
    page.wait_for_url("**/runs")
    expect(page.locator("ul.runs")).to_contain_text("squad")
    name = page.locator("ul.runs input").first.get_attribute("aria-label")
    tab_to(page, str(name), "Space")
    tab_to(page, "Delete the chosen", "Enter")
    tab_to(page, "Delete", "Enter")
    expect(page.locator(".summary")).to_contain_text("This browser has scored nothing yet.")


PAGES = ("", "?metric=bleu&example=1", "metrics", "metrics/bleu", "metrics/fluency", "runs")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 800), ("dark", 360)])
def test_no_page_has_a_serious_barrier_or_scrolls_sideways(
    page: Page,
    home: str,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
    scheme: str,
    width: int,
) -> None:
    def check(name: str) -> None:
        assert violations(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        shoot(page, f"app-{name.partition('?')[0].replace('/', '-')}-{scheme}-{width}")

    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    chosen(page, home, payload("a.jsonl", ROWS), payload("b.jsonl", BETTER))
    check("chosen")
    page.get_by_label("Search the metrics").fill("word error")
    expect(page.locator("#_found li").first).to_be_visible()
    check("search")
    page.get_by_label("wer", exact=True).check()
    scored(page)
    check("run")
    for path in PAGES:
        page.goto(f"{home}/{path}", wait_until="load")
        check(path)


def nothing_ran(page: Page) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("getComputedStyle(document.body).display") != "none"
    assert page.locator("main img, main svg, main script, main iframe").count() == 0
    assert page.locator("a[href^='javascript' i]").count() == 0


def test_hostile_cards_texts_columns_and_names_of_files_run_nothing(page: Page, home: str) -> None:
    opened: list[str] = []
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("dialog", lambda dialog: opened.append(dialog.message))
    page.goto(f"{home}/metrics/hostile")
    expect(page.locator("article")).to_contain_text("window.hacked = 1")
    nothing_ran(page)
    page.goto(f"{home}/?metric=exact_match")
    page.locator("summary", has_text="Paste samples").click()
    rows = [{"prediction": text, "reference": text, "id": text} for text in HOSTILE]
    samples = page.get_by_label("Samples", exact=True)
    samples.fill(lines(rows))
    page.get_by_label("With parameters").fill(f"x = {HOSTILE[0]}")
    page.get_by_role("button", name="Score").last.click()
    # The spec is refused and shown; then the samples are scored.
    expect(page.get_by_role("alert")).to_contain_text("<script>")
    nothing_ran(page)
    page.go_back()
    expect(samples).to_have_value(lines(rows))
    page.get_by_label("With parameters").fill("")
    expect(scored(page)).to_contain_text("1.000")
    nothing_ran(page)
    rows += [{text: text, "prediction": "a", "reference": "b"} for text in HOSTILE]
    names = ("<img src=x onerror=alert(1)>'\".jsonl", f"{HOSTILE[0].replace('/', '')}.jsonl")
    chosen(page, home, *(payload(name, rows) for name in names))
    sources = page.get_by_label("sources")
    assert HOSTILE[0] in sources.locator("option").all_inner_texts()
    sources.select_option(HOSTILE[0])
    page.get_by_label("exact_match", exact=True).check()
    scored(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x")
    nothing_ran(page)
    page.get_by_role("link", name="Open the comparison").click()
    expect(page.get_by_role("heading", name="Differences")).to_be_visible()
    assert page.evaluate("window.hacked") is None
    page.goto(f"{home}/runs")
    expect(page.locator("ul.runs")).to_contain_text("img src=x")
    nothing_ran(page)
    assert opened == []
