"""Entity F1: precision, recall and F1 of the entities that a text was found to have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from metric_cards._bases.json_replies import read_reply, reply_text, unread_note
from metric_cards._bases.label_rates import LabelCounts, divided
from metric_cards._bases.label_sums import LabelSums, Row, row_of
from metric_cards.entity_f1.matching import Matches, Scheme, matches_of
from metric_cards.entity_f1.reading import NotEntities, are_tags, read_pairs, read_spans, read_tags
from metrichub.authoring import Array, Scores, Unscored
from metrichub.errors import ParameterError
from metrichub.text import without_thinking


@dataclass(frozen=True, kw_only=True)
class EntityF1(LabelSums):
    """F1 of entities with their labels, from pooled counts (micro), and its mean over labels.

    Attributes:
        form: What entities look like: `pairs` of a label and a text, `spans` with a label, a start
            and an end, or `tags` of tokens (B-, I-, O).
        scheme: What counts as right: equal spans with equal labels (`strict`), equal spans
            (`exact`), those and half a point for overlapping ones (`partial`), or overlapping
            spans with equal labels (`ent_type`).
        ends: Whether the end of a span is its last place (`inclusive`) or the one behind it.
        repair: Whether a tag I- that continues nothing begins an entity, as in seqeval's default
            mode. If False, the tags are strict IOB2.
    """

    normalizes_unicode: ClassVar[bool] = True

    form: Literal["pairs", "spans", "tags"] = "pairs"
    scheme: Scheme = "strict"
    ends: Literal["inclusive", "exclusive"] = "inclusive"
    repair: bool = True

    text_of_objects = staticmethod(reply_text)
    whole_objects = True

    def __post_init__(self) -> None:
        """Check that the scheme fits the form."""
        super().__post_init__()
        if self.form == "pairs" and self.scheme != "strict":
            raise ParameterError(self.name, "scheme", self.scheme, "'strict' for pairs")

    def row(self, prediction: str | None, reference: str) -> Row | Unscored:
        """The counts of each label, those of the scheme, and whether the prediction was read."""
        try:
            expected = self._read(reference)
        except NotEntities as error:
            tags = self.form != "tags" and are_tags(reference)
            hint = "; if these are tags, use form='tags'" if tags else ""
            return Unscored(
                f"the reference has no entities in the form of {self.form}: {error}{hint}"
            )
        try:
            predicted, parsed = self._read(prediction), 1
        except NotEntities:
            predicted, parsed = [], 0
        both = Counter(predicted) & Counter(expected)
        if self.form == "pairs":
            right, named, due = both.total(), len(predicted), len(expected)
            matches = Matches(right, missed=due - right, spurious=named - right)
        else:
            matches = matches_of(predicted, expected, self.scheme)
        counts = [Counter(label for label, *_ in entities) for entities in (predicted, expected)]
        right_of = Counter(label for label, *_ in both.elements())
        return row_of(counts[0], counts[1], [*matches, parsed, 1], right_of)

    def score_sums(self, names: Sequence[str], counts: LabelCounts, sums: Array) -> Scores:
        """The rates of the scheme, and the mean F1 of the labels, strict."""
        return {
            **_rates(sums),
            "macro_f1": counts.averages()["macro_f1"],
            "parsed": sums[:, -2] / sums[:, -1],
        }

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """The rates of each sample; 1 where there is no entity on either side."""
        sums = np.array([row["sums"] for row in rows]).reshape(len(rows), 7)
        rates, parsed = _rates(sums), sums[:, -2]
        blank = (sums[:, :5].sum(axis=1) == 0) & (parsed > 0)
        rates["macro_f1"] = rates["score"]
        rates = {name: np.where(blank, 1.0, values) for name, values in rates.items()}
        return {name: values.tolist() for name, values in (rates | {"parsed": parsed}).items()}

    def notes_of_rows(self, rows: Sequence[Row]) -> Sequence[str]:
        """Whether nothing could be read."""
        return unread_note(sum(row["sums"][-2] for row in rows), f"JSON in the form of {self.form}")

    def tables(self, rows: Sequence[Row]) -> Mapping[str, Sequence[Sequence[str | float | None]]]:
        """The matches of the scheme, and the strict rates of each label."""
        sums = np.array([row["sums"] for row in rows])[:, :5].sum(axis=0)
        matches = [[*Matches._fields], sums.astype(np.int64).tolist()]
        return {"matches": matches, **super().tables(rows)}

    def _read(self, text: str | None) -> list[Any]:
        """The entities of a JSON text, or of tags with blanks between them.

        Raises:
            NotEntities: it isn't JSON, or of another form.
        """
        value, problem = read_reply(text)
        if problem and text is not None and self.form == "tags":
            value, problem = without_thinking(text), None
        if problem:
            raise NotEntities(f"it isn't JSON ({problem})")
        if self.form == "pairs":
            return read_pairs(value)
        if self.form == "spans":
            return read_spans(value, self.ends == "exclusive")
        return read_tags(value, self.repair)


def _rates(sums: Array) -> dict[str, Array]:
    """Precision, recall and F1 of the sums of matches, (R, 5 and more); 0 of no entities."""
    correct, incorrect, partial, missed, spurious = sums[:, :5].T
    points, both = correct + partial / 2, correct + incorrect + partial
    predicted, due = both + spurious, both + missed
    return {
        "score": divided(2 * points, predicted + due),
        "precision": divided(points, predicted),
        "recall": divided(points, due),
    }
