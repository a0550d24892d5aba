"""The example report of the site: made from examples/, alike each time, and linked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub.catalog.registry import Registry
from metrichub.site.project import write_project
from metrichub.site.site_pages import EXAMPLE_METRICS as METRICS
from metrichub.site.site_pages import example_report
from tests.guide_commands import ROOT
from tests.report.test_page import Page
from tests.site_cards import toy

pytestmark = pytest.mark.site


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("example") / "example.html"
    assert example_report(path, METRICS)
    return path


@pytest.fixture(scope="module")
def page(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_the_page_holds_the_texts_of_both_systems_and_no_folder(path: Path, page: str) -> None:
    texts = json.dumps(Page(path).samples, ensure_ascii=False)
    for file in ("summaries.jsonl", "summaries_b.jsonl"):
        lines = (ROOT / "examples" / file).read_text("utf-8").splitlines()
        for row in map(json.loads, lines[::13]):
            assert json.dumps(row["prediction"], ensure_ascii=False) in texts
    assert str(ROOT) not in page + texts


def test_home_and_the_navigation_lead_to_the_example(tmp_path: Path) -> None:
    entries = Registry.installed().entries
    write_project(tmp_path, Registry(tuple(e for e in entries if e.name in METRICS)), "")
    assert (tmp_path / "docs" / "example.html").is_file()
    home = (tmp_path / "docs" / "index.md").read_text("utf-8")
    assert "[Open the example report](example.html)" in home
    assert "An example report: example.html" in (tmp_path / "mkdocs.yml").read_text("utf-8")


def test_a_site_without_the_example_s_metrics_has_none(site: Path) -> None:
    write_project(site / "project", Registry((toy(site, "one"),)), "")
    assert not (site / "project" / "docs" / "example.html").exists()
    assert "example report" not in (site / "project" / "docs" / "index.md").read_text("utf-8")
