"""A model's outputs for texts or pairs, kept for other metrics and calls in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import RLock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

CAPACITY = 1 << 30
"""How many bytes one model's values take at most."""


class Store(Generic[V]):
    """Values by text, the least recently used of which leave first when memory is full.

    What a single call asks for is all given, however much it is.
    """

    def __init__(self, size_of: Callable[[V], int], capacity: int = CAPACITY) -> None:
        self._size_of, self._capacity = size_of, capacity
        self._data: OrderedDict[Hashable, V] = OrderedDict()
        self._bytes = 0
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._data)

    def get(self, texts: Sequence[K], make: Callable[[list[K]], Sequence[V]]) -> list[V]:
        """The value of every text; those that aren't here are made, each distinct text once."""
        with self._lock:
            values = {text: self._data[text] for text in dict.fromkeys(texts) if text in self._data}
            absent = [text for text in dict.fromkeys(texts) if text not in values]
            new = dict(zip(absent, make(absent), strict=True)) if absent else {}
            for text in values:
                self._data.move_to_end(text)
            for text, value in new.items():
                self._data[text] = value
                self._bytes += self._size_of(value)
            while self._bytes > self._capacity:
                _, value = self._data.popitem(last=False)
                self._bytes -= self._size_of(value)
            values |= new
            return [values[text] for text in texts]
