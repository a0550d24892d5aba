"""Multi-label: how well predicted sets of labels agree with the right ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from metric_cards._bases.json_replies import json_text, read_reply, reply_text
from metric_cards._bases.label_rates import RATES, LabelCounts, divided
from metric_cards._bases.label_sums import LabelSums, Row, row_of
from metric_cards._bases.label_texts import check_listed, normal, texts_of_labels
from metric_cards._bases.mode_card import CardOfMode
from metrichub.authoring import Array, Scores
from metrichub.errors import InputError, ParameterError
from metrichub.text import cell_or_text

_SUMS = ("answered", "subset_accuracy", "wrong", "jaccard", *RATES)
"""What adds up over samples beside the counts; their number comes last."""


@dataclass(frozen=True, kw_only=True)
class MultiLabel(LabelSums):
    """Subset accuracy, Hamming loss, Jaccard index, and F1 by several averages, of sets of labels.

    Attributes:
        mode: The number that `score` reports.
        labels: All labels. If none are given, the labels of references and predictions count.
        unknown: What a predicted label is that isn't among `labels`: wrong, or an error.
        separator: What stands between labels in a text that isn't a JSON list; None if such a text
            is one label.
    """

    normalizes_unicode: ClassVar[bool] = True

    mode: Literal[
        "micro_f1", "macro_f1", "weighted_f1", "samples_f1", "subset_accuracy", "jaccard",
        "hamming_loss",
    ] = "micro_f1"  # fmt: skip
    labels: tuple[str | int, ...] = ()
    unknown: Literal["wrong", "error"] = "wrong"
    separator: str | None = ","

    card = CardOfMode()
    whole_objects = True

    @staticmethod
    def text_of_objects(value: Any) -> Any:
        """Labels as JSON text, or several such texts of a list of lists or of JSON texts."""
        texts = reply_text(texts_of_labels(value))
        lists = isinstance(value, (list, tuple)) and {*map(type, value)} <= {list, tuple}
        return list(map(json_text, value)) if lists and value else texts

    def __post_init__(self) -> None:
        """Check the labels and the separator."""
        super().__post_init__()
        check_listed(self.name, self.labels, self.unknown)
        if self.separator == "":
            raise ParameterError(self.name, "separator", "", "a text that isn't empty, or None")

    def row(self, prediction: str | None, reference: str) -> Row:
        """The labels of both, and how far the sets agree; both empty is 1, nothing read is 0.

        Raises:
            InputError: a label isn't among `labels`.
        """
        expected, predicted = self._read(reference), self._read(prediction or "")
        self._check("reference", expected)
        if self.unknown == "error":
            self._check("prediction", predicted)
        both, either = len(expected & predicted), len(expected | predicted)
        answered = prediction is not None
        blank = float(answered and not either)
        sums = (
            answered,
            answered and expected == predicted,
            either - both if answered else 0,
            both / either if either else blank,
            both / len(predicted) if predicted else blank,
            both / len(expected) if expected else blank,
            2 * both / (len(predicted) + len(expected)) if either else blank,
            1,
        )
        counts = [dict.fromkeys(labels, 1) for labels in (predicted, expected)]
        return row_of(counts[0], counts[1], list(map(float, sums)))

    def score_sums(self, names: Sequence[str], counts: LabelCounts, sums: Array) -> Scores:
        """The averages over labels, and the means over samples."""
        of = dict(zip(_SUMS, sums[:, :-1].T, strict=True))
        listed = np.isin(names, [*self.listed()])
        number, size = (counts.present | listed).sum(axis=1), sums[:, -1]
        wrong = of["wrong"] + (size - of["answered"]) * number
        among = np.broadcast_to(listed, counts.right.shape) if self.labels else None
        scores = {
            "subset_accuracy": of["subset_accuracy"] / size,
            "hamming_loss": divided(wrong, size * number),
            "jaccard": of["jaccard"] / size,
            **counts.averages(among),
            **{f"samples_{rate}": of[rate] / size for rate in RATES},
        }
        return {"score": scores[self.mode], **scores}

    def averaged(self, rows: Sequence[Row]) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """The labels that macro averages are over, as `mode` may name one."""
        parts = super().averaged(rows)
        return {**parts, "score": parts.get(self.mode, {})}

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """Each sample's own rates for all averages of them."""
        sums = np.array([row["sums"] for row in rows]).reshape(len(rows), len(_SUMS) + 1)
        of = dict(zip(_SUMS, sums[:, :-1].T, strict=True))
        number = len({*self.listed(), *(name for row in rows for name in row["labels"])})
        of["hamming_loss"] = np.where(of["answered"] > 0, of["wrong"] / max(number, 1), 1)
        names = {name: self.mode if name == "score" else name for name in self.outputs()}
        return {
            output: of[name if name in of else name.rpartition("_")[2]].tolist()
            for output, name in names.items()
        }

    def listed(self) -> Sequence[str]:
        """The labels that the parameter names."""
        return [normal(str(label)) for label in self.labels]

    def _read(self, text: str) -> set[str]:
        value: Any = read_reply(text).value
        if value is None:
            value = cell_or_text(text)  # A list as a data frame writes it.
        if not isinstance(value, list):
            text = value if isinstance(value, str) else text
            value = text.split(self.separator) if self.separator else [text]
            value = filter(None, (label.strip() for label in value))
        return {normal(_text(label)) for label in value}

    def _check(self, kind: str, labels: set[str]) -> None:
        if self.labels and (strange := labels.difference(self.listed())):
            raise InputError(f"{self.name}: the {kind} {min(strange)!r} isn't one of {self.labels}")


def _text(label: object) -> str:
    """A label as text; what a model writes that isn't one, such as an object, is its JSON."""
    try:
        return str(texts_of_labels(label))
    except ValueError:
        return json_text(label)
