"""Token spans: one text, and where in it the tokens are that a metric sees."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from metrichub.text.column import Texts
from metrichub.text.tokenize.reference import TOKENIZERS
from metrichub.text.tokenize.tokenizers import Tokenizer

Span = tuple[int, int]

_ARTICLES = {"a", "an", "the"}
_LOWERING = {"rouge", "unicode", "squad", "bag"}
"""Tokenizers that lower the case; they also leave out what isn't a word."""


class TokenSpans(NamedTuple):
    """A text, its tokens as they are compared, and where each starts and ends in the text."""

    text: str
    tokens: Sequence[str]
    spans: Sequence[Span]


def token_spans(text: str, tokenizer: Tokenizer, *, lower: bool = False) -> TokenSpans:
    """The tokens of a text with their positions; with `lower`, those of the lower-cased text.

    If a tokenizer rewrites a text ("&quot;" as a quote), the text is its tokens joined by spaces.

    Raises:
        ParameterError: there is no such tokenizer.
        MissingDependency: the tokenizer needs sacrebleu, which isn't installed.
    """
    read = text.lower() if lower else text
    tokens = tokens_of(read, tokenizer)
    surface = tokenizer.removesuffix("-stem") if isinstance(tokenizer, str) else tokenizer
    if surface == "squad":
        words = tokens_of(text, "bag")
        spans = _spans(text, words, True, string.punctuation, True)
        indices = [i for i, word in enumerate(words) if word not in _ARTICLES]
        if spans is None or [words[i] for i in indices] != tokens:
            return _rewritten(tokens)
        return TokenSpans(text, tokens, [spans[i] for i in indices])
    lowered = lower or surface in _LOWERING
    words = tokens if surface == tokenizer else tokens_of(read, surface)
    spans = _spans(text, words, lowered, "", surface in _LOWERING)
    return _rewritten(tokens) if spans is None else TokenSpans(text, tokens, spans)


def numbered(*texts: TokenSpans) -> list[list[int]]:
    """The tokens of every text as numbers, equal for equal tokens."""
    names: dict[str, int] = {}
    return [[names.setdefault(token, len(names)) for token in text.tokens] for text in texts]


def tokens_of(text: str, tokenizer: Tokenizer) -> Sequence[str]:
    """The tokens of one text, for which the engine's arrays would take longer to make."""
    if isinstance(tokenizer, str) and tokenizer in TOKENIZERS:
        return _defined(text, tokenizer)
    return Texts([text]).tokens(tokenizer).strings(0)


@lru_cache(maxsize=64)
def _defined(text: str, tokenizer: str) -> Sequence[str]:
    """The tokens by a tokenizer's definition: systems are explained against the same references."""
    return TOKENIZERS[tokenizer](text)


def _rewritten(tokens: Sequence[str]) -> TokenSpans:
    ends: list[int] = []
    for token in tokens:
        ends.append((ends[-1] + 1 if ends else 0) + len(token))
    spans = [(end - len(token), end) for token, end in zip(tokens, ends, strict=True)]
    return TokenSpans(" ".join(tokens), tokens, spans)


def _spans(
    text: str, words: Sequence[str], lowered: bool, dropped: str, gaps: bool
) -> list[Span] | None:
    """Where the words stand in the text, in order; None where they don't.

    Between words stands what no word can hold, so that the next one is the first that is found;
    without `gaps` that is white space only.
    """
    view = text.lower() if lowered else text
    places: Sequence[int] = range(len(text))
    if len(view) != len(text):
        places = [place for place, c in enumerate(text) for _ in c.lower()]
    if dropped:
        indices = [i for i, character in enumerate(view) if character not in dropped]
        view, places = "".join([view[i] for i in indices]), [places[i] for i in indices]
    spans: list[Span] = []
    end = 0
    for word in words:
        start = view.find(word, end)
        if start < 0 or not (gaps or start == end or view[end:start].isspace()):
            return None
        end = start + len(word)
        spans.append((places[start], places[end - 1] + 1))
    return spans
