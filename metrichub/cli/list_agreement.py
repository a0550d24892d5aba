"""`metrichub list --agreement DIMENSION`: the metrics that people's ratings were held to."""

from __future__ import annotations

from collections.abc import Iterable

from metrichub.catalog.registry import Entry, registry
from metrichub.catalog.studies import best_by_task
from metrichub.cli.output import emit, shown_as
from metrichub.cli.program import note
from metrichub.errors import did_you_mean
from metrichub.report.tables import Table

_HEAD = (
    *("name", "task", "setting", "output", "coefficient"),
    *("agreement", "low", "high", "human ceiling", "chance"),
)


def show_agreement(
    entries: Iterable[Entry], dimension: str, task: str | None, form: str | None
) -> None:
    """The metrics that were measured, the best of each task first, with what a rater gets.

    `task` is that of the texts that people rated.
    """
    rated = [entry for entry in entries if not entry.problem]
    found = [
        (registry().name_of(entry), name, best)
        for entry in rated
        for name, best in best_by_task(entry.studies, dimension).items()
        if task in (None, name)
    ]
    if not found:
        studies = [s for entry in rated for s in entry.studies if task in (None, s.task)]
        known = {value.dimension for study in studies for value in study.shown_values}
        have = f"; there are studies of: {', '.join(sorted(known))}" if known else ""
        where = f" for {task}" if task else ""
        if task and not have:
            tasks = {study.task for entry in rated for study in entry.studies}
            have = did_you_mean(task, tasks)
            have = have or f"; there are studies for: {', '.join(sorted(tasks))}"
        note(f"no metric has a study of agreement with people on {dimension!r}{where}{have}")
    found.sort(key=lambda row: (row[1], -(row[2].value.value or 0.0)))
    rows = [
        (
            *(name, about, study.spec, value.output, f"{value.coefficient} ({value.level})"),
            *(value.value, value.low, value.high, value.ceiling, value.chance),
        )
        for name, about, (study, value) in found
    ]
    emit(
        shown_as(form),
        lambda: [Table(_HEAD, rows)],
        lambda: [dict(zip(_HEAD, row, strict=True)) for row in rows],
    )
