"""Pairs of a prediction and one reference: the n-grams that they share, and the best pair."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.text.column import RaggedTexts, Texts
from metrichub.text.ngrams.interning import alphabet
from metrichub.text.ngrams.overlap import (
    BITS,
    Pairs,
    clipped_matches,
    lengths,
    ngram_totals,
    paired_matches,
)
from metrichub.text.ragged import Integers, offsets_of
from metrichub.text.tokenize.characters import Codes, code_points

_ASCII = 1 << 7
"""Code points; as many more fit in a byte."""


class Shared(NamedTuple):
    """n-grams that both texts have, and those of either, each (N, K) for orders 1 to K."""

    matches: Integers
    predicted: Integers
    referenced: Integers


def shared_ngrams(prediction: Texts, reference: Texts, tokenizer: str, max_order: int) -> Shared:
    """How many n-grams each pair of texts shares, counted as often as both texts have them."""
    matches = None
    predicted, expected = prediction.strings(tokenizer), reference.strings(tokenizer)
    if predicted is not None and expected is not None:
        texts = list(chain.from_iterable(zip(predicted, expected, strict=True)))
        segments = offsets_of(np.fromiter(map(len, texts), np.int64, len(texts)))
        pairs = Pairs.of(_numbered(code_points("".join(texts)), max_order), segments)
        if pairs.bits * max_order < BITS:
            matches = paired_matches(pairs, max_order)
    if matches is None:
        matches = clipped_matches(prediction, reference, tokenizer, max_order).matches
    sizes = lengths(prediction, tokenizer), lengths(reference, tokenizer)
    return Shared(matches, ngram_totals(sizes[0], max_order), ngram_totals(sizes[1], max_order))


def best_pairs(scores: NDArray[np.float64], references: RaggedTexts) -> Integers:
    """The best-scoring pair of each row, the first if several are equal, (N,).

    The pairs (P,) are those of each row with its references, in order; each row has at least one.
    """
    best_first = np.lexsort((-scores, references.rows))
    best: Integers = best_first[references.offsets[:-1]]
    return best


def _numbered(codes: Codes, max_order: int) -> Codes:
    """Numbers from 1, equal if and only if the code points are: most often they themselves."""
    wide = np.flatnonzero(codes >= _ASCII)
    if 0 < len(wide) < len(codes) // 8:
        kinds, number = np.unique(codes[wide], return_inverse=True)
        if len(kinds) < _ASCII:
            codes = codes.astype(np.uint8)
            codes[wide] = _ASCII + number
    fit = (int(codes.max(initial=0)) + 1).bit_length() * max_order < BITS
    return codes if fit and codes.all() else alphabet(codes).take(codes)
