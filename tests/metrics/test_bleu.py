"""BLEU: expected values come from sacrebleu 2.6 (its tests, and the package itself as oracle)."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import Doubt
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

WORDS = st.sampled_from(
    [
        "the",
        "cat",
        "sat",
        "on",
        "a",
        "mat",
        ".",
        "1,000",
        "3.",
        "...",
        "don't",
        "中文",
        "été",
        "-",
        "x-y",
        "İ",
        "&lt;",
        "\n",
    ]
)
# Characters younger than this Python's Unicode are unassigned to it, but not to sacrebleu's regex.
ASSIGNED = st.characters(codec="utf-8", exclude_categories=["Cn"])
TEXT = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(ASSIGNED, max_size=30))
SAMPLES = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)
PARAMETERS = st.fixed_dictionaries(
    {
        "tokenize": st.sampled_from(["13a", "intl", "zh", "char", "none"]),
        "smooth_method": st.sampled_from(["exp", "floor", "add-k", "none"]),
        "smooth_value": st.sampled_from([None, 0.5, 2]),
        "max_order": st.sampled_from([1, 2, 4, 6]),
        "effective_order": st.booleans(),
        "lowercase": st.booleans(),
    }
)


def official(parameters, predictions, references):
    """sacrebleu's corpus BLEU; None pads samples with fewer references, as its manual says."""
    options = {k: v for k, v in parameters.items() if k != "max_order"}
    if options.get("smooth_method") in ("exp", "none"):
        options["smooth_value"] = None
    metric = sacrebleu.BLEU(**options, max_ngram_order=parameters.get("max_order", 4), force=True)
    most = max(map(len, references))
    streams = [[r[i] if i < len(r) else None for r in references] for i in range(most)]
    return metric.corpus_score(predictions, streams)


def ours(parameters, predictions, references):
    return Hub(load_metric("bleu", **parameters)).evaluate(
        predictions=predictions, references=references
    )


@pytest.mark.parametrize("vector", vectors("bleu_corpus", "bleu_sentence", "bleu_raw_effective"))
def test_published_values_are_met(vector):
    renamed = {"max_ngram_order": "max_order"}
    parameters = {renamed.get(k, k): v for k, v in vector["params"].items() if k != "scale"}
    report = ours(parameters, vector["predictions"], vector["references"])
    score = report.scores()["bleu"]["score"] * vector["params"]["scale"]
    assert score == pytest.approx(vector["expected"], abs=vector["tolerance"])


@pytest.mark.parametrize(
    ("prediction", "references", "expected"),
    [
        # Lengths 7 and 5 are equally close to 6: the shorter counts, so no brevity penalty.
        ("a b c d e f", ["a b c d e f g", "a b c d e"], 1.0),
        # The closest length is 7, not the shortest: exp(1 - 7/6).
        ("a b c d e f", ["a b c d e f g", "a b"], float(np.exp(1 - 7 / 6))),
        # Precisions 3/4, 2/3, 1/2 and, smoothed, (1/2)/1: (3/4 * 2/3 * 1/2 * 1/2) ** (1/4).
        ("the cat is here", ["the cat is there"], (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25),
        ("", ["the cat"], 0.0),
        ("", [""], 0.0),
        ("dog", ["the cat"], 0.0),
    ],
)
def test_edge_cases_by_hand(prediction, references, expected):
    report = ours({}, [prediction], [references])
    assert report.scores()["bleu"]["score"] == pytest.approx(expected, abs=1e-12)


@given(SAMPLES, PARAMETERS)
def test_equals_sacrebleu_on_any_text(samples, parameters):
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    report = ours(parameters, predictions, references)
    expected = official(parameters, predictions, references)
    score = expected.score
    if any(expected.counts) and 0 in expected.totals and not parameters["effective_order"]:
        # 0/0: sacrebleu prints 0, whatever matches.
        assert score == 0
        score = np.nan
    assert report.scores()["bleu"]["score"] * 100 == pytest.approx(score, abs=1e-9, nan_ok=True)
    result = report.results["bleu"]
    assert (
        result.totals["matches"].tolist() == expected.counts
        or parameters["smooth_method"] == "add-k"
    )
    assert int(result.totals["reference_length"]) == expected.ref_len
    scores = report.scores()["bleu"]
    precisions = [scores[f"precision_{n}"] * 100 for n in range(1, len(expected.precisions) + 1)]
    assert precisions == pytest.approx(expected.precisions, abs=1e-9)
    if expected.ref_len:
        assert scores["length_ratio"] == pytest.approx(expected.ratio)
    for row, sample in enumerate(report.samples()["bleu"]["score"]):
        inputs = {**parameters, "effective_order": True}
        alone = official(inputs, predictions[row : row + 1], references[row : row + 1])
        assert sample * 100 == pytest.approx(alone.score, abs=1e-9)


@pytest.mark.parametrize("text", ["the cat", "cat", "你好，世界", "😀👍🏽", "a b c d e"])
def test_a_sample_s_score_is_sacrebleu_s_sentence_bleu(text):
    predictions, references = [text, "a quite different one"], [[text], [text]]
    report = ours({}, predictions, references)
    expected = [
        sacrebleu.sentence_bleu(p, r).score / 100
        for p, r in zip(predictions, references, strict=True)
    ]
    assert expected[0] == pytest.approx(1)
    assert report.samples()["bleu"]["score"].tolist() == pytest.approx(expected, abs=1e-12)
    assert report.explain("bleu", 0).scores["score"] == pytest.approx(1)
    assert report.signatures()["bleu"].endswith("|samples:sentence-level")


def test_the_corpus_and_the_best_of_several_predictions_know_no_sentence_bleu():
    # By sentence BLEU the second prediction is better, .71 against .50; by BLEU the first.
    several, references = [["a b c d e f g h", "a b x"]], [["a b c d q r s t u v w x"]]
    alone = [ours({}, [p], references).scores()["bleu"]["score"] for p in several[0]]
    hub = Hub(load_metric("bleu"), reduce="best")
    assert hub(predictions=several, references=references)["bleu"]["score"] == max(alone)
    # Candidates without a 4-gram are equal: the first counts, as by sacrebleu's 0.
    assert hub(predictions=[["a", "a x"]], references=["a x"])["bleu"]["precision_1"] == 1
    assert hub(predictions=[["b", "a x"]], references=["a x"])["bleu"]["precision_1"] == 0


@pytest.mark.parametrize("references", [[""], [" "], ["", ""]])
@pytest.mark.parametrize("smooth_method", ["exp", "add-k", "nltk-method1"])
def test_references_without_a_token_give_no_length_ratio(references, smooth_method):
    # sacrebleu scores such a sample 0, as here, and prints a ratio of 0, which says "too short".
    scores = ours({"smooth_method": smooth_method}, ["a b c"], [references]).scores()["bleu"]
    assert scores["score"] == 0
    assert np.isnan(scores["length_ratio"])


def test_nothing_is_smoothed_where_nothing_matches():
    # sacrebleu 2.6: `BLEU().sentence_score("a b c", ["x y z"])` is "0.00 0.0/0.0/0.0/0.0".
    scores = ours({}, ["a b c"], [["x y z"]]).scores()["bleu"]
    assert [scores[f"precision_{n}"] for n in range(1, 5)] == [0, 0, 0, 0]


@pytest.mark.corpora
def test_wmt16_has_its_published_score():
    report = ours({}, *texts(WMT16))
    # 34.43: the figure that mteval-v13a.pl and sacrebleu print for this system.
    assert round(report.scores()["bleu"]["score"] * 100, 2) == 34.43


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16), slow(WEBNLG)])
def test_equals_sacrebleu_on_real_text(name):
    predictions, references = texts(name)
    for parameters in ({}, {"tokenize": "intl", "lowercase": True, "max_order": 2}):
        score = ours(parameters, predictions, references).scores()["bleu"]["score"]
        expected = official(parameters, predictions, references).score
        assert score * 100 == pytest.approx(expected, abs=1e-9)


def test_other_tokenizers_of_sacrebleu_are_reached():
    # sacrebleu's ko-mecab and ja-mecab need MeCab; a missing one is named, not guessed.
    try:
        sacrebleu.BLEU(tokenize="ja-mecab")
    except (ImportError, RuntimeError):
        with pytest.raises(Exception, match="ja"):
            ours({"tokenize": "ja-mecab"}, ["x"], ["x"])


@pytest.mark.parametrize(
    ("predictions", "parameters", "score"),
    [
        # sacrebleu prints 0 for all that are nan here, also where every text equals its reference.
        (["Harbour Plaza"], {}, np.nan),
        (["Paris", "London is big"], {}, np.nan),
        (["Paris", ""], {}, np.nan),
        (["Paris"], {"smooth_method": "none"}, np.nan),
        (["Paris"], {"max_order": 2}, np.nan),
        (["Paris", "London is big"], {"effective_order": True}, 1),
        (["London is big"], {"max_order": 3}, 1),
        (["London is big"], {"weights": (0.5, 0.25, 0.25, 0)}, 1),
        (["London is big", "a b c d"], {}, 1),
        # One match of one, and added 1 to both numbers of the other orders.
        (["Paris"], {"smooth_method": "add-k"}, 1),
        (["", ""], {}, 0),
    ],
)
def test_a_corpus_too_short_for_an_order_has_no_score(predictions, parameters, score):
    report = ours(parameters, predictions, [[text] for text in predictions])
    undefined = np.isnan(score)
    assert report.scores()["bleu"]["score"] == pytest.approx(score, nan_ok=True)
    doubts = [note for note in report.notes().get("bleu", ()) if isinstance(note, Doubt)]
    assert len(doubts) == undefined
    if undefined:
        order = parameters.get("max_order", 4)
        assert doubts[0].startswith(f"no prediction has {order} tokens")
        assert "effective_order=True" in doubts[0]
        assert report.samples()["bleu"]["score"].max() == 1
        assert report.scores()["bleu"]["precision_1"] == 1


def test_a_corpus_with_few_4_grams_keeps_its_test():
    # Swaps leave one side without a 4-gram every other time, which counts as sacrebleu's 0.
    texts = ["a b c d", *"efghijk"]
    first, other = (
        ours({}, [*pair, *texts[2:]], [[t] for t in texts]) for pair in (texts[:2], "xy")
    )
    both = ours({}, ["a b c d", *"xxxxxxx"], [[t] for t in texts])
    assert np.isnan(first.compare(other)["bleu"]["score"].p)
    assert 0 < first.compare(both)["bleu"]["score"].p <= 1
