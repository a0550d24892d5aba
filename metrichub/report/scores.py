"""ReportScores: a report's scores, intervals, explanations, signatures and notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from metrichub.data.columns import column_of, note_of_fallback
from metrichub.errors import ReportError
from metrichub.evaluation import letters, significance
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.intervals import NO_INTERVAL, Interval
from metrichub.evaluation.lengths import LENGTHS_UNKNOWN
from metrichub.evaluation.measurement import Measurement, chosen_metrics
from metrichub.evaluation.resample import SEED
from metrichub.evaluation.result import NO_REASON, NO_SAMPLES, NOTHING_COUNTED, Result
from metrichub.evaluation.signature import PROMPTS_UNKNOWN
from metrichub.evaluation.votes import agreement_notes
from metrichub.metric import Metric

if TYPE_CHECKING:
    from metrichub.report.repeats import RepeatedScore


@dataclass(frozen=True, repr=False, eq=False)
class ReportScores(Measurement):
    """A report's scores, intervals, explanations, signatures and notes."""

    def repeated(self) -> dict[str, dict[str, RepeatedScore]]:
        """The mean and standard deviation of repeated runs: metric -> output -> `RepeatedScore`.

        Raises:
            ReportError: the report has only one run.
        """
        from metrichub.report.repeats import repeated_scores

        if not self.runs:
            raise ReportError(
                "no runs were repeated; evaluate with repeats=3 in a hub without a vote, as a vote "
                "makes one run of them"
            )
        return repeated_scores(self.runs)

    def intervals(
        self,
        *,
        metrics: str | Iterable[str] | None = None,
        level: float = 0.95,
        resamples: int = 1000,
        seed: int = SEED,
        cluster: str | None = None,
    ) -> dict[str, dict[str, Interval]]:
        """Intervals of the corpus scores: metric -> output -> `Interval`.

        Samples are drawn with replacement; all metrics share the draws, whichever `metrics` are
        chosen. Scores of the resamples equal sacrebleu's for the same seed. From 100 samples on,
        an interval is that of the resamples' percentiles; with fewer, Student's t times their
        standard deviation, or Wilson's interval of that standard error for scores from 0 to 1;
        fewer than 5 have none. Shares (see `Scale`) have Wilson's interval for any number.
        `Interval.why` says why there is none. `cluster` names a column of `metadata`, such as the
        document of a sentence: samples that share a value are drawn together, because they aren't
        independent.

        If the report keeps no samples, the buckets of its key are drawn (see `Hub.evaluate`);
        metrics that don't add up then have `nan`.

        Raises:
            ReportError: there is no such metric or column, or the report is pooled.
            ParameterError: level isn't between 0 and 1, or resamples isn't positive.
        """
        # Scoring alone shows no table.
        from metrichub.report.notebook import ByOutput

        results = {
            name: self.results[name] for name in chosen_metrics(metrics, self.results, "the report")
        }
        summed = self.buckets is not None and metrics is None
        none = {
            name: dict.fromkeys(
                result.scores(),
                NO_INTERVAL._replace(why=None if result.mostly_unread else significance.NOT_KEPT),
            )
            for name, result in results.items()
            if result.mostly_unread or (summed and result.untestable)
        }
        drawn = {name: result for name, result in results.items() if name not in none}
        units = partial(self.units, cluster=cluster)
        found = none | significance.intervals(drawn, units, level, resamples, seed)
        return ByOutput({name: found[name] for name in results})

    def notes(self) -> dict[str, Sequence[str]]:
        """Notes for the reader of the scores, by metric, such as why samples are unscored."""
        found: dict[str, Sequence[str]] = {}
        for name, result in self.results.items():
            trace = self.traces.get(name, Trace())
            why = self._without_score(result, trace)
            why += [f"{n} failed: {cause}" for cause, n in trace.causes.most_common()]
            why += [f"{n} pending: {cause}" for cause, n in trace.waits.most_common()]
            why += self._apart(name)
            why += agreement_notes(trace.votes)
            read = {*map(column_of, result.metric.inputs())}
            found_in = {column: n for column, n in self.read_from.items() if column in read}
            why += [note_of_fallback(column, names) for column, names in found_in.items()]
            if self.buckets is not None:
                why += (
                    [f"no intervals or tests: {significance.NOT_KEPT}"]
                    if result.untestable
                    else self.buckets.notes()
                )
            why += letters.notes(result.metric, self.letters.get(name, {}))
            if mixed := self.mixed_forms.get(name):
                why.append(
                    f"the texts write {', '.join(mixed[:3])} in several Unicode forms, as one "
                    "character and as a letter with marks, which don't match; normalize all texts, "
                    "for example to NFC"
                )
            if not result.signature.prompts and result.metric.templates():
                why.append(PROMPTS_UNKNOWN)
            if self.size and self.lengths is None and _bound_to_length(result.metric):
                why.append(LENGTHS_UNKNOWN)
            if notes := [*why, *result.notes()]:
                found[name] = notes
        return found

    def _without_score(self, result: Result, trace: Trace) -> list[str]:
        """Why samples have no score, or all together."""
        why = [] if self.size else [NO_SAMPLES]
        why += [f"{n} unscored: {reason}" for reason, n in result.reasons.most_common()]
        told = trace.failed + trace.waits.total() + result.reasons.total()
        if (rest := result.unscored - told) > 0:
            # Of a metric that is being written, as it has no card yet.
            own = rest == self.size and not result.metric.card.path
            hint = "; is a `return` missing in its code?" if own else ""
            why.append(f"{rest} unscored: {NO_REASON}{hint}")
        if result.mostly_unread:
            why.append(f"no score: {significance.MOSTLY_UNREAD}")
        elif result.count and _undefined(result):
            why.append(f"no score: {NOTHING_COUNTED}")
        if unanswered := result.unanswered.total():
            why.append(
                f"{unanswered} of {self.size} samples are unanswered and left out of the mean; "
                "systems with different unanswered samples can't be ranked by this score"
            )
        return why

    def _apart(self, name: str) -> list[str]:
        if name not in self.runs:
            return []
        found = self.repeated()[name]["score"]
        scores = ", ".join(f"{score:.4f}" for score in found.runs)
        return [f"score in {len(found.runs)} runs: {scores} (standard deviation {found.std:.4f})"]


def _undefined(result: Result) -> bool:
    scores = result.scores()
    return all(isnan(scores[output]) for output in result.metric.headline())


def _bound_to_length(metric: Metric) -> bool:
    scales = (metric.card.scale(output) for output in metric.headline())
    return any(scale and scale.length_bound for scale in scales)
