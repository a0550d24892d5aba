"""The text engine: tokens, n-grams, edits and alignments of whole columns at a time.

Fast metrics call it from `measure`, whose arguments are its columns; `highlight` explains what a
score consists of. Provisional: the changelog lists changes of these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrichub.text import highlight as highlight
    from metrichub.text.answers import without_thinking as without_thinking
    from metrichub.text.cells import cell_or_text as cell_or_text
    from metrichub.text.column import RaggedTexts as RaggedTexts
    from metrichub.text.column import Texts as Texts
    from metrichub.text.edits.align import edit_counts as edit_counts
    from metrichub.text.edits.align import equal_rows as equal_rows
    from metrichub.text.edits.align import fragments as fragments
    from metrichub.text.edits.align import lcs as lcs
    from metrichub.text.edits.align import levenshtein as levenshtein
    from metrichub.text.edits.align import union_lcs as union_lcs
    from metrichub.text.edits.shifts import shift_edits as shift_edits
    from metrichub.text.edits.tercom import Shift as Shift
    from metrichub.text.edits.tercom import best_shifts as best_shifts
    from metrichub.text.highlight.spans import token_spans as token_spans
    from metrichub.text.ngrams.frequencies import NgramCounts as NgramCounts
    from metrichub.text.ngrams.frequencies import ngram_counts as ngram_counts
    from metrichub.text.ngrams.interning import InternedIds as InternedIds
    from metrichub.text.ngrams.interning import intern_both as intern_both
    from metrichub.text.ngrams.interning import intern_one as intern_one
    from metrichub.text.ngrams.interning import intern_tokens as intern_tokens
    from metrichub.text.ngrams.overlap import clipped_matches as clipped_matches
    from metrichub.text.ngrams.overlap import closest_lengths as closest_lengths
    from metrichub.text.ngrams.overlap import distinct_ngrams as distinct_ngrams
    from metrichub.text.ngrams.overlap import lengths as lengths
    from metrichub.text.ngrams.overlap import novel_ngrams as novel_ngrams
    from metrichub.text.ngrams.pairs import best_pairs as best_pairs
    from metrichub.text.ngrams.pairs import shared_ngrams as shared_ngrams
    from metrichub.text.ragged import Flags as Flags
    from metrichub.text.ragged import Integers as Integers
    from metrichub.text.ragged import Words as Words
    from metrichub.text.ragged import offsets_of as offsets_of
    from metrichub.text.ragged import positions_within as positions_within
    from metrichub.text.ragged import row_sums as row_sums
    from metrichub.text.ragged import sort_equal as sort_equal
    from metrichub.text.ragged import sort_rows as sort_rows
    from metrichub.text.ragged import spans as spans
    from metrichub.text.ragged import start_runs as start_runs
    from metrichub.text.tokenize.porter import porter as porter
    from metrichub.text.tokenize.reference import category as category
    from metrichub.text.tokenize.tokenizers import Classes as Classes
    from metrichub.text.tokenize.tokenizers import Tokenizer as Tokenizer
    from metrichub.text.tokenize.tokens import Tokens as Tokens
    from metrichub.text.unicode import segments as segments
    from metrichub.text.unicode import well_formed as well_formed

_HOMES = {
    name: f"text.{home}"
    for home, names in {
        "answers": "without_thinking",
        "cells": "cell_or_text",
        "column": "RaggedTexts Texts",
        "edits.align": "edit_counts equal_rows fragments lcs levenshtein union_lcs",
        "edits.shifts": "shift_edits",
        "edits.tercom": "best_shifts Shift",
        "highlight.spans": "token_spans",
        "ngrams.frequencies": "NgramCounts ngram_counts",
        "ngrams.interning": "intern_one InternedIds intern_both intern_tokens",
        "ngrams.overlap": "clipped_matches closest_lengths distinct_ngrams lengths novel_ngrams",
        "ngrams.pairs": "best_pairs shared_ngrams",
        "ragged": (
            "Flags Integers offsets_of positions_within row_sums sort_equal sort_rows spans "
            "start_runs Words"
        ),
        "tokenize.porter": "porter",
        "tokenize.reference": "category",
        "tokenize.tokenizers": "Classes Tokenizer",
        "tokenize.tokens": "Tokens",
        "unicode": "segments well_formed",
    }.items()
    for name in names.split()
}
__all__ = [*sorted(_HOMES), "highlight"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "highlight":
        return import_module("metrichub.text.highlight")
    return getattr(import_module(f"metrichub.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
