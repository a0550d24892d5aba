"""Studies: how well a metric agreed with people on rated data, from the file beside its card.

`metrichub agreement --write` and the benchmark write `agreement.json`; the card shows it in its
section "Agreement with people", and `list` sorts by it.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.errors import CardError, listed

FILE = "agreement.json"
SCHEMA = 1
ANY_TASK = "any task"
NO_PROTOCOL = "no named one"
FOLD = ("<details><summary>", "</summary>", "</details>")
"""The HTML around a folded part of a block: before its title, after it, and at the end."""
_DRAWN = {"items": "items", "systems": "systems", "both": "items and systems"}


class StudyValue(NamedTuple):
    """One coefficient of one output and dimension, with what a rater and what nothing gets."""

    output: str
    dimension: str
    level: str
    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    used: int
    undefined: int
    unscored: int
    ceiling: float | None
    chance: float | None


@dataclass(frozen=True)
class Study:
    """A metric on one data set by one protocol.

    `spec` makes the metric and `signature` is what it was; `data` has the name, title, task,
    systems, items, raters, sha256, licence and citation of the data. A study that isn't `shown` is
    of a part of the data, made anew by the tests.
    """

    spec: str
    signature: str
    data: Mapping[str, Any]
    references: str
    protocol: str
    draw: str
    draws: int
    seed: int
    confidence: float
    date: str
    shown: bool
    results: Sequence[StudyValue]

    @property
    def task(self) -> str:
        """The task of the rated texts."""
        return str(self.data.get("task") or ANY_TASK)

    @property
    def is_baseline(self) -> bool:
        """Whether the judge answered at random: cards show such a study, rankings don't."""
        return "judge='chance'" in self.spec

    @property
    def shown_values(self) -> list[StudyValue]:
        """The values of the last coefficient, which tables show, if cards show the study."""
        return [
            value
            for value in self.results
            if self.shown and value.coefficient == self.results[-1].coefficient
        ]

    def only(self, output: str) -> Study:
        """The study of one output."""
        return replace(self, results=[value for value in self.results if value.output == output])


def read_studies(folder: Path) -> tuple[Study, ...]:
    """The studies beside a card; none where there is no file.

    Raises:
        CardError: the file breaks the format.
    """
    path = folder / FILE
    if not path.exists():
        return ()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise CardError(
                f"{path}:1: its schema is {content['schema']}, and this version reads {SCHEMA}"
            )
        return tuple(_study(fields) for fields in content["studies"])
    except (ValueError, TypeError, KeyError) as error:
        raise CardError(f"{path}:1: the studies of agreement can't be read: {error}") from None


def _study(fields: Mapping[str, Any]) -> Study:
    """A study from its file; raises what `read_studies` catches."""
    values = tuple(StudyValue(**value) for value in fields["results"])
    for value in values:
        if not all(isinstance(text, str) for text in value[:4]):
            raise TypeError(f"{value[:4]} aren't an output, dimension, level and coefficient")
        if not all(number is None or isinstance(number, (int, float)) for number in value[4:]):
            raise TypeError(f"{list(value[4:])} may hold only numbers and null")
    if not isinstance(fields["data"], dict):
        raise TypeError("data isn't an object")
    return Study(**{**fields, "results": values})


def definition_of(signature: str) -> str:
    """The part of a signature that numbers depend on: parameters, definition, prompts, source."""
    parts = signature.split("|")
    deciding = ("definition:", "prompts:", "source:")
    named = [part for part in parts[1:] if part.startswith(deciding)]
    return "|".join([parts[0], *named])


class Best(NamedTuple):
    """The best value of a metric about a dimension of a task, and the study that has it."""

    study: Study
    value: StudyValue


def best_by_task(studies: Iterable[Study], dimension: str) -> dict[str, Best]:
    """The best output and setting about a dimension by task, by which tables sort metrics.

    Of the studies that cards show, by their last coefficient, which the cards show too.
    """
    by_task: dict[str, list[Best]] = {}
    for study in studies:
        for value in () if study.is_baseline else study.shown_values:
            if value.dimension == dimension and value.value is not None:
                by_task.setdefault(study.task, []).append(Best(study, value))
    return {
        task: max(some, key=lambda best: best.value.value or 0.0) for task, some in by_task.items()
    }


class Board(NamedTuple):
    """The values of metrics on the same data about the same dimension, the highest first."""

    dimension: str
    coefficient: str
    data: str
    values: Mapping[str, float]


def boards_of(studies: Mapping[str, Sequence[Study]], task: str) -> list[Board]:
    """The boards of a task by metrics' names, that of the most metrics first.

    A metric's value is that of its default setting, or else its highest. Of dimensions that the
    same metrics have, the last comes first, as data sets end with the overall one.
    """
    boards: dict[tuple[str, str, str], dict[str, float]] = {}
    for name, some in studies.items():
        for study in sorted(some, key=lambda study: study.spec == name):
            ranks = study.task == task and not study.is_baseline
            for value in study.shown_values if ranks else ():
                place = (value.dimension, value.coefficient, str(study.data["title"]))
                values = boards.setdefault(place, {})
                if value.value is not None:
                    default = study.spec == name and value.output == "score"
                    least = float("-inf") if default else values.get(name, float("-inf"))
                    values[name] = max(value.value, least)
    ranked = []
    for (dimension, coefficient, data), values in reversed(boards.items()):
        by_value = dict(sorted(values.items(), key=lambda pair: -pair[1]))
        ranked.append(Board(dimension, coefficient, data, by_value))
    return sorted(ranked, key=lambda board: -len(board.values))


def agreement_block(
    studies: Sequence[Study], tasks: Sequence[str], prompts_unknown: Collection[Study] = ()
) -> str:
    """The generated block of the section "Agreement with people"; "" where nothing is shown.

    `tasks` are those of the card: their studies come first, others under headings that say so. A
    note marks the studies that don't say which prompts the judge was asked with.
    """
    tables: dict[str, dict[str, list[Study]]] = {}
    for study in sorted(studies, key=lambda study: study.spec):
        if study.shown_values:
            facts = _facts(study, "; prompts unknown" if study in prompts_unknown else "")
            tables.setdefault(study.task, {}).setdefault(facts, []).append(study)
    missing = [task for task in tasks if task not in tables]
    parts = []
    if tables and missing and ANY_TASK not in tables:
        whose = "its task, " if len(missing) == len(tasks) else ""
        names = listed(map(_title, missing), "or")
        parts.append(f"Not measured on {whose}{names}.\n")
    of_card = [task for task in (*tasks, ANY_TASK) if task in tables]
    others = [task for task in tables if task not in of_card]
    for task in of_card + others:
        title = _title(task)
        if others and task == others[0]:
            parts.append(f"{FOLD[0]}Other tasks: {', '.join(map(_title, others))}{FOLD[1]}\n")
        other = task in others
        heading = f"Another task: {title}" if other else f"{title[0].upper()}{title[1:]}"
        parts.append(f"### {heading}\n")
        parts += [_table(facts, group) for facts, group in tables[task].items()]
    if others:
        parts.append(f"{FOLD[2]}\n")
    return "\n".join(parts)


def _title(task: str) -> str:
    """A task as it is written in a text."""
    return "RAG" if task == "rag" else task


def _facts(study: Study, note: str) -> str:
    """A sentence on the data and the values of a table of studies."""
    data, value = study.data, study.results[-1]
    size = [f"{data[name]:,} {name}" for name in ("systems", "items", "raters") if data[name] > 1]
    protocol = f", protocol `{study.protocol}`" if study.protocol != NO_PROTOCOL else ""
    return (
        f"{data['title']}: {', '.join(size)}. Each value is `{value.coefficient}` "
        f"({value.level}){protocol}, {study.references}{note}."
    )


def _table(facts: str, studies: Sequence[Study]) -> str:
    """Studies of the same data as a Markdown table, a row a setting, with the facts above."""
    values = [value for study in studies for value in study.shown_values]
    dimensions = list(dict.fromkeys(value.dimension for value in values))
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for study in studies:
        for value in study.shown_values:
            row = rows.setdefault((f"`{study.spec}`", f"`{value.output}`"), {})
            row[value.dimension] = value.value
    first, date = studies[0], max(study.date for study in studies)
    reach = dict.fromkeys(dimensions, 0.0)
    for study in studies:
        for value in () if study.is_baseline else study.shown_values:
            reach[value.dimension] = max(reach[value.dimension], _reach(value))
    for name, by_dimension in (
        (f"largest {first.confidence:.0%} half-width", reach),
        ("human ceiling", {value.dimension: value.ceiling for value in values}),
        ("chance", {value.dimension: value.chance for value in values}),
    ):
        if any(by_dimension.values()):
            rows[name, ""] = by_dimension
    lines = [["setting", "output", *dimensions], ["---"] * (len(dimensions) + 2)]
    for (setting, output), by_dimension in rows.items():
        figures = [_figure(by_dimension.get(dimension)) for dimension in dimensions]
        lines.append([setting, output, *figures])
    if len({value.output for value in values}) == 1:
        lines = [[setting, *figures] for setting, _, *figures in lines]
    drawn = f" Intervals are of {first.draws:,} draws of {_DRAWN[first.draw]}."
    text = f"{facts}{drawn if any(reach.values()) else ''} Measured on {date}."
    if licence := first.data.get("licence"):
        text += f" Licence of the data: {licence}."
    wrapped = "\n".join(textwrap.wrap(text, 100, break_on_hyphens=False))
    rows_of_table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{wrapped}\n\n{rows_of_table}"


def _reach(value: StudyValue) -> float:
    """How far a value's interval reaches from it."""
    if value.value is None or value.low is None or value.high is None:
        return 0.0
    return max(value.value - value.low, value.high - value.value)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
