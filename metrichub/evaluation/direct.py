"""Direct scores: what a hub that is called returns of few plain texts, without a report beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from metrichub.evaluation.measurement import ByName, Nested
from metrichub.evaluation.script_coverage import known_tokenizer, unread_rows
from metrichub.evaluation.stats import NOTED, sum_of
from metrichub.metric import CorpusMetric, FunctionMetric, Measured, Metric, measuring, takes_count
from metrichub.text import RaggedTexts, Texts

MOST = 64
"""Up to so many samples are scored directly."""
_BYTES = 8
_INPUTS = frozenset({"prediction", "reference", "references"})


@dataclass(frozen=True)
class _Step:
    """A metric, with what a hub asks it about itself once."""

    metric: Metric
    inputs: tuple[str, ...]
    outputs: frozenset[str]
    counted: bool
    tokenizer: Any

    @classmethod
    def of(cls, metric: Metric) -> _Step:
        """The metric with its inputs, outputs and tokenizer."""
        inputs, outputs = tuple(metric.inputs()), frozenset(metric.outputs())
        return cls(metric, inputs, outputs, takes_count(metric), known_tokenizer(metric))

    def scores(
        self, views: Mapping[str, Any], size: int, only_ascii: bool
    ) -> dict[str, float] | None:
        """The corpus score of every output; None if a sample or the corpus has none."""
        arguments = {name: views[name] for name in self.inputs}
        measured = self.metric.measure(**arguments)  # type: ignore[attr-defined]  # the author's
        if isinstance(measured, Measured):
            if measured.reasons or measured.undefined_for:
                return None
            measured = measured.statistics
        totals = _totals(measured, size)
        if totals is None or self.metric.undefined(totals):
            return None
        if self.tokenizer is not None and not only_ascii:
            view: Any = SimpleNamespace(arguments=arguments)
            if unread_rows(self.metric, self.tokenizer, view):
                return None
        if self.counted:
            totals["count"] = np.float64(size)
        outputs = self.metric.score(**totals)
        if outputs.keys() != self.outputs:
            return None
        return ByName({name: float(value) for name, value in outputs.items()}, self.metric.name)


def _totals(measured: Mapping[str, Any], size: int) -> dict[str, Any] | None:
    """The sums of the statistics, as those of a report; None if they need more care than that."""
    totals: dict[str, Any] = {}
    for name, rows in measured.items():
        kind = rows.dtype.kind
        if rows.shape[0] != size or rows.itemsize != _BYTES or kind not in "if":
            return None
        if name.startswith(NOTED):
            continue
        if kind == "i":
            totals[name] = rows[0] if size == 1 else rows.sum(axis=0)
            continue
        # A sum is never -0.0.
        totals[name] = rows[0] + 0.0 if size == 1 else sum_of(rows)
        if np.isnan(totals[name]).any():
            return None
    return totals


@dataclass(frozen=True)
class DirectScores:
    """Scores of few plain texts by metrics that measure columns of texts.

    Attributes:
        steps: The metrics.
        columns: The columns that a call has to name.
    """

    steps: tuple[_Step, ...]
    columns: frozenset[str]

    @classmethod
    def of(cls, metrics: Sequence[Metric]) -> DirectScores | None:
        """None if a metric needs more than texts and their references."""
        simple = all(
            not isinstance(metric, (CorpusMetric, FunctionMetric))
            and measuring(type(metric)) == "measure"
            and not (metric.extraction or metric.reference_extraction)
            and _INPUTS.issuperset(metric.inputs())
            for metric in metrics
        )
        if not simple or not metrics:
            return None
        steps = tuple(map(_Step.of, metrics))
        reads_references = {name for step in steps for name in step.inputs} != {"prediction"}
        columns = {"predictions", "references"} if reads_references else {"predictions"}
        return cls(steps, frozenset(columns))

    def scores(self, by_name: Mapping[str, object]) -> Nested | None:
        """The nested dict of scores; None for texts that need a report.

        Those are many texts, lists of several, samples without a score, and whatever makes a metric
        raise an error: the report says which sample that is.
        """
        predictions = _texts_of(by_name["predictions"])
        if not predictions or len(predictions) > MOST:
            return None
        views: dict[str, Any] = {"prediction": Texts(predictions)}
        texts = predictions
        if "references" in by_name:
            references = _texts_of(by_name["references"])
            if not references or len(references) != len(predictions):
                return None
            views["reference"] = items = Texts(references)
            views["references"] = RaggedTexts(items, range(len(items) + 1))
            texts = predictions + references
        only_ascii = "".join(texts).isascii()
        scores: dict[str, dict[str, float]] = {}
        try:
            with np.errstate(all="ignore"):
                for step in self.steps:
                    of_metric = step.scores(views, len(predictions), only_ascii)
                    if of_metric is None:
                        return None
                    scores[step.metric.name] = of_metric
        # The report of these samples says what is wrong, and where.
        except Exception:  # noqa: BLE001
            return None
        return ByName(scores)


def _texts_of(column: object) -> list[str] | None:
    """The texts of a list; a list of one text with several words stands for it."""
    if not isinstance(column, (list, tuple)):
        return None
    texts = []
    for item in column:
        text = item[0] if isinstance(item, list) and len(item) == 1 else item
        # A word alone in a list may be a token of a text.
        if type(text) is not str or (text is not item and " " not in text):
            return None
        texts.append(text)
    return texts
