"""Agreement with people as the front page tables it: a row a metric, task and dimension."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from metrichub.catalog.studies import Study, StudyValue, best_value
from metrichub.errors import CardError
from metrichub.site.index import CardPage, one_line


class MeasuredRow(NamedTuple):
    """A metric's agreement about a dimension of a task: that of its best output.

    `rated` names task and dimension, `data` what was rated; `aimless` says that neither direction
    of the output is better.
    """

    page: CardPage
    rated: str
    value: StudyValue
    data: str
    aimless: bool


def measured_rows(pages: Iterable[CardPage]) -> tuple[MeasuredRow, ...]:
    """The rows of all pages whose metrics were measured, the best of each dimension first."""
    rows = [row for page in pages for row in _of_page(page)]
    return tuple(sorted(rows, key=lambda row: (row.rated.casefold(), -(row.value.value or 0.0))))


def _of_page(page: CardPage) -> list[MeasuredRow]:
    """The rows of one page; none where its file of studies can't be read."""
    try:
        studies = [study for study in page.entry.studies if study.shown and study.results]
    except CardError:
        return []
    return [
        row
        for task, dimension in dict.fromkeys(
            (_task(s), v.dimension) for s in studies for v in s.results
        )
        if (row := _row(page, [s for s in studies if _task(s) == task], task, dimension))
    ]


def _row(page: CardPage, studies: list[Study], task: str, dimension: str) -> MeasuredRow | None:
    value = best_value(studies, dimension)
    if value is None:
        return None
    titles = dict.fromkeys(
        one_line(str(s.data.get("title", ""))) for s in studies if value in s.results
    )
    return MeasuredRow(
        page=page,
        rated=one_line(f"{task}: {dimension}"),
        value=value,
        data=", ".join(titles),
        aimless=page.card.better(value.output) == "neither",
    )


def _task(study: Study) -> str:
    return str(study.data.get("task") or "any task")
