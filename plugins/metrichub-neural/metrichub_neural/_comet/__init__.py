"""Shared by COMET's metrics: the model, and each sample's score by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from metrichub.authoring import Measured
from metrichub.errors import ModelError
from metrichub_neural._comet.model import UNIFIED, comet_of, settings_of
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.whole import WholeMetric
from metrichub_neural.local_models import ModelFiles


@dataclass(frozen=True, kw_only=True)
class CometMetric(WholeMetric):
    """The score that a COMET model gives a translation."""

    kind: ClassVar[str]
    """The class of models that it runs, as their hyperparameters name it."""

    def scored(self, **columns: Sequence[str]) -> Measured:
        """The score of each sample from its texts, the prediction first, (N,)."""
        model = comet_of(self.files(), self.dtype)
        read = {name: model.read(texts) for name, texts in columns.items()}
        scores = model.scores([[text.vector for text in texts] for texts in read.values()])
        reasons = {
            row: f"the {name} is empty"
            for name, texts in read.items()
            for row, text in enumerate(texts)
            if text.blank and name != "prediction"
        }
        scores[list(reasons)] = np.nan
        flaws = noted(**{f"{name}s": texts for name, texts in read.items()})
        return Measured({"value": scores, **flaws}, reasons)

    def files(self) -> ModelFiles:
        """The model's files, which are of this kind of model.

        Raises:
            ModelError: they are of another kind, or weren't converted.
        """
        files = super().files()
        kind = settings_of(files).kind
        if kind != self.kind:
            raise ModelError(f"{files.name} is a {kind}, and {self.name} runs a {self.kind}")
        return files

    def limit(self) -> int:
        """How many tokens are read of a text."""
        return settings_of(self.files()).limit


@dataclass(frozen=True, kw_only=True)
class UnifiedMetric(CometMetric):
    """The score that a model gives a translation and other texts that it reads as one."""

    kind = UNIFIED
    segments: ClassVar[frozenset[str]]
    """What the model has to have been trained to read: "src", "ref" or both."""

    def together(
        self, joins: Mapping[str, Sequence[str]], columns: Mapping[str, Sequence[str]]
    ) -> Measured:
        """The score of each sample, (N,), by each way to join columns of texts."""
        model = comet_of(self.files(), self.dtype)
        values, every = {}, []
        for name, names in joins.items():
            rows = list(zip(*(columns[column] for column in names), strict=True))
            read = model.read_together(rows)
            values[name] = model.scores([[text.vector for text in read]])
            every.append(read)
        reasons = self.blank(columns)
        for scores in values.values():
            scores[list(reasons)] = np.nan
        return Measured({**values, **noted(samples=zip(*every, strict=True))}, reasons)

    @staticmethod
    def blank(columns: Mapping[str, Sequence[str]]) -> dict[int, str]:
        """Why a sample is unscored: its source or reference has no text."""
        return {
            row: f"the {name} is empty"
            for name, texts in columns.items()
            for row, text in enumerate(texts)
            if name != "prediction" and not text.strip()
        }

    def files(self) -> ModelFiles:
        """The model's files, which were trained to read what the metric has.

        Raises:
            ModelError: they weren't.
        """
        files = super().files()
        if missing := sorted(self.segments - {*settings_of(files).segments}):
            raise ModelError(f"{files.name} wasn't trained to read {missing[0]}")
        return files

    def limit(self) -> int:
        """How many tokens are read of texts that are joined."""
        return super().limit() + 2
