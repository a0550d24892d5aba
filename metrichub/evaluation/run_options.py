"""Calls of a hub as other libraries take them, and options of a run that exclude each other."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from metrichub.errors import InputError

if TYPE_CHECKING:
    from metrichub.models.batch import BatchRun

_IN_PARTS = (
    "pass samples that come in parts to hub.evaluate(...) as an iterator of tables, or merge the "
    "reports of the parts with report.merge(other)"
)
OTHER_METHODS = {
    "compute": "call it: hub(predictions=[...], references=[...])",
    "add": _IN_PARTS,
    "add_batch": _IN_PARTS,
}
"""What to do in place of the methods that other libraries have."""


def check_run(
    more: Sequence[object], progress: object, key: Sequence[str], samples: bool, repeats: int
) -> None:
    """Check what a run was given beside its data; `repeats` counts runs that ask a judge anew.

    Raises:
        InputError: it can't be run like that; the text says how it can.
    """
    if more:
        raise InputError(
            "pass columns by name, predictions=[...], references=[...], since their "
            "order differs from library to library"
        )
    if progress is not None and not callable(progress):
        raise InputError(
            "progress takes a function that is called with how much was measured since the "
            f"last call, for example tqdm().update, not {progress!r}"
        )
    if key and samples:
        raise InputError("a key applies only to reports without samples; add samples=False")
    if key and repeats > 1:
        raise InputError("a key can't be combined with repeats; leave one of them out")


def rounds_of(batch: str | PathLike[str] | None, workers: int) -> BatchRun | None:
    """The run over a batch's folder; one that several systems share is given as it is."""
    if batch is None:
        return None
    from metrichub.models.batch import batch_run

    return batch_run(batch, workers)


def finish_rounds(rounds: BatchRun | None, batch: object, report: object) -> None:
    """Write what a run over a batch's folder would ask, if that run was opened for this call.

    Raises:
        Pending: there is something to ask, or answers haven't come yet.
    """
    if rounds is not None and rounds is not batch:
        rounds.finish(report)
