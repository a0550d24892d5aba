"""Thresholds: limits that scores have to keep, "bleu >= 0.3", in commands and in tests."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from metrichub.errors import ReportError, SpecError, did_you_mean
from metrichub.evaluation.resample import Interval
from metrichub.metric import Metric

SIGNS = (">=", ">", "<=", "<")
_TEXT = re.compile(r"\s*([^<>=]*?)\s*([<>=]*)\s*([^<>=\s]*)\s*")
_FAILED = {">=": "under {}", ">": "not over {}", "<=": "over {}", "<": "not under {}"}


class Threshold(NamedTuple):
    """The limit of one output; no limit holds for `nan`."""

    metric: str
    output: str
    sign: str
    value: float

    @classmethod
    def parse(cls, text: str, equals: str) -> Threshold:
        """The threshold in "bleu>=0.3" or "rouge.rougeL=0.2", where = is the sign `equals`.

        Raises:
            SpecError: the text isn't a valid threshold.
        """
        name, sign, number = _parts(text)
        sign = equals if sign == "=" else sign
        value = finite_number(number)
        if not name or sign not in SIGNS or value is None:
            raise SpecError(
                f"{text!r} isn't a valid threshold; write METRIC=NUMBER or METRIC.OUTPUT=NUMBER in "
                f"the score's own unit, without %, also with {', '.join(SIGNS)}"
            )
        return cls.named(name, sign, value)

    @classmethod
    def of(cls, name: str, limit: str | float, metrics: Mapping[str, Metric]) -> Threshold:
        """The threshold of "rouge.rougeL" and ">= 0.25"; a number is at least that good.

        Raises:
            SpecError: the limit is none, or a number where neither direction is better.
            ReportError: as `check`.
        """
        inside, sign, number = _parts(limit) if isinstance(limit, str) else ("", "", limit)
        value = finite_number(number)
        if inside or sign not in ("", *SIGNS) or value is None:
            raise SpecError(
                f"{limit!r} isn't a valid limit of {name}; write a number, with or without "
                f"{', '.join(SIGNS)}"
            )
        threshold = cls.named(name, sign, value).check(metrics)
        if sign:
            return threshold
        scale = metrics[threshold.metric].card.scale(threshold.output)
        better = scale.better if scale else "neither"
        if better == "neither":
            raise SpecError(
                f"neither more nor less is better for {name}; write the condition: "
                f"'>= {value:g}' or '<= {value:g}'"
            )
        return threshold._replace(sign=">=" if better == "higher" else "<=")

    @classmethod
    def named(cls, name: str, sign: str, value: float) -> Threshold:
        """The threshold of "rouge.rougeL", or of the output `score` of "rouge"."""
        metric, _, output = name.partition(".")
        return cls(metric, output or "score", sign, value)

    @property
    def name(self) -> str:
        """The output in full: "rouge.rougeL"."""
        return f"{self.metric}.{self.output}"

    @property
    def shown(self) -> str:
        """The output as people say it: "chrf", "rouge.rougeL"."""
        return self.name.removesuffix(".score")

    @property
    def least(self) -> bool:
        """Whether scores have to be above."""
        return self.sign in (">=", ">")

    def check(self, metrics: Mapping[str, Metric]) -> Threshold:
        """This threshold, if the metrics have such an output and it can be on the limit.

        Raises:
            ReportError: they don't, or it can't; the text says what there is.
        """
        if self.metric not in metrics:
            owners = [name for name, metric in metrics.items() if self.metric in metric.outputs()]
            near = f"; did you mean '{owners[0]}.{self.metric}'?" if owners else None
            raise ReportError(
                f"no metric {self.metric!r} is scored"
                f"{near or did_you_mean(self.metric, metrics)} "
                f"(scored: {', '.join(metrics)})"
            )
        outputs = metrics[self.metric].outputs()
        if self.output not in outputs:
            raise ReportError(
                f"{self.name}: no such output{did_you_mean(self.output, outputs)} "
                f"({self.metric} has: {', '.join(outputs)})"
            )
        scale = metrics[self.metric].card.scale(self.output)
        if scale is not None and self.value not in scale:
            percent = self.value / 100
            hint = f"; thresholds are fractions: write {percent:g}" if percent in scale else ""
            raise ReportError(f"{self.name}: {self.value:g} is outside {scale.interval}{hint}")
        return self

    def holds(self, score: float) -> bool:
        """Whether a score keeps the limit."""
        return {
            ">=": score >= self.value,
            ">": score > self.value,
            "<=": score <= self.value,
            "<": score < self.value,
        }[self.sign]

    def worse_end(self, interval: Interval) -> float:
        """The end of an interval that keeps the limit only if all of it does."""
        return interval.low if self.least else interval.high

    def failure(self, score: float) -> str:
        """How a score breaks the limit: "under 0.3"."""
        if math.isnan(score):
            return "no number"
        return _FAILED[self.sign].format(f"{self.value:g}")


def _parts(text: str) -> tuple[str, str, str]:
    match = _TEXT.fullmatch(text)
    name, sign, number = match.groups() if match else ("", "?", "")
    return name, sign, number


def finite_number(text: str | float) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and not isinstance(text, bool) else None
