"""Scores of metrics beside people's ratings of the same samples, or preferences between outputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import LABELS, PAIRS, Options
from metrichub.agreement.interval_rules import DrawnUnits
from metrichub.agreement.levels import Value, mean_of, value_at
from metrichub.agreement.permutation import AgreementTest, Swapped, permutation_test
from metrichub.agreement.preference_votes import Sides, read_sides
from metrichub.agreement.rating_matrix import OutputPairs, RatingMatrix
from metrichub.agreement.ratings import Ratings, read_ratings, read_scores
from metrichub.agreement.verdicts import VerdictAgreement, verdict_agreement
from metrichub.errors import InputError, ParameterError

Array = NDArray[np.float64]
Many = Mapping[str, Any]
DIRECTIONS = ("higher", "lower", "neither")


class Place(NamedTuple):
    """The subject of a value: the dimension that people rated, the level and the coefficient."""

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
    """Scores of metrics and ratings of dimensions, of the same samples or pairs of outputs.

    Scores of which lower is better are negated; those of pairs are 1, -1 or 0, as the metric
    prefers a, b or neither. `better` keeps the directions, and `cut` is the score from which a
    metric says yes, or down to which where lower is better.
    """

    places: RatingMatrix | OutputPairs
    scores: Mapping[str, Array]
    human: Mapping[str, Ratings]
    better: Mapping[str, str]
    options: Options
    yes_from: float | None = None
    cut: float | None = None

    @classmethod
    def of_ratings(
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
        size = len(list(next(iter(metrics.values()))))
        columns = {name: read_scores(name, values, size) for name, values in metrics.items()}
        directions = check_directions(metrics, better)
        return cls(
            RatingMatrix.of(size, *labels),
            {name: -x if directions[name] == "lower" else x for name, x in columns.items()},
            {name: read_ratings(name, values, size) for name, values in ratings.items()},
            directions,
            # Scores become 1 and -1 by their own cut, so that all metrics have that in between.
            options if options.cut is None else options._replace(cut=0.0),
            yes_from,
            options.cut,
        )

    @classmethod
    def of_preferences(
        cls,
        scores: Any,
        preferred: Any,
        item: Iterable[Any] | None,
        systems: tuple[Sequence[Any], Sequence[Any]] | None,
        better: str | Mapping[str, str],
    ) -> Inputs:
        """The inputs of P pairs, checked; `systems` are those of all a and of all b."""
        metrics: Many = scores if isinstance(scores, Mapping) else {"score": scores}
        named: Many = preferred if isinstance(preferred, Mapping) else {"preferred": preferred}
        if not metrics or not named:
            raise InputError(f"there are no {'preferences' if metrics else 'scores'} to correlate")
        human = {name: Sides(read_sides(name, list(values))) for name, values in named.items()}
        size = len(next(iter(human.values())).table)
        directions = check_directions(metrics, better)
        items = list(range(size)) if item is None else list(item)
        lengths = [(name, len(sides.table)) for name, sides in human.items()]
        lengths += [("item", len(items))]
        lengths += [("systems", len(side)) for side in systems or ()]
        for name, length in lengths:
            if length != size:
                raise InputError(f"{name} has {length} values for {size} pairs")
        preferences = {name: _preferences(name, values, size) for name, values in metrics.items()}
        pairs = OutputPairs.of(items, systems)
        return cls(
            pairs,
            {name: -x if directions[name] == "lower" else x for name, x in preferences.items()},
            human,
            directions,
            Options(pairs=pairs),
        )

    def value(self, metric: str, place: Place) -> Value:
        """The agreement of a metric with people."""
        sides = self.sides(metric, place.dimension, place.coefficient)
        return value_at(place.level, place.coefficient, *sides, self.options)

    def ceiling(self, place: Place) -> float:
        """The agreement of a rater with the others together, the mean over raters.

        `nan` with one rater. A metric is compared with all raters, a rater with one fewer, so that
        the ceiling is a little low.
        """
        dimension, level, name = place
        ratings, options = self._rated(dimension, name), self.options
        if ratings.raters < 2:
            return float("nan")
        if name == "balanced_accuracy":
            options = options._replace(cut=0.5)
        values = []
        for k in range(ratings.raters):
            rater, others = ratings.table[:, k], ratings.without(k).consensus
            sides = self.places.arranged(rater), self.places.arranged(others)
            values.append(value_at(level, name, *sides, options).value)
        return mean_of(np.array(values))

    def sides(self, metric: str, dimension: str, coefficient: str) -> tuple[Array, Array]:
        """A metric's scores and people's ratings: (S, I), of pairs (P,)."""
        scores = self.scores[metric]
        if coefficient == "balanced_accuracy" and self.cut is not None:
            yes = np.where(scores >= self._sign(metric) * self.cut, 1.0, -1.0)
            scores = np.where(np.isnan(scores), np.nan, yes)
        return self.places.arranged(scores), self.ratings(dimension, coefficient)

    def ratings(self, dimension: str, coefficient: str) -> Array:
        """People's ratings as (S, I), of labels and pairs what most of them say."""
        return self.places.arranged(self._rated(dimension, coefficient).consensus)

    def _rated(self, dimension: str, coefficient: str) -> Ratings:
        ratings = self.human[dimension]
        return ratings.labels(dimension, self.yes_from) if coefficient in LABELS else ratings

    def verdicts(self, metric: str, dimension: str, confidence: float) -> VerdictAgreement:
        """A metric's yes and no by the cut beside people's."""
        if isinstance(self.places, OutputPairs):
            raise InputError("only yes/no labels have verdicts")
        if self.cut is None:
            raise ParameterError(None, "cut", None, "the score from which a text counts as good")
        labels = self.human[dimension].labels(dimension, self.yes_from).consensus
        cut = self._sign(metric) * self.cut
        return verdict_agreement(self.scores[metric], labels, cut=cut, confidence=confidence)

    def _sign(self, metric: str) -> int:
        return -1 if self.better[metric] == "lower" else 1

    def test(
        self, metrics: tuple[str, str], place: Place, swap: str | None, draws: int, seed: int
    ) -> AgreementTest:
        """The permutation test of two metrics; by default it swaps what fits the data."""
        dimension, level, name = place
        if swap is None:
            by_systems = self.places.named_systems and name != "acc_eq_calibrated"
            swap = "systems_xor_items" if by_systems and level != PAIRS else "items"
        first, human = self.sides(metrics[0], dimension, name)
        second, _ = self.sides(metrics[1], dimension, name)
        how = Swapped(swap, draws, seed)
        return permutation_test(level, name, first, second, human, how, self.options)

    def unscored(self, metric: str, dimension: str) -> int:
        """How many rated samples a metric has no score of."""
        rated = ~np.isnan(self.human[dimension].consensus)
        return int((rated & np.isnan(self.scores[metric])).sum())

    def units(self, draw: str, used: int, scored: NDArray[np.bool_]) -> DrawnUnits:
        """The items and systems of the samples that have scores and ratings, as `sides` has them.

        `used` groups have a value; of pairs each is one.
        """
        places = self.places
        if isinstance(places, RatingMatrix):
            return DrawnUnits(draw, int(scored.any(0).sum()), int(scored.any(1).sum()), used)
        systems = np.union1d(places.first[scored], places.second[scored])
        number = len(systems) if places.has_systems else 0
        return DrawnUnits(draw, len(np.unique(places.item[scored])), number, int(scored.sum()))

    def facts(self) -> DataFacts:
        """The size of the data and its hash."""
        places, human = self.places, sorted(self.human.items())
        cells = sorted(
            json.dumps([*map(str, labels), {k: _without_nan(r.table[at]) for k, r in human}])
            for at, labels in enumerate(places.labels())
        )
        digest = hashlib.sha256("\n".join(cells).encode()).hexdigest()
        raters = max(ratings.raters for ratings in self.human.values())
        systems = len(places.systems) if places.named_systems else 1
        return DataFacts(len(cells), systems, len(places.items), raters, digest)


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


def _without_nan(row: Array) -> list[float]:
    return [value for value in row.tolist() if not isnan(value)]


def _preferences(name: str, values: Any, size: int) -> Array:
    """Which output of each pair a metric prefers, by both scores or by its own verdicts."""
    if len(values) == 2 and not any(isinstance(value, str) or value is None for value in values):
        a = read_scores(f"{name} of a", values[0], size)
        b = read_scores(f"{name} of b", values[1], size)
        return np.asarray(np.sign(a - b))
    if len(values) != size:
        raise InputError(f"{name} has {len(values)} verdicts for {size} pairs")
    return Sides(read_sides(name, list(values))).consensus


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
