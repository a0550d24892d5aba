"""How a metric averages is public, and a law holds it to what it says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from metrichub import list_metrics, load_metric
from metrichub.catalog.registry import registry
from metrichub.metric import Array, CorpusMetric, Metric, Row, Scores
from metrichub.testing.laws import score_broadcasts
from metrichub.testing.under_test import Broken, MetricUnderTest


@dataclass(frozen=True, kw_only=True)
class _Mean(Metric):
    def observe(self, prediction: str) -> Row:
        return {"score": len(prediction)}


@dataclass(frozen=True, kw_only=True)
class _Ratio(Metric):
    def observe(self, prediction: str, reference: str) -> Row:
        return {"long": len(prediction), "short": len(reference)}

    def score(self, long: Array, short: Array) -> Scores:
        return {"score": long / short}


@dataclass(frozen=True, kw_only=True)
class _Inherited(_Ratio):
    pass


@dataclass(frozen=True, kw_only=True)
class _Corpus(CorpusMetric):
    def observe(self, prediction: str) -> str:
        return prediction


def test_a_metric_is_macro_micro_or_of_the_corpus_by_what_it_writes() -> None:
    kinds = (_Mean, _Ratio, _Inherited, _Corpus)
    assert [kind.averaging for kind in kinds] == ["macro", "micro", "micro", "corpus"]


NOT_MACRO = {
    "micro": {
        *("abstractness", "bleu", "carburacy", "cer", "chrf", "codebleu", "format_checks", "gleu"),
        *("instruction_following", "json_schema_match", "keyword_coverage", "readability", "sari"),
        *("squad_v2", "ter", "topic_adherence", "wer"),
    },
    "corpus": {
        *("cider", "classification", "distinct", "entity_f1", "json_fields", "multi_label"),
        *("nist", "novelty", "self_bleu", "squad_v2_best"),
    },
}


def test_these_metrics_of_ours_are_no_means_of_their_samples() -> None:
    # A law holds the others to being one.
    ours = [entry.name for entry in list_metrics() if entry.distribution == "metrichub"]
    for kind, names in NOT_MACRO.items():
        assert {name for name in ours if load_metric(name).averaging == kind} == names


def test_the_law_finds_a_ratio_of_sums_that_says_macro(monkeypatch: pytest.MonkeyPatch) -> None:
    bleu = MetricUnderTest(registry().find("bleu"), None)
    score_broadcasts(bleu)
    monkeypatch.setattr(type(bleu.metric), "averaging", "macro")
    with pytest.raises(Broken, match="its macro mean"):
        score_broadcasts(bleu)


@pytest.mark.parametrize(
    "name",
    [
        card.name
        for card in list_metrics()
        if card.distribution == "metrichub" and load_metric(card.name).averaging == "micro"
    ],
)
def test_a_micro_metric_is_no_mean_of_its_samples(name: str) -> None:
    under_test = MetricUnderTest(registry().find(name), None)
    result = under_test.evaluate(under_test.columns).results[name]
    means = {output: np.nanmean(values) for output, values in result.samples().items()}
    assert any(not np.isclose(means[o], value) for o, value in result.scores().items())
