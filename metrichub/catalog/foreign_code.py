"""Exceptions of metrics' own code, known from those of metrichub and from whoever ends a run."""

from __future__ import annotations

from typing import ClassVar

from metrichub.errors import MetrichubError


class Interruption:
    """Ctrl-C: None where nobody watches for it, else whether it was pressed."""

    pressed: ClassVar[bool | None] = None


def is_foreign(error: BaseException) -> bool:
    """Whether the code of others raised an exception, rather than metrichub or whoever ends it.

    `sys.exit` in a metric is an error of the metric, and so is a KeyboardInterrupt that nobody
    pressed.
    """
    if isinstance(error, KeyboardInterrupt):
        return Interruption.pressed is False
    # A library in Rust panics with an exception of a kind of its own.
    panicked = type(error).__name__ == "PanicException"
    ours = isinstance(error, (MetrichubError, MemoryError))
    return panicked or (isinstance(error, (Exception, SystemExit)) and not ours)
