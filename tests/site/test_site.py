"""The cards' site: its pages, the links of its cards, and what no card can make it do."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub.catalog.registry import Entry, Registry
from metrichub.site import card_pages
from metrichub.site.links import Links
from metrichub.site.site_index import SiteIndex
from tests.site_cards import hostile, measured, study, toy

SETTING = {"style", "src", "srcset", "action", "formaction", "xlink:href"}


class Seen(HTMLParser):
    """The tags, attributes and addresses that a browser would see in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name == "href"]


def index(*entries: Entry) -> SiteIndex:
    return SiteIndex.of(Registry(entries))


def link(home: SiteIndex, name: str, href: str) -> str | None:
    """What a link in the card of a page becomes."""
    page = next(page for page in home.pages if page.name == name)
    return Links(home).of(page)(href)


def test_metrics_of_one_name_have_pages_under_their_qualified_names(site: Path) -> None:
    twins = [toy(site, "twin", package=f"toy_{side}", distribution=f"dist-{side}") for side in "ab"]
    built = index(*twins, toy(site, "alone"))
    assert {page.name: (page.title, page.path) for page in built.pages} == {
        "alone": ("Toy", "metrics/alone.html"),
        "dist-a/twin": ("Toy (dist-a/twin)", "metrics/dist-a-twin.html"),
        "dist-b/twin": ("Toy (dist-b/twin)", "metrics/dist-b-twin.html"),
    }


def test_a_built_in_keeps_its_name_beside_a_plugin_s(site: Path) -> None:
    ours = toy(site, "bleu", package="toy_ours", distribution="metrichub")
    theirs = toy(site, "bleu", package="toy_theirs", distribution="theirs")
    assert {page.name for page in index(ours, theirs).pages} == {"bleu", "theirs/bleu"}


def test_an_entry_point_of_any_name_gets_a_page_inside_the_site(site: Path) -> None:
    toy(site, "deep")
    names = ("../../up", "/etc/x", "Ü", "a b", "a-b", "A.B", "")
    entries = [Entry(name, "dist", "1.0", "toy_pack.deep:Toy") for name in names]
    paths = [page.path for page in index(*entries).pages]
    assert sorted(paths) == [
        *("metrics/a-b-2.html", "metrics/a-b-3.html", "metrics/a-b.html", "metrics/etc-x.html"),
        *("metrics/metric-2.html", "metrics/metric.html", "metrics/up.html"),
    ]


def test_a_card_that_cannot_be_read_is_a_line_without_folders_of_this_machine(site: Path) -> None:
    broken = toy(site, "broken", more="titel: x\n")
    gone = Entry("gone", "dist", "1.0", "toy_nowhere.gone:Toy")
    # YAML takes this for a date, of which there is none.
    dated = toy(site, "dated", summary="2020-13-45")
    cards = index(broken, gone, dated, toy(site, "fine"))
    assert [page.name for page in cards.pages] == ["fine"]
    front = card_pages.gallery_page(cards)
    assert "<code>broken</code>: README.md:10: unknown key titel" in front
    assert "<code>dated</code>: README.md:1: the front matter isn&#39;t valid YAML" in front
    assert "<code>gone</code>: dist/gone: the package toy_nowhere.gone" in front
    assert str(site) not in front


def test_what_the_gallery_filters_by_stands_on_the_card(site: Path) -> None:
    tags = "{task: [a, b], dimension: [c], family: d, language: [en]}"
    inputs = "[prediction, reference]"
    card = toy(site, "one", inputs=inputs, better="lower", tags=tags, more="judge: model\n")
    assert index(card).pages[0].facets == {
        "task": ("a", "b"),
        "dimension": ("c",),
        "family": ("d",),
        "input": ("predictions", "references"),
        "judge": ("model",),
        "direction": ("lower",),
        "language": ("en",),
    }


def test_related_metrics_share_the_most_tags(site: Path) -> None:
    def tags(task: str, dimension: str, family: str) -> str:
        return f"{{task: [{task}], dimension: [{dimension}], family: {family}}}"

    facets = {"it": tags("a", "b", "c"), "twin": tags("a", "b", "c"), "task": tags("a", "x", "y"),
             "family": tags("x", "y", "c"), "stranger": tags("x", "y", "z")}  # fmt: skip
    cards = index(*(toy(site, name, title=name, tags=value) for name, value in facets.items()))
    it = next(page for page in cards.pages if page.name == "it")
    assert [page.name for page in cards.related(it)] == ["twin", "family", "task"]


def test_links_between_cards_become_links_between_pages(site: Path) -> None:
    body = "# Other\n\n## Further reading\n"
    cards = index(toy(site, "one", "[x](#nothing)"), toy(site, "other", body))
    assert link(cards, "one", "../other/README.md") == "other.html"
    assert link(cards, "one", "../other/README.md#further-reading") == "other.html#further-reading"
    assert link(cards, "one", "../README.md") == "../index.html"
    assert link(cards, "other", "#further-reading") == "#further-reading"
    assert link(cards, "one", "https://a.example/b?c#d") == "https://a.example/b?c#d"


def test_links_to_prompts_become_links_to_where_they_are_shown(site: Path) -> None:
    first, second = toy(site, "one"), toy(site, "two")
    prompts = site / "toy_pack" / "two" / "prompts"
    prompts.mkdir()
    (prompts / "ask me.md").write_text("<!-- offline: covers -->\nAsk <b>this</b>.", "utf-8")
    cards = index(first, second)
    assert link(cards, "two", "prompts/ask%20me.md") == "#prompt-ask-me"
    assert link(cards, "one", "../two/prompts/ask%20me.md") == "two.html#prompt-ask-me"
    page = card_pages.card_page(
        next(page for page in cards.pages if page.name == "two"), Links(cards)
    )
    assert '<pre class="mh-text" tabindex="0">Ask &lt;b&gt;this&lt;/b&gt;.</pre>' in page


@pytest.mark.parametrize(
    "href",
    [
        "../../secret.md",
        "%2e%2e/%2e%2e/secret.md",
        "prompts/../../../secret.md",
        "prompts/linked.md",
        "../other/notes.md",
        "../../../../../../etc/passwd",
        "/etc/passwd",
        "/etc/passwd.md",
        "file:///etc/passwd",
        "//elsewhere.example/x.md",
        "javascript:alert(1)",
        "README.md.md",
        "../gone/README.md",
        "../other/README.md#gone",
        "#gone",
        "prompts/%00.md",
    ],
)
def test_a_link_that_leads_out_or_nowhere_is_dropped_and_reads_nothing(
    site: Path, href: str
) -> None:
    (site / "secret.md").write_text("the secret text", encoding="utf-8")
    card, other = toy(site, "one", f"[x]({href})"), toy(site, "other")
    (site / "toy_pack" / "other" / "notes.md").write_text("the secret text", encoding="utf-8")
    prompts = site / "toy_pack" / "one" / "prompts"
    prompts.mkdir()
    (prompts / "linked.md").symlink_to(site / "secret.md")
    links = Links(index(card, other))
    page = next(page for page in links.index.pages if page.name == "one")
    assert links.of(page)(href) is None
    assert links.problems == [f"one: the link {href!r} leads nowhere on the site"]
    assert "secret text" not in card_pages.card_page(page, links)


def test_every_link_of_our_own_cards_leads_somewhere_on_the_site() -> None:
    ours = [entry for entry in Registry.installed().entries if entry.distribution == "metrichub"]
    links = Links(index(*ours))
    for page in links.index.pages:
        card_pages.card_page(page, links)
    assert links.problems == []


def test_our_own_cards_may_link_to_a_guide_and_its_headings(site: Path) -> None:
    entries = Registry.installed().entries
    (bleu,) = (e for e in entries if e.name == "bleu" and e.distribution == "metrichub")
    cards = index(bleu, toy(site, "stranger"))
    assert link(cards, "bleu", "../../docs/JUDGES.md") == "../guides/judges.html"
    assert link(cards, "bleu", "../../docs/JUDGES.md#a-panel") == "../guides/judges.html#a-panel"
    assert link(cards, "bleu", "../../docs/JUDGES.md#gone") is None
    assert link(cards, "bleu", "../../docs/GONE.md") is None
    # The docs of a plugin's clone are its own.
    assert link(cards, "stranger", "../../docs/JUDGES.md") is None


def test_a_card_s_page_has_its_facts(site: Path) -> None:
    card = toy(
        site, "one", title="One", summary="Counts.", more="requires: [heavy>=2]\njudge: any\n"
    )
    cards = index(card)
    page = card_pages.card_page(cards.pages[0], Links(cards))
    for fact in (
        "<h1>One</h1>",
        "Counts.",
        "<code>prediction</code>",
        "<code>score</code> in [0, 1], higher is better",
        '<a href="../index.html?judge=any">any judge</a>',
        "<dd>MIT</dd>",
        "toy-dist 1.0",
        "<code>pip install &#39;heavy&gt;=2&#39;</code>",
    ):
        assert fact in page


def test_an_example_is_copied_without_prompts_and_output(site: Path) -> None:
    body = "```python\n>>> x = [1,\n...      2]\n>>> x\n[1, 2]\n```\n\n```nonsense\nx\n```\n"
    cards = index(toy(site, "one", body))
    page = card_pages.card_page(cards.pages[0], Links(cards))
    assert 'data-copy="x = [1,\n     2]\nx\n"' in page
    assert '<pre><code class="language-nonsense">x\n</code></pre>' in page


def test_a_hostile_card_stays_text(site: Path) -> None:
    cards = index(hostile(site))
    links = Links(cards)
    shown = card_pages.card_page(cards.pages[0], links) + card_pages.gallery_page(cards)
    seen = Seen()
    seen.feed(shown)
    assert not seen.tags & {"script", "svg", "style", "iframe", "link", "meta", "base"}
    # The pictures of the front page are ours.
    assert re.findall(r"<img[^>]*src=\"([^\"]*)", shown) == [
        "assets/report-light.png",
        "assets/report-dark.png",
    ]
    setting = SETTING - {"src"}
    assert not [name for name in seen.attributes if name.startswith("on") or name in setting]
    assert not [href for href in seen.addresses if ":" in href and not href.startswith("https:")]
    assert "the secret text" not in shown
    assert "root:" not in shown


def test_measured_metrics_stand_in_a_table_the_best_of_each_dimension_first(site: Path) -> None:
    low = measured(toy(site, "low"), study(("score", "fluency", 0.2), ("score", "ease", None)))
    high = measured(
        toy(site, "high", better="neither"),
        study(("score", "fluency", -0.1), ("other", "fluency", 0.6)),
        study(("score", "fluency", 0.4), task="translation"),
    )
    html = card_pages.gallery_page(index(low, high, toy(site, "unmeasured")))
    rows = [line for line in html.splitlines() if line.startswith("<tr data-rated")]
    rated = [row.split('"')[1] for row in rows]
    assert rated == ["testing: fluency", "testing: fluency", "translation: fluency"]
    figures = [line for line in html.splitlines() if line.startswith("<td data-value")]
    # Value and ceiling by turns; the best output of "high" is "other", of no direction.
    assert [line.partition(">")[2].partition("<")[0].strip() for line in figures] == [
        *("0.600", "0.900"),
        *("0.200", "0.900"),
        *("0.400", "0.900"),
    ]
    assert "<small>other</small>" in html
    assert html.count("neither direction is better") == 2
    assert '<option value="translation: fluency">' in html
    assert "testing: ease" not in html


def test_without_studies_or_with_broken_ones_there_is_no_table(site: Path) -> None:
    broken = toy(site, "broken")
    for text in ("{", '{"schema": 1, "metric": "m", "studies": [{"results": [], "data": []}]}'):
        (broken.folder / "agreement.json").write_text(text, encoding="utf-8")
        html = card_pages.gallery_page(index(broken))
        assert "mh-measured" not in html
        assert 'href="metrics/broken.html"' in html
