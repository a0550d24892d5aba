"""What `metrichub agreement` shows: its tables, the same as a document, and a forest plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

from metrichub.cli.screen import plain, styled, wrapped
from metrichub.errors import MissingDependency
from metrichub.report.tables import Cell, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metrichub.agreement.agreement import Agreement, AgreementRow
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
    """The table, then verdicts, and how well judges agree with themselves.

    CSV has one table, with the judges' columns. Markdown and LaTeX have lines below the last.
    """
    table = agreement.table()
    head, rows = [*table.head], [[*row] for row in table.rows]
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
    more = [by_name.get(row.metric, [None] * len(judged[1:])) for row in agreement.rows]
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


_ACROSS = 3


def forest(agreement: Agreement) -> Figure:
    """A matplotlib figure with a panel for every dimension, level and coefficient.

    Raises:
        MissingDependency: matplotlib isn't installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("a plot", "matplotlib", "pip install 'metrichub[plots]'") from None
    panels: dict[tuple[str, str, str], list[AgreementRow]] = {}
    for row in agreement.rows:
        panels.setdefault((row.dimension, row.level, row.coefficient), []).append(row)
    across = min(_ACROSS, len(panels))
    down = ceil(len(panels) / across)
    height = 0.9 + 0.3 * len(agreement.metrics)
    figure = Figure(figsize=(1 + 3.2 * across, down * height), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    for panel, (place, rows) in zip(axes, panels.items(), strict=False):
        _draw(panel, place, rows)
    for panel in axes[len(panels) :]:
        panel.remove()
    return figure


def _draw(axes: Axes, place: tuple[str, str, str], rows: list[AgreementRow]) -> None:
    """The rows of a panel from above, with lines for the ceiling and for chance."""
    from metrichub.agreement.agreement import CEILING, CHANCE

    lines = {CEILING: ("tab:green", "-"), CHANCE: ("0.5", ":")}
    metrics = [row for row in rows if row.metric not in lines]
    for y, row in enumerate(metrics):
        # What is nan isn't drawn.
        axes.plot([row.low, row.high], [y, y], color="tab:blue", linewidth=1.5)
        axes.plot([row.value], [y], "o", color="tab:blue", markersize=4)
    for row in rows:
        if row.metric in lines and not isnan(row.value):
            color, style = lines[row.metric]
            axes.axvline(row.value, color=color, linestyle=style, label=row.metric)
    axes.set_yticks(range(len(metrics)), [row.metric for row in metrics])
    axes.set_ylim(len(metrics) - 0.5, -0.5)
    dimension, level, coefficient = place
    axes.set_title(dimension, fontsize="medium")
    axes.set_xlabel(f"{coefficient}, {level}")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="x-small", loc="best")


def brief_lines(agreement: Agreement, width: int) -> list[str]:
    """A sentence, the metrics by agreement on the first dimension, and the data.

    As many lines as metrics, and nine more.
    """
    from metrichub.agreement.agreement import CEILING, CHANCE
    from metrichub.agreement.best_metric import by_agreement, read_first, sentences_of

    columns: dict[Place, dict[str, AgreementRow]] = {}
    for row in agreement.rows:
        place = (row.dimension, row.level, row.coefficient)
        columns.setdefault(place, {})[row.metric] = row
    one = read_first(agreement)[0]
    place = (one.dimension, one.level, one.coefficient)
    columns = {place: columns[place], **columns}
    varied = [i for i, values in enumerate(zip(*columns, strict=True)) if len({*values}) > 1]
    heads = [" ".join(place[i] for i in varied or (0,)) for place in columns]
    first = columns[place]
    order = by_agreement(first)
    # People who agree with nobody but themselves have no ceiling.
    others = [name for name in (CEILING, CHANCE) if not isnan(first[name].value)]
    alone = len(columns) == 1
    if alone and not isnan(first[order[0]].low):
        heads = [f"{heads[0]} [{agreement.confidence:.0%} interval]"]
    cells = [[_cell(of_place[name], alone) for of_place in columns.values()]
             for name in [*order, *others]]  # fmt: skip
    lines, hidden = _lines(["", *order, *others], [heads, *cells], width)
    lines[1] = styled(lines[1], bold=True)
    foot = _data(agreement, hidden)
    return [
        *wrapped(plain(" ".join(sentences_of(agreement, first))), width),
        *["", *lines, ""],
        *(styled(line, dim=True) for line in wrapped(plain(foot), width)),
    ]


def _cell(row: AgreementRow, with_interval: bool) -> str:
    from metrichub.agreement.best_metric import number

    inside = with_interval and not isnan(row.low)
    bounds = f" [{number(row.low)}, {number(row.high)}]" if inside else ""
    return plain(f"{number(row.value)}{bounds}")


def _lines(
    names: Sequence[str], cells: Sequence[Sequence[str]], width: int
) -> tuple[list[str], int]:
    """Aligned lines with as many columns as fit, and how many don't."""
    lines = [name.ljust(max(map(len, names))) for name in names]
    for number, column in enumerate(zip(*cells, strict=True)):
        wide = max(map(len, column))
        if number and len(lines[0]) + 2 + wide > width:
            return [line.rstrip() for line in lines], len(cells[0]) - number
        lines = [f"{line}  {cell:<{wide}}" for line, cell in zip(lines, column, strict=True)]
    return [line.rstrip() for line in lines], 0


def _data(agreement: Agreement, hidden: int) -> str:
    """What was rated and how it was compared, and what is left out."""
    data, row = agreement.data, agreement.rows[0]
    sizes = {"systems": data.systems, "items": data.items, "raters": data.raters}
    counts = [f"{data.samples:,} outputs"] + [f"{n:,} {name}" for name, n in sizes.items() if n > 1]
    facts = [*counts, f"{row.coefficient}, {row.level}"]
    unscored = max(row.unscored for row in agreement.rows)
    facts += [f"up to {unscored:,} without a score"] * bool(unscored)
    facts += [f"{hidden} columns hidden, widen the window"] * bool(hidden)
    return " · ".join([*facts, "all: --verbose"])
