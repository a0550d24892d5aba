"""Agreement with people as the front page tables it: a row a metric, task and dimension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from metrichub.catalog.studies import StudyValue, best_by_task
from metrichub.errors import CardError
from metrichub.site.site_index import CardPage, one_line


class MeasuredRow(NamedTuple):
    """A metric's agreement about a dimension of a task: that of its best output and setting.

    `rated` names task and dimension, `data` what was rated; `aimless` says that neither direction
    of the output is better.
    """

    page: CardPage
    rated: str
    setting: str
    value: StudyValue
    data: str
    aimless: bool


def measured_rows(pages: Iterable[CardPage]) -> tuple[MeasuredRow, ...]:
    """The rows of all pages whose metrics were measured, the best of each dimension first."""
    rows = [row for page in pages for row in _of_page(page)]
    return tuple(sorted(rows, key=lambda row: (row.rated.casefold(), -(row.value.value or 0.0))))


def _of_page(page: CardPage) -> Iterator[MeasuredRow]:
    """The rows of one page; none where its file of studies can't be read."""
    try:
        studies = page.entry.studies
    except CardError:
        return
    for dimension in dict.fromkeys(v.dimension for study in studies for v in study.shown_values):
        for task, (study, value) in best_by_task(studies, dimension).items():
            yield MeasuredRow(
                page=page,
                rated=one_line(f"{task}: {dimension}"),
                setting=study.spec,
                value=value,
                data=one_line(str(study.data.get("title", ""))),
                aimless=page.card.better(value.output) == "neither",
            )
