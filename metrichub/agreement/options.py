"""Options of commands that read people's ratings, in two groups."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import click

from metrichub.cli.shared_options import CONFIDENCE, option_group, seed_option

_DRAWS = ("items", "systems", "both")


def _two(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    a, _comma, b = text.partition(",")
    if not a or not b or "," in b:
        raise click.BadParameter(f"{text!r} isn't two columns; write A,B", param=parameter)
    return a, b


@dataclass(frozen=True)
class RatingOptions:
    """Which columns hold what people said, scores, items and systems."""

    human: tuple[str, ...]
    pair: tuple[str, str] | None
    preferences: str | None
    severity: str | None
    category: str | None
    score: tuple[str, ...]
    better: tuple[str, ...]
    item: str | None
    system: str | None
    rater: str | None
    yes_from: float | None
    choose: bool
    lower_is_better: bool

    @property
    def names(self) -> list[str]:
        """The columns of people's judgements; those of marked errors become one."""
        return [*self.human, *(["mqm"] if self.severity else [])]


rating_options = option_group(
    "rated",
    RatingOptions,
    click.option(
        "--human",
        metavar="COLUMN",
        multiple=True,
        help="A column of people's ratings; numbers, lists of several raters' numbers, yes and no, "
        "lists of MQM errors, or which of two outputs is better (a, b or tie).",
    ),
    click.option(
        "--pair",
        metavar="A,B",
        callback=_two,
        help="The columns of two outputs; --human says which one people prefer. Without it, they "
        "prefer A.",
    ),
    click.option(
        "--preferences",
        metavar="FILE",
        help="A file of votes between systems; item, system_a, system_b and winner.",
    ),
    click.option(
        "--severity",
        metavar="COLUMN",
        help="The severity of an error, in files with a row per error: major, minor or no-error, "
        "which MQM weighs 5, 1 and 0.",
    ),
    click.option(
        "--category", metavar="COLUMN", help="The category of an error; punctuation weighs 0.1."
    ),
    click.option(
        "--score",
        metavar="COLUMN",
        multiple=True,
        help="A column of scores; or A,B for the scores of both outputs of a pair.",
    ),
    click.option(
        "--better",
        metavar="COLUMN=HOW",
        multiple=True,
        help="Which values of a --score are better: higher, lower or neither.  [default: higher]",
    ),
    click.option(
        "--item", metavar="COLUMN", help="The item of an output.  [default: doc_id, item or id]"
    ),
    click.option(
        "--system", metavar="COLUMN", help="The system that made an output.  [default: system]"
    ),
    click.option("--rater", metavar="COLUMN", help="The rater, in files with a row per rater."),
    click.option(
        "--yes-from", type=float, metavar="N", help="The lowest rating that counts as yes."
    ),
    click.option(
        "--choose",
        is_flag=True,
        help="Choose the metric that agrees best; measure it on items that it wasn't chosen by.  "
        "[default: without -m and --score]",
    ),
    click.option(
        "--lower-is-better",
        is_flag=True,
        help="Choose by raters who give good outputs low numbers.",
    ),
)
"""--human, --score, --item, --system and their like as `rated`."""


@dataclass(frozen=True)
class CorrelationOptions:
    """The coefficients and their levels, and how the intervals are drawn."""

    protocol: str | None
    level: tuple[str, ...]
    coefficient: tuple[str, ...]
    cut: float | None
    draw: str | None
    draws: int
    confidence: float
    seed: int
    threshold: float | None

    def values(self) -> dict[str, Any]:
        """Those that were given, as `correlate` takes them."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in options.items() if value not in (None, ())}

    @property
    def each_reference(self) -> bool:
        """Whether the protocol scores each reference separately."""
        from metrichub.agreement.published_protocols import protocol_of

        return self.protocol is not None and protocol_of(self.protocol).references == "each"


correlation_options = option_group(
    "how",
    CorrelationOptions,
    click.option(
        "--protocol",
        metavar="NAME",
        help="g-eval, summeval, qags, wmt20-darr, wmt25 or true; sets level and coefficient.",
    ),
    click.option(
        "--level",
        metavar="LEVEL",
        multiple=True,
        help="item, pooled, system or within_system.",
    ),
    click.option(
        "--coefficient",
        metavar="NAME",
        multiple=True,
        help="pearson, spearman, tau_b, tau_c, tau_23, acc_eq, acc_eq_calibrated, "
        "soft_pairwise_accuracy, tau_wmt, auc or balanced_accuracy; of preferences accuracy, "
        "accuracy_ties_half, tau_wmt, tau_ties_left_out, acc_eq or kappa.",
    ),
    click.option(
        "--cut", type=float, metavar="N", help="The lowest score that counts as a metric's yes."
    ),
    click.option(
        "--threshold",
        type=float,
        metavar="N",
        help="The least difference of ratings in a pair of tau_wmt.  [default: 25]",
    ),
    click.option(
        "--draw",
        type=click.Choice(_DRAWS),
        help="What to resample for the intervals.  [default: both, or items without systems]",
    ),
    click.option(
        "--draws",
        type=click.IntRange(0),
        default=1000,
        show_default=True,
        help="The number of resamples; 0 for no intervals.",
    ),
    click.option(
        "--confidence",
        type=CONFIDENCE,
        default=0.95,
        show_default=True,
        help="The confidence level of the intervals.",
    ),
    seed_option,
)
"""--protocol, --level, --coefficient, --draw and their like as `how`."""
