"""Names of systems on the command line: `ours=runs/7/out.jsonl`, or what distinguishes files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

import click

from metrichub.catalog.registry import registry
from metrichub.data.files import STDIN


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
        raise click.UsageError(f"two systems are called {twice[0]!r}; name them: NAME=FILE")
    return dict(zip(names, paths, strict=True))


def short_names(paths: Sequence[str], *, alone: bool = False) -> list[str]:
    """The paths without the folders and suffixes that all of them share; "-" is stdin.

    >>> short_names(["runs/a/out.jsonl", "runs/b/out.jsonl"])
    ['a', 'b']
    >>> short_names(["examples/summaries.jsonl", "examples/summaries_b.jsonl"])
    ['summaries', 'summaries_b']
    """
    files = [path for path in paths if path != STDIN]
    if not alone and files:
        parts = _without_common([list(PurePath(path).parts) for path in files])
        last = {part[-1] for part in parts}
        found = [part[-1] if len(last) == len(parts) else "/".join(part) for part in parts]
        if all(found) and len(set(found)) == len(files):
            short = dict(zip(files, found, strict=True))
            return ["stdin" if path == STDIN else short[path] for path in paths]
    return ["stdin" if path == STDIN else path for path in paths]


def _named(text: str) -> tuple[str, str]:
    """The name and the path of "ours=out.jsonl"; a path alone has no name."""
    found = re.fullmatch(r"([^=/\\]+)=(.+)", text)
    return (found[1].strip(), found[2]) if found and not Path(text).exists() else ("", text)


def _check(paths: Sequence[str]) -> None:
    for path in paths:
        if not Path(path).exists() and path in registry():
            raise click.UsageError(
                f"{path!r} is a metric and there is no such file; every metric has its own -m, as "
                f"in -m bleu -m {path}"
            )
    if twice := [path for path in paths if paths.count(path) > 1]:
        what = "standard input" if twice[0] == STDIN else twice[0]
        raise click.UsageError(f"{what} is given twice")


def _without_common(paths: list[list[str]]) -> list[list[str]]:
    """The parts of paths without the first and last ones that all share, and a common suffix."""
    while len({_suffix(path[-1]) for path in paths}) == 1 and _suffix(paths[0][-1]):
        paths = [[*path[:-1], path[-1].removesuffix(_suffix(path[-1]))] for path in paths]
    for end in (0, -1):
        while min(map(len, paths)) > 1 and len({path[end] for path in paths}) == 1:
            paths = [path[1:] if end == 0 else path[:-1] for path in paths]
    return paths


def _suffix(name: str) -> str:
    """The suffix of a file's name; a version such as "v1.5" has none."""
    found = re.search(r"(?<=.)\.[A-Za-z]\w*$", name)
    return found[0] if found else ""
