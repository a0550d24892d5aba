"""RIBES: nltk 3.10 as oracle, and the examples of Isozaki et al. (2010)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.ribes_score import corpus_ribes, sentence_ribes

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WEBNLG, slow, texts, vectors

TEXT = st.lists(st.sampled_from("abcdeÜ今"), max_size=20).map(" ".join)
SAMPLES = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)


def ribes(predictions: list[str], references: list[Any], **parameters: Any) -> float:
    hub = Hub(metrics=load_metric("ribes", **parameters))
    return float(hub(predictions=predictions, references=references)["ribes"]["score"])


def words(texts: list[str]) -> list[list[str]]:
    return [text.split() for text in texts]


@pytest.mark.parametrize("vector", vectors("ribes_corpus"))
def test_conformance(vector: dict[str, Any]) -> None:
    value = ribes(vector["predictions"], vector["references"], **vector["params"])
    assert value == pytest.approx(vector["expected"], abs=vector["tolerance"])


# Isozaki et al. (2010), section 3: "Bob hit John yesterday" keeps 3 of 6 pairs in order, the
# swapped clauses of the other 21 of 55; all words are aligned and both texts are as long.
@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("Bob hit John yesterday", "John hit Bob yesterday", 3 / 6),
        (
            "he read the book because he was interested in world history",
            "he was interested in world history because he read the book",
            21 / 55,
        ),
        ("a b c", "a b c", 1),
        ("c b a", "a b c", 0),
    ],
)
def test_the_share_of_pairs_in_order(prediction: str, reference: str, expected: float) -> None:
    assert ribes([prediction], [reference]) == pytest.approx(expected)


def test_alpha_and_beta_weigh_precision_and_brevity() -> None:
    # Of "a b x" two words are aligned, in order: precision 2/3, and as long as the reference.
    assert ribes(["a b x"], ["a b c"], alpha=2.0) == pytest.approx((2 / 3) ** 2)
    assert ribes(["a b x"], ["a b c"], alpha=0.0) == 1
    # Two words for four: the penalty is exp(1 - 4/2).
    assert ribes(["a b"], ["a b c d"], beta=1.0) == pytest.approx(2.718281828459045**-1)


def test_fewer_than_two_aligned_words_score_nothing() -> None:
    # nltk gives tau = -1 where no pair of words exists, even to equal texts.
    assert ribes(["a"], ["a"]) == 0
    assert ribes(["", "a b"], ["a b", ""]) == 0


def test_the_tokenizer_can_be_chosen() -> None:
    # As characters all four are aligned; without spaces the text is one word, which scores 0.
    assert ribes(["今日は雨"], ["今日は雨"], tokenize="char") == 1
    assert ribes(["今日は雨"], ["今日は雨"]) == 0


@given(SAMPLES, st.sampled_from([0.25, 0.0, 1.5]), st.sampled_from([0.1, 0.0, 2.0]))
def test_corpora_equal_nltk(
    samples: list[tuple[str, list[str]]], alpha: float, beta: float
) -> None:
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    expected = corpus_ribes([words(group) for group in references], words(predictions), alpha, beta)
    value = ribes(predictions, references, alpha=alpha, beta=beta)
    assert value == pytest.approx(expected, abs=1e-12)


# Long texts with many references are slow in nltk: a few summaries are enough.
@pytest.mark.parametrize(("name", "most"), [(SUMMEVAL, 12), slow(WEBNLG, 500)])
def test_real_texts_with_several_references_equal_nltk(name: str, most: int) -> None:
    predictions, references = texts(name, most)
    report = Hub(metrics="ribes").evaluate(predictions=predictions, references=references)
    expected = [
        sentence_ribes(words(group), text.split())
        for text, group in zip(predictions, references, strict=True)
    ]
    assert report.samples()["ribes"]["score"].tolist() == pytest.approx(expected, abs=1e-12)


def test_ten_thousand_equal_words_are_no_trouble() -> None:
    # No run of equal words is unique in both texts but the whole, from the first word on.
    assert ribes(["word " * 10_000], ["word " * 10_000]) == 0
