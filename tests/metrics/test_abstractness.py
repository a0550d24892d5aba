"""Abstractness: expected values are counted by hand, or by a plain twin over sets."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WEBNLG, slow, texts

TEXT = st.one_of(
    st.lists(st.sampled_from(["a", "b", "C", "c.", "d'e", "1", "–"]), max_size=9).map(" ".join),
    st.text(st.characters(max_codepoint=0x24F), max_size=20),
)


def grams(text, n):
    """The n-grams of lower-cased runs of letters and digits, with the marks that follow them."""
    # "İ" in lower case is an i and a mark, which is part of its word.
    words = re.findall(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*", text.lower())
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def score(predictions, references, n=1):
    hub = Hub(load_metric("abstractness", n=n))
    return hub(predictions=predictions, references=references)["abstractness"]["score"]


def test_three_of_eleven_words_are_novel():
    # Novel: there, a; look. 7 + 4 words.
    predictions = ["There is a cat on the mat.", "Look! a wonderful day."]
    references = ["The cat is playing on the mat.", "Today is a wonderful day"]
    assert score(predictions, references) == 3 / 11
    # Novel pairs: there is, is a, a cat, cat on; look a. 6 + 3 pairs.
    assert score(predictions, references, n=2) == 5 / 9


def test_every_reference_counts_as_known():
    assert score(["a b c d"], [["a b", "c"]]) == 1 / 4


def test_a_word_inside_another_is_novel():
    assert score(["cat"], ["concatenate"]) == 1.0


def test_a_text_shorter_than_n_adds_nothing():
    assert score(["a", "a b"], ["x", "a b"], n=2) == 0.0


def share(samples, n):
    """The share of n-grams that no reference has; `nan` without any."""
    novel = total = 0
    for prediction, references in samples:
        grams_of_references = {gram for reference in references for gram in grams(reference, n)}
        result = grams(prediction, n)
        novel += sum(gram not in grams_of_references for gram in result)
        total += len(result)
    return novel / total if total else float("nan")


@given(
    st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4),
    st.integers(1, 4),
)
def test_equals_the_plain_definition(samples, n):
    mine = score([p for p, _ in samples], [r for _, r in samples], n)
    assert mine == pytest.approx(share(samples, n), nan_ok=True)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WEBNLG)])
@pytest.mark.parametrize("n", [1, 3])
def test_equals_the_plain_definition_on_real_text(name, n):
    predictions, references = texts(name)
    expected = share(list(zip(predictions, references, strict=True)), n)
    assert score(predictions, references, n) == pytest.approx(expected)


@pytest.mark.corpora
def test_webnlg_with_one_to_four_references():
    # .157 is the published count over runs of word characters, lower-cased, union of references.
    assert round(score(*texts(WEBNLG)), 3) == 0.157
