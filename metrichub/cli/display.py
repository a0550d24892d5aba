"""What `score` and `compare` show of the scores: which outputs, with intervals, in percent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metrichub.cli.groups import option_group

if TYPE_CHECKING:
    from metrichub.report.scoreboard import OutputChoice


@dataclass(frozen=True)
class Display:
    """Which outputs tables have, and how their numbers are shown."""

    outputs: OutputChoice
    with_intervals: bool
    percent: bool
    with_signatures: bool


display_options = option_group(
    "display",
    Display,
    click.option(
        "--outputs",
        type=click.Choice(("headline", "all")),
        default="headline",
        show_default=True,
        help="The outputs that tables and CSV show: the headline outputs of each metric's card, or "
        "all. JSON always contains all.",
    ),
    click.option("--intervals", "with_intervals", is_flag=True, help="Add bootstrap intervals."),
    click.option(
        "--percent",
        is_flag=True,
        help="Show scores from 0 to 1 in percent; JSON and CSV keep fractions.",
    ),
    click.option(
        "--signature", "with_signatures", is_flag=True, help="Add each metric's signature."
    ),
)
"""--outputs, --intervals, --percent and --signature as `display`."""
