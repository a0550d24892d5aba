"""The cards' site in a browser, from a folder and a server, with a hostile plugin installed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub.catalog.registry import Registry
from metrichub.catalog.search import SearchIndex
from metrichub.catalog.studies import best_by_task
from metrichub.site.build import build_site
from metrichub.site.doc_pages import doc_pages
from metrichub.site.generate import site_pages
from metrichub.site.site_index import SiteIndex
from tests.browser.servers import serving_folder
from tests.questions import newcomers, unseen
from tests.site_cards import hostile

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


class Site(NamedTuple):
    """A built site: its index, and its address in the file system and under a path of a server."""

    index: SiteIndex
    file: str
    http: str
    out: Path


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, made_once: Callable[..., Path]
) -> Iterator[Site]:
    """The site of all installed metrics and of a hostile plugin."""
    plugin = tmp_path_factory.mktemp("plugin")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(plugin)
        installed = Registry((*Registry.installed().entries, hostile(plugin)))
        within = "deep/under a path"
        root = made_once("site", lambda folder: build_site(folder / within, installed))
        out = root / within
        with serving_folder(root) as server:
            address = f"{server}deep/under%20a%20path/"
            yield Site(SiteIndex.of(installed), f"{out.as_uri()}/", address, out)


def names(page: Page) -> set[str]:
    """The names of the metrics that the gallery shows."""
    return set(page.locator("#mh-gallery li:visible > code").all_inner_texts())


def search(page: Page, words: str) -> None:
    box = page.get_by_role("combobox", name="Search")
    # The script that listens for the keys may come after the page.
    for _ in range(30):
        page.keyboard.press("Control+k")
        with suppress(AssertionError):
            expect(box).to_be_visible(timeout=1_000)
            break
    box.fill(words)


@pytest.mark.parametrize("way", ["file", "http"])
def test_the_search_finds_a_card(page: Page, site: Site, way: str) -> None:
    page.goto(getattr(site, way) + "index.html")
    search(page, "brevity penalty")
    page.get_by_role("option", name="BLEU").first.click()
    expect(page.locator("h1")).to_have_text("BLEU")
    expect(page).to_have_url(re.compile("/metrics/bleu.html"))


def _among_three(name: str) -> str:
    """What selects a page of this name among the first three results of the search."""
    path, _, anchor = (name if "." in name else f"metrics/{name}.html").partition("#")
    ends = f"[href$='#{anchor}']" if anchor else ""
    return f"li:nth-child(-n+3) > a[role=option][href*='{path}']{ends}"


@pytest.mark.parametrize("way", ["file", "http"])
def test_newcomers_find_an_answer_among_the_first_three(page: Page, site: Site, way: str) -> None:
    page.goto(getattr(site, way) + "index.html")
    search(page, "bleu")
    box = page.get_by_role("combobox", name="Search")
    for question, wanted in newcomers():
        box.fill(question)
        hit = page.locator(", ".join(map(_among_three, wanted)))
        expect(hit.first, question).to_be_visible()


def test_the_page_ranks_as_python_does(page: Page, site: Site) -> None:
    page.goto(site.file + "index.html")
    data = json.loads((site.out / "search.json").read_text(encoding="utf-8"))
    index = SearchIndex.of(site_pages(site.index, tuple(doc_pages(site.index))))
    assert [item["location"] for item in data["items"]] == [p.address for p in index.pages]
    asked = [question for question, _ in (*newcomers(), *unseen())]
    asked += ["BERT score", "why", "", "qqqq", "transl", "Ähnlichkeit 中文", "<b>x</b>"]
    find = "([data, asked]) => asked.map(question => metrichubFind(data, question))"
    places = {one.address: place for place, one in enumerate(index.pages)}
    for question, ranked in zip(asked, page.evaluate(find, [data, asked]), strict=True):
        assert ranked == [places[found.address] for found in index.find(question)], question


@pytest.mark.parametrize("way", ["file", "http"])
def test_the_front_page_answers_a_question_as_it_is_typed(page: Page, site: Site, way: str) -> None:
    page.goto(getattr(site, way) + "index.html")
    page.get_by_label("Ask in your own words").fill("plagiarism check")
    expect(page.locator("#mh-answers a").first).to_have_text("Coverage (extractive fragments)")
    page.get_by_label("Ask in your own words").fill("<img src=x onerror=window.ran=1> qqqq")
    page.get_by_label("Ask in your own words").fill("qqqq")
    expect(page.locator("#mh-answers-count")).to_contain_text("No metric or guide")
    page.get_by_label("Ask in your own words").fill("copied text from source")
    expect(page.locator("#mh-answers li")).to_have_count(5)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Coverage (extractive fragments)")


def test_two_choices_by_keyboard_lead_to_metrics_and_lines(page: Page, site: Site) -> None:
    page.goto(site.file + "index.html")
    page.get_by_label("I evaluate").focus()
    page.keyboard.type("summ")
    page.keyboard.press("Tab")
    page.keyboard.type("only")
    row = page.locator("#mh-advice tbody tr:visible")
    expect(row).to_have_count(1)
    expect(row.locator("li a").first).to_have_text("Density (extractive fragments)")
    expect(row).to_contain_text("metrichub score summaries.jsonl -m density -m coverage")
    expect(row).to_contain_text('print(hub.evaluate(read("summaries.jsonl")))')


@pytest.mark.parametrize("way", ["file", "http"])
def test_filters_combine_count_and_stay_in_the_address(page: Page, site: Site, way: str) -> None:
    page.goto(getattr(site, way) + "index.html")
    every = site.index.pages
    expect(page.locator("#mh-count")).to_have_text(f"{len(every)} metrics")
    page.get_by_label("Task").select_option("translation")
    page.get_by_label("Input").select_option("references")
    page.get_by_label("Direction").select_option("lower")
    wanted = {
        found.name
        for found in every
        if "translation" in found.facets["task"]
        and "references" in found.facets["input"]
        and found.facets["direction"] == ("lower",)
    }
    assert "ter" in wanted
    assert names(page) == wanted
    expect(page.locator("#mh-count")).to_have_text(f"{len(wanted)} of {len(every)} metrics")
    assert page.url.endswith("?task=translation&input=references&direction=lower")
    page.reload()
    assert names(page) == wanted
    page.get_by_role("button", name="Show all").click()
    assert names(page) == {found.name for found in every}
    assert page.url.endswith("index.html")


def test_metrics_without_an_input_and_for_a_language_are_found(page: Page, site: Site) -> None:
    page.goto(site.file + "index.html?input=-references&language=en&judge=none&task=gone")
    assert page.get_by_label("Task").input_value() == ""
    assert names(page) == {
        found.name
        for found in site.index.pages
        if "references" not in found.facets["input"]
        and {"en", "any"} & set(found.facets["language"])
        and found.facets["judge"] == ("none",)
    }
    page.get_by_label("Family").select_option("edit distance")
    expect(page.get_by_text("No metric matches all choices.")).to_be_visible()


def measured(page: Page) -> list[str]:
    """The names in the table of agreement, from above."""
    return page.locator("#mh-measured tbody tr:visible td:first-child > code").all_inner_texts()


def test_metrics_are_found_by_their_agreement_with_people(page: Page, site: Site) -> None:
    page.goto(site.file + "index.html")
    assert measured(page) == []
    page.get_by_label("Agreement with people").select_option("summarization: relevance")
    best = {
        found.name: tasks["summarization"].value.value or 0.0
        for found in site.index.pages
        if "summarization" in (tasks := best_by_task(found.entry.studies, "relevance"))
    }
    ranked = sorted(best, key=lambda name: -best[name])
    # On SummEval, chrF is the best of the metrics without a judge, as published figures have it.
    assert ranked[0] == "chrf"
    assert measured(page) == ranked
    expect(page.locator("#mh-gallery")).to_be_hidden()
    every = len(site.index.pages)
    expect(page.locator("#mh-count")).to_have_text(f"{len(ranked)} of {every} metrics")
    # Of those, what needs no reference.
    page.get_by_label("Input").select_option("-references")
    wanted = {f.name for f in site.index.pages if "references" not in f.facets["input"]}
    assert measured(page) == [name for name in ranked if name in wanted] != []
    page.reload()
    assert measured(page) == [name for name in ranked if name in wanted]


def test_the_table_of_agreement_is_sorted_by_its_headings(page: Page, site: Site) -> None:
    page.goto(site.file + "index.html?agreement=summarization: relevance")
    ranked = measured(page)
    table = page.locator("#mh-measured")
    agreement = table.locator("th", has=page.get_by_role("button", name="Agreement"))
    expect(agreement).to_have_attribute("aria-sort", "descending")
    table.get_by_role("button", name="Agreement").press("Enter")
    expect(agreement).to_have_attribute("aria-sort", "ascending")
    cells = page.locator("#mh-measured tbody tr:visible td[data-value]:nth-child(3)")
    values = [float(cell.get_attribute("data-value") or "nan") for cell in cells.all()]
    # Metrics of the same value may follow each other in either order.
    assert values == sorted(values)
    assert values[0] < values[-1]
    assert sorted(measured(page)) == sorted(ranked)
    table.get_by_role("button", name="Metric").click()
    expect(agreement).to_have_attribute("aria-sort", "none")
    titles = page.locator("#mh-measured tbody tr:visible a").all_inner_texts()
    assert titles == sorted(titles, key=str.lower)
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#mh-gallery")).to_be_visible()
    expect(table).to_be_hidden()


def test_a_tag_on_a_card_leads_to_the_gallery_that_it_filters(page: Page, site: Site) -> None:
    page.goto(site.file + "metrics/bleu.html")
    page.locator(".mh-facts").get_by_role("link", name="overlap").click()
    expect(page.get_by_label("Family")).to_have_value("overlap")
    assert names(page) == {found.name for found in site.index.families["overlap"]}


def test_the_citation_and_the_example_are_copied(page: Page, site: Site) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(site.http + "metrics/bleu.html")
    bleu = next(found.card for found in site.index.pages if found.name == "bleu")
    for heading, expected in (("citation", bleu.bibtex), ("example", "from metrichub import Hub")):
        page.locator(f"#{heading} ~ .highlight").first.get_by_title("Copy to clipboard").click()
        expect(page.locator(".md-dialog")).to_contain_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()").startswith(expected)


def test_the_keyboard_alone_suffices(page: Page, site: Site) -> None:
    page.goto(site.file + "index.html")
    focused = page.locator("*:focus")

    def tab_to(wanted: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            if focused.count() and focused.evaluate("(e, wanted) => e.matches(wanted)", wanted):
                return
        pytest.fail(f"Tab never comes to {wanted}")

    tab_to("[name=__palette]")
    page.keyboard.press("Enter")
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    tab_to("#mh-family")
    assert focused.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.type("ov")
    expect(page.locator("#mh-family")).to_have_value("overlap")
    tab_to("#mh-gallery a")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(site.index.families["overlap"][0].title)
    page.wait_for_load_state()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Search")).to_be_focused()
    # At once, or the list of the first letters may be replaced under the arrows.
    page.keyboard.insert_text("faithfulness")
    found = page.get_by_role("option")
    for key, chosen in (("ArrowDown", found.nth(1)), ("ArrowUp", found.first)):
        expect(found.first).to_be_visible()
        page.keyboard.press(key)
        expect(chosen).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url("**/metrics/faithfulness.html?h=faithfulness*")


def test_the_drawer_of_a_narrow_page_opens_by_keyboard(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.file + "metrics/bleu.html")
    page.locator("label[for=__drawer].md-icon").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#__drawer")).to_be_checked()
    expect(page.get_by_role("link", name="All metrics")).to_be_in_viewport()


def test_light_and_dark_follow_the_system_until_somebody_chooses(page: Page, site: Site) -> None:
    body = page.locator("body")
    page.emulate_media(color_scheme="dark")
    page.goto(site.http + "index.html")
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.get_by_title("Switch to light").click()
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    page.goto(site.http + "metrics/bleu.html")
    expect(body).to_have_attribute("data-md-color-scheme", "default")


def test_formulas_are_rendered(page: Page, site: Site) -> None:
    page.goto(site.file + "metrics/bleu.html")
    fraction = page.locator("math[display=block] mfrac").first
    above, below = fraction.locator("> *").all()
    high, low = above.bounding_box(), below.bounding_box()
    assert high is not None
    assert low is not None
    assert high["y"] + high["height"] <= low["y"] + 1


@pytest.mark.parametrize("way", ["file", "http"])
def test_formulas_have_a_font_of_their_own(page: Page, site: Site, way: str) -> None:
    page.goto(getattr(site, way) + "metrics/bleu.html")
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


def test_a_prompt_is_unfolded_by_a_link_to_it(page: Page, site: Site) -> None:
    page.goto(site.file + "metrics/faithfulness.html")
    page.locator("#definition ~ p").get_by_role("link", name="supported").click()
    expect(page).to_have_url(re.compile("#prompt-supported$"))
    expect(page.locator("#prompt-supported pre")).to_be_in_viewport()


def test_links_between_cards_work(page: Page, site: Site) -> None:
    page.goto(site.file + "metrics/coverage.html")
    page.locator("article").get_by_role("link", name=re.compile("density", re.I)).first.click()
    expect(page).to_have_url(re.compile("/metrics/density.html"))


def test_the_gallery_is_whole_without_scripts(browser: Browser, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.file + "index.html")
    assert names(page) == {found.name for found in site.index.pages}
    expect(page.locator("#mh-filters")).to_be_hidden()
    expect(page.locator("#mh-measured")).to_contain_text("summarization: relevance")
    expect(page.locator("#mh-choose")).to_be_hidden()
    assert page.locator("#mh-advice tbody tr:visible").count() > 10
    context.close()


def test_a_page_of_every_family_opens_without_an_error(page: Page, site: Site) -> None:
    for first, *_ in site.index.families.values():
        page.goto(site.file + first.path)
        expect(page.locator("h1")).to_have_text(first.title)


@pytest.mark.parametrize("way", ["file", "http"])
def test_a_hostile_card_runs_nothing(page: Page, site: Site, way: str) -> None:
    page.goto(getattr(site, way) + "metrics/hostile.html?h=<img src=x onerror=window.ran=1>")
    expect(page.get_by_text("searchablehostileword")).to_be_visible()
    search(page, "searchablehostileword")
    page.get_by_role("option").first.hover()
    assert page.evaluate("window.ran") is None
    page.get_by_role("option").first.click()
    page.wait_for_url("**/metrics/hostile.html?h=searchablehostileword*")
    page.goto(getattr(site, way) + "index.html?task=<script>window.ran=1</script>")
    page.get_by_label("Family").select_option("<script>window.ran = 1</script>")
    assert names(page) == {"hostile"}
    page.get_by_label("Family").select_option("")
    page.get_by_label("Agreement with people").select_option(index=1)
    assert measured(page) == ["hostile"]
    assert page.evaluate("window.ran") is None


def test_a_script_that_came_in_nevertheless_would_not_run(browser: Browser, site: Site) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(site.http + "index.html")
    with page.expect_console_message(lambda said: "Content Security Policy" in said.text):
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'),"
            " {textContent: 'window.ran = 1'}))"
        )
    assert page.evaluate("window.ran") is None
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
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
    for name, query in (
        *(("index", ""), ("index", "?agreement=summarization: relevance")),
        ("metrics/faithfulness", ""),
    ):
        page.goto(f"{site.http}{name}.html{query}")
        expect(page.locator("html")).to_have_class(re.compile(r"\bjs\b"))
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shown = "agreement" if query else name.removeprefix("metrics/")
        shoot(page, f"site-{shown}-{scheme}-{width}")
    search(page, "brevity")
    expect(page.get_by_role("option").first).to_be_visible()
    assert violations(page) == []
    shoot(page, f"site-search-{scheme}-{width}")
