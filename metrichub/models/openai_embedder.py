"""The embedder behind an OpenAI-compatible server: each distinct text once, many in a call."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from sys import intern
from typing import Annotated, Any

import numpy as np

from metrichub.catalog.parameters import Range
from metrichub.errors import JudgeError
from metrichub.models.client import Connection, clean
from metrichub.models.embedders import LARGEST, Vectors
from metrichub.models.failures import Refused
from metrichub.models.session import Request, Session
from metrichub.models.usage import Answer, batch_of_run, record_keys, spent_on, tokens_in


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenAIEmbedder(Connection):
    """An embedder that asks a model; equal texts are sent only once.

    Attributes:
        dimensions: The length of a vector, if the model supports a choice.
    """

    model: str = "text-embedding-3-small"
    dimensions: Annotated[int, Range(1)] | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts, (n, d)."""
        if not texts:
            return np.zeros((0, 0))
        # Servers refuse the empty text.
        cleaned = [clean(text) or " " for text in texts]
        unique, live = list(dict.fromkeys(cleaned)), self._live()
        # A line of a batch has to be the same in each round, whatever is known by then.
        size = 1 if batch_of_run() else live.most_texts or LARGEST

        async def part(start: int) -> list[str]:
            ask = partial(self._replies, live, unique[start : start + size])
            return await live.negotiated(ask, lambda _: ask())

        # Nobody reads a vector among a sample's replies.
        with record_keys():
            replies = await _all(*map(part, range(0, len(unique), size)))
        vectors = {text: _unpacked(reply) for text, reply in zip(unique, replies, strict=True)}
        return np.array([vectors[text] for text in cleaned], np.float64)

    async def _replies(self, live: Session, texts: Sequence[str]) -> list[str]:
        """The replies with the vectors of texts, by one call or, if it is refused, by smaller ones.

        It may be one of the texts that is refused, or how many they are.
        """
        try:
            requests = [self._request(text) for text in texts]
            return await live.replies(requests, partial(self._ask, live), self._store)
        except Refused as error:
            if len(texts) == 1:
                if error.for_its_texts:
                    raise
                so = "does this server offer embeddings?"
                # The same text is the same object, however often it is asked for.
                raise live.refusal(error, intern(texts[0]), so) from None
            if not (live.accepted or error.for_its_texts):
                # While nothing worked, one text tells whether anything does.
                return [
                    *await self._replies(live, texts[:1]),
                    *await self._replies(live, texts[1:]),
                ]
        parts = texts[: len(texts) // 2], texts[len(texts) // 2 :]
        replies = await _all(*(self._replies(live, part) for part in parts))
        live.most_texts = min(live.most_texts or LARGEST, len(parts[1]))
        return replies

    def _request(self, text: str) -> Request:
        body = {"embedder": self.label, "input": [text], "parameters": self._parameters()}
        # A vector is the same for every text where only the calls count.
        return Request(body | self._endpoint(), self.model, lambda: ("[[1.0]]", text), _fits)

    def _parameters(self) -> dict[str, Any]:
        return {} if self.dimensions is None else {"dimensions": self.dimensions}

    async def _ask(self, live: Session, requests: Sequence[Request]) -> list[Answer]:
        """The vectors of requests, by one call."""
        texts = [request.body["input"][0] for request in requests]
        parameters = self._parameters()
        if self.extra_body:
            parameters["extra_body"] = self.extra_body

        done = await self._sent(
            live,
            # In the client's own encoding: reading lists of numbers takes it seven times as long.
            lambda client: client.embeddings.create(model=self.model, input=texts, **parameters),
            lambda: sum(tokens_in(text) for text in texts),
        )
        tokens, number = spent_on(done).prompt_tokens, len(texts)
        if (vectors := _vectors(done, number)) is None:
            raise JudgeError(f"{self.label} returned no finite vectors for {number} texts")
        live.accepted = True
        answers = []
        for i, vector in enumerate(vectors):
            # The bytes of a vector, exactly: numbers in decimal take ten times as long.
            packed = base64.b64encode(vector.astype("<f8").tobytes()).decode("ascii")
            # Each text has its part of the call's tokens; they add up.
            share = tokens * (i + 1) // number - tokens * i // number
            answers.append(Answer(json.dumps([packed]), share))
        return answers


async def _all(*asks: Any) -> list[str]:
    """The replies of all parts together, once every part has its own.

    Raises:
        JudgeError: the first error of a part, one that ends the run before others.
    """
    done = await asyncio.gather(*asks, return_exceptions=True)
    errors = [part for part in done if isinstance(part, BaseException)]
    for error in sorted(errors, key=lambda error: not getattr(error, "ends_the_run", False)):
        raise error
    return [reply for part in done if isinstance(part, list) for reply in part]


def _unpacked(reply: str) -> Vectors:
    """The vector of a reply, be it bytes or, in an estimate, numbers."""
    [row] = json.loads(reply)
    unpacked = np.frombuffer(base64.b64decode(row), "<f8") if isinstance(row, str) else row
    return np.array(unpacked, np.float64)


def _fits(reply: str) -> bool:
    """Whether a stored reply holds a vector."""
    try:
        return _unpacked(reply).ndim == 1
    except (TypeError, ValueError):
        return False


def _vectors(done: Any, number: int) -> Vectors | None:
    """The vectors in the order of the texts; None if they are none, or not as many."""
    try:
        rows = sorted(done.data, key=lambda row: row.index)
        vectors = np.array([row.embedding for row in rows], np.float64)
    except (AttributeError, TypeError, ValueError):
        return None
    if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
        return None
    return vectors if [row.index for row in rows] == list(range(number)) else None
