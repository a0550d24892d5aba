"""What is correlated: scores and ratings of the same samples, laid out by system and item."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import Options
from metrichub.agreement.layout import Layout
from metrichub.agreement.levels import LABELS
from metrichub.agreement.permutation import AgreementTest, Swapped, permutation_test
from metrichub.agreement.ratings import Ratings, read_ratings, read_scores
from metrichub.agreement.verdicts import VerdictAgreement, verdict_agreement
from metrichub.errors import InputError, ParameterError

Array = NDArray[np.float64]
Many = Mapping[str, Any]
DIRECTIONS = ("higher", "lower", "neither")


class Place(NamedTuple):
    """What a value is about: the dimension that people rated, the level and the coefficient."""

    dimension: str
    level: str
    coefficient: str


class DataFacts(NamedTuple):
    """The size of the data, and a hash of people's ratings with their systems and items.

    `systems` is 1 where nobody says which system made an output.
    """

    samples: int
    systems: int
    items: int
    raters: int
    sha256: str


@dataclass(frozen=True)
class Inputs:
    """Scores of metrics and ratings of dimensions, of the same samples.

    Scores of which lower is better are negated. `better` keeps the directions, and `cut` is the
    score from which a metric says yes, or down to which where lower is better.
    """

    layout: Layout
    scores: Mapping[str, Array]
    human: Mapping[str, Ratings]
    better: Mapping[str, str]
    options: Options
    yes_from: float | None
    cut: float | None

    @classmethod
    def of(
        cls,
        scores: Any,
        human: Any,
        labels: tuple[Iterable[Any] | None, Iterable[Any] | None],
        better: str | Mapping[str, str],
        options: Options,
        yes_from: float | None,
    ) -> Inputs:
        """The inputs, checked; `labels` are the items and the systems of the samples."""
        metrics: Many = dict(scores) if isinstance(scores, Mapping) else {"score": scores}
        ratings: Many = dict(human) if isinstance(human, Mapping) else {"human": human}
        if not metrics or not ratings:
            raise InputError(f"there are no {'ratings' if metrics else 'scores'} to correlate")
        if getattr(next(iter(metrics.values())), "ndim", 1) == 2:
            if any(label is not None for label in labels):
                raise InputError(
                    "a matrix has systems as rows and items as columns; leave out item and system"
                )
            metrics, ratings, labels = _flattened(metrics, ratings)
        first = next(iter(metrics.values()))
        size = len(list(first))
        read = {name: read_scores(name, values, size) for name, values in metrics.items()}
        directions = check_directions(metrics, better)
        return cls(
            Layout.of(size, *labels),
            {name: -x if directions[name] == "lower" else x for name, x in read.items()},
            {name: read_ratings(name, values, size) for name, values in ratings.items()},
            directions,
            # Scores become 1 and -1 by their own cut, so that all metrics have that in between.
            options if options.cut is None else options._replace(cut=0.0),
            yes_from,
            options.cut,
        )

    def sides(self, metric: str, dimension: str, coefficient: str) -> tuple[Array, Array]:
        """A metric's scores and people's ratings as matrices (S, I)."""
        scores = self.scores[metric]
        if coefficient == "balanced_accuracy" and self.cut is not None:
            yes = np.where(scores >= self._sign(metric) * self.cut, 1.0, -1.0)
            scores = np.where(np.isnan(scores), np.nan, yes)
        return self.layout.matrix(scores), self.ratings(dimension, coefficient)

    def verdicts(self, metric: str, dimension: str, confidence: float) -> VerdictAgreement:
        """A metric's yes and no by the cut beside people's."""
        if self.cut is None:
            raise ParameterError(None, "cut", None, "the score from which a text counts as good")
        labels = self.human[dimension].labels(dimension, self.yes_from).majority()
        cut = self._sign(metric) * self.cut
        return verdict_agreement(self.scores[metric], labels, cut=cut, confidence=confidence)

    def _sign(self, metric: str) -> int:
        return -1 if self.better[metric] == "lower" else 1

    def ratings(self, dimension: str, coefficient: str) -> Array:
        """The mean of people's ratings as (S, I), or what most said of labels."""
        ratings = self.human[dimension]
        if coefficient in LABELS:
            return self.layout.matrix(ratings.labels(dimension, self.yes_from).majority())
        return self.layout.matrix(ratings.mean)

    def raters(self, dimension: str, coefficient: str) -> list[Array]:
        """Each rater's ratings as a matrix (S, I)."""
        ratings = self.human[dimension]
        if coefficient in LABELS:
            ratings = ratings.labels(dimension, self.yes_from)
        return [self.layout.matrix(ratings.table[:, k]) for k in range(ratings.raters)]

    def test(
        self, metrics: tuple[str, str], place: Place, swap: str | None, draws: int, seed: int
    ) -> AgreementTest:
        """The permutation test of two metrics; what is swapped fits the data unless it is said."""
        if swap is None:
            whole = self.layout.named_systems and place.coefficient != "acc_eq_calibrated"
            swap = "systems_xor_items" if whole else "items"
        first, human = self.sides(metrics[0], place.dimension, place.coefficient)
        second, _ = self.sides(metrics[1], place.dimension, place.coefficient)
        how = Swapped(swap, draws, seed)
        return permutation_test(
            place.level, place.coefficient, first, second, human, how, self.options
        )

    def unscored(self, metric: str, dimension: str) -> int:
        """How many rated samples a metric has no score of."""
        rated = ~np.isnan(self.human[dimension].mean)
        return int((rated & np.isnan(self.scores[metric])).sum())

    def facts(self) -> DataFacts:
        """The size of the data and its hash."""
        layout = self.layout
        cells = sorted(
            json.dumps(
                [
                    str(layout.systems[layout.row[at]]),
                    str(layout.items[layout.column[at]]),
                    {name: known_values(r.table[at]) for name, r in sorted(self.human.items())},
                ]
            )
            for at in range(layout.size)
        )
        digest = hashlib.sha256("\n".join(cells).encode()).hexdigest()
        raters = max(ratings.raters for ratings in self.human.values())
        systems = len(layout.systems) if layout.named_systems else 1
        return DataFacts(layout.size, systems, len(layout.items), raters, digest)


def check_directions(metrics: Iterable[str], better: str | Mapping[str, str]) -> dict[str, str]:
    """The direction of every metric, higher where none is given.

    Raises:
        ParameterError: another word.
    """
    named = {name: better for name in metrics} if isinstance(better, str) else better
    directions = {name: named.get(name, "higher") for name in metrics}
    for name, direction in directions.items():
        if direction not in DIRECTIONS:
            raise ParameterError(name, "better", direction, ", ".join(DIRECTIONS))
    return directions


def known_values(row: Array) -> list[float]:
    """The values of a row that aren't `nan`."""
    return [value for value in row.tolist() if not isnan(value)]


def _flattened(
    metrics: Many, ratings: Many
) -> tuple[Many, Many, tuple[Iterable[Any], Iterable[Any]]]:
    """Matrices (S, I) as columns of samples, with the item and the system of each."""
    shape = np.shape(next(iter(metrics.values())))
    for name, values in {**metrics, **ratings}.items():
        if np.shape(values)[:2] != shape:
            raise InputError(f"{name} has the shape {np.shape(values)}, not {shape}")
    systems, items = np.indices(shape)
    flat = {name: np.asarray(values, np.float64).ravel() for name, values in metrics.items()}
    rated = {
        name: np.asarray(values, np.float64).reshape(shape[0] * shape[1], -1)
        for name, values in ratings.items()
    }
    return flat, rated, (items.ravel(), systems.ravel())
