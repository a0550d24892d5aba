"""Versions of the site side by side, in Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import expect

from metrichub.catalog.registry import Registry
from metrichub.site.build import build_version
from metrichub.site.build_info import BuildInfo
from tests.browser.servers import serving_folder
from tests.site_cards import toy

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def build_versions(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        plugins = folder.with_name("cards-of-versions")
        plugins.mkdir()
        patch.syspath_prepend(plugins)
        cards = (toy(plugins, "one"), toy(plugins, "new"))
        for version, number in {"0.9.0": 1, "0.10.0": 2}.items():
            info = BuildInfo(version, "https://github.com/owner/name", beside=True)
            build_version(folder, info, installed=Registry(cards[:number]))


@pytest.fixture(scope="module")
def address(made_once: Callable[..., Path]) -> Iterator[str]:
    """Where two versions are served; the card "new" is in the second alone."""
    with serving_folder(made_once("versions", build_versions)) as server:
        yield server


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_another_version_opens_at_the_same_page_or_at_its_first(
    page: Page, address: str, width: int, shoot: Callable[[Page, str], None]
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address)
    expect(page).to_have_url(f"{address}0.10.0/index.html")
    version = page.get_by_label("Version")
    expect(version.locator("option")).to_have_text(["0.10.0 (newest)", "0.9.0"])
    page.goto(f"{address}0.10.0/guides/tasks.html")
    expect(version).to_have_value("0.10.0")
    version.focus()
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(f"{address}0.9.0/guides/tasks.html")
    expect(version).to_have_value("0.9.0")
    shoot(page, f"versions-{width}")
    version.select_option("0.10.0")
    expect(page).to_have_url(f"{address}0.10.0/guides/tasks.html")
    page.goto(f"{address}0.10.0/metrics/new.html")
    version.select_option("0.9.0")
    expect(page).to_have_url(f"{address}0.9.0/index.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_beside_other_versions(
    page: Page, address: str, scheme: str, violations: Callable[[Page], list[str]]
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of two words
    page.goto(f"{address}0.9.0/guides/tasks.html")
    expect(page.get_by_label("Version")).to_be_visible()
    assert violations(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
