"""Known metrics that don't come with metrichub: who brings them, or why nobody does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

RELEASED = False
"""Whether a package index has metrichub and its plugins; scripts/release.py sets it."""


class KnownPlugin(NamedTuple):
    """A metric that isn't here: the letters of its name, how it is written, and where it is.

    `topic` says that it stands for all that its keywords name, and not for one metric.
    """

    letters: str
    title: str
    where: str
    keywords: tuple[str, ...]
    topic: bool = False

    def names(self) -> set[str]:
        """The letters of all names that mean this alone."""
        return {self.letters, *map(bare_name, self.keywords if self.topic else ())}


def elsewhere(name: str) -> str | None:
    """What to say to those who ask for a metric by a name of the same letters; None if unknown."""
    letters = bare_name(name)
    return next((known.where for known in known_plugins() if letters in known.names()), None)


def bare_name(name: str) -> str:
    """What of a name doesn't depend on how words are joined: "tokenf1" of "TokenF1", "token_f1"."""
    return "".join(filter(str.isalnum, name.lower()))


@cache
def known_plugins() -> tuple[KnownPlugin, ...]:
    """Every metric that is known to be elsewhere."""
    return tuple(_read())


def _read() -> Iterator[KnownPlugin]:
    import tomllib

    text = Path(__file__).with_name("known_plugins.toml").read_text(encoding="utf-8")
    for letters, facts in tomllib.loads(text).items():
        where = _where(facts["in"]) if "in" in facts else facts["why"]
        keywords = tuple(facts.get("keywords", ()))
        yield KnownPlugin(letters, facts.get("title", letters), where, keywords, "topic" in facts)


def _where(plugin: str) -> str:
    return f"it is part of the plugin {plugin}; {install_of(plugin)}"


def install_of(plugin: str) -> str:
    """What installs a plugin of this project."""
    if RELEASED:
        return f"pip install {plugin}"
    return f"in a clone of metrichub, pip install ./plugins/{plugin}"
