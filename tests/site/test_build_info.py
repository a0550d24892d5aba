"""What a site is built from: its version, its repository, and other versions beside it."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub.catalog.registry import Registry
from metrichub.errors import SiteError
from metrichub.site.build import build_site, build_version, site_problems
from metrichub.site.build_info import BuildInfo
from tests.site_cards import toy

pytestmark = pytest.mark.site

REPOSITORY = "https://github.com/owner/name"


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of three versions of a site with one card, built out of order."""
    folder = tmp_path_factory.mktemp("versions")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        installed = Registry((toy(folder, "one"),))
        for name in ("0.10.0", "0.9.0", "1.0.0rc1"):
            info = BuildInfo(name, REPOSITORY, beside=True)
            build_version(folder / "out", info, installed=installed)
        yield folder / "out"


def distribution(monkeypatch: pytest.MonkeyPatch, *urls: str) -> None:
    """Let the installed distribution have a version and these addresses."""
    known = Message()
    known["Version"] = "9.8.7"
    for url in urls:
        known["Project-URL"] = url
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: known)


def test_the_distribution_names_version_and_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(monkeypatch, "Homepage, https://a.example", f"Source Code, {REPOSITORY}.git")
    assert BuildInfo.installed() == BuildInfo("9.8.7", REPOSITORY)
    assert BuildInfo.installed("https://b.example/x/").repository == "https://b.example/x"
    assert BuildInfo.installed("").repository == ""
    distribution(monkeypatch, "Homepage, https://a.example")
    assert BuildInfo.installed().repository == ""


def test_what_is_no_address_is_no_repository() -> None:
    with pytest.raises(SiteError, match="javascript:alert"):
        BuildInfo.installed("javascript:alert(1)")


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        (REPOSITORY, f"{REPOSITORY}/blob/HEAD/docs/a%20b.md"),
        (
            "https://gitlab.com/group/name",
            "https://gitlab.com/group/name/-/blob/HEAD/docs/a%20b.md",
        ),
        ("https://bitbucket.org/o/n", "https://bitbucket.org/o/n/src/HEAD/docs/a%20b.md"),
        # Nobody knows how an unknown host shows a file.
        ("https://git.example/o/n", ""),
        ("", ""),
    ],
)
def test_a_file_has_the_address_that_its_host_gives_it(repository: str, address: str) -> None:
    assert BuildInfo("1", repository).source("docs/a b.md") == address


def test_pages_link_the_repository_and_their_source_and_name_the_version(versions: Path) -> None:
    home = versions / "0.10.0"
    assert site_problems(home) == ()
    index, guide, card = (
        (home / name).read_text("utf-8")
        for name in ("index.html", "guides/tasks.html", "metrics/one.html")
    )
    assert f'href="{REPOSITORY}"' in index
    assert "owner/name" in index
    # The theme would ask the host for the number of its stars.
    assert 'data-md-component="source"' not in index
    assert f'<a href="{REPOSITORY}/blob/HEAD/docs/TASKS.md">Source of this page</a>' in guide
    assert "metrichub 0.10.0" in guide
    # It came with another distribution, whose repository nobody knows.
    assert "Source of this page" not in card


def test_without_a_repository_nothing_is_linked(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(monkeypatch)
    build_site(site / "out", Registry((toy(site, "one"),)))
    page = (site / "out" / "guides" / "tasks.html").read_text("utf-8")
    assert "metrichub 9.8.7" in page
    assert "Source of this page" not in page
    assert "md-source" not in page
    assert "versions.js" not in page


def test_versions_are_listed_by_their_numbers_and_the_start_leads_to_the_newest_release(
    versions: Path,
) -> None:
    listed = json.loads((versions / "versions.json").read_text("utf-8"))
    assert [version["version"] for version in listed] == ["1.0.0rc1", "0.10.0", "0.9.0"]
    assert [version["aliases"] for version in listed] == [[], ["latest"], []]
    assert 'content="0; url=0.10.0/index.html"' in (versions / "index.html").read_text("utf-8")
    pages = json.loads((versions / "0.9.0" / "pages.json").read_text("utf-8"))
    assert {"index.html", "guides/tasks.html", "metrics/one.html"} <= set(pages)


def test_a_site_of_one_version_replaces_no_versions_and_none_mix_with_other_files(
    versions: Path, site: Path
) -> None:
    with pytest.raises(FileExistsError, match="holds other files"):
        build_site(versions, Registry(()))
    assert (versions / "0.9.0" / "index.html").is_file()
    (site / "out").mkdir()
    (site / "out" / "notes.txt").touch()
    with pytest.raises(FileExistsError, match="has no versions"):
        build_version(site / "out", BuildInfo("1.0", beside=True))
