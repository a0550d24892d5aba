"""What ROUGE-S, -SU and -W count, for one pair and for reading.

Lin, "ROUGE: A Package for Automatic Evaluation of Summaries" (2004). Where the paper leaves a
choice, it is the one that the Perl program ROUGE-1.5.5 shows in its output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations


def skip_bigrams(tokens: Sequence[str], gap: int, unigrams: bool) -> Counter[tuple[str, ...]]:
    """Pairs with at most `gap` tokens between; ROUGE-1.5.5 leaves out the last token alone."""
    places = combinations(range(len(tokens)), 2)
    counts = Counter((tokens[i], tokens[j]) for i, j in places if j - i - 1 <= gap)
    return counts + Counter((token,) for token in tokens[:-1] if unigrams)


def table(
    predicted: Sequence[str], expected: Sequence[str], weight: float
) -> dict[tuple[int, int], tuple[float, int]]:
    """The paper's tables c and w: the weight of a cell, and the run that ends there."""
    cells = {(i, j): (0.0, 0) for i in range(len(predicted) + 1) for j in range(len(expected) + 1)}
    for i, token in enumerate(predicted, start=1):
        for j, two in enumerate(expected, start=1):
            if token == two:
                total, run = cells[i - 1, j - 1]
                cells[i, j] = (total + (run + 1.0) ** weight - float(run) ** weight, run + 1)
            else:
                cells[i, j] = (max(cells[i - 1, j][0], cells[i, j - 1][0]), 0)
    return cells


def runs(predicted: Sequence[str], expected: Sequence[str], weight: float) -> list[int]:
    """The runs of neighbours in the reference on the path back through the table.

    A match is followed; else the way is to the shorter reference, unless that loses weight.
    """
    cells, hit = table(predicted, expected, weight), set()
    i, j = len(predicted), len(expected)
    while i and j:
        if predicted[i - 1] == expected[j - 1]:
            i, j = i - 1, j - 1
            hit.add(j)
        elif cells[i - 1, j][0] > cells[i, j - 1][0]:
            i -= 1
        else:
            j -= 1
    pattern = "".join("x" if j in hit else " " for j in range(len(expected)))
    return [len(run) for run in pattern.split()]
