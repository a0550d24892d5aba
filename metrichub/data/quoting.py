"""Whether a TSV puts cells in quotes, as CSV does, or has quotes as text, as most corpora do."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Literal

Quoting = Literal["standard", "none"]
"""Cells may be in quotes, which double those inside, or a quote is text."""
_LONGEST = 2**24
"""A quote that is open for so many characters is text: no CSV writer makes such cells."""


def tsv_quoting(texts: Iterable[str]) -> tuple[Quoting, bool]:
    """How a TSV, given as pieces of whole lines, writes quotes; and whether that is in doubt.

    CSV's rules hold if they alone give every row the header's length, if the header is in quotes,
    or if cells look as only a CSV writer makes them: with doubled quotes, or a whole column in
    quotes. They never join lines each of which is a row by itself. The doubt is about cells in
    quotes that are read as text.
    """
    lines: list[str] = []
    reader = csv.reader(_noting(texts, lines), delimiter="\t", strict=True)
    width = 0
    columns: set[int] | None = None
    rows_fit = lines_fit = True
    written = joins = some = False
    try:
        while (cells := next_record(reader, _LONGEST)) is not None:
            text = "".join(lines).rstrip("\r\n")
            widths = {line.count("\t") + 1 for line in lines if line.strip("\r\n")}
            lines.clear()
            quoted = _quoted(cells, text) if '"' in text else {}
            if cells and width:
                columns = {*quoted} if columns is None else columns & {*quoted}
            elif len(quoted) == len(cells) > 0:
                return "standard", False
            width = width or len(cells)
            if not quoted:
                continue  # Both readings of it are the same.
            rows_fit &= len(cells) == width
            lines_fit &= widths == {width}
            some = True
            for cell in quoted.values():
                breaks = "\n" in cell or "\r" in cell
                written |= '"' in cell or (breaks and "\t" not in cell)
                joins |= breaks and "\t" in cell
    except csv.Error:
        return "none", written
    if rows_fit and (not lines_fit or (not joins and (written or columns))):
        return "standard", False
    return "none", some and rows_fit


def next_record(reader: Iterator[list[str]], longest: int) -> list[str] | None:
    """The next record; the csv module's limit of a cell is one for the whole process."""
    limit = csv.field_size_limit(longest)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(limit)


def _noting(texts: Iterable[str], lines: list[str]) -> Iterator[str]:
    """The lines of the texts, each noted as it is read."""
    for text in texts:
        for line in io.StringIO(text, newline=""):
            lines.append(line)
            yield line


def _quoted(cells: list[str], text: str) -> dict[int, str]:
    """The cells that are in quotes in the text of a row, by their places."""
    written = ['\t"' + cell.replace('"', '""') + '"\t' for cell in cells]
    return {place: cell for place, cell in enumerate(cells) if written[place] in f"\t{text}\t"}
