"""Six paths through the site, a report and the app in Debian's Firefox, by Node and puppeteer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")
pytest.importorskip("fastapi", reason="the extra app is not installed")

from metrichub.site.commands import build_site
from tests.app_browser import file_of, running
from tests.browser import kinds
from tests.browser.reports import write_two
from tests.browser.servers import serving_folder

pytestmark = pytest.mark.firefox

HOME = Path(__file__).parent / "firefox"
PATHS = ("home", "card", "report", "address", "kinds", "app")
KINDS = (kinds.ten_rated, kinds.judged, kinds.conversations, kinds.scripts, kinds.long_texts)


@pytest.fixture(scope="module")
def browsers() -> Mapping[str, str]:
    """The programs; without them tests are skipped, or fail where CI_FIREFOX is 1."""
    result = {name: shutil.which(name) for name in ("firefox-esr", "node")}
    programs = {name: path for name, path in result.items() if path}
    if len(programs) < len(result) or not (HOME / "node_modules" / "puppeteer-core").is_dir():
        reason = "needs firefox-esr and node on the path, and npm ci in tests/browser/firefox"
        pytest.fail(reason) if os.environ.get("CI_FIREFOX") == "1" else pytest.skip(reason)
    return programs


@pytest.fixture(scope="module")
def addresses(
    browsers: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Any]]:
    """Where the site, reports and the app are, and a file of samples."""
    folder = tmp_path_factory.mktemp("firefox")
    build_site(folder / "site")
    report, file = write_two(folder), file_of(folder)
    pages = {}
    for kind in KINDS:
        home = folder / kind.__name__
        home.mkdir()
        pages[kind.__name__] = kind(home)
    shots = os.environ.get("METRICHUB_SCREENSHOTS", "")
    with serving_folder(folder / "site") as site, running(folder / "plugins") as app:
        yield {
            "firefox": browsers["firefox-esr"],
            "site": site,
            "report": report,
            "kinds": pages,
            "app": app,
            "file": str(file),
            "shots": shots,
        }


@pytest.fixture(scope="module")
def walked(browsers: Mapping[str, str], addresses: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """What went wrong on each path, in one Firefox that has a profile for each."""
    line = [browsers["node"], "paths.mjs", json.dumps(addresses)]
    ran = subprocess.run(line, cwd=HOME, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return dict(json.loads(ran.stdout))


@pytest.mark.parametrize("path", PATHS)
def test_firefox_goes_the_path(path: str, walked: Mapping[str, list[str]]) -> None:
    assert walked[path] == []
