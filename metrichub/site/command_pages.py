"""The reference of the command line, from what click knows of its commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from metrichub.site.card_pages import page_of
from metrichub.site.site_index import REFERENCE, DocPage

CommandInfo = Mapping[str, Any]
"""A command as `click.Command.to_info_dict` gives it."""


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
