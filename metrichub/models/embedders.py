"""Embedders: what makes vectors of texts; the offline one counts hashed n-grams."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.parameters import Range, check_parameters

Vectors = NDArray[np.float64]
"""One vector a row, (n, d)."""


@runtime_checkable
class Embedder(Protocol):
    """An object that turns texts into vectors; failures raise `JudgeError` or `JudgeUnavailable`.

    One that isn't a model has `is_model = False`, and a `note` on itself for readers of its scores.
    """

    @property
    def label(self) -> str:
        """The embedder in signatures: a spec with all that affects its vectors, without keys."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts, (n, d)."""
        ...


_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class OfflineEmbedder:
    """Vectors of hashed n-grams: deterministic, no network; similar words make similar vectors.

    A baseline, not a model: it knows no synonyms. A text without letters or digits is the zero
    vector.

    Attributes:
        dimensions: Length of a vector.
    """

    is_model: ClassVar[bool] = False
    note: ClassVar[str] = "compared offline by hashed n-grams: a baseline, not a model"

    dimensions: Annotated[int, Range(16)] = 2048

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_parameters(self, "offline")

    @property
    def label(self) -> str:
        """The name, and the dimensions where they aren't the default."""
        parameters = "" if self.dimensions == 2048 else f"(dimensions={self.dimensions})"
        return f"offline{parameters}"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (n, d) of dampened, signed counts."""
        vectors = np.zeros((len(texts), self.dimensions))
        for vector, text in zip(vectors, texts, strict=True):
            for (kind, piece), count in Counter(_pieces(text.casefold())).items():
                code = zlib.crc32(f"{kind} {piece}".encode("utf-8", "surrogatepass"))
                sign = 1.0 if code & 1 else -1.0
                weight = _WEIGHTS[kind] * (1.0 + np.log(count))
                vector[(code >> 1) % self.dimensions] += sign * weight
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(norms > 0, norms, 1.0))


_WEIGHTS = {"word": 1.0, "pair": 0.5, "letters": 0.3}


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    words = _WORD.findall(text)
    for word in words:
        yield "word", word
        framed = f"<{word}>"
        for size in (3, 4):
            for start in range(len(framed) - size + 1):
                yield "letters", framed[start : start + size]
    for pair in pairwise(words):
        yield "pair", " ".join(pair)
