"""How likely each score was, read from the probabilities of the tokens of a reply."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

_SCORE = re.compile(rb'"score"\s*:\s*(-?\d+)')


def weights_of(content: str, tokens: Sequence[Any], scale: tuple[int, int]) -> dict[int, float]:
    """The probability of each score at the place where the reply has its score.

    `tokens` are the client's: each with its text and those that were as good there. Scores that
    are not among them have no weight, so the weights needn't sum to 1; none are given where the
    score isn't one whole token.
    """
    said = content.encode()
    found = list(_SCORE.finditer(said))
    if not found or b"".join(map(_bytes, tokens)) != said:
        return {}
    start, end = found[-1].span(1)
    position = 0
    for token in tokens:
        following = position + len(_bytes(token))
        if position <= start and end <= following:
            return _weights([(token.token, token.logprob), *_others(token)], scale)
        position = following
    return {}


def _bytes(token: Any) -> bytes:
    """What a token adds to the reply; a character may be spread over several."""
    given = getattr(token, "bytes", None)
    return token.token.encode("utf-8", "surrogatepass") if given is None else bytes(given)


def _others(token: Any) -> list[tuple[str, float]]:
    return [(other.token, other.logprob) for other in token.top_logprobs or ()]


def _weights(likely: Sequence[tuple[str, float]], scale: tuple[int, int]) -> dict[int, float]:
    weights: dict[int, float] = {}
    # The token itself is among the likely ones, too; texts that differ in spaces add up.
    for text, logprob in dict(likely).items():
        if re.fullmatch(r"\s*-?\d+\s*", text) and scale[0] <= int(text) <= scale[1]:
            weights[int(text)] = weights.get(int(text), 0.0) + math.exp(logprob)
    return {score: weight for score, weight in weights.items() if weight > 0}
