"""Building the cards' site: the folder, the generator, the policy and what is checked."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from errno import ENOSPC
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub.catalog.guides import guides as guides_of_docs
from metrichub.catalog.registry import Registry
from metrichub.errors import MissingDependency, SiteError
from metrichub.site import build as building
from metrichub.site.build import build_site, site_problems
from metrichub.site.generate import generate, secured
from metrichub.site.html_passthrough import contents
from metrichub.site.serve import LiveSite, serving
from metrichub.site.site_index import SiteIndex
from tests.commands import error, run
from tests.site_cards import hostile, toy
from tests.surface import MODULES

pytestmark = pytest.mark.site


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two cards, a hostile one among them, and the site of both in `out`."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        body = "# One\n\n## Description\n\nSee *this* and [x](https://a.example).\n\n### Deeper\n"
        build_site(folder / "out", Registry((toy(folder, "one", body), hostile(folder))))
        yield folder


@pytest.fixture
def folder(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the only metric that is installed."""
    entry = toy(site, "one")
    installed = classmethod(lambda *_: Registry((dataclasses.replace(entry),)))
    monkeypatch.setattr(Registry, "installed", installed)
    return site / "toy_pack" / "one"


def test_nothing_is_wrong_with_a_built_site(home: Path) -> None:
    assert site_problems(home / "out") == ()
    names = {path.name for path in (home / "out").rglob("*.html")}
    guides = {f"{guide.name.lower()}.html" for guide in guides_of_docs()}
    modules = {f"{module}.html" for module in MODULES}
    ours = {"index.html", "elsewhere.html", "changelog.html", *guides}
    assert names - modules == {"one.html", "hostile.html", *ours}
    if find_spec("griffe"):
        assert modules <= names


def test_a_card_is_found_by_the_words_under_its_headings(home: Path) -> None:
    page = (home / "out" / "metrics" / "one.html").read_text(encoding="utf-8")
    assert '<a href="#description" class="md-nav__link">' in page
    assert '<a href="#deeper" class="md-nav__link">' in page
    index = json.loads((home / "out" / "search.json").read_text(encoding="utf-8"))
    # The word stands in the text of one card; an address stands before its weight.
    at, _ = index["ranking"]["words"]["searchablehostileword"]
    assert index["items"][at]["location"] == "metrics/hostile.html"


def test_the_page_of_a_card_passes_the_generator_as_it_is(home: Path) -> None:
    page = (home / "out" / "metrics" / "hostile.html").read_text(encoding="utf-8")
    assert '{{ 7 * 7 }} {% include "/etc/passwd" %} --8&lt;-- "/etc/passwd" :smile:' in page


def test_a_hostile_title_stays_text_in_every_template(home: Path) -> None:
    for path in (home / "out").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<script>window.ran" not in text
        assert "'</title>" not in text


def test_a_folder_with_other_files_is_refused(site: Path) -> None:
    (site / "out").mkdir()
    (site / "out" / "thesis.tex").touch()
    with pytest.raises(FileExistsError, match="holds other files"):
        build_site(site / "out", Registry(()))
    assert [path.name for path in (site / "out").iterdir()] == ["thesis.tex"]


def test_an_earlier_site_is_replaced(site: Path) -> None:
    build_site(site / "out", Registry((toy(site, "old"),)))
    build_site(site / "out", Registry((toy(site, "new"),)))
    assert [path.name for path in (site / "out" / "metrics").iterdir()] == ["new.html"]


@pytest.mark.parametrize("earlier", [True, False])
def test_a_full_disk_leaves_what_was_there(
    site: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool
) -> None:
    out = site / "out"
    if earlier:
        build_site(out, Registry((toy(site, "old"),)))
    before = sorted(out.rglob("*"))
    copyfile = shutil.copyfile
    copied: list[Path] = []

    def copy(source: Path, target: Path, **options: Any) -> object:
        copied.extend([target] if out in Path(target).parents else [])
        if len(copied) > 5:
            raise OSError(ENOSPC, "No space left on device", str(target))
        return copyfile(source, target, **options)

    monkeypatch.setattr(shutil, "copyfile", copy)
    with pytest.raises(OSError, match="No space left") as caught:
        build_site(out, Registry((toy(site, "new"),)))
    assert (caught.value.errno, caught.value.filename) == (ENOSPC, str(out))
    assert (sorted(out.rglob("*")), out.exists()) == (before, earlier)


def test_strict_fails_on_a_dead_link_and_a_broken_card_and_writes_nothing(site: Path) -> None:
    entries = (toy(site, "one", "[x](gone.md)"), toy(site, "broken", more="titel: x\n"))
    with pytest.raises(SiteError, match=r"^cards: broken: .*; one: the link"):
        build_site(site / "out", Registry(entries), strict=True)
    assert not (site / "out").exists()


def test_a_card_that_cannot_be_shown_has_a_page_that_says_so(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RecursionError("too deep")

    monkeypatch.setattr(building.card_pages, "card_page", fail)
    built = build_site(site / "out", Registry((toy(site, "one"),)))
    assert built.problems == ("one: RecursionError: too deep",)
    page = (site / "out" / "metrics" / "one.html").read_text(encoding="utf-8")
    assert "can't be shown: RecursionError: too deep" in page


def test_a_warning_of_the_generator_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="page does not exist"):
        generate(SiteIndex(()), {"index.html": '<h1>x</h1><a href="gone.md">x</a>'}, tmp_path)


def test_a_script_in_a_source_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=r"index\.html has a script in it"):
        generate(SiteIndex(()), {"index.html": "<h1>x</h1><ScRipt>1</script>"}, tmp_path)


def test_a_missing_generator_names_the_extra(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zensical", None)
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub\[site\]'"):
        build_site(site / "out", Registry(()))


def test_a_page_runs_the_scripts_that_it_was_built_with_and_no_other() -> None:
    page = '<meta charset="utf-8"><script>f()</script><script src="x.js"></script>'
    page += '<script id="y" type="application/json">{}</script>'
    secure = secured(page)
    digest = base64.b64encode(hashlib.sha256(b"f()").digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}'; " in secure
    assert secure.count("sha256-") == 1
    assert "default-src 'none'" in secure


def test_a_page_names_no_other_that_a_browser_fetches_ahead() -> None:
    # Firefox does so for what comes next, and tells the page that its policy forbids it.
    page = '<head><meta charset="utf-8">\n<link rel="next" href="b.html"><title>A</title></head>'
    assert 'href="b.html"' not in secured(page)
    assert "<title>A</title>" in secured(page)


def test_a_page_without_a_character_set_cannot_be_secured() -> None:
    with pytest.raises(SiteError, match="character set"):
        secured("<html></html>")


def test_the_contents_of_a_page_are_its_headings() -> None:
    page = '<h1>t</h1><h2 id="a">A <em>&amp;</em></h2><h3 id="b">B</h3><h2 id="c">C</h2>'
    first, second = contents(page)
    assert (first["id"], first["name"], first["html"], first["level"]) == ("a", "A &", "A &amp;", 2)
    assert [child["id"] for child in first["children"]] == ["b"]
    assert (second["id"], second["children"]) == ("c", [])


@pytest.mark.parametrize(
    ("tag", "problem"),
    [
        ('<a href="gone.html">', "gone.html isn't there"),
        ('<a href="../index.html">', "../index.html isn't there"),
        ('<a href="b.html#gone">', "b.html#gone: the page has no such anchor"),
        ('<a href="#gone">', "#gone: the page has no such anchor"),
        ('<a href="/b.html">', "the address /b.html isn't relative"),
        ('<a href="javascript:x">', "the link javascript:x isn't allowed on a page"),
        (
            '<a href="//elsewhere.example/">',
            "the link //elsewhere.example/ isn't allowed on a page",
        ),
        ('<script src="https://elsewhere.example/x.js">', "fetches https://elsewhere.example/x.js"),
        ('<link href="//elsewhere.example/x.css">', "fetches //elsewhere.example/x.css"),
        ('<img src="gone.png">', "gone.png isn't there"),
        ('<p onclick="x">', "an event handler, <p onclick>"),
    ],
)
def test_what_is_wrong_with_a_page_is_named(tmp_path: Path, tag: str, problem: str) -> None:
    (tmp_path / "a.html").write_text(f"{tag}x", encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="there">', encoding="utf-8")
    assert site_problems(tmp_path) == (f"a.html: {problem}",)


def test_links_that_work_are_no_problem(tmp_path: Path) -> None:
    (tmp_path / "a b.html").write_text(
        '<p id="x&amp;y"><a href="#x&amp;y"></a><a href="#x%26y"></a><a href="a%20b.html?c=d"></a>'
        '<a href="https://elsewhere.example/"></a><img src="data:image/png;base64,"></p>',
        encoding="utf-8",
    )
    assert site_problems(tmp_path) == ()


def test_the_command_writes_the_site_and_names_problems(folder: Path, tmp_path: Path) -> None:
    card = folder / "README.md"
    card.write_text(card.read_text("utf-8") + "[x](gone.md)", "utf-8")
    result = run("site", "build", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"wrote {tmp_path / 'out' / 'index.html'}, cards: 1\n"
    assert result.stderr.startswith("metrichub: note: one: the link 'gone.md' leads nowhere")


def test_the_command_is_strict_if_asked(folder: Path, tmp_path: Path) -> None:
    (folder / "README.md").write_text("no card", encoding="utf-8")
    text = error(run("site", "build", str(tmp_path / "out"), "--strict"), 1)
    assert text.startswith("cards: one: ")


def test_a_served_site_follows_its_cards(folder: Path, tmp_path: Path) -> None:
    live = LiveSite(tmp_path / "home")
    assert live.refresh() is not None
    assert live.refresh() is None
    card = (folder / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(card.replace("title: Toy", "title: Changed"), "utf-8")
    assert live.refresh() is not None
    assert live.folder is not None
    assert "<h1>Changed</h1>" in (live.folder / "metrics" / "one.html").read_text("utf-8")


def test_a_site_is_served_on_loopback_without_listings(tmp_path: Path) -> None:
    import httpx2

    (tmp_path / "0" / "sub").mkdir(parents=True)
    (tmp_path / "0" / "index.html").write_text("hello", encoding="utf-8")
    with serving(LiveSite(tmp_path, tmp_path / "0"), 0) as address:
        assert address.startswith("http://127.0.0.1:")
        assert httpx2.get(address).text == "hello"
        assert httpx2.get(address).headers["Cache-Control"] == "no-store"
        assert httpx2.get(f"{address}sub/").status_code == 404
        assert httpx2.get(f"{address}%2e%2e/{tmp_path.name}").status_code == 404
