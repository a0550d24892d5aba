"""The text engine: tokens, n-grams and alignments of whole columns at a time."""

from metrichub.text.column import Groups, Texts
from metrichub.text.edits.align import edit_counts, fragments, lcs, levenshtein, union_lcs
from metrichub.text.ngrams.ngrams import (
    clipped_matches,
    closest_lengths,
    distinct_ngrams,
    lengths,
    novel_ngrams,
)
from metrichub.text.tokenize.tokens import Tokens

__all__ = [
    "Groups",
    "Texts",
    "Tokens",
    "clipped_matches",
    "closest_lengths",
    "distinct_ngrams",
    "edit_counts",
    "fragments",
    "lcs",
    "lengths",
    "levenshtein",
    "novel_ngrams",
    "union_lcs",
]
