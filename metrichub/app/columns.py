"""Columns: which ones an uploaded file has, and which metrics therefore can't read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from metrichub.app.catalog import Item
from metrichub.app.jobs import Upload
from metrichub.app.problem import ON_PAGES, Refusal
from metrichub.data.columns import resolve
from metrichub.data.files import read_bounded
from metrichub.errors import InputError, MetrichubError

_BATCHES, _CHARACTERS = 4, 50_000


def columns_of(file: Upload, most: int) -> tuple[str, ...] | Refusal:
    """The columns at the beginning of a file, or why it can't be read."""
    names: dict[str, None] = {}
    try:
        for samples in islice(read_bounded(file.path, file.format, most, _CHARACTERS), _BATCHES):
            names |= dict.fromkeys(samples)
    except MetrichubError as error:
        # What is wrong further down is told where it is scored; here a file may be cut off.
        if not names:
            message = error.worded(ON_PAGES).replace(str(file.path), file.shown)
            return Refusal(type(error).__name__, message)
    return tuple(names)


def read_as(names: Sequence[str], wanted: Iterable[str]) -> dict[str, str]:
    """The name that each of the wanted columns has among those of a file, if it has one."""
    found: dict[str, str] = {}
    for column in wanted:
        try:
            found |= resolve({column: ""}, names)
        except InputError:
            continue
    return found


def lacking(
    items: Iterable[Item], names: Sequence[str], mapping: Mapping[str, str]
) -> dict[str, list[str]]:
    """The columns that metrics need and that aren't in a file, or could be several of it."""
    found: dict[str, list[str]] = {}
    for item in items:
        for column in item.columns:
            own = {column: mapping[column]} if column in mapping else {}
            try:
                resolve({column: item.name}, names, own)
            except InputError:
                found.setdefault(item.name, []).append(column)
    return found
