"""Building the site: the folder, the generator and what it checks, the commands."""

from __future__ import annotations

import dataclasses
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from errno import ENOSPC
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub.catalog.registry import Registry
from metrichub.errors import MissingDependency, SiteError
from metrichub.site import commands as building
from metrichub.site.commands import build_site, serve_site
from tests.commands import error, run
from tests.site_cards import hostile, toy

pytestmark = pytest.mark.site


class Fetched(HTMLParser):
    """What a page fetches from other hosts, and the scripts that a card may have brought."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.active: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            address = value or ""
            if (name in ("src", "srcset", "poster") or (name == "href" and tag == "link")) and (
                re.match(r"(https?:)?//", address)
            ):
                self.foreign.append(address)
            # From a folder, or under a path of a server, such an address leads elsewhere.
            if name in ("src", "href") and address.startswith("/"):
                self.foreign.append(address)
            if name.startswith("on") or address.lower().startswith(("javascript:", "data:text")):
                self.active.append(f"{tag} {name}={address}")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two cards, a hostile one among them, and the site of both in `out`."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        body = "# One\n\n## Description\n\nSee *this* and [x](gone.md).\n\n### Deeper\n"
        built = build_site(folder / "out", Registry((toy(folder, "one", body), hostile(folder))))
        (folder / "problems.txt").write_text("\n".join(built[1]), encoding="utf-8")
        yield folder


@pytest.fixture
def folder(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the only metric that is installed."""
    entry = toy(site, "one")
    installed = classmethod(lambda *_: Registry((dataclasses.replace(entry),)))
    monkeypatch.setattr(Registry, "installed", installed)
    return site / "toy_pack" / "one"


def test_every_page_has_its_neighbours_its_contents_and_the_version(home: Path) -> None:
    page = (home / "out" / "docs" / "TASKS.html").read_text(encoding="utf-8")
    assert 'class="md-footer__link md-footer__link--prev"' in page
    assert 'class="md-footer__link md-footer__link--next"' in page
    assert '<a href="#rag" class="md-nav__link">' in page
    assert re.search(r"metrichub \d+\.\d+", page)
    assert "metric_cards/index.html" in page


def test_a_dead_link_of_a_card_is_named_with_its_line(home: Path) -> None:
    problems = (home / "problems.txt").read_text(encoding="utf-8")
    assert "page does not exist" in problems
    assert re.search(r"metric_cards/one/README\.md:\d+", problems)


def test_no_page_fetches_from_elsewhere_or_has_what_a_hostile_card_wants(home: Path) -> None:
    for path in (home / "out").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        fetched = Fetched(text)
        assert (fetched.foreign, fetched.active) == ([], []), path.name
        assert "<script>window.ran" not in text
        assert "'</title>" not in text
        assert "the secret text" not in text
        assert 'http-equiv="Content-Security-Policy"' in text


def test_the_card_of_a_stranger_passes_the_generator_as_text(home: Path) -> None:
    page = (home / "out" / "metric_cards" / "hostile" / "index.html").read_text(encoding="utf-8")
    assert '{{ 7 * 7 }} {% include "/etc/passwd" %} --8&lt;-- "/etc/passwd" :smile:' in page


def test_a_folder_with_other_files_is_refused(site: Path) -> None:
    (site / "out").mkdir()
    (site / "out" / "thesis.tex").touch()
    with pytest.raises(SiteError, match="holds other files"):
        build_site(site / "out", Registry(()))
    assert [path.name for path in (site / "out").iterdir()] == ["thesis.tex"]


def test_an_earlier_site_is_replaced_and_a_full_disk_leaves_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    shutil.copytree(home / "out", out)
    (out / "old.html").touch()
    monkeypatch.setattr(building, "_write", lambda *_: (0, ()))

    def generated(command: list[str], *, cwd: Path, **_: Any) -> Any:
        shutil.copytree(home / "out", cwd / "site")
        return SimpleNamespace(returncode=0, stdout="No issues found")

    def full(source: Path, target: Path, **_: Any) -> None:
        target.mkdir()
        raise OSError(ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr(building.subprocess, "run", generated)
    monkeypatch.setattr(building, "shutil", SimpleNamespace(copytree=full, rmtree=shutil.rmtree))
    with pytest.raises(OSError, match="No space left"):
        build_site(out)
    assert (out / "old.html").exists()
    assert not (out / ".new").exists()
    monkeypatch.setattr(building, "shutil", shutil)
    assert build_site(out) == (0, ())
    assert not (out / "old.html").exists()
    assert (out / "index.html").exists()


def test_strict_fails_on_a_broken_card_and_a_dead_link_and_writes_nothing(site: Path) -> None:
    broken = toy(site, "broken", more="titel: x\n")
    with pytest.raises(SiteError, match=r"^cards: broken: "):
        build_site(site / "out", Registry((broken,)), strict=True)
    for name, body in {"page": "[x](gone.md)", "anchor": "[x](#gone)"}.items():
        with pytest.raises(SiteError, match=f"(?s)the site generator failed: .*{name} does not"):
            build_site(site / "out", Registry((toy(site, name, f"# A\n\n{body}\n"),)), strict=True)
    assert not (site / "out").exists()


@pytest.mark.parametrize("package", ["zensical", "mkdocs_click", "mkdocstrings_handlers"])
def test_a_missing_package_names_the_extra(
    site: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setattr(building, "find_spec", lambda name: None if name == package else name)
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub\[site\]'"):
        build_site(site / "out", Registry(()))


def test_the_command_writes_the_site_and_names_problems(folder: Path, tmp_path: Path) -> None:
    card = folder / "README.md"
    card.write_text(card.read_text("utf-8") + "[x](gone.md)", "utf-8")
    result = run("site", "build", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"wrote {tmp_path / 'out' / 'index.html'}, cards: 1\n"
    assert "page does not exist" in result.stderr


def test_the_command_is_strict_if_asked(folder: Path, tmp_path: Path) -> None:
    (folder / "README.md").write_text("no card", encoding="utf-8")
    text = error(run("site", "build", str(tmp_path / "out"), "--strict"), 1)
    assert text.startswith("cards: one: ")


def test_a_served_site_follows_its_cards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []
    starter = building.subprocess.Popen

    def started(command: list[str], *, cwd: str) -> Any:
        assert command[:3] == [sys.executable, "-m", "zensical"]
        assert command[3:] == ["serve", "--dev-addr", "127.0.0.1:8123"]
        pages.append(cwd)
        # Its own server would do this in its time.
        return starter([sys.executable, "-c", "import time; time.sleep(60)"])

    def changed(seconds: float) -> None:
        page = Path(pages[0], "docs", "metric_cards", "one", "README.md")
        pages.append(page.read_text("utf-8"))
        if len(pages) > 2:
            raise KeyboardInterrupt
        card = (folder / "README.md").read_text(encoding="utf-8")
        (folder / "README.md").write_text(card.replace("title: Toy", "title: Changed"), "utf-8")

    monkeypatch.setattr(building.subprocess, "Popen", started)
    monkeypatch.setattr(building, "sleep", changed)
    with pytest.raises(KeyboardInterrupt):
        serve_site(8123)
    _, before, after = pages
    assert "# Toy" in before
    assert "# Changed" in after


def test_a_port_in_use_is_an_error(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        text = error(run("site", "serve", "--port", str(taken.getsockname()[1])), 1)
    assert text == "the generator's server ended with status 1"
