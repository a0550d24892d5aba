"""Lengths: how many words the samples of a column have, for slices and filters by length."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from metrichub.evaluation.stored import StoredSamples

COUNTED = "words between spaces; in Chinese, Japanese, Thai, Lao, Khmer and Burmese, characters"
"""What a length counts."""
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana and Han
)
_WORD = re.compile(rf"[{_ALONE}]|[^\s{_ALONE}]+")


def word_counts(texts: Iterable[str]) -> NDArray[np.int64]:
    """How many words each text has, punctuation alone left out; see `COUNTED`."""
    found = (sum(any(map(str.isalnum, word)) for word in _WORD.findall(text)) for text in texts)
    return np.fromiter(found, np.int64)


def sample_lengths(samples: StoredSamples, column: str) -> NDArray[np.int64] | None:
    """The words of each sample's first text in a column, (N,); None where a batch lacks it."""
    found = []
    for batch in samples.batches:
        if column not in batch.columns:
            return None
        texts = batch.columns[column]
        counts = np.append(word_counts(texts.items), 0)
        if texts.offsets is None:
            found.append(counts[:-1])
            continue
        starts = np.asarray(texts.offsets)
        found.append(np.where(starts[1:] > starts[:-1], counts[starts[:-1]], 0))
    return np.concatenate(found) if found else np.zeros(0, np.int64)
