"""ANLS: the normalized Levenshtein similarity of two texts, 0 below a threshold."""

from __future__ import annotations

from rapidfuzz.distance import Levenshtein


def similarity(first: str, second: str, threshold: float) -> float:
    """One minus the edit distance over the length of the longer text; 1 for two empty ones."""
    # A little lower, as the cutoff is rounded.
    cutoff = max(0.0, threshold - 0.01)
    alike = Levenshtein.normalized_similarity(first, second, score_cutoff=cutoff)
    return alike if alike >= threshold else 0.0
