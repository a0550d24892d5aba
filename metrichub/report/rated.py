"""RatedReport: compares the scores of a report with people's ratings among its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from metrichub.catalog.requirements import optional_package
from metrichub.report.scores import ReportScores

if TYPE_CHECKING:
    from metrichub.agreement.agreement import Agreement
    from metrichub.agreement.correlation import CorrelationKeywords
    from metrichub.agreement.prediction_powered import CalibratedMean
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
        found: Agreement = _of_report("report.agreement").agreement_of(
            self,
            human,
            preferences=preferences,
            item=item,
            system=system,
            metrics=metrics,
            all_outputs=all_outputs,
            **how,
        )
        return found

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
        found: dict[str, dict[str, CalibratedMean]] = _of_report(
            "report.calibrated"
        ).calibrated_means_of(self, human, metrics=metrics, confidence=confidence, weight=weight)
        return found

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
        found: VerdictAgreement = _of_report("report.verdicts").verdict_agreement_of(
            self, human, metric, output=output, cut=cut, confidence=confidence
        )
        return found


def _of_report(needed_by: str) -> Any:
    return optional_package("metrichub.agreement.of_report", needed_by)
