"""Tables of scores as text, CSV, Markdown, LaTeX or JSON values."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from metrichub.report import Report
    from metrichub.resample import Interval


class Table(NamedTuple):
    """A head and rows of cells; numbers stay numbers until they are shown."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]

    @classmethod
    def of(
        cls, report: Report, intervals: Mapping[str, Mapping[str, Interval]] | None = None
    ) -> Table:
        """A report's scores, a row an output, with intervals, unscored and errors if there are."""
        nested = report.scores()
        head = ["metric", "output", "score"]
        head += ["low", "high"] if intervals else []
        counts = [
            name
            for name in ("unscored", "errors")
            if any(nested[metric].get(name) for metric in report.results)
        ]
        head += counts
        rows: list[list[str | float | None]] = []
        for metric, result in report.results.items():
            for output, value in result.scores().items():
                row: list[str | float | None] = [metric, output, value]
                if intervals:
                    row += intervals[metric][output][:2]
                rows.append([*row, *(nested[metric].get(name, 0) for name in counts)])
        return cls(head, rows)

    def text(self) -> str:
        """The table in aligned columns of plain text."""
        cells = [list(self.head), *([shown(cell) for cell in row] for row in self.rows)]
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
        """The table in Markdown."""
        lines = [self.head, ["---"] * len(self.head)]
        lines += [[shown(cell).replace("|", "\\|") for cell in row] for row in self.rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def latex(self) -> str:
        """The table as a LaTeX tabular (package booktabs)."""
        right = "".join(
            "l" if any(isinstance(row[i], str) for row in self.rows) else "r"
            for i in range(len(self.head))
        )
        body = [" & ".join(_escaped(shown(cell)) for cell in row) for row in self.rows]
        head = " & ".join(_escaped(name) for name in self.head)
        lines = [f"\\begin{{tabular}}{{{right}}}", "\\toprule", f"{head} \\\\", "\\midrule"]
        lines += [f"{line} \\\\" for line in body]
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def rich(self) -> RichTable:
        """The table for a terminal; where that is narrow, texts fold and numbers stay whole."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
        for i, name in enumerate(self.head):
            number = all(not isinstance(row[i], str) for row in self.rows)
            words = [word for row in self.rows for word in shown(row[i]).split()]
            table.add_column(
                Text(name),
                justify="right" if number else "left",
                overflow="fold",
                min_width=min(24, max(map(len, [*words, name[:10]]))),
            )
        for row in self.rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        return table


def shown(cell: str | float | None) -> str:
    """A cell for a reader: four decimals, none for counts, "–" for None and `nan`."""
    if isinstance(cell, str):
        return cell
    if cell is None or math.isnan(cell):
        return "–"
    whole = isinstance(cell, int) or (abs(cell) >= 10 and float(cell).is_integer())
    return str(int(cell)) if whole else f"{cell:.4f}"


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
