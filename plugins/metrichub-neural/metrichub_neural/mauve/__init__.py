"""MAUVE: how close the distribution of predictions is to that of references, by a model."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from metrichub.authoring import Checkpoint, CorpusMetric, Range, Unscored
from metrichub.text import RaggedTexts, spans, well_formed
from metrichub_neural.engine.causal import LastVector, causal_of
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.whole import WholeMetric
from metrichub_neural.mauve.divergence import curve_area, frontier_integral
from metrichub_neural.mauve.quantization import Points, histograms, reduced

FEW = 1_000
"""Below so many texts of either kind, the score says more of their number than of them."""
_KINDS = ("predictions", "references")
Point = tuple[int, int, str]
"""A text's hash, its flaws, and its vector.

The vector is 32-bit numbers in base 64, which keeps saved reports small. Points are sorted by the
hash, so that the order of samples changes nothing.
"""
Row = tuple[tuple[Point, ...], tuple[Point, ...]]
"""A sample's predictions and references."""


class Settings(NamedTuple):
    """How two sets of vectors are compared; see `Mauve`."""

    clusters: int | None = None
    scaling: float = 5.0
    variance: float = 0.9
    seeds: int = 5


@dataclass(frozen=True, kw_only=True)
class Mauve(WholeMetric, CorpusMetric):
    """The area under the divergence curve of predictions and references (Pillutla et al., 2021).

    Attributes:
        model: The causal model whose vectors stand for texts: a name on the Hugging Face hub, a
            folder, or an installed package; it has to be on this machine.
        max_tokens: How many tokens of each text are read; all that the model takes unless given.
        clusters: How many clusters the texts are put into; a tenth of the smaller set unless given.
        scaling: The constant by which divergences are multiplied; larger ones tell distributions
            apart that are alike.
        variance: The share of the vectors' variance that is kept before they are clustered.
        seeds: How often the texts are clustered, each time with another seed, for the mean.
    """

    checkpoints = (Checkpoint("gpt2-large"), Checkpoint("gpt2"))
    resamples: ClassVar[bool] = False
    testable: ClassVar[bool] = False

    model: ModelName = "gpt2-large"
    max_tokens: Annotated[int, Range(1)] | None = None
    clusters: Annotated[int, Range(2)] | None = None
    scaling: Annotated[float, Range(1e-3, 1e3)] = 5.0
    variance: Annotated[float, Range(0, 1)] = 0.9
    seeds: Annotated[int, Range(1, 100)] = 5

    def measure(self, predictions: RaggedTexts, references: RaggedTexts) -> list[Row | Unscored]:
        """The vectors of each sample's predictions and references."""
        vectors = causal_of(self.files(), self.dtype).vectors(
            [*predictions.items, *references.items], self.max_tokens
        )
        texts = chain(predictions.items, references.items)
        points = [_point(text, each) for text, each in zip(texts, vectors, strict=True)]
        start = len(predictions.items)
        rows = zip(spans(predictions.offsets), spans(references.offsets), strict=True)
        return [_row(points[a:b], points[start + c : start + d]) for (a, b), (c, d) in rows]

    def limit(self) -> int:
        """How many tokens of a text the model reads."""
        most = super().limit()
        return min(self.max_tokens or most, most)

    def conclude(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The mean over the seeds, and how far they differ; `nan` without rows."""
        if not rows:
            return dict.fromkeys(self.outputs(), float("nan"))
        settings = Settings(self.clusters, self.scaling, self.variance, self.seeds)
        return compared(_points(rows), settings)

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """Only `nan`: a sample alone has no distribution."""
        return {output: [float("nan")] * len(rows) for output in self.outputs()}

    def notes_of_rows(self, rows: Sequence[Row]) -> Sequence[str]:
        """How many texts were cut, and whether there are too few of them."""
        sides = [list(chain.from_iterable(row[side] for row in rows)) for side in (0, 1)]
        flaws = {
            kind: [each for _, each, _ in points]
            for kind, points in zip(_KINDS, sides, strict=True)
        }
        notes = self.notes_of_texts(**flaws)
        if (fewest := min(map(len, sides))) < FEW:
            notes.append(
                f"{fewest} texts are few; below {FEW:,} predictions and as many references, the "
                "score depends on their number and on the seeds more than on them"
            )
        return notes


def compared(points: Points, settings: Settings) -> dict[str, float]:
    """The scores of two sets of vectors, means over the seeds but for the standard deviation."""
    numbers = np.array([points.p.sum(), points.q.sum()])
    clusters = settings.clusters or max(2, round(float(numbers.min()) / 10))
    if len(points.vectors) > clusters:
        points = reduced(points, settings.variance)
    each = []
    # With a cluster for each vector, nothing is left to chance.
    for seed in range(settings.seeds if len(points.vectors) > clusters else 1):
        counts = np.stack(histograms(points, clusters, seed))
        p, q = counts / numbers[:, None]
        smooth = (counts + 0.5) / (numbers[:, None] + counts.shape[1] / 2)
        each.append(
            (
                curve_area(p, q, settings.scaling),
                curve_area(smooth[0], smooth[1], settings.scaling),
                frontier_integral(p, q),
            )
        )
    score, star, integral = np.mean(each, axis=0).tolist()
    deviation = float(np.std([scores[0] for scores in each]))
    return {
        "score": score,
        "standard_deviation": deviation,
        "mauve_star": star,
        "frontier_integral": integral,
    }


def _point(text: str, last: LastVector) -> Point:
    digest = blake2b(well_formed(text).encode(), digest_size=8).digest()
    vector = b64encode(last.vector.astype("<f4").tobytes()).decode()
    return int.from_bytes(digest), last.flaws, vector


def _row(predictions: Sequence[Point], references: Sequence[Point]) -> Row | Unscored:
    row = tuple(tuple(point for point in side if point[2]) for side in (predictions, references))
    if not row[1]:
        return Unscored("no reference has tokens")
    if not row[0]:
        return Unscored("the prediction has no tokens", "no_tokens")
    return row[0], row[1]


def _points(rows: Sequence[Row]) -> Points:
    """The distinct texts of all rows in the order of their hashes."""
    vectors: dict[int, str] = {}
    counts: dict[int, list[float]] = {}
    for row in rows:
        for side in (0, 1):
            for digest, _, vector in row[side]:
                vectors.setdefault(digest, vector)
                counts.setdefault(digest, [0.0, 0.0])[side] += 1
    order = sorted(vectors)
    matrix = [np.frombuffer(b64decode(vectors[digest]), "<f4") for digest in order]
    p, q = np.array([counts[digest] for digest in order]).T
    return Points(np.stack(matrix).astype(np.float64), p, q)
