"""Agreement of a report's scores with people's ratings among its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub import read
from metrichub.agreement.choice import ChosenOutput, choose
from metrichub.agreement.correlation import correlate, correlate_preferences, with_sources
from metrichub.agreement.judges import JudgeConsistency, judge_consistency
from metrichub.agreement.prediction_powered import CalibratedMean, calibrated_mean
from metrichub.agreement.preference_votes import Votes, are_preferences
from metrichub.agreement.published_protocols import protocol_of
from metrichub.agreement.rating_matrix import ITEMS, SYSTEMS
from metrichub.agreement.ratings import read_ratings
from metrichub.agreement.verdicts import VerdictAgreement, verdict_agreement
from metrichub.data.metadata import Frame
from metrichub.errors import (
    InputError,
    MissingColumn,
    ParameterError,
    ReportError,
    did_you_mean,
    what,
)
from metrichub.evaluation.lengths import sample_lengths
from metrichub.evaluation.measurement import Measurement, chosen_metrics
from metrichub.evaluation.resampling_units import TOO_LONG

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metrichub.agreement.agreement import Agreement
    from metrichub.data.inputs import Data

_OF_RATINGS = ("level", "cut", "yes_from", "threshold")


def agreement_of(
    report: Measurement,
    human: str | Iterable[str] | Mapping[str, Sequence[Any]] | None,
    *,
    preferences: Data | None = None,
    item: str | None = None,
    system: str | None = None,
    metrics: str | Iterable[str] | None = None,
    all_outputs: bool = False,
    **how: Any,
) -> Agreement:
    """The agreement of a report with people, as `Report.agreement` documents it."""
    named = [human] if isinstance(human, str) else human or ()
    if not isinstance(named, Mapping) and not all(isinstance(name, str) for name in named):
        raise ReportError(
            "human names columns of the report; pass ratings as {'quality': [4, 2, 5]}"
        )
    ratings = named if isinstance(named, Mapping) else {k: kept_column(report, k) for k in named}
    items = kept_column(report, item) if item else usual_labels(report.metadata, ITEMS)
    systems = kept_column(report, system) if system else usual_labels(report.metadata, SYSTEMS)
    if preferences is None and not ratings:
        raise ReportError("nothing to compare with; name a column of ratings, or pass preferences=")
    if preferences is not None and ratings:
        raise ReportError("pass columns of ratings or preferences=, not both")
    if ratings and all(map(are_preferences, ratings.values())):
        verdicts = verdicts_by_label(report, metrics)
        agreement = correlate_preferences(verdicts, ratings, item=items, **preference_options(how))
    else:
        scores, better = scores_by_label(report, metrics, all_outputs=all_outputs)
        if preferences is None:
            agreement = correlate(scores, ratings, item=items, system=systems, better=better, **how)
        else:
            votes = read_votes(preferences)
            agreement = correlate_votes(scores, better, votes, (items, systems), how)
    signatures, bibtex = sources_of(report, agreement.metrics)
    notes = each_note(report, how.get("protocol"))
    judges = judges_of(report, agreement.metrics, agreement.confidence)
    return with_sources(agreement, signatures, bibtex, notes, judges)


def choice_of(
    report: Measurement,
    human: str | Mapping[str, Sequence[Any]],
    *,
    item: str | None = None,
    system: str | None = None,
    metrics: str | Iterable[str] | None = None,
    **how: Any,
) -> ChosenOutput:
    """The output of a report that agrees best with people, as `Report.choose` documents it."""
    ratings = {human: kept_column(report, human)} if isinstance(human, str) else human
    if any(map(are_preferences, ratings.values())):
        raise InputError("preferences choose no metric yet")
    scores, better = scores_by_label(report, metrics, all_outputs=True)
    choice = choose(
        scores,
        ratings,
        item=kept_column(report, item) if item else usual_labels(report.metadata, ITEMS),
        system=kept_column(report, system) if system else usual_labels(report.metadata, SYSTEMS),
        better=better,
        words=sample_lengths(report.texts, "predictions") if report.texts else None,
        **how,
    )
    signatures, bibtex = sources_of(report, choice.metrics)
    return replace(choice, signatures=signatures, citations=bibtex)


def correlate_votes(
    scores: Mapping[str, NDArray[np.float64]],
    better: Mapping[str, str],
    votes: Votes,
    labels: tuple[Sequence[Any] | None, Sequence[Any] | None],
    how: Mapping[str, Any],
) -> Agreement:
    """How far scores of samples order pairs as votes between systems do.

    `labels` are the item and the system of every sample.

    Raises:
        InputError: samples without items or systems, or votes that fit none.
        ParameterError: an option of ratings.
    """
    return correlate_preferences(
        {name: votes.scores(values, *labels) for name, values in scores.items()},
        {"preferred": votes.words()},
        item=votes.item,
        systems=(votes.first, votes.second),
        better=better,
        **preference_options(how),
    )


def read_votes(data: Data, item: str | None = None) -> Votes:
    """The votes in a table or a file: columns such as item, system_a, system_b and winner."""
    if isinstance(data, (str, Path)):
        return Votes.of(read(data), item)
    frame = Frame.of(data)
    return Votes.of({name: list(frame.column(name)) for name in frame.names}, item)


def preference_options(how: Mapping[str, Any]) -> dict[str, Any]:
    """The options that `correlate_preferences` takes.

    Raises:
        ParameterError: one that is for ratings alone.
    """
    for name in _OF_RATINGS:
        if how.get(name) is not None:
            raise ParameterError(None, name, how[name], "None, as it applies to ratings only")
    return {name: value for name, value in how.items() if name not in _OF_RATINGS}


def calibrated_means_of(
    report: Measurement,
    human: str,
    *,
    metrics: str | Iterable[str] | None,
    confidence: float,
    weight: float | None,
) -> dict[str, dict[str, CalibratedMean]]:
    """The means that people would give, as `Report.calibrated` documents them."""
    ratings = read_ratings(human, kept_column(report, human), report.size).mean
    return {
        name: {
            output: calibrated_mean(samples[output], ratings, confidence=confidence, weight=weight)
            for output in report.results[name].metric.headline()
        }
        for name, samples in chosen_samples(report, metrics).items()
    }


def verdict_agreement_of(
    report: Measurement, human: str, metric: str, *, output: str, cut: float, confidence: float
) -> VerdictAgreement:
    """A metric's yes and no beside people's, as `Report.verdicts` documents it."""
    samples = chosen_samples(report, metric)[metric]
    if output not in samples:
        raise ReportError(f"{metric} has no output {output!r}{did_you_mean(output, samples)}")
    ratings = read_ratings(human, kept_column(report, human), report.size)
    if not ratings.of_labels:
        raise InputError(f"{human} isn't yes or no; verdicts need a column of 1 (yes) and 0 (no)")
    sign = -1 if report.results[metric].metric.card.better(output) == "lower" else 1
    return verdict_agreement(
        sign * samples[output],
        ratings.labels(human, None).consensus,
        cut=sign * cut,
        confidence=confidence,
    )


def kept_column(report: Measurement, name: str, system: str = "the report") -> Sequence[Any]:
    """A column that the report of a system kept."""
    if not isinstance(name, str):
        raise ReportError(f"human names a column of the report; it is {what(name)}")
    if name not in report.metadata:
        columns = ", ".join(report.metadata) or "none"
        error = MissingColumn(
            f"{system} has no column {name!r}{did_you_mean(name, report.metadata)} "
            f"(columns: {columns}); {TOO_LONG}"
        )
        raise error.with_remedy("keep_column", name)
    return report.metadata[name]


def scores_by_label(
    report: Measurement, metrics: str | Iterable[str] | None = None, *, all_outputs: bool = False
) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """The scores of samples by one label per output, "bleu" or "rouge.rougeL", and directions."""
    scores: dict[str, NDArray[np.float64]] = {}
    better: dict[str, str] = {}
    for name, samples in chosen_samples(report, metrics).items():
        metric = report.results[name].metric
        for output in samples if all_outputs else metric.headline():
            label = name if output == "score" else f"{name}.{output}"
            scores[label], better[label] = samples[output], metric.card.better(output)
    return scores, better


def verdicts_by_label(
    report: Measurement, metrics: str | Iterable[str] | None = None
) -> dict[str, Sequence[str | None]]:
    """Which of prediction (a) and reference (b) each metric puts first, by its name.

    Raises:
        InputError: a metric scores outputs alone, and doesn't ask a judge which is better.
    """
    verdicts: dict[str, Sequence[str | None]] = {}
    for name, samples in chosen_samples(report, metrics).items():
        if not compares(report.results[name].metric):
            error = InputError(f"{name} scores one output, and people chose between two")
            raise error.with_remedy("give_votes")
        # The mean of several runs may lie anywhere between a win and a loss.
        verdicts[name] = [
            None if isnan(score) else "a" if score > 0.5 else "b" if score < 0.5 else "tie"
            for score in samples["score"].tolist()
        ]
    return verdicts


def judges_of(
    report: Measurement, labels: Iterable[str], confidence: float = 0.95
) -> list[JudgeConsistency]:
    """How far judges agree with themselves that were asked several times, or in both orders."""
    judges = []
    for label in labels:
        name, _, output = label.partition(".")
        if name not in report.results:
            continue
        runs = [run.samples()[output or "score"] for run in report.runs.get(name, ())]
        in_order = compares(report.results[name].metric)
        same_order = report.results[name].samples().get("consistent") if in_order else None
        if runs or same_order is not None:
            judges.append(judge_consistency(label, runs or [[]], same_order, confidence))
    return judges


def compares(metric: object) -> bool:
    """Whether a metric asks a judge which of prediction and reference is better."""
    return "choose" in getattr(metric, "asks", {})


def chosen_samples(report: Measurement, metrics: str | Iterable[str] | None) -> Mapping[str, Any]:
    """The scores of the samples of the chosen metrics: metric -> output -> (N,)."""
    chosen = chosen_metrics(metrics, report.results, "the report")
    return {name: report.results[name].samples() for name in chosen}


def sources_of(report: Measurement, labels: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The signatures of the metrics with these labels, and their BibTeX."""
    chosen = {label.partition(".")[0] for label in labels}
    signatures = {name: line for name, line in report.signatures().items() if name in chosen}
    return signatures, [report.results[name].metric.card.bibtex for name in signatures]


def each_note(report: Measurement, protocol: str | None) -> list[str]:
    """That scores saw references together which the protocol scores one by one."""
    _, most = report.items_per_sample.get("references", (0, 0))
    if protocol is None or most < 2 or protocol_of(protocol).references != "each":
        return []
    return [
        f"{protocol} averages the scores of single references; these scores saw up to {most} "
        "at once ('metrichub agreement FILE' scores them one by one)"
    ]


def usual_labels(columns: Mapping[str, Sequence[Any]], usual: Sequence[str]) -> Any:
    """The first of the usual columns that is there, or None; so too where a sample has none."""
    labels = next((columns[name] for name in usual if name in columns), None)
    return None if labels is None or any(map(_missing, labels)) else labels


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))
