"""Tables in LaTeX, whose cells are any text at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

_BAR = "{\\textbar}"
# Arrows need no package in math mode; a bar in text is a dash in LaTeX's oldest encoding.
_RULES = {ord("–"): "--", ord("↑"): "$\\uparrow$", ord("↓"): "$\\downarrow$", ord("|"): _BAR}
_CELLS = Callable[[Callable[[str], str], str], list[list[str]]]


def latex_table(kinds: Sequence[str], head: Sequence[str], cells: _CELLS, caption: str = "") -> str:
    """A tabular with the rules of booktabs, in a floating table where it has a caption.

    `kinds` are the alignments of the columns, and `cells` gives the cells' text by how text is
    escaped and bold is written.
    """
    body = [" & ".join(row) for row in cells(_cell, "\\textbf{{{}}}")]
    lines = [
        f"\\begin{{tabular}}{{{''.join(kinds)}}}",
        "\\toprule",
        f"{' & '.join(map(_cell, head))} \\\\",
        "\\midrule",
        *(f"{line} \\\\" for line in body),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    if caption:
        # A signature has no spaces, and may be broken at its bars.
        said = escaped(caption).replace(_BAR, f"{_BAR}\\allowbreak ")
        lines = ["\\begin{table}", "\\centering", *lines, f"\\caption{{{said}}}", "\\end{table}"]
    return "\n".join([*lines, ""])


def escaped(text: str) -> str:
    r"""A text that LaTeX prints as it is: "c_d" as "c\_d", arrows in math mode."""
    return str(_encoder().unicode_to_latex(" ".join(text.split())))


def _cell(text: str) -> str:
    """A text in a cell; behind a line's end LaTeX would read a bracket as an option."""
    found = escaped(text)
    return f"{{}}{found}" if found.startswith(("[", "*")) else found


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
