"""Distinct-n: the definition over Python sets as oracle, and what counts together."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.text.tokenize import reference as plain
from tests.oracles.text_twins import any_text, ngrams, word_texts
from tests.vectors import SUMMEVAL, WMT16, slow, texts, vectors

NAMES = ["whitespace", "13a", "intl", "zh", "char", "unicode"]
TEXTS = word_texts | any_text
SAMPLES = st.lists(st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=6)


def measured(samples: list[Any], **parameters: Any) -> Report:
    return Hub(metrics=load_metric("distinct", **parameters)).evaluate(predictions=samples)


def scored(samples: list[Any], **parameters: Any) -> dict[str, float]:
    return dict(measured(samples, **parameters).scores()["distinct"])


def by_sets(tokens: list[list[str]], order: int) -> float:
    """Li et al. (2016), over the number of n-grams: different ones over all; nan without any."""
    grams = [gram for text in tokens for gram in ngrams(text, order)]
    return len(set(grams)) / len(grams) if grams else float("nan")


@pytest.mark.parametrize("vector", vectors("distinct_n"))
def test_conformance(vector: dict[str, Any]) -> None:
    scores = scored(vector["predictions"])
    for output, value in vector["expected"].items():
        assert scores[output] == pytest.approx(value, abs=vector["tolerance"])


@given(SAMPLES, st.integers(1, 9), st.sampled_from(NAMES), st.booleans())
def test_scores_equal_the_definition_over_sets(
    samples: list[list[str]], n: int, tokenizer: str, lowercase: bool
) -> None:
    report = measured(samples, n=n, tokenizer=tokenizer, lowercase=lowercase)
    split = plain.TOKENIZERS[tokenizer]
    tokens = [[split(t.lower() if lowercase else t) for t in texts] for texts in samples]
    together = [text for texts in tokens for text in texts]
    orders = {"score": n, **{f"distinct_{k}": k for k in range(1, 5)}}
    scores, rows = report.scores()["distinct"], report.samples()["distinct"]
    for name, order in orders.items():
        np.testing.assert_array_equal(scores[name], by_sets(together, order))
        np.testing.assert_array_equal(rows[name], [by_sets(texts, order) for texts in tokens])


def test_names_that_outgrow_64_bits_are_counted_exactly() -> None:
    # 70,000 different words and as many again in another order: 17 bits a word, so that four
    # don't fit. Every second list repeats the words of the first, but no pair of them.
    words = [f"w{i}" for i in range(70_000)]
    texts = [" ".join(words), " ".join(words[::-1]), " ".join(words[:10])]
    scores = scored(texts)
    assert scores["distinct_1"] == 70_000 / 140_010
    for n in (2, 3, 4):
        assert scores[f"distinct_{n}"] == (2 * (70_001 - n)) / (2 * (70_001 - n) + 11 - n)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16)])
def test_real_texts_equal_the_definition_over_sets(name: str) -> None:
    predictions, _ = texts(name)
    scores = scored(predictions)
    for n in (1, 2, 3, 4):
        assert scores[f"distinct_{n}"] == by_sets([text.split() for text in predictions], n)


def test_equal_predictions_count_each_time_in_the_divisor() -> None:
    # Three times "a b": 2 different of 6 words, 1 of 3 pairs.
    scores = scored(["a b", "a b", "a b"])
    assert (scores["distinct_1"], scores["distinct_2"]) == (2 / 6, 1 / 3)


def test_no_ngram_reaches_into_the_next_prediction() -> None:
    # Four words one by one hold no pair, in one sample or in several.
    for samples in (["a", "b", "c", "d"], [["a", "b"], ["c", "d"]]):
        scores = scored(samples)
        assert scores["distinct_1"] == 1
        assert np.isnan(scores["distinct_2"])


def test_candidates_of_a_sample_count_together() -> None:
    # "no" twice is 1 of 2; over the corpus "no" and "yes" are 2 of 4.
    report = measured([["no", "no"], ["no", "yes"]], n=1)
    assert report.samples()["distinct"]["score"].tolist() == [0.5, 1]
    assert report.scores()["distinct"]["score"] == 0.5


def test_case_counts_unless_it_is_ignored() -> None:
    # "A" and "a": 2 of 2 words, or 1 of 2.
    assert scored(["A a"], n=1)["score"] == 1
    assert scored(["A a"], n=1, lowercase=True)["score"] == 0.5


def test_who_answers_less_is_no_better() -> None:
    # Fewer texts repeat less: the score may rise, so that it names no winner.
    hub = Hub("distinct")
    full = hub.evaluate(predictions=["a b a", "c a b", "b b c", "a c c"])
    half = hub.evaluate(predictions=["a b a", "c a b", "", " "])
    assert half.counts()["distinct"]["unanswered"] == 2
    assert half.scores()["distinct"]["distinct_1"] > full.scores()["distinct"]["distinct_1"]
    difference = half.compare(full, resamples=9, trials=9)["distinct"]["distinct_1"]
    assert difference.withheld is not None
    assert (difference.rank, difference.other_rank) == (None, None)


@given(SAMPLES, SAMPLES, st.integers(1, 9), st.sampled_from(NAMES), st.booleans())
def test_parts_that_were_condensed_give_the_scores_of_all_together(
    first: list[list[str]], other: list[list[str]], n: int, tokenizer: str, lowercase: bool
) -> None:
    how: dict[str, Any] = {"n": n, "tokenizer": tokenizer, "lowercase": lowercase}
    parts = [measured(samples, **how).condense() for samples in (other, first)]
    report = parts[0].merge(parts[1]).without_samples()
    np.testing.assert_equal(report.scores(), measured([*first, *other], **how).scores())


def test_what_is_condensed_grows_with_the_vocabulary_and_not_with_the_texts() -> None:
    few, many = (pickle.dumps(measured([["a b c a b"]] * n).condense()) for n in (50, 5000))
    assert len(many) <= len(few) + 50
