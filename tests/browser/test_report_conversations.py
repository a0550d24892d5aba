"""Journeys through conversations: their calls and results, and verdicts on messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub import Hub, load_metric
from metrichub.data.conversations import conversation
from metrichub.judge.panel import Panel
from metrichub.report.html import write
from metrichub.testing import Scripted
from tests.browser.conversations import (
    ARABIC,
    CHINESE,
    POLITE,
    TRAVEL,
    calling,
    clerk,
    turn,
    written,
)
from tests.browser.kinds import tool_calls
from tests.browser.reports import FEW, opened, shown

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser


def message(sample: Locator, number: int) -> Locator:
    """A message by its number."""
    return sample.locator(".message").filter(
        has=sample.page.locator(f"> div > .label:first-child:text-matches('^{number} ')")
    )


def test_a_conversation_is_read_with_its_calls_and_verdicts(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, TRAVEL, CHINESE, ARABIC, words=("yes", "yes", "no")))
    # The list names a conversation by its question and its answer.
    row = page.locator("#table tbody tr").filter(has_text="Berlin")
    expect(row.locator(".asked")).to_have_text(f"user {TRAVEL[1]['content']}")
    expect(row.locator(".cell .text")).to_have_text(TRAVEL[-1]["content"])
    sample = opened(page, 0)
    heads = sample.locator(".message > div:first-child > .label:first-child")
    # The results of the calls, 4 and 3, are where they were called.
    assert heads.all_inner_texts() == [
        "0 system",
        "1 user",
        "2 assistant",
        "4 tool search_flights",
        "3 tool weather",
        "5 assistant",
        "6 user",
        "7 assistant",
    ]
    expect(sample).to_contain_text("8 messages")
    expect(message(sample, 6)).to_contain_text("[image_url]")
    for number, word in ((2, "yes"), (5, "yes"), (7, "no")):
        verdict = message(sample, number).locator("> .verdicts")
        assert verdict.inner_text().split() == ["role_adherence", word, "as", "scripted"]
        box, text = verdict.bounding_box(), message(sample, number).bounding_box()
        assert box
        assert text
        assert box["x"] > text["x"] + 300
    assert message(sample, 1).locator("> .verdicts").inner_text() == ""
    # The metric's table would repeat the messages.
    expect(sample.locator(".side")).to_contain_text("on messages: yes 2 · no 1")
    expect(sample.locator("table")).to_have_count(0)
    # A call is folded with its arguments, and so is a long result, which the keyboard opens.
    caller = message(sample, 2)
    arguments = caller.locator("pre").first
    expect(arguments).not_to_be_visible()
    caller.get_by_text("search_flights {").click()
    # The number is the one that was sent: JavaScript would round it.
    assert arguments.inner_text() == (
        '{\n  "from": "BER",\n  "to": "FCO",\n  "customer": 12345678901234567890\n}'
    )
    expect(caller.get_by_text("sunny, 24 °C")).to_be_visible()
    result = caller.get_by_text("BL039")
    expect(result).not_to_be_visible()
    page.get_by_role("button", name="sample 0", exact=True).focus()
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(sample.locator("summary:focus")).to_contain_text("BL000")
    page.keyboard.press("Enter")
    expect(result).to_be_visible()
    contexts = message(sample, 5).locator("details")
    contexts.get_by_text("retrieved contexts: 2").click()
    expect(contexts.get_by_text("One bag of 10 kg is included.")).to_be_visible()
    # Texts keep their direction, and arguments theirs.
    sample = opened(page, 2)
    style = "made => [getComputedStyle(made).direction, getComputedStyle(made).textAlign]"
    asked = sample.get_by_text(ARABIC[0]["content"], exact=True).last
    assert asked.evaluate(style) == ["rtl", "start"]
    sample.locator("summary").first.click()
    assert sample.locator("pre").evaluate(style) == ["ltr", "start"]


def test_conversations_of_two_systems_are_compared_searched_copied_and_printed(
    page: Page, tmp_path: Path
) -> None:
    rude = Hub([clerk("yes", "yes", "no")]).evaluate(messages=[TRAVEL, CHINESE, ARABIC])
    polite = Hub([clerk("yes")]).evaluate(messages=[POLITE, CHINESE, ARABIC[:1] + CHINESE[-1:]])
    write(tmp_path / "a.html", {"rude": rude, "polite": polite}, **FEW)
    page.goto((tmp_path / "a.html").as_uri())
    for query, number in (("BL039", "0"), ("valid until 2031", "0"), ("北京", "1")):
        page.get_by_label("Text", exact=True).fill(query)
        expect(page.locator("#found")).to_contain_text("1 sample with text")
        expect(page.locator("#table tbody button").first).to_have_text(number)
    # A conversation of all systems is shown once with the verdicts of each.
    sample = opened(page, 1)
    expect(sample.locator(".conversation")).to_have_count(1)
    labels = message(sample, 3).locator(".verdicts .label").all_inner_texts()
    assert labels == ["rude role_adherence yes", "polite role_adherence yes"]
    page.get_by_role("button", name="Show all samples").click()
    sample = opened(page, 0)
    for place, text, word in ((0, "lol", "no"), (1, "valid until 2031", "yes")):
        side = sample.locator(".side").nth(place)
        expect(message(side, 7)).to_contain_text(text)
        expect(message(side, 7).locator(".verdicts b")).to_have_text(word)
        expect(side.locator(".conversation")).to_have_count(1)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sample.get_by_role("button", name="Copy as Markdown").click()
    expect(sample.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    for line in (
        "messages of polite:",
        "> user: And my passport?",
        "> [image_url]",
        '> weather({\n>   "city": "Rome"\n> })',
        "> assistant: Your passport is valid until 2031.",
    ):
        assert line in copied
    with page.expect_download() as download:
        page.get_by_role("button", name="Samples as JSONL").click()
    rows = map(json.loads, Path(download.value.path()).read_text("utf-8").splitlines())
    row = next(row for row in rows if row["sample"] == 0)
    assert conversation(row["rude.messages"]) == conversation(TRAVEL)
    assert conversation(row["polite.messages"]) == conversation(POLITE)
    # A print of the samples shows what is folded.
    page.evaluate("() => { window.print = () => {}; }")
    page.get_by_role("button", name="Print samples (3)").click()
    for folded in (sample.get_by_text("BL039").first, sample.locator("pre").first):
        page.emulate_media(media="screen")
        expect(folded).not_to_be_visible()
        page.emulate_media(media="print")
        expect(folded).to_be_visible()


def test_predictions_and_other_columns_stay_where_they_are(page: Page, tmp_path: Path) -> None:
    hub, answer = Hub([clerk("yes"), "exact_match"]), CHINESE[-1]["content"]
    page.goto(shown(tmp_path, hub.evaluate(messages=[CHINESE], references=[answer])))
    # The first metric reads no reference, so nothing is marked until one asks.
    expect(page.locator("#table .cell .figures")).to_have_text("")
    page.get_by_label("Marked against").select_option("references")
    sample = opened(page, 0)
    labels = sample.locator("p.label").all_inner_texts()
    columns = ["references", "prediction"]
    assert [text for text in labels if text in columns] == columns
    expect(sample.locator(".side p.text").first).to_have_text(answer)
    expect(page.locator("#table .asked")).to_have_text(f"user {CHINESE[0]['content']}")
    expect(page.locator("#table .cell .text")).to_have_text(answer)
    expect(page.locator("#table .cell .figures")).to_have_text("= reference")
    # Below a system's own conversation a prediction has its label, and without a reference it is
    # marked against the first system.
    hub = Hub([clerk("yes"), "aun"])
    rude, polite = (hub.evaluate(messages=[chat]) for chat in (TRAVEL, POLITE))
    write(tmp_path / "a.html", {"rude": rude, "polite": polite}, **FEW)
    page.goto((tmp_path / "a.html").as_uri())
    side = opened(page, 0).locator(".side").nth(1)
    expect(side.locator("> .conversation + .label")).to_have_text("prediction")
    expect(side.locator("> .label + .text mark.extra")).to_have_text(POLITE[-1]["content"])


def test_calls_stand_beside_the_expected_ones_without_their_ids(page: Page, tmp_path: Path) -> None:
    called = TRAVEL[2]["tool_calls"]
    calls = [(call["id"], call["name"], call["arguments"]) for call in called]
    other = calling(None, calls[0], (*calls[1][:2], {"city": "Fiumicino", "unit": "3"}))
    reference = [*TRAVEL[:2], other, *TRAVEL[3:-1], turn("assistant", "It is valid.")]
    hub = Hub("trajectory_match(mode='unordered')")
    chats = {"messages": [TRAVEL, CHINESE, POLITE[:2]]}
    page.goto(shown(tmp_path, hub.evaluate(**chats, reference_messages=[reference, [], [other]])))
    rows = page.locator("#table > tbody > .under")
    # A long number is the one that was sent. A text that could be a number has quotes.
    assert [" ".join(row.split()) for row in rows.all_inner_texts()[:3]] == [
        "expected search_flights(from=BER, to=FCO, customer=12345678901234567890) ✓ as expected",
        'weather(city=Fiumicino, unit="3") ✗ weather(city=Rome) without unit',
        f"last message {TRAVEL[-1]['content']}",
    ]
    expect(rows.nth(1).locator("b")).to_have_text("city=Rome")
    expect(rows.nth(1).get_by_role("img")).to_have_accessible_name("wrong")
    assert rows.nth(3).inner_text().split() == [
        *("expected", "no", "call", "✗"),
        *("天气查询(城市=北京,", "日期=明天)", "not", "expected"),
    ]
    assert rows.nth(5).inner_text().endswith("✗ not called")
    wrong = page.locator("#wrong td")
    assert wrong.all_inner_texts() == ["2", "1", "1"]
    # Neither the reference nor what was said is there again as JSON.
    expect(page.locator("#table .cell .text")).to_have_count(2)
    sample = opened(page, 0)
    expect(sample.locator(".conversation")).to_have_count(2)
    expect(sample.get_by_text("It is valid.")).not_to_be_visible()
    sample.get_by_text("reference_messages: 8").click()
    expect(sample.get_by_text("It is valid.")).to_be_visible()


def test_a_task_is_opened_by_its_mark(page: Page, tmp_path: Path) -> None:
    page.goto(tool_calls(tmp_path))
    marks = page.locator("#tasks button")
    marks.first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    number = marks.nth(2).get_attribute("data-select")
    assert number
    expect(page.locator(f"#sample-{json.loads(number)['open']}")).to_be_visible()
    # The calls of texts, too, are read.
    page.get_by_label("Output", exact=True).select_option(label="tool_call_f1")
    expect(page.locator("#table code").first).to_contain_text("(date=2027-")
    expect(page.locator("#table > tbody > tr > td").filter(has_text='"id"')).to_have_count(0)


def test_long_conversations_and_arguments_are_folded(page: Page, tmp_path: Path) -> None:
    chat = [turn(("user", "assistant")[n % 2], f"message number {n}") for n in range(200)]
    text = "word " * 200_000
    call = [calling("ok", ("a", "write", {"text": text})), turn("tool", "done", tool_call_id="a")]
    words = tuple("no" if n == 45 else "yes" for n in range(1, 200, 2))
    page.goto(written(tmp_path, chat, call, words=(*words, "yes")))
    sample = opened(page, 0)
    assert sample.locator(".conversation > details > summary").all_inner_texts()[:3] == [
        "Messages 20 to 39: role_adherence yes 10",
        "Messages 40 to 59: role_adherence yes 9 · role_adherence no 1",
        "Messages 60 to 79: role_adherence yes 10",
    ]
    last = sample.get_by_text("message number 199", exact=True)
    expect(last).not_to_be_visible()
    sample.get_by_text("Messages 180 to 199").click()
    expect(last).to_be_visible()
    sample = opened(page, 1)
    sample.get_by_text("write {").click()
    arguments = sample.locator("pre")
    assert len(arguments.inner_text()) < 21_000
    # Braces, line feeds, spaces, quotes and the key surround the text.
    sample.get_by_role("button", name="Show all 1,000,016 characters").press("Enter")
    expect(sample.get_by_role("button", name="Show all")).to_have_count(0)
    assert arguments.evaluate("made => made.textContent") == json.dumps({"text": text}, indent=2)
    expect(arguments).to_be_focused()


def test_a_panel_s_votes_are_folded_below_its_verdict(page: Page, tmp_path: Path) -> None:
    votes = {"a": "no", "b": "no", "c": "yes"}
    judges = (Scripted({"in_role": [word]}, label=label) for label, word in votes.items())
    metric = load_metric("role_adherence", judge=Panel(judges=tuple(judges)), role="a clerk")
    page.goto(shown(tmp_path, Hub([metric]).evaluate(messages=[CHINESE])))
    verdict = message(opened(page, 0), 3).locator(".verdicts")
    expect(verdict).to_contain_text("role_adherence no")
    verdict.get_by_text("weights, votes").click()
    assert verdict.locator("tbody td:nth-child(2)").all_inner_texts() == list(votes.values())
