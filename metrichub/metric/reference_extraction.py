"""Extraction from references: how the answer is read from a worked solution or a place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from metrichub.errors import ParameterError
from metrichub.metric.base import Metric
from metrichub.metric.extraction import Read, extraction

_LETTERS = ("choice", "mmlu-pro", "lm-eval-mmlu-pro", "simple-evals", "inspect-letter")
"""Extractions that read a letter or nothing."""


class ReferenceReading(NamedTuple):
    """The function that reads references, the problem where it reads nothing, and a remedy."""

    read: Read
    problem: str
    remedy: str = ""


def reading_references(metric: Metric, extract: object) -> Metric:
    """The metric that compares what an extraction reads from references, if it reads any.

    Raises:
        ParameterError: there is no such extraction.
    """
    if not isinstance(extract, str):
        raise ParameterError(metric.name, "extract_references", extract, "a text, such as 'boxed'")
    if not _reads_references(metric):
        return replace(metric, reference_extraction=None)
    if extract in ("", "none"):
        return replace(metric, reference_extraction="")
    label = extraction(extract, metric.name, "extract_references").label
    return replace(metric, reference_extraction=label)


def reference_reading(metrics: Iterable[Metric]) -> ReferenceReading | None:
    """How the references of metrics are read, if not as they are.

    Numbers that are compared with letters are refused, as they can't be equal.

    Raises:
        ParameterError: metrics have different extractions.
    """
    reading = list(filter(_reads_references, metrics))
    labels = {metric.reference_extraction or None for metric in reading}
    if len(labels) > 1:
        allowed = "the same for all metrics of a hub, as references are read once"
        raise ParameterError(None, "extract_references", sorted(map(str, labels)), allowed)
    for label in labels - {None}:
        return ReferenceReading(extraction(label).read, f"has nothing that {label!r} reads")
    for metric in reading:
        if (metric.extraction or "").partition("(")[0] in _LETTERS:
            problem = f"is a number, but {metric.extraction!r} reads letters"
            return ReferenceReading(_no_number, problem, "index")
    return None


def _reads_references(metric: Metric) -> bool:
    return bool({"reference", "references"} & {*metric.inputs()})


def _no_number(text: str, _: Sequence[str]) -> str | None:
    return None if text.strip().isdecimal() else text
