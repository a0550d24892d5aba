"""Failures: what a metric's own code raises, as an error that names the metric and the sample."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from metrichub.data.batch import Block
from metrichub.errors import MetrichubError, ScoringError
from metrichub.metric import Metric, measuring


@contextmanager
def failing(metric: Metric, sample: int | None = None) -> Iterator[None]:
    """Raise what the metric's code raises inside the block as a `ScoringError`.

    Errors of the library's own pass: they say what they are about.
    """
    try:
        yield
    except (MetrichubError, MemoryError):
        raise
    except Exception as error:
        raise ScoringError(metric.name, said(error), sample) from error


@contextmanager
def located(metric: Metric | None, block: Block) -> Iterator[None]:
    """Raise a failure inside the block with its sample's number in the batch, where it is one.

    The sample of a metric that measures whole columns is looked for.
    """
    try:
        yield
    except ScoringError as error:
        sample = error.sample
        columns = metric is not None and measuring(type(metric)) == "measure"
        if metric and columns and sample is None and error.__cause__:
            sample = _first_alone(metric, block, type(error.__cause__))
        raise error.at(None if sample is None else sample + block.start) from error.__cause__


def said(error: BaseException) -> str:
    """An exception on one line: its type and its text."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def _first_alone(metric: Metric, block: Block, kind: type[BaseException]) -> int | None:
    """The first sample that raises such an exception when it is measured alone."""
    for sample in range(len(block)):
        columns = {name: column.part(sample, sample + 1) for name, column in block.columns.items()}
        view = Block(columns, 0, 1).view(metric.inputs())
        try:
            metric.measure(**view.arguments)  # type: ignore[attr-defined]  # the author's
        # Whatever was raised over all samples is looked for.
        except Exception as error:  # noqa: BLE001
            if type(error) is kind:
                return sample
    return None
