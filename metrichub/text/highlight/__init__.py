"""Explanations of scores, as spans of the texts; loaded only when a score is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrichub.text.highlight.edits import aligned as aligned
    from metrichub.text.highlight.edits import aligned_after_shifts as aligned_after_shifts
    from metrichub.text.highlight.marks import Step as Step
    from metrichub.text.highlight.marks import common_subsequence as common_subsequence
    from metrichub.text.highlight.marks import copied_fragments as copied_fragments
    from metrichub.text.highlight.marks import novel as novel
    from metrichub.text.highlight.marks import novel_where as novel_where
    from metrichub.text.highlight.marks import repeated as repeated
    from metrichub.text.highlight.marks import shared as shared
    from metrichub.text.highlight.marks import shared_by_both as shared_by_both

_EDITS = ("aligned", "aligned_after_shifts")
_MARKS = (
    *("Step", "common_subsequence", "copied_fragments", "novel", "novel_where", "repeated"),
    *("shared", "shared_by_both"),
)
__all__ = [*_MARKS, *_EDITS]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = "edits" if name in _EDITS else "marks"
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
