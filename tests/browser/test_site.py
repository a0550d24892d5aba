"""The site in a browser, from a folder and a server, with a hostile plugin installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub.catalog.registry import Registry, registry
from metrichub.site.commands import build_site
from metrichub.site.project import with_plugin
from tests.browser.servers import serving_folder
from tests.questions import newcomers, unseen
from tests.site_cards import hostile

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser


class Site(NamedTuple):
    """The addresses of a built site in the file system and under a path of a server."""

    file: str
    http: str


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, made_once: Callable[..., Path]
) -> Iterator[Site]:
    """The site of all installed metrics and of a hostile plugin."""
    plugin = tmp_path_factory.mktemp("plugin")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(plugin)
        ours = with_plugin(Registry.installed())
        installed = Registry((*ours.entries, hostile(plugin)))
        within = "deep/under a path"
        root = made_once("site", lambda folder: build_site(folder / within, installed))
        with serving_folder(root) as server:
            yield Site(f"{(root / within).as_uri()}/", f"{server}deep/under%20a%20path/")


def search(page: Page, words: str) -> None:
    """Search from any page."""
    page.get_by_role("link", name=re.compile("^Search")).click()
    expect(page.get_by_label("Ask in your own words")).to_be_focused()
    page.keyboard.type(words)


TERMS = (
    ("word error rate", {"wer"}),
    ("how to cite", {"docs/FIRST.html#how-to-cite-and-the-license"}),
    ("license", {"docs/FIRST.html#how-to-cite-and-the-license"}),
    ("compare_all", {"reference/report.html#metrichub.compare_all"}),
)


def _among_three(name: str) -> str:
    """What selects a page of this name among the first three answers."""
    path, _, letters = (name if "." in name else f"metric_cards/{name}/").partition("#")
    # The headings of metrics from elsewhere are their titles.
    ends = f"#{letters}" if letters else ""
    return f".mh-ask li:nth-child(-n+3) > a[href^='{path}']" + (
        f"[href$='{ends}' i]" if ends else ""
    )


@pytest.mark.parametrize("way", ["file", "http"])
def test_questions_find_an_answer_among_the_first_three(page: Page, site: Site, way: str) -> None:
    page.goto(getattr(site, way) + "index.html")
    box, answers = page.get_by_label("Ask in your own words"), page.locator(".mh-ask a")
    for question, expected in (*newcomers(), *unseen(), *TERMS):
        box.fill(question)
        hit = page.locator(", ".join(map(_among_three, expected)))
        expect(hit.first, question).to_be_visible()
    # No question is a page, and the first answer is a key away.
    box.fill("<img src=x onerror=window.ran=1> qqqq")
    box.fill("qqqq")
    expect(page.locator(".mh-ask ol")).to_have_text("Nothing has these words.")
    box.fill("plagiarism check")
    expect(answers.first).to_have_text("Coverage (extractive fragments)")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Coverage (extractive fragments)")
    expect(page.locator(".mh-dialog")).to_be_attached()
    expect(box).to_be_hidden()
    # On every page, by the key too, whose letters turn no pages.
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.type("np.")
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_have_text("Coverage (extractive fragments)")
    search(page, "brevity penalty")
    page.locator(".mh-ask a[href*='metric_cards/bleu/']").first.click()
    expect(page.locator("h1")).to_have_text("BLEU")


def test_every_page_leads_to_every_part_and_to_its_neighbours(page: Page, site: Site) -> None:
    heading = page.locator("h1")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(site.file + "tags.html")
    page.get_by_role("link", name="BLEU", exact=True).first.click()
    expect(heading).to_have_text("BLEU")
    parts = (("Guides", "First steps"), ("Reference", "Hub"), ("Metrics", "All metrics"))
    for name, title in parts:
        page.locator(".md-tabs").get_by_role("link", name=name).click()
        expect(heading).to_have_text(title)
    page.locator("article").get_by_role("link", name="BLEU", exact=True).click()
    page.get_by_role("link", name=re.compile("^Next:")).click()
    expect(heading).to_have_text("Carburacy")
    page.goto(site.file + "metric_cards/faithfulness/index.html")
    page.locator("#definition ~ p").get_by_role("link", name="supported").click()
    expect(heading).to_have_text("Prompt: supported")


def test_all_metrics_are_filtered_sorted_and_compared(page: Page, site: Site) -> None:
    page.goto(site.http + "metric_cards/index.html")
    rows, compared = page.locator(".mh-metrics tbody tr:visible"), page.locator(".mh-compare")

    def chip(facet: str, tag: str) -> Locator:
        return page.get_by_role("group", name=facet).get_by_role("button", name=f"{tag} ")

    cards = [entry.card for entry in with_plugin(Registry.installed()).entries]
    of_agents = [card for card in cards if "agents" in card.tags.task]
    unjudged = sorted(card.name for card in of_agents if not card.judge)
    expect(chip("Task", "agents")).to_have_text(f"agents {len(of_agents)}")
    chip("Task", "agents").click()
    # The counts of other facets are of what is left; what nothing has can't be chosen.
    expect(chip("Needs", "no model")).to_have_text(f"no model {len(unjudged)}")
    expect(chip("Needs", "an embedder")).to_be_disabled()
    chip("Needs", "no model").click()
    expect(rows.locator("td:nth-child(2) code")).to_have_text(unjudged)
    chip("Task", "agents").click()
    chip("Needs", "no model").click()
    page.get_by_label("Has the words").fill("claims support")
    names = rows.locator("code").all_inner_texts()
    assert {"faithfulness", "hallucination"} <= set(names) < {card.name for card in cards}
    page.get_by_label("Has the words").fill("")
    # Faithfulness agrees better on consistency than n-grams do; what isn't measured is last.
    page.get_by_label("What people rated").select_option("summarization: consistency")
    names = rows.locator("td:nth-child(2) code").all_inner_texts()
    assert names.index("faithfulness") < names.index("rouge") < names.index("user_frustration")
    page.get_by_role("button", name="Cost per sample").click()
    costs = rows.locator("td:nth-child(9)").all_inner_texts()
    assert costs[0] == "free"
    assert int(costs[-1].split()[0]) > int(costs[-30].split()[0]) >= 1
    expect(page.locator("tr", has_text="BERTScore").first).to_contain_text("in a plugin")
    for name in ("rouge", "chrf"):
        expect(compared).to_be_hidden()
        page.get_by_label(f"Compare {name}", exact=True).check()
    expect(compared.locator("tr").first).to_have_text(re.compile("ROUGE.*chrF"))
    expect(compared.locator("tr", has_text="consistency")).to_have_text(
        re.compile(r"0\.\d{3}0\.\d{3}$")
    )
    page.get_by_label("Compare faithfulness", exact=True).check()
    expect(compared.locator("tr").first).to_have_text(re.compile("chrF.*Faithfulness"))


def test_the_citation_and_the_example_are_copied(page: Page, site: Site) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(site.http + "metric_cards/bleu/index.html")
    bibtex = registry().find("bleu").card.bibtex
    for heading, expected in (("citation", bibtex), ("example", "from metrichub import Hub\n")):
        page.locator(f"#{heading} ~ .highlight").first.get_by_title("Copy to clipboard").click()
        expect(page.locator(".md-dialog")).to_contain_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(expected)
        assert ">>>" not in copied


def test_light_and_dark_follow_the_system_until_somebody_chooses(page: Page, site: Site) -> None:
    body = page.locator("body")
    page.emulate_media(color_scheme="dark")
    page.goto(site.http + "index.html")
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.get_by_title("Switch to light").click()
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    page.goto(site.http + "metric_cards/bleu/index.html")
    expect(body).to_have_attribute("data-md-color-scheme", "default")


@pytest.mark.parametrize("way", ["file", "http"])
def test_formulas_are_rendered_in_a_font_of_their_own(page: Page, site: Site, way: str) -> None:
    page.goto(getattr(site, way) + "metric_cards/bleu/index.html")
    page.wait_for_function(
        "[...document.fonts].some((f) => f.family.includes('STIX') && f.status === 'loaded')"
    )
    formula = page.locator("math[display=block]").first
    assert formula.evaluate("e => getComputedStyle(e).fontFamily").startswith('"STIX Two Math"')
    # A sum that isn't drawn large is as high as a letter.
    letter, large = (
        formula.locator("mo", has_text=sign).first.evaluate("e => e.getBoundingClientRect().height")
        for sign in ("=", "∑")
    )
    assert large > 1.2 * letter
    above, below = page.locator("math[display=block] mfrac").first.locator("> *").all()
    high, low = above.bounding_box(), below.bounding_box()
    assert high is not None
    assert low is not None
    assert high["y"] + high["height"] <= low["y"] + 1


def test_the_site_is_whole_without_scripts(browser: Browser, site: Site) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(site.file + "metric_cards/index.html")
    linked = page.locator("article a[href$='/index.html']")
    assert linked.count() >= len(Registry.installed().entries)
    page.goto(site.file + "choose.html")
    expect(page.locator("article")).to_contain_text("metrichub score summaries.jsonl -m density")
    page.close()


@pytest.mark.parametrize("way", ["file", "http"])
def test_a_hostile_card_runs_nothing(page: Page, site: Site, way: str) -> None:
    page.goto(
        getattr(site, way) + "metric_cards/hostile/index.html?h=<img src=x onerror=window.ran=1>"
    )
    expect(page.get_by_text("searchablehostileword")).to_be_visible()
    search(page, "searchablehostileword")
    page.locator(".mh-ask a[href*=hostile]").first.click()
    expect(page.get_by_text("searchablehostileword")).to_be_visible()
    assert page.evaluate("window.ran") is None
    for name in ("index", "tags", "agreement", "metric_cards/index"):
        page.goto(f"{getattr(site, way)}{name}.html")
        assert page.evaluate("window.ran") is None


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_axe_finds_no_serious_violation_and_nothing_is_wider_than_the_page(
    page: Page,
    site: Site,
    violations: Callable[[Page], list[str]],
    shoot: Callable[[Page, str], None],
    scheme: str,
    width: int,
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    names = (
        *("index", "choose", "agreement", "metric_cards/index"),
        *("metric_cards/faithfulness/index", "reference/hub"),
    )
    for name in names:
        page.goto(f"{site.http}{name}.html")
        expect(page.locator("html")).to_have_class(re.compile(r"\bjs\b"))
        # A browser lets the keyboard scroll what is wider than its place.
        results = [v for v in violations(page) if "scrollable-region-focusable" not in v]
        assert results == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shoot(page, f"site-{name.split('/')[-1]}-{scheme}-{width}")
    search(page, "brevity")
    expect(page.locator(".mh-ask a").first).to_be_visible()
    shoot(page, f"site-search-{scheme}-{width}")
