"""What a score is made of, as spans of the texts, for explanations."""

from metrichub.text.highlight.edits import aligned, aligned_after_shifts
from metrichub.text.highlight.marks import (
    Step,
    common_subsequence,
    copied_fragments,
    novel,
    novel_where,
    repeated,
    shared,
    shared_by_both,
)

__all__ = [
    "Step",
    "aligned",
    "aligned_after_shifts",
    "common_subsequence",
    "copied_fragments",
    "novel",
    "novel_where",
    "repeated",
    "shared",
    "shared_by_both",
]
