"""Report: what a hub measured, with methods for scores, intervals, tests and export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Unpack

from metrichub.catalog.requirements import optional_package
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import merged
from metrichub.evaluation.repeats import RepeatedScore, repeated_scores
from metrichub.evaluation.resample import SEED, Interval
from metrichub.evaluation.significance import Comparison, SignificanceOptions
from metrichub.report import export
from metrichub.report.by_output import OutputTable, intervals_of
from metrichub.report.notes import notes_of
from metrichub.report.rows import OutputChoice
from metrichub.report.sample_rows import worst_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from metrichub.agreement import Agreement, CalibratedMean, ChosenOutput, VerdictAgreement
    from metrichub.agreement.correlation import CorrelationKeywords
    from metrichub.data.inputs import Data

AGREEMENT = "metrichub.agreement.of_report"


@dataclass(frozen=True, repr=False, eq=False)
class Report(Measurement):
    """The measurements of a hub: scores, samples, intervals, tests, explanations and export.

    `Hub.evaluate` returns one, `Report.load` reads a saved one, and `merge` joins them. Its
    constructor isn't for users; its parameters may change.
    """

    if TYPE_CHECKING:

        def __init__(self, _made_by_hubs: Never) -> None: ...

    def repeated(self) -> dict[str, dict[str, RepeatedScore]]:
        """The mean and standard deviation of repeated runs: metric -> output -> `RepeatedScore`.

        Raises `ReportError` if there was only one run.
        """
        return repeated_scores(self.runs)

    def intervals(
        self,
        *,
        metrics: str | Iterable[str] | None = None,
        confidence: float = 0.95,
        resamples: int = 1000,
        seed: int = SEED,
        cluster: str | None = "auto",
    ) -> OutputTable[Interval]:
        """Intervals of the corpus scores: metric -> output -> `Interval`.

        Samples are drawn with replacement; all metrics share the draws, whichever `metrics` are
        chosen. Scores of the resamples equal sacrebleu's for the same seed. From 100 samples on,
        an interval is that of the resamples' percentiles; with fewer, Student's t times their
        standard deviation, or Wilson's interval of that standard error for scores from 0 to 1;
        fewer than 5 have none, and `Interval.why` says so. Shares (see `Scale`) have Wilson's.
        `cluster` names a column of `metadata`, such as the document of a sentence: samples that
        share a value aren't independent, and are drawn together; by default, the answers to one
        question are. None draws each alone. If no samples are kept, the
        buckets of their key are drawn (see `Hub.evaluate`); metrics that don't add up have `nan`.

        Raises:
            ReportError: there is no such metric or column, or the report is pooled.
            ParameterError: confidence isn't between 0 and 1, or resamples isn't positive.
        """
        return intervals_of(
            self,
            metrics=metrics,
            confidence=confidence,
            resamples=resamples,
            seed=seed,
            cluster=cluster,
        )

    def notes(self) -> dict[str, Sequence[str]]:
        """Notes for the reader of the scores, by metric, such as why samples are unscored.

        Those that say why a number may mislead come first, and are `metrichub.errors.Doubt`s.
        """
        return notes_of(self)

    def compare(
        self,
        other: Report,
        *,
        metrics: str | Iterable[str] | None = None,
        confidence: float = 0.95,
        resamples: int = 1000,
        trials: int = 10_000,
        seed: int = SEED,
        cluster: str | None = "auto",
        calibrate: str | None = None,
    ) -> OutputTable[Comparison]:
        """Paired tests of this system against another on the same samples.

        Differences are this report's scores minus the other's. Two-sided approximate randomization
        (`trials`) gives p-values, or McNemar's mid-p where all samples are 0 or 1; they are
        corrected over the headline outputs of each metric, and the paired bootstrap (`resamples`)
        gives intervals and p-values. Both use sacrebleu's random draws and definitions of p for the
        same seed (ties count as extreme, so two identical systems get p = 1). sacrebleu's bootstrap
        p-value calls too many differences significant (11 to 20 of 100 where there is none, at
        .05); randomization doesn't. For three systems or more, `metrichub.compare_all` corrects
        over all pairs. `metrics` chooses one or several of the metrics that both reports have;
        `cluster` is as for `intervals`: such samples are drawn and swapped together.
        `calibrate` names a column of both reports with people's labels of some of their answers,
        which correct a judge that may favor one; see `metrichub.compare_all`.

        Tests and scores use the samples that both systems have scores for. Where they left others
        unanswered, `Comparison.withheld` says why the higher score shows no better system.

        Raises:
            ReportError: the reports are of different samples, have no common metric or none of the
                chosen names, have metrics with other parameters or definitions, or are pooled.
        """
        from metrichub.report.ranking import compare_two

        options = SignificanceOptions(confidence, resamples, trials, seed, cluster, calibrate)
        return compare_two(self, other, metrics, options)

    def merge(self, *others: Report) -> Report:
        """The report of this one's samples followed by the others'; equals measuring all at once.

        Of reports that keep no samples, sums of fractions may differ in the last digit. A sample
        that is in two reports would count twice: it is found by its `id` where both kept that
        column (and by `system` and `epoch`), but not with samples=False.

        Raises:
            ReportError: the reports have different metrics, parameters or definitions, or share
                samples; or one is pooled and has a metric that doesn't add up.
        """
        return merged((self, *others))

    def save(self, path: str | Path) -> None:
        """Write the report as JSON, compressed if the name ends in .gz; never half a file.

        Raises:
            ReportError: a metric's parameters or rows can't be written as JSON.
        """
        from metrichub.report.saved import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path, metrics: Sequence[Any] = ()) -> Report:
        """The report in a file. `metrics` provides metrics that aren't installed.

        Raises:
            ReportError: the file isn't a report, or a metric isn't available, has another
                definition, or gives other scores than when the report was saved.
        """
        from metrichub.report.saved import load

        return cls.of(load(path, metrics))

    def agreement(
        self,
        human: str | Iterable[str] | Mapping[str, Sequence[Any]] | None = None,
        *,
        preferences: Data | None = None,
        item: str | None = None,
        system: str | None = None,
        metrics: str | Iterable[str] | None = None,
        all_outputs: bool = False,
        **how: Unpack[CorrelationKeywords],
    ) -> Agreement:
        """How far the scores of samples agree with people; no metric runs again.

        `human` names columns of `metadata` with ratings: numbers, lists of several raters' numbers,
        yes and no, or MQM errors; or it maps names to ratings. For metrics that ask a judge which
        of two texts is better, a column of "a", "b" and "tie" says whether people prefer the
        prediction (a) or the reference (b). `preferences` instead holds votes between the outputs
        of two systems: a table or a file with the columns item, system_a, system_b and winner.

        `item` is the column that identifies the input of a sample (by default doc_id, item or id),
        `system` that of the system. Scores change their sign where lower is better. Only headline
        outputs are shown, unless `all_outputs` is set. The other arguments are those of
        `metrichub.agreement.correlate` or `correlate_preferences`.

        Raises:
            MissingColumn: the report has no such column.
            InputError: a column holds no ratings, or items and systems don't arrange the samples.
            ParameterError: there is no such protocol, level or coefficient.
            ReportError: there is no such metric, or the report keeps no samples.
        """
        chosen = {"preferences": preferences, "item": item, "system": system, "metrics": metrics}
        agreement: Agreement = optional_package(AGREEMENT, "report.agreement").agreement_of(
            self, human, **chosen, all_outputs=all_outputs, **how
        )
        return agreement

    def choose(
        self,
        human: str | Mapping[str, Sequence[Any]],
        *,
        item: str | None = None,
        system: str | None = None,
        metrics: str | Iterable[str] | None = None,
        **how: Any,
    ) -> ChosenOutput:
        """The output that agrees best with people, and how well where it wasn't chosen by them.

        Takes one column of ratings, and `item`, `system` and `metrics` as `agreement` does. All
        outputs are tried. The other arguments are those of `metrichub.agreement.choose`:
        `lower_is_better`, `confidence` and `seed`.

        Raises:
            MissingColumn: the report has no such column.
            InputError: preferences, fewer than 20 ratings or 8 items, or ratings all equal.
            ReportError: there is no such metric, or the report keeps no samples.
        """
        choice: ChosenOutput = optional_package(AGREEMENT, "report.choose").choice_of(
            self, human, item=item, system=system, metrics=metrics, **how
        )
        return choice

    def calibrated(
        self,
        human: str,
        *,
        metrics: str | Iterable[str] | None = None,
        confidence: float = 0.95,
        weight: float | None = None,
    ) -> dict[str, dict[str, CalibratedMean]]:
        """An estimate of people's mean rating: metric -> headline output -> `CalibratedMean`.

        `human` is a column of ratings on the scale of the scores, empty for unrated samples; the
        rated samples must be a random choice of all. The mean score is corrected by its error on
        those samples (prediction-powered inference; see `metrichub.agreement.calibrated_mean`).

        Raises:
            MissingColumn: the report has no such column.
            InputError: there are fewer than two ratings.
            ReportError: there is no such metric, or the report keeps no samples.
        """
        means: dict[str, dict[str, CalibratedMean]] = optional_package(
            AGREEMENT, "report.calibrated"
        ).calibrated_means_of(self, human, metrics=metrics, confidence=confidence, weight=weight)
        return means

    def verdicts(
        self,
        human: str,
        metric: str,
        *,
        output: str = "score",
        cut: float = 0.5,
        confidence: float = 0.95,
    ) -> VerdictAgreement:
        """A metric's yes and no compared with people's: error rates, kappa, disagreements.

        `human` is a column of labels; a score of at least `cut` (at most, if low is good) is a yes.

        Raises:
            MissingColumn: the report has no such column.
            ReportError: there is no such metric or output, or the report keeps no samples.
        """
        agreement: VerdictAgreement = optional_package(
            AGREEMENT, "report.verdicts"
        ).verdict_agreement_of(self, human, metric, output=output, cut=cut, confidence=confidence)
        return agreement

    def flatten(
        self, *, outputs: OutputChoice = "headline", separator: str = "."
    ) -> dict[str, float]:
        """The scores by one key each, as experiment trackers log them: {"rouge.rougeL": 0.42}.

        `outputs` is "headline" (those that each card lists as headline) or "all". The key of the
        output `score` is the metric's name alone.
        """
        return export.flat(self, outputs, separator)

    def to_dict(self) -> dict[str, Any]:
        """Scores, the number of samples, counts, signatures, notes, and the judges' usage.

        Plain dicts, texts and numbers; `nan` where there is no score. `save` keeps the samples too.
        """
        return export.document(self, signatures=self.signatures())

    def to_json(self, *, indent: int | None = 2) -> str:
        """The result of `to_dict` as JSON, with null where there is no score."""
        return export.json_of(self.to_dict(), indent)

    def to_frame(self, *, texts: bool = False, metadata: bool = True) -> DataFrame:
        """A pandas data frame with a row per sample: scores ("bleu.score") and reasons for none.

        The columns that the report kept come first, such as ids and ratings; one with the name of a
        score becomes "bleu.score (kept)". A metric that scored every sample has no column of
        reasons ("bleu.reason"). With `texts`, the columns that were scored come before the scores,
        and behind these the statuses of samples ("faithfulness.status") and what judges said of
        each ("faithfulness.steps").

        The frame that was scored has the kept columns already: `metadata=False` leaves them out,
        for `df.join(report.to_frame(metadata=False))`.

        The rows have the index of the pandas frame or columns that were scored, so that
        `df["bleu"] = report.to_frame()["bleu.score"]` puts each score on its row, also after
        `take`, `by` and `merge`. Other data has no index, and `save` writes none: rows are then
        numbered from 0.

        Raises:
            ReportError: the report is pooled, or has no texts.
            MissingDependency: pandas isn't installed.
        """
        return export.frame(self, texts, metadata)

    def worst(self, metric: str = "", number: int = 20) -> list[dict[str, Any]]:
        """The samples with the worst scores of a metric, the worst first, a dict each.

        Each has its number ("sample"), the columns that the report kept, its texts unless the
        report has none, all scores ("wer.score"), and what metrics say of it, such as
        "faithfulness.reason" and "faithfulness.steps". Samples without a score aren't among them.

        `metric` is the first one's name by default. Of several outputs, "rouge.rougeL" chooses one,
        and "rouge" is the first that its card names to be read.

        Raises:
            ReportError: there is no such metric or output, neither more nor less of it is better,
                or the report is pooled.
            ParameterError: number isn't a positive whole number.
        """
        return worst_rows(self, metric, number)

    def to_csv(self, *, outputs: OutputChoice = "headline", intervals: bool = False) -> str:
        """The table of scores as CSV in full precision; for samples use `to_frame().to_csv()`.

        `outputs` is "headline" (those that each card lists as headline) or "all"; `intervals` adds
        95% bootstrap intervals, and raises `ReportError` for a pooled report.
        """
        return export.table(self, outputs, intervals).csv()

    def to_markdown(
        self, *, outputs: OutputChoice = "headline", intervals: bool = False, percent: bool = False
    ) -> str:
        """The table of scores in Markdown; below are sample size, intervals and signatures.

        Takes the arguments of `to_csv`; `percent` shows outputs from 0 to 1, and error rates, in
        percent.
        """
        return export.paper_table(self, outputs, intervals, percent).markdown()

    def to_latex(
        self, *, outputs: OutputChoice = "headline", intervals: bool = False, percent: bool = False
    ) -> str:
        """The table of scores in LaTeX (package booktabs), with the signatures as comments.

        Takes the arguments of `to_markdown`.
        """
        return export.paper_table(self, outputs, intervals, percent).latex()

    def to_html(
        self,
        path: str | Path,
        *,
        name: str = "",
        others: Mapping[str, Report] | None = None,
        **options: Any,
    ) -> None:
        """Write one HTML file with scores, plots and all samples.

        `others` are systems to compare with this one, whose name is then `name`. Options are those
        of `metrichub.report.html.write`: confidence, resamples, trials, seed, cluster, ids …

        Raises:
            ReportError: the report is pooled, or the systems can't be compared.
            UnknownParameter: there is no such option.
        """
        systems = {name or ("this" if others else ""): self, **(others or {})}
        export.save_page(path, systems, options)

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
            ReportError: there is no such metric or output, or samples differ or weren't kept.
        """
        from metrichub.report.html.plots import plot_report

        return plot_report(self, metric, output, other)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same statistics and signatures, whatever it took to get them."""
        from metrichub.report.saved import statistics

        return isinstance(other, Report) and statistics(self) == statistics(other)

    def _repr_html_(self) -> str:
        """The scores as a table with the notes below it, for notebooks."""
        table, notes = export.readable(self)
        items = "".join(f"<li>{escape(note)}</li>" for note in notes)
        return table.html() + (f"<ul>{items}</ul>" if notes else "")

    def __repr__(self) -> str:
        """The size and the main scores."""
        return f"<Report of {self.size} samples: {', '.join(export.main_scores(self))}>"

    def __str__(self) -> str:
        """The scores as a plain table with the notes below it."""
        table, notes = export.readable(self)
        return "\n".join([table.text(), *notes])
