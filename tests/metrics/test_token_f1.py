import re
import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import Doubt
from tests.vectors import SUMMEVAL, WEBNLG, slow, texts, vectors

WORDS = st.sampled_from(["the", "The", "a", "an", "cat", "Cat", "dog", "dog.", "é", "u.s.", "an’a"])
AWKWARD = st.one_of(
    st.lists(WORDS, max_size=8).map(" ".join),
    st.text(
        alphabet=st.one_of(
            st.sampled_from("aAnthe .,-'0٣éİſς\u0301\u00a0\u2028\n\0日😀"), st.characters()
        ),
        max_size=12,
    ),
)


def scores(predictions, references, **parameters):
    hub = Hub(metrics=load_metric("token_f1", **parameters))
    return hub(predictions=predictions, references=references)["token_f1"]


def tokens(text, articles):
    """SQuAD 1.1: lower case, then no punctuation, then no articles, then white space."""
    text = text.lower().translate(dict.fromkeys(map(ord, string.punctuation)))
    return (text if articles else re.sub(r"\b(?:the|an|a)\b", " ", text)).split()


def overlap(prediction, reference, both_empty=0.0, articles=False):
    """F1, precision and recall of two texts, as Rajpurkar et al. (2016) define them."""
    predicted, expected = tokens(prediction, articles), tokens(reference, articles)
    if not predicted and not expected:
        return (both_empty,) * 3
    shared = sum((Counter(predicted) & Counter(expected)).values())
    if not shared:
        return (0.0, 0.0, 0.0)
    precision, recall = shared / len(predicted), shared / len(expected)
    return (2 * precision * recall / (precision + recall), precision, recall)


@pytest.mark.parametrize("row", vectors("squad"))
def test_equals_the_squad_script(row):
    values = scores(row["predictions"], row["references"])["score"]
    expected = row["expected"]["f1"] / row["params"]["scale"]
    assert values == pytest.approx(expected, abs=row["tolerance"])


def test_without_repeats_a_token_counts_once():
    # {b, c} and {b, d}: one of two. With repeats: two of four and two of three, F1 4/7.
    assert scores(["b b b c"], ["b b d"], repeats=False) == {
        "score": 0.5,
        "precision": 0.5,
        "recall": 0.5,
    }
    result = scores(["日本日", "x"], ["日 本", "x"], normalization="unicode", repeats=False)
    assert result["score"] == 1


def test_a_token_is_shared_as_often_as_both_have_it():
    # "b b b c" and "b b d" share b twice: P = 2/4, R = 2/3, F1 = 4/7.
    result = scores(["b b b c"], ["b b d"])
    assert result == pytest.approx({"score": 4 / 7, "precision": 1 / 2, "recall": 2 / 3})


def test_precision_and_recall_come_from_the_reference_with_the_best_f1():
    # Against "b": P 1/3, R 1, F1 1/2. Against "b c d e": P 2/3, R 2/4, F1 4/7, the better one.
    result = scores(["b c x"], [["b", "b c d e"]])
    assert result == pytest.approx({"score": 4 / 7, "precision": 2 / 3, "recall": 1 / 2})


def test_two_texts_without_tokens_score_what_the_parameter_says():
    zero = {"score": 0, "precision": 0, "recall": 0}
    assert scores(["..."], [""]) == zero
    assert scores(["..."], [""], both_empty=1) == {"score": 1, "precision": 1, "recall": 1}
    # SQuAD 2.0 gives 1 only if both are empty.
    assert scores(["x"], [""], both_empty=1) == scores([""], ["x"], both_empty=1) == zero


@pytest.mark.parametrize(
    ("predictions", "references", "first", "second"),
    [
        (
            ["1976", "the Norman army", "", "France", "", "the"],
            [["1976"], ["Norman army", "army"], [""], [""], ["London"], [""]],
            100 / 3,
            200 / 3,
        ),
        (["a", "c", "x", ""], [["b"], ["c"], [""], [""]], 25, 50),
        (["  ", "Émile Zola", "x"], [["..."], ["Emile Zola"], ["", "x"]], 50, 250 / 3),
    ],
)
def test_both_empty_is_the_f1_of_squad_2(predictions, references, first, second):
    # SQuAD 2.0: f1 of evaluate-v2.0.py, as in compute_score.py of huggingface/evaluate@a7dd338.
    # SQuAD 1.1 gives the two, one and one samples without a token 0 in place of 1.
    assert scores(predictions, references)["score"] == pytest.approx(first / 100)
    assert scores(predictions, references, both_empty=1)["score"] == pytest.approx(second / 100)


def test_each_normalization_has_its_own_tokens():
    def f1(prediction, reference, normalization):
        return scores([prediction], [reference], normalization=normalization)["score"]

    # Articles: "the cat" has one token in `squad`, two in the others.
    assert f1("the cat", "cat", "squad") == 1
    assert f1("the cat", "cat", "words") == pytest.approx(2 / 3)
    assert f1("the cat", "cat", "unicode") == pytest.approx(2 / 3)
    # Case and ASCII punctuation stay in `none` only.
    assert f1("Cat.", "cat", "words") == f1("Cat.", "cat", "unicode") == 1
    assert f1("Cat.", "cat", "none") == 0
    # Other punctuation is dropped by `unicode` only, which also cuts "日本。" into two tokens.
    assert f1("日本。", "本", "words") == 0
    assert f1("日本。", "本", "unicode") == pytest.approx(2 / 3)


@given(
    st.lists(st.tuples(AWKWARD, st.lists(AWKWARD, min_size=1, max_size=3)), min_size=1, max_size=6),
    st.sampled_from([0, 1]),
    st.booleans(),
)
def test_equals_the_definition_on_any_text(rows, both_empty, articles):
    metric = load_metric(
        "token_f1", normalization="words" if articles else "squad", both_empty=both_empty
    )
    report = Hub(metrics=metric).evaluate(
        predictions=[prediction for prediction, _ in rows],
        references=[references for _, references in rows],
    )
    expected = [
        max((overlap(p, r, both_empty, articles) for r in references), key=lambda result: result[0])
        for p, references in rows
    ]
    samples = report.samples()["token_f1"]
    assert samples["score"] == pytest.approx([best[0] for best in expected])
    # Several references can have the best F1; each of them has one precision and one recall.
    for row, (p, references) in enumerate(rows):
        pairs = [overlap(p, r, both_empty, articles) for r in references]
        ours = [samples[name][row] for name in ("score", "precision", "recall")]
        assert any(ours == pytest.approx(pair) for pair in pairs)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WEBNLG)])
@pytest.mark.parametrize("normalization", ["squad", "words"])
def test_equals_the_definition_on_real_texts(name, normalization):
    predictions, references = texts(name)
    articles = normalization == "words"
    expected = [
        max(overlap(p, r, 0.0, articles)[0] for r in group)
        for p, group in zip(predictions, references, strict=True)
    ]
    report = Hub(metrics=load_metric("token_f1", normalization=normalization)).evaluate(
        predictions=predictions, references=references
    )
    np.testing.assert_allclose(report.samples()["token_f1"]["score"], expected, rtol=1e-12)
    assert report.scores()["token_f1"]["score"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("references", "parameters", "doubt"),
    [
        (
            ["A", "B", "the"],
            {},
            "2 references have no token left after normalization (such as 'A')",
        ),
        (["A", "B"], {"both_empty": 1}, "1 reference has no token left after normalization"),
        (["A", "+"], {"normalization": "words"}, "1 reference has no token left"),
        (["A", "+"], {"normalization": "none"}, ""),
        # An empty reference is empty, whatever is normalized.
        (["B", "", " "], {}, ""),
        # The best of several references has a token.
        ([["A", "B"]], {}, ""),
    ],
)
def test_references_without_a_token_left_are_doubted(references, parameters, doubt):
    predictions = [text[-1] if isinstance(text, list) else text for text in references]
    report = Hub(load_metric("token_f1", **parameters)).evaluate(
        predictions=predictions, references=references
    )
    notes = [note for note in report.notes().get("token_f1", ()) if isinstance(note, Doubt)]
    assert [note[: len(doubt)] for note in notes] == ([doubt] if doubt else [])
    assert all("normalization='" in note for note in notes)
