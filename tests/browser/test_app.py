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
    from playwright.sync_api import Browser, FrameLocator, Locator, Page, Route

pytestmark = pytest.mark.browser
ROWS = [{"prediction": f"a b {i}", "reference": f"a c {i}"} for i in range(20)]
BETTER = [{**row, "prediction": row["reference"]} for row in ROWS]
SUMMARIES = "summaries: I have reference summaries"
TRANSCRIPTS = "speech or text recognition: I have correct transcripts"


def payload(name: str, rows: Sequence[object]) -> Any:
    return {"name": name, "mimeType": "text/plain", "buffer": lines(rows).encode()}


def chosen(page: Page, home: str, *files: Any) -> None:
    """Choose files, which are read at once."""
    page.goto(f"{home}/")
    page.locator("#_file").set_input_files(list(files))
    page.wait_for_url("**/runs/*")


def add(page: Page, *names: str) -> None:
    """Tick metrics, which are the only ones then."""
    page.locator("#_others > summary").click()
    for box in page.locator("aside [name=metric]:enabled").all():
        box.uncheck()
    for name in names:
        page.locator(f"aside [data-name={name}] input").check()


def scored(page: Page) -> FrameLocator:
    """The report of what was chosen."""
    page.locator("#_go").click()
    return report(page)


def report(page: Page) -> FrameLocator:
    """The report of a run, once it is there."""
    expect(page.locator("iframe")).to_be_visible()
    return page.frame_locator("iframe")


def status(page: Page) -> Locator:
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
    page.get_by_role("button", name="Read the samples").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("One system, 1 sample")
    expect(page.get_by_label("faithfulness", exact=True)).to_be_checked()
    expect(scored(page).locator("body")).to_contain_text("faithfulness")


def test_a_file_is_scored_taken_along_and_opened_again(
    page: Page, home: str, tmp_path: Path
) -> None:
    unread = {"name": "a.jsonl", "mimeType": "text/plain", "buffer": b"{"}
    chosen(page, home, unread)
    expect(page.get_by_role("alert")).to_contain_text("a.jsonl:1: broken JSON")
    chosen(page, home, file_of(tmp_path))
    expect(page.get_by_role("heading", level=1)).to_have_text("One system, 2 samples")
    add(page)
    expect(page.get_by_role("button", name="Score a")).to_be_disabled()
    expect(status(page)).to_have_text("Choose a metric.")
    page.locator("aside [data-name=wer] input").check()
    expect(status(page)).to_have_text("No model is called and nothing leaves this machine.")
    page.get_by_text("With parameters").click()
    page.locator("#_specs").fill("new = abstractness(n=1)")
    # One of 4 reference words is replaced; "c" is the one new word of 4.
    shown = scored(page)
    expect(shown.locator("h1")).to_contain_text("0.250 on wer")
    files = {}
    page.get_by_text("Download", exact=True).click()
    for link in ("JSONL", "one HTML file", "saved"):
        with page.expect_download() as download:
            page.get_by_role("link", name=link).click()
        files[link] = download.value.path()
    samples = files["JSONL"].read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in samples] == ["x", "y"]
    # The file needs no server.
    page.goto(files["one HTML file"].rename(tmp_path / "own.html").as_uri())
    for text in ("new = abstractness", "a b c"):
        expect(page.locator("body")).to_contain_text(text)
    # A saved report is opened without a metric.
    content = files["saved"].read_bytes()
    again = {"name": "again.json.gz", "mimeType": "application/gzip", "buffer": content}
    chosen(page, home, again)
    expect(report(page).locator("h1")).to_contain_text("0.250 on wer")


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
    expect(page.get_by_role("heading", level=1)).to_have_text("Two systems, the same 20 samples")
    expect(page.get_by_text("run-old is the baseline.")).to_be_visible()
    page.get_by_role("button", name="Swap").click()
    expect(page.get_by_role("button", name="Compare run-new and run-old")).to_be_visible()
    add(page, "wer")
    shown = scored(page)
    expect(shown.locator("h1")).to_contain_text("run-new scores lower than run-old on wer")
    expect(shown.get_by_text("run-new (baseline)")).to_be_visible()


def test_a_file_is_added_and_taken_away_and_differing_samples_are_counted(
    page: Page, home: str
) -> None:
    chosen(page, home, payload("a.jsonl", ROWS))
    page.locator("#_file").set_input_files([payload("b.jsonl", BETTER[:18])])
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Two systems; 18 of 20 samples are in both"
    )
    page.get_by_role("button", name="Remove a.jsonl").click()
    expect(page.get_by_role("button", name="Score b")).to_be_enabled()
    page.locator("#_file").set_input_files([payload("c.jsonl", [{"prediction": "x"}])])
    expect(page.get_by_role("button", name="Compare b and c")).to_be_disabled()
    expect(status(page)).to_contain_text("give the files a column of ids")


def test_a_file_that_is_chosen_before_the_page_s_script_came_is_read(page: Page, home: str) -> None:
    held: list[Route] = []
    page.route("**/start.js", lambda route: held.append(route))
    page.goto(f"{home}/", wait_until="commit")
    page.locator("#_file").set_input_files([payload("a.jsonl", ROWS)])
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    expect(page.get_by_role("heading", level=1)).to_have_text("One system, 20 samples")


def test_runs_are_ticked_and_compared_and_read_by_others_who_cannot_delete(
    page: Page, browser: Browser, home: str
) -> None:
    for name, rows in (("old.jsonl", ROWS), ("new.jsonl", BETTER)):
        chosen(page, home, payload(name, rows))
        add(page, "wer")
        scored(page)
    guest = browser.new_context().new_page()
    guest.goto(page.url)
    expect(report(guest).locator("h1")).to_contain_text("on wer")
    expect(guest.get_by_text("Delete")).to_have_count(0)
    guest.goto(f"{home}/runs")
    expect(guest.locator(".summary")).to_contain_text("This browser has scored nothing yet.")
    guest.context.close()
    page.get_by_role("link", name="Runs").click()
    for box in ("Choose old.jsonl", "Choose new.jsonl"):
        page.get_by_label(box).check()
    page.get_by_role("button", name="Compare the chosen").click()
    shown = report(page)
    expect(shown.locator("h1")).to_contain_text("new scores lower than old on wer")
    expect(shown.get_by_text("old (baseline)")).to_be_visible()


def test_another_use_of_a_column_proposes_other_metrics(page: Page, home: str) -> None:
    rows = [{"prediction": "a b", "mine": "a b", "tone": i % 4} for i in range(12)]
    chosen(page, home, payload("a.jsonl", rows))
    expect(page.get_by_label("repetition", exact=True)).to_be_checked()
    expect(page.get_by_label("agreement with people", exact=True)).to_be_checked()
    mine = page.get_by_label("Use mine as")
    mine.focus()
    mine.select_option("reference")
    expect(page.get_by_label("bleu", exact=True)).to_be_checked()
    expect(mine).to_be_focused()
    page.get_by_label("For").select_option(label=SUMMARIES)
    expect(page.get_by_label("rouge", exact=True)).to_be_checked()
    expect(page.locator("aside [data-name=density]")).to_contain_text("needs sources")
    expect(page.get_by_label("density", exact=True)).to_be_disabled()
    page.get_by_label("Use tone as").select_option("not used")
    expect(page.get_by_label("agreement with people", exact=True)).to_have_count(0)
    expect(scored(page).locator("body")).to_contain_text("rouge1")


def test_a_file_over_the_limit_is_told_before_it_is_sent(page: Page, tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    large.write_bytes(b"x" * ((1 << 20) + 1))
    with serving("--max-upload", "1") as (address, _):
        page.goto(f"{address}/")
        page.locator("#_file").set_input_files(large)
        expect(page.get_by_role("alert")).to_have_text("The file is larger than 1 MB.")
        page.goto("about:blank")


def test_progress_has_a_total_and_a_run_is_cancelled(page: Page, home: str) -> None:
    rows = [{"prediction": "ab" * 20, "patterns": "(a+)+b"}] * 40_000
    rows += [{"prediction": "a" * 40 + "!", "patterns": "(a+)+b"}]
    chosen(page, home, payload("a.jsonl", rows))
    add(page, "regex_match")
    page.locator("#_go").click()
    expect(page.get_by_role("status")).to_contain_text(" of 40,001 samples.")
    expect(page.get_by_role("progressbar")).to_have_attribute("max", "40001")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The run was stopped.")).to_be_visible()
    expect(page.get_by_role("button", name="Score a")).to_be_enabled()


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


def test_without_scripts_files_are_read_scored_and_deleted(browser: Browser, home: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(home)
    files = [payload("run-old.jsonl", ROWS), payload("run-new.jsonl", BETTER)]
    page.locator("#_file").set_input_files(files)
    page.get_by_role("button", name="Read the files").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two systems, the same 20 samples")
    page.get_by_label("For").select_option(label=TRANSCRIPTS)
    page.get_by_role("button", name="Propose metrics anew").click()
    expect(page.get_by_label("wer", exact=True)).to_be_checked()
    # The page comes again by itself until the run has ended.
    page.get_by_role("button", name="Compare run-old and run-new").click()
    expect(report(page).locator("h1")).to_contain_text("run-new scores lower than run-old on cer")
    # One that deletes is shown when it is asked for, and deletes when it is asked again.
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    page.get_by_text("Delete", exact=True).click()
    page.get_by_role("button", name="Delete this run").click()
    page.wait_for_url("**/runs")
    page.context.close()


def focused(page: Page) -> str:
    """The words of what has the focus."""
    report: str = page.evaluate(
        "(e => e.labels?.[0]?.innerText || e.ariaLabel || e.innerText || e.tagName)"
        "(document.activeElement)"
    )
    return report.strip().partition("\n")[0]


def tab_to(page: Page, name: str, press: str = "") -> None:
    """Press Tab until something of this name has the focus, which has to be seen, and a key."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page).startswith(name):
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
    tab_to(page, "Read the samples", "Enter")
    page.wait_for_url("**/runs/*")
    tab_to(page, "Use prediction as")
    tab_to(page, "bleu", "Space")
    tab_to(page, "Add one of", "Enter")
    tab_to(page, "Search the metrics")
    keys.type("exact match")
    expect(page.locator("#_picker li").first).to_have_attribute("data-name", "exact_match")
    keys.press("Enter")
    expect(page.locator("#_find")).to_be_focused()
    tab_to(page, "exact_match", "Space")
    tab_to(page, "With parameters", "Enter")
    tab_to(page, "One a line")
    keys.type("squad = exact_match(normalization='squad')")
    tab_to(page, "Score pasted", "Enter")
    # Without its article "the cat" is the reference.
    expect(report(page).locator("h1")).to_contain_text("0.000 on exact_match and 1.000 on squad")
    page.goto(f"{home}/runs")
    expect(page.locator("ul.runs")).to_contain_text("squad")
    name = page.locator("ul.runs input").first.get_attribute("aria-label")
    tab_to(page, str(name), "Space")
    tab_to(page, "Delete the chosen", "Enter")
    tab_to(page, "Delete", "Enter")
    expect(page.locator(".summary")).to_contain_text("This browser has scored nothing yet.")


PAGES = ("", "?metric=bleu&example=1", "metrics", "metrics/bleu", "metrics/fluency", "runs")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 800), ("dark", 390)])
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
    add(page, "wer")
    page.get_by_label("Search the metrics").fill("word error")
    check("search")
    scored(page).locator("h1").wait_for()
    check("run")
    chosen(page, home, payload("empty.jsonl", []))
    check("unread")
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
    page.get_by_label("Samples", exact=True).fill(lines(rows))
    page.get_by_role("button", name="Read the samples").click()
    page.get_by_text("With parameters").click()
    page.locator("#_specs").fill(f"x = {HOSTILE[0]}")
    page.locator("#_go").click()
    # The spec is refused and shown; then the samples are scored.
    expect(page.get_by_role("alert")).to_contain_text("<script>")
    nothing_ran(page)
    page.locator("#_specs").fill("")
    expect(scored(page).locator("h1")).to_contain_text("1.000")
    assert page.evaluate("window.hacked") is None
    rows += [{text: text, "prediction": "a", "reference": "b"} for text in HOSTILE]
    rows = [{**dict.fromkeys(HOSTILE, ""), **row, "id": i} for i, row in enumerate(rows)]
    names = ("<img src=x onerror=alert(1)>'\".jsonl", f"{HOSTILE[0].replace('/', '')}.jsonl")
    chosen(page, home, *(payload(name, rows) for name in names))
    expect(page.locator(".drop")).to_contain_text("<img src=x")
    nothing_ran(page)
    with page.expect_response("**/runs/*"):
        page.get_by_label(f"Use {HOSTILE[0]} as").select_option("source")
    expect(page.get_by_label("coverage", exact=True)).to_have_count(1)
    add(page, "exact_match")
    nothing_ran(page)
    shown = scored(page)
    expect(shown.locator("h1")).to_contain_text("exact_match")
    assert page.title().startswith("<img src=x")
    assert page.evaluate("window.hacked") is None
    page.goto(f"{home}/runs")
    expect(page.locator("ul.runs")).to_contain_text("img src=x")
    nothing_ran(page)
    assert opened == []
