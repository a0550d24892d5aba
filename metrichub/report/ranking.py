"""Ranking: systems that were tested against each other, and the tables of what that gave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from metrichub.errors import MissingDependency, ReportError, what
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.ranking import PairedTests, paired_tests
from metrichub.evaluation.resample import SEED, check_positive
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.report import Report
from metrichub.report.scoreboard import (
    OutputChoice,
    ScoreFormat,
    about_intervals,
    about_tests,
    caption,
    differences,
    legend,
    scoreboard,
)
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from pandas import DataFrame

    from metrichub.evaluation.resample import Interval


@dataclass(frozen=True)
class Ranking(PairedTests):
    """What paired tests say of several systems on the same samples, and how to show it.

    `pairs[system, other]` holds metric -> output -> `Comparison` for every pair, `other` being the
    one that was named first; `ranks` metric -> headline output -> system -> rank, below
    others only where each of them beats it; `withheld` metric -> why it ranks none. `scores` holds
    system -> metric -> output -> score of all its samples, as its report has it, while a test is of
    those that both systems have scores of. `sentences` sum it up, and `sentence` is all of them.
    """

    @classmethod
    def of(cls, tests: PairedTests) -> Ranking:
        """The ranking that these tests give."""
        return cls(**{part.name: getattr(tests, part.name) for part in fields(tests)})

    def to_dict(self) -> dict[str, Any]:
        """Scores, ranks, the sentence, and the tests of all pairs; plain dicts and tuples."""
        first, *_ = self.systems
        return {
            "baseline": first,
            "samples": next(iter(self.reports.values())).size,
            "scores": {name: Report.of(one).scores() for name, one in self.reports.items()},
            "sentence": self.sentence,
            "ranks": self.ranks,
            "comparisons": self.against(first),
            "pairs": [
                {"system": system, "other": other, "comparisons": found}
                for (system, other), found in self.pairs.items()
                if other != first
            ],
        }

    def to_frame(self, *, outputs: OutputChoice = "headline") -> DataFrame:
        """A pandas data frame with what `to_csv` has.

        Raises:
            MissingDependency: pandas isn't installed.
        """
        try:
            import pandas
        except ImportError:
            raise MissingDependency("to_frame", "pandas") from None
        table = self.table(outputs=outputs)
        return pandas.DataFrame(list(table.rows), columns=list(table.head))

    def to_csv(self, *, outputs: OutputChoice = "headline") -> str:
        """Scores, ranks and tests against the first system, a row an output and system.

        In full precision; `outputs` is "headline" (those that each card names to be read first) or
        "all", with the p-values before the correction.
        """
        return self.table(outputs=outputs).csv()

    def to_markdown(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> str:
        """The systems' scores in Markdown, a row a system, the best in bold, with a caption.

        The caption has the sentences, the test, its level, and the signatures. `intervals` adds
        bootstrap intervals; `percent` shows outputs that range from 0 to 1 in percent.
        """
        return self.captioned(outputs=outputs, intervals=intervals, percent=percent).markdown()

    def to_latex(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> str:
        """The same table in LaTeX (package booktabs); takes what `to_markdown` takes."""
        return self.captioned(outputs=outputs, intervals=intervals, percent=percent).latex()

    def table(self, *, outputs: OutputChoice = "headline") -> Table:
        """What `to_csv` writes."""
        return Table.compared(self, all_outputs=ScoreFormat(outputs).outputs == "all")

    def tables(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> tuple[Table, Table]:
        """The systems' scores with ranks and marks, and their differences from the first."""
        form = ScoreFormat(outputs, percent, self.options.level)
        return self._scores(form, intervals), differences(self, form)

    def captioned(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> Table:
        """The systems' scores with the caption of a paper; see `to_markdown`."""
        options = self.options
        table = self._scores(ScoreFormat(outputs, percent, options.level), intervals)
        about = (
            about_intervals(options.level, options.resamples, options.cluster) if intervals else ""
        )
        size = next(iter(self.reports.values())).size
        said = caption(size, about, about_tests(table, self))
        return table._replace(caption=said, signatures=self.signatures())

    def intervals(self) -> dict[str, dict[str, dict[str, Interval]]]:
        """Bootstrap intervals: system -> metric -> output -> `Interval`."""
        how = self.options.of_intervals()
        return {name: Report.of(one).intervals(**how) for name, one in self.reports.items()}

    def signatures(self) -> list[str]:
        """The signatures of the metrics, several of one where systems differ in them."""
        reports = [Report.of(one) for one in self.reports.values()]
        found = (text for report in reports for text in report.signatures().values())
        return list(dict.fromkeys(found))

    def foot(self) -> list[str]:
        """What is said below tables in a terminal: the sentences, and what the marks mean."""
        about = "differences and p are computed on the samples that both systems have scores for"
        marks = legend(self._scores(ScoreFormat(), False), self)
        return list(filter(None, (*self.sentences, about if self.left_out else "", marks)))

    def _repr_html_(self) -> str:
        """The scores and differences as tables, for notebooks."""
        from html import escape

        tables = "".join(table.html() for table in self.tables())
        return tables + "".join(f"<p>{escape(line)}</p>\n" for line in self.foot())

    def __str__(self) -> str:
        """The scores, the differences and the sentences as plain text."""
        scores, apart = self.tables()
        return "\n".join([scores.text(), "", apart.text(), "", *self.foot()])

    def _scores(self, form: ScoreFormat, intervals: bool) -> Table:
        return scoreboard(self.reports, self, self.intervals() if intervals else {}, form)


def compare_all(
    systems: Mapping[str, Measurement],
    *,
    metrics: str | Iterable[str] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    trials: int = 10_000,
    seed: int = SEED,
    cluster: str | None = None,
) -> Ranking:
    """Paired tests of every pair of systems on the same samples, and the ranks that follow.

    Args:
        systems: the report of every system by its name.
        metrics: the metrics to test, by name; all that two systems share unless given.
        level: the level of the intervals; a system beats another where p <= 1 - level.
        resamples: how many resamples the paired bootstrap draws for the intervals.
        trials: how many times approximate randomisation swaps outputs.
        seed: where the random numbers start; one seed, one result.
        cluster: the column whose samples of one value are drawn and swapped together, such as the
            document that sentences are from.

    Raises:
        ReportError: fewer than two systems, other samples, no common metric, metrics with other
            parameters or of another definition, no such column, or pooled.
        ParameterError: level isn't between 0 and 1, or a number isn't positive.
    """
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise ReportError(
            "compare_all takes the reports of at least two systems by name, for example "
            f'{{"A": report, "B": other}}, not {what(systems)}'
        )
    for name, report in systems.items():
        if not isinstance(report, Measurement):
            raise ReportError(f"{name} is {what(report)}, not a report")
    check_positive("resamples", resamples)
    options = SignificanceOptions(level, resamples, trials, seed, cluster)
    return Ranking.of(paired_tests(systems, options, metrics))
