"""`metrichub list --agreement DIMENSION`: the metrics that people's ratings were held to."""

from __future__ import annotations

from collections.abc import Iterable

from metrichub.catalog.registry import Entry, registry
from metrichub.catalog.studies import Study, best_value
from metrichub.cli.output import emit, shown_as
from metrichub.cli.program import note
from metrichub.report.tables import Table

_HEAD = ("name", "output", "coefficient", "agreement", "low", "high", "human ceiling", "chance")


def show_agreement(
    entries: Iterable[Entry], dimension: str, task: str | None, form: str | None
) -> None:
    """The metrics that were measured, the best first, with intervals and what a rater gets.

    `task` is that of the texts which people rated.
    """
    rated = [(entry, _about(task, entry)) for entry in entries if not entry.problem]
    found = [(e, value) for e, studies in rated if (value := best_value(studies, dimension))]
    if not found:
        known = {v.dimension for _, studies in rated for s in studies for v in s.results}
        have = f"; there are studies of: {', '.join(sorted(known))}" if known else ""
        where = f" for {task}" if task else ""
        note(f"no metric has a study of agreement with people on {dimension!r}{where}{have}")
    found.sort(key=lambda pair: -(pair[1].value or 0.0))
    rows = [
        (
            registry().name_of(entry),
            value.output,
            f"{value.coefficient} ({value.level})",
            *(value.value, value.low, value.high, value.ceiling, value.chance),
        )
        for entry, value in found
    ]
    emit(
        shown_as(form),
        lambda: [Table(_HEAD, rows)],
        lambda: [dict(zip(_HEAD, row, strict=True)) for row in rows],
    )


def _about(task: str | None, entry: Entry) -> list[Study]:
    """The studies beside an entry's card, of one task where one is given."""
    return [study for study in entry.studies if task in (None, study.data.get("task"))]
