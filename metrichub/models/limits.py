"""Limits: how many requests and tokens a minute a session sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

_MINUTE = 60.0


def limiter_of(rate: int | None) -> AsyncLimiter | None:
    """What lets so many a minute pass; None where there is no limit."""
    if rate is None:
        return None
    from aiolimiter import AsyncLimiter

    return AsyncLimiter(rate, _MINUTE)
