"""Names of systems on the command line: `ours=runs/7/out.jsonl`, or what distinguishes files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click

from metrichub.catalog.registry import registry
from metrichub.data.files import STDIN
from metrichub.data.systems import short_names


def named_files(files: Sequence[str]) -> dict[str, str]:
    """The files by the names of their systems: those that were given, or short ones.

    Raises:
        UsageError: a file is given twice, two systems have one name, or a file that isn't there
            has a metric's name.
    """
    given = [_named(text) for text in files]
    paths = [path for _, path in given]
    _check(paths)
    unnamed = [path for name, path in given if not name]
    short = dict(zip(unnamed, short_names(unnamed, alone=len(files) == 1), strict=True))
    names = [name or short[path] for name, path in given]
    if twice := [name for name in names if names.count(name) > 1]:
        raise click.UsageError(f"two systems are called {twice[0]!r}; give them names: NAME=FILE")
    return dict(zip(names, paths, strict=True))


def _named(text: str) -> tuple[str, str]:
    """The name and the path of "ours=out.jsonl"; a path alone has no name."""
    found = re.fullmatch(r"([^=/\\]+)=(.+)", text)
    return (found[1].strip(), found[2]) if found and not Path(text).exists() else ("", text)


def _check(paths: Sequence[str]) -> None:
    for path in paths:
        if not Path(path).exists() and path in registry():
            raise click.UsageError(
                f"{path!r} is a metric, and no file has this name; write -m before each metric: -m "
                f"{path}"
            )
    if twice := [path for path in paths if paths.count(path) > 1]:
        what = "standard input" if twice[0] == STDIN else twice[0]
        raise click.UsageError(f"{what} is given twice")
