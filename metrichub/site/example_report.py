"""The example report: the page of the two systems in examples/, made as `compare --report` does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from metrichub.catalog import guides
from metrichub.site.site_index import GUIDES, DocPage, SiteIndex

PATH = "example.html"
METRICS = ("rouge", "bleu", "abstractness", "density")
"""Closeness to the references, and how much is copied: here they say different things."""
_SYSTEMS = {"A": "summaries.jsonl", "B": "summaries_b.jsonl"}


def is_in(index: SiteIndex) -> bool:
    """Whether a site has the report: its files and its metrics are there."""
    return bool(_folder()) and {page.name for page in index.pages}.issuperset(METRICS)


def example_pages(index: SiteIndex) -> Iterator[DocPage]:
    """The report of the example's systems, if a site has it."""
    folder = _folder()
    if folder and is_in(index):
        yield DocPage(
            PATH,
            "An example report",
            "Two systems that summarise forty passages, compared: which is better on what, each "
            "score with its interval, and every sample side by side.",
            GUIDES,
            _page(folder),
            whole=True,
        )


def _folder() -> Path | None:
    """Where the example's files lie: in the package as it is installed, or in a clone."""
    home = guides.folder()
    for folder in (home / "examples", home.parent / "examples"):
        if all((folder / name).is_file() for name in _SYSTEMS.values()):
            return folder
    return None


# Two builds in one process, as of a site that is served while cards are written, share it.
@cache
def _page(folder: Path) -> str:
    from metrichub import Hub, read

    hub = Hub(list(METRICS))
    reports = hub.evaluate_all({name: read(folder / file) for name, file in _SYSTEMS.items()})
    (name, first), *others = reports.items()
    with TemporaryDirectory(prefix="metrichub-example-") as home:
        page = Path(home) / PATH
        first.to_html(page, name=name, others=dict(others))
        return page.read_text(encoding="utf-8")
