"""The rate limit: how many requests and tokens a minute a session sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

_MINUTE = 60.0
_sharers = 1


def share_limits(processes: int) -> None:
    """Let this process send its part of what is allowed a minute, as one of so many."""
    global _sharers  # of the process, like the environment
    _sharers = processes


def limiter_of(rate: int | None) -> AsyncLimiter | None:
    """What lets this process's part of so many a minute pass; None where there is no limit."""
    if rate is None:
        return None
    from aiolimiter import AsyncLimiter

    part = rate / _sharers
    # A limiter lets no less than one pass at a time, so a part of one takes longer than a minute.
    return AsyncLimiter(part, _MINUTE) if part >= 1 else AsyncLimiter(1, _MINUTE / part)
