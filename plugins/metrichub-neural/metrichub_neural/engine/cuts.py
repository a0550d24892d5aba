"""Notes of texts that were cut, as they are longer than the model takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from metrichub.authoring import Array
from metrichub.errors import ModelError


def cut_notes(
    name: str,
    totals: Mapping[str, Array],
    limit: Callable[[], int],
    kinds: Sequence[str] = ("predictions",),
) -> list[str]:
    """A line for each kind of texts of which some were cut: of the statistics `cut_KIND`."""
    try:
        at = f"{limit()} tokens"
    # A report may be read where the model isn't.
    except ModelError:
        at = "the model's limit"
    counts = {kind: int(totals[f"cut_{kind}"]) for kind in kinds}
    return [
        f"{name}: {count} of {int(totals['texts'])} {kind} were cut at {at}"
        for kind, count in counts.items()
        if count
    ]
