"""Tables of scores as text, CSV, Markdown or LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from metrichub.errors import MissingDependency, printable

if TYPE_CHECKING:
    from pandas import DataFrame
    from pylatexenc.latexencode import UnicodeToLatexEncoder
    from rich.table import Table as RichTable


class Score(NamedTuple):
    """A number as it is shown, with what stands beside it.

    `scored` says of how many samples it is, where some have no score: "85 of 100".
    """

    number: str
    mark: str = ""
    interval: str = ""
    scored: str = ""

    def __str__(self) -> str:
        """The parts that there are."""
        return " ".join(filter(None, self))


Cell = str | float | Score | None
NAME = 24
"""So much of a text stays in one line of a narrow terminal."""
_BAR = "{\\textbar}"
# Arrows need no package in math mode; a bar in text is a dash in LaTeX's oldest encoding.
_RULES = {ord("–"): "--", ord("↑"): "$\\uparrow$", ord("↓"): "$\\downarrow$", ord("|"): _BAR}


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The lines of `csv_lines` as one text."""
    return "".join(csv_lines(head, rows))


def csv_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Rows as lines of CSV; `nan` is an empty cell, and no text is a formula to a spreadsheet.

    A spreadsheet reads a cell that begins with one of `= + - @`, a tab or a carriage return for a
    formula, which may send what is beside it to another server; such a text, unless it is a number,
    gets an apostrophe in front. A lone surrogate, which has no UTF-8, becomes a question mark.
    """
    import csv
    from types import SimpleNamespace

    lines: list[str] = []
    # By this end of a line the module knows that a carriage return has to be quoted.
    lined = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n")))
    writer = csv.writer(lined, lineterminator="\r\n")
    for row in chain([head], rows):
        writer.writerow(["" if _is_missing(cell) else _inert(cell) for cell in row])
        yield f"{lines.pop()}\n".encode("utf-8", "replace").decode("utf-8")


def _inert(cell: object) -> object:
    """The cell, a text that could be a formula as the text that it is."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


class Table(NamedTuple):
    """A head and rows of cells; numbers stay numbers until they are shown.

    `best` are the places (row, column) of the best systems, which papers print in bold; `worse`
    those of systems that are significantly worse, which are red on a terminal. The caption stands
    above plain text and below all else; `method` and the signatures, which say how the table was
    made, below it in Markdown and as comments in LaTeX. The column `picture` is for text only.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    best: Collection[tuple[int, int]] = frozenset()
    caption: str = ""
    signatures: Sequence[str] = ()
    method: str = ""
    worse: Collection[tuple[int, int]] = frozenset()
    picture: int | None = None

    def mapped(self, shown: Callable[[str], str]) -> Table:
        """The table with its texts and numbers as they are to be shown."""

        def of(cell: Cell) -> Cell:
            if isinstance(cell, str):
                return shown(cell)
            parts = cell if isinstance(cell, Score) else (format_cell(cell),)
            return Score(*map(shown, parts))

        rows = [[of(cell) for cell in row] for row in self.rows]
        return self._replace(head=[*map(shown, self.head)], rows=rows)

    def text(self) -> str:
        """The table in aligned columns of plain text."""
        cells = [[*map(printable, self.head)], *self.aligned()]
        right = self._numbers()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if i in right else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in cells
        ]
        return "\n".join([*filter(None, [printable(self.caption)]), *lines])

    def csv(self) -> str:
        """The table as CSV with full precision; `nan` is an empty cell."""
        return csv_text(self.head, self.rows)

    def frame(self) -> DataFrame:
        """A pandas data frame with these columns.

        Raises:
            MissingDependency: pandas isn't installed.
        """
        try:
            import pandas
        except ImportError:
            raise MissingDependency("to_frame", "pandas") from None
        return pandas.DataFrame([*self.rows], columns=[*self.head])

    def markdown(self) -> str:
        """The table in Markdown, the best in bold, with its caption."""
        right = self._numbers()
        line = ["---:" if i in right else "---" for i in range(len(self.head))]
        lines = [[_markdown(name) for name in self.head], line, *self._cells(_markdown, "**{}**")]
        table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        below = [_markdown(text) for text in (self.caption, self.method) if text]
        below += [f"`{printable(text)}`" for text in self.signatures]
        return table + "".join(f"\n{text}\n" for text in below)

    def latex(self) -> str:
        """The table in LaTeX (package booktabs), a float if it has a caption; comments say how."""
        right = self._numbers()
        kinds = "".join("r" if i in right else "l" for i in range(len(self.head)))
        lines = [
            f"\\begin{{tabular}}{{{kinds}}}",
            "\\toprule",
            f"{' & '.join(map(_latex_cell, self.head))} \\\\",
            "\\midrule",
            *(f"{' & '.join(row)} \\\\" for row in self._cells(_latex_cell, "\\textbf{{{}}}")),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        if self.caption:
            caption = f"\\caption{{{_latex(self.caption)}}}"
            lines = ["\\begin{table}", "\\centering", *lines, caption, "\\end{table}"]
        comments = [" ".join(text.split()) for text in (self.method, *self.signatures)]
        return "\n".join([*lines, *(f"% {printable(text)}" for text in comments if text), ""])

    def html(self) -> str:
        """The table in HTML, the best in bold; nothing in it can be more than text."""
        lines = [f"<caption>{escape(self.caption)}</caption>"] if self.caption else []
        right = self._numbers()
        kinds = [' class="number"' if i in right else "" for i in range(len(self.head))]
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
        """The cells as text of some format, the numbers of the best in bold."""
        cells = [[escaped(format_cell(cell)) for cell in row] for row in self.rows]
        for row, column in self.best:
            cell = self.rows[row][column]
            number = cell.number if isinstance(cell, Score) else format_cell(cell)
            beside = format_cell(cell).removeprefix(number).strip()
            shown = bold.format(escaped(number))
            cells[row][column] = f"{shown} {escaped(beside)}" if beside else shown
        return cells

    def _numbers(self) -> frozenset[int]:
        """The columns that are right-aligned: they hold numbers alone, without a rank or more."""
        return frozenset(
            i
            for i in range(len(self.head))
            if not any(isinstance(row[i], str) for row in self.rows)
            and not any(isinstance(c := row[i], Score) and any(c[1:]) for row in self.rows)
        )

    def aligned(self) -> list[list[str]]:
        """The cells as text, the parts of scores below one another."""
        columns = [_aligned([row[i] for row in self.rows]) for i in range(len(self.head))]
        return [list(row) for row in zip(*columns, strict=True)]

    def rich(self) -> RichTable:
        """The table for a terminal; where that is narrow, texts fold and numbers stay whole."""
        from rich.table import Table as RichTable
        from rich.text import Text

        title = Text(printable(self.caption)) if self.caption else None
        table = RichTable(
            box=None,
            padding=(0, 2, 0, 0),
            pad_edge=False,
            header_style="",
            title=title,
            title_justify="left",
            title_style="",
        )
        right = self._numbers()
        for i, name in enumerate(self.head):
            column = [row[i] for row in self.rows]
            scores = any(isinstance(cell, Score) for cell in column)
            words = [w for cell in _aligned(column) for w in ([cell] if scores else cell.split())]
            table.add_column(
                Text(printable(name)),
                justify="right" if i in right else "left",
                overflow="fold",
                no_wrap=scores,
                min_width=min(999 if scores else NAME, max(map(len, [*words, name[:10]]))),
            )
        for i, row in enumerate(self.aligned()):
            places = [(i, j) for j in range(len(row))]
            styles = [
                "bold" if place in self.best else "red" if place in self.worse else ""
                for place in places
            ]
            table.add_row(*(Text(cell, style) for cell, style in zip(row, styles, strict=True)))
        return table


def fit_width(board: Table, width: int | None) -> tuple[Table, int]:
    """A table that fits a width, and how many columns had to go: the picture, then the last."""
    if width is None or _width(board) <= width:
        return board, 0
    if board.picture is not None:
        return fit_width(without_picture(board), width)
    columns = list(range(len(board.head)))
    # p goes last: it is short, and what others look for.
    order = sorted(columns[2:], key=lambda i: board.head[i] == "p", reverse=True)
    while order and _width(_part(board, columns)) > width:
        columns.remove(order.pop())
    return _part(board, columns), len(board.head) - len(columns)


def without_picture(board: Table) -> Table:
    """The table without the column that only a wide terminal with all signs can show."""
    return _part(board, [i for i in range(len(board.head)) if i != board.picture])


def format_cell(cell: Cell) -> str:
    """A cell for a reader: four decimals, none for counts, "–" for None and `nan`."""
    if isinstance(cell, (str, Score)):
        return printable(str(cell))
    if cell is None or math.isnan(cell):
        return "–"
    integral = isinstance(cell, int) or (abs(cell) >= 10 and float(cell).is_integer())
    return str(int(cell)) if integral else f"{cell:.4f}"


def decimals_of(value: float) -> int:
    """Three decimals for fractions, fewer for larger numbers."""
    return 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1


def _latex(text: str) -> str:
    r"""A text that LaTeX prints as it is: "c_d" as "c\_d", arrows in math mode."""
    return str(_encoder().unicode_to_latex(printable(" ".join(text.split()))))


def _latex_cell(text: str) -> str:
    """A text in a cell; behind a line's end LaTeX would read a bracket as an option."""
    encoded = _latex(text)
    return f"{{}}{encoded}" if encoded.startswith(("[", "*")) else encoded


@cache
def _encoder() -> UnicodeToLatexEncoder:
    from pylatexenc.latexencode import (
        RULE_DICT,
        UnicodeToLatexConversionRule,
        UnicodeToLatexEncoder,
    )

    rules = [UnicodeToLatexConversionRule(RULE_DICT, _RULES), "defaults"]
    return UnicodeToLatexEncoder(
        conversion_rules=rules, unknown_char_policy="keep", unknown_char_warning=False
    )


def _aligned(cells: Sequence[Cell]) -> list[str]:
    """The cells of a column as text: numbers end, and what follows them starts, at one place."""
    parts = [cell if isinstance(cell, Score) else Score(format_cell(cell)) for cell in cells]
    if not any(isinstance(cell, Score) for cell in cells):
        return [part.number for part in parts]
    first, *others = [max(map(len, part)) for part in zip(*parts, strict=True)] or [0]
    return [
        " ".join(
            [
                part.number.rjust(first),
                *(text.ljust(width) for text, width in zip(part[1:], others, strict=True) if width),
            ]
        ).rstrip()
        for part in parts
    ]


def _width(table: Table) -> int:
    """How wide a table is at least, where long names may be broken."""
    lines = [table.head, *table.aligned()]
    names = [any(isinstance(row[i], str) for row in table.rows) for i in range(len(table.head))]
    columns = zip(zip(*lines, strict=True), names, strict=True)
    widths = [min(max(map(len, column)), NAME if name else 999) for column, name in columns]
    return sum(widths) + 2 * (len(widths) - 1)


def transposed(board: Table) -> Table:
    """The scoreboard with a row per output and a column per system."""
    rows = [[name, *(row[i] for row in board.rows)] for i, name in enumerate(board.head) if i]
    best = frozenset((column - 1, row + 1) for row, column in board.best)
    return Table(["metric", *(str(row[0]) for row in board.rows)], rows, best)


def _part(board: Table, columns: Sequence[int]) -> Table:
    """Some columns of a table."""
    rows = [[row[i] for i in columns] for row in board.rows]
    best, worse = (
        frozenset((row, columns.index(i)) for row, i in places if i in columns)
        for places in (board.best, board.worse)
    )
    head = [board.head[i] for i in columns]
    picture = columns.index(board.picture) if board.picture in columns else None
    return board._replace(head=head, rows=rows, best=best, worse=worse, picture=picture)


def _markdown(text: str) -> str:
    """A text that Markdown shows as it is, in a cell too."""
    signs = r"[\\|*`<]|(?<!\w)_|_(?!\w)|\[(?=[^\]]*\]\()"
    return re.sub(signs, r"\\\g<0>", printable(" ".join(text.split())))


def _is_missing(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and not math.isfinite(cell))
