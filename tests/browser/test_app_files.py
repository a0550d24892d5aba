"""Files in the app, in a browser: columns, search, starting sets, comparisons, runs, themes."""

from __future__ import annotations

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
from tests.browser.test_app import TRANSCRIPTS, open_metrics, tab_to

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
ROWS = [{"prediction": f"a b {i}", "reference": f"a c {i}"} for i in range(20)]
SUMMARIES = "summaries: I have reference summaries"
BETTER = [{**row, "prediction": row["reference"]} for row in ROWS]


def payload(name: str, rows: Sequence[object]) -> Any:
    return {"name": name, "mimeType": "text/plain", "buffer": lines(rows).encode()}


def chosen(page: Page, home: str, *files: Any) -> None:
    """Open the form and choose files, whose columns are then known."""
    page.goto(f"{home}/")
    page.get_by_label("Files").set_input_files(list(files))
    expect(page.locator("#_columns")).to_be_visible()
    open_metrics(page)


def scored(page: Page) -> None:
    page.get_by_role("button", name="Score").last.click()
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()


def test_two_files_are_compared_with_the_chosen_baseline(page: Page, home: str) -> None:
    chosen(page, home, payload("run-old.jsonl", ROWS), payload("run-new.jsonl", BETTER))
    page.get_by_label("Baseline").select_option("run-new.jsonl")
    page.get_by_label("wer", exact=True).check()
    scored(page)
    expect(page.locator(".summary")).to_contain_text("the baseline is run-new")
    expect(page.locator(".answer")).to_contain_text("run-new beats run-old on wer")
    page.get_by_role("link", name="Open the comparison").click()
    expect(page.get_by_role("heading", name="Differences")).to_be_visible()


def test_one_file_has_no_baseline(page: Page, home: str) -> None:
    chosen(page, home, payload("a.jsonl", ROWS))
    expect(page.get_by_label("Baseline")).to_be_hidden()


def test_files_can_be_dropped(page: Page, home: str) -> None:
    page.goto(f"{home}/")
    page.evaluate(
        """texts => {
          const data = new DataTransfer();
          texts.forEach((text, i) => data.items.add(new File([text], `${i}.jsonl`)));
          document.getElementById("_drop").dispatchEvent(
            new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        [lines(ROWS), lines(BETTER)],
    )
    expect(page.get_by_label("Baseline")).to_be_visible()
    expect(page.locator("#_columns")).to_be_visible()


def test_metrics_that_lack_a_column_are_greyed_with_the_reason_until_it_is_chosen(
    page: Page, home: str
) -> None:
    chosen(page, home, payload("a.jsonl", [{"prediction": "a b", "mine": "a b"}]))
    box = page.get_by_label("bleu", exact=True)
    expect(page.get_by_label("faithfulness", exact=True)).to_be_disabled()
    expect(page.locator("li[data-name=faithfulness]")).to_contain_text("Needs contexts.")
    expect(box).to_be_disabled()
    page.get_by_label("references").select_option("mine")
    expect(box).to_be_enabled()
    box.check()
    scored(page)
    expect(page.locator(".scroll table")).to_contain_text("bleu ↑")


def test_a_file_that_cannot_be_read_is_told_before_it_is_sent(page: Page, home: str) -> None:
    page.goto(f"{home}/")
    page.get_by_label("Files").set_input_files(
        {"name": "a.jsonl", "mimeType": "text/plain", "buffer": b"{"}
    )
    expect(page.locator("#_unread")).to_contain_text("a.jsonl:1: broken JSON")


def test_a_question_finds_metrics_to_choose(page: Page, home: str) -> None:
    page.goto(f"{home}/?metric=bleu")
    page.get_by_label("Search the metrics").fill("is my RAG answer grounded?")
    expect(page.locator("#_found li").nth(2)).to_be_visible()
    first = [row.get_attribute("data-name") for row in page.locator("#_found li").all()[:3]]
    assert "faithfulness" in first
    page.get_by_label("faithfulness", exact=True).check()
    page.get_by_label("Search the metrics").fill("")
    expect(page.locator("#_said")).to_have_text("With faithfulness, bleu.")
    expect(page.get_by_label("wer", exact=True)).to_be_visible()


def test_a_starting_set_chooses_its_metrics_and_keeps_the_file(page: Page, home: str) -> None:
    chosen(page, home, payload("a.jsonl", ROWS))
    page.get_by_label("What do you evaluate?").select_option(label=SUMMARIES)
    expect(page.get_by_role("status")).to_have_text("With abstractness, chrf, meteor, rouge.")
    page.get_by_label("meteor", exact=True).uncheck()
    assert page.get_by_label("Files").evaluate("field => field.files.length") == 1
    scored(page)
    table = page.locator(".scroll table")
    expect(table).to_contain_text("rouge1")
    expect(table).not_to_contain_text("meteor")


def test_metrics_of_a_set_that_lack_a_column_are_said_to_be_left_out(page: Page, home: str) -> None:
    page.goto(home)
    page.get_by_label("What do you evaluate?").select_option(label=SUMMARIES)
    page.get_by_label("Files").set_input_files(payload("a.jsonl", [{"prediction": "a"}]))
    said = "No metric is chosen yet. Left out, as a column is missing: abstractness, chrf, meteor,"
    expect(page.get_by_role("status")).to_contain_text(said)


def test_runs_are_ticked_and_compared(page: Page, home: str) -> None:
    for name, rows in (("old.jsonl", ROWS), ("new.jsonl", BETTER)):
        chosen(page, home, payload(name, rows))
        page.get_by_label("wer", exact=True).check()
        scored(page)
    page.get_by_role("link", name="Your runs").click()
    for box in ("Choose old.jsonl", "Choose new.jsonl"):
        page.get_by_label(box).check()
    page.get_by_role("button", name="Compare the chosen").click()
    expect(page.locator(".answer")).to_contain_text("new beats old on wer")
    expect(page.locator(".summary")).to_contain_text("the baseline is old")


def test_a_saved_report_is_opened_without_choosing_a_metric(page: Page, home: str) -> None:
    chosen(page, home, payload("a.jsonl", ROWS))
    page.get_by_label("wer", exact=True).check()
    scored(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="saved").click()
    content = download.value.path().read_bytes()
    page.goto(home)
    page.get_by_label("Files").set_input_files(
        {"name": "again.json.gz", "mimeType": "application/gzip", "buffer": content}
    )
    scored(page)
    expect(page.locator(".scroll table")).to_contain_text("wer ↓")


def test_a_link_is_read_by_others_who_cannot_delete(
    page: Page, browser: Browser, home: str
) -> None:
    chosen(page, home, payload("a.jsonl", ROWS))
    page.get_by_label("wer", exact=True).check()
    scored(page)
    context = browser.new_context()
    guest = context.new_page()
    guest.goto(page.url)
    expect(guest.locator(".scroll table")).to_contain_text("wer ↓")
    expect(guest.get_by_text("Delete this run")).to_have_count(0)
    guest.goto(f"{home}/runs")
    expect(guest.locator(".summary")).to_contain_text("This browser has scored nothing yet.")
    context.close()


def test_a_run_is_stopped(page: Page, home: str) -> None:
    row = {"prediction": "a" * 40 + "!", "patterns": "(a+)+b"}
    chosen(page, home, payload("a.jsonl", [row]))
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
    for said in ("light", "dark"):
        button.click()
        expect(button).to_have_text(f"Theme: {said}")
    dark = page.evaluate(paper)
    assert dark != light
    page.goto(f"{home}/runs")
    assert page.evaluate(paper) == dark
    expect(button).to_have_text("Theme: dark")
    button.click()
    expect(button).to_have_text("Theme: auto")
    assert page.evaluate(paper) == light


def test_a_run_outlives_its_server_and_is_deleted_by_keyboard(page: Page, tmp_path: Path) -> None:
    kept = str(tmp_path / "runs")
    with serving("--runs", kept) as (home, _):
        chosen(page, home, file_of(tmp_path))
        page.get_by_label("wer", exact=True).check()
        scored(page)
        # The page may still ask for its last scripts when the server ends.
        page.goto("about:blank")
    with serving("--runs", kept) as (home, _):
        page.goto(home)
        page.get_by_role("link", name="Runs").click()
        expect(page.locator("ul.runs")).to_contain_text("0.250")
        page.get_by_role("link", name="a.jsonl", exact=True).click()
        expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
        page.get_by_role("link", name="Your runs").click()
        page.wait_for_url("**/runs")
        tab_to(page, "Choose a.jsonl")
        page.keyboard.press("Space")
        tab_to(page, "Delete the chosen")
        page.keyboard.press("Enter")
        tab_to(page, "Delete")
        page.keyboard.press("Enter")
        expect(page.locator(".summary")).to_contain_text("This browser has scored nothing yet.")
        page.goto("about:blank")


def test_the_keyboard_alone_compares_with_a_starting_set(page: Page, home: str) -> None:
    page.goto(home)
    files = [payload("a.jsonl", ROWS), payload("b.jsonl", BETTER)]
    page.get_by_label("Files").set_input_files(files)
    expect(page.locator("#_columns")).to_be_visible()
    tab_to(page, "What do you evaluate?")
    page.keyboard.type(TRANSCRIPTS[:12])
    tab_to(page, "Baseline")
    page.keyboard.press("ArrowDown")
    tab_to(page, "references")
    tab_to(page, "Score")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Take it along")).to_be_visible()
    expect(page.locator(".summary")).to_contain_text("the baseline is b")
    expect(page.locator(".answer")).to_contain_text("b beats a on")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 800), ("light", 390)])
def test_no_page_of_files_has_a_serious_barrier_or_scrolls_sideways(
    page: Page,
    home: str,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
    scheme: str,
    width: int,
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")

    def check() -> None:
        assert violations(page) == [], page.url
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url

    chosen(page, home, payload("a.jsonl", ROWS), payload("b.jsonl", BETTER))
    check()
    page.get_by_label("Search the metrics").fill("word error")
    expect(page.locator("#_found li").first).to_be_visible()
    check()
    page.get_by_label("wer", exact=True).check()
    scored(page)
    check()
    shoot(page, f"app-run-{scheme}-{width}")
    page.goto(f"{home}/runs")
    check()
    shoot(page, f"app-runs-{scheme}-{width}")


def test_the_form_says_what_is_missing_before_anything_is_sent(page: Page, home: str) -> None:
    page.goto(home)
    page.locator("button.main").click()
    expect(page.locator("#_said")).to_have_text("Choose a file, or paste samples.")
    chosen(page, home, payload("a.jsonl", ROWS))
    page.locator("button.main").click()
    expect(page.locator("#_said")).to_have_text("Choose a metric.")
    page.get_by_label("wer", exact=True).check()
    scored(page)


def test_hostile_columns_names_and_files_run_nothing(page: Page, home: str) -> None:
    opened: list[str] = []
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("dialog", lambda dialog: opened.append(dialog.message))
    row = {text: text for text in HOSTILE} | {"prediction": "a", "reference": "b"}
    files = [payload(f"{text.replace('/', '')}.jsonl", [row]) for text in HOSTILE[:2]]
    chosen(page, home, *files)
    options = page.get_by_label("sources").locator("option").all_inner_texts()
    assert HOSTILE[0] in options
    page.get_by_label("sources").select_option(HOSTILE[0])
    page.get_by_label("wer", exact=True).check()
    scored(page)
    page.goto(f"{home}/runs")
    expect(page.locator("ul.runs")).to_contain_text("img src=x")
    assert opened == []
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main svg, main script").count() == 0


def test_without_scripts_several_files_are_compared_and_deleted(
    browser: Browser, home: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{home}/")
    page.get_by_label("Files").set_input_files(
        [payload("run-old.jsonl", ROWS), payload("run-new.jsonl", BETTER)]
    )
    page.locator("#_metrics > summary").click()
    page.get_by_label("wer", exact=True).check()
    scored(page)
    expect(page.locator(".answer")).to_contain_text("run-new beats run-old on wer")
    # One that deletes is shown when it is asked for, and deletes when it is asked again.
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    page.get_by_text("Delete this run").click()
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/runs")
    context.close()
