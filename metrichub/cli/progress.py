"""A progress bar on stderr for work that takes longer than a moment."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

Advance = Callable[[int], object]
Tell = Callable[[str, int, int | None], object]


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
    done = 0
    with _display(after, clock) as tell:

        def advance(amount: int) -> None:
            nonlocal done
            done += amount
            tell("scoring", done, total)

        yield advance if sys.stderr.isatty() else None


@contextmanager
def page_progress(
    *, after: float = 1.0, clock: Callable[[], float] = time.monotonic
) -> Iterator[Tell | None]:
    """What to tell of a page's making: what is done now, how much of it, and of how much.

    None where stderr is no terminal; the display is that of `progress`.
    """
    with _display(after, clock) as tell:

        def told(doing: str, done: int, total: int | None) -> None:
            count = "" if total is None else f" {done:,} of {total:,} samples"
            tell(f"report: {doing}{count}", done, lambda: total)

        yield told if sys.stderr.isatty() else None


@contextmanager
def _display(
    after: float, clock: Callable[[], float]
) -> Iterator[Callable[[str, int, Callable[[], float | None]], None]]:
    """What shows the bar from the first call that is late enough."""
    started = clock()
    shown: Callable[[str, int, float | None], None] | None = None
    with ExitStack() as stack:

        def tell(text: str, done: int, total: Callable[[], float | None]) -> None:
            nonlocal shown
            if shown is None and clock() - started >= after:
                shown = stack.enter_context(_bar())
            if shown is not None:
                shown(text, done, total())

        yield tell


@contextmanager
def _bar() -> Iterator[Callable[[str, int, float | None], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        # Names of metrics are no markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda text, done, total: bar.update(
            task, description=text, completed=done, total=total
        )
