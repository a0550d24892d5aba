"""The best metric in a sentence, the tables of `metrichub agreement`, and a forest plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow, place_of
from metrichub.agreement.agreement_inputs import Place
from metrichub.agreement.choice import ChosenOutput
from metrichub.errors import MissingDependency, listed
from metrichub.evaluation.significance import p_text
from metrichub.report.tables import Cell, Score, Table, fit_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metrichub.agreement.verdicts import VerdictAgreement

_RATES = ["metric", "dimension", "TPR", "low", "high", "TNR", "low", "high", "kappa"]
_COUNTS = ["true no", "false yes", "false no", "true yes"]
_ACROSS = 3
_ALPHA = 0.05


def number(value: float) -> str:
    """Three decimals with a true minus, or a dash for none."""
    return "–" if isnan(value) else f"{value:.3f}".replace("-", "−")


def score_of(row: AgreementRow | None, with_interval: bool = True) -> Score:
    """The value of a row with its interval, for a table."""
    if row is None or isnan(row.value):
        return Score("–")
    shown = with_interval and not isnan(row.low)
    return Score(
        number(row.value), interval=f"[{number(row.low)}, {number(row.high)}]" if shown else ""
    )


def read_first(agreement: Agreement) -> list[AgreementRow]:
    """The rows of the coefficient that is read first, that of ranks or the only one, and level."""
    rows = agreement.rows
    first = next((row for row in rows if row.coefficient == "spearman"), rows[0])
    place = (first.coefficient, first.level)
    return [row for row in rows if (row.coefficient, row.level) == place]


def by_agreement(rows: Mapping[str, AgreementRow]) -> list[str]:
    """The metrics, the highest value first; the human ceiling and chance aren't among them."""
    metrics = [name for name in rows if name not in (CEILING, CHANCE)]
    return sorted(metrics, key=lambda m: (isnan(rows[m].value), -rows[m].value))


def sentences_of(agreement: Agreement, rows: Mapping[str, AgreementRow]) -> list[str]:
    """One sentence or two on the rows, by metric, of one dimension, level and coefficient."""
    if isinstance(agreement, ChosenOutput):
        return agreement.sentences()
    best, *others = (rows[name] for name in by_agreement(rows))
    about = f"with people on {best.dimension}"
    if isnan(best.value):
        return [f"No metric can be compared {about}; --verbose says why."]
    mark = [
        f"{name} {number(rows[key].value)}"
        for key, name in ((CEILING, "one rater"), (CHANCE, "chance"))
        if key in rows and not isnan(rows[key].value)
    ]
    if best.low <= (rows[CHANCE].value if CHANCE in rows else 0.0):
        who = "No metric is" if others else f"{best.metric} isn't"
        ends = f"[{number(best.low)}, {number(best.high)}]"
        reached = f"{best.metric} reaches {best.coefficient} {number(best.value)} {ends}"
        return [f"{who} shown to agree {about}: {reached} ({listed(mark)})."]
    how = "agrees best" if others else "agrees"
    text = f"{best.metric} {how} {about}: {best.coefficient} {number(best.value)}"
    text += f" ({listed(mark)})." if mark else "."
    if not others or isnan(others[0].value) or best.level == "average":
        return [text]
    second, place = others[0], place_of(best)._asdict()
    p = agreement.compare(best.metric, second.metric, **place).p
    verdict = "is lower" if p <= _ALPHA else "can't be told from it"
    return [text, f"{second.metric} ({number(second.value)}) {verdict} ({p_text(p)})."]


def tables_of(
    agreement: Agreement, ranks: Mapping[Place, Mapping[str, int]], lines: Sequence[str], form: str
) -> list[Table]:
    """The table, then verdicts, and how well judges agree with themselves.

    CSV has one table, with the judges' columns. Markdown and LaTeX have lines below the last.
    """
    head, rows, *_ = agreement.table()
    head, cells = [*head], [[*row] for row in rows]
    if ranks:
        head.append("rank")
        for row, row_cells in zip(agreement.rows, cells, strict=True):
            row_cells.append(ranks.get(place_of(row), {}).get(row.metric))
    judged, judges = agreement.judge_table()
    if form == "csv":
        by_metric = {of_judge[0]: of_judge[1:] for of_judge in judges}
        if judges:
            head += [f"judge {name}" for name in judged[1:]]
        for row, row_cells in zip(agreement.rows, cells, strict=True):
            row_cells += by_metric.get(row.metric, [None] * len(judged[1:]))
        return [Table(head, cells)]
    tables = [
        Table(head, cells),
        Table([*_RATES, *_COUNTS], _verdict_rows(agreement)),
        Table(judged, judges),
    ]
    *first, last = [table for table in tables if table.rows]
    return [*first, last._replace(signatures=lines)]


def document_of(
    agreement: Agreement, ranks: Mapping[Place, Mapping[str, int]], cited: bool
) -> dict[str, Any]:
    """The rows, ranks, verdicts with the samples to read, and citations, for JSON."""
    document = agreement.to_dict()
    if ranks:
        document["ranks"] = [
            {**place._asdict(), "ranks": of_place} for place, of_place in ranks.items()
        ]
    if verdicts := [names | table._asdict() for names, table in verdicts_of(agreement)]:
        document["verdicts"] = verdicts
    if cited:
        document["cite"] = agreement.cite()
    return document


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


def forest(agreement: Agreement) -> Figure:
    """A matplotlib figure with a panel for every dimension, level and coefficient.

    Raises:
        MissingDependency: matplotlib isn't installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("a plot", "matplotlib", "pip install 'metrichub[plots]'") from None
    panels: dict[Place, list[AgreementRow]] = {}
    for row in agreement.rows:
        panels.setdefault(place_of(row), []).append(row)
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


def _draw(axes: Axes, place: Place, rows: list[AgreementRow]) -> None:
    """Draw the rows of a panel from above, with lines for the ceiling and for chance."""
    lines = {CEILING: ("tab:green", "-"), CHANCE: ("0.5", ":")}
    metrics = [row for row in rows if row.metric not in lines]
    for y, row in enumerate(metrics):
        # Matplotlib leaves out nan.
        axes.plot([row.low, row.high], [y, y], color="tab:blue", linewidth=1.5)
        axes.plot([row.value], [y], "o", color="tab:blue", markersize=4)
    for row in rows:
        if row.metric in lines and not isnan(row.value):
            color, style = lines[row.metric]
            axes.axvline(row.value, color=color, linestyle=style, label=row.metric)
    axes.set_yticks(range(len(metrics)), [row.metric for row in metrics])
    axes.set_ylim(len(metrics) - 0.5, -0.5)
    axes.set_title(place.dimension, fontsize="medium")
    axes.set_xlabel(f"{place.coefficient}, {place.level}")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="x-small", loc="best")


def brief_lines(agreement: Agreement, width: int) -> list[str]:
    """A sentence, the metrics by agreement on the first dimension, and the data.

    As many lines as metrics, and nine more.
    """
    from metrichub.cli.screen import plain, styled, wrapped

    columns: dict[Place, dict[str, AgreementRow]] = {place_of(read_first(agreement)[0]): {}}
    for row in agreement.rows:
        columns.setdefault(place_of(row), {})[row.metric] = row
    first, *_ = columns.values()
    order = by_agreement(first)
    # People who agree with nobody but themselves have no ceiling.
    names = order + [name for name in (CEILING, CHANCE) if not isnan(first[name].value)]
    varied = [i for i, values in enumerate(zip(*columns, strict=True)) if len({*values}) > 1]
    heads = [" ".join(place[i] for i in varied or (0,)) for place in columns]
    with_interval = len(columns) == 1
    if with_interval and not isnan(first[order[0]].low):
        heads = [f"{heads[0]} [{agreement.confidence:.0%} interval]"]
    rows: list[list[Cell]] = [
        [name, *(score_of(of_place.get(name), with_interval) for of_place in columns.values())]
        for name in names
    ]
    table, hidden = fit_width(Table(["", *heads], rows).mapped(plain), width)
    head, best, *others = table.text().splitlines()
    return [
        *wrapped(plain(" ".join(sentences_of(agreement, first))), width),
        *["", head, styled(best, bold=True), *others, ""],
        *(styled(line, dim=True) for line in wrapped(plain(_data(agreement, hidden)), width)),
    ]


def _data(agreement: Agreement, hidden: int) -> str:
    """The sizes of the data, the first value, and how much isn't shown."""
    if isinstance(agreement, ChosenOutput):
        return " · ".join(agreement.facts())
    data, row = agreement.data, agreement.rows[0]
    sizes = {"systems": data.systems, "items": data.items, "raters": data.raters}
    facts = [f"{data.samples:,} outputs"]
    facts += [f"{number:,} {name}" for name, number in sizes.items() if number > 1]
    facts.append(f"{row.coefficient}, {row.level}")
    if unscored := max(row.unscored for row in agreement.rows):
        facts.append(f"up to {unscored:,} without a score")
    if hidden:
        facts.append(f"{hidden} columns hidden, widen the window")
    return " · ".join([*facts, "all: --verbose"])
