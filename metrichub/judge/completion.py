"""Completion: what a server sent, read without trust in its form."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from metrichub.errors import JudgeError
from metrichub.judge.replies import Graded, R, Unreadable, read_reply
from metrichub.judge.token_probabilities import weights_of

_SHORT = 400
"""Bytes of a text that can hardly be said to repeat itself."""


class Completion(NamedTuple):
    """The text of the first choice, why it ended, a refusal, and its tokens where asked for."""

    content: str
    finish_reason: object
    refusal: object
    tokens: Sequence[Any]


def completion_of(done: object) -> Completion:
    """The first choice of what the client gives.

    Raises:
        Unreadable: there is none, or it isn't a message.
    """
    choices = getattr(done, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(first, "message", None)
    if message is None:
        raise Unreadable("the answer has no choices")
    content = getattr(message, "content", None) or ""
    if not isinstance(content, str):
        raise Unreadable("the answer's content isn't text")
    tokens = getattr(getattr(first, "logprobs", None), "content", None) or ()
    return Completion(
        content,
        getattr(first, "finish_reason", None),
        getattr(message, "refusal", None),
        [token for token in tokens if isinstance(getattr(token, "token", None), str)],
    )


def repeats_itself(content: str) -> bool:
    """Whether a text ends in the same words over and over, as a model does that finds no end."""
    end = content[-2000:].encode()
    return len(end) > _SHORT and len(zlib.compress(end)) * 10 < len(end)


def read_completion(reply: type[R], done: Completion) -> R:
    """The reply in what a server sent.

    Raises:
        Unreadable: there is none.
    """
    return read_reply(reply, done.content)


def read_grade(done: Completion, scale: tuple[int, int], logprobs: bool) -> Graded:
    """The grade, with the weights that were asked for, if its score is on the scale.

    Raises:
        Unreadable: there is no such grade.
        JudgeError: the server gave no probabilities.
    """
    # Weights are counted from tokens; a model that writes some of its own isn't asked for them.
    reply = read_completion(Graded, done).model_copy(update={"weights": {}})
    low, high = scale
    if not low <= reply.score <= high or reply.score != int(reply.score):
        raise Unreadable(f"the score {reply.score:g} isn't a whole number from {low} to {high}")
    if not logprobs:
        return reply
    if not (weights := weights_of(done.content, done.tokens, scale)):
        raise JudgeError(
            "the server returned no probabilities of the score; use samples=20 instead"
        )
    return reply.model_copy(update={"weights": weights})
