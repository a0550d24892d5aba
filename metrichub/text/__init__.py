"""The text engine: tokens, n-grams and alignments of whole columns at a time."""

from metrichub.text.align import edits, fragments, lcs, levenshtein, union_lcs
from metrichub.text.column import Groups, Texts
from metrichub.text.ngrams import (
    clipped_matches,
    closest_lengths,
    distinct_ngrams,
    lengths,
    novel_ngrams,
)
from metrichub.text.tokens import Tokens

__all__ = [
    "Groups",
    "Texts",
    "Tokens",
    "clipped_matches",
    "closest_lengths",
    "distinct_ngrams",
    "edits",
    "fragments",
    "lcs",
    "lengths",
    "levenshtein",
    "novel_ngrams",
    "union_lcs",
]
