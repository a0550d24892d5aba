"""CharacTER: published values, those of the package cer, and scores worked out by hand."""

from __future__ import annotations

import json
import os
import random
import statistics
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rapidfuzz.distance import Levenshtein

from metric_cards.character import search
from metrichub import Hub
from tests.vectors import DATA, SUMMEVAL, WMT16, corpus, vectors

GOLDEN = DATA / "summeval_character.jsonl"

HYPOTHESIS = "this week the saudis denied information published in the new york times"
REFERENCE = "saudi arabia denied this week information published in the american new york times"


def character(prediction: str, reference: Any) -> float:
    hub = Hub(metrics="character")
    return float(hub(predictions=[prediction], references=[reference])["character"]["score"])


def measured(pairs: list[tuple[str, str]]) -> list[float]:
    """Our score of each pair of a prediction and a reference."""
    predictions, references = zip(*pairs, strict=True)
    report = Hub("character").evaluate(predictions=list(predictions), references=list(references))
    return report.samples()["character"]["score"].tolist()  # type: ignore[no-any-return]  # a list of floats


def oracle(pairs: list[tuple[str, str]]) -> list[float]:
    """The score of each pair by the package cer; skips the test where it isn't installed."""
    try:
        from cer import calculate_cer
    except ImportError:
        reason = "needs cer, of tests/oracles.txt"
        pytest.fail(reason) if os.environ.get("CI_ORACLES") == "1" else pytest.skip(reason)
    return [calculate_cer(message.split(), expected.split()) for message, expected in pairs]


@pytest.mark.parametrize("vector", vectors("character"))
def test_conformance(vector: dict[str, Any]) -> None:
    report = Hub(metrics="character").evaluate(
        predictions=vector["predictions"], references=vector["references"]
    )
    expected = vector["expected"]
    expected = expected if isinstance(expected, dict) else {"mean": expected}
    scores = report.samples()["character"]["score"].tolist()
    measures = {
        "count": len,
        "mean": lambda _: report.scores()["character"]["score"],
        "median": statistics.median,
        "std": statistics.stdev,
        "min": min,
        "max": max,
    }
    for name, value in expected.items():
        assert measures[name](scores) == pytest.approx(value, abs=vector["tolerance"])


def test_a_word_that_occurs_further_behind_too_counts_as_shifted() -> None:
    # "this week" (mean length 4) goes behind "denied". "the" (3) comes first by that, but is not
    # where it was, and there is another "the" behind its position.
    after = "the saudis denied this week information published in the new york times"
    assert Levenshtein.distance(after, REFERENCE) == 19
    assert character(HYPOTHESIS, REFERENCE) == pytest.approx((4 + 3 + 19) / 71)


def test_a_shift_costs_the_mean_length_of_its_words() -> None:
    # "bb cccc" moves behind "u v w": (2 + 4) / 2 for 13 characters, and no edit is left.
    assert character("bb cccc u v w", "u v w bb cccc") == pytest.approx(3 / 13)


def test_the_words_that_end_up_further_behind_cost_not_those_they_pass() -> None:
    # Whichever of the two is moved, "bb" ends up behind.
    assert character("bb cccc", "cccc bb") == pytest.approx(2 / 7)
    assert character("cccc bb", "bb cccc") == pytest.approx(4 / 7)


def test_similar_words_are_not_shifted() -> None:
    # Word by word, 6 edits each: "oranges" has "pple" for "ranges", and "apples" is as far away.
    prediction, reference = "oranges apples", "apple orange"
    plain = Levenshtein.distance(prediction, reference)
    assert character(prediction, reference) == pytest.approx(plain / len(prediction))


def test_of_equally_good_shifts_the_last_in_sorted_order_is_made() -> None:
    # Moving a, c, d or b to its place leaves two word edits each: "acdb", "adcb", "cabd" and
    # "cbad". From the last no shift gains; "ad" (mean length 1) went back, "c" and "a" are wrong.
    assert character("c a d b", "a b c d") == pytest.approx((1 + 2) / 7)


def test_a_remainder_of_floating_point_allows_a_shift_without_gain() -> None:
    # "g i d f c" comes first, which leaves 1 of 5 word edits, "o". In floating point 5/7 less the
    # gain is more than 1/7, so that "g" is moved as well: before "o", where it is no better.
    # Now "j", "o" and each "g" are further behind, and "o" and its space are too much.
    gain = 5 / 7 - 1 / 7
    assert 5 / 7 - gain > 1 / 7
    assert character("j o g g i d f c", "g i d f c j g") == pytest.approx((4 + 2) / 15)


def test_no_shift_is_looked_for_where_none_can_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    # "a" may go elsewhere, but "x" and "y" stay wrong: two word edits, as many as there are now.
    monkeypatch.setattr(search, "_best", lambda *_: pytest.fail("looked for a shift"))
    assert search.shifted("axbya", "apbqa") == ("axbya", False)


def test_edits_are_divided_by_the_length_of_the_prediction_and_stop_at_one() -> None:
    assert character("abcd", "abxy") == pytest.approx(2 / 4)
    assert character("ab", "abxy") == 1
    assert character("a", "wholly different") == 1


def test_equal_texts_score_zero_and_white_space_is_ignored() -> None:
    assert character("a  b\n", "a b") == 0


def test_an_empty_prediction_is_all_wrong_and_two_empty_texts_are_unscored() -> None:
    assert character("", "a") == 1
    assert character("a", "") == 1
    report = Hub(metrics="character").evaluate(predictions=["", "a"], references=[" ", "a"])
    assert np.isnan(report.samples()["character"]["score"][0])
    assert report.scores()["character"] == {"score": 0}
    assert report.counts()["character"] == {"unscored": 1}


def test_real_summaries_score_as_in_cer() -> None:
    rows = corpus(SUMMEVAL)
    expected = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    assert [row["system"] for row in rows] == [row["system"] for row in expected]
    pairs = [(row["hyp"], reference) for row in rows for reference in row["refs"]]
    scores = [score for row in expected for score in row["scores"]]
    assert len(scores) == 240 * 11
    assert_allclose(measured(pairs), scores, rtol=0, atol=1e-12)


@pytest.mark.corpora
def test_a_whole_test_set_scores_as_in_cer() -> None:
    rows = corpus(WMT16)
    pairs = [(row["hyp"], row["refs"][0]) for row in rows]
    assert_allclose(measured(pairs), oracle(pairs), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "words", ["a b c", "the then thes he hen", "x yy zzz wwww 他们 去 é e\u0301 😀"]
)
def test_random_texts_score_as_in_cer(words: str) -> None:
    # A mistake in the ties or remainders shows in about one pair of 500.
    draw, vocabulary = random.Random(20), words.split()

    def text() -> list[str]:
        return draw.choices(vocabulary, k=draw.randint(1, 14))

    def shuffled(text: list[str]) -> list[str]:
        first, second = sorted(draw.choices(range(len(text) + 1), k=2))
        return text[first:second] + text[:first] + text[second:]

    references = [text() for _ in range(2000)]
    predictions = [
        shuffled(shuffled(word)) if draw.random() < 0.5 else text() for word in references
    ]
    pairs = list(zip(map(" ".join, predictions), map(" ".join, references), strict=True))
    assert_allclose(measured(pairs), oracle(pairs), rtol=0, atol=1e-12)


def test_long_texts_of_few_words_are_compared_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [("b a c a b d a c b e", "a b c a d b c a e b"), ("c a d b", "a b c d")]
    values = measured(pairs)
    monkeypatch.setattr(search, "PORTION", 1)
    assert measured(pairs) == values


def test_the_search_ends_after_so_many_comparisons_in_all_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 8 words that may each go to one place make 8 * 8 comparisons a round; "c d" needs a second.
    pair = ("c d x a b y e f", "a b x c d y f e")
    whole, after = measured([pair])[0], search.shifted("cdxabyef", "abxcdyfe")
    monkeypatch.setattr(search, "MOST_WORK", 64)
    stopped, unsearched = search.shifted("cdxabyef", "abxcdyfe")
    assert (after[1], unsearched) == (False, True)
    assert after[0] != stopped != "cdxabyef"
    report = Hub("character").evaluate(predictions=[pair[0], "a b"], references=[pair[1], "b a"])
    assert report.scores()["character"]["score"] != whole
    assert report.notes()["character"][-1].startswith("the shifts of 1 sample weren't searched")


def test_thousands_of_equal_words_are_compared_without_shifts() -> None:
    text = "word " * 5_000
    assert character(text, text) == 0
    # One character of 30,000 more, and no search among 25 million shifts.
    assert character(text + "x", text) == pytest.approx(2 / 25_001)
