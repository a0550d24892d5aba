"""The options that `score` or `compare` has alone: what is written, and gates for CI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metrichub.cli.output import report_file, report_option, samples_file, title_option
from metrichub.cli.shared_options import (
    calibrate_option,
    detect_option,
    key_option,
    max_words_option,
    option_group,
)
from metrichub.data.samples import Samples
from metrichub.data.tidy import split_systems
from metrichub.errors import MetrichubError, did_you_mean, listed

if TYPE_CHECKING:
    from metrichub.evaluation.measurement import Nested
    from metrichub.evaluation.thresholds import Threshold
    from metrichub.hub import Hub


@dataclass(frozen=True)
class Results:
    """The outputs beside the table of scores."""

    samples_out: str | None
    save: str | None
    page: str | None
    title: str | None
    by: str | None
    key: Sequence[str]
    calibrate: str | None
    worst: str | None
    label_samples: int | None
    max_words: int | None

    def check(self, systems: int) -> None:
        """Raise `UsageError` for what doesn't go together."""
        if self.label_samples and (self.need_samples or self.key or self.max_words):
            raise click.UsageError(
                "--sample-for-labels scores nothing, so that --samples, --save, --report, --by, "
                "--key, --calibrate, --worst and --max-words don't go with it"
            )
        if self.save and systems > 1:
            raise click.UsageError(
                "--save saves the report of one system; give one FILE, or choose a --split"
            )
        if self.calibrate and systems > 1:
            raise click.UsageError("--calibrate works on one system; give one FILE")
        if self.key and (self.need_texts or self.by is not None or self.max_words):
            raise click.UsageError(
                "--key keeps only sums, but --samples, --worst, --report, --by and --max-words "
                "need the samples; leave it out"
            )

    def worst_of(self, hub: Hub, form: str) -> tuple[str, int]:
        """The output by which --worst sorts, and how many samples it shows; "" and 0 without it.

        Raises:
            UsageError: it has no number, no sample is the worst by such an output, or the format
                has one table.
        """
        if self.worst is None:
            return "", 0
        from metrichub.report.sample_rows import worst_output

        if form == "csv":
            raise click.UsageError("CSV has one table; leave out --worst, or give --samples FILE")
        name, _, number = self.worst.rpartition("=")
        if not number.isdecimal() or not int(number):
            raise click.UsageError(f"--worst {self.worst!r}: write --worst 20 or METRIC=20")
        try:
            output = worst_output({metric.name: metric for metric in hub.metrics}, name)
        except MetrichubError as error:
            raise click.UsageError(f"--worst: {error}") from error
        return ".".join(output), int(number)

    @property
    def need_samples(self) -> bool:
        """Whether the scores of samples are needed, and not only those of the corpus."""
        return bool(self.need_texts or self.save or self.by is not None or self.calibrate)

    @property
    def need_texts(self) -> bool:
        """Whether the texts of samples are shown or written."""
        return bool(self.samples_out or self.page or self.worst)


result_options = option_group(
    "results",
    Results,
    click.option(
        "--samples",
        "samples_out",
        metavar="FILE",
        callback=samples_file,
        help="Write all samples' texts and scores (.jsonl, .csv); also reasons and verdicts. "
        "bleu is sentence BLEU.",
    ),
    click.option(
        "--save",
        metavar="FILE",
        callback=report_file,
        help="Save the report for compare (.json or .json.gz).",
    ),
    report_option,
    title_option,
    click.option(
        "--by",
        metavar="COLUMN",
        help="Add the scores of each group; the values of the column are the groups.",
    ),
    key_option,
    calibrate_option,
    click.option(
        "--worst",
        metavar="[METRIC=]N",
        help="Show the N worst samples and their texts; by the first metric, or by METRIC or "
        "METRIC.OUTPUT. Below each are the verdicts of judges.",
    ),
    click.option(
        "--sample-for-labels",
        "label_samples",
        metavar="N",
        type=click.IntRange(1),
        help="Instead of scoring, write N random samples of every FILE to -o labels.csv, with an "
        "empty column 'label' for people; 'compare --calibrate labels.csv' reads it.",
    ),
    max_words_option,
)


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
        from metrichub.evaluation.thresholds import Threshold

        typed = [("--fail-under", ">=", text) for text in self.fail_under]
        typed += [("--fail-over", "<=", text) for text in self.fail_over]
        thresholds = []
        for option, sign, text in typed:
            try:
                threshold = Threshold.parse(text, sign)
                threshold.check({metric.name: metric for metric in hub.metrics})
            except MetrichubError as error:
                raise click.UsageError(f"{option}: {error}") from error
            if option == "--fail-over" and threshold.least:
                under = f"--fail-under {text!r}"
                raise click.UsageError(f"{option} {text!r} sets a minimum; write {under}")
            thresholds.append(threshold)
        return thresholds


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


@dataclass(frozen=True)
class CompareOptions:
    """Which systems and samples are compared, and what is shown beside the table."""

    column: str | None
    baseline: str | None
    common: bool
    key: Sequence[str]
    page: str | None
    title: str | None
    by: str | None
    calibrate: str | None
    max_words: int | None

    @property
    def matching(self) -> Sequence[str] | None:
        """The columns by which samples are matched, maybe none; None where they aren't matched."""
        return self.key if self.column or self.common else None

    @property
    def bucket_key(self) -> Sequence[str]:
        """The columns that choose the bucket of a sample where only sums are kept."""
        return () if self.column or self.common else self.key

    def split(self, table: Samples, file: str) -> dict[str, Samples]:
        """The samples of each system of a table, the baseline first.

        Raises:
            UsageError: the baseline isn't among them.
        """
        systems = split_systems(table, self.column or "")
        if self.baseline is None:
            return systems
        if self.baseline not in systems:
            near = did_you_mean(self.baseline, systems) or f" (there are: {listed(systems)})"
            raise click.UsageError(f"{file} has no system {self.baseline!r}{near}")
        return {self.baseline: systems.pop(self.baseline), **systems}

    def check(self, max_drop: Sequence[str]) -> None:
        """Raise `UsageError` for what doesn't go together."""
        sliced = self.by is not None
        needing = {"--report": self.page, "--by": sliced, "--max-words": self.max_words}
        if self.bucket_key and (options := [name for name, given in needing.items() if given]):
            raise click.UsageError(
                f"--key keeps only sums, but {options[0]} needs the samples; leave one of them out"
            )
        if self.calibrate and (self.bucket_key or max_drop or self.page or sliced):
            raise click.UsageError(
                "--calibrate doesn't go with --key, --by, --max-drop or --report"
            )


compare_options = option_group(
    "comparing",
    CompareOptions,
    click.option(
        "--systems",
        "column",
        metavar="COLUMN",
        help="FILE is one table of all systems, whose names are in COLUMN; or as A+B, whose "
        "predictions are in the columns A and B.",
    ),
    click.option(
        "--baseline",
        metavar="NAME",
        help="The baseline among the systems of --systems.  [default: the first in the table]",
    ),
    click.option(
        "--common",
        is_flag=True,
        help="Compare on the samples that all systems have, and leave out the others.",
    ),
    key_option,
    report_option,
    title_option,
    click.option(
        "--by",
        metavar="COLUMN",
        help="Add the differences of each group of samples, by the values of a column.",
    ),
    calibrate_option,
    max_words_option,
)
"""--systems, --baseline, --common, --key, --report, --by, --max-words and others as `comparing`."""


@dataclass(frozen=True)
class GateOptions:
    """The differences that fail a build, and those to plan for, as they were typed."""

    fail_if_worse: bool
    max_drop: tuple[str, ...]
    margin: tuple[str, ...]
    detect: tuple[str, ...]


gate_options = option_group(
    "gates",
    GateOptions,
    click.option(
        "--fail-if-worse",
        is_flag=True,
        help="Exit with 1 if a system is significantly worse than the baseline, or can't be "
        "tested.",
    ),
    click.option(
        "--max-drop",
        metavar="METRIC=N",
        multiple=True,
        help="Exit with 1 if a system scores worse than the baseline by more than N.",
    ),
    click.option(
        "--margin",
        metavar="[METRIC=]N",
        multiple=True,
        help="Exit with 1 unless the samples show that no system is worse than the baseline by "
        "over N; N without METRIC applies to all headline outputs.",
    ),
    detect_option,
)
"""--fail-if-worse, --max-drop, --margin and --detect as `gates`."""
