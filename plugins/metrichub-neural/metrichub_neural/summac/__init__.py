"""SummaC: how far a source's sentences entail a summary's (Laban et al., 2022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from metrichub.authoring import Array, Checkpoint, LocalPath, Measured, Published, Scores
from metrichub.errors import ModelError
from metrichub.text import Texts
from metrichub_neural.engine.classifier import classifier_of
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.entailment import choose_entailment
from metrichub_neural.engine.flaws import flaws_of, noted, whole
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.whole import WholeMetric
from metrichub_neural.local_models import ModelFiles
from metrichub_neural.summac.convolution import Bins, Head, published_head, read_head
from metrichub_neural.summac.granularity import Granularity, units

VITAMINC = "tals/albert-xlarge-vitaminc-mnli"
_XLARGE = ("albert", 2048)
"""Kind and width of the model that the published head was trained on."""
LIMIT, UNITS = 500, 100
"""How many tokens a pair has at most, and how many units of the source are read."""

Operation = Literal["max", "mean", "min"]
_OPERATIONS: dict[Operation, Callable[..., Any]] = {"max": np.max, "mean": np.mean, "min": np.min}
Image = NDArray[np.float64]
"""Probabilities of entailment and contradiction for each pair of units, (source, prediction, 2)."""

_MARS = (
    "Scientists are studying Mars to learn about the Red Planet and find landing sites for future "
    "missions.\nOne possible site, known as Arcadia Planitia, is covered instrange sinuous "
    "features.\nThe shapes could be signs that the area is actually made of glaciers, which are "
    "large masses of slow-moving ice.\nArcadia Planitia is in Mars' northern lowlands."
)
_SHAPES = (
    "There are strange shape patterns on Arcadia Planitia. The shapes could indicate the area "
    "might be made of glaciers."
)
_IDEAL = f"{_SHAPES} This makes Arcadia Planitia ideal for future missions."


@dataclass(frozen=True, kw_only=True)
class SummaC(WholeMetric):
    """How far the source entails the units of the prediction (macro).

    Attributes:
        model: The model, which classifies pairs and has a label for entailment: a name on the
            Hugging Face hub, a folder, or an installed package; it has to be on this machine.
        variant: `conv` makes a score of histograms of probabilities, by a head of 32 trained
            numbers; `zs` (zero-shot) of their maxima, and needs no training.
        granularity: The units of both texts: a `sentence`, two sentences that follow each other
            (`2sents`), a `paragraph`, or the whole `document`.
        over_source: How `zs` joins the probabilities by all units of the source (op1).
        over_prediction: How `zs` joins the scores of the prediction's units (op2).
        contradiction: Whether `zs` takes the probability of contradiction off that of entailment.
        head: Another head of `conv`: a file of safetensors with `mlp` and `layer_final`.
        bins: The bins of another head: the authors' 23, or 50 of equal width.
        labels: The labels that another head reads: entailment, or contradiction, too.
    """

    averaging = "macro"
    where_cut = ", in a pair with a part of the source"
    checkpoints = (Checkpoint(VITAMINC),)
    published = tuple(
        Published(
            "README of github.com/tingofurro/summac at c1f3da9",
            {"variant": variant},
            {"predictions": [_IDEAL, _SHAPES], "sources": [_MARS, _MARS]},
            {"score": scores},
            # Rounded to three digits, by other versions of PyTorch.
            0.001,
        )
        for variant, scores in (("zs", [0.582, 0.877]), ("conv", [0.536, 0.709]))
    )

    model: ModelName = VITAMINC
    variant: Literal["conv", "zs"] = "conv"
    granularity: Granularity = "sentence"
    over_source: Operation = "max"
    over_prediction: Operation = "mean"
    contradiction: bool = True
    head: Annotated[str, LocalPath()] | None = None
    bins: Bins = "percentile"
    labels: Literal["e", "ec"] = "e"

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """The score of each prediction, and whether one of its pairs was cut, (N,)."""
        images, flaws = self._images(prediction, source)
        score = self._convolved if self.variant == "conv" else self._zero_shot
        values = np.array([score(image) for image in images], np.float64)
        blank = [row for row, text in enumerate(source) if not text.strip()]
        values[blank] = np.nan
        return Measured(
            {
                "value": values,
                "noted_without_units": np.array([not image.size for image in images], np.float64),
                **noted(predictions=flaws),
            },
            dict.fromkeys(blank, "the source is empty"),
        )

    def score(self, value: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": value / count}

    def limit(self) -> int:
        """How many tokens of a pair the model reads."""
        return min(LIMIT, super().limit())

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many predictions were cut, and how many had nothing to check."""
        notes = [*super().notes(totals)]
        if without := whole(totals["noted_without_units"]):
            notes.append(
                f"{without} of {whole(totals['noted_texts'])} predictions were compared "
                "with nothing: they, or their sources, have no unit of over 10 characters"
            )
        return notes

    def _images(self, prediction: Texts, source: Texts) -> tuple[list[Image], list[int]]:
        files = self.files()
        yes, no = choose_entailment(files)
        sides = [
            (units(document, self.granularity)[:UNITS], units(text, self.granularity))
            for document, text in zip(source, prediction, strict=True)
        ]
        pairs = [pair for side in sides for pair in product(*side)]
        rows = classifier_of(files, self.dtype).of_pairs(pairs, LIMIT, only_first=True)
        read = [yes, yes if no is None else no]
        both = np.array([row.probabilities[read] for row in rows], np.float64).reshape(-1, 2)
        images, flaws, start = [], [], 0
        for premises, hypotheses in sides:
            stop = start + len(premises) * len(hypotheses)
            images.append(both[start:stop].reshape(len(premises), len(hypotheses), 2))
            flaws.append(flaws_of(rows[start:stop]))
            start = stop
        return images, flaws

    def _zero_shot(self, image: Image) -> float:
        if not image.size:
            return 0.0
        by_label = _OPERATIONS[self.over_source](image, axis=0)
        scores = by_label[:, 0] - by_label[:, 1] * self.contradiction
        return float(_OPERATIONS[self.over_prediction](scores))

    def _convolved(self, image: Image) -> float:
        # The authors' program sees an image of zeros.
        image = image if image.size else np.zeros((1, 1, 2))
        return self._head().score(image[:, :, : len(self.labels)])

    def _head(self) -> Head:
        if self.head is None:
            return published_head()
        return read_head(self.head, self.bins, len(self.labels))

    def resolved(self) -> Mapping[str, object]:
        """The model's files, and the hash of the head's."""
        head = {"head": self._head().digest} if self.variant == "conv" else {}
        return {**super().resolved(), **head}

    def files(self) -> ModelFiles:
        """The model's files, which name the labels that are read."""
        files = super().files()
        _, no = choose_entailment(files)
        reads_both = self.contradiction if self.variant == "zs" else "c" in self.labels
        if reads_both and no is None:
            raise ModelError(
                f"{files.name} has no label for contradiction, which {self.name} needs"
            )
        if self.variant == "conv" and self.head is None:
            config = read_config(files)
            if (config.get("model_type"), config.get("hidden_size")) != _XLARGE:
                raise ModelError(
                    f"{files.name} isn't {VITAMINC}, on which the published head of {self.name} "
                    "was trained; choose variant='zs', or give the head of this model as head='…'"
                )
        return files
