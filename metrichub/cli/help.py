"""A long help in groups: a line for an option that many need, the names of the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import click

_GROUPS = {
    "Input": (
        "metric human score pair preferences columns predictions references where extract "
        "as-recorded",
        "sources questions reduce keep tries quoting max-words input-format extract-references "
        "split subset systems baseline common rater item system better severity category yes-from "
        "lower-is-better",
    ),
    "Judge": (
        "judge embedder estimate max-calls",
        "vote language repeats max-errors max-tokens max-cost batch no-cache",
    ),
    "Statistics": (
        "by intervals choose protocol ranks cluster",
        "calibrate sample-for-labels level coefficient resamples trials seed key detect cut "
        "threshold draw draws confidence",
    ),
    "Output": (
        "worst report output save samples plot",
        "format percent outputs all-outputs signature title cite write force",
    ),
    "Gate": ("fail-under fail-over fail-if-worse max-drop margin", ""),
}
"""The long names of the options in each group: those that have a line, and those only named."""
_LAST = ("workers", "verbose", "debug", "help", "help-all")
_START, _FULL = 22, 44
"""The width of an option with its value, and of a clause that leaves no room for a remark."""


def write_groups(
    parameters: Iterable[click.Parameter],
    ctx: click.Context,
    formatter: click.HelpFormatter,
    *,
    heading: Callable[[str], str],
    full: bool,
) -> None:
    """Write options by group, below its heading; those that no group has come last.

    `full` shows every detail.
    """
    options = [p for p in parameters if isinstance(p, click.Option) and not p.hidden]
    left = {max(option.opts, key=len).lstrip("-"): option for option in options}
    groups = {name: [names.split() for names in both] for name, both in _GROUPS.items()}
    listed = {name for both in groups.values() for names in both for name in names}
    other = [name for name in left if name not in {*listed, *_LAST}]
    for group, both in (groups | {"Other": [other, [*_LAST] if full else []]}).items():
        shown, named = ([left[name] for name in names if name in left] for names in both)
        if not shown and not named:
            continue
        formatter.write_paragraph()
        formatter.write(f"{heading(group)}\n")
        with formatter.indentation():
            lines = [*shown, *named] if full else shown
            if lines:
                formatter.write_dl([_record(option, ctx, full) for option in lines])
            if named and not full:
                formatter.write_text(f"More: {' '.join(o.opts[-1] for o in named)}")
    if not full:
        formatter.write_paragraph()
        *last, help_all = (f"--{name}" for name in _LAST if name in left)
        formatter.write_text(f"Also {', '.join(last)}. Every detail: {help_all}")


def _record(option: click.Option, ctx: click.Context, full: bool) -> tuple[str, str]:
    """An option as it is typed, and its help, or the first clause of it."""
    start, text = option.get_help_record(ctx) or ("", "")
    if full:
        return start, f"{text} Repeatable." if option.multiple else text
    first = re.split(r"[.;] ", f"{option.help} ", maxsplit=1)[0].rstrip(".")
    repeatable = option.multiple and len(first) < _FULL
    return start.ljust(_START), f"{first}; repeatable" if repeatable else first
