"""A model's outputs for texts or pairs, kept for other metrics and calls in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import RLock
from typing import Any

from metrichub_neural.engine.batching import in_portions
from metrichub_neural.engine.machine import portion

CAPACITY = 1 << 30
"""How many bytes one model's values take at most."""


class Store:
    """Values by text, the least recently used of which leave first when memory is full.

    What a single call asks for is all given, however much it is.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._data: OrderedDict[Hashable, Any] = OrderedDict()
        self._bytes = 0
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._data)

    def clear(self) -> None:
        """Free the memory of all values."""
        with self._lock:
            self._data.clear()
            self._bytes = 0

    def get(
        self,
        texts: Sequence[Any],
        make: Callable[[Any], Sequence[Any]],
        encode: Callable[[Any], Any] | None = None,
        kind: Hashable = None,
    ) -> list[Any]:
        """The value of every text; those that aren't here are made, each distinct text once.

        With `encode`, they are made of what it gives for them, some of much the same length at a
        time, which on a GPU are encoded while it works on those before. A text may have a value of
        each `kind`.
        """
        with self._lock:
            data = self._data
            keys = {text: (kind, text) for text in texts}
            values = {text: data[key] for text, key in keys.items() if key in data}
            absent = [text for text in keys if text not in values]
            if encode:
                absent.sort(key=_characters, reverse=True)
                made = in_portions(absent, portion(), encode, make)
            else:
                made = [*make(absent)] if absent else []
            for text in values:
                data.move_to_end(keys[text])
            for text, value in zip(absent, made, strict=True):
                values[text] = data[keys[text]] = value
                self._bytes += _bytes(value)
            while self._bytes > self._capacity:
                _, value = data.popitem(last=False)
                self._bytes -= _bytes(value)
            return [values[text] for text in texts]


def _characters(text: Any) -> int:
    """How long a text is, or the texts of a pair together."""
    return len(text) if isinstance(text, str) else sum(map(len, text))


def _bytes(value: Any) -> int:
    """How much memory a value takes: an array or a tensor, or a tuple with some."""
    if (size := getattr(value, "nbytes", None)) is not None:
        return int(size)
    return sum(getattr(part, "nbytes", 0) for part in value)
