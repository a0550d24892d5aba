"""Embedders: texts to vectors; the offline one counts hashed n-grams."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.parameters import Range, check_parameters
from metrichub.models.usage import batch_of_run

LARGEST = 256
"""How many texts a call holds at most."""
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


@dataclass(eq=False)
class _Asked:
    """A row's texts for its metric's embedder, and the future of their vectors."""

    row: object
    embedder: Embedder
    texts: Sequence[str]
    vectors: asyncio.Future[Vectors] = field(default_factory=asyncio.Future)


class EmbeddingColumn:
    """The texts of a metric's rows, embedded together.

    They go out once all rows that aren't over have asked for vectors, or enough texts are there for
    a whole call. So a text waits for its own metric's rows alone, and the metric takes few calls.
    The calls belong to the group of the rows, which gives up all of them together.
    """

    def __init__(self, rows: int, group: asyncio.TaskGroup) -> None:
        self._open = rows
        self._group = group
        self._asked: list[_Asked] = []

    @contextmanager
    def row(self) -> Iterator[None]:
        """One of the rows: inside, `embed_together` waits for others."""
        row = object()
        token = _row.set((self, row))
        try:
            yield
        except asyncio.CancelledError:
            # The run is given up, and so are the other rows.
            self._asked.clear()
            raise
        finally:
            _row.reset(token)
            self._open -= 1
            self._asked = [asked for asked in self._asked if asked.row is not row]
            self._send_if_full()

    def add(self, asked: _Asked) -> None:
        """Add the texts of a row; they go out with the others'."""
        self._asked.append(asked)
        self._send_if_full()

    def _send_if_full(self) -> None:
        rows = {asked.row for asked in self._asked}
        texts = sum(len(asked.texts) for asked in self._asked)
        if rows and (len(rows) >= self._open or texts >= LARGEST):
            self._group.create_task(_embed(self._asked))
            self._asked = []


async def _embed(column: Sequence[_Asked]) -> None:
    """Embed the texts of several rows together or, if that fails, each row's by themselves.

    So a failure costs its own row alone.
    """
    texts = list(dict.fromkeys(chain.from_iterable(asked.texts for asked in column)))
    try:
        vectors = dict(zip(texts, await column[0].embedder.embed(texts), strict=True))
    except Exception as error:  # noqa: BLE001  # it is passed on
        if len(column) > 1 and not getattr(error, "ends_the_run", False):
            await asyncio.gather(*(_embed([asked]) for asked in column))
            return
        for asked in column:
            if not asked.vectors.done():
                asked.vectors.set_exception(error)
    else:
        for asked in column:
            if not asked.vectors.done():
                asked.vectors.set_result(np.array([vectors[text] for text in asked.texts]))


_row: ContextVar[tuple[EmbeddingColumn, object] | None] = ContextVar("row", default=None)


async def embed_together(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """The vectors of texts, (n, d), with those of the other rows of the same metric.

    In a batch each text is a line of its own, so that nothing has to wait.
    """
    if (here := _row.get()) is None or batch_of_run():
        return await embedder.embed(texts)
    column, row = here
    asked = _Asked(row, embedder, texts)
    column.add(asked)
    return await asked.vectors


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
