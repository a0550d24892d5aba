"""Embedders: what makes vectors of texts; the offline one counts hashed n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]
"""One vector a row, (n, d)."""


@runtime_checkable
class Embedder(Protocol):
    """An object that turns texts into vectors; failures raise `JudgeError` or `JudgeUnavailable`.

    An embedder that isn't a model declares it with `SelfDescribedEmbedder`.
    """

    @property
    def label(self) -> str:
        """The embedder in signatures: a spec with all that affects its vectors, without keys."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts, (n, d)."""
        ...


@runtime_checkable
class SelfDescribedEmbedder(Embedder, Protocol):
    """An embedder that says what it is; one that doesn't is taken for a model."""

    @property
    def is_model(self) -> bool:
        """Whether it understands what it reads."""
        ...

    @property
    def note(self) -> str | None:
        """What a reader of its scores has to know, for the notes of a report; None for a model."""
        ...
