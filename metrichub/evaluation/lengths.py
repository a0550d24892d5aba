"""Lengths: how many words samples have, for slices, filters, and ranks of systems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.frontmatter import LENGTHS_APART
from metrichub.data.batch import Batch
from metrichub.evaluation.stored import StoredSamples

COUNTED = "words between spaces; in Chinese, Japanese, Thai, Lao, Khmer and Burmese, characters"
"""The units in which lengths are counted."""
LENGTHS_UNKNOWN = (
    "lengths unknown: this older report doesn't have the lengths of the predictions, so its ranks "
    "aren't checked for them; score again"
)
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana and Han
)
# From the first letter or digit on, so that punctuation alone isn't a word.
_WORD = re.compile(rf"[^\W_{_ALONE}][^\s{_ALONE}]*|(?=[^\W_])[{_ALONE}]")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]\S*", re.ASCII)

Lengths = NDArray[np.int64]
"""The words of each sample's predictions and their number, (N, 2), or the sums of both, (1, 2)."""


def word_counts(texts: Iterable[str]) -> NDArray[np.int64]:
    """How many words each text has, punctuation alone left out; see `COUNTED`."""
    counts = (len((_ASCII_WORD if t.isascii() else _WORD).findall(t)) for t in texts)
    return np.fromiter(counts, np.int64)


def sample_lengths(samples: StoredSamples, column: str) -> NDArray[np.int64] | None:
    """The words of each sample's first text in a column, (N,); None where a batch lacks it."""
    lengths = []
    for batch in samples.batches:
        if column not in batch.columns:
            return None
        texts = batch.columns[column]
        counts = np.append(word_counts(texts.items), 0)
        if texts.offsets is None:
            lengths.append(counts[:-1])
            continue
        starts = np.asarray(texts.offsets)
        lengths.append(np.where(starts[1:] > starts[:-1], counts[starts[:-1]], 0))
    return np.concatenate(lengths) if lengths else np.zeros(0, np.int64)


def lengths_of(batch: Batch) -> Lengths | None:
    """The lengths of a batch's predictions; None if it has none."""
    column = batch.columns.get("predictions")
    if column is None:
        return None
    counts = column.counts
    sample = np.repeat(np.arange(len(counts)), counts)
    words = np.bincount(sample, word_counts(column.items), len(counts)).astype(np.int64)
    return np.stack([words, counts], axis=1)


def summed_lengths(lengths: Lengths | None) -> Lengths | None:
    """The sums of lengths, where the samples aren't kept."""
    return None if lengths is None else lengths.sum(axis=0, keepdims=True)


def joined_lengths(parts: Sequence[tuple[int, Lengths | None]]) -> Lengths | None:
    """The lengths of all parts in order, given with their numbers of samples.

    None where a part has none, sums where one has sums.
    """
    filled = [(size, lengths) for size, lengths in parts if size]
    counted = [lengths for _, lengths in filled if lengths is not None]
    if not counted or len(counted) < len(filled):
        return None
    joined = np.concatenate(counted)
    return joined if len(joined) == sum(size for size, _ in filled) else summed_lengths(joined)


def differing_lengths(systems: Mapping[str, Lengths | None]) -> str | None:
    """That the mean lengths of systems differ too much for outputs that are bound to length."""
    means = {}
    for name, lengths in systems.items():
        if lengths is None:
            return None
        words, texts = lengths.sum(axis=0).tolist()
        means[name] = words / texts if texts else 0.0
    shortest, longest = (choose(means, key=means.__getitem__) for choose in (min, max))
    low, high = means[shortest], means[longest]
    if high <= low * (1 + LENGTHS_APART):
        return None
    by = f" by {high / low - 1:.0%}" if low else ""
    ends = {name: mean for name, mean in means.items() if name in (shortest, longest)}
    described = ", ".join(f"{name}: {mean:.1f} words" for name, mean in ends.items())
    return f"the mean lengths differ{by} ({described})"
