"""What the site's search box answers from: our index and ranking in place of the generator's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from metrichub.catalog.search import GUIDE, SearchIndex, SearchPage, search_pages
from metrichub.errors import SiteError
from metrichub.site.site_index import GUIDES, DocPage, SiteIndex, one_line

_ASSETS = Path(__file__).parent / "assets"
_KINDS = {"elsewhere": "not included"}


def put_search(site: Path, index: SiteIndex, doc_pages: Sequence[DocPage]) -> None:
    """Write the search's index and its worker into a generated site.

    Raises:
        SiteError: the generator's search isn't where it was, so that ours would not be asked.
    """
    workers = sorted(site.glob("assets/javascripts/workers/search.*.js"))
    if len(workers) != 1:
        raise SiteError(f"the site generator wrote {len(workers)} search workers, not one")
    worker = "".join((_ASSETS / name).read_text("utf-8") for name in ("search.js", "answer.js"))
    workers[0].write_text(worker, encoding="utf-8")
    # Pages without a server start the worker from this script.
    starter = site / "assets" / "iframe-worker.js"
    text = starter.read_text(encoding="utf-8").replace('"@@WORKER@@"', json.dumps(worker))
    starter.write_text(text, encoding="utf-8")
    generated = json.loads((site / "search.json").read_text(encoding="utf-8"))
    written = json.dumps(
        {"config": generated["config"], **search_data(index, doc_pages)},
        ensure_ascii=False, separators=(",", ":"),
    )  # fmt: skip
    (site / "search.json").write_text(written, encoding="utf-8")
    (site / "search.js").write_text(f"var __index = {written}", encoding="utf-8")


def site_pages(index: SiteIndex, doc_pages: Sequence[DocPage]) -> tuple[SearchPage, ...]:
    """What the site's search can find: cards, the pages beside them, and what lives elsewhere."""
    cards = ((page.title, page.path, page.entry) for page in index.pages)
    built = {page.path for page in doc_pages}
    known = [page for page in search_pages(cards) if page.kind == "metric" or _is_in(page, built)]
    addresses = {page.address.partition("#")[0] for page in known}
    others = (
        SearchPage(
            page.title,
            page.path,
            _kind(page),
            summary=page.summary,
            text=page.words,
        )
        for page in doc_pages
        if page.path not in addresses
    )
    return (*known, *others)


def search_data(index: SiteIndex, doc_pages: Sequence[DocPage]) -> dict[str, object]:
    """The pages that can be found, as the theme shows them, and the ranking's index."""
    pages = site_pages(index, doc_pages)
    items = [
        {
            "location": page.address,
            "level": 1,
            "title": _shown(page.title),
            "text": f"<p>{_shown(page.summary)}</p>",
            "path": [_shown(f"{_KINDS.get(page.kind, page.kind)} {page.name}".strip())],
            "tags": [],
        }
        for page in pages
    ]
    return {"items": items, "ranking": SearchIndex.of(pages).as_json()}


def _kind(page: DocPage) -> str:
    return GUIDE if page.group == GUIDES else "reference"


def _is_in(page: SearchPage, built: set[str]) -> bool:
    return page.address.partition("#")[0] in built


def _shown(text: str) -> str:
    """A text as the theme takes it, as HTML."""
    return escape(one_line(text))
