"""Systems: files of the same samples, called by what distinguishes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import PurePath

from metrichub.data import columns as names
from metrichub.data.samples import Samples
from metrichub.data.source import STDIN
from metrichub.errors import MissingColumn


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


def check_same_samples(
    systems: Mapping[str, Samples], needs: Mapping[str, str], columns: Mapping[str, str]
) -> None:
    """Raise `FileError` at the first row that isn't about the baseline's sample.

    Compared are ids, and every column that the metrics read but the predictions. `needs` maps each
    column to a metric that asks for it, `columns` to its name in the files.
    """
    if len(systems) < 2:
        return
    first, *others = systems.values()
    needed = {column: metric for column, metric in needs.items() if column != "predictions"}
    for other in others:
        pairs = [("id", "id")] if "id" in first and "id" in other else []
        try:
            mine = names.resolve(needed, first, columns)
            theirs = names.resolve(needed, other, columns)
        except MissingColumn:
            return  # Measuring says it, with the file.
        pairs += [(mine[column], theirs[column]) for column in needed]
        for name, other_name in pairs:
            _same_column(first, other, name, other_name)
        if first.size != other.size:
            raise other.error(
                f"has {other.size} sample{'s' * (other.size != 1)}, but {first.path} has "
                f"{first.size}; a comparison needs "
                "the "
                "same samples in the same order"
            )


def _same_column(first: Samples, other: Samples, name: str, other_name: str) -> None:
    rows = enumerate(zip_longest(first[name], other[other_name]))
    for i, (expected, found) in rows:
        if i >= min(first.size, other.size) or expected == found:
            continue
        # A number in JSON is a text in CSV.
        if name == "id" and str(expected) == str(found):
            continue
        order = name == "id" and set(map(str, first[name])) == set(map(str, other[other_name]))
        same = "a comparison needs the same samples in the same order"
        advice = "sort both files by id" if order else same
        raise other.error(
            f"{other_name!r} of sample {i} is {_short(found)}, but in {first.path} it is "
            f"{_short(expected)}; {advice}",
            i,
        )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


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
