"""Context overlap: which retrieved passages are reference passages, by their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from metric_cards._bases.own_texts import own_texts
from metrichub.authoring import Metric, Range, Row, Unscored
from metrichub.text import Texts, lengths, levenshtein


@dataclass(frozen=True, kw_only=True)
class ContextOverlap(Metric):
    """F1, precision, recall and average precision of the retrieved passages, macro.

    Attributes:
        threshold: The edit similarity from which on two passages are the same; 1 for equal ones.
    """

    threshold: Annotated[float, Range(0, 1)] = 0.5

    def observe(self, contexts: Sequence[str], reference_contexts: Sequence[str]) -> Row | Unscored:
        """The rates of one sample.

        Raises:
            InputError: a reference passage isn't a text.
        """
        references = own_texts(self.name, "reference_contexts", reference_contexts)
        if not references:
            return Unscored("the sample has no reference passages")
        similarity = _similarity(contexts, references)
        right, retrieved = (similarity.max(axis, initial=-1) >= self.threshold for axis in (1, 0))
        precision, recall = right.sum() / max(len(right), 1), retrieved.mean()
        ranks = np.flatnonzero(right) + 1
        average = (np.arange(1, len(ranks) + 1) / ranks).sum() / max(len(ranks), 1)
        return {
            "score": 2 * precision * recall / max(precision + recall, 1e-9),
            "precision": precision,
            "recall": recall,
            "average_precision": average,
        }

    def explain(
        self, contexts: Sequence[str], reference_contexts: Sequence[str]
    ) -> Mapping[str, Any]:
        """Each retrieved passage with the reference passage that it is, and those missing."""
        references = own_texts(self.name, "reference_contexts", reference_contexts)
        similarity = _similarity(contexts, references)
        retrieved = similarity.max(0, initial=-1) >= self.threshold
        passages = [
            {
                "passage": passage,
                "reference": references[int(row.argmax())] if row.size else "",
                "similarity": round(float(row.max(initial=0)), 4),
                "found": bool(row.max(initial=0) >= self.threshold),
            }
            for passage, row in zip(contexts, similarity, strict=True)
        ]
        missing = [text for text, is_in in zip(references, retrieved, strict=True) if not is_in]
        return {"passages": passages, "missing": missing}


def _similarity(contexts: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """One minus the edits over the longer text, (K, R), whatever the white space."""
    plain = [[" ".join(text.split()) for text in texts] for texts in (contexts, references)]
    pairs = list(product(*plain))
    first, second = Texts([pair[0] for pair in pairs]), Texts([pair[1] for pair in pairs])
    longer = np.maximum(lengths(first, "chars"), lengths(second, "chars"))
    similarity = 1 - levenshtein(first, second, "chars") / np.maximum(longer, 1)
    return similarity.reshape(len(contexts), len(references))
