"""The table of the extended edit distance, cell by cell, as Stanchev et al. (2019) define it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np


def jump_cost(hypothesis: str, reference: str, truncated: bool) -> tuple[float, list[int]]:
    """The cost of the cheapest path, and how often each place was the least of its row."""
    number: Callable[[float], float] = np.float32 if truncated else float
    places = range(len(hypothesis) + 1)
    above = {place: number(place > 0) for place in places}
    visits: Counter[int] = Counter()
    for letter in reference:
        row: dict[int, float] = {}
        for place in places:
            steps = [above[place] + number(1)]
            if place:
                steps.append(above[place - 1] + number(hypothesis[place - 1] != letter))
                steps.append(row[place - 1] + number(0.2))
            row[place] = min(steps)
        least = min(places, key=lambda place: int(row[place]) if truncated else row[place])
        visits[least] += 1
        if letter == " ":
            row = {place: min(cost, row[least] + number(2)) for place, cost in row.items()}
        above = row
    return float(above[len(hypothesis)]), [visits[place] for place in places]
