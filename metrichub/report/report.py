"""Report: what a hub measured, with methods for scores, intervals, tests and export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub.errors import ReportError, what
from metrichub.evaluation.measurement import Measurement, chosen_metrics
from metrichub.evaluation.resample import SEED
from metrichub.evaluation.significance import Comparison
from metrichub.evaluation.units import groups
from metrichub.report.rated import RatedReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from metrichub.report.scoreboard import OutputChoice


@dataclass(frozen=True, repr=False, eq=False)
class Report(RatedReport):
    """What a hub measured: scores, samples, intervals, tests, explanations and export.

    `Hub.evaluate` returns one, and `Report.load` reads a saved one.
    """

    @classmethod
    def of(cls, measurement: Measurement) -> Report:
        """The report on these measurements."""
        return cls(**{part.name: getattr(measurement, part.name) for part in fields(measurement)})

    def __getitem__(self, metric: str) -> dict[str, float]:
        """The scores of one metric, as in `scores()`.

        Raises:
            ReportError: no such metric.
        """
        chosen_metrics([metric], self.results, "the report")
        return self.scores()[metric]

    def __contains__(self, metric: object) -> bool:
        """Whether the report has scores of a metric of this name."""
        return metric in self.results

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics."""
        return iter(self.results)

    def compare(
        self,
        other: Report,
        *,
        metrics: str | Iterable[str] | None = None,
        level: float = 0.95,
        resamples: int = 1000,
        trials: int = 10_000,
        seed: int = SEED,
        cluster: str | None = None,
    ) -> dict[str, dict[str, Comparison]]:
        """Paired tests of this system against another on the same samples.

        Differences are this report's scores minus the other's.

        Runs two-sided approximate randomisation (`trials`), with p-values corrected by Holm's
        method over the headline outputs of each metric, and the paired bootstrap (`resamples`),
        with its intervals and p-values. Both use sacrebleu's random draws and definitions of p for
        the same seed (ties count as extreme, so two identical systems get p = 1). sacrebleu's
        bootstrap p-value calls too many differences significant (11 to 20 of 100 where there is
        none, at .05); randomisation doesn't. For three systems or more, `metrichub.compare_all`
        corrects over all pairs. `metrics` chooses one or several of the metrics that both reports
        have; `cluster` names a column of `metadata`, and samples that share a value of it are drawn
        and swapped together.

        Tests and scores use the samples that both systems have scores for. If the systems left
        different samples unanswered, `Comparison.withheld` says so: the higher score then doesn't
        show which system is better.

        Raises:
            ReportError: the reports are of different samples, have no common metric or none of the
                chosen names, have metrics with other parameters or definitions, or are pooled.
        """
        from metrichub.report.notebook import ByOutput
        from metrichub.report.ranking import compare_all

        if not isinstance(other, Report):
            raise ReportError(f"compare takes another report, not {what(other)}")
        how: dict[str, Any] = {"level": level, "resamples": resamples, "trials": trials}
        systems = {"the other system": other, "this system": self}
        ranking = compare_all(systems, metrics=metrics, **how, seed=seed, cluster=cluster)
        return ByOutput(ranking.against("the other system")["this system"])

    def by(self, column: str) -> dict[Any, Report]:
        """A report for each value of a column that the report kept, in order of first appearance.

        Subgroups can be compared between systems like whole reports. Samples without a value are
        under None. Usage belongs to all samples, so none of the reports has it.

        Raises:
            ReportError: there is no such column, it holds lists, or the report keeps no samples.
        """
        if any(result.pooled for result in self.results.values()):
            raise ReportError(
                "groups need the samples, which weren't kept; evaluate with samples=True"
            )
        index = groups(column, self.metadata, self.size)
        return {value: self.take(samples) for value, samples in index.items()}

    def merge(self, *others: Report) -> Report:
        """The report of this one's samples followed by the others'; equals measuring all at once.

        For reports that keep no samples, sums of fractions may differ in the last digit.

        A sample that is in two reports would count twice. It is found by its `id` where both kept
        that column (and by `system` and `epoch`); without ids, or with samples=False, it isn't.

        Raises:
            ReportError: the reports have different metrics, parameters or definitions, or share
                samples; or one is pooled and has a metric that doesn't add up.
        """
        from metrichub.evaluation.merge import merged

        return merged((self, *others))

    def save(self, path: str | Path) -> None:
        """Write the report as JSON, compressed if the name ends in .gz; never half a file.

        Raises:
            ReportError: a metric's parameters or rows can't be written as JSON.
        """
        from metrichub.report.serialize import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, metrics: Sequence[Any] = ()) -> Report:
        """The report in a file. `metrics` provides metrics that aren't installed.

        Raises:
            ReportError: the file isn't a report, or a metric isn't available, has another
                definition, or gives other scores than when the report was saved.
        """
        from metrichub.report.deserialize import load

        return load(Path(path), metrics)

    def flatten(
        self, *, outputs: OutputChoice = "headline", separator: str = "/"
    ) -> dict[str, float]:
        """The scores under flat keys, as experiment trackers log them: {"rouge/rougeL": 0.42}.

        `outputs` is "headline" (those that each card lists as headline) or "all". The key of the
        output `score` is the metric's name alone.
        """
        from metrichub.report.export import flat

        return flat(self, outputs, separator)

    def to_dict(self) -> dict[str, Any]:
        """Scores, the number of samples, signatures, notes, and the judges' usage.

        Plain dicts, texts and numbers; `nan` where there is no score. `save` keeps the samples too.
        """
        from metrichub.report.export import document

        return document(self, signatures=self.signatures())

    def to_json(self, *, indent: int | None = 2) -> str:
        """The result of `to_dict` as JSON, with null where there is no score."""
        from metrichub.report.tables import json_safe

        return json.dumps(json_safe(self.to_dict()), ensure_ascii=False, indent=indent)

    def to_frame(self) -> DataFrame:
        """A pandas data frame with a row per sample: scores ("bleu.score") and reasons for none.

        The columns that the report kept come first, such as ids and ratings; one with the name of a
        score becomes "bleu.score (kept)". A metric that scored every sample has no column of
        reasons ("bleu.reason").

        Raises:
            ReportError: the report is pooled.
            MissingDependency: pandas isn't installed.
        """
        from metrichub.report.export import frame

        return frame(self)

    def to_csv(self, *, outputs: OutputChoice = "headline", intervals: bool = False) -> str:
        """The table of scores as CSV in full precision; for samples use `to_frame().to_csv()`.

        `outputs` is "headline" (those that each card lists as headline) or "all"; `intervals` adds
        95% bootstrap intervals.

        Raises:
            ReportError: intervals of a pooled report.
        """
        from metrichub.report.export import table

        return table(self, outputs, intervals).csv()

    def to_markdown(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> str:
        """The table of scores in Markdown; the caption has sample size, intervals and signatures.

        Takes the arguments of `to_csv`; `percent` shows outputs that range from 0 to 1 in percent.
        """
        from metrichub.report.export import captioned

        return captioned(self, outputs, intervals, percent).markdown()

    def to_latex(
        self,
        *,
        outputs: OutputChoice = "headline",
        intervals: bool = False,
        percent: bool = False,
    ) -> str:
        """The table of scores in LaTeX (package booktabs). Takes the arguments of `to_markdown`."""
        from metrichub.report.export import captioned

        return captioned(self, outputs, intervals, percent).latex()

    def to_html(
        self,
        path: str | Path,
        *,
        name: str = "",
        others: Mapping[str, Report] | None = None,
        **options: Any,
    ) -> None:
        """Write one HTML file with scores, plots and all samples.

        `others` are systems to compare with this one; `name` is then this one's name. Options are
        those of `metrichub.report.html.write`: level, resamples, trials, seed, cluster, ids, human,
        explained, size, progress.

        Raises:
            ReportError: the report is pooled, or the systems can't be compared.
        """
        from metrichub.report.html import write

        write(path, {name or ("this" if others else ""): self, **(others or {})}, **options)

    def plot(
        self,
        metric: str | Sequence[str] | None = None,
        output: str = "score",
        other: Report | None = None,
    ) -> Figure:
        """A matplotlib figure: the distribution of a metric's sample scores, or of all metrics'.

        Several metrics are plotted against each other; with `other`, this report's scores are
        plotted against the other's, sample by sample.

        Raises:
            MissingDependency: matplotlib isn't installed.
            ReportError: there is no such metric or output, the samples differ, or a report is
                pooled.
        """
        from metrichub.report.html.figure import figure

        return figure(self, metric, output, other)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same statistics and signatures, whatever it took to get them."""
        from metrichub.report.serialize import statistics

        return isinstance(other, Report) and statistics(self) == statistics(other)

    __hash__ = None  # type: ignore[assignment]  # what isn't compared by identity has none

    def _repr_html_(self) -> str:
        """The scores as a table, for notebooks."""
        from metrichub.report.export import shown

        return shown(self).html()

    def __repr__(self) -> str:
        """The size and the main scores."""
        scores = (f"{name} {s.get('score', float('nan')):.4f}" for name, s in self.scores().items())
        return f"<Report of {self.size} samples: {', '.join(scores)}>"

    def __str__(self) -> str:
        """The scores as a plain table."""
        from metrichub.report.export import shown

        return shown(self).text()
