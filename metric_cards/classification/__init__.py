"""Classification: how well predicted labels agree with the right ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from metric_cards._bases.label_rates import RATES, LabelCounts, averaged_over, table_of
from metric_cards._bases.label_texts import check_listed, label_of, ordered, texts_of_labels
from metric_cards._bases.mode_card import CardOfMode
from metric_cards._bases.resampling import Sparse
from metric_cards.classification.confusion import Confusion, numbered
from metrichub.authoring import Array, Card, CorpusMetric, Resampler, Scale
from metrichub.errors import Doubt, InputError, ParameterError, did_you_mean

Pair = Sequence[Any]
"""The reference, the predicted label or None for none, and in a condensed row how often both."""


class _CardWithPositive(CardOfMode):
    """The card of the mode, with the rates of the positive label if there is one."""

    def __get__(self, metric: Any, owner: type) -> Card:
        card = super().__get__(metric, owner)
        if metric is None or metric.positive is None:
            return card
        rates = dict.fromkeys(RATES, Scale(0, 1, "higher"))
        return replace(card, scores={**card.scores, **rates}, headline=(*card.headline, "f1"))


@dataclass(frozen=True, kw_only=True)
class Classification(CorpusMetric):
    """Accuracy, precision, recall and F1 by several averages, MCC and kappa of single labels.

    Attributes:
        mode: The number that `score` reports.
        labels: All labels, in the order that weighted kappa uses. If none are given, the labels of
            references and predictions count, in the order of numbers or of code points.
        unknown: What a predicted label is that isn't among `labels`: wrong and of no class, or an
            error.
        positive: The label whose `precision`, `recall` and `f1` are outputs, as scikit-learn's
            `pos_label`; None for no such outputs.
    """

    takes_nothing: ClassVar[bool] = True
    normalizes_unicode: ClassVar[bool] = True
    gathers: ClassVar[Literal["rows", "vocabulary"]] = "vocabulary"

    mode: Literal[
        "accuracy",
        "balanced_accuracy",
        "micro_f1",
        "macro_f1",
        "weighted_f1",
        "mcc",
        "kappa",
        "kappa_linear",
        "kappa_quadratic",
    ] = "accuracy"
    labels: tuple[str | int, ...] = ()
    unknown: Literal["wrong", "error"] = "wrong"
    positive: str | int | None = None

    card = _CardWithPositive()
    text_of_objects = staticmethod(texts_of_labels)
    whole_objects = True

    def __post_init__(self) -> None:
        """Check the labels."""
        super().__post_init__()
        check_listed(self.name, self._all_labels(), self.unknown)
        if self.labels and self.positive is not None and self._positive() not in self._all_labels():
            raise ParameterError(self.name, "positive", self.positive, f"one of {self.labels}")

    def measure(
        self, prediction: Sequence[str | None], references: Sequence[Sequence[str]]
    ) -> list[Pair]:
        """The right label of each row, and the predicted one or None.

        Of several right ones, the predicted one if it is among them, else the first.

        Raises:
            InputError: a label isn't among `labels`.
        """
        pairs: list[Pair] = []
        for label, references_of in zip(prediction, references, strict=True):
            expected = [label_of(reference) for reference in references_of]
            predicted = None if label is None else label_of(label)
            pairs.append([predicted if predicted in expected else expected[0], predicted])
        if self.labels:
            return self._checked(pairs, {label_of(r) for group in references for r in group})
        return pairs

    def _checked(self, pairs: Sequence[Pair], expected: set[str]) -> list[Pair]:
        allowed = {*self._all_labels()}
        predicted = {pair[1] for pair in pairs} - {None} if self.unknown == "error" else set()
        for kind, labels in {"reference": expected, "prediction": predicted}.items():
            if strange := labels - allowed:
                raise InputError(
                    f"{self.name}: the {kind} {min(strange)!r} isn't one of {self.labels}"
                )
        return [[reference, label if label in allowed else None] for reference, label in pairs]

    def conclude(self, rows: Sequence[Pair]) -> Mapping[str, float]:
        """The scores of all pairs together."""
        scores = self.resampler(rows)(np.ones((1, len(rows))))
        return {name: float(values[0]) for name, values in scores.items()}

    def samples(self, rows: Sequence[Pair]) -> Mapping[str, Sequence[float]]:
        """1 for a right label and 0 for a wrong one, whatever the output."""
        right = [float(row[0] == row[1]) for row in rows]
        return dict.fromkeys(self.outputs(), right)

    def condense(self, rows: Sequence[Pair]) -> Sequence[Pair]:
        """Each different pair once, with how often it occurs."""
        times: Counter[tuple[str, str | None]] = Counter()
        for expected, predicted, *more in rows:
            times[expected, predicted] += more[0] if more else 1
        return [[*pair, number] for pair, number in times.items()]

    def resampler(self, rows: Sequence[Pair]) -> Resampler:
        """Pairs add up; scores come from how often each was drawn."""
        pairs, of = self._pairs(rows)
        return lambda counts: self._scores(pairs._replace(times=of.times(counts)))

    def averaged(self, rows: Sequence[Pair]) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """The labels that outputs are means over; two labels are also those of MCC and kappa."""
        seen = {label for row in rows for label in row[:2] if label is not None}
        labels = self._all_labels() or ordered(seen)
        expected: dict[str, list[int]] = {label: [] for label in labels}
        predicted: dict[str, list[int]] = {label: [] for label in labels}
        for place, (reference, label, *_) in enumerate(rows):
            expected[reference].append(place)
            if label is not None:
                predicted[label].append(place)
        parts = averaged_over(expected, predicted)
        present = {label: places for label, places in expected.items() if places}
        parts["balanced_accuracy"] = averaged_over(present, predicted)["macro_recall"]
        if len(present) == 1:
            # Samples of one label say nothing of a mean over labels.
            parts = {output: {**of, "another label": []} for output, of in parts.items()}
        if len(expected) == 2:
            # The rarer label's errors weigh as much in these as the other's.
            others = ("mcc", "kappa", "kappa_linear", "kappa_quadratic")
            parts |= dict.fromkeys(others, parts["macro_recall"])
        positive = self._positive()
        if self.positive is not None and positive in expected:
            rates = averaged_over({positive: expected[positive]}, {positive: predicted[positive]})
            parts |= {rate: rates[f"macro_{rate}"] for rate in RATES}
        return parts | {"score": parts.get(self.mode, {})}

    def tables(self, rows: Sequence[Pair]) -> Mapping[str, Sequence[Sequence[str | float | None]]]:
        """The confusion matrix, and the rates of each label."""
        pairs, of = self._pairs(rows)
        pairs = pairs._replace(times=of.times(np.ones((1, len(rows)))))
        counts = LabelCounts(*(count[0] for count in pairs.counts()))
        rates = table_of("label", pairs.labels, counts)
        return {"confusion matrix": pairs.table(), "labels": rates}

    def cells_of_rows(self, rows: Sequence[Pair]) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Where the confusion matrix counts each pair."""
        shown = {row[0] for row in self.tables(rows)["confusion matrix"]}

        def name(label: str | None) -> str:
            return "no label" if label is None else label if label in shown else "other labels"

        cells = [(name(row[0]), f"predicted {name(row[1])}") for row in rows]
        return {"confusion matrix": cells}

    def notes_of_rows(self, rows: Sequence[Pair]) -> Sequence[str]:
        """That no sample has the positive label."""
        seen = {label for row in rows for label in row[:2] if label is not None}
        if self.positive is None or not rows or self._positive() in seen:
            return super().notes_of_rows(rows)
        near = did_you_mean(self._positive(), sorted(seen))
        return [Doubt(f"no sample has the label {self._positive()!r}{near}", "positive")]

    def _scores(self, pairs: Confusion) -> Mapping[str, Array]:
        scores = {**pairs.scores()}
        if self.positive is not None:
            scores |= pairs.rates_of(self._positive())
        return {"score": scores[self.mode], **scores}

    def _pairs(self, rows: Sequence[Pair]) -> tuple[Confusion, Sparse]:
        """The different pairs, and which of them each row is, as often as it stands for."""
        keys = [(row[0], row[1]) for row in rows]
        different = list(dict.fromkeys(keys))
        seen = {label for pair in different for label in pair if label is not None}
        labels = self._all_labels() or ordered(seen)
        expected, predicted = (
            numbered([pair[side] for pair in different], labels) for side in (0, 1)
        )
        times = np.array([row[2] if len(row) > 2 else 1 for row in rows], np.float64)
        which = numbered(keys, different)
        shape = (len(different), len(rows))
        pairs = Confusion(labels, expected, predicted, np.zeros((0, 0)), bool(self.labels))
        return pairs, Sparse(which, np.arange(len(rows)), times, shape)

    def _all_labels(self) -> list[str]:
        return [label_of(str(label)) for label in self.labels]

    def _positive(self) -> str:
        return label_of(str(self.positive))
