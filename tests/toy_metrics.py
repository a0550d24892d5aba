"""Metrics small enough to check by hand; the tests of the core score with these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from metrichub.catalog.card import Card
from metrichub.catalog.frontmatter import Scale
from metrichub.catalog.parameters import Range
from metrichub.metric import Array, CorpusMetric, Metric, Row, Scores, Unscored
from metrichub.text import RaggedTexts, Texts


def card(name: str, *inputs: str, better: str = "higher", outputs: Sequence[str] = ()) -> Card:
    """A bare card whose outputs all have one direction."""
    scale = Scale(None, None, better)
    return Card(name, name, "", inputs, dict.fromkeys(("score", *outputs), scale))


@dataclass(frozen=True, kw_only=True)
class Overlap(Metric):
    """Word types of the reference that the prediction has, over all of them (micro).

    Attributes:
        lower: Whether case is ignored.
        weight: What a shared word counts.
        ignored: Words that never count.
    """

    card: ClassVar[Card] = card("overlap", "prediction", "reference")
    lower: bool = False
    weight: Annotated[float, Range(0, 2)] = 1.0
    ignored: tuple[str, ...] = ()

    def observe(self, prediction: str, reference: str) -> Row | Unscored:
        """Shared and wanted words; a reference without words has no score."""
        if self.lower:
            prediction, reference = prediction.lower(), reference.lower()
        words = set(reference.split()) - set(self.ignored)
        if not words:
            return Unscored("the reference has no words")
        return {"shared": len(words & set(prediction.split())), "wanted": len(words)}

    def score(self, shared: Array, wanted: Array) -> Scores:
        """Shared over wanted."""
        return {"score": self.weight * shared / wanted}


@dataclass(frozen=True, kw_only=True)
class Length(Metric):
    """Characters of the prediction (macro): the default score is the mean of the samples."""

    card: ClassVar[Card] = card("length", "prediction", better="neither")
    measure_in: Literal["characters", "words"] = "characters"

    def observe(self, prediction: str) -> float | None:
        """The length; an empty prediction has none."""
        parts = prediction.split() if self.measure_in == "words" else prediction
        return float(len(parts)) or None


@dataclass(frozen=True, kw_only=True)
class Errors(Metric):
    """Positions where the words differ, over the words of the reference; two statistics in one."""

    card: ClassVar[Card] = card("errors", "prediction", "reference", better="lower")

    def measure(self, prediction: Texts, reference: Texts) -> Mapping[str, Array]:
        """Errors and words, (N, 2)."""
        rows = []
        for first, other in zip(prediction, reference, strict=True):
            left, right = first.split(), other.split()
            same = sum(a == b for a, b in zip(left, right, strict=False))
            rows.append((max(len(left), len(right)) - same, len(right)))
        return {"counts": np.array(rows, np.int64).reshape(len(rows), 2)}

    def score(self, counts: Array) -> Scores:
        """Errors over words."""
        return {"score": counts[..., 0] / counts[..., 1]}


@dataclass(frozen=True, kw_only=True)
class Known(Metric):
    """The share of the prediction's words that any of its references has (micro)."""

    card: ClassVar[Card] = card("known", "prediction", "references")

    def measure(self, prediction: Texts, references: RaggedTexts) -> Mapping[str, Array]:
        """Known and all words, (N,)."""
        right, total = [], []
        for text, others in zip(prediction, references, strict=True):
            vocabulary = set(" ".join(others).split())
            right.append(sum(word in vocabulary for word in text.split()))
            total.append(len(text.split()))
        return {"known": np.array(right), "total": np.array(total)}

    def score(self, known: Array, total: Array) -> Scores:
        """Known over all."""
        return {"score": known / total}


@dataclass(frozen=True, kw_only=True)
class Variety(CorpusMetric):
    """Distinct words over all words of the corpus; doesn't add up."""

    card: ClassVar[Card] = card("variety", "prediction")

    def observe(self, prediction: str) -> list[str] | None:
        """The words; an empty prediction has none."""
        return prediction.split() or None

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        """Distinct over all."""
        words = [word for row in rows for word in row]
        return {"score": len(set(words)) / len(words)}


@dataclass(frozen=True, kw_only=True)
class InContext(Metric):
    """Whether the prediction stands in a context, of which a sample may have none."""

    card: ClassVar[Card] = card("in_context", "prediction", "context", better="neither")

    def observe(self, prediction: str, context: str) -> float:
        """One if it does."""
        return float(prediction in context)
