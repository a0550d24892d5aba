"""Report files in a browser: conversations, their calls and results, and verdicts on messages."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from tests.browser.reports import ATTACKS, FEW

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of three conversations."""
    path = tmp_path_factory.mktemp("chats")
    return written(path, TRAVEL, CHINESE, ARABIC, words=("yes", "yes", "no"))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of two systems, whose second conversations are the same."""
    path = tmp_path_factory.mktemp("both") / "a.html"
    rude = Hub([clerk("yes", "yes", "no")]).evaluate(messages=[TRAVEL, CHINESE, ARABIC])
    polite = Hub([clerk("yes")]).evaluate(messages=[POLITE, CHINESE, ARABIC[:1] + CHINESE[-1:]])
    write(path, {"rude": rude, "polite": polite}, **FEW)
    return path.as_uri()


def opened(page: Page, address: str, sample: int = 0) -> Locator:
    """A sample of a report."""
    page.goto(address)
    page.get_by_role("button", name=f"sample {sample}", exact=True).click()
    return page.locator(f"#sample-{sample}")


def message(sample: Locator, number: int) -> Locator:
    """A message by its number."""
    return sample.locator(".message").filter(
        has=sample.page.locator(f"> div > .label:first-child:text-matches('^{number} ')")
    )


def test_messages_stand_in_order_with_their_roles(page: Page, chats: str) -> None:
    sample = opened(page, chats)
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


def test_calls_are_folded_and_have_their_arguments_and_results(page: Page, chats: str) -> None:
    sample = opened(page, chats)
    caller = message(sample, 2)
    expect(caller.locator("pre").first).not_to_be_visible()
    caller.get_by_text("search_flights {").click()
    expect(caller.locator("pre").first).to_be_visible()
    # The number is the one that was sent: JavaScript would round it.
    assert caller.locator("pre").first.inner_text() == (
        '{\n  "from": "BER",\n  "to": "FCO",\n  "customer": 12345678901234567890\n}'
    )
    long, short = (caller.locator(".message").nth(k) for k in (0, 1))
    expect(short.get_by_text("sunny, 24 °C")).to_be_visible()
    expect(long.get_by_text("BL039")).not_to_be_visible()
    long.locator("summary").click()
    expect(long.get_by_text("BL039")).to_be_visible()
    contexts = message(sample, 5).locator("details")
    contexts.get_by_text("retrieved contexts: 2").click()
    expect(contexts.get_by_text("One bag of 10 kg is included.")).to_be_visible()


def test_verdicts_stand_beside_their_messages(page: Page, chats: str) -> None:
    sample = opened(page, chats)
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


def test_the_list_names_a_conversation_by_its_question_and_answer(page: Page, chats: str) -> None:
    page.goto(chats)
    row = page.locator("#table tbody tr").filter(has_text="Berlin")
    expect(row.locator(".asked")).to_have_text(f"user {TRAVEL[1]['content']}")
    expect(row.locator(".cell .text")).to_have_text(TRAVEL[-1]["content"])


def test_the_texts_arguments_and_results_of_conversations_are_searched(
    page: Page, both: str
) -> None:
    page.goto(both)
    for query, sample in (("BL039", "0"), ("valid until 2031", "0"), ("北京", "1")):
        page.get_by_label("Text", exact=True).fill(query)
        expect(page.locator("#found")).to_contain_text("1 sample with text")
        expect(page.locator("#table tbody button").first).to_have_text(sample)


def test_copies_and_files_have_the_conversations(page: Page, both: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sample = opened(page, both)
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


def test_each_system_has_its_conversation_in_its_column(page: Page, both: str) -> None:
    sample = opened(page, both)
    rude, polite = (sample.locator(".side").nth(k) for k in (0, 1))
    for side, text, word in ((rude, "lol", "no"), (polite, "valid until 2031", "yes")):
        expect(message(side, 7)).to_contain_text(text)
        expect(message(side, 7).locator(".verdicts b")).to_have_text(word)
        expect(side.locator(".conversation")).to_have_count(1)


def test_a_conversation_of_all_systems_is_shown_once_with_the_verdicts_of_each(
    page: Page, both: str
) -> None:
    sample = opened(page, both, 1)
    expect(sample.locator(".conversation")).to_have_count(1)
    labels = message(sample, 3).locator(".verdicts .label").all_inner_texts()
    assert labels == ["rude role_adherence yes", "polite role_adherence yes"]


def test_predictions_and_other_columns_stay_where_they_are(page: Page, tmp_path: Path) -> None:
    hub = Hub([clerk("yes"), "exact_match"])
    report = hub.evaluate(messages=[CHINESE], references=[CHINESE[-1]["content"]])
    report.to_html(tmp_path / "a.html", resamples=9)
    sample = opened(page, (tmp_path / "a.html").as_uri())
    labels = sample.locator("p.label").all_inner_texts()
    assert [text for text in labels if text in ("references", "prediction")] == [
        "references",
        "prediction",
    ]
    expect(sample.locator(".side p.text").first).to_have_text(CHINESE[-1]["content"])
    expect(page.locator("#table .asked")).to_have_text(f"user {CHINESE[0]['content']}")
    expect(page.locator("#table .cell .text")).to_have_text(CHINESE[-1]["content"])
    expect(page.locator("#table .cell .figures")).to_have_text("= reference")


def test_a_prediction_below_a_system_s_conversation_has_its_label(
    page: Page, tmp_path: Path
) -> None:
    hub = Hub([clerk("yes"), "aun"])
    rude, polite = (hub.evaluate(messages=[chat]) for chat in (TRAVEL, POLITE))
    write(tmp_path / "a.html", {"rude": rude, "polite": polite}, **FEW)
    sample = opened(page, (tmp_path / "a.html").as_uri())
    side = sample.locator(".side").nth(1)
    expect(side.locator("> .conversation + .label")).to_have_text("prediction")
    # Without a reference it is marked against the first system.
    expect(side.locator("> .label + .text mark.extra")).to_have_text(POLITE[-1]["content"])


def test_reference_messages_are_folded(page: Page, tmp_path: Path) -> None:
    from tests.report.test_conversations import Steps

    report = Hub([Steps(name="steps")]).evaluate(messages=[ARABIC], reference_messages=[CHINESE])
    report.to_html(tmp_path / "a.html", resamples=9)
    sample = opened(page, (tmp_path / "a.html").as_uri())
    expect(sample.locator(".conversation")).to_have_count(2)
    expect(sample.get_by_text(CHINESE[-1]["content"])).not_to_be_visible()
    sample.get_by_text("reference_messages: 4").click()
    expect(sample.get_by_text(CHINESE[-1]["content"])).to_be_visible()


def test_calls_are_compared_with_those_of_the_reference(page: Page, tmp_path: Path) -> None:
    from tests.report.test_conversations import Steps

    report = Hub([Steps(name="steps")]).evaluate(
        messages=[TRAVEL], reference_messages=[[*TRAVEL[:2], calling(None, *CALLS), *TRAVEL[3:]]]
    )
    report.to_html(tmp_path / "a.html", resamples=9)
    sample = opened(page, (tmp_path / "a.html").as_uri())
    calls = sample.locator(".side details").filter(has_text="Calls: 2").first
    calls.locator("summary").click()
    # The first is the same; the second asks for another city.
    assert calls.locator("mark").all_inner_texts() == ['weather({ "city": "Rome" })\n']
    assert calls.locator("del").all_inner_texts() == ['weather({ "city": "Fiumicino" })\n']


CALLS = (
    ("a", "search_flights", {"from": "BER", "to": "FCO", "customer": 12345678901234567890}),
    ("b", "weather", {"city": "Fiumicino"}),
)


def test_a_long_conversation_is_folded_with_counts_of_its_verdicts(
    page: Page, tmp_path: Path
) -> None:
    chat = [turn(("user", "assistant")[n % 2], f"message number {n}") for n in range(200)]
    words = tuple("no" if n == 45 else "yes" for n in range(1, 200, 2))
    sample = opened(page, written(tmp_path, chat, words=words))
    assert sample.locator(".conversation > details > summary").all_inner_texts()[:3] == [
        "Messages 20 to 39: role_adherence yes 10",
        "Messages 40 to 59: role_adherence yes 9 · role_adherence no 1",
        "Messages 60 to 79: role_adherence yes 10",
    ]
    last = sample.get_by_text("message number 199", exact=True)
    expect(last).not_to_be_visible()
    sample.get_by_text("Messages 180 to 199").click()
    expect(last).to_be_visible()


def test_long_arguments_are_cut_until_somebody_wants_them(page: Page, tmp_path: Path) -> None:
    text = "word " * 200_000
    chat = [calling("ok", ("a", "write", {"text": text})), turn("tool", "done", tool_call_id="a")]
    sample = opened(page, written(tmp_path, chat))
    sample.get_by_text("write {").click()
    shown = sample.locator("pre")
    assert len(shown.inner_text()) < 21_000
    # Braces, line feeds, spaces, quotes and the key surround the text.
    sample.get_by_role("button", name="Show all 1,000,016 characters").press("Enter")
    expect(sample.get_by_role("button", name="Show all")).to_have_count(0)
    assert shown.evaluate("made => made.textContent") == json.dumps({"text": text}, indent=2)
    expect(shown).to_be_focused()


def test_what_is_folded_opens_by_the_keyboard(page: Page, chats: str) -> None:
    sample = opened(page, chats)
    for _ in range(3):
        page.keyboard.press("Tab")
    focused = sample.locator("summary:focus")
    expect(focused).to_contain_text("BL000")
    page.keyboard.press("Enter")
    expect(sample.get_by_text("BL039")).to_be_visible()


def test_a_print_shows_what_is_folded(page: Page, both: str) -> None:
    sample = opened(page, both)
    expect(sample.get_by_text("BL039").first).not_to_be_visible()
    page.emulate_media(media="print")
    expect(sample.get_by_text("BL039").first).to_be_visible()
    expect(sample.locator("pre").first).to_be_visible()


def test_texts_keep_their_direction(page: Page, chats: str) -> None:
    sample = opened(page, chats, 2)
    text = sample.get_by_text(ARABIC[0]["content"], exact=True)
    style = "made => [getComputedStyle(made).direction, getComputedStyle(made).textAlign]"
    assert text.last.evaluate(style) == ["rtl", "start"]
    sample.locator("summary").first.click()
    assert sample.locator("pre").evaluate(style) == ["ltr", "start"]


def test_a_panel_s_votes_are_folded_below_its_verdict(page: Page, tmp_path: Path) -> None:
    judges = [
        Scripted({"in_role": [word]}, label=label) for label, word in (("a", "no"), ("b", "no"))
    ]
    panel = Panel(judges=(*judges, Scripted({"in_role": ["yes"]}, label="c")))
    report = Hub([load_metric("role_adherence", judge=panel, role="a clerk")]).evaluate(
        messages=[CHINESE]
    )
    report.to_html(tmp_path / "a.html", resamples=9)
    sample = opened(page, (tmp_path / "a.html").as_uri())
    verdict = message(sample, 3).locator(".verdicts")
    expect(verdict).to_contain_text("role_adherence no")
    verdict.get_by_text("weights, votes").click()
    assert [cell.inner_text() for cell in verdict.locator("tbody td:nth-child(2)").all()] == [
        "no",
        "no",
        "yes",
    ]


def test_hostile_messages_are_texts(page: Page, tmp_path: Path) -> None:
    chat = [
        message
        for k, attack in enumerate(ATTACKS)
        for message in (
            turn("user", attack, name=attack, retrieval_context=[attack]),
            calling(attack, (f"{k}", attack, {attack: attack})),
            turn("tool", attack, tool_call_id=f"{k}"),
        )
    ]
    sample = opened(page, written(tmp_path, chat, words=("yes",)))
    for summary in sample.locator(".conversation details").all():
        summary.evaluate("made => { made.open = true; }")
    for attack in ATTACKS:
        expect(sample).to_contain_text(attack.split(" \u2028")[0])
    assert page.evaluate("() => window.hit") is None
    assert sample.locator("a, img, svg, style, script, h1").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 800, 390])
def test_conversations_fit_every_width_and_axe_finds_nothing(
    page: Page,
    chats: str,
    both: str,
    width: int,
    scheme: str,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    for name, address in (("one", chats), ("two", both)):
        for sample in (2, 1, 0):
            opened(page, address, sample) if sample == 2 else page.get_by_role(
                "button", name=f"sample {sample}", exact=True
            ).click()
        page.locator("#sample-0 .conversation summary").nth(1).click()
        shoot(page, f"conversations-{name}-{width}-{scheme}")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        for box in page.locator(".conversation").all():
            assert box.evaluate("made => made.scrollWidth <= made.clientWidth")
        assert violations(page) == []
