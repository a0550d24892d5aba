"""Studies: how far a metric agreed with people on rated data, from the file beside its card.

`agreement.json` is written by `metrichub agreement --write` and by the benchmark; the card's
section "Agreement with people" shows it, and `list` sorts by it.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.errors import CardError

FILE = "agreement.json"
SCHEMA = 1


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

    def as_dict(self) -> dict[str, Any]:
        """The study as its file has it."""
        return {
            **{
                name: getattr(self, name) for name in self.__dataclass_fields__ if name != "results"
            },
            "results": [value._asdict() for value in self.results],
        }

    def same_numbers(self, other: Study) -> bool:
        """Whether both say the same but for the date and the versions of packages."""
        mine, theirs = self.as_dict(), other.as_dict()
        for one in (mine, theirs):
            del one["date"], one["signature"]
        return mine == theirs and definition_of(self.signature) == definition_of(other.signature)


def read_studies(folder: Path) -> tuple[Study, ...]:
    """The studies beside a card; none where there is no file.

    Raises:
        CardError: the file breaks the format.
    """
    path = folder / FILE
    if not path.exists():
        return ()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["schema"] != SCHEMA:
            raise CardError(
                f"{path}:1: its schema is {found['schema']}, and this version reads {SCHEMA}"
            )
        return tuple(_study(one) for one in found["studies"])
    except (ValueError, TypeError, KeyError) as error:
        raise CardError(f"{path}:1: the studies of agreement can't be read: {error}") from None


def _study(given: Mapping[str, Any]) -> Study:
    """A study from its file; raises what `read_studies` catches."""
    values = tuple(StudyValue(**value) for value in given["results"])
    for value in values:
        if not all(isinstance(text, str) for text in value[:4]):
            raise TypeError(f"{value[:4]} aren't an output, dimension, level and coefficient")
        if not all(one is None or isinstance(one, (int, float)) for one in value[4:]):
            raise TypeError(f"{list(value[4:])} may hold only numbers and null")
    if not isinstance(given["data"], dict):
        raise TypeError("data isn't an object")
    return Study(**{**given, "results": values})


def studies_text(metric: str, studies: Iterable[Study]) -> str:
    """The text of the file beside a card."""
    parts = ",\n".join(_text(study.as_dict()) for study in studies)
    head = f'{{"schema": {SCHEMA}, "metric": {json.dumps(metric)}, "studies": ['
    return f"{head}\n{parts}\n]}}\n"


def _text(study: Mapping[str, Any]) -> str:
    """A study as JSON with a line for each fact and each value."""
    facts = [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in study.items()
        if name != "results"
    ]
    values = ",\n".join(json.dumps(value) for value in study["results"])
    return "{" + ",\n".join([*facts, f'"results": [\n{values}\n]']) + "}"


def definition_of(signature: str) -> str:
    """The part of a signature that decides the numbers: parameters, definition, prompts, source."""
    parts = signature.split("|")
    deciding = ("definition:", "prompts:", "source:")
    named = [part for part in parts[1:] if part.startswith(deciding)]
    return "|".join([parts[0], *named])


def best_value(studies: Iterable[Study], dimension: str) -> StudyValue | None:
    """What tables sort metrics by: the best output's agreement about a dimension, or None.

    Of the studies that cards show, by the last coefficient of their protocol: tau-b of items for
    most.
    """
    found = [
        [value for value in study.results if value.dimension == dimension]
        for study in studies
        if study.shown
    ]
    values = [
        value
        for of_study in found
        for value in of_study
        if value.coefficient == of_study[-1].coefficient and value.value is not None
    ]
    return max(values, key=lambda value: value.value or 0.0, default=None)


def agreement_block(studies: Sequence[Study], prompts_unknown: Collection[Study] = ()) -> str:
    """The generated block of the section "Agreement with people"; "" where nothing is shown.

    It notes the studies that don't say which prompts the judge was asked with.
    """
    return "\n".join(
        _shown(study, "; prompts unknown" * (study in prompts_unknown))
        for study in studies
        if study.shown
    )


def _shown(study: Study, note: str) -> str:
    """A study as a Markdown table with a line of facts above."""
    kinds = list(dict.fromkeys((value.level, value.coefficient) for value in study.results))
    names = [f"{coefficient} ({level})" for level, coefficient in kinds]
    head = ["output", "dimension", *names, "human ceiling", "chance"]
    rows: dict[tuple[str, str], dict[tuple[str, str], StudyValue]] = {}
    for value in study.results:
        place = rows.setdefault((value.output, value.dimension), {})
        place[value.level, value.coefficient] = value
    lines = [f"| {' | '.join(head)} |\n", f"|{' --- |' * len(head)}\n"]
    for (output, dimension), found in rows.items():
        values = [found[kind] for kind in kinds if kind in found]
        cells = [f"`{output}`", dimension, *map(_interval, values)]
        cells += [_several(v.ceiling for v in values), _several(v.chance for v in values)]
        lines.append(f"| {' | '.join(cells)} |\n")
    data = study.data
    size = ", ".join(_count(data[name], name) for name in ("systems", "items", "raters"))
    intervals = f"{study.confidence:.0%} intervals of {study.draws:,} draws of {study.draw}"
    facts = (
        f"{data['title']}: {size}; protocol `{study.protocol}`, {study.references}; {intervals}; "
        f"`{study.spec}`, measured on {study.date}{note}."
    )
    wrapped = "\n".join(textwrap.wrap(facts, 100, break_on_hyphens=False))
    return f"{wrapped}\n\n{''.join(lines)}"


def _count(number: int, plural: str) -> str:
    return f"{number} {plural if number != 1 else plural.removesuffix('s')}"


def _interval(value: StudyValue) -> str:
    if value.value is None:
        return "undefined"
    if value.low is None or value.high is None:
        return f"{value.value:.3f}"
    return f"{value.value:.3f} [{value.low:.2f}, {value.high:.2f}]"


def _several(numbers: Iterable[float | None]) -> str:
    return ", ".join("–" if number is None else f"{number:.3f}" for number in numbers)
