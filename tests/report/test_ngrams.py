"""N-grams that systems differ in: values by hand, and counts beside those of plain sets."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.report.html import ngrams
from metrichub.report.html.ngrams import (
    FEWEST,
    LISTED,
    LOWEST,
    Ngram,
    PairNgrams,
    log_odds,
    ngrams_of,
)
from metrichub.text.tokenize.reference import letters

REFERENCES = ["the red cat", "The red dog!", "a bird", "a fish", "a cow"]
ONE = ["the red cat", "the Red dog", "a fox", "a fox", "a fox, a fox"]
OTHER = ["the cat", "the dog", "a bird", "a fish", "a cow"]


def systems(references: list[str], **texts: list[str]) -> dict[str, Report]:
    hub = Hub("exact_match")
    return {
        name: hub.evaluate(predictions=predictions, references=references)
        for name, predictions in texts.items()
    }


def test_z_is_that_of_the_paper() -> None:
    # 20 and 0 of 100 words each. The prior is 10 of 100 words: equation 16 has the logits of 30 of
    # 200 and of 10 of 200, equation 20 their variance, 1/30 + 1/10.
    z = log_odds(np.array([20.0, 0.0, 7.0]), np.array([0.0, 20.0, 7.0]), 100, 100)
    expected = (log(30 / 170) - log(10 / 190)) / sqrt(1 / 30 + 1 / 10)
    assert z == pytest.approx([expected, -expected, 0])
    # 6 of 20 against 2 of 10: the prior is 4 of 15, so 10 of 35 against 6 of 25.
    (z,) = log_odds(np.array([6.0]), np.array([2.0]), 20, 10)
    assert z == pytest.approx((log(10 / 25) - log(6 / 19)) / sqrt(1 / 10 + 1 / 6))


def test_each_system_has_what_it_says_more_often() -> None:
    result = ngrams_of(systems(REFERENCES, a=ONE, b=OTHER))
    assert result
    ((pair, matching, unsupported),) = result.pairs
    assert pair == (0, 1)
    # "red" and "the red" are the same two samples; of 7 bigrams of the references the prior of
    # "the red" is 1: 3 of 14 against 1 of 14.
    z = (log(3 / 11) - log(1 / 13)) / sqrt(1 / 3 + 1)
    assert matching == ([Ngram("the red", 2, 0, pytest.approx(z), 2, [0, 1])], [])
    # A sample that says it twice counts once. The bigrams of a: 2, 2, 1, 1 and 3, of which two
    # are different, so 8; b has 5. The prior of "a fox" is 1.5 of 6.5.
    z = (log(4.5 / 10) - log(1.5 / 10)) / sqrt(1 / 4.5 + 1 / 1.5)
    assert unsupported == ([Ngram("a fox", 3, 0, pytest.approx(z), 3, [2, 3, 4])], [])


def test_counts_are_those_of_sets_of_words() -> None:
    draw = np.random.default_rng(1)

    def texts() -> list[str]:
        return [" ".join(draw.choice([*"abcdef"], draw.integers(0, 9))) for _ in range(80)]

    references, first, other = texts(), texts(), [t.replace("a", "b") for t in texts()]
    result = ngrams_of(systems(references, one=first, other=other))
    assert result
    (pair,) = result.pairs

    def has(text: str, ngram: tuple[str, ...]) -> bool:
        return ngram in _ngrams(text, len(ngram))

    listed = 0
    for match, lists in ((True, pair.matching), (False, pair.unsupported)):
        for (mine, theirs), part in zip(((first, other), (other, first)), lists, strict=True):
            assert len(part) <= LISTED
            assert [n.z for n in part] == sorted((n.z for n in part), reverse=True)
            for n in part:
                words = tuple(letters(n.text))
                able = [i for i, t in enumerate(references) if has(t, words) == match]
                ours, numbers = ([i for i in able if has(s[i], words)] for s in (mine, theirs))
                alone = [i for i in ours if i not in numbers]
                assert (n.first, n.second, n.alone) == (len(ours), len(numbers), len(alone))
                assert [*n.samples] == alone
                assert n.first >= FEWEST
                assert n.z >= LOWEST
                sizes = [
                    sum(len(_ngrams(t, len(words))) for t in column) for column in (mine, theirs)
                ]
                if match:
                    sizes = [sum(len(_ngrams(t, len(words))) for t in references)] * 2
                (z,) = log_odds(np.array([n.first * 1.0]), np.array([n.second * 1.0]), *sizes)
                assert n.z == pytest.approx(z)
                listed += 1
    assert listed > 20


def _ngrams(text: str, order: int) -> set[tuple[str, ...]]:
    words = letters(text)
    return {tuple(words[i : i + order]) for i in range(len(words) - order + 1)}


def test_scripts_without_spaces_have_letters_for_words() -> None:
    result = ngrams_of(systems(["他坐在垫子上"] * 3, a=["他坐在垫子上"] * 3, b=["狗 dog"] * 3))
    assert result
    mine = {n.text for n in result.pairs[0].matching[0]}
    assert "他坐在垫" in mine
    assert not [text for text in mine if " " in text]
    assert {n.text for n in result.pairs[0].unsupported[1]} == {"狗 dog"}


def test_of_longer_texts_every_second_sample_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = systems(REFERENCES * 4, a=ONE * 4, b=OTHER * 4)
    size = sum(map(len, [*REFERENCES, *ONE, *OTHER])) * 4
    monkeypatch.setattr(ngrams, "MOST_CHARACTERS", size - 1)
    monkeypatch.setattr(ngrams, "MOST_SAMPLES", 2)
    result = ngrams_of(reports)
    assert result
    assert result.every == 2
    (fox,) = result.pairs[0].unsupported[0]
    # Samples 2, 3 and 4 of every five say it; of the even ones these are 2, 4, 8, 12, 14 and 18.
    assert (fox.first, fox.alone, [*fox.samples]) == (6, 6, [2, 4])
    # The page reads them as steps.
    assert result.data()["pairs"][0]["lists"][2][0][-1] == [2, 2]


def test_many_systems_are_compared_with_the_first() -> None:
    many = {f"s{k}": (ONE, OTHER)[k % 2] for k in range(6)}
    result = ngrams_of(systems(REFERENCES, **many))
    assert result
    assert [pair.pair for pair in result.pairs] == [(0, k) for k in range(1, 6)]
    few = ngrams_of(systems(REFERENCES, a=ONE, b=OTHER, c=ONE))
    assert few
    assert [pair.pair for pair in few.pairs] == [(0, 1), (0, 2), (1, 2)]


def test_nothing_is_told_of_one_system_or_without_texts() -> None:
    reports = systems(REFERENCES, a=ONE, b=OTHER)
    assert ngrams_of({"a": reports["a"]}) is None
    hub = Hub("exact_match")
    bare = hub.evaluate(predictions=ONE, references=REFERENCES, texts=False)
    assert ngrams_of({"a": reports["a"], "b": bare}) is None
    alone = {name: Hub("ttr").evaluate(predictions=ONE) for name in "ab"}
    assert ngrams_of(alone) is None
    empty = systems(["", ""], a=["", ""], b=["", ""])
    assert ngrams_of(empty) == ([((0, 1), ([], []), ([], []))], 1)


def test_candidates_and_references_of_a_sample_are_taken_together() -> None:
    hub = Hub("exact_match")
    references = [["x y", "red"]] * 3
    first = hub.evaluate(predictions=[["no", "red"]] * 3, references=references)
    other = hub.evaluate(predictions=[["no", "blue"]] * 3, references=references)
    result = ngrams_of({"a": first, "b": other})
    assert result
    assert [n.text for n in result.pairs[0].matching[0]] == ["red"]
    assert [n.text for n in result.pairs[0].unsupported[1]] == ["blue"]


def test_texts_shorter_than_an_ngram_differ_in_none() -> None:
    for words in range(6):
        text = " ".join(["a"] * words)
        result = ngrams_of(systems([text], a=[text], b=[""]))
        assert result
        # An n-gram of one sample is too few to tell.
        assert result.pairs == [PairNgrams((0, 1), ([], []), ([], []))]


def test_an_apostrophe_belongs_to_its_word() -> None:
    result = ngrams_of(
        systems(["we go"] * 6, a=["I’m going", "I'm going", "'quoted'"] * 2, b=["we go"] * 6)
    )
    assert result
    ((_, _, (mine, _)),) = result.pairs
    assert [ngram.text for ngram in mine] == ["i'm going", "quoted"]
