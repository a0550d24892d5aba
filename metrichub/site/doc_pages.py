"""The site's pages beside the cards: guides, what lives elsewhere, and the reference.

That of the public modules is made of their docstrings, as griffe reads them; that of the command
line, of what click knows of it.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from metrichub.catalog import guides
from metrichub.catalog.elsewhere import all_elsewhere
from metrichub.report.html.markup import html
from metrichub.site import example_report
from metrichub.site.card_pages import highlighted, page_of
from metrichub.site.links import guide_path
from metrichub.site.site_index import API, GUIDES, REFERENCE, DocPage, SiteIndex

CommandInfo = Mapping[str, Any]
"""A command as `click.Command.to_info_dict` gives it."""
_ORDER = (
    *("FIRST", "LOGS", "TASKS", "COMPARE", "JUDGES", "AGENTS", "GATE", "OWN", "PEOPLE"),
    *("LARGE", "BRIDGES", "MOVING"),
)
"""The guides in the order in which one reads them; other pages of docs/ are reference."""
_BRIDGES = (
    *("eee", "evaluate", "inspect_ai", "lm_eval", "mlflow", "pyspark", "ray", "torchmetrics"),
    "transformers",
)
MODULES = (
    "metrichub",
    "metrichub.authoring",
    "metrichub.errors",
    "metrichub.agreement",
    "metrichub.testing",
    "metrichub.text",
    "metrichub.text.highlight",
    "metrichub.bridges",
    *(f"metrichub.bridges.{library}" for library in _BRIDGES),
)
"""The public modules, in the order in which one looks for them."""
_EXAMPLE = re.compile(r"(?m)^((?:>>>|\.\.\.).*(?:\n(?!\s*$|>>>).*)*)")


def doc_pages(index: SiteIndex, commands: CommandInfo | None = None) -> Iterator[DocPage]:
    """The guides in their order, then the reference, that of `commands` too if they are given."""
    known = {guide.name: guide for guide in guides.guides()}
    order = [name for name in _ORDER if name in known]
    for name in (*order, *(name for name in known if name not in order)):
        guide = known[name]
        group = GUIDES if name in order else REFERENCE
        text = f"# {guide.title}\n{guide.body}"
        page = _html(text, guide.path, index)
        source = f"docs/{guide.path.name}"
        yield DocPage(guide_path(name), guide.title, guide.summary, group, page, source=source)
    yield from example_report.example_pages(index)
    yield _elsewhere()
    yield from reference()
    if commands:
        yield command_line(commands)
    yield from _changelog(index)


def _html(text: str, path: Path, index: SiteIndex) -> str:
    return highlighted(html(text, _link(path, index)))


def _link(path: Path, index: SiteIndex) -> Callable[[str], str | None]:
    """What a link in a guide becomes: a page of the site, an address outside, or None."""
    known = {guide.path: guide_path(guide.name) for guide in guides.guides()}

    def link(href: str) -> str | None:
        parts = urlsplit(href)
        if parts.scheme in ("http", "https", "mailto") or not parts.path:
            return href
        target = Path(os.path.normpath(path.parent / unquote(parts.path)))
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        if target in known:
            return known[target].removeprefix("guides/") + anchor
        if target.parts[-2:] == ("examples", "README.md"):
            return f"../{example_report.PATH}" if example_report.is_in(index) else None
        # Cards are links between folders of a clone, wherever they are installed.
        match = re.fullmatch(r"(?:\.\./)*metric_cards/(\w+)/README\.md", parts.path)
        card = next((page for page in index.pages if match and page.name == match[1]), None)
        return f"../{quote(card.path)}{anchor}" if card else None

    return link


def _changelog(index: SiteIndex) -> Iterator[DocPage]:
    home = guides.folder()
    for path in (home / "CHANGELOG.md", home.parent / "CHANGELOG.md"):
        if path.is_file():
            page = _html(path.read_text(encoding="utf-8"), path, index)
            yield DocPage(
                "guides/changelog.html", "Changelog", "What changed.", REFERENCE, page,
                source="CHANGELOG.md",
            )  # fmt: skip
            return


def _elsewhere() -> DocPage:
    summary = "Known metrics that metrichub doesn't include, and where to find them."
    known = sorted(all_elsewhere(), key=lambda metric: metric.title.casefold())
    page = page_of("elsewhere.html", known=known, summary=summary)
    return DocPage("elsewhere.html", "Metrics not included", summary, REFERENCE, page)


class _Option(NamedTuple):
    names: str
    help: str
    default: str


class _Shown(NamedTuple):
    name: str
    anchor: str
    paragraphs: tuple[str, ...]
    arguments: tuple[str, ...]
    options: tuple[_Option, ...]


def command_line(info: CommandInfo) -> DocPage:
    """The page of all commands with their options."""
    summary = "Every command of metrichub with its options."
    page = page_of("commands.html", summary=summary, commands=tuple(_commands("metrichub", info)))
    return DocPage("commands.html", "Command line", summary, REFERENCE, page)


def _commands(name: str, info: CommandInfo) -> Iterator[_Shown]:
    """A command, and those below it."""
    text = inspect.cleandoc(info.get("help") or "").replace("\b\n", "")
    shown = [p for p in info["params"] if not p.get("hidden")]
    arguments = [p for p in shown if p["param_type_name"] == "argument"]
    yield _Shown(
        name,
        name.replace(" ", "-"),
        tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip()),
        tuple(p["metavar"] if p.get("metavar") else p["name"].upper() for p in arguments),
        tuple(_option(p) for p in shown if p["param_type_name"] == "option"),
    )
    for below, command in info.get("commands", {}).items():
        if not command.get("hidden"):
            yield from _commands(f"{name} {below}", command)


def _option(info: CommandInfo) -> _Option:
    names = ", ".join([*info["opts"], *info["secondary_opts"]])
    kind = "" if info["is_flag"] else str(info["type"].get("name", "")).upper()
    default = info["default"]
    plain = isinstance(default, (int, float, str)) and not isinstance(default, bool)
    return _Option(f"{names} {kind}".strip(), info.get("help") or "", str(default) if plain else "")


class _Name(NamedTuple):
    name: str
    anchor: str
    kind: str
    signature: str
    text: str
    members: tuple[_Name, ...] = ()


def reference() -> Iterator[DocPage]:
    """A page for each public module; none where griffe, of the extra `site`, isn't installed."""
    if find_spec("griffe") is None:
        return
    import griffe

    loader = griffe.GriffeLoader(docstring_parser=griffe.Parser("google"))
    package = loader.load("metrichub")
    loader.resolve_aliases()
    for path in MODULES:
        module = package[path.removeprefix("metrichub.")] if "." in path else package
        names = tuple(_names(module))
        about = _text(module)
        summary = re.sub(r"<[^>]+>", "", about).strip().partition("\n")[0]
        below = [name for name in MODULES if name.rpartition(".")[0] == path != "metrichub"]
        page = page_of("reference.html", path=path, about=about, names=names, below=below)
        words = " ".join(shown.name for shown in names)
        yield DocPage(f"reference/{path}.html", path, summary, API, page, words=words)


def _names(module: Any) -> Iterator[_Name]:
    """What a module offers, by name; its `__all__` is computed, so that only Python knows it.

    A module without one offers the classes and functions of its own.
    """
    members = (member for member in module.members.values() if not member.is_alias)
    own = (member.name for member in members if member.is_class or member.is_function)
    listed = getattr(import_module(module.path), "__all__", None)
    for name in listed or [name for name in own if not name.startswith("_")]:
        member = module.members.get(name)
        if member is not None and not member.is_module:
            yield _shown(member, member.name)


def _shown(member: Any, name: str, above: str = "") -> _Name:
    members: tuple[_Name, ...] = ()
    if member.is_class:
        public = [below for below in member.all_members.values() if _is_told(below)]
        members = tuple(_shown(below, below.name, f"{name}.") for below in public)
    return _Name(
        name, f"{above}{name}", member.kind.value, _signature(member), _text(member), members
    )


def _is_told(member: Any) -> bool:
    """Whether a member of a class is for its users, and says what it is."""
    try:
        return not member.name.startswith("_") and bool(member.docstring)
    # A base class of another package isn't there to be asked.
    except Exception:  # noqa: BLE001
        return False


def _signature(member: Any) -> str:
    if member.is_attribute:
        return f"{member.name} = {member.value}" if member.value else ""
    if not (member.is_function or member.is_class):
        return ""
    text = str(member.signature())
    return re.sub(r"\(self, |\(self\)|\(cls, |\(cls\)", _without_self, text, count=1)


def _without_self(match: re.Match[str]) -> str:
    return "()" if match[0].endswith(")") else "("


def _text(member: Any) -> str:
    """The docstring as HTML: its prose, its examples, and what it raises."""
    if not member.docstring:
        return ""
    parts: list[str] = []
    for section in member.docstring.parsed:
        kind, value = section.kind.value, section.value
        if kind == "text":
            parts += map(_fenced, value.split("\n\n"))
        elif kind == "examples":
            parts += [
                text if part.value == "text" else f"```python\n{text}\n```" for part, text in value
            ]
        elif kind in ("raises", "attributes", "parameters", "returns", "yields"):
            parts.append(_items(kind, value))
    # An example that blank lines part is one.
    whole = "\n\n".join(parts).replace("\n```\n\n```python\n", "\n\n")
    return highlighted(html(whole, lambda href: None))


def _fenced(paragraph: str) -> str:
    """A paragraph, its examples as blocks of code, and as one itself where it is a tree."""
    if "├──" in paragraph:
        return f"```text\n{paragraph}\n```"
    return _EXAMPLE.sub(r"```python\n\1\n```", paragraph)


def _items(kind: str, values: Any) -> str:
    head = {"raises": "Raises", "attributes": "Attributes", "parameters": "Parameters",
            "returns": "Returns", "yields": "Yields"}[kind]  # fmt: skip
    lines = []
    for item in values:
        name = item.annotation if kind == "raises" else getattr(item, "name", "")
        lines.append(
            f"- `{name}`: {' '.join(item.description.split())}" if name else f"- {item.description}"
        )
    return f"{head}:\n\n" + "\n".join(lines)
