"""Options of commands that read people's ratings, in two groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from metrichub.cli.groups import option_group

_DRAWS = ("items", "systems", "both")
DIRECTIONS = ("higher", "lower", "neither")


@dataclass(frozen=True)
class RatingOptions:
    """Which columns hold ratings, scores, items and systems."""

    human: tuple[str, ...]
    score: tuple[str, ...]
    better: tuple[str, ...]
    item: str | None
    system: str | None
    rater: str | None
    yes_from: float | None


rating_options = option_group(
    "rated",
    RatingOptions,
    click.option(
        "--human",
        metavar="COLUMN",
        multiple=True,
        required=True,
        help="A column of people's ratings: numbers, lists of several raters', or yes and no; "
        "repeatable.",
    ),
    click.option(
        "--score", metavar="COLUMN", multiple=True, help="A column of scores; repeatable."
    ),
    click.option(
        "--better",
        metavar="COLUMN=HOW",
        multiple=True,
        help="Whether more of a --score is better: higher, lower or neither.  [default: higher]",
    ),
    click.option(
        "--item", metavar="COLUMN", help="What an output is for.  [default: doc_id, item or id]"
    ),
    click.option("--system", metavar="COLUMN", help="What made an output.  [default: system]"),
    click.option(
        "--rater", metavar="COLUMN", help="Who rated, where each rater has a row of an output."
    ),
    click.option(
        "--yes-from", type=float, metavar="N", help="The rating from which people said yes."
    ),
)
"""--human, --score, --item, --system and their like as `rated`."""


@dataclass(frozen=True)
class CorrelationOptions:
    """What is correlated how, and how sure it is."""

    protocol: str | None
    level: tuple[str, ...]
    coefficient: tuple[str, ...]
    cut: float | None
    draw: str | None
    draws: int
    confidence: float
    seed: int

    def values(self) -> dict[str, Any]:
        """The options as `correlate` takes them."""
        return {
            "protocol": self.protocol,
            "level": list(self.level) or None,
            "coefficient": list(self.coefficient) or None,
            "cut": self.cut,
            "draw": self.draw,
            "draws": self.draws,
            "confidence": self.confidence,
            "seed": self.seed,
        }


correlation_options = option_group(
    "how",
    CorrelationOptions,
    click.option(
        "--protocol",
        metavar="NAME",
        help="g-eval, summeval, qags, wmt20-darr, wmt25 or true, in place of what follows.",
    ),
    click.option(
        "--level",
        metavar="LEVEL",
        multiple=True,
        help="item, pooled, system or within_system; repeatable.",
    ),
    click.option(
        "--coefficient",
        metavar="NAME",
        multiple=True,
        help="pearson, spearman, tau_b, tau_c, tau_23, acc_eq, acc_eq_calibrated, "
        "soft_pairwise_accuracy, tau_wmt, auc or balanced_accuracy; repeatable.",
    ),
    click.option("--cut", type=float, metavar="N", help="The score from which a metric says yes."),
    click.option(
        "--draw",
        type=click.Choice(_DRAWS),
        help="What is drawn for the intervals.  [default: both, or items where no system is named]",
    ),
    click.option(
        "--draws",
        type=click.IntRange(0),
        default=1000,
        show_default=True,
        help="How often; 0 for no intervals.",
    ),
    click.option(
        "--confidence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="The confidence of the intervals.",
    ),
    click.option("--seed", type=int, default=12345, show_default=True),
)
"""--protocol, --level, --coefficient, --draw and their like as `how`."""
