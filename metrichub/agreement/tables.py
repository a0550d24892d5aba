"""What `metrichub agreement` shows: its tables, and the same as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrichub.report.tables import Cell, Table

if TYPE_CHECKING:
    from metrichub.agreement.agreement import Agreement
    from metrichub.agreement.verdicts import VerdictAgreement

Place = tuple[str, str, str]
"""A dimension, a level and a coefficient."""
_HEAD = [
    *("metric", "dimension", "TPR", "low", "high", "TNR", "low", "high", "kappa"),
    *("true no", "false yes", "false no", "true yes"),
]


def tables_of(
    agreement: Agreement, ranks: Mapping[Place, Mapping[str, int]], lines: Sequence[str], form: str
) -> list[Table]:
    """The table, then verdicts, and how far judges agree with themselves.

    CSV has one table, with the judges' columns. Markdown and LaTeX have lines below the last.
    """
    head, rows = agreement.table()
    if ranks:
        places = [ranks.get((r.dimension, r.level, r.coefficient), {}) for r in agreement.rows]
        of_rows = [place.get(r.metric) for place, r in zip(places, agreement.rows, strict=True)]
        head, rows = [*head, "rank"], [[*a, b] for a, b in zip(rows, of_rows, strict=True)]
    judged, judges = agreement.judge_table()
    if form != "csv":
        tables = [Table(head, rows), Table(_HEAD, _verdict_rows(agreement)), Table(judged, judges)]
        *first, last = [table for table in tables if table.rows]
        return [*first, last._replace(signatures=lines)]
    if not judges:
        return [Table(head, rows)]
    by_name = {row[0]: row[1:] for row in judges}
    more = [by_name.get(row[0], [None] * len(judged[1:])) for row in rows]
    names = [f"judge {name}" for name in judged[1:]]
    return [Table([*head, *names], [[*a, *b] for a, b in zip(rows, more, strict=True)])]


def document_of(
    agreement: Agreement, ranks: Mapping[Place, Mapping[str, int]], cited: bool
) -> dict[str, Any]:
    """What JSON has: the rows, ranks, verdicts with the samples to read, and citations."""
    document = agreement.to_dict()
    if ranks:
        document["ranks"] = [
            dict(zip(("dimension", "level", "coefficient"), place, strict=True))
            | {"ranks": of_place}
            for place, of_place in ranks.items()
        ]
    if verdicts := [names | table._asdict() for names, table in verdicts_of(agreement)]:
        document["verdicts"] = verdicts
    return document | ({"cite": agreement.cite()} if cited else {})


def verdicts_of(agreement: Agreement) -> Iterator[tuple[dict[str, str], VerdictAgreement]]:
    """Each metric's yes and no beside people's, where scores were cut into these."""
    if not agreement.cut_into_verdicts:
        return
    for dimension in dict.fromkeys(row.dimension for row in agreement.rows):
        for metric in agreement.metrics:
            yield {"metric": metric, "dimension": dimension}, agreement.verdicts(metric, dimension)


def _verdict_rows(agreement: Agreement) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for names, table in verdicts_of(agreement):
        cells = [*table.tpr, *table.tnr, table.kappa, *table.confusion[0], *table.confusion[1]]
        rows.append([*names.values(), *cells])
    return rows
