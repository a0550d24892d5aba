"""Thresholds for continuous integration: `--fail-under bleu=0.3`, `--fail-over wer=0.25`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metrichub.cli.shared_options import option_group
from metrichub.errors import MetrichubError

if TYPE_CHECKING:
    from metrichub.evaluation.measurement import Nested
    from metrichub.hub import Hub
    from metrichub.report.thresholds import Threshold


@dataclass(frozen=True)
class ThresholdOptions:
    """The bounds of scores, as they were typed."""

    fail_under: tuple[str, ...]
    fail_over: tuple[str, ...]

    def of(self, hub: Hub) -> list[Threshold]:
        """The thresholds of both options, checked against the hub.

        Raises:
            UsageError: one that is none, or that the hub can't be held to.
        """
        return [
            *(_threshold(text, "--fail-under", ">=", hub) for text in self.fail_under),
            *(_threshold(text, "--fail-over", "<=", hub) for text in self.fail_over),
        ]


def _threshold(text: str, option: str, equals: str, hub: Hub) -> Threshold:
    from metrichub.report.thresholds import Threshold

    try:
        found = Threshold.parse(text, equals)
        found.check({metric.name: metric for metric in hub.metrics})
    except MetrichubError as error:
        raise click.UsageError(f"{option} {error}") from error
    if option == "--fail-over" and found.least:
        raise click.UsageError(f"{option} {text!r} sets a minimum; write --fail-under {text!r}")
    return found


threshold_options = option_group(
    "bounds",
    ThresholdOptions,
    click.option(
        "--fail-under",
        metavar="METRIC=N",
        multiple=True,
        help="Exit with 1 if the score is below N; or write the condition, 'wer<=0.2'.",
    ),
    click.option(
        "--fail-over",
        metavar="METRIC=N",
        multiple=True,
        help="Exit with 1 if the score is above N.",
    ),
)
"""--fail-under and --fail-over as `bounds`."""


def failures(bounds: Sequence[Threshold], scores: Mapping[str, Nested]) -> Iterator[str]:
    """A line for each score of each system that fails its threshold."""
    for name, nested in scores.items():
        for bound in bounds:
            score = nested[bound.metric][bound.output]
            if not bound.holds(score):
                where = f"{name}: " if len(scores) > 1 else ""
                yield f"{where}{bound.name} is {score:.6g}, {bound.failure(score)}"
