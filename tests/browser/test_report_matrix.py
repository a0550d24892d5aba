"""The samples of a report in a browser: a row each, a column a system, marks, keys, selections."""

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
from tests.browser.reports import FEW, write_many

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_many(tmp_path_factory.mktemp("twelve"), 12)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_many(tmp_path_factory.mktemp("three"), 3)


def written(folder: Path, references: list[Any], **systems: list[Any]) -> str:
    """The address of a report of these predictions."""
    hub, path = Hub(["exact_match"]), folder / "report.html"
    write(
        path,
        {name: hub.evaluate(predictions=p, references=references) for name, p in systems.items()},
        **FEW,
    )
    return path.as_uri()


def heads(page: Page) -> list[str]:
    return page.locator("#table thead th.cell > button:first-child").all_inner_texts()


def sample(page: Page, number: int) -> Locator:
    """The row of a sample."""
    return page.locator("#table tbody tr").filter(
        has=page.locator(f"button[data-sample='{number}']")
    )


def cells(page: Page, number: int) -> Locator:
    return sample(page, number).locator("td.cell")


def focused(page: Page) -> str | None:
    """The number of the sample whose button has the focus."""
    found: str | None = page.evaluate("() => document.activeElement.dataset.sample ?? null")
    return found


def test_ten_of_twelve_systems_are_columns_and_others_are_chosen(page: Page, twelve: str) -> None:
    page.goto(twelve)
    assert heads(page) == [f"system {k}" for k in range(10)]
    page.get_by_text("Columns: 10 of 12 systems").click()
    # No more than ten fit.
    expect(page.get_by_role("checkbox", name="system 11")).to_be_disabled()
    page.get_by_role("checkbox", name="system 3").uncheck()
    page.get_by_role("checkbox", name="system 11").check()
    wanted = [f"system {k}" for k in range(12) if k not in (3, 10)]
    assert heads(page) == wanted
    page.reload()
    assert heads(page) == wanted


def test_a_pinned_system_comes_first_and_stays_in_sight(page: Page, twelve: str) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(twelve)
    expect(page.locator("#wider")).to_be_visible()
    page.get_by_role("button", name="pin system 7").click()
    assert heads(page)[:2] == ["system 7", "system 0"]
    expect(page.get_by_role("button", name="pin system 7")).to_be_focused()
    page.locator("#matrix").evaluate("made => { made.scrollLeft = 900; }")
    for place in (page.locator("#table thead .given"), page.locator("#table thead .pinned")):
        box = place.bounding_box()
        assert box
        assert 0 <= box["x"] < 700
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 1400
    page.get_by_role("button", name="pin system 7").click()
    assert heads(page)[0] == "system 0"


def test_a_text_is_marked_against_its_reference_another_system_or_nothing(
    page: Page, tmp_path: Path
) -> None:
    page.goto(
        written(
            tmp_path,
            ["the cat sat", "他坐在垫子上"],
            a=["the cat sat", "他坐在椅子上"],
            b=["the dog sat", "他坐在垫子上"],
        )
    )
    marks = "found => found.map(made => made.textContent)"
    assert cells(page, 0).locator("mark.extra").evaluate_all(marks) == ["dog"]
    assert cells(page, 1).locator("mark.extra").evaluate_all(marks) == ["椅"]
    # What equals its reference has no mark and says so.
    expect(cells(page, 0).nth(0).locator(".figures")).to_have_text("1 = reference")
    expect(cells(page, 0).nth(1).locator(".figures")).to_have_text(
        "0 −1 · 1\N{NO-BREAK SPACE}missing"
    )
    expect(page.locator("#legend")).to_contain_text("“missing” counts those of the reference")
    page.get_by_label("Marked against").select_option("b")
    assert cells(page, 0).locator("mark.extra").evaluate_all(marks) == ["cat"]
    assert cells(page, 0).nth(1).locator("mark").count() == 0
    page.get_by_role("button", name="sample 0", exact=True).click()
    expect(page.locator("#sample-0 .side").nth(0).locator("del.missing")).to_have_text("dog")
    expect(page.locator("#sample-0 .label", has_text="Marks:")).to_contain_text("only in b")
    # What is open stays open.
    page.get_by_label("Marked against").select_option("nothing")
    expect(page.locator("#sample-0")).to_be_visible()
    assert page.locator("#table mark").count() == 0
    page.reload()
    expect(page.get_by_label("Marked against")).to_have_value("plain")
    expect(page.locator("#sample-0")).to_be_visible()


def test_wins_and_losses_print_in_colour(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, ["the cat"], a=["the cat"], b=["the dog"], c=["a dog"]))
    page.emulate_media(media="print")
    for kind in (".win", ".loss"):
        adjusted = page.locator(kind).first.evaluate("e => getComputedStyle(e).printColorAdjust")
        assert adjusted == "exact"


def test_the_legend_explains_missing_words_only_where_some_are(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, ["the cat sat"], a=["the cat sat"], b=["the cat sat here"]))
    expect(page.locator("#legend")).to_contain_text("Words that no reference has are underlined")
    expect(page.locator("#legend")).not_to_contain_text("missing")


def test_without_references_a_text_is_marked_against_the_first_system(
    page: Page, tmp_path: Path
) -> None:
    hub = Hub(["aun"])
    systems = {
        name: hub.evaluate(predictions=[text]) for name, text in (("a", "x y"), ("b", "x z"))
    }
    write(tmp_path / "report.html", systems, **FEW)
    page.goto((tmp_path / "report.html").as_uri())
    assert page.get_by_label("Marked against").locator("option").all_inner_texts() == [
        "a",
        "b",
        "nothing",
    ]
    assert page.locator("#table mark.extra").all_inner_texts() == ["z"]


def test_rows_are_sorted_by_any_system_a_difference_or_the_range(page: Page, three: str) -> None:
    page.goto(three)
    # Sample i has min(i % 10 + k, 10) of 11 words wrong by system k.
    page.get_by_role("button", name="system 2", exact=True).click()
    expect(page.get_by_label("Sort by")).to_have_value("2")
    head = page.locator("#table thead th").filter(has_text="system 2")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(page.locator("#table [data-sample]").first).to_have_text("8")
    page.get_by_role("button", name="system 2", exact=True).press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("#table [data-sample]").first).to_have_text("0")
    # Sample 9 has 9, 10 and 10 wrong: a range of one word, where others have two.
    page.get_by_label("Sort by").select_option("range of all systems")
    page.get_by_role("button", name="Turn the order").click()
    expect(page.locator("#table [data-sample]").first).to_have_text("9")
    address = page.url
    page.get_by_label("Sort by").select_option("system 2 − system 0")
    page.goto(address)
    page.reload()
    expect(page.locator("#table [data-sample]").first).to_have_text("9")


def test_keys_walk_the_rows_open_and_close_them(page: Page, three: str) -> None:
    page.goto(three)
    order = page.locator("#table [data-sample]").all_inner_texts()
    page.keyboard.press("j")
    assert focused(page) == order[0]
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    assert focused(page) == order[1]
    page.keyboard.press("Enter")
    opened = page.locator(f"#sample-{order[1]}")
    expect(opened).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(opened).to_have_count(0)
    assert focused(page) == order[1]
    # From the last row on to the next page, and back.
    page.locator("#table [data-sample]").last.focus()
    page.keyboard.press("j")
    expect(page.locator("#page")).to_have_text("page 2 of 4")
    assert focused(page) == page.locator("#table [data-sample]").first.inner_text()
    page.keyboard.press("k")
    assert focused(page) == order[-1]
    # In a field a letter is a letter.
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.type("jk")
    expect(page.get_by_label("Text", exact=True)).to_have_value("jk")


def test_a_phone_has_one_system_at_a_time(
    page: Page, three: str, shoot: Callable[[Page, str], None]
) -> None:
    page.goto(three)
    page.get_by_label("Rows").select_option("50")
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.locator("#table tbody tr").first.locator("td.cell")).to_have_count(1)
    expect(page.get_by_label("System", exact=True)).to_have_value("1")
    page.get_by_role("button", name="Next system").click()
    expect(page.get_by_label("System", exact=True)).to_have_value("2")
    # Sample 8 has ten wrong words by system 2.
    expect(cells(page, 8).locator(".figures")).to_contain_text("0.909")
    page.get_by_role("button", name="Next system").click()
    expect(page.get_by_label("System", exact=True)).to_have_value("0")
    page.get_by_role("button", name="sample 8", exact=True).click()
    expect(page.locator("#sample-8 .side")).to_have_count(1)
    page.get_by_role("button", name="Previous system").click()
    expect(page.locator("#sample-8 .side h4").first).to_contain_text("system 2")
    shoot(page, "report-three-phone")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    for box in page.locator("#table td").all():
        assert box.evaluate("made => made.scrollWidth <= made.clientWidth")
    page.set_viewport_size({"width": 1400, "height": 800})
    expect(cells(page, 8)).to_have_count(3)
    expect(page.locator("#sample-8 .side")).to_have_count(3)


SELECTED = """choice => {
    const made = document.createElement(choice.tag);
    if (choice.tag !== "button") { made.tabIndex = 0; made.setAttribute("role", "button"); }
    made.dataset.select = JSON.stringify(choice.select);
    document.querySelector("main").prepend(made);
    made.textContent = "chart";
    made.focus();
}"""


@pytest.mark.parametrize(("tag", "key"), [("button", "Enter"), ("span", "Enter"), ("span", " ")])
def test_what_a_chart_selects_stands_in_the_address(
    page: Page, three: str, tag: str, key: str
) -> None:
    page.goto(three)
    # By system 2, samples whose number ends in 8 or 9 have all ten words wrong, of eleven.
    select = {"output": 0, "system": 2, "low": 0.909091, "high": 0.909091}
    page.evaluate(SELECTED, {"tag": tag, "select": select})
    page.keyboard.press(key)
    expect(page.locator("#found")).to_contain_text("of 8 samples with wer of system 2 at least")
    assert set(page.locator("#table [data-sample]").all_inner_texts()) == {
        f"{tens}{ones}".lstrip("0") for tens in range(4) for ones in (8, 9)
    }
    page.reload()
    expect(page.locator("#found")).to_contain_text("of 8 samples")


def test_a_win_shows_the_samples_in_words_by_the_largest_difference(page: Page, three: str) -> None:
    page.goto(three)
    page.get_by_label("score at least").fill("0.2")
    expect(page.locator("#found")).to_contain_text("at least 0.2")
    page.locator("#wins tbody tr").first.locator("button").last.click()
    # System 2 has two more words wrong than system 0; where that has nine wrong, one more.
    expect(page.locator("#found")).to_have_text(
        "1 to 10 of 40 samples with system 0 better than system 2 on wer"
    )
    expect(page.get_by_label("Sort by").locator("option:checked")).to_have_text(
        "system 2 − system 0"
    )
    page.get_by_role("button", name="Last", exact=True).click()
    last = page.locator("#table [data-sample]").all_inner_texts()[-4:]
    assert last == ["9", "19", "29", "39"]


def test_a_bar_that_isn_t_the_last_leaves_its_upper_bound_out(page: Page, three: str) -> None:
    page.goto(three)
    # Samples ending in 8 have two more words wrong by system 2, those in 9 one; all others two.
    for low, high, count in ((1, 2, 4), (2, 2, 36)):
        bounds = {"low": low / 11 - 1e-6, "high": high / 11 + (1e-6 if low == high else -1e-6)}
        page.evaluate(
            SELECTED, {"tag": "button", "select": {"output": 0, "pair": [0, 2], **bounds}}
        )
        page.keyboard.press("Enter")
        expect(page.locator("#found")).to_contain_text(
            f"of {count} samples with wer of system 2 − system 0 at least"
        )
        expect(page.locator("#found")).to_contain_text("below" if low == 1 else "at most")
    # A pair that the list of orders lacks is added to it.
    page.evaluate(
        SELECTED, {"tag": "button", "select": {"output": 0, "pair": [1, 2], "low": 0, "high": 1}}
    )
    page.keyboard.press("Enter")
    expect(page.get_by_label("Sort by").locator("option:checked")).to_have_text(
        "system 2 − system 1"
    )
    page.reload()
    expect(page.get_by_label("Sort by")).to_have_value("1-2")


def test_a_link_opens_its_sample_on_whatever_page(page: Page, three: str) -> None:
    page.goto(three)
    last = page.evaluate("() => Number(document.querySelectorAll('[data-sample]').length)")
    assert last == 10
    page.get_by_role("button", name="Next").click()
    far = page.locator("#table [data-sample]").last.inner_text()
    page.goto(f"{three}#view?open={far}")
    expect(page.locator(f"#sample-{far}")).to_be_in_viewport()
    # A link to where one is already shows it again.
    page.evaluate(
        """href => {
            const link = document.createElement("a");
            [link.href, link.textContent] = [href, "the sample"];
            document.querySelector("main").prepend(link);
            scrollTo(0, 0);
        }""",
        f"#view?open={far}",
    )
    page.goto(f"{three}#view?open={far}")
    page.get_by_role("link", name="the sample", exact=True).click()
    expect(page.locator(f"#sample-{far}")).to_be_in_viewport()
    page.evaluate("() => scrollTo(0, 0)")
    page.get_by_role("link", name="the sample", exact=True).click()
    expect(page.locator(f"#sample-{far}")).to_be_in_viewport()
    # What isn't there opens nothing.
    page.goto(f"{three}#view?open=999&sort=7-9&system=x&columns=77&against=constructor")
    expect(page.locator("#table tbody tr")).to_have_count(10)


def test_json_code_and_answers_have_views_of_their_own(page: Page, tmp_path: Path) -> None:
    hub, path = Hub(["exact_match(extract='last_number')"]), tmp_path / "report.html"
    code = "def f(x):\n    return x"
    written = {"id": 12345678901234567890, "tags": ["a"]}
    report = hub.evaluate(
        predictions=["It is 6 times 7, so 42.", json.dumps(written), f"```python\n{code} + 1\n```"],
        references=["42", '{"tags": ["a", "b"], "id": 12345678901234567890}', code],
    )
    report.to_html(path, **FEW)
    page.goto(path.as_uri())
    expect(cells(page, 0).locator(".read")).to_have_text("answer read by last_number: 42")
    expect(cells(page, 0).locator(".figures")).to_have_text("= reference")
    # Of a reply from which an answer was read nothing is marked.
    assert page.locator("#table mark").count() == 0
    page.get_by_role("button", name="sample 1", exact=True).click()
    rows = page.locator("#sample-1 table.keys tbody tr")
    assert [row.locator("td").all_inner_texts() for row in rows.all()] == [
        ["id", "12345678901234567890"],
        ["tags[0]", '"a"'],
    ]
    page.get_by_role("button", name="sample 2", exact=True).click()
    expect(page.locator("#sample-2 pre.code")).to_have_text(f"{code} + 1")


def test_json_is_compared_by_keys_and_code_by_lines(page: Page, tmp_path: Path) -> None:
    code = "def f(x):\n    y = x\n    return y"
    page.goto(
        written(
            tmp_path,
            ['{"b": 1, "a": [true, "<b>"]}', code],
            a=['{"a": [true], "b": 2.0}', code.replace("y = x", "y = 2")],
            b=['{"b": 1, "a": [true, "<b>"]}', code],
        )
    )
    for number in (0, 1):
        page.get_by_role("button", name=f"sample {number}", exact=True).click()
    keys, whole = (page.locator("#sample-0 .side").nth(k) for k in (0, 1))
    assert keys.locator("th").all_inner_texts() == ["key", "value", "reference"]
    assert keys.locator("mark.extra").all_inner_texts() == ["2.0"]
    assert keys.locator("del.missing").all_inner_texts() == ["1", '"<b>"']
    assert whole.locator("mark, del").count() == 0
    expect(keys.locator("tbody tr")).to_have_count(3)
    lines = page.locator("#sample-1 .side").nth(0)
    assert lines.locator("mark.extra").all_inner_texts() == ["    y = 2\n"]
    assert lines.locator("del.missing").all_inner_texts() == ["    y = x\n"]


def test_of_many_keys_those_that_differ_are_shown(page: Page, tmp_path: Path) -> None:
    numbers = list(range(2000))
    page.goto(
        written(tmp_path, [json.dumps(numbers)], a=[json.dumps([*numbers[:-1], -1])], b=["[]"])
    )
    page.get_by_role("button", name="sample 0", exact=True).click()
    first = page.locator("#sample-0 .side").nth(0)
    expect(first).to_contain_text("300 of 2000 keys, those that differ first.")
    expect(first.locator("tbody tr").first).to_contain_text("[1999]")
    expect(first.locator("tbody tr")).to_have_count(300)


def test_long_texts_open_at_once_and_say_how_they_are_compared(page: Page, tmp_path: Path) -> None:
    words = [f"w{i * 7919 % 5000}" for i in range(9000)]
    page.goto(
        written(
            tmp_path, [" ".join(words)], a=[" ".join(reversed(words))], b=[" ".join(words[:-1])]
        )
    )
    expect(cells(page, 0).nth(0)).to_contain_text("… all ")
    page.get_by_role("button", name="sample 0", exact=True).click()
    sides = page.locator("#sample-0 .side")
    expect(sides.nth(0)).to_contain_text("too long to be put in order")
    # All but the end is equal, which needs no order.
    expect(sides.nth(1).locator("del.missing")).to_have_text(words[-1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 800, 390])
def test_axe_finds_nothing_in_many_columns(
    page: Page,
    twelve: str,
    width: int,
    scheme: str,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(twelve)
    page.locator("#table [data-sample]").nth(1).click()
    shoot(page, f"report-twelve-{width}-{scheme}")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert violations(page) == []
