"""BLEU by nltk's conventions: expected values come from nltk 3.10, and the package as oracle."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WMT16, slow, texts, vectors

WORDS = st.sampled_from(["a", "b", "c", "d", "e"])
TEXT = st.lists(WORDS, max_size=9).map(" ".join)
SAMPLE = st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3))
METHODS = [f"method{number}" for number in range(8)]
ADDITIVE = METHODS[:5]
"""Those whose sums over a corpus nltk doesn't take from its last sentence."""


def official(method, predictions, references, weights=(0.25,) * 4, reweigh=False, **values):
    """nltk's corpus BLEU of texts split at white space; `nan` where it asserts."""
    tokenized = [[text.split() for text in texts] for texts in references]
    words = [text.split() for text in predictions]
    smoothing = getattr(SmoothingFunction(**values), method)
    try:
        return float(corpus_bleu(tokenized, words, weights, smoothing, reweigh))
    except AssertionError:
        return math.nan


def ours(method, predictions, references, **parameters):
    metric = load_metric("bleu", tokenize="none", smooth_method=f"nltk-{method}", **parameters)
    return Hub(metric).evaluate(predictions=predictions, references=references)


def score_of(vector, method, **parameters):
    report = ours(method, vector["predictions"], vector["references"], **parameters)
    return report.scores()["bleu"]["score"]


def near(vector):
    return pytest.approx(vector["expected"], abs=vector["tolerance"])


@pytest.mark.parametrize("vector", vectors("bleu_nltk_smoothing"))
def test_published_smoothings_are_met(vector):
    assert score_of(vector, vector["params"]["smoothing"]) == near(vector)


# The weights of nltk's documentation, where the vector names none or only the orders.
WEIGHTS = {
    "bleu_nltk_sentence-03": [(0.2,) * 5],
    "bleu_nltk_sentence-04": [(1 / 2,) * 2, (1 / 3,) * 3, (1 / 4,) * 4],
    "bleu_nltk_corpus-02": [(0.5, 0.5), (0.333, 0.333, 0.334), (0.25,) * 4, (0.2,) * 5],
}


@pytest.mark.parametrize("vector", vectors("bleu_nltk_sentence", "bleu_nltk_corpus"))
def test_published_scores_are_met(vector):
    method = vector["params"].get("smoothing", "method0").split()[0]
    scores = [
        score_of(vector, method, max_order=len(weights), weights=weights)
        for weights in WEIGHTS.get(vector["id"], [(0.25,) * 4])
    ]
    assert (scores if isinstance(vector["expected"], list) else scores[0]) == near(vector)


@pytest.mark.filterwarnings("ignore")
@given(SAMPLE, st.sampled_from(METHODS), st.sampled_from([3, 4, 5, 6]))
def test_equals_nltk_on_any_sentence(sample, method, max_order):
    prediction, references = sample
    scores = ours(method, [prediction], [references], max_order=max_order).scores()["bleu"]
    expected = official(method, [prediction], [references], (1 / max_order,) * max_order)
    assert scores["score"] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=50)
@given(
    SAMPLE,
    st.sampled_from(METHODS),
    st.lists(st.integers(0, 3), min_size=3, max_size=5).filter(any),
)
def test_equals_nltk_with_unequal_weights(sample, method, parts):
    prediction, references = sample
    weights = tuple(part / max(1, sum(parts)) for part in parts)
    result = ours(method, [prediction], [references], max_order=len(weights), weights=weights)
    expected = official(method, [prediction], [references], weights)
    assert result.scores()["bleu"]["score"] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.filterwarnings("ignore")
@given(st.lists(SAMPLE, min_size=1, max_size=5), st.sampled_from(ADDITIVE), st.booleans())
def test_equals_nltk_on_any_corpus(samples, method, reweigh):
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    report = ours(method, predictions, references, effective_order=reweigh)
    expected = official(method, predictions, references, reweigh=reweigh)
    assert report.scores()["bleu"]["score"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("method", "argument", "value"),
    [
        ("method1", "epsilon", 0.5),
        ("method4", "k", 2),
        ("method6", "alpha", 1),
        ("method7", "k", 9),
    ],
)
@settings(max_examples=30)
@given(sample=SAMPLE)
def test_smooth_value_is_the_parameter_of_the_method(method, argument, value, sample):
    prediction, references = sample
    score = ours(method, [prediction], [references], smooth_value=value).scores()["bleu"]["score"]
    expected = official(method, [prediction], [references], **{argument: value})
    assert score == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_short_texts_of_a_corpus_count_an_ngram_that_does_not_match():
    # p1 = 7/7, p2 = 5/6, p3 = 4/5, p4 = 3/4: each order over 1 has one more n-gram for "x".
    texts = ["a b c d e f", "x"]
    expected = (5 / 6 * 4 / 5 * 3 / 4) ** 0.25
    assert ours("method0", texts, texts).scores()["bleu"]["score"] == pytest.approx(expected)


def test_method_five_scores_equal_texts_over_one():
    # All precisions are 1: the means are 4/3, 10/9, 28/27 and 82/81.
    expected = (4 / 3 * 10 / 9 * 28 / 27 * 82 / 81) ** 0.25
    scores = ours("method5", ["a b c d e f"], ["a b c d e f"]).scores()["bleu"]
    assert scores["score"] == pytest.approx(expected)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16)])
def test_equals_nltk_on_real_text(name):
    predictions, references = texts(name)
    score = ours("method3", predictions, references).scores()["bleu"]["score"]
    assert score == pytest.approx(official("method3", predictions, references), abs=1e-12)
