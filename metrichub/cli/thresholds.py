"""Thresholds for continuous integration: `--fail-under bleu=0.3`, `--fail-over wer=0.25`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from metrichub.cli.groups import option_group
from metrichub.errors import did_you_mean

if TYPE_CHECKING:
    from metrichub.hub import Hub
    from metrichub.report.scores import Nested

Side = Literal["under", "over"]


class Threshold(NamedTuple):
    """One output's bound: "under" fails below it, "over" above it, and both on `nan`."""

    metric: str
    output: str
    side: Side
    value: float

    @classmethod
    def parse(cls, text: str, side: Side) -> Threshold:
        """The threshold in "bleu=0.3" or "rouge.rougeL=0.2"."""
        name, _, number = text.rpartition("=")
        metric, _, output = name.strip().partition(".")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not metric or math.isnan(value):
            raise click.BadParameter(
                f"{text!r} is no threshold; write METRIC=NUMBER or METRIC.OUTPUT=NUMBER",
                param_hint=f"--fail-{side}",
            )
        return cls(metric, output or "score", side, value)

    def check(self, hub: Hub) -> None:
        """Raise `UsageError` if the hub has no such output or it can't be on the bound."""
        metrics = {metric.name: metric for metric in hub.metrics}
        option = f"--fail-{self.side} {self.metric}.{self.output}"
        if self.metric not in metrics:
            raise click.UsageError(
                f"{option}: no such metric is scored{did_you_mean(self.metric, metrics)} "
                f"(scored: {', '.join(metrics)})"
            )
        outputs = metrics[self.metric].outputs()
        if self.output not in outputs:
            raise click.UsageError(
                f"{option}: no such output{did_you_mean(self.output, outputs)} "
                f"({self.metric} has: {', '.join(outputs)})"
            )
        scale = metrics[self.metric].card.scale(self.output)
        if scale is not None and self.value not in scale:
            percent = self.value / 100
            hint = f"; scores are fractions: {percent:g}" if percent in scale else ""
            raise click.UsageError(f"{option}={self.value:g} is outside {scale.interval}{hint}")

    def failed(self, score: float) -> bool:
        """Whether a score is on the wrong side."""
        return not (score >= self.value if self.side == "under" else score <= self.value)


@dataclass(frozen=True)
class ThresholdOptions:
    """The bounds of scores, as they were typed."""

    fail_under: tuple[str, ...]
    fail_over: tuple[str, ...]

    def of(self, hub: Hub) -> list[Threshold]:
        """The thresholds of both options, checked against the hub."""
        found = [
            *(Threshold.parse(text, "under") for text in self.fail_under),
            *(Threshold.parse(text, "over") for text in self.fail_over),
        ]
        for threshold in found:
            threshold.check(hub)
        return found


threshold_options = option_group(
    "bounds",
    ThresholdOptions,
    click.option(
        "--fail-under", metavar="METRIC=N", multiple=True, help="Exit with 1 if the score is below."
    ),
    click.option(
        "--fail-over", metavar="METRIC=N", multiple=True, help="Exit with 1 if the score is above."
    ),
)
"""--fail-under and --fail-over as `bounds`."""


def failures(bounds: Sequence[Threshold], scores: Mapping[str, Nested]) -> Iterator[str]:
    """A line for each score of each system that fails its threshold."""
    for name, nested in scores.items():
        for bound in bounds:
            score = nested[bound.metric][bound.output]
            if bound.failed(score):
                where = f"{name}: " if len(scores) > 1 else ""
                which = f"{bound.metric}.{bound.output}"
                wrong = "no number" if math.isnan(score) else f"{bound.side} {bound.value:g}"
                yield f"{where}{which} is {score:.6g}, {wrong}"
