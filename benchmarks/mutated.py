"""Samples of every metric, as its card's examples give them, and mutations at any depth of JSON."""

from __future__ import annotations

import doctest
import io
import random
from contextlib import redirect_stdout, suppress
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

from metrichub import Hub, list_metrics

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 1e308, float("nan"), float("inf"), 10**30, "", "x" * 50, "object"),
    *([], {}, [None], [[]], [[[]]], ["a"], ["a", 1], [["a"], ["b", "c"]], {"a": {"b": "c"}}),
    *({"": ""}, {"$ref": "#"}, [{"role": "user"}]),
)


class Example(NamedTuple):
    """A hub and the columns that it is called with."""

    metric: str
    hub: Hub
    columns: dict[str, list[Any]]


class _Called(BaseException):
    """Ends an example where it calls a hub."""


@cache
def examples() -> tuple[Example, ...]:
    """The calls of hubs in the cards of all metrics."""
    return tuple(
        Example(entry.name, hub, columns)
        for entry in list_metrics()
        for hub, columns in _calls(entry.card.examples)
    )


def _calls(texts: tuple[str, ...]) -> list[tuple[Hub, dict[str, list[Any]]]]:
    """The calls of hubs in these examples, each with columns of one length."""
    calls = []

    def record(hub: Hub, *_: Any, **columns: Any) -> None:
        lists = {name: values for name, values in columns.items() if isinstance(values, list)}
        if len({len(values) for values in lists.values()}) == 1:
            calls.append((hub, lists))
        raise _Called

    call, evaluate = Hub.__call__, Hub.evaluate
    try:
        Hub.__call__ = Hub.evaluate = record  # type: ignore[assignment,method-assign]  # for now
        for text in texts:
            names: dict[str, Any] = {}
            for example in doctest.DocTestParser().get_examples(text):
                # Of names that an earlier call would have given there are none.
                with suppress(_Called, Exception), redirect_stdout(io.StringIO()):
                    exec(compile(example.source, "<card>", "single"), names)  # ours
    finally:
        Hub.__call__, Hub.evaluate = call, evaluate  # type: ignore[method-assign]  # as before
    return calls


def mutated(draw: random.Random, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns with a value or two changed, added or left out, mostly in those of objects."""
    columns = deepcopy(columns)
    structured = [n for n, cells in columns.items() if not all(isinstance(c, str) for c in cells)]
    for _ in range(draw.choice((1, 1, 2))):
        names = structured if structured and draw.random() < 0.85 else list(columns)
        cells = columns[draw.choice(names)]
        place = draw.randrange(len(cells))
        cells[place] = mutated_value(draw, cells[place])
    return columns


def mutated_value(draw: random.Random, value: Any) -> Any:
    """The value with one part of it changed, added or left out."""
    places = list(_places(value))
    outer, key = draw.choice([(None, None), *places])
    odd = deepcopy(draw.choice(ODD))
    if outer is None:
        return odd
    way = draw.random()
    if way < 0.2:
        del outer[key]
    elif way < 0.3 and isinstance(outer, list):
        outer.append(odd)
    elif way < 0.3:
        outer["x"] = odd
    else:
        outer[key] = odd
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every part of a value of JSON, as what it is in and its key there."""
    keys: Any = value if isinstance(value, dict) else ()
    places = []
    for key in range(len(value)) if isinstance(value, list) else keys:
        places += [(value, key), *_places(value[key])]
    return places
