"""A headless Chromium for the tests of pages, and a page that tells on what it does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


# Tests wait for what they wait for; a busy machine takes long, and these end only what never comes.
SHOWN, DONE = 60_000, 120_000


UNFOLD = """addEventListener("DOMContentLoaded", () => {
    document.getElementById("more")?.setAttribute("open", "");
})"""


# Playwright keeps an event loop in its thread while it runs, so it ends with each module.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; without it tests are skipped, or fail where CI_BROWSER is 1."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        chromium = None
    else:
        expect.set_options(timeout=SHOWN)
    if chromium is None:
        reason = "needs chromium on the path, and playwright"
        pytest.fail(reason) if os.environ.get("CI_BROWSER") == "1" else pytest.skip(reason)
    with sync_playwright() as playwright:
        # In a container Chromium can't make a sandbox of its own.
        running = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"], timeout=DONE
        )
        running.on("context", lambda context: context.set_default_timeout(DONE))
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that must end without an error on its console and without a request to elsewhere.

    The filters of a report are unfolded.
    """
    context = browser.new_context()
    context.add_init_script(UNFOLD)
    opened = context.new_page()
    errors: list[str] = []
    requests: list[str] = []
    context.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("request", lambda request: requests.append(request.url))
    yield opened
    context.close()
    assert errors == []
    assert [url for url in requests if not _is_here(url)] == []


def _is_here(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("file", "data", "blob") or parts.hostname == "127.0.0.1"


@pytest.fixture
def violations() -> Callable[[Page], list[str]]:
    """The serious and critical violations that axe finds in a page, a line each."""
    Axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe_playwright_python is not installed"
    ).Axe

    def violations_of(page: Page) -> list[str]:
        # Without a list of all that is right.
        result = Axe().run(page, options={"resultTypes": ["violations"]})
        return [
            f"{violation['impact']} {violation['id']}: {node['html'][:200]}"
            for violation in result.response["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]

    return violations_of


@pytest.fixture
def shoot() -> Callable[[Page, str], None]:
    """Takes a screenshot of a page to look at, where METRICHUB_SCREENSHOTS names a folder."""
    folder = os.environ.get("METRICHUB_SCREENSHOTS")

    def shot(page: Page, name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder, f"{name}.png"), full_page=True)

    return shot


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of two systems."""
    from tests.browser.reports import write_two

    return write_two(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running app."""
    from tests.app_browser import running

    with running(tmp_path_factory.mktemp("site")) as address:
        yield address
