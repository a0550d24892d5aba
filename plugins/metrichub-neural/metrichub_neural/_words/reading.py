"""Reading: texts as the vectors of their words, out of a table of word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from metrichub.text import Texts, spans
from metrichub_neural.engine.batching import FloatArray
from metrichub_neural.engine.words import WordVectors

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
WordTokenizer = Literal["13a", "intl", "zh", "char", "unicode", "whitespace"]


class Words(NamedTuple):
    """The vectors of one text's words in reading order, (n, d).

    Attributes:
        vectors: (n, d).
        unknown: How many of the words have no vector of their own.
        flaws: Those of the text for the model; see `engine.flaws`.
    """

    vectors: FloatArray
    unknown: int = 0
    flaws: int = 0


def words_of(texts: Texts, tokenizer: str, lowercase: bool) -> list[list[str]]:
    """The words of each text."""
    return (texts.lower() if lowercase else texts).tokens(tokenizer).all_strings()


def looked_up(words: Sequence[Sequence[str]], table: WordVectors) -> list[Words]:
    """The vectors of each text's words, the same wherever a word stands."""
    ends = np.cumsum([0, *map(len, words)])
    word_vectors = table.of([word for text in words for word in text])
    return [
        Words(word_vectors.vectors[start:end], int((~word_vectors.is_known[start:end]).sum()))
        for start, end in spans(ends)
    ]
