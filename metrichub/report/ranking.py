"""Ranking: systems that were tested against each other, and the tables of what that gave."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from metrichub.data.samples import NOT_IN_ALL
from metrichub.data.values import json_value
from metrichub.errors import ParameterError, ReportError, listed, printable, what
from metrichub.evaluation.draws import check_positive
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.paired_tests import PairedTests, paired_tests
from metrichub.evaluation.resample import SEED
from metrichub.evaluation.significance import Comparison, Comparisons, SignificanceOptions
from metrichub.report.by_output import OutputTable, intervals_of
from metrichub.report.captions import (
    captioned,
    extended_line,
    legend,
    power_line,
    signatures_of,
    without_differences,
    without_intervals,
)
from metrichub.report.headline import Headline, headline, short_label
from metrichub.report.notes import warn_of
from metrichub.report.rows import (
    HEADLINES,
    Intervals,
    OutputChoice,
    ScoreFormat,
    merged_columns,
    output_columns,
)
from metrichub.report.scoreboard import board_of_two, differences, long_tests, scoreboard
from metrichub.report.tables import Table, without_picture

if TYPE_CHECKING:
    from pandas import DataFrame

    from metrichub.evaluation.margins import Margin
    from metrichub.evaluation.resample import Interval

M = TypeVar("M", bound=Measurement)

QUICK_SAMPLES = 20_000
"""Of more samples than this intervals are drawn only where they were asked for."""
ABOUT_SACREBLEU_P = (
    "too small: at .05 it finds 11 to 20 false positives in 100 comparisons of equal systems"
)


@dataclass(frozen=True, repr=False)
class Ranking(PairedTests, Generic[M]):
    """Paired tests of several systems on the same samples, and the ranks that follow.

    `pairs[system, other]` holds metric -> output -> `Comparison` for every pair; `other` is the
    system that was passed first. `ranks` holds metric -> headline output -> system -> rank, one
    more than the systems that are significantly better. `withheld` says why a metric, or one of its
    outputs, ranks no system.
    """

    reports: Mapping[str, M] = field(repr=False)

    @cached_property
    def headline(self) -> Headline:
        """Who scores highest, who isn't significantly lower, and what other metrics add."""
        return headline(self)

    @property
    def sentence(self) -> str:
        """The headline as one text."""
        return str(self.headline)

    def compare(self, system: str, other: str) -> OutputTable[Comparison]:
        """The comparisons of one system with another, whichever was named first.

        Raises:
            ReportError: there is no such system.
        """
        results = self.reports[self.systems[0]].results
        headline = {name: result.metric.headline() for name, result in results.items()}
        return OutputTable(super().compare(system, other), headline)

    def to_dict(self) -> dict[str, Any]:
        """Scores, counts, ranks, the sentence, and all tests; plain dicts, texts and numbers."""
        first, *_ = self.systems
        pairs = {pair: _plain(tests) for pair, tests in self.pairs.items()}
        return {
            "baseline": first,
            "about": {"sacrebleu_bootstrap_p": ABOUT_SACREBLEU_P},
            "samples": next(iter(self.reports.values())).size,
            "scores": self.scores(),
            "counts": {name: report.counts() for name, report in self.reports.items()},
            "sentence": self.sentence,
            "ranks": self.ranks,
            "withheld": self.withheld,
            "comparisons": {
                name: tests for (name, other), tests in pairs.items() if other == first
            },
            "pairs": [
                {"system": system, "other": other, "comparisons": tests}
                for (system, other), tests in pairs.items()
                if other != first
            ],
        }

    def to_frame(self, *, outputs: OutputChoice = "headline") -> DataFrame:
        """A pandas data frame with the columns of `to_csv`.

        Raises:
            MissingDependency: pandas isn't installed.
        """
        return self.table(outputs=outputs).frame()

    def to_json(self, *, indent: int | None = 2) -> str:
        """The result of `to_dict` as JSON, with null where there is no number."""
        return json.dumps(json_value(self.to_dict()), ensure_ascii=False, indent=indent)

    def to_csv(self, *, outputs: OutputChoice = "headline") -> str:
        """Scores, ranks and tests against the first system, with a row per output and system.

        Numbers are in full precision; `outputs` is "headline" (those that each card lists as
        headline) or "all", which adds the uncorrected p-values.
        """
        return self.table(outputs=outputs).csv()

    def to_markdown(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> str:
        """The systems' scores in Markdown: a row per system, the best in bold, with a caption.

        The caption is the sentences; below are the test, its confidence, and the signatures. Of two
        systems the scores of the second have p. `intervals` adds bootstrap intervals; `percent`
        shows outputs from 0 to 1, and error rates, in percent.
        """
        return self.captioned(outputs=outputs, intervals=intervals, percent=percent).markdown()

    def to_latex(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> str:
        """The same table in LaTeX (package booktabs), with comments of what is below it otherwise.

        Takes the arguments of `to_markdown`.
        """
        return self.captioned(outputs=outputs, intervals=intervals, percent=percent).latex()

    def table(self, *, outputs: OutputChoice = "headline") -> Table:
        """The table that `to_csv` writes."""
        return long_tests(self, ScoreFormat(outputs))

    def tables(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> tuple[Table, Table]:
        """The systems' scores, best first, and the differences of all pairs."""
        form = ScoreFormat(outputs, percent, self.options.confidence)
        return self._scores(form, intervals), differences(self, form)

    def board(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> Table:
        """The table in a terminal: of two systems a row per output, of several a row per system.

        Two have their differences with interval and p; of several the first output has pictures of
        its intervals.
        """
        form = ScoreFormat(outputs, percent, self.options.confidence)
        if len(self.systems) == 2:
            return board_of_two(self, form, self.intervals() if intervals else {})
        return self._scores(form, intervals, self._pictured)

    @cached_property
    def _pictured(self) -> dict[str, OutputTable[Interval]]:
        """The intervals of the first metric, where they take a moment."""
        if any(report.size > QUICK_SAMPLES for report in self.reports.values()):
            return {}
        metric = output_columns(self.reports, HEADLINES)[0].metric
        how = self.options.of_intervals()
        return {
            name: intervals_of(report, metrics=metric, **how)
            for name, report in self.reports.items()
            if metric in report.results and report.results[metric].adds_up
        }

    def captioned(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> Table:
        """The systems' scores with a caption for a paper; see `to_markdown`."""
        form = ScoreFormat(outputs, percent, self.options.confidence)
        drawn = self.intervals() if intervals else {}
        return captioned(self.reports, self, drawn, form, self.options)

    def intervals(self) -> dict[str, dict[str, dict[str, Interval]]]:
        """Intervals: system -> metric -> output -> `Interval`."""
        return self._drawn

    @cached_property
    def _drawn(self) -> dict[str, dict[str, dict[str, Interval]]]:
        how = self.options.of_intervals()
        return {name: intervals_of(report, **how) for name, report in self.reports.items()}

    def not_worse(
        self, system: str, name: str, margin: float, *, confidence: float = 0.95
    ) -> Margin:
        """Whether a system is shown to be worse than the first by no more than a margin.

        `name` is a metric, or an output such as "rouge.rouge2"; `margin` is in the score's own
        unit. `shown` is whether the error of saying so is at most 1 - confidence: that it is worse
        by the margin has to be refuted, so that few samples show nothing.

        Raises:
            ReportError: there is no such system or output, or neither more nor less is better.
            ParameterError: the margin isn't a number above 0.
        """
        from metrichub.evaluation.margins import margin_in_words, mean_differences, not_worse
        from metrichub.evaluation.thresholds import Threshold

        metric, output, *_ = threshold = Threshold.named(name, ">=", margin)
        first, *others = self.systems
        test = self.pairs.get((system, first), {}).get(metric, {}).get(output)
        if test is None:
            raise ReportError(
                f"{system} has no {name} that was compared with {first}; the others are "
                f"{listed(others)}, and the metrics {listed(list(self.ranks))}"
            )
        if not (isinstance(margin, (int, float)) and isfinite(margin) and margin > 0):
            raise ParameterError(None, "margin", margin, "a number above 0, in the score's unit")
        results = [self.reports[side].results[metric] for side in (system, first)]
        better = results[0].metric.card.better(output)
        if better == "neither":
            raise ReportError(f"neither more nor less is better for {name}; it has no margin")
        # Clusters and buckets are units of their own.
        single = self.options.cluster is None and test.units == test.samples
        means = mean_differences(results[0], results[1], output) if single else None
        result = not_worse(test, better, margin, confidence, means)
        limit = f"{margin:g} on {threshold.shown}"
        cluster, pair = self.options.cluster, (system, first)
        return result._replace(
            sentence=margin_in_words(result, test, pair, limit, confidence, cluster)
        )

    def signatures(self) -> list[str]:
        """The signatures of the metrics; several for a metric in which the systems differ."""
        return signatures_of(self.reports)

    def foot(
        self, *, outputs: OutputChoice = "headline", intervals: bool = False, percent: bool = False
    ) -> list[str]:
        """The text below the table in a terminal: what the marks mean, and then what to doubt.

        `outputs`, `intervals` and `percent` are those of the table.
        """
        form = ScoreFormat(outputs, percent)
        size = next(iter(self.reports.values())).size
        columns = merged_columns(self.reports, HEADLINES)
        down = [short_label(column) for column in columns if column.better == "lower"]
        marks = [legend(self._scores(form, False), self)] if len(self.systems) > 2 else []
        marks += [f"less is better in {listed(down)}"] if down and len(down) < len(columns) else []
        about = "differences and p are of the samples that both systems have scores of"
        two = len(self.systems) == 2  # Of several no differences are shown.
        lacking = [extended_line(self, form), *without_differences(self, form)] if two else []
        if intervals:
            lacking += without_intervals(output_columns(self.reports, form), self.intervals())
        lines = [*self.doubts, power_line(self, form), about if self.left_out else "", *lacking]
        remarks = chain.from_iterable(report.remarks for report in self.reports.values())
        samples = f"{size:,} {'sample' if size == 1 else 'samples'}"
        if any(NOT_IN_ALL in remark for remark in remarks):
            samples += " that all systems have"
        first = " · ".join([samples, *filter(None, marks)])
        return [first, *filter(None, lines)]

    def _repr_html_(self) -> str:
        """The headline, the scores and what is said below them, for notebooks."""
        from html import escape

        table = without_picture(self.board()).html()
        foot = "".join(f"<p>{escape(line)}</p>\n" for line in self.foot())
        return f"<p>{escape(self.sentence)}</p>\n{table}{foot}"

    def __repr__(self) -> str:
        """The systems, and the headline."""
        return f"<Ranking of {listed(self.systems)}: {self.headline.title}>"

    def __str__(self) -> str:
        """The headline, the scores and what is said below them, as plain text."""
        around = printable(self.sentence), [*map(printable, self.foot())]
        return "\n".join([around[0], "", self.board().text(), "", *around[1]])

    def _scores(
        self, form: ScoreFormat, intervals: bool, pictured: Mapping[str, Intervals] | None = None
    ) -> Table:
        drawn = self.intervals() if intervals else {}
        return scoreboard(self.reports, self, drawn, form, pictured)


def _plain(tests: Comparisons) -> dict[str, dict[str, dict[str, Any]]]:
    return {m: {o: asdict(test) for o, test in outputs.items()} for m, outputs in tests.items()}


def compare_two(
    measurement: Measurement,
    other: Measurement,
    metrics: str | Iterable[str] | None,
    options: SignificanceOptions,
) -> OutputTable[Comparison]:
    """The tests of one system against another; see `Report.compare`."""
    if not isinstance(other, Measurement):
        raise ReportError(f"compare needs another report, not {what(other)}")
    systems = {"the other system": other, "this system": measurement}
    ranking = compare_all(systems, metrics=metrics, **options._asdict())
    headline = {name: result.metric.headline() for name, result in measurement.results.items()}
    return OutputTable(ranking.against("the other system")["this system"], headline)


def compare_all(
    systems: Mapping[str, M],
    *,
    metrics: str | Iterable[str] | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    trials: int = 10_000,
    seed: int = SEED,
    cluster: str | None = "auto",
    calibrate: str | None = None,
) -> Ranking[M]:
    """Paired tests of every pair of systems on the same samples, and the ranks that follow.

    Args:
        systems: the report of each system, by name.
        metrics: the names of the metrics to test; by default all that two systems share.
        confidence: the confidence of the intervals; a system beats another if p <= 1 - confidence.
        resamples: the number of bootstrap resamples for the intervals.
        trials: the number of random swaps of approximate randomization.
        seed: the seed of the random numbers.
        cluster: a column, such as the document of a sentence; samples that share a value are drawn
            and swapped together; by default, the answers to one question are, and with None none.
        calibrate: a column with people's labels of each system's own answers to some samples, or
            a file with the columns system, id (or sample, its number) and label. Differences and p
            are then people's, as far as the scores help to tell them, by prediction-powered
            inference and Student's t. The samples with labels must be drawn at random.

    Raises:
        ReportError: there are fewer than two systems, or the reports have different samples, no
            common metric, metrics with other parameters or definitions, no such column, or are
            pooled.
        ParameterError: confidence isn't between 0 and 1, or a number isn't positive.
    """
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise ReportError(
            "compare_all needs the reports of at least two systems by name, for example "
            f'{{"A": report, "B": other}}, not {what(systems)}'
        )
    for name, report in systems.items():
        if not isinstance(report, Measurement):
            raise ReportError(f"{name} is {what(report)}, not a report")
    check_positive("resamples", resamples)
    options = SignificanceOptions(confidence, resamples, trials, seed, cluster, calibrate)
    tests = paired_tests(systems, options, metrics)
    warn_of(systems)
    return Ranking(**{**vars(tests), "reports": systems})
