"""Columns of ratings among those that the report kept, by what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from metrichub.agreement.rating_matrix import ITEMS, SYSTEMS
from metrichub.agreement.ratings import Ratings, read_ratings
from metrichub.data.answer_columns import PREFIX
from metrichub.errors import InputError, MissingColumn, ReportError, did_you_mean
from metrichub.evaluation.measurement import Measurement
from metrichub.report.html.records import Values

MOST = 8
"""Columns of ratings that a page shows."""

MOST_RATERS = 50
"""Longer lists aren't ratings of one sample."""

LONGEST_COUNT = 10
"""Fewer samples may well be rated 1, 2, 3 and so on in their order."""

LONGEST_SCALE = 101
"""No scale has more whole numbers than that from 0 to 100."""


class RatedColumns(NamedTuple):
    """The mean ratings of each system's samples by column; `nan` where nobody rated.

    `left_out` are columns of numbers that aren't ratings, with the reason; `rated` the systems
    any of whose samples were rated; `named` says that the columns were named, not found.
    """

    ratings: dict[str, list[Values]]
    yes_or_no: frozenset[str]
    left_out: dict[str, str]
    rated: list[str]
    named: bool = False

    def numbers(self) -> list[str]:
        """The columns of ratings on a scale."""
        return [name for name in self.ratings if name not in self.yes_or_no]

    def labels(self) -> list[str]:
        """The columns of yes and no."""
        return [name for name in self.ratings if name in self.yes_or_no]

    def sentence(self) -> str:
        """Which columns count as ratings, and which of numbers don't."""
        names = ", ".join(self.ratings)
        if self.named:
            return f"The columns of people's ratings: {names}."
        left = "; ".join(f"{name} ({why})" for name, why in self.left_out.items())
        return (
            "Columns of numbers, of lists of numbers (several raters) or of yes and no that came "
            f"with the samples count as people's ratings: {names}."
            f"{f' Left out: {left}.' if left else ''}"
        )


def rated_columns(
    systems: Mapping[str, Measurement],
    cluster: str | None = None,
    named: Sequence[str] | None = None,
) -> RatedColumns:
    """The columns of ratings in any of the reports, or those that are named.

    Raises:
        MissingColumn: no report has this column.
        ReportError: one that is named holds no ratings.
    """
    columns = dict.fromkeys(name for report in systems.values() for name in report.metadata)
    # Answers that are numbers rate nothing.
    answers = {name for name in columns if name.startswith(PREFIX)}
    labels = {*ITEMS, *SYSTEMS, cluster, *answers}
    by_column: dict[str, list[Ratings]] = {}
    left_out: dict[str, str] = {}
    for name in columns if named is None else named:
        if name not in columns:
            hint = f"{did_you_mean(name, columns)} (columns: {', '.join(columns) or 'none'})"
            raise MissingColumn(f"the report has no column {name!r}{hint}")
        ratings = None if named is None and name in labels else _read(name, systems)
        if ratings is None:
            if named is not None:
                raise ReportError(
                    f"the column {name!r} has no ratings, which are numbers, yes or no"
                )
            continue
        why = _no_rating(ratings, len(by_column)) if named is None else ""
        if why:
            left_out[name] = why
        else:
            by_column[name] = ratings
    yes_or_no = frozenset(name for name, ratings in by_column.items() if _of_labels(ratings))
    rated = [
        name
        for at, name in enumerate(systems)
        if any(not np.isnan(ratings[at].table).all() for ratings in by_column.values())
    ]
    means = {name: [of_system.mean for of_system in ratings] for name, ratings in by_column.items()}
    return RatedColumns(means, yes_or_no, left_out, rated, named is not None)


def _read(name: str, systems: Mapping[str, Measurement]) -> list[Ratings] | None:
    """A column's ratings of each system; None where it holds anything else, or nothing."""
    ratings = []
    for report in systems.values():
        column = report.metadata.get(name, [None] * report.size)
        if any(_is_long(cell) for cell in column):
            return None
        try:
            ratings.append(read_ratings(name, column, report.size))
        except (InputError, OverflowError):
            return None
    values = np.concatenate([of_system.table.ravel() for of_system in ratings])
    values = values[~np.isnan(values)]
    return ratings if len(values) and np.isfinite(values).all() else None


def _is_long(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) and len(value) > MOST_RATERS


def _of_labels(ratings: Sequence[Ratings]) -> bool:
    """Whether all ratings are yes or no."""
    return all(of_system.of_labels for of_system in ratings if not np.isnan(of_system.table).all())


def _no_rating(ratings: Sequence[Ratings], before: int) -> str:
    """Why numbers aren't ratings, or an empty text; `before` columns of ratings precede it."""
    means = [of_system.mean for of_system in ratings]
    values = np.concatenate(means)
    values = values[~np.isnan(values)]
    distinct = len(np.unique(values))
    if distinct == 1:
        return "the same everywhere"
    if len(means) > 1 and all(np.array_equal(means[0], mean, equal_nan=True) for mean in means):
        return "the same for every system"
    if distinct == len(values) and not (values % 1).any():
        counted = len(values) > LONGEST_COUNT and bool((np.diff(values) == 1).all())
        if counted or distinct > LONGEST_SCALE:
            return "a different number for each sample"
    return f"more than {MOST} columns" if before == MOST else ""
