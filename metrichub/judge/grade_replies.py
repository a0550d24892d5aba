"""Grades of replies: a score on its scale, and the probabilities of all, read from tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from metrichub.errors import JudgeError, JudgeUnavailable
from metrichub.judge.replies import Completion, Graded, Unreadable, read_reply

_SCORE = re.compile(rb'"score"\s*:\s*(-?\d+)')
_GOES_ON = re.compile(r"[\d.eE]")
"""How a token begins that goes on with a number."""
_UNKNOWN = 0.01
"""Which part of the probabilities may belong to scores that aren't known."""


def read_grade(done: Completion, scale: tuple[int, int], logprobs: bool) -> Graded:
    """The grade, with the weights that were asked for, if its score is on the scale.

    Raises:
        Unreadable: there is no such grade.
        JudgeError: the server gave no probabilities.
    """
    low, high = scale
    content = re.sub(rf'("score"\s*:\s*)("?)(\d+)\s*/\s*{high}\b\2', r"\1\3", done.content)
    # Weights are counted from tokens; a model that writes some of its own isn't asked for them.
    reply = read_reply(Graded, content).model_copy(update={"weights": {}})
    if not low <= reply.score <= high or reply.score != int(reply.score):
        raise Unreadable(f"the score {reply.score:g} isn't a whole number from {low} to {high}")
    if not logprobs or (done.tokens and not any(map(_others, done.tokens))):
        return reply
    if not (weights := score_probabilities(done.content, done.tokens, scale)):
        raise JudgeError(
            "the server returned no probabilities of the score; use samples=20 instead"
        )
    return reply.model_copy(update={"weights": weights})


def score_probabilities(
    content: str, tokens: Sequence[Any], scale: tuple[int, int]
) -> dict[int, float]:
    """The probability of each score at the place where the reply has its score.

    `tokens` are the client's: each with its text and those that were as good there. Scores that
    are not among them have no weight, so the weights needn't sum to 1; none are given where the
    score isn't whole tokens.

    Raises:
        JudgeUnavailable: the tokens are parts of numbers, of which some have no probability.
    """
    data = content.encode()
    matches = list(_SCORE.finditer(data))
    if not matches or b"".join(map(_bytes, tokens)) != data:
        return {}
    start, end = matches[-1].span(1)
    position, number = 0, []
    for place, token in enumerate(tokens):
        position, before = position + len(_bytes(token)), position
        if before < end and start < position:
            number.append(place)
    digits, after = [tokens[place] for place in number], tokens[number[-1] + 1 :][:1]
    if "".join(token.token for token in digits).strip() != data[start:end].decode():
        return {}
    return _weights(digits, after, scale)


def _bytes(token: Any) -> bytes:
    """The bytes of a token; a character may be spread over several."""
    data = getattr(token, "bytes", None)
    return token.token.encode("utf-8", "surrogatepass") if data is None else bytes(data)


def _others(token: Any) -> list[tuple[str, float]]:
    """The likeliest tokens at the place of a token, with the logarithms of their probabilities."""
    return [(other.token, other.logprob) for other in getattr(token, "top_logprobs", None) or ()]


def _weights(
    number: Sequence[Any], after: Sequence[Any], scale: tuple[int, int]
) -> dict[int, float]:
    """The weights of scores by a number's tokens and the token after it, along which they go.

    What only begins a score, such as the 1 of 10, is one itself if a token holds a longer score.
    """
    scores = {str(score): score for score in range(scale[0], scale[1] + 1)}
    texts = [number[0].token, *(text for text, _ in _others(number[0]))]
    split = not any(len(text.strip()) > 1 and text.strip() in scores for text in texts)

    def begins(text: str) -> bool:
        return split and any(score.startswith(text) and score != text for score in scores)

    digits = "".join(token.token for token in number).strip()
    path = [*number, *after] if begins(digits) else number
    weights, unknown, share, prefix = dict.fromkeys(scores, 0.0), 0.0, 1.0, ""
    for place, token in enumerate(path):
        # The token itself is among the likely ones, too; texts that differ in spaces add up.
        for text, logprob in dict([(token.token, token.logprob), *_others(token)]).items():
            ends = place > 0 and not _GOES_ON.match(text)
            read = prefix if ends else prefix + text.strip()
            if not read or (text == token.token and token is not path[-1]):
                continue
            if not ends and begins(read):
                unknown += share * math.exp(logprob)
            elif read in scores:
                weights[read] += share * math.exp(logprob)
        share, prefix = share * math.exp(token.logprob), prefix + token.token.strip()
    if unknown > _UNKNOWN * (unknown + sum(weights.values())):
        raise JudgeUnavailable(
            f"the model's tokens are parts of the numbers from {scale[0]} to {scale[1]}, so their "
            "probabilities aren't known; use weighting='samples' or a scale of single digits"
        )
    return {scores[text]: weight for text, weight in weights.items() if weight > 0}
