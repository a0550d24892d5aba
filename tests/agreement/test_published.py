"""Published agreement of ROUGE with people comes out of SummEval and QAGS, by their protocols."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from metrichub import Hub
from metrichub.agreement import Agreement, correlate
from tests.summeval import DIMENSIONS, all_rows, labels, rated
from tests.vectors import corpus

# Liu et al. (2023), table 1, as Zhong et al. (2022) and Yuan et al. (2021) have them: item-level
# Spearman and Kendall, in the order of DIMENSIONS.
G_EVAL = {
    "rouge1": [(0.167, 0.126), (0.160, 0.130), (0.115, 0.094), (0.326, 0.252)],
    "rouge2": [(0.184, 0.139), (0.187, 0.155), (0.159, 0.128), (0.290, 0.219)],
    "rougeLsum": [(0.128, 0.099), (0.115, 0.092), (0.105, 0.084), (0.311, 0.237)],
}
# Table of the library sacrerouge for SummEval's relevance, Spearman and Kendall of items.
FIRST = {"rouge1": (0.26, 0.20), "rouge2": (0.19, 0.14)}
ELEVEN = {"rouge1": (0.33, 0.25), "rouge2": (0.29, 0.22)}
# Repository of BARTScore, SUM/QAGS_CNN: Pearson over all outputs.
QAGS = {"rouge1": 0.337667, "rouge2": 0.459141, "rougeLsum": 0.356889}


def lines(text: str) -> str:
    """Sentences on lines of their own, as the Perl program splits tokenized text."""
    return text.replace(" . ", " .\n")


def rouge(rows: list[dict[str, Any]], reference: Callable[[dict[str, Any]], str]) -> Any:
    """The scores of each output against one of its references, with Porter's stems."""
    report = Hub("rouge(stemmer=True)").evaluate(
        predictions=[lines(row["hyp"]) for row in rows],
        references=[lines(reference(row)) for row in rows],
    )
    return {name: report.samples()["rouge"][name] for name in G_EVAL}


@cache
def each_alone() -> dict[str, Any]:
    """The mean over eleven references of the score against each alone; and the first one's."""
    scored = [rouge(all_rows(), lambda row, k=k: row["refs"][k]) for k in range(11)]
    means = {name: np.mean([scores[name] for scores in scored], axis=0) for name in G_EVAL}
    return {"each": means, "first": scored[0]}


def relevance(scores: Any, **options: Any) -> Agreement:
    rows = all_rows()
    return correlate(scores, rated(rows, "relevance"), **labels(rows), draws=0, **options)


@pytest.mark.corpora
def test_all_24_values_of_rouge_on_summeval_come_out_by_the_protocol_g_eval() -> None:
    rows = all_rows()
    agreement = correlate(
        each_alone()["each"], rated(rows), **labels(rows), protocol="g-eval", draws=0
    )
    for name, published in G_EVAL.items():
        for dimension, values in zip(DIMENSIONS, published, strict=True):
            for coefficient, value in zip(("spearman", "tau_b"), values, strict=True):
                row = agreement.row(name, dimension, coefficient=coefficient)
                assert row.value == pytest.approx(value, abs=0.0025), row
    used = [agreement.row("rouge1", d, coefficient="tau_b").used for d in DIMENSIONS]
    assert used == [100, 96, 98, 100]


@pytest.mark.corpora
def test_published_values_of_one_reference_and_of_systems_come_out() -> None:
    for scores, published in ((each_alone()["first"], FIRST), (each_alone()["each"], ELEVEN)):
        agreement = relevance(scores, protocol="g-eval")
        for name, values in published.items():
            got = [agreement.row(name, coefficient=c).value for c in ("spearman", "tau_b")]
            assert got == pytest.approx(values, abs=0.006)
    agreement = relevance(each_alone()["each"], protocol="summeval")
    assert agreement.row("rouge1").value == pytest.approx(0.58, abs=0.006)
    assert agreement.row("rouge2").value == pytest.approx(0.43, abs=0.006)
    agreement = relevance(each_alone()["first"], protocol="summeval")
    assert agreement.row("rouge2").value == pytest.approx(0.43, abs=0.006)


@pytest.mark.corpora
def test_intervals_on_summeval_are_those_of_another_program() -> None:
    # A prototype in numpy and nlpstats' definition, 2,000 draws: relevance by ROUGE-1, item tau-b.
    scores = {"rouge1": each_alone()["each"]["rouge1"]}
    rows = all_rows()
    for draw, low, high in (("items", 0.209, 0.297), ("both", 0.168, 0.342)):
        row = correlate(
            scores,
            rated(rows, "relevance"),
            **labels(rows),
            level="item",
            coefficient="tau_b",
            draw=draw,
            draws=2000,
        ).row()
        assert (row.low, row.high) == pytest.approx((low, high), abs=0.01)


@pytest.mark.corpora
def test_published_values_of_qags_come_out() -> None:
    rows = corpus("fact_qags_cnn.jsonl")
    scores = rouge(rows, lambda row: row["src"])
    human = [row["human_factuality"] for row in rows]
    agreement = correlate(scores, human, protocol="qags", draws=0)
    for name, value in QAGS.items():
        assert agreement.row(name).value == pytest.approx(value, abs=0.002), name
