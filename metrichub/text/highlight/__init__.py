"""Explanations of scores, as spans of the texts; loaded only when a score is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrichub.text.highlight.highlights import Step as Step
    from metrichub.text.highlight.highlights import aligned as aligned
    from metrichub.text.highlight.highlights import aligned_after_shifts as aligned_after_shifts
    from metrichub.text.highlight.highlights import common_subsequence as common_subsequence
    from metrichub.text.highlight.highlights import copied_fragments as copied_fragments
    from metrichub.text.highlight.highlights import novel as novel
    from metrichub.text.highlight.highlights import novel_where as novel_where
    from metrichub.text.highlight.highlights import repeated as repeated
    from metrichub.text.highlight.highlights import shared as shared
    from metrichub.text.highlight.highlights import shared_by_both as shared_by_both

__all__ = [
    *("Step", "aligned", "aligned_after_shifts", "common_subsequence", "copied_fragments"),
    *("novel", "novel_where", "repeated", "shared", "shared_by_both"),
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.highlights"), name)


def __dir__() -> list[str]:
    return __all__
