"""Self-BLEU: nltk's sentence_bleu with method1 against all other texts, as Texygen calls it."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WMT16, slow, texts, vectors

TEXT = st.lists(st.sampled_from(["a", "b", "c", "A", "é", "语言", "👩‍👧", "\u0301x"]), max_size=9)


def official(texts, order):
    """The score of each text by nltk; texts are lists of tokens."""
    weights = (1 / order,) * order
    return [
        sentence_bleu(
            texts[:i] + texts[i + 1 :],
            text,
            weights,
            smoothing_function=SmoothingFunction().method1,
        )
        for i, text in enumerate(texts)
    ]


def report(texts, **parameters):
    return Hub(load_metric("self_bleu", **parameters)).evaluate(predictions=texts)


@pytest.mark.parametrize("vector", vectors("self_bleu"))
def test_vector(vector):
    scores = report(vector["predictions"], max_order=4).scores()["self_bleu"]
    for name, value in vector["expected"].items():
        mine = scores[name.removeprefix("self_")]
        assert mine == pytest.approx(value, abs=vector["tolerance"])


@given(st.lists(TEXT, min_size=2, max_size=7), st.integers(1, 6))
def test_equals_nltk(texts, order):
    mine = report([" ".join(t) for t in texts], max_order=order, tokenizer="whitespace")
    texts = [text for text in texts if text]
    if len(texts) < 2:
        assert isnan(mine.scores()["self_bleu"]["score"])
        return
    expected = official(texts, order)
    samples = mine.samples()["self_bleu"]["score"]
    assert samples[~np.isnan(samples)].tolist() == pytest.approx(expected, abs=1e-12)
    mean = sum(expected) / len(expected)
    assert mine.scores()["self_bleu"]["score"] == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("name", [slow(SUMMEVAL), slow(WMT16)])
def test_equals_nltk_on_real_text(name):
    predictions, _ = texts(name, 120)
    mine = report(predictions, tokenizer="whitespace").scores()["self_bleu"]
    expected = official([text.split() for text in predictions], 5)
    assert mine["score"] == pytest.approx(sum(expected) / len(expected), abs=1e-12)


def test_a_text_that_shares_nothing_scores_zero():
    samples = report(["a b c", "a b d", "x y z"], max_order=2).samples()["self_bleu"]
    assert samples["score"][2] == 0.0


def test_the_closest_other_text_is_the_reference_length():
    # "a b" and "a b c d e f": 1 of each other; for the middle text of 4 words both are 2 away, and
    # the shorter one counts, so that there is no penalty. Unigrams all match: 1.
    samples = report(["a b", "a b c d", "a b c d e f"], max_order=1).samples()["self_bleu"]
    assert samples["score"][1] == 1.0


def test_case_counts_unless_lowercase():
    assert report(["A", "a"], max_order=1).scores()["self_bleu"]["score"] == 0.0
    scores = report(["A", "a"], max_order=1, lowercase=True).scores()["self_bleu"]
    assert scores["score"] == 1.0


def test_one_text_has_no_score_and_an_empty_one_is_no_reference():
    result = report(["a b", ""])
    assert isnan(result.scores()["self_bleu"]["score"])
    assert result.counts()["self_bleu"]["unanswered"] == 1
