"""The example report of the site: made from examples/, alike each time, and found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub.catalog.registry import Registry
from metrichub.site import example_report
from metrichub.site.build import build_site, site_problems
from metrichub.site.site_index import SiteIndex
from tests.guide_commands import ROOT
from tests.site_cards import toy

pytestmark = pytest.mark.site

# Whoever asks for a socket fails, so that a page is made without the network or not at all.
PROGRAM = """
import socket, sys
def refuse(*given, **named):
    raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = refuse
from metrichub.catalog.registry import Registry
from metrichub.site import example_report
from metrichub.site.site_index import SiteIndex
page, = example_report.example_pages(SiteIndex.of(Registry.installed()))
sys.stdout.write(page.html)
"""


def installed() -> Registry:
    """The metrics of the example, and no other."""
    entries = Registry.installed().entries
    return Registry(tuple(entry for entry in entries if entry.name in example_report.METRICS))


@pytest.fixture(scope="module")
def page() -> str:
    return next(example_report.example_pages(SiteIndex.of(installed()))).html


def test_another_process_without_a_network_makes_the_same_bytes(page: str) -> None:
    # Sets are in another order there.
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    run = [sys.executable, "-c", PROGRAM]
    made = subprocess.run(run, env=environment, capture_output=True, check=False)
    assert made.returncode == 0, made.stderr.decode()
    assert made.stdout.decode() == page


def test_the_page_holds_the_texts_of_both_systems_and_no_folder(page: str) -> None:
    for file in ("summaries.jsonl", "summaries_b.jsonl"):
        lines = (ROOT / "examples" / file).read_text("utf-8").splitlines()
        for row in map(json.loads, lines[::13]):
            # The page's data are JSON, in which < is escaped.
            assert json.dumps(row["prediction"], ensure_ascii=False)[1:-1] in page
    assert str(ROOT) not in page


def test_home_the_guide_and_the_search_lead_to_the_example(tmp_path: Path) -> None:
    build_site(tmp_path / "out", installed())
    assert site_problems(tmp_path / "out") == ()
    read = {name: (tmp_path / "out" / name).read_text("utf-8")
            for name in ("index.html", "guides/compare.html", "search.json")}  # fmt: skip
    assert 'href="example.html">Open the example report</a>' in read["index.html"]
    assert 'href="../example.html"' in read["guides/compare.html"]
    assert "example.html" in {item["location"] for item in json.loads(read["search.json"])["items"]}


def test_a_site_without_the_example_s_metrics_names_none(site: Path) -> None:
    index = SiteIndex.of(Registry((toy(site, "one"),)))
    assert not example_report.is_in(index)
    assert list(example_report.example_pages(index)) == []
