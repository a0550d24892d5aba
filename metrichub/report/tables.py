"""Tables of scores as text, CSV, Markdown, LaTeX or JSON values."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from metrichub.evaluation.resample import Interval
    from metrichub.evaluation.significance import Comparison
    from metrichub.report.report import Report

Cell = str | float | None


class Table(NamedTuple):
    """A head and rows of cells; numbers stay numbers until they are shown.

    `best` are the places (row, column) of the best systems, which papers print in bold.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    best: Collection[tuple[int, int]] = frozenset()

    @classmethod
    def of(
        cls, report: Report, intervals: Mapping[str, Mapping[str, Interval]] | None = None
    ) -> Table:
        """A report's scores, a row an output, with intervals, and counts of samples without one."""
        nested = report.scores()
        head = ["metric", "output", "score"]
        head += ["low", "high"] if intervals else []
        counts = [
            name
            for name in ("unscored", "unanswered", "errors")
            if any(nested[metric].get(name) for metric in report.results)
        ]
        head += counts
        rows: list[list[Cell]] = []
        for metric, result in report.results.items():
            for output, value in result.scores().items():
                row: list[Cell] = [metric, output, value]
                if intervals:
                    row += intervals[metric][output][:2]
                rows.append([*row, *(nested[metric].get(name, 0) for name in counts)])
        return cls(head, rows)

    @classmethod
    def beside(
        cls,
        reports: Mapping[str, Report],
        intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]] | None = None,
    ) -> Table:
        """The scores of systems side by side, a row an output, the best of each row marked.

        None is marked where the systems were measured on other samples, or left different
        predictions unanswered. One system is the table that `of` gives. An output that a system
        lacks has empty cells.
        """
        from metrichub.evaluation.merge import unranked

        tables = {
            name: cls.of(report, (intervals or {}).get(name)) for name, report in reports.items()
        }
        if len(tables) == 1:
            return next(iter(tables.values()))
        head, columns = ["metric", "output"], []
        for name, table in tables.items():
            columns.append(len(head))
            head += [name, *(f"{name} {part}" for part in table.head[3:])]
        found = [{row[:2]: row[2:] for row in map(tuple, table.rows)} for table in tables.values()]
        empty = [(None,) * (len(table.head) - 2) for table in tables.values()]
        rows: list[tuple[Cell, ...]] = []
        for key in dict.fromkeys(key for part in found for key in part):
            parts = [part.get(key, none) for part, none in zip(found, empty, strict=True)]
            rows.append((*key, *chain.from_iterable(parts)))
        directions = _directions(reports)
        withheld = unranked(list(reports.values()))
        best = {
            (i, columns[k])
            for i, row in enumerate(rows)
            if row[0] not in withheld
            for k in best_of([row[c] for c in columns], directions[row[0], row[1]])
        }
        return cls(head, rows, best)

    @classmethod
    def compared(
        cls,
        baseline: str,
        reports: Mapping[str, Report],
        comparisons: Mapping[str, Mapping[str, Mapping[str, Comparison]]],
    ) -> Table:
        """One row an output and system, with its test against the baseline, which stands first.

        Where samples were left out of a test, it says how many. None is marked best where
        `Comparison.withheld` has a reason.
        """
        head = ["metric", "output", "system", "score", "difference", "low", "high"]
        head += ["p boot", "p rand"]
        tested = [c for found in comparisons.values() for o in found.values() for c in o.values()]
        counts = ["samples", "left out"] if any(test.left_out for test in tested) else []
        directions = _directions(reports)
        rows: list[list[Cell]] = []
        best = set()
        for metric, output in _outputs(comparisons.values()):
            tests = {name: c[metric][output] for name, c in comparisons.items() if metric in c}
            first = next(iter(tests.values())).other
            scores = [first, *(test.score for test in tests.values())]
            if not any(test.withheld for test in tests.values()):
                best |= {(len(rows) + k, 3) for k in best_of(scores, directions[metric, output])}
            rows.append([metric, output, baseline, first, *[None] * (5 + len(counts))])
            for name, test in tests.items():
                p = (test.bootstrap_p, test.randomisation_p)
                cells = (test.score, test.difference, *test.interval[:2], *p)
                rows.append([metric, output, name, *cells])
                if counts:
                    rows[-1] += [test.samples, test.left_out]
        return cls([*head, *counts], rows, best)

    def text(self) -> str:
        """The table in aligned columns of plain text."""
        cells = [list(self.head), *([format_cell(cell) for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        number = [all(not isinstance(row[i], str) for row in self.rows) for i in range(len(widths))]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, number, strict=True)
            ).rstrip()
            for line in cells
        )

    def csv(self) -> str:
        """The table as CSV with full precision; `nan` is an empty cell."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.head)
        for row in self.rows:
            writer.writerow(["" if json_safe(cell) is None else cell for cell in row])
        return out.getvalue()

    def markdown(self) -> str:
        """The table in Markdown, the best in bold."""

        def escaped(text: str) -> str:
            return text.replace("|", "\\|")

        lines = [[escaped(name) for name in self.head], ["---"] * len(self.head)]
        lines += self._cells(escaped, "**{}**")
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def latex(self) -> str:
        """The table as a LaTeX tabular (package booktabs), the best in bold."""
        right = "".join(
            "l" if any(isinstance(row[i], str) for row in self.rows) else "r"
            for i in range(len(self.head))
        )
        body = [" & ".join(row) for row in self._cells(_escaped, "\\textbf{{{}}}")]
        head = " & ".join(_escaped(name) for name in self.head)
        lines = [f"\\begin{{tabular}}{{{right}}}", "\\toprule", f"{head} \\\\", "\\midrule"]
        lines += [f"{line} \\\\" for line in body]
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def html(self, caption: str = "") -> str:
        """The table in HTML, the best in bold; nothing in it can be more than text."""
        lines = [f"<caption>{escape(caption)}</caption>"] if caption else []
        kinds = [
            "" if any(isinstance(row[i], str) for row in self.rows) else ' class="number"'
            for i in range(len(self.head))
        ]
        head = "".join(
            f'<th scope="col"{kind}>{escape(name)}</th>'
            for name, kind in zip(self.head, kinds, strict=True)
        )
        lines.append(f"<thead><tr>{head}</tr></thead>")
        for cells in self._cells(escape, "<strong>{}</strong>"):
            row = "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(cells, kinds, strict=True))
            lines.append(f"<tr>{row}</tr>")
        return "<table>{}</table>\n".format("\n".join(lines))

    def _cells(self, escaped: Callable[[str], str], bold: str) -> list[list[str]]:
        """The cells as text of some format."""
        cells = [[escaped(format_cell(cell)) for cell in row] for row in self.rows]
        for row, column in self.best:
            cells[row][column] = bold.format(cells[row][column])
        return cells

    def rich(self) -> RichTable:
        """The table for a terminal; where that is narrow, texts fold and numbers stay whole."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
        for i, name in enumerate(self.head):
            number = all(not isinstance(row[i], str) for row in self.rows)
            words = [word for row in self.rows for word in format_cell(row[i]).split()]
            table.add_column(
                Text(name),
                justify="right" if number else "left",
                overflow="fold",
                min_width=min(24, max(map(len, [*words, name[:10]]))),
            )
        for row in self.rows:
            table.add_row(*(Text(format_cell(cell)) for cell in row))
        return table


def format_cell(cell: str | float | None) -> str:
    """A cell for a reader: four decimals, none for counts, "–" for None and `nan`."""
    if isinstance(cell, str):
        return cell
    if cell is None or math.isnan(cell):
        return "–"
    whole = isinstance(cell, int) or (abs(cell) >= 10 and float(cell).is_integer())
    return str(int(cell)) if whole else f"{cell:.4f}"


def best_of(values: Sequence[Cell], better: str) -> list[int]:
    """The places of the best of several scores, all that look the same; none if all do."""
    if better == "neither":
        return []
    numbers = {
        i: v for i, v in enumerate(values) if isinstance(v, (int, float)) and not math.isnan(v)
    }
    if not numbers:
        return []
    best = format_cell((max if better == "higher" else min)(numbers.values()))
    places = [i for i, value in numbers.items() if format_cell(value) == best]
    return places if len(places) < len(values) else []


def _outputs(
    comparisons: Iterable[Mapping[str, Mapping[str, Comparison]]],
) -> list[tuple[str, str]]:
    """Every metric and output that was compared, once."""
    found = ((m, o) for compared in comparisons for m, outputs in compared.items() for o in outputs)
    return list(dict.fromkeys(found))


def _directions(reports: Mapping[str, Report]) -> dict[tuple[Cell, Cell], str]:
    """What is better for every metric and output."""
    return {
        (name, output): result.metric.card.better(output)
        for report in reports.values()
        for name, result in report.results.items()
        for output in result.scores()
    }


def json_safe(value: Any) -> Any:
    """A value as JSON can hold it: arrays as lists, `nan` and infinities as None."""
    if isinstance(value, Mapping):
        return {str(key): json_safe(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return json_safe(value._asdict())
    if hasattr(value, "tolist"):
        return json_safe(value.tolist())
    if isinstance(value, (list, tuple)):
        return [json_safe(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _escaped(text: str) -> str:
    table = {c: f"\\{c}" for c in "&%$#_{}"} | {"–": "--", "\\": "\\textbackslash{}"}
    return "".join(table.get(c, c) for c in text)
