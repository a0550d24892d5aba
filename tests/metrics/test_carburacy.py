"""Carburacy: values of the official formula; its ROUGE is that of rouge-score 0.1.2."""

import math
import statistics
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WMT16, slow, texts, vectors

TEXT = st.one_of(
    st.lists(
        st.sampled_from(["the", "cat", "cats", "running", "runs", "é", "日", "."]), max_size=9
    ).map(" ".join),
    st.text(max_size=15),
)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5)
COSTS = {"emission_train": 0.5, "emission_test": 0.02, "alpha": 5, "beta_train": 2, "beta_test": 50}


def evaluate(pairs, **parameters):
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    metric = load_metric("carburacy", **parameters)
    return Hub(metric).evaluate(predictions=predictions, references=references)


def rouge(pairs, stemmer=False):
    """The F1 of ROUGE-1, ROUGE-2 and ROUGE-L, (N, 3)."""
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stemmer)
    return [[v.fmeasure for v in scorer.score(r, p).values()] for p, r in pairs]


def formula(scores, costs):
    effect = statistics.fmean(scores) / (1 + statistics.pvariance(scores))
    worth = math.exp(math.log(effect, costs["alpha"])) if effect else 0
    train = worth / (1 + costs["beta_train"] * costs["emission_train"])
    test = worth / (1 + costs["beta_test"] * costs["emission_test"])
    both = 2 * train * test / (train + test) if worth else 0
    return {"score": both, "train": train, "test": test, "effectiveness": effect}


@pytest.mark.parametrize("vector", vectors("carburacy"))
def test_values_of_the_official_formula_are_met(vector):
    # The official code takes the effectiveness; it is the common value of three equal ROUGE scores.
    parameters = dict(vector["params"])
    effectiveness = parameters.pop("score")
    metric = load_metric("carburacy", **parameters)
    score = metric.score(np.full(3, effectiveness), np.array(1.0))
    for name, output in (("carburacy", "score"), ("train", "train"), ("test", "test")):
        expected = pytest.approx(vector["expected"][name], abs=vector["tolerance"])
        assert float(score[output]) == expected


@given(PAIRS, st.booleans())
def test_equals_the_formula_over_rouge_score_on_any_text(pairs, stemmer):
    # Pairs whose reference is mostly in letters that are dropped have no score.
    letters = ([c for c in r.lower() if unicodedata.category(c)[0] in "LN"] for _, r in pairs)
    read = [2 * sum(map(str.isascii, text)) >= len(text) for text in letters]
    report = evaluate(pairs, stemmer=stemmer, **COSTS)
    assert np.isnan(report.samples()["carburacy"]["score"]).tolist() == [
        not is_read for is_read in read
    ]
    pairs = [pair for pair, is_read in zip(pairs, read, strict=True) if is_read]
    if 2 * len(pairs) < len(read):
        assert np.isnan(report.scores()["carburacy"]["score"])
        return
    rows = rouge(pairs, stemmer)
    expected = formula(np.mean(rows, axis=0).tolist(), COSTS)
    assert report.counts()["carburacy"].get("unscored", 0) == len(read) - len(pairs)
    assert report.scores()["carburacy"] == pytest.approx(expected, abs=1e-9)
    each = [formula(row, COSTS)["score"] for row in rows]
    assert report.samples()["carburacy"]["score"][read] == pytest.approx(each, abs=1e-9)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16)])
def test_equals_the_formula_over_rouge_score_on_real_text(name):
    pairs = [(p, r[0]) for p, r in zip(*texts(name, 500), strict=True)]
    expected = formula(np.mean(rouge(pairs), axis=0).tolist(), COSTS)
    assert evaluate(pairs, **COSTS).scores()["carburacy"] == pytest.approx(expected, abs=1e-9)


def test_no_overlap_scores_zero():
    assert set(evaluate([("a", "b")]).scores()["carburacy"].values()) == {0.0}


def test_a_report_says_that_no_emission_was_given():
    assert "scores a model without any" in evaluate([("a", "a")]).notes()["carburacy"][0]
    assert evaluate([("a", "a")], emission_test=0.1).notes() == {}
