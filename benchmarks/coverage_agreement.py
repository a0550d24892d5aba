"""How often the intervals of agreement hold the true coefficient: one section of the coverage.

    python -m benchmarks.coverage_agreement [--sets 500] [--draws 200]

Scores and ratings are normal with a known correlation, as they are or both rounded to five values,
of items of their own (pooled), or of systems whose items are drawn (the mean over items).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from metrichub.agreement import correlate
from metrichub.agreement.coefficients import Options, coefficient

Array = NDArray[np.float64]
ITEMS = (3, 5, 8, 10, 20, 50, 200)
COEFFICIENTS = ("pearson", "spearman", "tau_b", "acc_eq")
RELATIONS = (0.0, 0.6, 0.9)
SEED = 12345
_LARGE, _TIMES = 2_000, 200


class AgreementCoverage(NamedTuple):
    """The share of intervals that hold the true value, and that of sets without an interval."""

    drawn: str
    coefficient: str
    items: int
    held: float
    none: float


def agreement(
    sets: int, draws: int, items: tuple[int, ...] = ITEMS, systems: tuple[int, ...] = (1, 8)
) -> Iterator[AgreementCoverage]:
    """The coverage of every coefficient by relation, ties, systems and items."""
    for relation in RELATIONS:
        for rounded in (False, True):
            for several in systems:
                for count in items:
                    yield from _coverage(relation, rounded, several, count, sets, draws)


def _coverage(
    relation: float, rounded: bool, systems: int, items: int, sets: int, draws: int
) -> Iterator[AgreementCoverage]:
    random = np.random.default_rng([SEED, items])
    level = "item" if systems > 1 else "pooled"
    # The mean over many items is what a mean over few estimates; one coefficient's is its limit.
    rows = (_LARGE * _TIMES // 10, systems) if systems > 1 else (_TIMES, _LARGE)
    x, z = _pair(random, relation, rounded, rows)
    held, have = dict.fromkeys(COEFFICIENTS, 0), dict.fromkeys(COEFFICIENTS, 0)
    true = {
        name: float(np.nanmean(coefficient(name).of_rows(x, z, Options(), 0.0)))
        for name in COEFFICIENTS
    }
    for _ in range(sets):
        x, z = _pair(random, relation, rounded, (systems, items))
        agreement = correlate(
            x, z, level=level, coefficient=COEFFICIENTS, draw="items", draws=draws, seed=SEED
        )
        for name in COEFFICIENTS:
            row = agreement.row("score", coefficient=name)
            have[name] += not np.isnan(row.low)
            held[name] += row.low <= true[name] <= row.high
    title = f"{relation:g}, {'of five values' if rounded else 'no ties'}, {level}"
    for name in COEFFICIENTS:
        share = held[name] / have[name] if have[name] else float("nan")
        yield AgreementCoverage(title, name, items, share, 1 - have[name] / sets)


def _pair(
    random: np.random.Generator, relation: float, rounded: bool, shape: tuple[int, int]
) -> tuple[Array, Array]:
    x, noise = random.normal(size=(2, *shape))
    z = relation * x + np.sqrt(1 - relation**2) * noise
    if rounded:
        x, z = (np.clip(np.round(side), -2, 2) for side in (x, z))
    return x, z


@click.command()
@click.option("--sets", default=500, show_default=True, help="Sets of each row and column.")
@click.option("--draws", default=200, show_default=True, help="Bootstrap draws of a set.")
def main(sets: int, draws: int) -> None:
    """Print coverage by the number of items, and the share without an interval below 1."""
    table = Table("correlation", "coefficient", *map(str, ITEMS), title=f"{sets:,} sets of a cell")
    cells: dict[tuple[str, str], list[str]] = {}
    for coverage in agreement(sets, draws):
        none = f" ({coverage.none:.2f} none)" if coverage.none else ""
        held = f"{coverage.held:.3f}{none}" if coverage.none < 1 else "–"
        cells.setdefault((coverage.drawn, coverage.coefficient), []).append(held)
    for titles, row in cells.items():
        table.add_row(*titles, *row)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
