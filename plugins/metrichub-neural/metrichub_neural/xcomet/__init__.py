"""xCOMET: a translation's score, and its errors by severity (Guerreiro et al., 2024).

The weights of scores and of probabilities are those of unbabel-comet 2.2.7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Scores
from metrichub.errors import MissingDependency, MissingModel
from metrichub.text import Texts, well_formed
from metrichub_neural._comet import UnifiedMetric
from metrichub_neural._comet.model import XCOMET, comet_of
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.flaws import flaws_of, noted
from metrichub_neural.xcomet import spans

_JOINS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "both": {
        "source": ("prediction", "source"),
        "reference": ("prediction", "reference"),
        "both": ("prediction", "source", "reference"),
    },
    "source": {"source": ("prediction", "source")},
    "reference": {"reference": ("prediction", "reference")},
}
"""The texts that are read as one, by what a translation is held against, and the output."""
_OF_SCORES = (0.12, 0.33, 0.33)
_OF_QUALITY = 0.22
_OF_LABELS = (0.1667, 0.3333, 0.5)


@dataclass(frozen=True, kw_only=True)
class XComet(UnifiedMetric):
    """A weighted mean of a model's scores and of what its errors leave of 25 points (macro).

    Attributes:
        model: The model, whose checkpoint 'metrichub convert' has converted: a name on the Hugging
            Face hub, or a folder; it has to be on this machine.
        against: What the translation is held against.
    """

    kind = XCOMET
    segments = frozenset({"src", "ref"})
    averaging = "macro"
    checkpoints = (
        Checkpoint("Unbabel/XCOMET-XL", "facebook/xlm-roberta-xl"),
        Checkpoint("Unbabel/XCOMET-XXL", "facebook/xlm-roberta-xxl"),
    )
    _counted: ClassVar[tuple[str, ...]] = ("mqm", *spans.SEVERITIES)

    model: ModelName = "Unbabel/XCOMET-XL"
    against: Literal["both", "source", "reference"] = "both"

    def inputs(self) -> tuple[str, ...]:
        """The prediction and what it is held against."""
        if self.against == "both":
            return "prediction", "source", "reference"
        return "prediction", self.against

    def outputs(self) -> tuple[str, ...]:
        """The score, that of each way to join the texts, and what the errors make."""
        return ("score", *_JOINS[self.against], *self._counted)

    def measure(
        self, prediction: Texts, source: Texts | None = None, reference: Texts | None = None
    ) -> Measured:
        """The scores and errors of each sample, and whether its texts were cut, (N,)."""
        columns = {"prediction": prediction, "source": source, "reference": reference}
        texts_by_column = {name: [*texts] for name, texts in columns.items() if texts is not None}
        scores, errors, flaws = self._read(texts_by_column)
        counts = np.array([spans.counts(marks) for marks in errors], np.float64).reshape(-1, 3)
        weights = _OF_SCORES if self.against == "both" else (sum(_OF_SCORES),)
        mqm = spans.quality(counts)
        values = {
            "value": np.minimum(scores, 1) @ np.array(weights) + _OF_QUALITY * mqm,
            # What isn't read has no output.
            **{f"by_{name}": np.zeros(len(flaws)) for name in _JOINS["both"]},
            **{f"by_{n}": of for n, of in zip(_JOINS[self.against], scores.T, strict=True)},
            "mqm": mqm,
            **dict(zip(spans.SEVERITIES, counts.T, strict=True)),
        }
        reasons = self.blank(texts_by_column)
        for column in values.values():
            column[list(reasons)] = np.nan
        return Measured({**values, **noted(samples=flaws)}, reasons)

    def score(
        self,
        value: Array,
        mqm: Array,
        minor: Array,
        major: Array,
        critical: Array,
        by_source: Array,
        by_reference: Array,
        by_both: Array,
        count: Array,
    ) -> Scores:
        """The means over the samples."""
        parts = {"source": by_source, "reference": by_reference, "both": by_both}
        counted = {"mqm": mqm, "minor": minor, "major": major, "critical": critical}
        sums = {"score": value, **parts, **counted}
        return {output: sums[output] / count for output in self.outputs()}

    def explain(self, prediction: str, source: str = "", reference: str = "") -> Mapping[str, Any]:
        """The prediction with its errors marked, and each error; nothing without the model."""
        texts = {"prediction": prediction, "source": source, "reference": reference}
        columns = {name: [texts[name]] for name in self.inputs()}
        try:
            (errors,) = self._read(columns)[1]
        # A report may be read where the model isn't.
        except (MissingDependency, MissingModel):
            return {}
        text = well_formed(prediction)
        return {"prediction": spans.highlighted(text, errors), "errors": errors}

    def _read(
        self, columns: Mapping[str, Sequence[str]]
    ) -> tuple[Array, list[list[spans.ErrorSpan]], list[int]]:
        """Each sample's scores, (N, joins), its errors, and its flaws, (N,)."""
        model = comet_of(self.files(), self.dtype)
        joins = _JOINS[self.against].values()
        # All ways in one call, so that batches are of texts of much the same length.
        rows = [row for names in joins for row in zip(*(columns[n] for n in names), strict=True)]
        read = model.read_tagged(rows)
        texts = columns["prediction"]
        places = model.spans(texts)
        weights = _OF_LABELS if self.against == "both" else (1,)
        errors, scores, flaws = [], [], []
        for row, text in enumerate(texts):
            outputs = read[row :: len(texts)]
            labels = spans.probabilities([each.labels for each in outputs], weights)
            errors.append(spans.errors_in(well_formed(text), labels, places[row]))
            scores.append([each.score for each in outputs])
            flaws.append(flaws_of(outputs))
        shape = (len(texts), len(joins))
        return np.array(scores, np.float64).reshape(shape), errors, flaws
