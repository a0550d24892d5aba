"""Ranking: how early a list of results has what is relevant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from metric_cards._bases.listed_ids import read_listed, ways_of
from metric_cards._bases.mode_card import CardOfMode
from metric_cards.ranking.measures import AT, WHOLE, Graded, Measures
from metric_cards.ranking.texts import matched
from metrichub.authoring import Array, Measured, Metric, Range, Scores
from metrichub.errors import InputError, ParameterError

HIGHEST = 1000
"""The highest grade, whose exponential gain is still a number."""
_NAME = re.compile(rf"({'|'.join(AT)})_[1-9][0-9]{{0,5}}|{'|'.join(WHOLE)}")


@dataclass(frozen=True, kw_only=True)
class Ranking(Metric):
    """nDCG, reciprocal rank, average precision, recall and others of ranked results, macro.

    Attributes:
        mode: The measure that `score` reports, such as "rr", "ap" or "recall_5".
        cutoffs: The ranks down to which measures are reported.
        gains: What a grade g is worth to nDCG: g, or 2^g - 1.
        persistence: The probability of going on to the next result, for RBP.
        ties: The order of results with equal scores: as they are given, or by their ids from last
            to first, as trec_eval orders them.
        no_relevant: Whether a query without relevant items is left out, or has 0.
        match: Whether results are ids, or texts that are relevant if they are `equal` to one of
            the relevant texts or hold it (`contains`).
        retrieved: The column of results.
        relevant: The column of what is relevant.
    """

    mode: str = "ndcg_10"
    cutoffs: tuple[Annotated[int, Range(1, 100_000)], ...] = (1, 3, 5, 10)
    gains: Literal["linear", "exponential"] = "linear"
    persistence: Annotated[float, Range(0, 1)] = 0.8
    ties: Literal["given", "trec"] = "given"
    no_relevant: Literal["skip", "zero"] = "skip"
    match: Literal["id", "equal", "contains"] = "id"
    retrieved: str = "retrieved"
    relevant: str = "relevant"

    averaging = "macro"
    card = CardOfMode()
    whole_objects = True

    @property
    def text_of_objects(self) -> Mapping[str, Any]:
        """Ids, scores and grades as JSON."""
        return {**ways_of(self.retrieved, required=True), **ways_of(self.relevant)}

    def __post_init__(self) -> None:
        """Check the mode and the columns."""
        super().__post_init__()
        object.__setattr__(self, "mode", self.mode.replace("@", "_"))
        if self.relevant == self.retrieved:
            raise ParameterError(self.name, "relevant", self.relevant, "another column")
        if not _NAME.fullmatch(self.mode):
            allowed = (
                f"{', '.join(WHOLE)}, or {', '.join(AT[:-1])} or {AT[-1]} with a cut-off, as in "
                "ndcg_10"
            )
            raise ParameterError(self.name, "mode", self.mode, allowed)

    def inputs(self) -> tuple[str, ...]:
        """The two columns."""
        return (self.retrieved, self.relevant)

    def system_inputs(self) -> tuple[str, ...]:
        """The results: each system has its own."""
        return (self.retrieved,)

    def outputs(self) -> tuple[str, ...]:
        """The measures of whole rankings, and those down to each cut-off."""
        return ("score", *self._measures())

    def measure(self, **columns: Sequence[Any]) -> Measured:
        """Each measure, (N,), how many results are repetitions, and whether nothing is relevant.

        Raises:
            InputError: a result or a relevant item isn't an id, or a grade isn't valid.
        """
        graded, judged, repeated = [], [], []
        for retrieved, relevant in zip(*columns.values(), strict=True):
            grades = self._grades(relevant)
            ranked = self._ranked(retrieved)
            unique = list(dict.fromkeys(ranked))
            repeated.append(len(ranked) - len(unique))
            names: Sequence[str | None] = unique
            if self.match != "id":
                names = matched(unique, list(grades), self.match)
            graded.append([np.nan if name is None else grades.get(name, np.nan) for name in names])
            judged.append(sorted(grades.values(), reverse=True))
        exponential = self.gains == "exponential"
        measures = Measures(Graded.of(graded), Graded.of(judged), exponential, self.persistence)
        none = measures.relevant == 0
        values = {name: measures.named(name) for name in self._measures()}
        values["score"] = measures.named(self.mode)
        skipped = np.flatnonzero(none).tolist() if self.no_relevant == "skip" else []
        for column in values.values():
            column[skipped] = np.nan
        counts = {"repeated": np.array(repeated, np.int64), "none": none.astype(np.int64)}
        return Measured(values | counts, dict.fromkeys(skipped, "nothing is relevant"))

    def score(self, *, repeated: Array, none: Array, count: Array, **measures: Array) -> Scores:
        """The mean of each measure over the queries."""
        return {name: total / count for name, total in measures.items()}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many results were repetitions, and how many queries without relevant items have 0."""
        repeated, none = int(totals["repeated"]), int(totals["none"])
        queries = "1 query has" if none == 1 else f"{none} queries have"
        notes = [f"{queries} nothing relevant, and 0"] if none else []
        if repeated:
            results = (
                "1 result is a repetition"
                if repeated == 1
                else f"{repeated} results are repetitions"
            )
            notes.append(f"{results}; of equal ones the first counts")
        return notes

    def _measures(self) -> tuple[str, ...]:
        return (*WHOLE, *(f"{name}_{cutoff}" for cutoff in self.cutoffs for name in AT))

    def _grades(self, relevant: Any) -> Mapping[str, float]:
        listed = read_listed(self.name, self.relevant, relevant)
        if not isinstance(listed, Mapping):
            return dict.fromkeys(listed, 1.0)
        for key, grade in listed.items():
            if grade > HIGHEST:
                raise InputError(f"{self.name}: the grade of {key!r} is {grade:g}, over {HIGHEST}")
        return listed

    def _ranked(self, retrieved: Any) -> Sequence[str]:
        listed = read_listed(self.name, self.retrieved, retrieved)
        if not isinstance(listed, Mapping):
            return listed
        if self.ties == "given":
            return sorted(listed, key=lambda key: -listed[key])
        # trec_eval keeps scores in 32 bits.
        with np.errstate(over="ignore"):
            return sorted(listed, key=lambda key: (np.float32(listed[key]), key), reverse=True)
