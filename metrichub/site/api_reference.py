"""The reference of the public modules, from their docstrings, as griffe reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from metrichub.site.card_pages import highlighted, page_of
from metrichub.site.site_index import API, DocPage
from metrichub.web.markup import html

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
