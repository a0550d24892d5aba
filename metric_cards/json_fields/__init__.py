"""JSON fields: precision, recall and F1 of the fields of a JSON value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from metric_cards._bases.json_replies import read_reply, reply_text, unread_note
from metric_cards._bases.label_rates import LabelCounts
from metric_cards._bases.label_sums import LabelSums, Row, row_of
from metric_cards._bases.label_texts import normal
from metric_cards.json_fields.fields import alike, by_path, fields_of
from metrichub.authoring import Array, Scores, Unscored
from metrichub.errors import ParameterError

COMPARATORS = ("exact", "text", "number", "similar")


@dataclass(frozen=True, kw_only=True)
class JsonFields(LabelSums):
    """F1 of the fields with their values, from pooled counts (micro), and its mean over paths.

    Attributes:
        lists: Whether the items of a list are compared in any order (`multiset`), or each with the
            one of its place (`index`).
        comparators: How values are compared: `exact`, `text` without case and runs of blanks,
            `number` by value, or `similar` with partial credit; for all, or for a path as in
            `items[].price=number`.
    """

    normalizes_unicode: ClassVar[bool] = True
    counted: ClassVar[str] = "path"

    lists: Literal["multiset", "index"] = "multiset"
    comparators: tuple[str, ...] = ("exact",)

    text_of_objects = staticmethod(reply_text)
    whole_objects = True

    def __post_init__(self) -> None:
        """Check the comparators."""
        super().__post_init__()
        if not {*self._comparators().values()} <= {*COMPARATORS}:
            allowed = f"{', '.join(COMPARATORS)}, or one for a path, as in 'total=number'"
            raise ParameterError(self.name, "comparators", self.comparators, allowed)

    def row(self, prediction: str | None, reference: str) -> Row | Unscored:
        """The counts of each path, and whether all is equal and the prediction is JSON."""
        value, problem = read_reply(reference)
        if problem:
            return Unscored(f"the reference isn't JSON ({problem})")
        reply, broken = read_reply(prediction)
        predicted, expected = (
            by_path(fields_of(side, self.lists == "index")) for side in (reply, value)
        )
        ways = self._comparators()
        right = {
            path: alike(values, expected.get(path, ()), ways.get(path, ways[""]))
            for path, values in predicted.items()
        }
        fields, due = (
            {path: len(values) for path, values in side.items()} for side in (predicted, expected)
        )
        exact = broken is None and fields == due == right
        return row_of(fields, due, [float(exact), float(broken is None), 1.0], right)

    def score_sums(self, names: Sequence[str], counts: LabelCounts, sums: Array) -> Scores:
        """The rates of all fields, their mean over paths, and the shares of samples."""
        averages = counts.averages()
        return {
            "score": averages["micro_f1"],
            "precision": averages["micro_precision"],
            "recall": averages["micro_recall"],
            "macro_f1": averages["macro_f1"],
            "exact": sums[:, 0] / sums[:, 2],
            "parsed": sums[:, 1] / sums[:, 2],
        }

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """The rates of each sample; 1 where no field was expected, and none is there."""
        pooled = [np.sum([*row["labels"].values(), [0, 0, 0]], axis=0) for row in rows]
        counts = LabelCounts(*np.reshape(pooled, (len(rows), 3)).T)
        exact, parsed, _ = np.reshape([row["sums"] for row in rows], (len(rows), 3)).T
        blank = (counts.predicted + counts.expected == 0) & (parsed > 0)
        rates = {name: np.where(blank, 1.0, rate) for name, rate in counts.rates().items()}
        scores = {"score": rates["f1"], "macro_f1": rates["f1"], **rates}
        scores |= {"exact": exact, "parsed": parsed}
        return {name: scores[name].tolist() for name in self.outputs()}

    def notes_of_rows(self, rows: Sequence[Row]) -> Sequence[str]:
        """Whether nothing could be read, and the comparators whose path no sample has."""
        seen = {"", *(path for row in rows for path in row["labels"])}
        unseen = [path for path in self._comparators() if path not in seen]
        notes = [f"no sample has a field {path!r}, which has a comparator" for path in unseen]
        return [*unread_note(sum(row["sums"][1] for row in rows)), *notes]

    def _comparators(self) -> Mapping[str, str]:
        """The comparator of each path that has its own, and under "" that of all others."""
        pairs = (entry.rpartition("=") for entry in self.comparators)
        return {"": "exact"} | {normal(path): way for path, _, way in pairs}
