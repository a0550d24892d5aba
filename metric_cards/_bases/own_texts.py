"""Texts that a sample brings in a column of a metric's own, or a parameter gives for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metrichub.errors import InputError, what


def own_texts(metric: str, column: str, texts: Sequence[Any]) -> list[str]:
    """The texts that were given, without blank ones.

    Raises:
        InputError: something in it isn't text.
    """
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"{metric}: {column!r} holds {what(text)}, not text")
    return [text for text in texts if text.strip()]
