"""Running the site generator: its project written, its pages secured, our search put in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path

from metrichub import MissingDependency, SiteError
from metrichub.catalog.search import GUIDE, SearchIndex, SearchPage, search_pages
from metrichub.report.html.theme import THEME
from metrichub.site.build_info import BuildInfo
from metrichub.site.card_pages import pictures
from metrichub.site.site_index import GUIDES, CardPage, DocPage, SiteIndex, one_line

ASSETS = Path(__file__).parent / "assets"
NAME = "metrichub"
_SCRIPTS = ("page", "search", "home", "gallery")
_LEFT_OUT = ("404.html", "sitemap.xml")
_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.DOTALL)
_NEXT = re.compile(r'\s*<link rel="(?:next|prev)"[^>]*>')
_ASKS = ' data-md-component="source"'
_FRONT = ("All metrics", "Metrics for generated text, and their cards.")
_CHARSET = '<meta charset="utf-8">'
_KINDS = {"elsewhere": "not included"}


def generate(
    index: SiteIndex,
    sources: Mapping[str, str],
    project: Path,
    doc_pages: Sequence[DocPage] = (),
    info: BuildInfo | None = None,
) -> Path:
    """The folder of the generated site, inside of `project`, from the HTML of its pages by path.

    `doc_pages` are pages beside the cards; what the search finds is the cards and these.

    Raises:
        MissingDependency: the extra `site` isn't installed.
        SiteError: the generator failed or warned.
    """
    if find_spec("zensical") is None:
        raise MissingDependency("the cards' site", "zensical", "pip install 'metrichub[site]'")
    info = info or BuildInfo.installed()
    _write(index, sources, project, doc_pages, info)
    ran = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", "zensical.toml"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        output = re.sub(r"\x1b\[[\d;]*m", "", ran.stdout + ran.stderr)
        raise SiteError(f"the site generator failed: {output.strip()}")
    site = project / "site"
    for name in _LEFT_OUT:
        (site / name).unlink(missing_ok=True)
    put_search(site, index, doc_pages)
    for path in site.rglob("*.html"):
        path.write_text(secured(path.read_text(encoding="utf-8")), encoding="utf-8")
    for page in doc_pages:
        if page.whole:
            (site / page.path).write_text(page.html, encoding="utf-8")
    if info.beside:
        pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
        (site / "pages.json").write_text(json.dumps(pages), encoding="utf-8")
    return site


def secured(page: str) -> str:
    """The page with a policy that lets it run its own scripts and talk to nobody else.

    Scripts inside of the page are the generator's; each is allowed by its hash.
    """
    hashes = sorted(
        {
            _hash(script["code"])
            for script in _SCRIPT.finditer(page)
            if not re.search(r"\bsrc=|application/json", script["attributes"])
        }
    )
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' {' '.join(hashes)}".strip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    # What comes next is fetched by browsers, and stars by the theme, before anybody asks for them.
    page = _NEXT.sub("", page).replace(_ASKS, "")
    if _CHARSET not in page:
        raise SiteError("the site generator wrote a page without a character set")
    meta = f'{_CHARSET}\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace(_CHARSET, meta, 1)


def _hash(code: str) -> str:
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _write(
    index: SiteIndex,
    sources: Mapping[str, str],
    project: Path,
    doc_pages: Sequence[DocPage],
    info: BuildInfo,
) -> None:
    docs = project / "docs"
    shutil.copytree(ASSETS, docs / "assets", ignore=shutil.ignore_patterns("answer.js"))
    shutil.copy(THEME, docs / "assets")
    for picture in pictures():
        shutil.copy(picture, docs / "assets")
    # The generator takes a script of this name for its search on pages without a server.
    (docs / "assets" / "worker.js").rename(docs / "assets" / "iframe-worker.js")
    titles = {page.path: (page.title, page.card.summary) for page in index.pages}
    titles |= {page.path: (page.title, page.summary) for page in doc_pages}
    files = {page.path: info.source(page.source) for page in index.pages}
    files |= {page.path: info.source(page.source) for page in doc_pages}
    beside = {page.path: page.html for page in doc_pages if not page.whole}
    for path, page in {**sources, **beside}.items():
        if re.search("<script", page, re.IGNORECASE):
            # Whatever script is in a built page is allowed to run there, as the generator's own.
            raise SiteError(f"the source of {path} has a script in it")
        title, summary = titles.get(path, _FRONT)
        front: dict[str, object] = {"title": _escaped(title), "description": _escaped(summary)}
        if path == "index.html":
            front |= {"hide": ["navigation", "toc"]}
        target = (docs / path).with_suffix(".md")
        target.parent.mkdir(parents=True, exist_ok=True)
        if file := files.get(path):
            page += f'\n<p class="mh-source"><a href="{escape(file)}">Source of this page</a></p>'
        target.write_text(f"---\n{json.dumps(front)}\n---\n{page}", encoding="utf-8")
    settings = _settings(_nav(index, doc_pages), info)
    (project / "zensical.toml").write_text(f"project = {_toml(settings)}\n", "utf-8")


def _nav(index: SiteIndex, doc_pages: Sequence[DocPage]) -> Sequence[object]:
    groups: dict[str, list[object]] = {}
    for page in doc_pages:
        target = page.path if page.whole else page.path.replace(".html", ".md")
        link = {_escaped(page.title): target}
        groups.setdefault(page.group, []).append(link)
    families: list[object] = [
        {_escaped(family): [_link(page) for page in pages]}
        for family, pages in index.families.items()
    ]
    guides, reference = groups.pop(GUIDES, []), list(groups.items())
    return [
        {"All metrics": "index.md"},
        *([{GUIDES: guides}] if guides else []),
        *([{"Metrics": families}] if families else []),
        *({name: pages} for name, pages in reference),
    ]


def _link(page: CardPage) -> Mapping[str, str]:
    return {_escaped(page.title): page.path.replace(".html", ".md")}


def _settings(nav: Sequence[object], info: BuildInfo) -> Mapping[str, object]:
    return {
        "site_name": NAME,
        "nav": nav,
        "extra_css": [f"assets/{THEME.name}", "assets/site.css"],
        "extra_javascript": [
            "assets/page.js",
            "assets/search.js",
            "assets/home.js",
            "assets/gallery.js",
            *(["assets/versions.js"] if info.beside else []),
        ],
        "copyright": _escaped(f"{NAME} {info.version}"),
        **_repository(info),
        "extra": {"polyfills": ["assets/iframe-worker.js"]},
        "plugins": {"offline": {}, "search": {}},
        "markdown_extensions": {"metrichub.site.html_passthrough": {}},
        "theme": {
            "font": False,
            "language": "en",
            "features": ["content.code.copy", "search.highlight", "toc.follow"],
            "palette": [
                _scheme("light", "default", "lucide/sun", "Switch to dark"),
                _scheme("dark", "slate", "lucide/moon", "Switch to light"),
            ],
        },
    }


def _repository(info: BuildInfo) -> Mapping[str, object]:
    if not info.repository:
        return {}
    return {"repo_url": info.repository, "repo_name": _escaped(info.repository_name)}


def _scheme(media: str, scheme: str, icon: str, name: str) -> Mapping[str, object]:
    return {
        "media": f"(prefers-color-scheme: {media})",
        "scheme": scheme,
        "toggle": {"icon": icon, "name": name},
    }


def _escaped(text: str) -> str:
    """The text as HTML on one line: the generator's templates take titles as they are."""
    return escape(one_line(text))


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(key, ensure_ascii=False)} = {_toml(v)}" for key, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{', '.join(map(_toml, value))}]"
    # Strings and truth values are written as in JSON.
    return json.dumps(value, ensure_ascii=False)


def put_search(site: Path, index: SiteIndex, doc_pages: Sequence[DocPage]) -> None:
    """Write the search's index and its worker into a generated site.

    Raises:
        SiteError: the generator's search isn't where it was, so that ours would not be asked.
    """
    workers = sorted(site.glob("assets/javascripts/workers/search.*.js"))
    if len(workers) != 1:
        raise SiteError(f"the site generator wrote {len(workers)} search workers, not one")
    worker = "".join((ASSETS / name).read_text("utf-8") for name in ("search.js", "answer.js"))
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
            "title": _escaped(page.title),
            "text": f"<p>{_escaped(page.summary)}</p>",
            "path": [_escaped(f"{_KINDS.get(page.kind, page.kind)} {page.name}".strip())],
            "tags": [],
        }
        for page in pages
    ]
    return {"items": items, "ranking": SearchIndex.of(pages).as_json()}


def _kind(page: DocPage) -> str:
    return GUIDE if page.group == GUIDES else "reference"


def _is_in(page: SearchPage, built: set[str]) -> bool:
    return page.address.partition("#")[0] in built
