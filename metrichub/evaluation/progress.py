"""Progress: how many samples are done, told within a block by metrics that take long for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

Progress = Callable[[int], object]
"""Called with how many samples times metrics were done since the last call."""


@dataclass
class Portion:
    """What one metric does of a block: so many samples, and how many of them were told."""

    samples: int
    progress: Progress
    told: int = 0
    error: Exception | None = None

    def reach(self, share: float) -> None:
        """Tell the samples that were done since the last time; a smaller share tells none."""
        done = int(self.samples * min(1.0, share))
        if done <= self.told or self.error:
            return
        try:
            self.progress(done - self.told)
        # It isn't a failure of the metric, inside of which it happens.
        except Exception as error:  # noqa: BLE001
            self.error = error
        self.told = done


_portion: ContextVar[Portion | None] = ContextVar("portion", default=None)


@contextmanager
def watched_progress(samples: int, progress: Progress | None) -> Iterator[Portion]:
    """The portion that `report_progress` is about within; of nothing if nobody watches.

    Raises at its end what the watching function raised.
    """
    portion = Portion(samples if progress else 0, progress or (lambda _: None))
    token = _portion.set(portion)
    try:
        yield portion
    finally:
        _portion.reset(token)
    if portion.error:
        raise portion.error


def report_progress(share: float) -> None:
    """Report which share of the texts that `measure` was called with is done, from 0 to 1.

    For metrics that take long for a block, such as those that run a model; other metrics' progress
    is counted block by block. Without a progress display it does nothing.
    """
    if portion := _portion.get():
        portion.reach(share)
