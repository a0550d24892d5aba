"""chrF: expected values come from sacrebleu 2.6 (its tests, and the package itself as oracle)."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.translate.chrf_score import sentence_chrf

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

WORDS = st.sampled_from(
    [
        "the",
        "cat",
        "(hi)",
        "mat.",
        "'tis",
        ".",
        "..",
        "中文字",
        "été",
        "e\u0301",
        "👩‍👩‍👧",
        "İ",
        "\t",
        "a\0",
    ]
)
TEXT = st.one_of(st.lists(WORDS, max_size=9).map(" ".join), st.text(max_size=25))
SAMPLES = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)
PARAMETERS = st.fixed_dictionaries(
    {
        "char_order": st.sampled_from([1, 3, 6, 8]),
        "word_order": st.sampled_from([0, 1, 2]),
        "beta": st.sampled_from([0, 1, 2, 3]),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    }
)


def official(parameters, predictions, references):
    """sacrebleu's corpus chrF as a fraction; None pads samples with fewer references."""
    most = max(map(len, references))
    streams = [[r[i] if i < len(r) else None for r in references] for i in range(most)]
    return sacrebleu.CHRF(**parameters).corpus_score(predictions, streams).score / 100


def ours(parameters, predictions, references):
    return Hub(load_metric("chrf", **parameters)).evaluate(
        predictions=predictions, references=references
    )


@pytest.mark.parametrize("vector", vectors("chrf_corpus", "chrf_sentence", "chrf++_corpus"))
def test_published_values_are_met(vector):
    parameters = {k: v for k, v in vector["params"].items() if k != "scale"}
    report = ours(parameters, vector["predictions"], vector["references"])
    score = report.scores()["chrf"]["score"] * vector["params"]["scale"]
    assert score == pytest.approx(vector["expected"], abs=vector["tolerance"])


@pytest.mark.parametrize("vector", vectors("chrf_nltk_sentence"))
def test_published_values_of_nltk_are_met(vector):
    parameters = {**vector["params"], "eps_smoothing": True}
    report = ours(parameters, vector["predictions"], vector["references"])
    assert report.scores()["chrf"]["score"] == pytest.approx(
        vector["expected"], abs=vector["tolerance"]
    )


@pytest.mark.parametrize(
    ("parameters", "prediction", "references", "expected"),
    [
        # sacrebleu's tests: one character of two, and no pair: the mean of 1/2 and 0.
        ({}, "aa", ["ab"], 0.25),
        # Orders 1 to 3 are perfect; the average is over those three, or over all six.
        ({}, "a b c", ["abc"], 1.0),
        ({"eps_smoothing": True}, "a b c", ["abc"], 0.5),
        # P = 1/1 and R = 1/2 for single characters: F2 = 5 * (1/2) / (4 + 1/2).
        ({"char_order": 1}, "a", ["ab"], 5 / 9),
        ({"char_order": 1, "beta": 1}, "a", ["ab"], 2 / 3),
        # Characters agree, of the words "hi" and "!" both, of their pairs the one.
        ({"char_order": 1, "word_order": 2}, "hi!", ["hi !"], 1.0),
        ({"char_order": 1, "lowercase": True}, "A", ["a"], 1.0),
        # The better reference counts, wherever it stands.
        ({}, "cat", ["dog", "cat"], 1.0),
        ({}, "", ["the cat"], 0.0),
        ({}, "", [""], 0.0),
    ],
)
def test_edge_cases_by_hand(parameters, prediction, references, expected):
    report = ours(parameters, [prediction], [references])
    assert report.scores()["chrf"]["score"] == pytest.approx(expected, abs=1e-12)


@given(SAMPLES, PARAMETERS)
def test_equals_sacrebleu_on_any_text(samples, parameters):
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    report = ours(parameters, predictions, references)
    expected = official(parameters, predictions, references)
    assert report.scores()["chrf"]["score"] == pytest.approx(expected, abs=1e-12)
    for row, sample in enumerate(report.samples()["chrf"]["score"]):
        alone = official(parameters, predictions[row : row + 1], references[row : row + 1])
        assert sample == pytest.approx(alone, abs=1e-12)


@given(TEXT, TEXT, st.sampled_from([1.0, 2.0, 3.0]))
def test_equals_the_sentences_of_nltk(prediction, reference, beta):
    report = ours({"beta": beta, "eps_smoothing": True}, [prediction], [reference])
    # nltk doesn't take the separators U+001C to U+001F for white space, as str.split does.
    assume(not set("\x1c\x1d\x1e\x1f") & set(prediction + reference))
    expected = sentence_chrf(reference, prediction, beta=beta)
    assert report.scores()["chrf"]["score"] == pytest.approx(expected, abs=1e-12)


def test_precision_and_recall_are_the_means_of_the_orders():
    # "ab" in "abc": P = 2/2, 1/1; R = 2/3, 1/2; the third order is missing in the prediction.
    scores = ours({}, ["ab"], ["abc"]).scores()["chrf"]
    assert scores["precision"] == 1.0
    assert scores["recall"] == pytest.approx((2 / 3 + 1 / 2) / 2)


@pytest.mark.corpora
def test_wmt16_has_its_published_scores():
    predictions, references = texts(WMT16)
    # 0.6103 is what sacrebleu prints for this system, 0.592631 with words; 0.592601: chrF++.py.
    for parameters, printed, digits in (
        ({}, 0.6103, 4),
        ({"word_order": 2}, 0.592631, 6),
        ({"word_order": 2, "eps_smoothing": True}, 0.592601, 6),
    ):
        score = ours(parameters, predictions, references).scores()["chrf"]["score"]
        assert round(score, digits) == printed


@pytest.mark.parametrize(
    ("name", "most"), [slow(SUMMEVAL, 60), slow(WMT16, None), slow(WEBNLG, None)]
)
def test_equals_sacrebleu_on_real_text(name, most):
    predictions, references = texts(name, most)
    for parameters in (
        {},
        {"word_order": 2},
        {"word_order": 2, "eps_smoothing": True},
        {"word_order": 2, "whitespace": True, "beta": 1},
    ):
        score = ours(parameters, predictions, references).scores()["chrf"]["score"]
        assert score == pytest.approx(official(parameters, predictions, references), abs=1e-14)


def test_several_predictions_take_the_best():
    scores = ours({}, [["dog", "cats"]], [["cat"]]).scores()["chrf"]["score"]
    assert scores == pytest.approx(official({}, ["cats"], [["cat"]]))


def test_the_corpus_is_pooled_and_not_the_mean():
    # Of 1 + 9 characters 9 are shared, in either text; the mean of the samples would be 1/2.
    report = ours({"char_order": 1}, ["x", "abcdefghi"], ["y", "abcdefghi"])
    assert report.scores()["chrf"]["score"] == pytest.approx(0.9)
    assert report.samples()["chrf"]["score"] == pytest.approx(np.array([0.0, 1.0]))
