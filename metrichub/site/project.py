"""The project of the site: pages and settings in a folder, for the generator to build as it is.

Cards, guides and prompts lie where they lie in the repository, so that their links hold, and the
generator checks them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import quote, urlsplit

import mkdocs
import yaml

from metrichub import CardError, SiteError
from metrichub.authoring import SHARED_PROMPTS
from metrichub.catalog import guides
from metrichub.catalog.known_plugins import install_of
from metrichub.catalog.registry import METRICS, Entry, Registry
from metrichub.report.html.theme import THEME
from metrichub.site import site_pages as pages
from metrichub.site.site_pages import CardPage, markdown_of, one_line

SKELETON = Path(__file__).parent / "skeleton"
"""The files that every project has."""
SETTINGS = "mkdocs.yml"
LUNR = Path(mkdocs.__file__).parent / "contrib" / "search" / "templates" / "search" / "lunr.js"
_DISTRIBUTION, _PLUGIN = "metrichub", "metrichub-neural"
# How each host shows a file of the newest commit.
_FILES = {
    "github.com": "/blob/HEAD/",
    "gitlab.com": "/-/blob/HEAD/",
    "bitbucket.org": "/src/HEAD/",
}
# The labels that PyPI knows for a repository, in small letters without signs.
_LABELS = ("source", "repository", "sourcecode", "github")
_ORDER = (
    *("FIRST", "LOGS", "TASKS", "COMPARE", "JUDGES", "AGENTS", "GATE", "OWN", "PEOPLE"),
    *("LARGE", "BRIDGES", "MOVING"),
)
"""The guides in the order in which one reads them; other pages of docs/ are reference."""
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
# What a prompt's file has for judges without a model, and no reader.
_RULE = re.compile(r"<!--\s*offline:.*?-->\s*")
_LONGEST = 100_000


def write_project(
    folder: Path, installed: Registry | None = None, repository: str | None = None
) -> tuple[int, tuple[str, ...]]:
    """Write the project of the installed metrics: how many cards, and which can't be read.

    What is there already isn't written again.

    `repository` is the address of the source, else that which the distribution names.

    Raises:
        SiteError: `repository` isn't an address of the web.
    """
    from importlib.metadata import metadata

    facts = metadata(_DISTRIBUTION)
    if repository is None:
        repository = _repository(facts.get_all("Project-URL") or [])
    if repository and urlsplit(repository).scheme not in ("http", "https"):
        raise SiteError(f"{repository!r} isn't the address of a repository; give one with https://")
    cards, broken = _cards(installed or with_plugin(Registry.installed()))
    places = frozenset(card.folder for card in cards)
    writer = _Writer(folder, repository.rstrip("/").removesuffix(".git"), places)
    settings = _settings(facts["Version"], writer.repository, writer.source)
    settings["nav"] = [*writer.pages(cards, broken)]
    writer.put(SETTINGS, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
    return len(cards), tuple(f"{name}: {reason}" for name, reason in broken.items())


@dataclass(frozen=True)
class _AtHand(Entry):
    """A metric of a plugin that lies beside metrichub in a clone, installed or not."""

    home: Path = Path()

    @property
    def folder(self) -> Path:
        """The folder of its module."""
        return self.home.joinpath(*self.value.partition(":")[0].split("."))

    @property
    def install(self) -> str:
        """The command that installs the plugin, with the metric's requirements."""
        return install_of(self.distribution)


def with_plugin(installed: Registry) -> Registry:
    """The installed metrics, and in a clone also those of its plugin."""
    import tomllib

    home = guides.folder().parent / "plugins" / _PLUGIN
    distributions = {entry.distribution for entry in installed.entries}
    if _DISTRIBUTION not in distributions or _PLUGIN in distributions or not home.is_dir():
        return installed
    project = tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"][METRICS].items()
    version = project["version"]
    entries = (_AtHand(name, _PLUGIN, version, value, home) for name, value in points)
    return Registry((*installed.entries, *entries))


def _repository(urls: Sequence[str]) -> str:
    """The repository among the addresses of a distribution, each "label, address"."""
    addresses = {}
    for line in urls:
        label, _, address = line.partition(",")
        addresses["".join(filter(str.isalnum, label.lower()))] = address.strip()
    return next((addresses[label] for label in _LABELS if label in addresses), "")


def _cards(installed: Registry) -> tuple[Sequence[CardPage], Mapping[str, str]]:
    """A page for each card by title, and why the others have none; imports no metric's code."""
    cards: dict[str, CardPage] = {}
    broken = {}
    for entry in installed.entries:
        name = one_line(installed.name_of(entry))
        try:
            _ = entry.card
        except CardError as error:
            # Without the folders of this machine.
            broken[name] = re.sub(r"(?:[A-Za-z]:)?[/\\][^\s:]*[/\\]", "", one_line(str(error)))
            continue
        # An entry point may be called anything; a folder may not.
        place = base = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_") or "metric"
        number = 1
        while place in cards:
            number += 1
            place = f"{base}-{number}"
        cards[place] = CardPage(entry, name, place)
    return sorted(cards.values(), key=lambda page: page.title.casefold()), broken


@dataclass(frozen=True)
class _Writer:
    """The folder of a project, the repository that pages link to, or "", and the cards' folders."""

    folder: Path
    repository: str
    places: frozenset[str]

    @property
    def source(self) -> str:
        """The address under which files of the repository are shown; "" where nobody knows it."""
        between = _FILES.get(urlsplit(self.repository).hostname or "")
        return f"{self.repository}{between}" if between else ""

    def put(self, path: str, text: str) -> None:
        """Write a file, if it isn't there already."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")

    def page(self, path: str, text: str, source: str = "", **front: object) -> str:
        """Write a page that is made from a file of the repository; its path."""
        front = {name: value for name, value in front.items() if value}
        head = f"---\n{yaml.safe_dump(front, allow_unicode=True)}---\n" if front else ""
        if source and self.source:
            text += f"\n\n[Source of this page]({self.source}{quote(source)})\n"
        self.put(f"docs/{path}", head + text)
        return path

    def pages(
        self, cards: Sequence[CardPage], broken: Mapping[str, str]
    ) -> Iterator[Mapping[str, object]]:
        """Write every page; the entries of the navigation."""
        docs = self.folder / "docs"
        if not docs.exists():
            shutil.copytree(SKELETON, self.folder, dirs_exist_ok=True)
            pictures = (guides.folder() / "pictures").glob("report-*.png")
            for file in (THEME, LUNR, *pictures):
                shutil.copy(file, docs / "assets")
        for prompt in SHARED_PROMPTS.glob("*.md"):
            self._prompt(f"metrichub/judge/prompts/{prompt.name}", prompt)
        report = pages.example_report(docs / "example.html", {card.name for card in cards})
        yield {"Home": self.page("index.md", self._home(report))}
        first, others = self._guides()
        example = [{"An example report": "example.html"}] if report else []
        yield {"Guides": [*first, *example]}
        families: dict[str, list[object]] = {}
        for card in cards:
            link = {escape(card.title): self._card(card)}
            families.setdefault(one_line(card.entry.card.tags.family) or "other", []).append(link)
        yield {
            "Metrics": [
                self.page(
                    "metric_cards/README.md",
                    pages.metric_table(cards, broken),
                    hide=["navigation", "toc"],
                ),
                {"Choose metrics": self.page("choose.md", pages.chooser(cards))},
                {"By tag": "tags.md"},
                {"Agreement with people": self.page("agreement.md", pages.agreement_tables(cards))},
                {"Not included": self.page("elsewhere.md", pages.not_included(cards))},
                *(
                    {escape(pages.capital(name)): families[name]}
                    for name in sorted(families, key=str.casefold)
                ),
            ]
        }
        reference = [
            {title: self.page(f"reference/{title.lower().replace(' ', '-')}.md", text)}
            for title, text in pages.reference()
        ]
        yield {"Reference": reference}
        yield {"About": [*others, *self._changelog()]}

    def _home(self, report: bool) -> str:
        path = guides.folder() / "HOME.md"
        text = path.read_text(encoding="utf-8") if path.is_file() else "# metrichub\n"
        if any((self.folder / "docs" / "assets").glob("report-*.png")):
            text += "".join(
                f"\n![A report page: which system is better on what, and each score with its "
                f"interval in a chart](assets/report-{name}.png#only-{name})"
                for name in ("light", "dark")
            )
        text += (
            "\n\nBegin with [First steps](docs/FIRST.md), [choose metrics](choose.md) for what you "
            "evaluate, or look at [all metrics](metric_cards/README.md).\n"
        )
        if report:
            text += "\n[Open the example report](example.html): two systems that summarize forty "
            text += "passages, compared.\n"
        return text

    def _guides(self) -> tuple[list[object], list[object]]:
        """Write the pages of docs/; the entries of the guides, and of those to look things up."""
        first: dict[str, object] = {}
        others: list[object] = []
        for guide in guides.guides():
            text = f"# {guide.title}\n{guide.body}"
            if guide.keywords:
                text += f"\n\nAlso searched as: {markdown_of(', '.join(guide.keywords))}\n"
            path = f"docs/{guide.name}.md"
            page = self.page(path, self._linked(path, text), path, description=guide.summary)
            if guide.name in _ORDER:
                first[guide.name] = {guide.title: page}
            else:
                others.append({guide.title: page})
        return [first[name] for name in _ORDER if name in first], others

    def _changelog(self) -> Iterator[object]:
        home = guides.folder()
        path = next((p for p in (home, home.parent) if (p / "CHANGELOG.md").is_file()), None)
        if path:
            text = (path / "CHANGELOG.md").read_text(encoding="utf-8")
            yield {"Changelog": self.page("CHANGELOG.md", self._linked("CHANGELOG.md", text))}

    def _linked(self, page: str, text: str) -> str:
        """The text of a guide, its links to files without a page made links to the source."""

        def link(match: re.Match[str]) -> str:
            words, href, _ = match.groups()
            target = normpath(join(dirname(page), href))
            home, _, path = target.partition("/")
            if home == "docs" or target == "metric_cards/README.md":
                return match[0]
            if home == "metric_cards":
                return match[0] if dirname(path) in self.places else words
            return f"[{words}]({self.source}{target})" if self.source else words

        return _LINK.sub(link, text)

    def _card(self, card: CardPage) -> str:
        """Write the page of a card, and its prompts."""
        entry = card.entry
        folder = entry.folder.resolve()
        for prompt in sorted((folder / "prompts").glob("*.md")):
            # A symbolic link may lead anywhere.
            if prompt.resolve().is_relative_to(folder) and prompt.stat().st_size <= _LONGEST:
                self._prompt(f"metric_cards/{card.folder}/prompts/{prompt.name}", prompt)
        facets = entry.card.facets
        tags = [*facets["task"], *facets["dimension"], *facets["family"], card.needs]
        path = f"metric_cards/{card.folder}/README.md"
        ours = path if entry.distribution == _DISTRIBUTION else ""
        return self.page(
            path,
            pages.card_page(card),
            ours,
            title=escape(card.title),
            description=escape(one_line(entry.card.summary)),
            tags=sorted({escape(one_line(tag)) for tag in tags if tag}),
        )

    def _prompt(self, path: str, file: Path) -> None:
        text = _RULE.sub("", file.read_text(encoding="utf-8"), count=1).strip("\n")
        heading = f"# Prompt: {markdown_of(file.stem)}\n\nWord for word, as a judge gets it.\n\n"
        self.page(path, f"{heading}``````text\n{text}\n``````\n", search={"exclude": True})


def _settings(version: str, repository: str, source: str) -> dict[str, Any]:
    """The settings of every site, and those of this one."""
    settings: dict[str, Any] = yaml.safe_load((SKELETON / SETTINGS).read_text(encoding="utf-8"))
    settings["copyright"] = escape(f"metrichub {version}")
    if repository:
        settings["repo_url"] = repository
        settings["repo_name"] = escape("/".join(repository.split("/")[3:]))
    python = settings["plugins"]["mkdocstrings"]["handlers"]["python"]
    python["paths"] = [str(SKELETON.parents[2])]
    python["options"]["extra"] = {"source": source}
    return settings
