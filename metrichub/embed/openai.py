"""The embedder behind an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from metrichub.catalog.parameters import Range
from metrichub.embed import Vectors
from metrichub.errors import JudgeError, JudgeUnavailable
from metrichub.models.client import Connection, clean
from metrichub.models.failures import Refused
from metrichub.models.session import Request
from metrichub.models.state import ClientState
from metrichub.models.store import Answer, spent_on
from metrichub.models.usage import tokens_in

BATCH = 256
"""How many texts one call holds at most."""


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenAIEmbedder(Connection):
    """An embedder that asks a model; equal texts are asked for once.

    Attributes:
        dimensions: Length of a vector, where the model lets one choose.
    """

    model: str = "text-embedding-3-small"
    dimensions: Annotated[int, Range(1)] | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts, (n, d)."""
        if not texts:
            return np.zeros((0, 0))
        # Servers refuse the empty text.
        cleaned = [clean(text) or " " for text in texts]
        unique = list(dict.fromkeys(cleaned))
        batches = [unique[start : start + BATCH] for start in range(0, len(unique), BATCH)]
        found = await asyncio.gather(*(self._batch(batch) for batch in batches))
        vectors = dict(zip(unique, (v for part in found for v in part), strict=True))
        return np.array([vectors[text] for text in cleaned], np.float64)

    async def _batch(self, texts: list[str]) -> Vectors:
        live = self._live()
        given: dict[str, Any] = {} if self.dimensions is None else {"dimensions": self.dimensions}
        request = {"embedder": self.label, "input": texts, "parameters": given}
        request |= self._endpoint()
        given |= {"extra_body": self.extra_body} if self.extra_body else {}
        reply = await live.session.once(
            Request(
                request,
                lambda: self._asked(live, texts, given),
                # A vector is the same for every text where only the calls count.
                lambda: (json.dumps([[1.0]] * len(texts)), texts),
                self.model,
                lambda reply: _fits(reply, len(texts)),
            ),
            self._store(),
        )
        return _unpacked(reply)

    async def _asked(self, live: ClientState, texts: list[str], given: dict[str, Any]) -> Answer:
        def answered(*_: str) -> Awaitable[Answer]:
            return self._answered(live, texts, given)

        return await live.asked(answered, answered)

    async def _answered(self, live: ClientState, texts: list[str], given: dict[str, Any]) -> Answer:
        try:
            done = await self._sent(
                live,
                # In the client's own encoding: reading lists of numbers takes it seven times as
                # long.
                lambda client: client.embeddings.create(model=self.model, input=texts, **given),
                tokens_in(texts),
            )
        except Refused as error:
            if live.form is not None or error.for_its_texts:
                raise
            raise JudgeUnavailable(f"{error}; does this server embed texts?") from None
        took = spent_on(done)
        live.session.spent(took, calls=0)
        if (vectors := _vectors(done, len(texts))) is None:
            raise JudgeError(f"{self.label} gave no finite vectors for {len(texts)} texts")
        live.form = "embeddings"
        return took._replace(reply=_packed(vectors))


def _packed(vectors: Vectors) -> str:
    """The bytes of the vectors as JSON, exactly: numbers in decimal take ten times as long."""
    rows = vectors.astype("<f8")
    return json.dumps([base64.b64encode(row.tobytes()).decode("ascii") for row in rows])


def _unpacked(reply: str) -> Vectors:
    """The vectors of a reply, be they bytes or, in an estimate, numbers."""
    rows = json.loads(reply)
    unpacked = [
        np.frombuffer(base64.b64decode(row), "<f8") if isinstance(row, str) else row for row in rows
    ]
    return np.array(unpacked, np.float64)


def _fits(reply: str, number: int) -> bool:
    """Whether what was kept holds so many vectors."""
    try:
        found = _unpacked(reply)
    except (TypeError, ValueError):
        return False
    return found.ndim == 2 and len(found) == number


def _vectors(done: Any, number: int) -> Vectors | None:
    """The vectors in the order of the texts; None if they are none, or not as many."""
    try:
        rows = sorted(done.data, key=lambda row: row.index)
        found = np.array([row.embedding for row in rows], np.float64)
    except (AttributeError, TypeError, ValueError):
        return None
    whole = found.ndim == 2 and found.size and np.isfinite(found).all()
    if not whole or [row.index for row in rows] != list(range(number)):
        return None
    return found
