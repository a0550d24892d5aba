"""The ten tasks of tests/newcomers.json on an opened report, each as a person does it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub, compare_all
from metrichub.report.html import write
from metrichub.report.html.forest import p_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

TASKS = {
    task["id"]: task
    for task in json.loads(Path(__file__, "../../newcomers.json").resolve().read_text("utf-8"))[
        "tasks"
    ]
}
SIZE = 60
LANGUAGES = ("zh", "de", "en")


def reference(i: int) -> str:
    """Of i + 10 words; each character of Chinese is one."""
    if LANGUAGES[i % 3] == "zh":
        return "他坐在垫子上" * ((i + 10) // 6) + "猫" * ((i + 10) % 6)
    return " ".join(f"word{k}" for k in range(i + 10))


def rows(wrong: int) -> list[dict[str, Any]]:
    """Sample i lacks the end of its reference, the more the larger i % 7 + `wrong` is."""
    found = []
    for i in range(SIZE):
        text = reference(i)
        cut = i % 7 + (wrong if i % 5 else -wrong)
        kept = (
            text[: -cut or None]
            if LANGUAGES[i % 3] == "zh"
            else " ".join(text.split()[: -cut or None])
        )
        extra = " of_b_alone 50% more" if wrong and i % 3 else ""
        found.append(
            {
                "id": f"n{i}",
                "language": LANGUAGES[i % 3],
                "prediction": kept + extra,
                "reference": text,
            }
        )
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tasks") / "report.html"
    hub = Hub(["chrf", "cer"])
    systems = {"model_a": hub.evaluate(rows(0)), "model_b": hub.evaluate(rows(3))}
    write(path, systems, resamples=50, trials=200)
    return path.as_uri()


@pytest.fixture
def report(page: Page, address: str) -> Page:
    page.goto(address)
    return page


def listed(page: Page) -> list[int]:
    return [
        int(text) for text in page.locator("#table tbody button[data-sample]").all_inner_texts()
    ]


def losses(page: Page) -> list[float]:
    """What the second system scores above the first, as its cells say."""
    notes = page.locator("#table tbody td:nth-child(3) > .figures").all_inner_texts()
    signed = [text.split()[1].replace("−", "-").replace("±", "") for text in notes]
    return [float(text) for text in signed]


def test_every_task_has_its_test() -> None:
    done = {
        name.removeprefix("test_").replace("_", "-")
        for name in globals()
        if name.startswith("test_")
    }
    assert set(TASKS) <= done


def test_which_better(report: Page) -> None:
    # The first screen, untouched.
    box = report.locator("#ranges").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 720
    title = report.locator("h1").inner_text()
    assert re.match(r"model_b vs model_a: worse on chrf \(-0\.\d{3} \[.*\], p [<=] ", title)
    assert "cer" in title
    assert report.title() == title
    rows = report.locator("#ranges tbody tr:has(th)").all_inner_texts()
    assert [row.split("\t")[0].strip() for row in rows] == ["chrf ↑", "cer ↓"]
    assert all("worse, p" in row for row in rows)


def ten_worst(page: Page) -> None:
    page.get_by_label("Output", exact=True).select_option("cer")
    page.get_by_label("Group", exact=True).select_option(LANGUAGE)
    page.get_by_label("is", exact=True).select_option("zh")
    page.get_by_label("and group").select_option("words of the reference")
    page.get_by_label("the second is").select_option(LONGEST)


LANGUAGE = "language"
# Samples 0 to 59 have 10 to 69 words: the longest quarter begins with the 46th.
LONGEST = "55 to 69"


def test_ten_worst_long_chinese(report: Page) -> None:
    ten_worst(report)
    expect(report.locator("#found")).to_contain_text(
        f"language zh, words of the reference {LONGEST}"
    )
    numbers = listed(report)
    assert sorted(numbers) == [i for i in range(SIZE) if i % 3 == 0 and i + 10 >= 55]
    # More errors are worse: the largest loss of the second system first.
    assert losses(report) == sorted(losses(report), reverse=True)


def test_why_17_lost(report: Page) -> None:
    report.get_by_label("Text", exact=True).fill("n17")
    expect(report.locator("#found")).to_contain_text("1 to 1 of 1 sample")
    report.get_by_role("button", name="sample 17", exact=True).click()
    opened = report.locator("#sample-17")
    boxes = [side.bounding_box() for side in opened.locator(".sides").first.locator(".side").all()]
    assert boxes[0]
    assert boxes[1]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    expect(opened).to_contain_text(reference(17))
    expect(opened).to_contain_text(re.compile(r"model_a [\d.]+ best here"))
    expect(opened).to_contain_text(re.compile(r"model_b [\d.]+ worst here"))
    # Against the reference, whose end the system lacks.
    side = opened.locator(".side").nth(1)
    assert side.locator("mark.extra").all_inner_texts() == ["of_b_alone 50% more"]
    assert side.locator("del.missing").first.inner_text().split()[-1] == "word26"
    whole = opened.bounding_box()
    assert whole
    assert whole["height"] < 720


def test_send_view(report: Page, browser: Browser) -> None:
    ten_worst(report)
    expect(report.locator("#found")).to_contain_text(f"words of the reference {LONGEST}")
    report.locator("#table tbody button[data-sample]").nth(1).click()
    sent = report.url
    other = browser.new_context().new_page()
    other.goto(sent)
    for place in ("#found", "#table"):
        assert other.locator(place).inner_text() == report.locator(place).inner_text()
    assert other.locator(".opened").count() == 1
    assert other.get_by_label("is", exact=True).input_value() == "zh"
    # Taken back by hand, the address is plain again.
    other.get_by_role("button", name="Show all samples").click()
    expect(other.locator("#found")).to_have_text(re.compile(f"of {SIZE} samples$"))
    other.context.close()


def test_biggest_win_a_over_b(report: Page) -> None:
    report.get_by_label("Output", exact=True).select_option("cer")
    report.get_by_label("Which is better").select_option("model_a better than model_b")
    expect(report.locator("#found")).to_contain_text("model_a better than model_b on cer")
    # cer of B minus that of A: more errors, so more of them first.
    found = losses(report)
    assert found == sorted(found, reverse=True)
    assert found[-1] > 0
    expect(report.get_by_label("Sort by").locator("option:checked")).to_have_text(
        "model_b − model_a"
    )


def test_said_by_one_only(report: Page) -> None:
    report.get_by_label("Text", exact=True).fill("n17")
    expect(report.locator("#found")).to_contain_text("1 to 1 of 1 sample")
    report.get_by_label("Marked against").select_option("model_a")
    cells = report.locator("#table tbody tr").first.locator("td.cell")
    assert cells.nth(1).locator("mark.extra").all_inner_texts() == ["of_b_alone 50% more"]
    assert cells.nth(0).locator("mark").count() == 0
    # What the second system cut off is the first one's alone.
    report.get_by_label("Marked against").select_option("model_b")
    assert cells.nth(0).locator("mark.extra").all_inner_texts() == ["word21 word22 word23"]
    assert cells.nth(1).locator("mark").count() == 0
    style = "e => getComputedStyle(e).borderBottomStyle"
    assert cells.nth(0).locator("mark").first.evaluate(style) == "solid"
    expect(report.locator("#legend")).to_contain_text("Words that model_b doesn't have")
    assert "against=1" in report.url


def test_table_for_paper(browser: Browser, address: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(address)
    page.get_by_role("button", name="Copy as LaTeX").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert r"\begin{tabular}" in copied
    assert r"model\_a" in copied
    scores = page.locator("#ranges tbody tr").first.locator("td").all_inner_texts()[:2]
    assert all(score in copied for score in scores)
    assert r"95\% intervals" in copied
    context.close()


def test_german_only_scores(report: Page) -> None:
    report.get_by_label("Group", exact=True).select_option("language")
    report.get_by_label("is", exact=True).select_option("de")
    expect(report.locator("#found")).to_contain_text("of 20 samples with language de")
    assert {i % 3 for i in listed(report)} == {1}
    expect(report.locator("#means")).to_contain_text(
        "mean of the samples in this selection: model_a"
    )
    # The scores of the whole selection stand among the slices.
    hub = Hub("chrf").evaluate(rows(0)).by("language")["de"].scores()["chrf"]["score"]
    report.get_by_text("Slices", exact=True).click()
    row = report.locator("#slices tr", has=report.get_by_role("button", name="de", exact=True))
    expect(row.first).to_contain_text(f"{hub:.3f}")
    report.get_by_role("button", name="Show all samples").click()
    expect(report.locator("#found")).to_have_text(f"1 to 10 of {SIZE} samples")


def test_real_or_luck(report: Page) -> None:
    hub = Hub(["chrf", "cer"])
    systems = {"model_a": hub.evaluate(rows(0)), "model_b": hub.evaluate(rows(3))}
    ranking = compare_all(systems, resamples=50, trials=200)
    test = ranking.pairs["model_b", "model_a"]["chrf"]["score"]
    row = report.locator("#ranges tbody tr").first
    expect(row).to_contain_text(f"{test.difference:+.3f}")
    expect(row).to_contain_text(f"[{test.interval.low:+.3f}, {test.interval.high:+.3f}]")
    expect(row).to_contain_text(p_of(test.p))
    expect(report.locator(".facts")).to_contain_text(str(SIZE))
    report.get_by_text("Method", exact=True).click()
    expect(report.locator("#method")).to_contain_text("paired approximate randomization")


def test_print_for_meeting(report: Page) -> None:
    report.get_by_label("Group", exact=True).select_option("language")
    report.get_by_role("button", name="Theme: auto").click()
    report.get_by_role("button", name="Theme: light").click()
    dark = report.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(21, 23, 26)"
    report.emulate_media(media="print")
    assert (
        report.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    )
    for gone in ("#theme", "#controls", "#copy-link", ".histogram"):
        expect(report.locator(gone)).to_be_hidden()
    expect(report.locator("#found")).to_be_visible()
    expect(report.locator("#found")).to_contain_text("language de")
    report.set_viewport_size({"width": 720, "height": 1000})  # A4 without its margins
    wide = report.locator("#ranges table").bounding_box()
    assert wide
    assert wide["x"] + wide["width"] <= 720
    report.emulate_media(media="screen")
    assert report.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_a_bar_of_the_histogram_chooses_its_samples(report: Page) -> None:
    bars = report.locator("#histogram .bar")
    expect(bars).to_have_count(20)
    seen = 0
    for k in range(20):
        count = int((bars.nth(k).get_attribute("aria-label") or "").split()[0])
        seen += count
        bars.nth(k).focus()
        report.keyboard.press("Enter")
        expect(report.locator("#found")).to_contain_text("at least")
        said = re.search(r"(?:of ([\d,]+)|no) samples?", report.locator("#found").inner_text())
        assert said
        assert int(said[1] or 0) == count
        # Taken back.
        report.keyboard.press("Enter")
        expect(report.locator("#found")).to_have_text(f"1 to 10 of {SIZE} samples")
    assert seen == SIZE


def test_the_samples_of_a_selection_are_saved(report: Page) -> None:
    report.get_by_label("Text", exact=True).fill("n17")
    expect(report.locator("#found")).to_contain_text("1 to 1 of 1 sample")
    with report.expect_download() as saved:
        report.get_by_role("button", name="Samples as JSONL").click()
    (row,) = map(json.loads, Path(saved.value.path()).read_text("utf-8").splitlines())
    assert (row["id"], row["language"], row["references"]) == ("n17", "en", reference(17))
    assert row["model_b.prediction"] == rows(3)[17]["prediction"]
    with report.expect_download() as saved:
        report.get_by_role("button", name="Samples as CSV").click()
    assert Path(saved.value.path()).read_text("utf-8").startswith("sample,id,")


def test_three_tasks_by_keyboard(report: Page, browser: Browser) -> None:
    keys = report.keyboard
    report.get_by_label("Group", exact=True).focus()
    keys.press("l")  # language
    keys.press("Tab")
    keys.press("z")
    expect(report.locator("#found")).to_contain_text("language zh")
    for _ in range(60):
        keys.press("Tab")
        if report.evaluate("document.activeElement.dataset.sample !== undefined"):
            break
    keys.press("Enter")
    expect(report.locator(".sides").first).to_be_visible()
    sample = report.evaluate("document.activeElement.dataset.sample")
    assert f"open={sample}" in report.url


def test_an_ngram_lists_its_samples(report: Page) -> None:
    report.get_by_text("Distinctive n-grams", exact=True).click()
    section = report.locator("#ngrams")
    expect(section).to_be_visible()
    # Two of three samples of B say "of_b_alone 50% more", which no reference has.
    mine = section.locator("#ngrams-unsupported table", has_text="More in model_b")
    row = mine.locator("tbody tr").first
    assert row.locator("td").all_inner_texts()[1:3] == ["40", "0"]
    button = row.get_by_role("button")
    text = button.inner_text()
    button.focus()
    report.keyboard.press("Enter")
    expect(report.locator("#found")).to_contain_text(
        f"of 40 samples with model_b saying “{text}” where no reference has it and model_a not so"
    )
    assert all(sample % 3 for sample in listed(report))
    assert "ngram=0.3.0" in report.url
    report.reload()
    expect(report.locator("#found")).to_contain_text("of 40 samples with model_b saying")
    report.get_by_role("button", name="Show all samples").click()
    expect(report.locator("#found")).to_have_text(f"1 to 10 of {SIZE} samples")


def test_a_slice_and_a_bar_list_their_samples(report: Page) -> None:
    report.get_by_text("Slices", exact=True).click()
    report.locator("#slices").get_by_role("button", name="zh", exact=True).first.click()
    expect(report.locator("#found")).to_contain_text("of 20 samples with language zh")
    assert {i % 3 for i in listed(report)} == {0}
    assert "group=language" in report.url
    report.get_by_role("button", name="language zh: remove").click()
    report.get_by_text("Distribution over the samples", exact=True).click()
    # The outermost bars hold the extremes, which are looked at most.
    bars = report.locator("#differences .chart").first.locator("[data-select]")
    for bar in (bars.first, bars.last):
        count = int((bar.get_attribute("aria-label") or "").split()[0])
        bar.focus()
        report.keyboard.press("Enter")
        expect(report.locator("#found")).to_contain_text(f"of {count} samples with")
