"""Samples of which the true score is known: rare labels, means near their end, heavy tails.

They are drawn for `benchmarks.coverage`, scored by a hub as any samples are, and every case says
how often at least its intervals should hold the true score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import exp, isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub import Hub

Array = NDArray[np.float64]
Columns = dict[str, list[Any]]
Draw = Callable[[np.random.Generator, int], Columns]
BOUND = 0.93
"""What intervals at 95% should hold at least, where a case says nothing else."""


class Case(NamedTuple):
    """A distribution and its metric, the true scores by output, and bounds by size."""

    of: str
    spec: str
    sizes: Sequence[int]
    draw: Draw
    true: Mapping[str, float]
    bounds: Mapping[int, float] = {}

    def held(self, size: int, runs: int, seed: int) -> dict[str, list[bool | None]]:
        """Whether each interval holds the true score, by output; None for no interval."""
        hub, random = Hub(f"x = {self.spec}"), np.random.default_rng([seed, size])
        held: dict[str, list[bool | None]] = {output: [] for output in self.true}
        for _ in range(runs):
            report = hub.evaluate(self.draw(random, size))
            intervals = report.intervals(seed=int(random.integers(2**31)))["x"]
            for output, true in self.true.items():
                low, high = intervals[output].ends
                held[output].append(None if isnan(low) else low - 1e-9 <= true <= high + 1e-9)
        return held


def _labels(rates: Sequence[float], right: float, output: Sequence[str]) -> Case:
    """Labels at these rates, `right` of which are predicted and the others by chance."""
    chances = np.array(rates)
    cells = chances[:, None] * (right * np.eye(len(rates)) + (1 - right) * chances)
    hit, recall = np.diag(cells), np.diag(cells) / chances
    # Predictions have the rates of the references here, so that precision and F1 are the recall.
    true = {
        "accuracy": float(hit.sum()),
        **dict.fromkeys(("balanced_accuracy", "macro_f1"), float(recall.mean())),
    }
    name = f"labels {' '.join(f'{rate:g}'.lstrip('0') for rate in rates)}, {right:.0%} right"
    draw = partial(_drawn_labels, cells)
    return Case(name, "classification", (50, 100, 200, 500), draw, {o: true[o] for o in output})


def _drawn_labels(cells: Array, random: np.random.Generator, size: int) -> Columns:
    place = random.choice(cells.size, size, p=cells.ravel())
    expected, predicted = np.divmod(place, len(cells))
    return {"references": expected.tolist(), "predictions": predicted.tolist()}


def _marks(full: float, steps: int, top: float = 1.0) -> Case:
    """A share of full marks, and others: uniform without steps, or lower grades of so many."""
    chance = 0.5 if not steps else (steps - 2) / (steps - 1) / 2
    low, name = (1, f"grades 1 to {steps}") if top > 1 else (0, f"{steps} grades")
    true = low + (top - low) * (full + (1 - full) * chance)
    spec = f"recorded(column='s', better='higher', range=[{low}, {top:g}])"
    draw = partial(_drawn_marks, full, steps, low, top)
    of = f"{full:.0%} full marks, {name if steps else 'others uniform'}"
    return Case(of, spec, (20, 50, 99, 100, 150, 200, 500), draw, {"score": true}, {20: 0.92})


def _drawn_marks(
    full: float, steps: int, low: float, top: float, random: np.random.Generator, size: int
) -> Columns:
    others = random.integers(0, steps - 1, size) / (steps - 1) if steps else random.random(size)
    marks = np.where(random.random(size) < full, 1.0, others)
    return {"s": (low + (top - low) * marks).tolist()}


WORDS, WRONG, LOOPS, LOOP = 15, 0.05, 0.02, 100
"""Words of a text, shares of wrong words and of texts that end in a loop, and its words."""


def _drawn_loops(random: np.random.Generator, size: int) -> Columns:
    reference = " ".join(f"w{k}" for k in range(WORDS))
    predictions = []
    for _ in range(size):
        wrong = random.random(WORDS) < WRONG
        words = [f"{'x' if bad else 'w'}{k}" for k, bad in enumerate(wrong)]
        predictions.append(" ".join([*words, *["loop"] * (LOOP * (random.random() < LOOPS))]))
    return {"predictions": predictions, "references": [reference] * size}


def _drawn_lognormal(random: np.random.Generator, size: int) -> Columns:
    return {"s": random.lognormal(size=size).tolist()}


AVERAGES = ("balanced_accuracy", "macro_f1")
LABELS = [
    *(_labels((1 - rare, rare), 0.9, ("accuracy", *AVERAGES)) for rare in (0.02, 0.05, 0.1)),
    _labels((0.9, 0.1), 0.7, ("accuracy", *AVERAGES)),
    _labels((0.7, 0.2, 0.07, 0.03), 0.7, ("accuracy", *AVERAGES)),
]
ENDS = [
    *(_marks(full, steps) for full in (0.95, 0.97) for steps in (0, 5)),
    _marks(0.95, 5, 5.0),
    _marks(0.6, 5, 5.0),
]
TAILS = [
    Case(
        "WER, 2% of the texts loop",
        "wer",
        (20, 50, 100, 200, 500),
        _drawn_loops,
        {"score": WRONG + LOOPS * LOOP / WORDS},
        {20: 0.3, 50: 0.55, 100: 0.75, 200: 0.85, 500: 0.9},
    ),
    Case(
        "lognormal",
        "recorded(column='s', better='lower', range=[0, None])",
        (8, 20, 99, 100, 500),
        _drawn_lognormal,
        {"score": exp(0.5)},
        {8: 0.78, 20: 0.82, 99: 0.9, 100: 0.9},
    ),
]
"""No method sees a tail that isn't in the samples: these bounds are what comes of it."""
