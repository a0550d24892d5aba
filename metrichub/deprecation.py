"""Deprecations: what is to go warns for a minor release before, with what to use instead.

A function or method, and a parameter of one:

    @deprecated("Report.repeated", gone_in="0.4")
    def spread(self): ...

    @renamed_parameter("deviation", "std", gone_in="0.4")
    def interval(self, *, std): ...

A class, or any other name that a module resolves on first use (PEP 562), in its `__getattr__`:

    if name == "Spread":
        warn_deprecated("metrichub.Spread", "metrichub.RepeatedScore", gone_in="0.4")
        name = "RepeatedScore"
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def warn_deprecated(old: str, instead: str, gone_in: str) -> None:
    """Warn, at the line that called the caller of this function."""
    text = f"{old} is deprecated and will be removed in metrichub {gone_in}; use {instead}"
    warnings.warn(text, DeprecationWarning, stacklevel=3)


def deprecated(instead: str, gone_in: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: every call of the function warns."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            warn_deprecated(f"{function.__qualname__}()", instead, gone_in)
            return function(*args, **kwargs)

        return called

    return decorate


def renamed_parameter(
    old: str, new: str, gone_in: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: the function takes the old keyword for the new one, and warns.

    A call with both raises `TypeError`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__qualname__

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{name}() got {old!r}, the old name of {new!r}, beside it")
                warn_deprecated(f"{old!r} of {name}()", repr(new), gone_in)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        # Who lists the options of a method finds them here.
        called.__kwdefaults__ = function.__kwdefaults__  # type: ignore[attr-defined]  # any callable
        return called

    return decorate
