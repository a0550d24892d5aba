"""The option --write of `agreement`: what was measured goes beside the metric's card."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from metrichub.cli.program import note

if TYPE_CHECKING:
    from metrichub.agreement.agreement import Agreement

write_option = click.option(
    "--write",
    "data",
    metavar="NAME",
    help="Write the result next to the metrics' cards, with NAME as the name of the data.",
)
EACH = "mean of the score against each reference alone"


def write_studies(found: Agreement, specs: Sequence[str], data: str, *, each: bool) -> None:
    """Write a study for every metric, and say where.

    Raises:
        UsageError: no metric was given, or one that isn't installed.
    """
    from metrichub.agreement.measured_studies import add_study, study_of
    from metrichub.catalog.registry import registry, spec_of

    if not specs:
        raise click.UsageError("--write needs -m METRIC, as columns of scores have no card")
    for text in specs:
        spec = spec_of(text)
        entry = registry().find(spec.metric)
        study = study_of(
            found,
            spec.alias or spec.metric,
            spec=text,
            data={"name": data, "title": data},
            references=EACH if each else "references as the metric takes them",
            date=datetime.now(UTC).date().isoformat(),
        )
        changed = add_study(entry.folder, entry.name, study)
        path = entry.folder / "agreement.json"
        todo = f"; 'metrichub check {entry.name} --update' adds it to the card" if changed else ""
        note(f"{'wrote' if changed else 'unchanged:'} {path}{todo}")
