"""MetricX: the errors of a translation, by a model trained on ratings (Juraska et al., 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Scores
from metrichub.errors import MissingModel, ParameterError
from metrichub.text import Texts
from metrichub_neural._seq2seq import FirstTokenMetric
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.seq2seq import Seq2Seq, seq2seq_of
from metrichub_neural.local_models import ModelFiles, find_model

_TOKEN = 250_089
"""The token whose score the models were trained to give as their rating."""
_WORST = 25.0
_LIMITS = {"24": 1536, "23": 1024}
_WORDS = ("tokenizer.json", "spiece.model")


@dataclass(frozen=True, kw_only=True)
class MetricX(FirstTokenMetric):
    """The predicted error score of a translation, 0 to 25, the lower the better (macro).

    Attributes:
        version: The generation of the model: "24", or "23".
        against: What the translation is held against: "24" takes reference and source, either, or
            `both`; "23" one of them, each with models of its own.
        tokenizer: Where the model's own files have no tokenizer, that of this model.
    """

    averaging = "macro"
    checkpoints = tuple(
        Checkpoint(f"google/metricx-{name}", "google/mt5-xl")
        for name in (
            "24-hybrid-large-v2p6",
            "24-hybrid-xl-v2p6",
            "24-hybrid-xxl-v2p6",
            "23-large-v2p0",
            "23-xl-v2p0",
            "23-xxl-v2p0",
            "23-qe-large-v2p0",
            "23-qe-xl-v2p0",
            "23-qe-xxl-v2p0",
        )
    )

    version: Literal["24", "23"] = "24"
    against: Literal["both", "reference", "source"] = "both"
    tokenizer: ModelName = "google/mt5-xl"

    def __post_init__(self) -> None:
        """Check that the model reads what it is to be given."""
        super().__post_init__()
        if self.version == "23" and self.against == "both":
            raise ParameterError(
                self.name, "against", "both", "'reference' or 'source' with version='23'"
            )
        name = (self.model or "").lower()
        for version in _LIMITS:
            if f"metricx-{version}" in name and version != self.version:
                raise ParameterError(
                    self.name, "version", self.version, f"{version!r} for {self.model}"
                )
        if "metricx-23" in name and ("-qe-" in name) != (self.against == "source"):
            right = "source" if "-qe-" in name else "reference"
            raise ParameterError(self.name, "against", self.against, f"{right!r} for {self.model}")

    def inputs(self) -> tuple[str, ...]:
        """The prediction and what it is held against."""
        both = ("source", "reference")
        return ("prediction", *(both if self.against == "both" else (self.against,)))

    def default_model(self) -> str:
        """The smallest one of the version."""
        if self.version == "24":
            return "google/metricx-24-hybrid-large-v2p6"
        quality = "qe-" if self.against == "source" else ""
        return f"google/metricx-23-{quality}large-v2p0"

    def limit(self) -> int:
        """The number of tokens that the models were trained with."""
        return _LIMITS[self.version]

    def seq2seq(self) -> Seq2Seq:
        """The model with its tokenizer, loaded once a process."""
        return seq2seq_of(self.files(), self.dtype, self._words())

    def resolved(self) -> Mapping[str, object]:
        """The model's files, and those of its tokenizer if they are others."""
        words = self._words()
        other = {"tokenizer": f"{words.name}@{words.revision}"} if words else {}
        return {**super().resolved(), **other}

    def measure(
        self, prediction: Texts, source: Texts | None = None, reference: Texts | None = None
    ) -> Measured:
        """The error score of each prediction, and whether its text was cut, (N,)."""
        none = [""] * len(prediction)
        texts = [
            self._text(*row)
            for row in zip(prediction, source or none, reference or none, strict=True)
        ]
        answers = self.first_tokens(texts, [_TOKEN], end=False)
        errors = np.clip(answers.logits[:, 0], 0, _WORST)
        # The authors' program takes an empty source beside a reference.
        which = "source" if self.against == "source" else "reference"
        needed = (source if which == "source" else reference) or none
        blank = [row for row, text in enumerate(needed) if not text.strip()]
        errors[blank] = np.nan
        values = {"errors": errors, **noted(predictions=answers.flaws)}
        return Measured(values, dict.fromkeys(blank, f"the {which} is empty"))

    def score(self, errors: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": errors / count}

    def _text(self, prediction: str, source: str, reference: str) -> str:
        """The text that the model reads."""
        if self.version == "23":
            other = source if self.against == "source" else reference
            return f"candidate: {prediction} {self.against}: {other}"
        end = "" if self.against == "source" else f" reference: {reference}"
        return f"source: {source} candidate: {prediction}{end}"

    def _words(self) -> ModelFiles | None:
        if self.files().file(*_WORDS):
            return None
        try:
            return find_model(self.tokenizer, needed_by=self.name, weights=False)
        except MissingModel as error:
            # Its weights are larger than the model's own, and of no use.
            get = error.get.replace("metrichub fetch", "metrichub fetch --no-weights")
            raise MissingModel(self.name, self.tokenizer, get) from None
