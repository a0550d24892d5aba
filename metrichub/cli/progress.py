"""A progress bar on stderr for work that takes longer than a moment."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

Advance = Callable[[int], object]


@contextmanager
def progress(
    total: Callable[[], float | None],
    *,
    after: float = 1.0,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Advance | None]:
    """What to call with the amount of work done; None where stderr is no terminal.

    `total` says how much there is to do, as far as one knows by now, or None. The bar appears
    with the first call later than `after` seconds, and goes at the end.
    """
    if not sys.stderr.isatty():
        yield None
        return
    started, done = clock(), 0
    shown: Callable[[int, float | None], None] | None = None
    with ExitStack() as stack:

        def advance(amount: int) -> None:
            nonlocal done, shown
            done += amount
            if shown is None and clock() - started >= after:
                shown = stack.enter_context(_bar())
            if shown is not None:
                shown(done, total())

        yield advance


@contextmanager
def _bar() -> Iterator[Callable[[int, float | None], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("scoring"),
        BarColumn(),
        TextColumn("{task.percentage:.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
