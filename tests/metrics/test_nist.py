"""NIST: expected values come from mteval-v13a.pl's figures, nltk 3.10, and the paper's formula."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.translate.nist_score import corpus_nist

from metrichub import Hub, Report, load_metric
from metrichub.errors import ParameterError
from metrichub.text.tokenize.reference import TOKENIZERS
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

WORDS = st.sampled_from(["the", "cat", "sat.", "0", "1,000", "...", "中文", "été", "İ", "\t"])
TEXT = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=20))
SAMPLES = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)


def official(tokenizer, predictions, references, order=5):
    split = TOKENIZERS[tokenizer]
    expected = [[split(text) for text in texts] for texts in references]
    return corpus_nist(expected, [split(text) for text in predictions], order)


def ours(parameters, predictions, references):
    return Hub(load_metric("nist", **parameters)).evaluate(
        predictions=predictions, references=references
    )


@pytest.mark.parametrize("vector", vectors("nist_sentence"))
def test_published_values_of_nltk_are_met(vector):
    parameters = {"max_order": vector["params"]["n"], "convention": "nltk", "tokenize": "none"}
    report = ours(parameters, vector["predictions"], vector["references"])
    assert report.scores()["nist"]["score"] == pytest.approx(
        vector["expected"], abs=vector["tolerance"]
    )


@pytest.mark.corpora
def test_equals_mteval_and_nltk_on_wmt16():
    predictions, references = texts(WMT16)
    # 8.5219: mteval-v13a.pl -c; 8.5200: nltk on the tokens of 13a.
    for convention, printed in (("mteval", 8.5219), ("nltk", 8.5200)):
        report = ours({"convention": convention}, predictions, references)
        assert round(report.scores()["nist"]["score"], 4) == printed


@pytest.mark.parametrize("name", [slow(SUMMEVAL), slow(WEBNLG)])
def test_equals_nltk_on_real_text(name):
    predictions, references = texts(name)
    report = ours({"convention": "nltk"}, predictions, references)
    expected = official("13a", predictions, references)
    assert report.scores()["nist"]["score"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("parameters", "prediction", "references", "expected"),
    [
        # Each of three words has log2(3) bits; what follows a word is certain: 0 bits.
        ({}, "a b c", ["a b c"], math.log2(3)),
        # Two of three words, and 2 of 3 words long: exp(beta * log(2/3)^2) = 1/2.
        ({}, "a b", ["a b c"], math.log2(3) / 2),
        ({}, "a b c", ["A b c"], 2 / 3 * math.log2(3)),
        ({"lowercase": True}, "a b c", ["A b c"], math.log2(3)),
        # 13a sets the point apart; "none" leaves "a." as a word that no reference has.
        ({}, "a.", ["a ."], 1.0),
        ({"tokenize": "none"}, "a.", ["a ."], 0.0),
        # "a b" is followed by c and by d: in a reference of 6 words log2(2/1) for each pair
        # after b, and (b c), (b d) are 2 of 5 pairs; words: a, b log2(6/2), c, d log2(6/1).
        (
            {"max_order": 2},
            "a b c a b d",
            ["a b c a b d"],
            (4 * math.log2(3) + 2 * math.log2(6)) / 6 + 2 * math.log2(2) / 5,
        ),
        # mteval takes the words from both references: 2 of 2, of 4 words in all each of 2 bits.
        ({"max_order": 1}, "a c", ["a b", "c d"], 2.0),
        ({"max_order": 1, "convention": "nltk"}, "a c", ["a b", "c d"], 1.0),
        # Lengths 1 and 3, mean 2: the ratio is 1; nltk takes the length of the best reference.
        ({"max_order": 1}, "a b", ["a", "a b c"], (math.log2(4 / 2) + math.log2(4)) / 2),
        (
            {"max_order": 1, "convention": "nltk"},
            "a b",
            ["a", "a b c"],
            (math.log2(4 / 2) + math.log2(4)) / 2 / 2,
        ),
        # After "0" mteval counts a pair like a word: log2(3) bits instead of log2(1/1) = 0.
        ({"max_order": 2}, "0 1 2", ["0 1 2"], math.log2(3) + math.log2(3) / 2),
        ({"max_order": 2, "convention": "nltk"}, "0 1 2", ["0 1 2"], math.log2(3)),
        ({}, "", ["a b"], 0.0),
        ({}, "x", ["a b"], 0.0),
        ({}, "a", [""], math.nan),
        ({}, "", [""], math.nan),
    ],
)
def test_edge_cases_by_hand(parameters, prediction, references, expected):
    report = ours(parameters, [prediction], [references])
    assert report.scores()["nist"]["score"] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(SAMPLES, st.sampled_from(["13a", "intl", "zh", "char", "none"]), st.sampled_from([1, 3, 5]))
def test_equals_nltk_on_any_text(samples, tokenizer, order):
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    # nltk divides by 0 where no prediction has an n-gram of an order.
    assume(max(len(TOKENIZERS[tokenizer](text)) for text in predictions) >= order)
    assume(any(TOKENIZERS[tokenizer](text) for texts in references for text in texts))
    parameters = {"tokenize": tokenizer, "max_order": order, "convention": "nltk"}
    try:
        expected = official(tokenizer, predictions, references, order)
    except ZeroDivisionError:
        # All words are in references that nltk doesn't take: no length.
        expected = math.nan
    report = ours(parameters, predictions, references)
    assert report.scores()["nist"]["score"] == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_the_conventions_agree_with_one_reference_and_no_zero(pairs):
    pairs = [tuple(text.replace("0", "o") for text in pair) for pair in pairs]
    predictions, references = [p for p, _ in pairs], [r for _, r in pairs]
    mteval, nltk = (
        ours({"convention": convention}, predictions, references).scores()["nist"]["score"]
        for convention in ("mteval", "nltk")
    )
    assert mteval == pytest.approx(nltk, abs=1e-9, nan_ok=True)


def test_samples_use_the_information_of_all_references():
    # 6 words, "a" twice: log2(6/2) bits for it in both samples, log2(6) for the others.
    report = ours({"max_order": 1}, ["a", "a d e"], ["a b c", "a d e"])
    first, second = report.samples()["nist"]["score"]
    assert first == pytest.approx(math.log2(3) * report.samples()["nist"]["length_penalty"][0])
    assert second == pytest.approx((math.log2(3) + 2 * math.log2(6)) / 3)


def test_rows_of_words_as_reports_once_held_them_score_alike():
    metric = load_metric("nist")
    words = [(["a", "b", "c"], [["a", "b"]]), (["a", "0", "e"], [["a", "0"], ["f"]])]
    report = ours({}, ["a b c", "a 0 e"], [["a b"], ["a 0", "f"]])
    assert metric.conclude(words) == report.scores()["nist"]
    both = [words[0], report.results["nist"].rows[1]]
    assert metric.conclude(both) == report.scores()["nist"]
    assert metric.resampler(words)(np.ones((1, 2)))["score"] == pytest.approx(
        [report.scores()["nist"]["score"]]
    )


def test_a_saved_report_scores_alike(tmp_path):
    report = ours({}, ["a b c", "a d e"], ["a b c", "a d f"])
    report.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json").scores() == report.scores()


def test_merging_counts_the_information_anew():
    scores = ours({}, ["a b c", "a d e"], ["a b c", "a d f"])
    parts = [ours({}, ["a b c"], ["a b c"]), ours({}, ["a d e"], ["a d f"])]
    assert parts[0].merge(parts[1]).scores() == scores.scores()
    assert parts[0].merge(parts[1]).counts() == scores.counts()


@pytest.mark.parametrize(
    ("parameters", "allowed"),
    [
        ({"max_order": 0}, "from 1 to 9"),
        ({"tokenize": "mteval"}, "'13a', 'intl', 'zh'"),
        ({"convention": "perl"}, "'mteval' or 'nltk'"),
        ({"lowercase": 1}, "True or False"),
    ],
)
def test_a_bad_parameter_lists_what_is_allowed(parameters, allowed):
    with pytest.raises(ParameterError, match=allowed):
        load_metric("nist", **parameters)
