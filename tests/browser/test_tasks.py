"""Journeys through a report of two systems: filters, texts, copies, print, history and keys."""

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
from tests.browser.reports import FEW, unfold

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SIZE = 60
LANGUAGES = ("zh", "de", "en")


def reference(i: int) -> str:
    """Of i + 10 words; each character of Chinese is one."""
    if LANGUAGES[i % 3] == "zh":
        return "他坐在垫子上" * ((i + 10) // 6) + "猫" * ((i + 10) % 6)
    return " ".join(f"word{k}" for k in range(i + 10))


def rows(wrong: int) -> list[dict[str, Any]]:
    """Sample i lacks the end of its reference, the more the larger i % 7 + `wrong` is."""
    results = []
    for i in range(SIZE):
        text = reference(i)
        cut = i % 7 + (wrong if i % 5 else -wrong)
        shortened = (
            text[: -cut or None]
            if LANGUAGES[i % 3] == "zh"
            else " ".join(text.split()[: -cut or None])
        )
        extra = " of_b_alone 50% more" if wrong and i % 3 else ""
        results.append(
            {
                "id": f"n{i}",
                "language": LANGUAGES[i % 3],
                "prediction": shortened + extra,
                "reference": text,
            }
        )
    return results


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tasks") / "report.html"
    hub = Hub(["chrf", "cer"])
    systems = {"model_a": hub.evaluate(rows(0)), "model_b": hub.evaluate(rows(3))}
    write(path, systems, resamples=50, trials=200)
    return path.as_uri()


@pytest.fixture
def report(page: Page, address: str) -> Page:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(address)
    unfold(page)
    return page


def assert_shown(page: Page, text: str) -> None:
    """Wait until the line above the samples says this."""
    expect(page.locator("#found")).to_contain_text(text)


def all_found(page: Page) -> None:
    expect(page.locator("#found")).to_have_text(f"1 to 10 of {SIZE} samples")


def search(page: Page, text: str) -> None:
    page.get_by_label("Text", exact=True).fill(text)
    assert_shown(page, f"text “{text}”")


def choose(page: Page, **choices: str) -> None:
    for label, option in choices.items():
        page.get_by_label(label.replace("_", " "), exact=True).select_option(option)


def listed(page: Page) -> list[int]:
    buttons = page.locator("#table tbody button[data-sample]")
    return [int(number) for number in buttons.evaluate_all("all => all.map(b => b.dataset.sample)")]


def losses(page: Page) -> list[float]:
    """What the second system scores above the first, as its cells say."""
    notes = page.locator("#table tbody td:nth-child(3) > .figures").all_inner_texts()
    signed = [text.split()[1].replace("−", "-").replace("±", "") for text in notes]
    return [float(text) for text in signed]


def marked(page: Page, inside: str = "#table td.cell") -> str:
    """What is highlighted as a hit."""
    hits: list[str] = page.evaluate(
        """inside => [...CSS.highlights.get("hits")]
            .filter(({ startContainer }) => startContainer.parentNode.closest(inside))
            .map(range => range.startContainer.data.slice(range.startOffset, range.endOffset))""",
        inside,
    )
    return "".join(hits)


def copied(page: Page) -> str:
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_the_ten_worst_long_chinese_samples_are_sent_to_somebody(
    report: Page, browser: Browser
) -> None:
    # The answer is the title of the page and of its tab.
    title = report.locator("h1").inner_text()
    assert re.fullmatch(r"model_a scores higher than model_b on chrf: 0\.\d+ against 0\.\d+", title)
    assert report.title() == title
    choose(report, Output="cer", Group="language")
    choose(report, **{"is": "zh"})
    report.get_by_label("and group").select_option("words of the reference")
    # Samples 0 to 59 have 10 to 69 words: the longest quarter begins with the 46th.
    report.get_by_label("the second is").select_option("55 to 69")
    assert_shown(report, "language zh, words of the reference 55 to 69")
    assert sorted(listed(report)) == [i for i in range(SIZE) if i % 3 == 0 and i + 10 >= 55]
    # More errors are worse: the largest loss of the second system first.
    assert losses(report) == sorted(losses(report), reverse=True)
    expect(report.locator("#means")).to_contain_text(
        "mean of the samples in this selection: model_a"
    )
    report.locator("#table tbody button[data-sample]").nth(1).click()
    other = browser.new_context().new_page()
    other.goto(report.url)
    for place in ("#found", "#table"):
        assert other.locator(place).inner_text() == report.locator(place).inner_text()
    assert other.locator(".opened").count() == 1
    assert other.get_by_label("is", exact=True).input_value() == "zh"
    other.get_by_role("button", name="Show all samples").click()
    all_found(other)
    other.context.close()


def test_why_17_lost_is_read_copied_and_saved(report: Page) -> None:
    search(report, "n17")
    assert_shown(report, "1 to 1 of 1 sample")
    row = report.locator("#table tbody tr").first
    expect(row.locator("td").first).to_contain_text("n17")
    report.get_by_role("button", name="sample n17", exact=True).click()
    opened = report.locator("#sample-17")
    left, right = (
        side.bounding_box() for side in opened.locator(".sides").first.locator(".side").all()
    )
    assert left
    assert right
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    full = opened.bounding_box()
    assert full
    assert full["height"] < 720
    expect(opened).to_contain_text(reference(17))
    for sentence in (r"model_a [\d.]+ best here", r"model_b [\d.]+ worst here"):
        expect(opened).to_contain_text(re.compile(sentence))
    # Against the reference, whose end the system lacks.
    side = opened.locator(".side").nth(1)
    assert side.locator("mark.extra").all_inner_texts() == ["of_b_alone 50% more"]
    assert side.locator("del.missing").first.inner_text().split()[-1] == "word26"
    # Against the other system: what it cut off is the first one's alone.
    cells = row.locator("td.cell")
    alone = (("model_a", 1, "of_b_alone 50% more"), ("model_b", 0, "word21 word22 word23"))
    for against, place, extra in alone:
        choose(report, Marked_against=against)
        assert cells.nth(place).locator("mark.extra").all_inner_texts() == [extra]
        assert cells.nth(1 - place).locator("mark").count() == 0
    style = "e => getComputedStyle(e).borderBottomStyle"
    assert cells.nth(0).locator("mark").first.evaluate(style) == "solid"
    expect(report.locator("#legend")).to_contain_text("not in model_b")
    assert "against=1" in report.url
    with report.expect_download() as saved:
        report.get_by_role("button", name="Samples as JSONL").click()
    (document,) = map(json.loads, Path(saved.value.path()).read_text("utf-8").splitlines())
    assert (document["id"], document["language"], document["references"]) == (
        "n17",
        "en",
        reference(17),
    )
    assert document["model_b.prediction"] == rows(3)[17]["prediction"]
    with report.expect_download() as saved:
        report.get_by_role("button", name="Samples as CSV").click()
    assert Path(saved.value.path()).read_text("utf-8").startswith("sample,id,")


def test_tables_are_copied_with_a_clipboard_and_without(report: Page) -> None:
    report.get_by_role("button", name="Copy as LaTeX").click()
    text = copied(report)
    scores = report.locator("#ranges tbody tr").first.locator("td").all_inner_texts()[:2]
    for part in (r"\begin{tabular}", r"model\_a", r"[95\% interval]", *scores):
        assert part in text
    report.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined });")
    report.reload()
    button = report.get_by_role("button", name="Copy as CSV")
    button.click()
    field = report.locator("textarea")
    expect(field).to_be_focused()
    expect(field).to_have_value(re.compile("^metric,"))
    report.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(button).to_be_focused()


def test_a_dark_report_is_printed_light_on_one_sheet(report: Page) -> None:
    report.get_by_role("button", name="Theme: auto").click()
    report.get_by_role("button", name="Theme: light").click()
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = report.evaluate(paper)
    assert dark == "rgb(21, 24, 28)"
    report.emulate_media(media="print")
    assert report.evaluate(paper) == "rgb(255, 255, 255)"
    for gone in ("#theme", "#samples", "#details", ".buttons"):
        expect(report.locator(gone).first).to_be_hidden()
    for shown in ("h1", "#ranges", "#differences .chart"):
        expect(report.locator(shown)).to_be_visible()
    # How it was measured, too.
    expect(report.locator(".paper")).to_contain_text("cer(lowercase=False")
    assert len(re.findall(rb"/Type\s*/Page\b", report.pdf(format="A4"))) == 1
    report.emulate_media(media="screen")
    assert report.evaluate(paper) == dark
    expect(report.locator(".paper")).to_be_hidden()


def test_samples_are_printed_by_a_button_with_what_was_chosen(report: Page) -> None:
    choose(report, Group="language")
    report.emulate_media(media="print")
    expect(report.locator("#found")).to_be_hidden()
    # What is seen when the browser prints, and after it.
    report.evaluate("() => { window.print = () => { window.printed = true; }; }")
    report.emulate_media(media="screen")
    report.get_by_role("button", name="Print samples (10)").click()
    report.wait_for_function("() => window.printed")
    report.emulate_media(media="print")
    assert_shown(report, "language de")
    expect(report.locator("#table td.cell")).to_have_count(20)
    for gone in ("#controls", "#pages", "#scores", "#details", "#print"):
        expect(report.locator(gone)).to_be_hidden()
    report.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(report.locator("#table")).to_be_hidden()
    expect(report.locator("#scores")).to_be_visible()


def test_bars_slices_and_ngrams_list_their_samples_and_are_taken_back(report: Page) -> None:
    bars = report.locator("#histogram .bar")
    counts = [int(str(bar.get_attribute("aria-label")).split()[0]) for bar in bars.all()]
    assert (len(counts), sum(counts)) == (20, SIZE)
    for bar, count in ((bars.first, counts[0]), (bars.last, counts[-1])):
        bar.press("Enter")
        assert_shown(report, f"of {count} sample")
        bar.press("Enter")
        all_found(report)
    # The outermost bars hold the extremes, which are looked at most.
    bars = report.locator("#differences .chart").first.locator("[data-select]")
    for bar, key in ((bars.first, "Enter"), (bars.last, "Space")):
        count = int(str(bar.get_attribute("aria-label")).split()[0])
        bar.press(key)
        assert_shown(report, f"of {count} samples with chrf of model_b − model_a at least")
    # A range of differences in chrf says nothing of cer, whose slices stand below its own.
    report.locator("#slices summary", has_text="cer").click()
    report.locator("#slices details[open]").get_by_role("button", name="zh", exact=True).click()
    expect(report.locator("#found")).to_have_text("1 to 10 of 20 samples with language zh")
    assert {i % 3 for i in listed(report)} == {0}
    assert "group=language" in report.url
    output = report.get_by_label("Output", exact=True).locator("option:checked")
    expect(output).to_have_text("cer")
    # Two of three samples of B say "of_b_alone 50% more", which no reference has.
    mine = report.locator("#ngrams-unsupported table", has_text="More in model_b")
    row = mine.locator("tbody tr").first
    assert row.locator("td").all_inner_texts()[1:3] == ["40", "0"]
    ngram = row.get_by_role("button")
    text = ngram.inner_text()
    ngram.press("Enter")
    message = f"model_b saying “{text}” where no reference has it and model_a not so"
    assert_shown(report, f"no samples with language zh, {message}")
    # Each filter is taken back alone, and the focus goes to the next.
    chips = report.locator("#found button")
    chips.nth(0).press("Enter")
    expect(chips).to_have_count(1)
    expect(chips.first).to_be_focused()
    assert_shown(report, f"of 40 samples with {message}")
    assert all(sample % 3 for sample in listed(report))
    # As the text is written, whatever signs the n-gram leaves out.
    assert marked(report) == "of_b_alone 50" * 10
    assert "ngram=0.3.0" in report.url
    report.reload()
    assert_shown(report, f"of 40 samples with {message}")
    chips.click()
    all_found(report)
    expect(report.get_by_label("Text", exact=True)).to_be_focused()


def test_what_a_search_finds_is_marked_in_cells_and_opened_samples(report: Page) -> None:
    search(report, "WORD64 word65")
    # The second system cut these words off, and sample 59's own reference goes on behind them.
    assert sorted(listed(report)) == [56, 58, 59]
    assert marked(report) == "word64 word65" * 3
    cell = report.locator("#table td.cell .text").first
    expect(cell).to_contain_text(re.compile("^… .*word63 word64 word65"))
    report.get_by_role("button", name="sample n59").click()
    # The words that only the reference has stand between those of the text, and aren't its own.
    assert marked(report, "#sample-59 .side > .text") == "word64 word65"
    report.get_by_role("button", name="Show all samples").click()
    all_found(report)
    assert marked(report, "#table") == ""


def test_each_selection_is_a_step_back_to_where_it_was_made(report: Page, address: str) -> None:
    bar = report.locator("#differences [data-select]").first
    bar.scroll_into_view_if_needed()
    top = report.evaluate("() => scrollY")
    bar.click()
    assert_shown(report, "with chrf of model_b − model_a at least")
    expect(report.locator("#samples-heading")).to_be_in_viewport()
    report.go_back()
    all_found(report)
    expect(bar).to_be_focused()
    assert report.evaluate("() => scrollY") == top
    steps = report.evaluate("() => history.length")
    # A text is one step, however many keys it takes; an opened sample is a part of its step.
    for text in ("w", "word2", "word20"):
        search(report, text)
    choose(report, Group="language")
    assert_shown(report, "language de")
    sample = report.locator("#table [data-sample]").first
    number = sample.get_attribute("data-sample")
    sample.click()
    report.get_by_role("button", name="Turn the order").click()
    expect(report.locator(".opened")).to_have_count(0)
    assert report.evaluate("() => history.length") == steps + 2
    opened, query = report.locator(f"#sample-{number}"), report.get_by_label("Text", exact=True)
    report.go_back()
    expect(opened).to_be_visible()
    report.go_back()
    expect(report.locator("#found")).not_to_contain_text("language")
    expect(query).to_have_value("word20")
    report.go_back()
    expect(query).to_have_value("")
    assert "#" not in report.url
    for _ in range(3):
        report.go_forward()
    expect(report.locator("#turned")).to_have_value("1")
    assert_shown(report, "text “word20”, language de")
    # A loaded page still knows its steps, and one that comes back from a link its view.
    report.reload()
    report.go_back()
    expect(opened).to_be_visible()
    report.get_by_role("link", name="Skip to the samples").press("Enter")
    assert_shown(report, "text “word20”")
    report.goto(f"{address}#view?open=29")
    expect(report.locator("#sample-29")).to_be_in_viewport()
    report.go_back()
    assert_shown(report, "text “word20”")


def test_an_address_of_another_report_finds_nothing_and_says_so(report: Page, address: str) -> None:
    for view, words in (
        ("group=language&value=zz", "language zz (not in this report)"),
        ("group=kind&value=zz", "kind (not in this report)"),
        ("better=5>6", "5>6 (not in this report) on chrf"),
        ("status=odd", "odd (not in this report)"),
        ("ngram=7.7.7", "n-gram 7.7.7 (not in this report)"),
    ):
        report.goto(f"{address}#view?{view}")
        for _ in range(2):
            expect(report.locator("#found")).to_have_text(f"no samples with {words}")
            expect(report.locator("#table tbody tr")).to_have_count(0)
            report.reload()
        report.get_by_role("button", name=f"{words}: remove").click()
        all_found(report)
    report.goto(f"{address}#view?open=999&sort=7-9&system=x&columns=77&against=constructor")
    expect(report.locator("#table tbody tr")).to_have_count(10)


def focused(page: Page) -> str | None:
    """The number of the sample whose button has the focus."""
    number: str | None = page.evaluate("() => document.activeElement.dataset.sample ?? null")
    return number


def outlined(page: Page) -> bool:
    style: str = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    return style != "none"


def test_the_keyboard_alone_filters_and_opens(report: Page) -> None:
    keys = report.keyboard
    keys.press("Tab")
    expect(report.get_by_role("link", name="Skip to the samples")).to_be_focused()
    keys.press("Enter")
    report.get_by_label("Group", exact=True).focus()
    keys.press("l")  # language
    keys.press("Tab")
    keys.press("z")
    assert_shown(report, "language zh")
    while focused(report) is None:
        keys.press("Tab")
    assert outlined(report)
    keys.press("Enter")
    expect(report.locator(".sides").first).to_be_visible()
    assert f"open={focused(report)}" in report.url
    # From a slice to the filter that it sets, and back without it.
    report.locator("#slices").get_by_role("button", name="en", exact=True).first.press("Enter")
    assert_shown(report, "of 20 samples with language en")
    keys.press("Shift+Tab")
    expect(report.get_by_role("button", name="language en: remove")).to_be_focused()
    assert outlined(report)
    keys.press("Enter")
    all_found(report)
    expect(report.get_by_label("Text", exact=True)).to_be_focused()
    # In a field a letter is a letter.
    keys.type("jk")
    expect(report.get_by_label("Text", exact=True)).to_have_value("jk")


def test_keys_walk_the_rows_and_the_focus_stays_where_they_go_on(report: Page) -> None:
    keys, toggles = report.keyboard, report.locator("#table [data-sample]")
    head = report.locator("#table thead button").first
    head.press("Enter")
    expect(head).to_be_focused()
    assert outlined(report)
    # Keys walk the rows, open and close them, and go on to the next page and back.
    report.evaluate("() => document.activeElement.blur()")
    order = [str(number) for number in listed(report)]
    keys.press("j")
    assert focused(report) == order[0]
    for key in ("j", "ArrowDown", "k", "Enter"):
        keys.press(key)
    opened = report.locator(f"#sample-{order[1]}")
    expect(opened).to_be_visible()
    keys.press("Tab")
    keys.press("Escape")
    expect(opened).to_have_count(0)
    assert focused(report) == order[1]
    toggles.last.press("j")
    expect(report.locator("#page")).to_have_text("page 2 of 6")
    assert focused(report) == toggles.first.get_attribute("data-sample")
    keys.press("k")
    assert focused(report) == order[-1]
    # Escape closes the sample that was opened last.
    toggles.nth(4).click()
    toggles.nth(2).click()
    keys.press("Escape")
    expect(toggles.nth(2)).to_have_attribute("aria-expanded", "false")
    expect(toggles.nth(4)).to_have_attribute("aria-expanded", "true")


def test_a_sample_is_copied_as_it_is_shown(page: Page, tmp_path: Path) -> None:
    hub, path = Hub(["token_f1", "wer"]), tmp_path / "report.html"
    texts = {"a": "the cat sat", "b": "the dog sat", "c": "on the mat"}
    write(
        path,
        {
            name: hub.evaluate(predictions=[text], references=["the cat sat on"])
            for name, text in texts.items()
        },
        **FEW,
    )
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{path.as_uri()}#view?columns=0+1")
    page.get_by_label("Output", exact=True).select_option("wer")
    page.get_by_role("button", name="sample 0").click()
    page.get_by_role("button", name="Copy as Markdown").last.click()
    # One of the reference's four words is missing; of "b" one is another besides. token_f1 leaves
    # out articles: of three words both of "a" match, and one of "b".
    assert copied(page).split("\n") == [
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
