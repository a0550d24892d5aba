"""What `score` shows: the scores of one system or several as tables, and as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from metrichub.cli.shared_options import Display, ResamplingOptions
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.captions import (
    about_intervals,
    about_tests,
    caption,
    legend,
    without_intervals,
)
from metrichub.report.export import document
from metrichub.report.scoreboard import (
    Intervals,
    ScoreFormat,
    chosen,
    fitted,
    output_columns,
    score_table,
    scoreboard,
)
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from metrichub.evaluation.ranking import PairedTests
    from metrichub.report.report import Report


@dataclass(frozen=True)
class ScoreTables:
    """The scores of one system or several, as tables and as a document."""

    reports: Mapping[str, Report]
    intervals: Mapping[str, Intervals]
    tests: PairedTests | None
    display: Display
    resampling: ResamplingOptions

    def tables(self, form: str, width: int | None) -> Sequence[Table]:
        """The tables of a format; those of a terminal are fitted to its width."""
        if form == "csv":
            return [self._rows()]
        how = ScoreFormat(self.display.outputs, self.display.percent, self.resampling.level)
        name, *others = self.reports
        if others:
            table = scoreboard(self.reports, self.tests, self.intervals, how)
        else:
            report = self.reports[name]
            table = score_table(report, report.scores(), self.intervals.get(name, {}), how)
        if form in ("markdown", "latex"):
            return [table._replace(caption=self._caption(table, how), signatures=self.signatures())]
        return fitted(table, width) if others else [table]

    def foot(self) -> list[str]:
        """What is said below a table of text: the results of tests, and signatures."""
        form = ScoreFormat(self.display.outputs)
        board = scoreboard(self.reports, self.tests, {}, form)
        said = [*self.tests.sentences, legend(board, self.tests)] if self.tests else []
        said += without_intervals(output_columns(self.reports, form), self.intervals)
        return [*filter(None, said), *(self.signatures() if self.display.with_signatures else ())]

    def signatures(self) -> list[str]:
        """The signatures of all systems, each once."""
        found = (s for report in self.reports.values() for s in report.signatures().values())
        return list(dict.fromkeys(found))

    def document(self) -> Mapping[str, Any]:
        """The scores of one system for JSON, or of several by their names."""
        documents = {
            name: document(
                report,
                self.intervals.get(name),
                report.signatures() if self.display.with_signatures else None,
            )
            for name, report in self.reports.items()
        }
        return next(iter(documents.values())) if len(documents) == 1 else {"systems": documents}

    def _rows(self) -> Table:
        """A row an output with all its digits, the signatures of the first as a last column."""
        table = Table.beside(self.reports, self.intervals)
        shown = {key for r in self.reports.values() for key in chosen(r, self.display.outputs)}
        rows = [row for row in table.rows if tuple(row[:2]) in shown]
        if not self.display.with_signatures:
            return Table(table.head, rows)
        found = next(iter(self.reports.values())).signatures()
        return Table([*table.head, "signature"], [[*row, found[str(row[0])]] for row in rows])

    def _caption(self, table: Table, form: ScoreFormat) -> str:
        columns = output_columns(self.reports, form)
        options = SignificanceOptions(**asdict(self.resampling))
        about = about_intervals(columns, self.intervals, options)
        size = next(iter(self.reports.values())).size
        return caption(size, about, about_tests(table, self.tests))
