"""Report: what a hub measured, and every question that one can ask of it."""

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
    """What a hub measured, and every question that one can ask of it.

    A hub makes it; `Report.load` reads a saved one.
    """

    @classmethod
    def of(cls, measurement: Measurement) -> Report:
        """The report of what was measured."""
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

        Two-sided approximate randomisation (`trials`), whose p-values Holm's method corrects over
        the headline outputs of each metric, and the intervals and p-values of the paired bootstrap
        (`resamples`). Both with sacrebleu's draws and p-values for the same seed (ties count as
        extreme, so two identical systems get p = 1). sacrebleu's bootstrap p-value calls too many
        differences significant (11 to 13 of 100 where there is none, at .05); randomisation
        doesn't. For three systems or more, `metrichub.compare_all` corrects over all pairs.
        `metrics` chooses one or several of those that both reports have; `cluster` names a column
        of `metadata` whose samples of one value are drawn and swapped together.

        Tests and scores are those of the samples that both systems have scores of. Where the
        systems left different samples unanswered, `Comparison.withheld` says so, as a higher score
        then says nothing of which system is better.

        Raises:
            ReportError: other samples, no common metric or none of a chosen name, metrics with
                other parameters or of another definition, or pooled.
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
        """A report for every value of a column that travelled, in the order of first samples.

        Subgroups can be compared between systems, as whole reports are. Samples without a value
        are under None. Usage belongs to all samples, and is in none of them.

        Raises:
            ReportError: no such column, one of lists, or samples that weren't kept.
        """
        if any(result.pooled for result in self.results.values()):
            raise ReportError(
                "groups need the samples, which weren't kept; evaluate with samples=True"
            )
        index = groups(column, self.metadata, self.size)
        return {value: self.take(samples) for value, samples in index.items()}

    def merge(self, *others: Report) -> Report:
        """The report of this one's samples followed by the others'; equals measuring all at once.

        Of reports that keep no samples, sums of fractions may differ in the last digit.

        Raises:
            ReportError: other metrics, parameters or definitions, or a pooled metric that doesn't
                add up.
        """
        from metrichub.evaluation.merge import merged

        return merged((self, *others))

    def save(self, path: str | Path) -> None:
        """Write the report as JSON, whole or not at all; compressed if the name ends in .gz.

        Raises:
            ReportError: a metric's parameters or rows can't be written as JSON.
        """
        from metrichub.report.serialize import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, metrics: Sequence[Any] = ()) -> Report:
        """The report in a file. `metrics` gives those that aren't installed ones.

        Raises:
            ReportError: no report, a metric that isn't there, or one whose installed version has
                another definition or gives other scores than when the report was saved.
        """
        from metrichub.report.serialize import load

        return load(Path(path), metrics)

    def flatten(
        self, *, outputs: OutputChoice = "headline", separator: str = "/"
    ) -> dict[str, float]:
        """The scores by one key each, as trackers log them: {"bleu": 0.31, "rouge/rougeL": 0.42}.

        `outputs` chooses those that each card names to be read first, or "all". A metric's own
        name is the key of its output `score`.
        """
        from metrichub.report.export import flat

        return flat(self, outputs, separator)

    def to_dict(self) -> dict[str, Any]:
        """Scores, the number of samples, signatures, notes, and what judges took.

        Plain dicts, texts and numbers; `nan` where there is no score. `save` keeps the samples.
        """
        from metrichub.report.export import document

        return document(self, signatures=self.signatures())

    def to_json(self, *, indent: int | None = 2) -> str:
        """What `to_dict` gives as JSON, with null where there is no score."""
        from metrichub.report.tables import json_safe

        return json.dumps(json_safe(self.to_dict()), ensure_ascii=False, indent=indent)

    def to_frame(self) -> DataFrame:
        """A pandas data frame with a row a sample: scores ("bleu.score"), and why there is none.

        The columns that travelled with the report come first, such as ids and ratings; one that has
        the name of a score is called "bleu.score (kept)".
        A metric all of whose samples are scored has no column of reasons ("bleu.reason").

        Raises:
            ReportError: the report was pooled.
            MissingDependency: pandas isn't installed.
        """
        from metrichub.report.export import frame

        return frame(self)

    def to_csv(self, *, outputs: OutputChoice = "headline", intervals: bool = False) -> str:
        """The table of scores as CSV with full precision; `to_frame().to_csv()` has the samples.

        `outputs` is "headline" (those that each card names to be read first) or "all"; `intervals`
        adds bootstrap intervals at 95%.

        Raises:
            ReportError: intervals of a report that was pooled.
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
        """The table of scores in Markdown, with a caption of samples, intervals and signatures.

        Takes what `to_csv` takes; `percent` shows outputs that range from 0 to 1 in percent.
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
        """The table of scores in LaTeX (package booktabs); takes what `to_markdown` takes."""
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
        """Write one HTML file that shows everything: scores, plots, and every sample to read.

        `others` are systems to be compared with this one, which `name` then names. The options
        are those of `metrichub.report.html.write`: level, resamples, trials, seed, cluster, ids,
        human, explained, size, progress.

        Raises:
            ReportError: pooled, or systems that can't be compared.
        """
        from metrichub.report.html import write

        write(path, {name or ("this" if others else ""): self, **(others or {})}, **options)

    def plot(
        self,
        metric: str | Sequence[str] | None = None,
        output: str = "score",
        other: Report | None = None,
    ) -> Figure:
        """A matplotlib figure: how a metric's sample scores are spread, or those of all metrics.

        Several metrics are plotted against each other, and the scores of this report against
        those of `other`, sample by sample.

        Raises:
            MissingDependency: matplotlib isn't installed.
            ReportError: no such metric or output, other samples, or pooled.
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
