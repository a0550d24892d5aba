"""Jobs: uploaded files that are to be scored, and what a run's page shows of it afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from metrichub.app.policy import RequestedMetric
from metrichub.app.settings import Judging, ServerLimits
from metrichub.data.source import short_names
from metrichub.data.values import json_value
from metrichub.report.tables import Score, Table

PROGRESS = "progress.json"


class Upload(NamedTuple):
    """A file of a job: where it is, what it is ("jsonl"), and the name that its owner gave it."""

    path: Path
    format: str
    shown: str


@dataclass(frozen=True)
class FileJob:
    """Files to score, each the outputs of a system on the same samples; the first is the baseline.

    Attributes:
        folder: What is made of them is written there.
        files: The files.
        metrics: The metrics.
        mapping: A column, and the name that it has in the files.
        reduce: How to reduce several candidates of a sample to one score.
        judging: The server's judge.
        limits: How much the files may hold.
    """

    folder: Path
    files: tuple[Upload, ...]
    metrics: Sequence[RequestedMetric]
    mapping: Mapping[str, str] = field(default_factory=dict)
    reduce: str | None = None
    judging: Judging = field(default_factory=Judging)
    limits: ServerLimits = field(default_factory=ServerLimits)

    @property
    def systems(self) -> dict[str, Upload]:
        """The files by what distinguishes their names, as the command `compare` calls them."""
        return dict(zip(system_names([file.shown for file in self.files]), self.files, strict=True))

    @property
    def title(self) -> str:
        """What the run is called."""
        return ", ".join(self.systems)

    def named(self, text: str) -> str:
        """A text with the names of the files as their owner knows them."""
        for file in self.files:
            text = text.replace(str(file.path), file.shown)
        return text


def system_names(files: Sequence[str]) -> list[str]:
    """What distinguishes the names of files; a name that comes again has its number.

    >>> system_names(["run-ours.jsonl", "run-theirs.jsonl"])
    ['run-ours', 'run-theirs']
    >>> system_names(["out.jsonl", "out.jsonl"])
    ['out.jsonl', 'out.jsonl (2)']
    """
    names: list[str] = []
    seen: Counter[str] = Counter()
    for name in short_names(files, alone=len(files) == 1):
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


class ScoreTable(NamedTuple):
    """A table as it is kept: plain cells, and the places (row, column) of the best systems."""

    head: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()

    @classmethod
    def of(cls, table: Table) -> ScoreTable:
        """The table, its scores with ranks and intervals as text."""
        rows = [[str(c) if isinstance(c, Score) else json_value(c) for c in row]
                for row in table.rows]  # fmt: skip
        return cls(tuple(table.head), tuple(map(tuple, rows)), frozenset(table.best))


class Headline(NamedTuple):
    """A score that the list of runs shows."""

    metric: str
    output: str
    system: str
    score: float | None


@dataclass(frozen=True)
class Summary:
    """What a run's page shows.

    Attributes:
        size: The number of samples.
        table: Head and rows of the scores.
        signatures: The metrics' signatures.
        notes: Notes for readers of the scores, and of which metric.
        files: What can be downloaded.
        headlines: The scores that one reads first.
        sentences: The results of tests between several systems, in words.
    """

    size: int
    table: ScoreTable
    signatures: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    headlines: tuple[Headline, ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def first(self) -> list[list[Headline]]:
        """The first score of each metric, for all systems."""
        outputs: dict[str, str] = {}
        scores: dict[str, list[Headline]] = {}
        for headline in self.headlines:
            if outputs.setdefault(headline.metric, headline.output) == headline.output:
                scores.setdefault(headline.metric, []).append(headline)
        return list(scores.values())
