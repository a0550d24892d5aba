"""Citation ids: whether a reply cites the passages that it should, by their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from metric_cards._bases.citation_marks import cited_numbers
from metric_cards._bases.listed_ids import read_listed, ways_of
from metrichub.authoring import Array, Measured, Metric, Scores
from metrichub.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class CitationIds(Metric):
    """F1, precision and recall of the passages that a reply cites, as sets, macro.

    Attributes:
        pattern: A regular expression whose first group, or else match, is the id in a mark. If
            None, marks are numbers in brackets: [1], [2, 4], [3-5], [^1] and 【1】.
        no_relevant: Whether a sample without relevant passages is left out, or has 0.
        relevant: The column of the ids of what should be cited.
    """

    takes_nothing: ClassVar[bool] = True

    pattern: str | None = None
    no_relevant: Literal["skip", "zero"] = "skip"
    relevant: str = "relevant"

    averaging = "macro"
    whole_objects = True

    @property
    def text_of_objects(self) -> Mapping[str, Any]:
        """The ids as JSON; predictions are texts alone."""
        return ways_of(self.relevant)

    def __post_init__(self) -> None:
        """Check the pattern."""
        super().__post_init__()
        try:
            re.compile(self.pattern or "")
        except (re.error, OverflowError) as error:
            allowed = f"a regular expression of Python's re; this isn't one: {error}"
            raise ParameterError(self.name, "pattern", self.pattern, allowed) from None

    def inputs(self) -> tuple[str, ...]:
        """The prediction, and the column of the relevant ids."""
        return ("prediction", self.relevant)

    def measure(self, prediction: Sequence[str | None], **columns: Sequence[Any]) -> Measured:
        """The rates of each reply, whether it cites anything, and whether anything is relevant.

        Raises:
            InputError: a relevant item isn't an id.
        """
        (ids,) = columns.values()
        rows = [
            self._row(reply, relevant_of(read_listed(self.name, self.relevant, listed)))
            for reply, listed in zip(prediction, ids, strict=True)
        ]
        statistics = np.array(rows, np.float64).reshape(len(rows), 5)
        skipped = np.flatnonzero(statistics[:, 4]).tolist() if self.no_relevant == "skip" else []
        statistics[skipped] = np.nan
        names = ("f1", "precision", "recall", "cited", "none")
        columns_of = dict(zip(names, statistics.T, strict=True))
        return Measured(columns_of, dict.fromkeys(skipped, "nothing is relevant"))

    def score(
        self, f1: Array, precision: Array, recall: Array, cited: Array, none: Array, count: Array
    ) -> Scores:
        """Means over the replies; precision over those that cite anything."""
        return {
            "score": f1 / count,
            "precision": precision / cited,
            "recall": recall / count,
            "cited": cited / count,
        }

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many samples without anything relevant have 0."""
        none = int(totals["none"])
        return [f"{none} samples have nothing relevant, and 0"] if none else []

    def _row(self, reply: str | None, relevant: set[str]) -> tuple[float, ...]:
        cited = {*self._cited(reply or "")}
        both, given_ids, due = len(cited & relevant), len(cited), len(relevant)
        rates = 2 * both / max(given_ids + due, 1), both / max(given_ids, 1), both / max(due, 1)
        return (*rates, float(given_ids > 0), float(due == 0))

    def _cited(self, reply: str) -> Iterator[str]:
        """The ids in a reply's marks."""
        if self.pattern is None:
            yield from map(str, cited_numbers(reply))
            return
        for match in re.finditer(self.pattern, reply):
            yield (match[1] if match.re.groups else match[0]) or ""


def relevant_of(listed: Sequence[str] | Mapping[str, float]) -> set[str]:
    """The ids, of grades those above 0."""
    if isinstance(listed, Mapping):
        return {key for key, grade in listed.items() if grade > 0}
    return {*listed}
