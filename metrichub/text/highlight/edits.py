"""Runs: what becomes of a reference to make it the prediction, to be shown to a reader.

As in `highlights`, tokens and counts are the engine's; one side of all runs is the text itself.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from metrichub.text.column import Texts
from metrichub.text.highlight.highlights import Step as Step
from metrichub.text.highlight.spans import TokenSpans, numbered, token_spans
from metrichub.text.ngrams.interning import intern_both

if TYPE_CHECKING:
    from metrichub.text.edits.shifts import Shift

Edit = Literal["equal", "substitute", "insert", "delete"]

_EDITS: dict[str, Edit] = {
    "equal": "equal",
    "replace": "substitute",
    "insert": "insert",
    "delete": "delete",
}
"""What rapidfuzz calls each kind of edit."""


class EditOp(NamedTuple):
    """Tokens of an alignment that are treated alike, `size` of them; one side may be empty."""

    kind: Edit
    reference: str
    prediction: str
    size: int


def aligned(prediction: str, reference: str, tokenizer: str) -> Step:
    """The edits that turn the reference into the prediction, as `edits` finds them."""
    return _alignment(token_spans(prediction, tokenizer), token_spans(reference, tokenizer))


def aligned_after_shifts(prediction: str, reference: str, tokenizer: str) -> Step:
    """The shifts that `shift_edits` makes in the prediction, and the edits after them.

    `edits` counts both.
    """
    predicted, expected = token_spans(prediction, tokenizer), token_spans(reference, tokenizer)
    made = _shifts(*intern_both(Texts([prediction]), Texts([reference]), tokenizer).strings)
    words, shifts = list(predicted.tokens), []
    for shift in made:
        shifts.append(" ".join(words[shift.start : shift.end]))
        words = shift(words)
    moved = token_spans(" ".join(words), "whitespace") if made else predicted
    alignment = _alignment(moved, expected)
    return {"shifted": shifts, **alignment, "edits": alignment["edits"] + len(shifts)}


def _shifts(words: str, reference: str) -> list[Shift]:
    """The shifts that `shift_edits` makes, in texts whose characters stand for words."""
    if not (words and reference):
        return []
    from rapidfuzz.distance import Levenshtein

    from metrichub.text.edits.shifts import Search

    common = (Counter(words) & Counter(reference)).total()
    distance = np.array([Levenshtein.distance(words, reference)], np.int64)
    goal = np.array([max(len(words), len(reference)) - common + 1], np.int64)
    search = Search.of([words], [reference], distance, goal)
    search.run()
    return search.made[0]


def _alignment(prediction: TokenSpans, reference: TokenSpans) -> Step:
    from rapidfuzz.distance import Levenshtein

    first, second = numbered(prediction, reference)
    ours, theirs = _edges(prediction), _edges(reference)
    runs = [
        EditOp(
            _EDITS[operation.tag],
            reference.text[theirs[operation.src_start] : theirs[operation.src_end]],
            prediction.text[ours[operation.dest_start] : ours[operation.dest_end]],
            max(
                operation.src_end - operation.src_start,
                operation.dest_end - operation.dest_start,
            ),
        )
        for operation in Levenshtein.opcodes(second, first)
    ]
    return {"alignment": runs, "edits": sum(run.size for run in runs if run.kind != "equal")}


def _edges(text: TokenSpans) -> list[int]:
    """Where the part of each token begins, white space behind a token being part of it."""
    starts = [start for start, _ in text.spans]
    return [0, *starts[1:], len(text.text)]
