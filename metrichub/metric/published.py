"""The models that a metric is known for, and scores that were published with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Checkpoint(NamedTuple):
    """A model of the Hugging Face Hub that a metric runs.

    Attributes:
        name: Its name on the hub.
        base: The model that it was trained from, whose configuration and tokenizer it takes, if it
            comes without them.
        file: Its pickled weights, if the repository has others beside them.
    """

    name: str
    base: str | None = None
    file: str | None = None


class Published(NamedTuple):
    """Scores that somebody published, which the metric has to reach with the same model.

    Attributes:
        source: Where they were read.
        parameters: The metric's parameters.
        columns: The samples, by column.
        scores: The score of each sample, by output.
        tolerance: By how much they may differ, such as half of the last digit that was published.
    """

    source: str
    parameters: Mapping[str, object]
    columns: Mapping[str, Sequence[object]]
    scores: Mapping[str, Sequence[float]]
    tolerance: float
