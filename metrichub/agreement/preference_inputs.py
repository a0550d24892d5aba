"""PairInputs: how metrics and people order pairs of outputs, and what is drawn and swapped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.bootstrap import Drawn, draw_counts
from metrichub.agreement.interval_rules import DrawnUnits
from metrichub.agreement.pair_coefficients import coefficient_of, outcomes_of
from metrichub.agreement.permutation import AgreementTest
from metrichub.agreement.preference_votes import most, read_sides
from metrichub.agreement.rating_inputs import DataFacts, Place, check_directions, known_values
from metrichub.agreement.ratings import read_scores
from metrichub.errors import InputError, ParameterError

Array = NDArray[np.float64]
_CELLS = 2_000_000


class _Codes(NamedTuple):
    """What each pair belongs to, by numbers, and how many of them there are."""

    of: tuple[NDArray[np.int64], ...]
    size: int


@dataclass(frozen=True)
class PairInputs:
    """How metrics and people order P pairs: 1 for a, -1 for b, 0 for a tie, `nan` for nothing.

    `leads` are those of metrics (P,), `human` those of people (P, R); directions are in `better`.
    """

    leads: Mapping[str, Array]
    human: Mapping[str, Array]
    better: Mapping[str, str]
    item: tuple[Hashable, ...]
    systems: tuple[tuple[Hashable, ...], tuple[Hashable, ...]] | None

    @classmethod
    def of(
        cls,
        scores: Any,
        preferred: Any,
        item: Iterable[Any] | None,
        systems: tuple[Sequence[Any], Sequence[Any]] | None,
        better: str | Mapping[str, str],
    ) -> PairInputs:
        """The inputs, checked."""
        metrics = scores if isinstance(scores, Mapping) else {"score": scores}
        preferences = preferred if isinstance(preferred, Mapping) else {"preferred": preferred}
        if not metrics or not preferences:
            raise InputError(f"there are no {'preferences' if metrics else 'scores'} to correlate")
        human = {name: read_sides(name, list(values)) for name, values in preferences.items()}
        size = len(next(iter(human.values())))
        directions = check_directions(metrics, better)
        labels = tuple(range(size)) if item is None else tuple(item)
        sides = None if systems is None else (tuple(systems[0]), tuple(systems[1]))
        for name, length in [
            *((name, len(table)) for name, table in human.items()),
            ("item", len(labels)),
            *(("systems", len(side)) for side in sides or ()),
        ]:
            if length != size:
                raise InputError(f"{name} has {length} values for {size} pairs")
        leads = {name: _lead(name, values, size) for name, values in metrics.items()}
        turned = {n: -lead if directions[n] == "lower" else lead for n, lead in leads.items()}
        return cls(turned, human, directions, labels, sides)

    def facts(self) -> DataFacts:
        """The size of the data, and a hash of people's preferences with their items and systems."""
        systems = self.systems or (("a",) * len(self.item), ("b",) * len(self.item))
        human = sorted(self.human.items())
        cells = sorted(
            json.dumps([str(item), str(a), str(b), {k: known_values(v[at]) for k, v in human}])
            for at, (item, a, b) in enumerate(zip(self.item, *systems, strict=True))
        )
        digest = hashlib.sha256("\n".join(cells).encode()).hexdigest()
        raters = max(table.shape[1] for table in self.human.values())
        named = len({*systems[0], *systems[1]}) if self.systems else 1
        return DataFacts(len(self.item), named, len(set(self.item)), raters, digest)

    def outcomes(self, metric: str, dimension: str) -> Array:
        """Each pair as one of nine outcomes (P, 9): the metric's -1, 0 or 1 by people's."""
        return outcomes_of(self.leads[metric], most(self.human[dimension]))

    def units(self, outcomes: Array, draw: str) -> DrawnUnits:
        """Of how many items and systems the pairs are that have an outcome (P, 9)."""
        there = [bool(row.any()) for row in outcomes]
        items = {item for item, has in zip(self.item, there, strict=True) if has}
        systems = {
            system
            for side in self.systems or ()
            for system, has in zip(side, there, strict=True)
            if has
        }
        return DrawnUnits(draw, len(items), len(systems), sum(there))

    def unscored(self, metric: str, dimension: str) -> int:
        """How many pairs that people judged a metric has no order of."""
        judged = ~np.isnan(most(self.human[dimension]))
        return int((judged & np.isnan(self.leads[metric])).sum())

    def resampled(self, dimension: str, how: Drawn) -> dict[str, Array]:
        """Metric -> how often each outcome is in every draw (draws, 9)."""
        outcomes = {metric: self.outcomes(metric, dimension) for metric in self.leads}
        counts: dict[str, list[Array]] = {metric: [np.empty((0, 9))] for metric in outcomes}
        for weights in self._weights(how):
            for metric, of_metric in outcomes.items():
                counts[metric].append(weights @ of_metric)
        return {metric: np.concatenate(parts) for metric, parts in counts.items()}

    def _weights(self, how: Drawn) -> Iterator[Array]:
        """How often each pair is drawn (b, P), by the items and the systems that are."""
        # Two streams, so that the items of a draw don't depend on whether systems are drawn too.
        drawn = []
        if how.draw != "items":
            drawn.append((_codes(self.systems or ()), np.random.default_rng([how.seed, 0])))
        if how.draw != "systems":
            drawn.append((_codes([self.item]), np.random.default_rng([how.seed, 1])))
        step = max(1, _CELLS // max(len(self.item), 1))
        for start in range(0, how.draws, step):
            size = min(step, how.draws - start)
            weights = np.ones((size, len(self.item)))
            for codes, random in drawn:
                counts = draw_counts(random.integers(0, codes.size, (size, codes.size)))
                for of in codes.of:
                    weights *= counts[:, of]
            yield weights

    def test(
        self, metrics: tuple[str, str], place: Place, swap: str | None, draws: int, seed: int
    ) -> AgreementTest:
        """The permutation test that swaps two metrics' verdicts on whole items."""
        if swap not in (None, "items"):
            raise ParameterError(None, "swap", swap, "items: pairs of one item belong together")
        of = coefficient_of(place.coefficient)
        (item,) = _codes([self.item]).of
        order = np.argsort(item, kind="stable")
        first = np.flatnonzero(np.diff(item[order], prepend=-1))
        a, b = (
            np.add.reduceat(self.outcomes(name, place.dimension)[order], first) for name in metrics
        )
        observed = float(of(a.sum(0)[None])[0] - of(b.sum(0)[None])[0])
        if isnan(observed):
            return AgreementTest(observed, float("nan"), "items", 0)
        coins = np.random.default_rng(seed).integers(0, 2, (draws, len(first))).astype(np.float64)
        differences = of(coins @ a + (1 - coins) @ b) - of(coins @ b + (1 - coins) @ a)
        hits = int((np.abs(differences) >= abs(observed) - 1e-12).sum())
        return AgreementTest(observed, (hits + 1) / (draws + 1), "items", draws)


def _lead(name: str, values: Any, size: int) -> Array:
    """Which of each pair a metric puts first, by both scores or by its own verdicts."""
    if len(values) == 2 and not any(isinstance(value, str) or value is None for value in values):
        a = read_scores(f"{name} of a", values[0], size)
        b = read_scores(f"{name} of b", values[1], size)
        return np.asarray(np.sign(a - b))
    if len(values) != size:
        raise InputError(f"{name} has {len(values)} verdicts for {size} pairs")
    return most(read_sides(name, list(values)))


def _codes(labels: Sequence[Sequence[Hashable]]) -> _Codes:
    names = {label: at for at, label in enumerate(dict.fromkeys(x for of in labels for x in of))}
    return _Codes(tuple(np.array([names[x] for x in of], np.int64) for of in labels), len(names))
