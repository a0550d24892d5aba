"""GLEU: expected values come from nltk 3.10 (its documentation, and the package as oracle)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.gleu_score import corpus_gleu

from metrichub import Hub, load_metric
from metrichub.text.tokenize.reference import TOKENIZERS
from tests.vectors import SUMMEVAL, WEBNLG, slow, texts, vectors

WORDS = st.sampled_from(["the", "cat", "sat.", "1,000", "...", "don't", "中文", "été", "İ", "\t"])
TEXT = st.one_of(st.lists(WORDS, max_size=10).map(" ".join), st.text(max_size=20))
SAMPLES = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)
ORDERS = st.tuples(st.integers(1, 6), st.integers(1, 6)).map(sorted)


def official(tokenizer, predictions, references, min_len=1, max_len=4):
    split = TOKENIZERS[tokenizer]
    expected = [[split(text) for text in texts] for texts in references]
    return corpus_gleu(expected, [split(text) for text in predictions], min_len, max_len)


def ours(parameters, predictions, references):
    return Hub(load_metric("gleu", **parameters)).evaluate(
        predictions=predictions, references=references
    )


@pytest.mark.parametrize("vector", vectors("gleu_corpus", "gleu_sentence"))
@pytest.mark.parametrize("tokenizer", ["13a", "none"])
def test_published_values_are_met(vector, tokenizer):
    parameters = {**vector["params"], "tokenize": tokenizer}
    report = ours(parameters, vector["predictions"], vector["references"])
    assert report.scores()["gleu"]["score"] == pytest.approx(
        vector["expected"], abs=vector["tolerance"]
    )


@pytest.mark.parametrize(
    ("parameters", "prediction", "references", "expected"),
    [
        # Of 3 + 2 + 1 n-grams of the longer text "a", "b" and "a b" are shared.
        ({}, "a b", ["a b c"], 3 / 6),
        ({}, "a b c", ["a b"], 3 / 6),
        ({"min_len": 2}, "a b", ["a b c"], 1 / 3),
        ({"max_len": 1}, "a b", ["a b c"], 2 / 3),
        # 13a sets the point apart, "none" doesn't.
        ({"max_len": 1}, "a.", ["a"], 1 / 2),
        ({"max_len": 1, "tokenize": "none"}, "a.", ["a"], 0.0),
        ({}, "a b", ["x", "a b c", "a"], 3 / 6),
        ({}, "", ["a"], 0.0),
        ({}, "", [""], 0.0),
    ],
)
def test_edge_cases_by_hand(parameters, prediction, references, expected):
    report = ours(parameters, [prediction], [references])
    assert report.scores()["gleu"]["score"] == pytest.approx(expected, abs=1e-12)


@given(SAMPLES, st.sampled_from(["13a", "intl", "zh", "char", "none"]), ORDERS)
def test_equals_nltk_on_any_text(samples, tokenizer, orders):
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    parameters = {"tokenize": tokenizer, "min_len": orders[0], "max_len": orders[1]}
    report = ours(parameters, predictions, references)
    expected = official(tokenizer, predictions, references, *orders)
    assert report.scores()["gleu"]["score"] == pytest.approx(expected, abs=1e-12)
    for row, sample in enumerate(report.samples()["gleu"]["score"]):
        alone = official(tokenizer, [predictions[row]], [references[row]], *orders)
        assert sample == pytest.approx(alone, abs=1e-12)


def test_a_reference_without_ngrams_is_taken_only_alone():
    # nltk leaves the empty reference out, so the 3 n-grams of "a b" count: 3 / (3 + 3).
    report = ours({}, ["", "a b"], [["", "a b"], ["a b"]])
    assert report.scores()["gleu"]["score"] == pytest.approx(1 / 2)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WEBNLG)])
def test_equals_nltk_on_real_text(name):
    predictions, references = texts(name)
    score = ours({}, predictions, references).scores()["gleu"]["score"]
    assert score == pytest.approx(official("13a", predictions, references), abs=1e-14)
