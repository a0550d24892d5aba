"""Kinds: what a type hint stands for, in words and for values."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

import metrichub
from metrichub.catalog.kinds import (
    Address,
    Dictionary,
    Instance,
    Integer,
    LocalPath,
    Mark,
    Number,
    OneOf,
    Range,
    Secret,
    SequenceOf,
    Text,
    Values,
    choices_of,
    values_of_hint,
)
from metrichub.judge.offline import OfflineJudge
from metrichub.judge.protocol import Judge
from metrichub.models.embedders import Embedder, OfflineEmbedder

HOME = Path(metrichub.__file__).parent
SHARES = tuple[Annotated[float, Range(0, 1)], ...]


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (bool, "True or False"),
        (float, "a number"),
        (str, "a string"),
        (Annotated[int, Range(1)], "an integer of at least 1"),
        (Annotated[float, Range(high=2)], "a number of at most 2"),
        (Annotated[float, Range(0, 1)] | None, "a number from 0 to 1 or None"),
        (Annotated[int | None, Range(1)], "an integer of at least 1 or None"),
        (Literal["a", "b"] | None, "'a' or 'b' or None"),
        (Literal["a", None], "'a' or None"),
        (None | int, "an integer or None"),
        (SHARES, "a sequence; each item is a number from 0 to 1"),
        (tuple[int | None, ...], "a sequence; each item is an integer or None"),
        (dict, "a mapping"),
        (dict[str, Any] | bool, "a mapping or True or False"),
        (str | Path, "a string or a path"),
        (str | Judge, "a string or Judge"),
        (complex, "complex"),
    ],
)
def test_a_type_is_described_in_words(hint: Any, words: str) -> None:
    assert str(values_of_hint(hint)) == words


@pytest.mark.parametrize(
    ("hint", "inside", "outside"),
    [
        (int, [0, -3], [1.0, True, "1", None]),
        (float, [0.5, 2, float("nan")], [True, "1", None, 1j]),
        (Annotated[float, Range(0, 1)], [0, 1, 0.5], [-0.1, 1.1, float("nan")]),
        (Annotated[int, Range(2)] | None, [2, None], [1, 2.0]),
        (bool, [True], [1, 0, None]),
        (str, ["", "a"], [b"a", Path("a"), None]),
        (Literal[0, 1], [0, 1], [True, 2, 1.0, None]),
        (Literal["a", None], ["a", None], ["b"]),
        (SHARES, [(), (0, 1)], [[0], (2,), 0, None]),
        (SHARES | None, [(), None], [(None,)]),
        (dict[str, Any], [{}, {"a": 1j}], [3, [], "{}", None]),
        (Mapping[str, int], [{"a": 1}], [{"a": "b"}]),
        (str | Path, ["a", Path("a")], [3, None]),
        (str | Judge, ["offline", OfflineJudge()], [OfflineEmbedder(), 3, None]),
        (str | Embedder, ["offline", OfflineEmbedder()], [OfflineJudge(), 3, None]),
        (Any, [None, 3, object()], []),
        (list[str], [["a"]], [("a",), "a"]),
        (tuple[int, str], [(1, "a")], [[1, "a"], 1]),
    ],
)
def test_a_value_is_among_those_of_its_hint(
    hint: Any, inside: list[object], outside: list[object]
) -> None:
    values = values_of_hint(hint)
    assert [value for value in inside if value not in values] == []
    assert [value for value in outside if value in values] == []


def test_a_list_is_taken_for_a_tuple_only_where_one_is_asked_for() -> None:
    assert values_of_hint(tuple[str, ...] | None).taken(["a"]) == ("a",)
    assert values_of_hint(str).taken(["a"]) == ["a"]
    assert values_of_hint(tuple[str, ...]).taken("a") == "a"
    assert values_of_hint(list[str] | tuple[str, ...]).taken(["a"]) == ["a"]


@pytest.mark.parametrize("mark", [LocalPath(), Secret(), Address()])
def test_a_mark_reaches_whatever_it_is_written_around(mark: Mark) -> None:
    assert values_of_hint(Annotated[str, mark]) == Values((Text(mark=mark),))
    assert values_of_hint(Annotated[str | None, mark]) == Values((Text(mark=mark),), True)
    items = Values((Text(mark=mark),))
    assert values_of_hint(tuple[Annotated[str, mark], ...]) == Values((SequenceOf(items),))
    assert values_of_hint(Annotated[tuple[str, ...], mark]) == Values(
        (SequenceOf(items, mark=mark),)
    )
    assert values_of_hint(dict[str, Annotated[str, mark]]) == Values((Dictionary(items),))
    assert values_of_hint(Annotated[Literal["a"] | float, mark]) == Values(
        (OneOf(("a",), mark=mark), Number(mark=mark))
    )


def test_a_mark_beside_bounds_leaves_them() -> None:
    hint = Annotated[int, Range(1), Secret()]
    assert values_of_hint(hint) == Values((Integer(Range(1), mark=Secret()),))


def test_the_choices_of_a_hint_are_those_that_it_lists() -> None:
    assert choices_of(Literal["a", "b"]) == ("a", "b")
    assert choices_of(Literal["a", 1] | Judge | None) == ("a", 1)
    assert choices_of(str) == ()


def test_a_mark_without_its_parentheses_is_a_mark_too() -> None:
    assert values_of_hint(Annotated[str, LocalPath]) == values_of_hint(Annotated[str, LocalPath()])


def test_a_path_is_local_without_a_mark() -> None:
    assert values_of_hint(Path) == Values((Instance(Path, mark=LocalPath()),))


def test_every_kind_is_told_even_within_others() -> None:
    found = values_of_hint(dict[str, int] | tuple[tuple[str, ...], ...]).every()
    assert [type(kind) for kind in found] == [Dictionary, Integer, SequenceOf, SequenceOf, Text]


def test_type_hints_are_interpreted_in_one_module() -> None:
    readers = {"get_origin", "get_args", "__origin__", "__args__", "__metadata__"}
    interpret, ask = set(), set()
    for path in HOME.rglob("*.py"):
        named = {
            getattr(node, key, None)
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            for key in ("id", "attr", "name")
        }
        if readers & named:
            interpret.add(path.name)
        if "get_type_hints" in named:
            ask.add(path.name)
    assert interpret == {"kinds.py"}
    # To ask for the hints of a class isn't to interpret them.
    assert ask == {"parameters.py"}
