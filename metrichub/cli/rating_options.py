"""Options of commands that read people's ratings, in two groups."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import click

from metrichub.cli.groups import option_group
from metrichub.cli.systems import CONFIDENCE, seed_option

_DRAWS = ("items", "systems", "both")


def _two(_: click.Context, parameter: click.Parameter, given: str | None) -> tuple[str, str] | None:
    if given is None:
        return None
    a, _comma, b = given.partition(",")
    if not a or not b or "," in b:
        raise click.BadParameter(f"{given!r} isn't two columns; write A,B", param=parameter)
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


rating_options = option_group(
    "rated",
    RatingOptions,
    click.option(
        "--human",
        metavar="COLUMN",
        multiple=True,
        help="A column of what people said: numbers, lists of several raters', yes and no, lists "
        "of errors by MQM, or which of two outputs is better (a, b or tie); repeatable.",
    ),
    click.option(
        "--pair",
        metavar="A,B",
        callback=_two,
        help="The columns of two outputs of which people prefer one: that of --human, or else A.",
    ),
    click.option(
        "--preferences",
        metavar="FILE",
        help="Votes between systems instead: item, system_a, system_b and winner, a row a vote.",
    ),
    click.option(
        "--severity",
        metavar="COLUMN",
        help="How bad an error is, where each error has a row: major, minor or no-error, which MQM "
        "weighs 5, 1 and 0.",
    ),
    click.option(
        "--category", metavar="COLUMN", help="What kind of error; punctuation weighs 0.1."
    ),
    click.option(
        "--score",
        metavar="COLUMN",
        multiple=True,
        help="A column of scores, or A,B of those of both outputs of a pair; repeatable.",
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
    threshold: float | None

    def values(self) -> dict[str, Any]:
        """Those that were given, as `correlate` takes them."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in given.items() if value not in (None, ())}

    @property
    def each_reference(self) -> bool:
        """Whether the protocol scores each reference alone."""
        from metrichub.agreement.protocol import protocol_of

        return self.protocol is not None and protocol_of(self.protocol).references == "each"


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
        "soft_pairwise_accuracy, tau_wmt, auc or balanced_accuracy; of preferences accuracy, "
        "accuracy_ties_half, tau_wmt, tau_ties_left_out, acc_eq or kappa; repeatable.",
    ),
    click.option("--cut", type=float, metavar="N", help="The score from which a metric says yes."),
    click.option(
        "--threshold",
        type=float,
        metavar="N",
        help="How far ratings differ in a pair of tau_wmt.  [default: 25]",
    ),
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
        type=CONFIDENCE,
        default=0.95,
        show_default=True,
        help="The confidence of the intervals.",
    ),
    seed_option,
)
"""--protocol, --level, --coefficient, --draw and their like as `how`."""
