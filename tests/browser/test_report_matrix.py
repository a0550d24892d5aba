"""Journeys through a report of several systems: columns, marks, orders, a phone, links, views."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub
from metrichub.report.html import write
from tests.browser.reports import FEW, opened, page_of, shown, write_many

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_many(tmp_path_factory.mktemp("three"), 3)


def heads(page: Page) -> list[str]:
    return page.locator("#table thead th.cell > button:first-child").all_inner_texts()


def cells(page: Page, number: int) -> Locator:
    """What the systems say of a sample."""
    button = page.locator(f"button[data-sample='{number}']")
    return page.locator("#table tbody tr").filter(has=button).locator("td.cell")


def test_ten_of_twelve_systems_are_columns_that_are_chosen_and_pinned(
    page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(write_many(tmp_path, 12))
    # Beside the answer there is room for the two that are compared; the others have a line.
    assert heads(page) == ["system 0", "system 1"]
    number = int(page.locator("#table [data-sample]").first.inner_text())
    expect(opened(page, number).locator(".unseen")).to_contain_text("system 11")
    page.get_by_role("button", name=f"sample {number}", exact=True).click()
    page.get_by_text("Columns: 2 of 12 systems").click()
    for number in range(2, 10):
        page.get_by_role("checkbox", name=f"system {number}", exact=True).check()
    assert heads(page) == [f"system {k}" for k in range(10)]
    # No more than ten fit.
    expect(page.get_by_role("checkbox", name="system 11")).to_be_disabled()
    page.get_by_role("checkbox", name="system 3").uncheck()
    page.get_by_role("checkbox", name="system 11").check()
    expected = [f"system {k}" for k in range(12) if k not in (3, 10)]
    assert heads(page) == expected
    page.reload()
    assert heads(page) == expected
    # A pinned system comes first and stays in sight.
    expect(page.locator("#wider")).to_be_visible()
    pin = page.get_by_role("button", name="pin system 7")
    pin.click()
    assert heads(page)[:2] == ["system 7", "system 0"]
    expect(pin).to_be_focused()
    page.locator("#matrix").evaluate("made => { made.scrollLeft = 900; }")
    for place in (".given", ".pinned"):
        box = page.locator(f"#table thead {place}").bounding_box()
        assert box
        assert 0 <= box["x"] < 1000
    pin.click()
    assert heads(page)[0] == "system 0"


def test_a_text_is_marked_against_its_reference_another_system_or_nothing(
    page: Page, tmp_path: Path
) -> None:
    fields = {"a": ["the cat sat", "as it is"], "b": ["the dog sat", "as it is now"]}
    page.goto(page_of(tmp_path, ["exact_match"], ["the cat sat", "as it is"], fields))
    assert cells(page, 0).locator("mark.extra").all_inner_texts() == ["dog"]
    # What equals its reference has no mark and says so.
    figures = cells(page, 0).locator(".figures")
    expect(figures).to_have_text(["1 = reference", "0 −1 · 1\N{NO-BREAK SPACE}missing"])
    expect(page.locator("#legend")).to_have_text(
        "in no reference · missing: words of the reference that a text lacks · ± from a"
    )
    against = page.get_by_label("Marked against")
    against.select_option("b")
    assert cells(page, 0).locator("mark.extra").all_inner_texts() == ["cat"]
    assert cells(page, 0).nth(1).locator("mark").count() == 0
    sample = opened(page, 0)
    expect(sample.locator(".side").nth(0).locator("del.missing")).to_have_text("dog")
    expect(sample.locator(".label", has_text="Marks:")).to_contain_text("only in b")
    # What is open stays open.
    against.select_option("nothing")
    expect(sample).to_be_visible()
    assert page.locator("#table mark").count() == 0
    page.reload()
    expect(against).to_have_value("plain")
    expect(sample).to_be_visible()
    # Missing words are explained where some are.
    fields = {name: texts[1:] for name, texts in fields.items()}
    page.goto(page_of(tmp_path, ["exact_match"], ["as it is"], fields))
    expect(page.locator("#legend")).to_have_text("in no reference · ± from a")
    # Without references texts are marked against the first system.
    page.goto(page_of(tmp_path, ["aun"], None, {"a": ["x y"], "b": ["x z"]}))
    assert against.locator("option").all_inner_texts() == ["a", "b", "nothing"]
    assert page.locator("#table mark.extra").all_inner_texts() == ["z"]


def test_rows_are_sorted_by_any_system_a_difference_or_the_range(page: Page, three: str) -> None:
    page.goto(f"{three}#view?columns=0+1+2")
    first, order = page.locator("#table [data-sample]").first, page.get_by_label("Sort by")
    # Sample i has min(i % 10 + k, 10) of 11 words wrong by system k.
    head = page.locator("#table thead th").filter(has_text="system 2")
    for direction, sample in (("descending", "8"), ("ascending", "0")):
        page.get_by_role("button", name="system 2", exact=True).press("Enter")
        expect(order).to_have_value("2")
        expect(head).to_have_attribute("aria-sort", direction)
        expect(first).to_have_text(sample)
    # Sample 9 has 9, 10 and 10 wrong: a range of one word, where others have two.
    order.select_option("range of all systems")
    page.get_by_role("button", name="Turn the order").click()
    expect(first).to_have_text("9")
    address = page.url
    order.select_option("system 2 − system 0")
    page.goto(address)
    page.reload()
    expect(first).to_have_text("9")
    # A win shows its samples in words by the largest difference, whatever was filtered.
    page.get_by_label("score at least").fill("0.2")
    expect(page.locator("#found")).to_contain_text("at least 0.2")
    page.locator("#wins tbody tr").first.locator("button").last.click()
    expect(page.locator("#found")).to_have_text(
        "1 to 10 of 40 samples with system 0 better than system 2 on wer"
    )
    expect(order.locator("option:checked")).to_have_text("system 2 − system 0")
    page.get_by_role("button", name="Last", exact=True).click()
    assert page.locator("#table [data-sample]").all_inner_texts()[-4:] == ["9", "19", "29", "39"]
    page.emulate_media(media="print")
    for kind in (".win", ".loss"):
        adjusted = page.locator(kind).first.evaluate("e => getComputedStyle(e).printColorAdjust")
        assert adjusted == "exact"


def test_a_phone_has_one_system_at_a_time(page: Page, three: str) -> None:
    page.goto(f"{three}#view?columns=0+1+2")
    page.get_by_label("Rows").select_option("50")
    page.set_viewport_size({"width": 390, "height": 800})
    chosen = page.get_by_label("System", exact=True)
    expect(cells(page, 8)).to_have_count(1)
    expect(chosen).to_have_value("1")
    following = page.get_by_role("button", name="Next system")
    following.click()
    expect(chosen).to_have_value("2")
    # Sample 8 has ten wrong words by system 2.
    expect(cells(page, 8).locator(".figures")).to_contain_text("0.909")
    following.click()
    expect(chosen).to_have_value("0")
    sides = opened(page, 8).locator(".side")
    expect(sides).to_have_count(1)
    page.get_by_role("button", name="Previous system").click()
    expect(sides.locator("h4").first).to_contain_text("system 2")
    page.set_viewport_size({"width": 1400, "height": 800})
    expect(cells(page, 8)).to_have_count(3)
    expect(sides).to_have_count(3)


CODE = "def f(x):\n    y = x\n    return y"


def test_json_code_and_long_texts_have_views_of_their_own(page: Page, tmp_path: Path) -> None:
    numbers, words = list(range(2000)), [f"w{i * 7919 % 5000}" for i in range(9000)]
    tree, text = '{"b": 12345678901234567890, "a": [true, "<b>"]}', json.dumps(numbers)
    long = " ".join(words)
    other = ['{"a": [true], "b": 2.0}', CODE.replace("y = x", "y = 2")]
    other += [json.dumps([*numbers[:-1], -1]), " ".join(reversed(words))]
    texts = {"a": other, "b": [tree, CODE, "[]", " ".join(words[:-1])]}
    page.goto(page_of(tmp_path, ["exact_match"], [tree, CODE, text, long], texts))
    expect(cells(page, 3).nth(0)).to_contain_text("… all ")
    sides = opened(page, 0).locator(".side")
    keys, equal = sides.nth(0), sides.nth(1)
    assert keys.locator("th").all_inner_texts() == ["key", "value", "reference"]
    assert keys.locator("mark.extra").all_inner_texts() == ["2.0"]
    # The number is the one that was written: JavaScript would round it.
    assert keys.locator("del.missing").all_inner_texts() == ["12345678901234567890", '"<b>"']
    assert equal.locator("mark, del").count() == 0
    expect(keys.locator("tbody tr")).to_have_count(3)
    lines = opened(page, 1).locator(".side").nth(0)
    assert lines.locator("mark.extra").all_inner_texts() == ["    y = 2\n"]
    assert lines.locator("del.missing").all_inner_texts() == ["    y = x\n"]
    many = opened(page, 2).locator(".side").nth(0)
    expect(many).to_contain_text("300 of 2000 keys, those that differ first.")
    expect(many.locator("tbody tr").first).to_contain_text("[1999]")
    expect(many.locator("tbody tr")).to_have_count(300)
    sides = opened(page, 3).locator(".side")
    expect(sides.nth(0)).to_contain_text("too long to be put in order")
    # All but the end is equal, which needs no order.
    expect(sides.nth(1).locator("del.missing")).to_have_text(words[-1])


def test_of_a_reply_from_which_an_answer_was_read_nothing_is_marked(
    page: Page, tmp_path: Path
) -> None:
    report = Hub(["exact_match(extract='last_number')"]).evaluate(
        predictions=["It is 6 times 7, so 42.", '{"id": 7}', f"```python\n{CODE} + 1\n```"],
        references=["42", '{"id": 7, "tags": []}', CODE],
    )
    page.goto(shown(tmp_path, report))
    expect(cells(page, 0).locator(".read")).to_have_text("answer read by last_number: 42")
    expect(cells(page, 0).locator(".figures")).to_have_text("= reference")
    assert page.locator("#table mark").count() == 0
    assert opened(page, 1).locator("table.keys tbody td").all_inner_texts() == ["id", "7"]
    expect(opened(page, 2).locator("pre.code")).to_have_text(f"{CODE} + 1")


LABELS = {
    "first": ["yes", "yes", "no", "no", "no"],
    "second": ["yes", "no", "yes", "no", "yes"],
}


@pytest.fixture
def labelled(page: Page, tmp_path: Path) -> Page:
    """Two systems that label five samples, of which both get the first and neither the last."""
    page.set_viewport_size({"width": 1400, "height": 900})
    hub, path = Hub("classification"), tmp_path / "report.html"
    texts = [f"an utterance of {k}" for k in range(5)]
    references = ["yes", "yes", "yes", "no", "maybe"]
    systems = {
        name: hub.evaluate(
            [
                {"prediction": prediction, "reference": label, "utterance": text}
                for prediction, label, text in zip(predictions, references, texts, strict=True)
            ]
        )
        for name, predictions in LABELS.items()
    }
    write(path, systems, **FEW)
    page.goto(path.as_uri())
    return page


def test_labels_are_right_or_wrong_in_a_line_with_text_and_reference(labelled: Page) -> None:
    rows = labelled.locator("#table tbody tr")
    # The two samples in which one is right come first.
    assert [row.locator("td").all_text_contents() for row in rows.all()[:2]] == [
        ["1an utterance of 1", "yes", "✓\N{NO-BREAK SPACE}yes", "✗\N{NO-BREAK SPACE}no"],
        ["2an utterance of 2", "yes", "✗\N{NO-BREAK SPACE}no", "✓\N{NO-BREAK SPACE}yes"],
    ]
    expect(rows.first.get_by_role("img", name="wrong")).to_have_count(1)
    expect(labelled.get_by_label("Sort by").locator("option:checked")).to_have_text("one is right")
    expect(labelled.locator("#differences")).to_have_count(0)


def test_who_is_right_and_a_cell_of_the_matrix_list_their_samples(labelled: Page) -> None:
    parts = labelled.locator("p.outcomes button")
    expect(parts).to_have_text(
        ["both right 2", "only first right 1", "only second right 1", "both wrong 1"]
    )
    parts.last.click()
    expect(labelled.locator("#found")).to_have_text("1 to 1 of 1 sample with outcome both wrong")
    assert labelled.locator("#table [data-sample]").all_inner_texts() == ["4"]
    labelled.get_by_role("button", name="Show all samples").click()
    # The second system says yes where maybe is right.
    cell = labelled.get_by_role("button", name="1 of 1 maybe called yes")
    cell.press("Enter")
    assert labelled.locator("#table [data-sample]").all_inner_texts() == ["4"]
    # Of three that are yes either finds two; the second calls one so that isn't: 4 / 5, 4 / 6.
    first = labelled.locator("#rates tbody tr").first
    expect(first.locator("th")).to_have_text("yes 3")
    expect(first.locator(".number")).to_have_text(["0.800", "0.667"])
