"""Agreement that was measured becomes a study beside a metric's card."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from math import isnan, nan
from pathlib import Path
from typing import Any

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, place_of
from metrichub.catalog.studies import (
    FILE,
    NO_PROTOCOL,
    SCHEMA,
    Study,
    StudyValue,
    definition_of,
    read_studies,
)
from metrichub.data.files import write_text

EACH = "mean of the scores against each reference"
"""How the references of a study were used, if not as the metric takes them."""
_DIGITS = 4


def study_of(  # the facts of one study, each by its name
    agreement: Agreement,
    metric: str,
    *,
    spec: str,
    data: Mapping[str, Any],
    references: str,
    date: str,
    shown: bool = True,
) -> Study:
    """The study of one metric; `data` gives the name, title, task, licence and citation."""
    value_at = {(row.metric, place_of(row)): row.value for row in agreement.rows}
    values = []
    for row in agreement.rows:
        name, _, output = row.metric.partition(".")
        if name != metric:
            continue
        place = place_of(row)
        numbers = map(_rounded, (row.value, row.low, row.high))
        others = (_rounded(value_at.get((kind, place), nan)) for kind in (CEILING, CHANCE))
        counts = row.used, row.undefined, row.unscored
        cells = [output or "score", *place, *numbers, *counts, *others]
        values.append(StudyValue._make(cells))
    return Study(
        spec=spec,
        signature=agreement.signatures[metric],
        data={**data, **{k: v for k, v in agreement.data._asdict().items() if k != "samples"}},
        references=references,
        protocol=agreement.protocol or NO_PROTOCOL,
        draw=agreement.drawn.draw,
        draws=agreement.drawn.draws,
        seed=agreement.drawn.seed,
        confidence=agreement.confidence,
        date=date,
        shown=shown,
        results=tuple(values),
    )


def add_study(folder: Path, metric: str, study: Study) -> bool:
    """Write a study beside a card, in place of that of the same data and spec; whether it changed.

    One with the same numbers keeps its date and the version that it was measured with.
    """
    old = read_studies(folder)
    places = [(earlier.data["name"], earlier.spec) for earlier in old]
    place = study.data["name"], study.spec
    if place in places and _same_numbers(old[places.index(place)], study):
        return False
    studies = [
        study if its_place == place else other for its_place, other in zip(places, old, strict=True)
    ]
    studies += [study] if place not in places else []
    write_text(folder / FILE, studies_text(metric, studies))
    return True


def studies_text(metric: str, studies: Iterable[Study]) -> str:
    """The text of the file beside a card."""
    parts = ",\n".join(_text(_as_dict(study)) for study in studies)
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


def _as_dict(study: Study) -> dict[str, Any]:
    """The study as its file has it."""
    facts = {field.name: getattr(study, field.name) for field in fields(study)}
    return {**facts, "results": [value._asdict() for value in study.results]}


def _same_numbers(study: Study, other: Study) -> bool:
    """Whether both say the same but for the date and the versions of packages."""
    mine, theirs = _as_dict(study), _as_dict(other)
    for facts in (mine, theirs):
        del facts["date"], facts["signature"]
    return mine == theirs and definition_of(study.signature) == definition_of(other.signature)


def _rounded(value: float) -> float | None:
    return None if isnan(value) else round(value, _DIGITS)
