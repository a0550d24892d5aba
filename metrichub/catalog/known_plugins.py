"""Known metrics that don't come with metrichub: who brings them, or why nobody does."""

from __future__ import annotations

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
    """Where the metric with a name of the same letters is; None if that is unknown."""
    letters = bare_name(name)
    return next((plugin.where for plugin in known_plugins() if letters in plugin.names()), None)


def bare_name(name: str) -> str:
    """The letters and digits of a name: "tokenf1" of "TokenF1" and of "token_f1"."""
    return "".join(filter(str.isalnum, name.lower()))


@cache
def known_plugins() -> tuple[KnownPlugin, ...]:
    """Every metric that is known to be elsewhere."""
    import tomllib

    text = Path(__file__).with_name("known_plugins.toml").read_text(encoding="utf-8")
    plugins = []
    for letters, facts in tomllib.loads(text).items():
        where = facts.get("why", "")
        if plugin := facts.get("in"):
            where = f"it is part of the plugin {plugin}; {install_of(plugin)}"
        title, keywords = facts.get("title", letters), tuple(facts.get("keywords", ()))
        plugins.append(KnownPlugin(letters, title, where, keywords, "topic" in facts))
    return tuple(plugins)


def install_of(plugin: str) -> str:
    """The command that installs a plugin of this project."""
    if RELEASED:
        return f"pip install {plugin}"
    return f"in a clone of metrichub, pip install ./plugins/{plugin}"
