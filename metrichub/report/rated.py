"""RatedReport: compares the scores of a report with people's ratings among its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Unpack

from metrichub.errors import InputError, MissingColumn, ReportError, did_you_mean
from metrichub.evaluation.measurement import chosen_metrics
from metrichub.evaluation.units import how_to_keep
from metrichub.metric import Metric
from metrichub.report.scores import ReportScores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metrichub.agreement.calibrated import CalibratedMean
    from metrichub.agreement.consistency import JudgeConsistency
    from metrichub.agreement.correlation import CorrelationKeywords
    from metrichub.agreement.result import Agreement
    from metrichub.agreement.verdicts import VerdictAgreement
    from metrichub.data.frames import Data


@dataclass(frozen=True, repr=False, eq=False)
class RatedReport(ReportScores):
    """A report's agreement with people's ratings; no metric runs again for it."""

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

        `human` names one or several columns of `metadata` with ratings: numbers, lists of several
        raters' numbers, yes and no, or MQM errors; or it maps names to ratings. For metrics that
        ask a judge which of two texts is better, a column of "a", "b" and "tie" says whether people
        prefer the prediction (a) or the reference (b). `preferences` instead holds votes between
        the outputs of two systems: a table or a file with the columns item, system_a, system_b and
        winner.

        `item` is the column that identifies the input of a sample (by default doc_id, item or id),
        `system` the column that identifies the system. The sign of scores is reversed where lower
        is better. Only headline outputs are shown, unless `all_outputs` is set. The other arguments
        (protocol, level, coefficient, cut, yes_from, threshold, draw, draws, confidence and seed)
        are those of `metrichub.agreement.correlate` or `correlate_preferences`.

        Raises:
            MissingColumn: the report has no such column.
            InputError: a column doesn't hold ratings, or the samples can't be arranged by item and
                system.
            ParameterError: there is no such protocol, level or coefficient.
            ReportError: there is no such metric, or the report keeps no samples.
        """
        from metrichub.agreement.correlation import correlate, with_sources
        from metrichub.agreement.grid import ITEMS, SYSTEMS
        from metrichub.agreement.votes import are_preferences
        from metrichub.report.preferred import verdicts_correlated, votes_correlated

        named = [human] if isinstance(human, str) else human or ()
        given = named if isinstance(named, Mapping) else {k: self._column(k) for k in named}
        items, systems = self._labels(item, ITEMS), self._labels(system, SYSTEMS)
        of_preferences = bool(given) and all(map(are_preferences, given.values()))
        if (preferences is None) == (not given):
            raise ReportError("pass columns of ratings or preferences=, not both")
        if of_preferences:
            verdicts = verdicts_by_label(self, metrics)
            found = verdicts_correlated(verdicts, given, items, how)
        else:
            scores, better = scores_by_label(self, metrics, all_outputs=all_outputs)
            if preferences is not None:
                found = votes_correlated(scores, better, preferences, (items, systems), how)
            else:
                found = correlate(scores, given, item=items, system=systems, better=better, **how)
        signatures, bibtex = sources_of(self, found.metrics)
        notes = each_note(self, how.get("protocol"))
        judges = judges_of(self, found.metrics, found.confidence)
        return with_sources(found, signatures, bibtex, notes, judges)

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
        from metrichub.agreement.calibrated import calibrated_mean
        from metrichub.agreement.ratings import read_ratings

        ratings = read_ratings(human, self._column(human), self.size).mean
        return {
            name: {
                output: calibrated_mean(
                    samples[output], ratings, confidence=confidence, weight=weight
                )
                for output in self.results[name].metric.headline()
            }
            for name, samples in chosen_samples(self, metrics).items()
        }

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

        `human` is a column of labels. A score of at least `cut` is a yes; where lower is better, a
        score of at most `cut`.

        Raises:
            MissingColumn: the report has no such column.
            ReportError: there is no such metric or output, or the report keeps no samples.
        """
        from metrichub.agreement.ratings import read_ratings
        from metrichub.agreement.verdicts import verdict_agreement

        samples = chosen_samples(self, metric)[metric]
        if output not in samples:
            raise ReportError(f"{metric} has no output {output!r}{did_you_mean(output, samples)}")
        labels = read_ratings(human, self._column(human), self.size).labels(human, None).majority()
        lower = self.results[metric].metric.card.better(output) == "lower"
        sign = -1 if lower else 1
        return verdict_agreement(
            sign * samples[output], labels, cut=sign * cut, confidence=confidence
        )

    def _column(self, name: str) -> Sequence[Any]:
        """A column that the report kept."""
        if name not in self.metadata:
            known = ", ".join(self.metadata) or "none"
            raise MissingColumn(
                f"the report has no column {name!r}{did_you_mean(name, self.metadata)} "
                f"(columns: {known}); {how_to_keep(name)}"
            )
        return self.metadata[name]

    def _labels(self, name: str | None, usual: Sequence[str]) -> Sequence[Any] | None:
        """The column of items or systems: the named one, or the first of the usual ones."""
        return self._column(name) if name is not None else usual_labels(self.metadata, usual)


def scores_by_label(
    report: ReportScores, metrics: str | Iterable[str] | None = None, *, all_outputs: bool = False
) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """The scores of samples by a label an output, "bleu" or "rouge.rougeL", and directions."""
    scores: dict[str, NDArray[np.float64]] = {}
    better: dict[str, str] = {}
    for name, samples in chosen_samples(report, metrics).items():
        metric = report.results[name].metric
        for output in samples if all_outputs else metric.headline():
            label = name if output == "score" else f"{name}.{output}"
            scores[label], better[label] = samples[output], metric.card.better(output)
    return scores, better


def verdicts_by_label(
    report: ReportScores, metrics: str | Iterable[str] | None = None
) -> dict[str, Sequence[str | None]]:
    """Which of prediction (a) and reference (b) each metric puts first, by its name.

    Raises:
        InputError: a metric scores outputs alone, and doesn't ask a judge which is better.
    """
    found: dict[str, Sequence[str | None]] = {}
    for name, samples in chosen_samples(report, metrics).items():
        if not compares(report.results[name].metric):
            raise InputError(
                f"{name} scores one output, and people chose between two: give their votes as "
                "preferences=, or on the command line both columns as --pair"
            )
        # The mean of several runs may lie anywhere between a win and a loss.
        found[name] = [
            None if isnan(one) else "a" if one > 0.5 else "b" if one < 0.5 else "tie"
            for one in samples["score"].tolist()
        ]
    return found


def judges_of(
    report: ReportScores, labels: Iterable[str], confidence: float = 0.95
) -> list[JudgeConsistency]:
    """How far judges agree with themselves that were asked several times, or in both orders."""
    from metrichub.agreement.consistency import judge_consistency

    found = []
    for label in labels:
        name, _, output = label.partition(".")
        if name not in report.results:
            continue
        runs = [run.samples()[output or "score"] for run in report.runs.get(name, ())]
        in_order = compares(report.results[name].metric)
        kept = report.results[name].samples().get("consistent") if in_order else None
        if runs or kept is not None:
            found.append(judge_consistency(label, runs or [[]], kept, confidence))
    return found


def compares(metric: Metric) -> bool:
    """Whether a metric asks a judge which of prediction and reference is better."""
    return "choose" in getattr(metric, "asks", {})


def chosen_samples(report: ReportScores, metrics: str | Iterable[str] | None) -> Mapping[str, Any]:
    """The scores of the samples of the chosen metrics: metric -> output -> (N,)."""
    chosen = chosen_metrics(metrics, report.results, "the report")
    return {name: report.results[name].samples() for name in chosen}


def sources_of(report: ReportScores, labels: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The signatures of the metrics with these labels, and their BibTeX."""
    chosen = {label.partition(".")[0] for label in labels}
    signatures = {name: line for name, line in report.signatures().items() if name in chosen}
    return signatures, [report.results[name].metric.card.bibtex for name in signatures]


def each_note(report: ReportScores, protocol: str | None) -> list[str]:
    """That scores saw references together which the protocol scores one by one."""
    from metrichub.agreement.protocol import protocol_of

    _, most = report.candidates.get("references", (0, 0))
    if protocol is None or most < 2 or protocol_of(protocol).references != "each":
        return []
    return [
        f"{protocol} scores each reference alone and takes the mean; these scores saw up to {most} "
        "at once ('metrichub agreement FILE' scores them one by one)"
    ]


def usual_labels(columns: Mapping[str, Sequence[Any]], usual: Sequence[str]) -> Any:
    """The first of the usual columns that is there, or None; so too where a sample has none."""
    found = next((columns[one] for one in usual if one in columns), None)
    return None if found is None or any(map(_missing, found)) else found


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))
