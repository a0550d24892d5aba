"""SMART: how well the sentences of two texts match, as ROUGE does words (Amplayo et al., 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from metrichub.authoring import Array, Measured, Scores, sentences
from metrichub.errors import ParameterError
from metrichub.text import Texts
from metrichub_neural._bertscore.matching import f1
from metrichub_neural._bertscore.tables import default_layer, default_model
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.metric import EncoderMetric
from metrichub_neural.smart.matching import Likeness, Matcher, Pair, by_model, by_string, metric_of
from metrichub_neural.smart.variants import VARIANTS, variants_of

_SIDES = {"reference": ("reference",), "source": ("source",), "both": ("reference", "source")}


@dataclass(frozen=True, kw_only=True)
class Smart(EncoderMetric):
    """How well each sentence is matched by one of the other text (macro).

    Attributes:
        matcher: How alike two sentences are: by a metric of strings, or by the vectors of a model
            (`bertscore`).
        variant: The type that `score`, `precision` and `recall` report: sentences (`smart1`), pairs
            of neighbours (`smart2`), or sentences in their order (`smartL`).
        against: What the prediction is held against; of `both`, the better one counts for each
            number.
        model: For `bertscore`, the model: a name on the Hugging Face hub ("roberta-large"), a
            folder, or an installed package; it has to be on this machine.
        layer: The layer whose vectors are compared; 0 is the embeddings.
    """

    averaging = "macro"
    where_cut = ", in one of their sentences"

    matcher: Matcher = "chrf"
    variant: Literal["smart1", "smart2", "smartL"] = "smartL"
    against: Literal["reference", "source", "both"] = "reference"

    def __post_init__(self) -> None:
        """Check the parameters, and that no model is named that isn't asked."""
        super().__post_init__()
        for name, default in (("model", None), ("revision", None), ("layer", None)):
            value = getattr(self, name)
            if self.matcher != "bertscore" and value != default:
                raise ParameterError(self.name, name, value, "None without matcher='bertscore'")

    def inputs(self) -> tuple[str, ...]:
        """The prediction and what it is held against."""
        return ("prediction", *_SIDES[self.against])

    def default_model(self) -> str:
        """BERTScore's for English."""
        return default_model("en")

    def default_layer(self, model: str) -> int:
        """The layer that agrees best with people; it has to be named where that wasn't measured."""
        return default_layer(model, self.name)

    def resolved(self) -> Mapping[str, object]:
        """The model as it is run, or the metric of strings with all its parameters."""
        if self.matcher == "bertscore":
            return super().resolved()
        metric = metric_of(self.matcher)
        return {"matcher": f"{metric.label()}, definition {metric.card.definition}"}

    def requires(self) -> tuple[str, ...]:
        """The packages that run the model, if there is one."""
        return super().requires() if self.matcher == "bertscore" else ()

    def one_process(self) -> bool:
        """Whether it runs on a GPU."""
        return self.matcher == "bertscore" and super().one_process()

    def reuse_key(self) -> str | None:
        """The state of the model's files, if there is one, and the device."""
        return super().reuse_key() if self.matcher == "bertscore" else None

    def measure(
        self, prediction: Texts, reference: Texts | None = None, source: Texts | None = None
    ) -> Measured:
        """Precision, recall and F of each type, (N, 3) each; of two sides, the larger numbers."""
        sides = [side for side in (reference, source) if side is not None]
        split = {text: _split(text) for side in (prediction, *sides) for text in side}
        rows = [
            [(split[mine], split[other]) for other in others]
            for mine, *others in zip(prediction, *sides, strict=True)
        ]
        pairs = {pair for row in rows for mine, other in row for pair in product(mine, other)}
        like, flaws = self._matched(sorted(pairs))
        scores = np.array([_of_sample(row, like) for row in rows]).reshape(len(rows), 3, 3)
        blank = np.flatnonzero(np.isnan(scores[:, 0, 0])).tolist()
        of_rows = [[flaws.get(each, 0) for a, b in row for each in (*a, *b)] for row in rows]
        return Measured(
            {
                **{name: scores[:, n] for n, name in enumerate(("precision", "recall", "f"))},
                **noted(samples=of_rows),
            },
            dict.fromkeys(blank, f"the {' and the '.join(_SIDES[self.against])} can't be read"),
        )

    def score(self, precision: Array, recall: Array, f: Array, count: Array) -> Scores:
        """The means over the samples, (...,), from sums for each type, (..., 3)."""
        which = VARIANTS.index(self.variant)
        return {
            "score": f[..., which] / count,
            "precision": precision[..., which] / count,
            "recall": recall[..., which] / count,
            **{name: f[..., number] / count for number, name in enumerate(VARIANTS)},
        }

    def _matched(self, pairs: Sequence[Pair]) -> tuple[Likeness, dict[str, int]]:
        if self.matcher == "bertscore":
            return by_model(self.encoder(), pairs)
        return by_string(self.matcher, pairs), {}


def _split(text: str) -> list[str]:
    """The sentences of a text; one that has no word in it is a sentence as it is."""
    return sentences(text) or ([text.strip()] if text.strip() else [])


def _of_sample(sides: Sequence[tuple[Sequence[str], Sequence[str]]], like: Likeness) -> Array:
    """Precision, recall and F of each type, (3, 3), by the better side; `nan` without a side."""
    both = [_of_side(mine, other, like) for mine, other in sides]
    scored = [scores for scores in both if scores is not None]
    return np.max(scored, axis=0) if scored else np.full((3, 3), np.nan)


def _of_side(mine: Sequence[str], other: Sequence[str], like: Likeness) -> Array | None:
    """The numbers against one text; None if it can't be read, 0 if the prediction can't."""
    if not other:
        return None
    if not mine:
        return np.zeros((3, 3))
    matrix = np.array([[like[first, second] for second in other] for first in mine])
    if np.isnan(matrix).all():
        return None
    precision, recall = variants_of(np.nan_to_num(matrix)).T
    return np.array([precision, recall, f1(precision, recall)])
