"""Tokenizations: which columns were tokenized, and how, while somebody looked on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from metrichub.text.scripts import ScriptCounts
from metrichub.text.tokenize.tokenizers import Tokenizer

Tokenizations = dict[tuple[int, Tokenizer], ScriptCounts]
"""The letters of every column that was tokenized, by the column's number and the tokenizer.

Numbers, since a column that held itself would outlive its block.
"""

_watched: ContextVar[Tokenizations | None] = ContextVar("tokenizations", default=None)


@contextmanager
def watched() -> Iterator[Tokenizations]:
    """What is tokenized inside, and hidden from whoever looks on from further out."""
    tokenizations: Tokenizations = {}
    token = _watched.set(tokenizations)
    try:
        yield tokenizations
    finally:
        _watched.reset(token)


def tell(tokenizations: Tokenizations) -> None:
    """Let whoever looks on know of tokenizations."""
    outer = _watched.get()
    if outer is not None:
        outer.update(tokenizations)
