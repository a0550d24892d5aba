"""Agreement of scores with people: coefficients, levels, intervals, tests; arrays in and out.

Nothing here depends on metrics, so scores of any program will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrichub.agreement.agreement import Agreement as Agreement
    from metrichub.agreement.agreement import AgreementRow as AgreementRow
    from metrichub.agreement.agreement_inputs import DataFacts as DataFacts
    from metrichub.agreement.choice import ChosenOutput as ChosenOutput
    from metrichub.agreement.choice import choose as choose
    from metrichub.agreement.coefficients import acc_eq as acc_eq
    from metrichub.agreement.coefficients import auc as auc
    from metrichub.agreement.coefficients import balanced_accuracy as balanced_accuracy
    from metrichub.agreement.coefficients import pearson as pearson
    from metrichub.agreement.coefficients import spearman as spearman
    from metrichub.agreement.coefficients import tau_23 as tau_23
    from metrichub.agreement.coefficients import tau_b as tau_b
    from metrichub.agreement.coefficients import tau_c as tau_c
    from metrichub.agreement.correlation import correlate as correlate
    from metrichub.agreement.correlation import correlate_preferences as correlate_preferences
    from metrichub.agreement.judges import AlternativeTest as AlternativeTest
    from metrichub.agreement.judges import JudgeConsistency as JudgeConsistency
    from metrichub.agreement.judges import alternative_test as alternative_test
    from metrichub.agreement.judges import judge_consistency as judge_consistency
    from metrichub.agreement.judges import krippendorff_alpha as krippendorff_alpha
    from metrichub.agreement.levels import Value as Value
    from metrichub.agreement.levels import value_at as value_at
    from metrichub.agreement.metric_tests import significance_clusters as significance_clusters
    from metrichub.agreement.metric_tests import williams_test as williams_test
    from metrichub.agreement.mqm import error_weight as error_weight
    from metrichub.agreement.mqm import rater_span_scores as rater_span_scores
    from metrichub.agreement.mqm import span_ratings as span_ratings
    from metrichub.agreement.mqm import span_scores as span_scores
    from metrichub.agreement.permutation import AgreementTest as AgreementTest
    from metrichub.agreement.permutation import pair_swap_test as pair_swap_test
    from metrichub.agreement.prediction_powered import CalibratedMean as CalibratedMean
    from metrichub.agreement.prediction_powered import calibrated_mean as calibrated_mean
    from metrichub.agreement.preference_votes import PreferenceAgreement as PreferenceAgreement
    from metrichub.agreement.preference_votes import Votes as Votes
    from metrichub.agreement.preference_votes import preference_agreement as preference_agreement
    from metrichub.agreement.preference_votes import ranked_pairs as ranked_pairs
    from metrichub.agreement.published_protocols import Protocol as Protocol
    from metrichub.agreement.published_protocols import protocols as protocols
    from metrichub.agreement.shares import Share as Share
    from metrichub.agreement.shares import wilson as wilson
    from metrichub.agreement.soft_pairwise import pairwise_p as pairwise_p
    from metrichub.agreement.soft_pairwise import soft_pairwise_accuracy as soft_pairwise_accuracy
    from metrichub.agreement.verdicts import VerdictAgreement as VerdictAgreement
    from metrichub.agreement.verdicts import corrected_rate as corrected_rate
    from metrichub.agreement.verdicts import verdict_agreement as verdict_agreement
    from metrichub.evaluation.kappa import cohen_kappa as cohen_kappa
    from metrichub.evaluation.kappa import fleiss_kappa as fleiss_kappa
    from metrichub.evaluation.resample import holm as holm

_HOMES = {
    name: home
    for home, names in {
        "agreement": "Agreement AgreementRow",
        "choice": "ChosenOutput choose",
        "coefficients": "acc_eq auc balanced_accuracy pearson spearman tau_23 tau_b tau_c",
        "judges": "AlternativeTest JudgeConsistency alternative_test judge_consistency "
        "krippendorff_alpha",
        "correlation": "correlate correlate_preferences",
        "agreement_inputs": "DataFacts",
        "levels": "Value value_at",
        "mqm": "error_weight rater_span_scores span_ratings span_scores",
        "permutation": "AgreementTest pair_swap_test",
        "prediction_powered": "CalibratedMean calibrated_mean",
        "preference_votes": "PreferenceAgreement preference_agreement ranked_pairs Votes",
        "published_protocols": "Protocol protocols",
        "shares": "Share wilson",
        "soft_pairwise": "pairwise_p soft_pairwise_accuracy",
        "verdicts": "VerdictAgreement corrected_rate verdict_agreement",
        "metric_tests": "significance_clusters williams_test",
        ".evaluation.resample": "holm",
        ".evaluation.kappa": "cohen_kappa fleiss_kappa",
    }.items()
    for name in names.split()
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
