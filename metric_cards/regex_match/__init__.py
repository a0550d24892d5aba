"""Regex match: whether a prediction has the form that a regular expression describes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from metrichub.authoring import Metric, Row
from metrichub.errors import InputError, ParameterError


@dataclass(frozen=True, kw_only=True)
class RegexMatch(Metric):
    """The fraction of predictions that a regular expression of Python's `re` matches.

    Attributes:
        pattern: The regular expression for all samples; if None, each sample's own is taken from
            the column `patterns`.
        mode: Whether the whole prediction has to match, or some part of it.
        flags: The names of flags of `re`.
    """

    pattern: str | None = None
    mode: Literal["fullmatch", "search"] = "fullmatch"
    flags: tuple[Literal["ignorecase", "multiline", "dotall", "verbose", "ascii"], ...] = ()

    def __post_init__(self) -> None:
        """Check that the pattern can be compiled."""
        super().__post_init__()
        try:
            _compiled(self.pattern or "", self.flags)
        except (re.error, OverflowError, RecursionError) as error:
            allowed = f"a regular expression of Python's re ({error})"
            raise ParameterError(self.name, "pattern", self.pattern, allowed) from None

    def inputs(self) -> tuple[str, ...]:
        """The prediction, and the sample's pattern if the parameter gives none."""
        return ("prediction", "pattern") if self.pattern is None else ("prediction",)

    def observe(self, prediction: str, pattern: str = "") -> Row:
        """1 for a match, else 0.

        Raises:
            InputError: the sample's pattern isn't a regular expression.
        """
        expression = self._sample(pattern) if self.pattern is None else self._expression
        match = getattr(expression, self.mode)(prediction)
        return {"score": int(match is not None)}

    @property
    def _expression(self) -> re.Pattern[str]:
        return _compiled(self.pattern or "", self.flags)

    def _sample(self, pattern: str) -> re.Pattern[str]:
        try:
            return _compiled(pattern, self.flags)
        except (re.error, OverflowError, RecursionError, TypeError) as error:
            raise InputError(
                f"{self.name}: the column 'patterns' holds {pattern!r}, which isn't a valid "
                f"regular expression: {error}"
            ) from None


@lru_cache(maxsize=1024)
def _compiled(pattern: str, flags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(pattern, sum(re.RegexFlag[flag.upper()] for flag in flags))
