"""Kinds: what values a parameter takes, as its type hint and its author's marks declare it.

The one place that reads type hints. `values_of_hint` makes of `Annotated[int, Range(1)] | None` the
`Values` that everybody else asks: the check of a metric, its card, the app's forms and its policy.
"""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Literal, NamedTuple, Union, final, get_args, get_origin

from metrichub.errors import listed


class Range(NamedTuple):
    """The closed interval of the values that a number may have: `Annotated[int, Range(1, 9)]`."""

    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """The bounds in words, such as "from 1 to 9" or "of at least 1"; without any, blank."""
        if self.low is not None and self.high is not None:
            return f"from {self.low} to {self.high}"
        if self.low is not None:
            return f"of at least {self.low}"
        return "" if self.high is None else f"of at most {self.high}"

    def holds(self, number: float) -> bool:
        """Whether a number is in the interval; `nan` is in none that has a bound."""
        above = self.low is None or number >= self.low
        return above and (self.high is None or number <= self.high)


ANY = Range()
"""All numbers."""


@final
@dataclass(frozen=True)
class LocalPath:
    """Marks the path of a file or folder on this machine: `Annotated[str | None, LocalPath()]`.

    Clients of `metrichub serve` can't set it. A `Path` needs no mark.
    """


@final
@dataclass(frozen=True)
class Secret:
    """Marks a key or password: `Annotated[str | None, Secret()]`.

    Clients of `metrichub serve` can't set it, and no signature, label or report shows it.
    """


@final
@dataclass(frozen=True)
class Address:
    """Marks the address of a server to call; clients of `metrichub serve` can't set it."""


Mark = LocalPath | Secret | Address


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """A kind of value; `mark` says what its author declared of it beyond its type."""

    mark: Mark | None = None

    @abstractmethod
    def __contains__(self, value: object) -> bool:
        """Whether a value is of this kind."""

    @abstractmethod
    def __str__(self) -> str:
        """The kind in a reader's words: "an integer of at least 1"."""

    def phrase(self) -> str:
        """The kind in an error's words."""
        return str(self)


@dataclass(frozen=True)
class Values:
    """The values that a parameter, or an item of a sequence, takes: those of any of its kinds."""

    kinds: tuple[Kind, ...]
    optional: bool = False
    """Whether None is a value too."""

    def __contains__(self, value: object) -> bool:
        """Whether a value is among them."""
        return (value is None and self.optional) or any(value in kind for kind in self.kinds)

    def __str__(self) -> str:
        """The values in a reader's words: "'13a' or 'char' or None"."""
        return " or ".join([*map(str, self.kinds), *(["None"] if self.optional else [])])

    def phrase(self) -> str:
        """The values as a sentence lists them: "'13a', 'char' or None"."""
        some = (k.choices if isinstance(k, OneOf) else (k,) for k in self.kinds)
        words = [
            c.phrase() if isinstance(c, Kind) else repr(c) for choices in some for c in choices
        ]
        return listed([*words, *(["None"] if self.optional else [])], "or")

    def every(self) -> Iterator[Kind]:
        """All kinds, each before those of its items."""
        for kind in self.kinds:
            yield kind
            if isinstance(kind, (SequenceOf, Dictionary)) and kind.items:
                yield from kind.items.every()

    def taken(self, value: object) -> object:
        """What a value is taken for: a list for a tuple, as JSON and specs write no tuples."""
        sequence = any(isinstance(kind, SequenceOf) for kind in self.kinds)
        return tuple(value) if sequence and isinstance(value, list) and value not in self else value


@dataclass(frozen=True)
class Integer(Kind):
    """Whole numbers; True and False are none."""

    bounds: Range = ANY

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and value in Number(self.bounds)

    def __str__(self) -> str:
        return f"an integer {self.bounds}".rstrip()


@dataclass(frozen=True)
class Number(Kind):
    """Numbers, whole ones too."""

    bounds: Range = ANY

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return self.bounds.holds(value)

    def __str__(self) -> str:
        return f"a number {self.bounds}".rstrip()


@dataclass(frozen=True)
class Boolean(Kind):
    """True and False."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, bool)

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Text(Kind):
    """Strings."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str)

    def __str__(self) -> str:
        return "a string"


@dataclass(frozen=True)
class OneOf(Kind):
    """A few values, each listed."""

    choices: tuple[Any, ...]

    def __contains__(self, value: object) -> bool:
        return any(type(value) is type(choice) and value == choice for choice in self.choices)

    def __str__(self) -> str:
        return " or ".join(map(repr, self.choices))


@dataclass(frozen=True)
class SequenceOf(Kind):
    """Tuples of any length."""

    items: Values

    def __contains__(self, value: object) -> bool:
        return isinstance(value, tuple) and all(item in self.items for item in value)

    def __str__(self) -> str:
        return f"a sequence; each item is {self.items}"

    def phrase(self) -> str:
        """What to write in Python, where a list will do."""
        texts = str(self.items) == "a string"
        return "a list of strings" if texts else f"a list; each item is {self.items}"


@dataclass(frozen=True)
class Dictionary(Kind):
    """Mappings, of any values where `items` is None."""

    items: Values | None = None

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Mapping):
            return False
        return self.items is None or all(item in self.items for item in value.values())

    def __str__(self) -> str:
        return "a mapping"


@dataclass(frozen=True)
class Instance(Kind):
    """Objects of a class, such as a judge; also what a hint asks for that isn't another kind."""

    of: Any

    def __contains__(self, value: object) -> bool:
        owner = get_origin(self.of) or self.of
        return owner is Any or not isinstance(owner, type) or isinstance(value, owner)

    def __str__(self) -> str:
        """The name of the class, or "a path"."""
        return "a path" if _is_path(self.of) else getattr(self.of, "__name__", str(self.of))


def values_of_hint(hint: Any) -> Values:
    """The values that a type hint stands for."""
    return _values(hint, ANY, None)


def choices_of(hint: Any) -> tuple[Any, ...]:
    """The values that a hint lists one by one, such as those of a `Literal`."""
    several = (kind for kind in values_of_hint(hint).kinds if isinstance(kind, OneOf))
    return tuple(choice for kind in several for choice in kind.choices)


def _values(hint: Any, bounds: Range, mark: Mark | None) -> Values:
    members = list(_kinds(hint, bounds, mark))
    kinds = tuple(kind for kind in members if kind is not None)
    return Values(kinds, optional=len(kinds) < len(members))


def _kinds(hint: Any, bounds: Range, mark: Mark | None) -> Iterator[Kind | None]:
    """The kinds of a hint, None for None; bounds and marks reach into unions and sequences."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        for extra in arguments[1:]:
            bounds = extra if isinstance(extra, Range) else bounds
            mark = _mark(extra) or mark
        yield from _kinds(arguments[0], bounds, mark)
    elif origin in (Union, types.UnionType):
        for argument in arguments:
            yield from _kinds(argument, bounds, mark)
    elif origin is Literal:
        yield OneOf(tuple(value for value in arguments if value is not None), mark=mark)
        if None in arguments:
            yield None
    elif origin is tuple and arguments[1:] == (Ellipsis,):
        yield SequenceOf(_values(arguments[0], bounds, mark), mark=mark)
    elif hint in (dict, Mapping) or origin in (dict, Mapping):
        held = arguments[1] if arguments else Any
        yield Dictionary(None if held is Any else _values(held, bounds, mark), mark=mark)
    else:
        yield _plain(hint, bounds, mark)


def _plain(hint: Any, bounds: Range, mark: Mark | None) -> Kind | None:
    if hint is type(None):
        return None
    if hint is int:
        return Integer(bounds, mark=mark)
    if hint is float:
        return Number(bounds, mark=mark)
    if hint is str:
        return Text(mark=mark)
    if hint is bool:
        return Boolean(mark=mark)
    return Instance(hint, mark=mark or (LocalPath() if _is_path(hint) else None))


def _mark(extra: object) -> Mark | None:
    """The mark among a hint's annotations; one whose parentheses were forgotten counts too."""
    if isinstance(extra, type) and issubclass(extra, (LocalPath, Secret, Address)):
        return extra()
    return extra if isinstance(extra, (LocalPath, Secret, Address)) else None


def _is_path(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, PurePath)
