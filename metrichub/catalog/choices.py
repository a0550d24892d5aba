"""Choices: what one evaluates and what one has lead to some metrics, by agreement with people."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import NamedTuple

from metrichub.catalog import guides
from metrichub.catalog.registry import Entry
from metrichub.catalog.spec import Spec
from metrichub.catalog.studies import best_by_task


class ChosenMetric(NamedTuple):
    """A metric of a choice: its spec and name, and how far it agreed with people where asked."""

    spec: str
    name: str
    agreement: str
    value: float | None


class MetricChoice(NamedTuple):
    """What one evaluates and has, the file of the example, and the metrics, the best first."""

    evaluate: str
    have: str
    data: str
    metrics: tuple[ChosenMetric, ...]


def choices(entries: Mapping[str, Entry]) -> tuple[MetricChoice, ...]:
    """The choices of docs/choices.toml all of whose metrics are among these, given by name.

    Metrics that were measured stand by how far they agreed, then the others as they were given.
    """
    path = guides.folder() / "choices.toml"
    if not path.is_file():
        return ()
    made = []
    for choice in tomllib.loads(path.read_text(encoding="utf-8"))["choice"]:
        names = [Spec.parse(spec).metric for spec in choice["metrics"]]
        if all(name in entries for name in names):
            rated = choice.get("task", ""), choice.get("dimension", "")
            chosen = [
                _chosen(spec, name, entries[name], *rated)
                for spec, name in zip(choice["metrics"], names, strict=True)
            ]
            chosen.sort(key=lambda metric: (metric.value is None, -(metric.value or 0.0)))
            made.append(
                MetricChoice(choice["evaluate"], choice["have"], choice["data"], tuple(chosen))
            )
    return tuple(made)


def _chosen(spec: str, name: str, entry: Entry, task: str, dimension: str) -> ChosenMetric:
    studies = [study for study in entry.studies if study.spec == spec] if dimension else []
    best = best_by_task(studies, dimension).get(task)
    if best is None:
        return ChosenMetric(spec, name, "", None)
    value = best.value
    agreement = f"agrees with people on {dimension}: {value.value:.2f} ({value.coefficient})"
    return ChosenMetric(spec, name, agreement, value.value)
