"""The best pairing of rows with columns: the assignment problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best_pairing(scores: NDArray[np.float64]) -> float:
    """The highest sum of scores out of (R, C), one of each row or column where these are fewer."""
    if scores.shape == (2, 2):
        (a, b), (c, d) = scores.tolist()
        return float(max(a + d, b + c))
    return float(np.sum([scores[pair] for pair in best_pairs(scores)]))


def best_pairs(scores: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The rows and columns of the highest sum of scores, each once, in the order of columns.

    By shortest augmenting paths (Jonker and Volgenant, 1987): a row at a time is paired, and rows
    before it move to other columns where that costs least.
    """
    if scores.shape[0] > scores.shape[1]:
        return [(row, column) for column, row in best_pairs(scores.T)]
    rows, size = scores.shape
    if rows == 1:
        return [(0, int(np.argmax(scores)))]
    # Row and column 0 are none: a column with row 0 is free, and every path starts at column 0.
    cost = np.zeros((rows + 1, size + 1))
    cost[1:, 1:] = -scores
    row_price, column_price = np.zeros(rows + 1), np.zeros(size + 1)
    row_of = np.zeros(size + 1, np.int64)
    for row in range(1, rows + 1):
        row_of[0], column = row, 0
        least, before = np.full(size + 1, np.inf), np.zeros(size + 1, np.int64)
        seen = np.zeros(size + 1, bool)
        while row_of[column]:
            seen[column] = True
            at = row_of[column]
            reduced = cost[at] - row_price[at] - column_price
            nearer = ~seen & (reduced < least)
            least[nearer], before[nearer] = reduced[nearer], column
            column = int(np.argmin(np.where(seen, np.inf, least)))
            step = least[column]
            row_price[row_of[seen]] += step
            column_price[seen] -= step
            least[~seen] -= step
        while column:
            row_of[column] = row_of[before[column]]
            column = int(before[column])
    return [(row - 1, column) for column, row in enumerate(row_of[1:].tolist()) if row]
