"""The guides in docs/ by name, and the choices of metrics for a purpose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from metrichub.catalog.registry import Entry
from metrichub.catalog.spec import Spec
from metrichub.catalog.studies import best_by_task

_HOME = Path(__file__).resolve().parents[1]
# What the site's front page begins with, and the changelog, which would answer any question.
_ASIDE = ("HOME", "CHANGELOG")
_KEYWORDS = re.compile(r"\A<!-- keywords: (.*?) -->\n", re.DOTALL)


class Guide(NamedTuple):
    """A page of docs/: its name ("TASKS", "evidence/SPEED"), parts, and Markdown without title."""

    name: str
    title: str
    summary: str
    keywords: tuple[str, ...]
    body: str
    path: Path


def folder() -> Path:
    """Where the guides lie: in the package as it is installed, or beside it in a clone."""
    inside = _HOME / "docs"
    return inside if inside.is_dir() else _HOME.parent / "docs"


@cache
def guides() -> tuple[Guide, ...]:
    """Every guide, in the order of names, those of evidence last."""
    paths = [path for part in ("*.md", "evidence/*.md") for path in sorted(folder().glob(part))]
    return tuple(read_guide(path) for path in paths if path.stem not in _ASIDE)


def read_guide(path: Path) -> Guide:
    """The guide in a file: a comment of keywords if there is one, a title, a first paragraph."""
    text = path.read_text(encoding="utf-8")
    comment = _KEYWORDS.match(text)
    keywords = tuple(word.strip() for word in comment[1].split(",")) if comment else ()
    head, _, body = text[comment.end() if comment else 0 :].lstrip().partition("\n")
    first = " ".join(body.strip().partition("\n\n")[0].split())
    summary = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", first)
    name = path.with_suffix("").as_posix().rpartition("/docs/")[2]
    return Guide(name, head.removeprefix("# ").strip(), summary, keywords, body, path)


class ChosenMetric(NamedTuple):
    """A metric of a choice: its spec and name, and how well it agreed with people where asked."""

    spec: str
    name: str
    agreement: str
    value: float | None


class MetricChoice(NamedTuple):
    """A thing to evaluate, the data at hand, an example's file, and metrics, the best first."""

    evaluate: str
    have: str
    data: str
    metrics: tuple[ChosenMetric, ...]


def choices(entries: Mapping[str, Entry]) -> tuple[MetricChoice, ...]:
    """The choices of docs/choices.toml all of whose metrics are among these, given by name.

    Metrics that were measured stand by how far they agreed, then the others as they were given.
    """
    import tomllib

    path = folder() / "choices.toml"
    if not path.is_file():
        return ()
    offered = []
    for choice in tomllib.loads(path.read_text(encoding="utf-8"))["choice"]:
        names = [Spec.parse(spec).metric for spec in choice["metrics"]]
        if all(name in entries for name in names):
            task, dimension = choice.get("task", ""), choice.get("dimension", "")
            metrics = [
                _chosen(spec, name, entries[name], task, dimension)
                for spec, name in zip(choice["metrics"], names, strict=True)
            ]
            metrics.sort(key=lambda metric: (metric.value is None, -(metric.value or 0.0)))
            evaluate, have, data = choice["evaluate"], choice["have"], choice["data"]
            offered.append(MetricChoice(evaluate, have, data, tuple(metrics)))
    return tuple(offered)


def _chosen(spec: str, name: str, entry: Entry, task: str, dimension: str) -> ChosenMetric:
    studies = [study for study in entry.studies if study.spec == spec] if dimension else []
    # The number that is reported, or the best of several of equal rank, as ROUGE's.
    reported = [study.only("score") for study in studies]
    best = {**best_by_task(studies, dimension), **best_by_task(reported, dimension)}.get(task)
    if best is None:
        return ChosenMetric(spec, name, "", None)
    value = best.value
    agreement = f"agrees with people on {dimension}: {value.value:.2f} ({value.coefficient})"
    return ChosenMetric(spec, name, agreement, value.value)
