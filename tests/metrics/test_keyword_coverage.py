"""Keyword coverage: which keywords a reply mentions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import InputError, ParameterError


def scores(predictions: Any, column: Any = None, **options: Any) -> dict[str, Any]:
    hub = Hub(load_metric("keyword_coverage", **options))
    columns = {} if column is None else {"keywords": column}
    return hub(predictions=predictions, **columns)["keyword_coverage"]


@pytest.mark.parametrize(
    ("text", "keyword", "mentions"),
    [
        ("A cat.", "cat", 1),
        ("CAT", "cat", 1),
        ("concatenate", "cat", 0),
        ("cats", "cat", 0),
        ("cat_1", "cat", 0),
        ("(cat)", "cat", 1),
        ("New\n  York", " New York ", 1),
        ("New Yorker", "New York", 0),
        # A mark at the edge of a keyword ends it.
        ("C++11", "C++", 1),
        ("C++", "C", 1),
        ("a.b", "a*b", 0),
        ("Straße", "STRASSE", 1),
        ("cafe\u0301", "café", 1),
        ("café", "caf", 0),
        # No letter ends a word of these scripts; a Latin one beside them is another word.
        ("我在北京工作", "北京", 1),
        ("ฉันรักแมว", "แมว", 1),
        ("使用Python写", "python", 1),
        ("東京タワー", "タワー", 1),
        ("서울에서", "서울", 0),
    ],
)
def test_a_keyword_is_mentioned_as_a_whole_word(text: str, keyword: str, mentions: int) -> None:
    assert scores([text], [[keyword]]) == {"score": mentions, "all": mentions}


def test_parameters_allow_parts_of_words_and_demand_case() -> None:
    assert scores(["Concatenate"], [["cat"]], whole_words=False)["score"] == 1
    assert scores(["Cat"], [["cat"]], ignore_case=False)["score"] == 0
    assert scores(["Cat"], [["Cat"]], ignore_case=False)["score"] == 1


def test_keywords_are_pooled_and_each_counts_once() -> None:
    # 2 of 3 and 0 of 1; "A" and "a" are one keyword.
    result = scores(["a b", "x"], [["a", "A", "b", "c"], ["d"]])
    assert result == {"score": 2 / 4, "all": 0}
    report = Hub("keyword_coverage").evaluate(predictions=["a", "a"], keywords=[["a"], ["a", "b"]])
    assert report["keyword_coverage"]["all"] == 0.5
    assert report.samples()["keyword_coverage"]["score"].tolist() == [1, 0.5]


def test_all_samples_may_share_their_keywords() -> None:
    assert scores(["a", "b"], keywords=["a", "b"])["score"] == 0.5
    assert Hub("keyword_coverage(keywords=['a', 'b'])")(predictions=["a"]) == {
        "keyword_coverage": {"score": 0.5, "all": 0.0}
    }


def test_a_sample_without_keywords_is_unscored() -> None:
    report = Hub("keyword_coverage").evaluate(predictions=["a", "a"], keywords=[[], ["a"]])
    assert report.scores()["keyword_coverage"] == {"score": 1.0, "all": 1.0}
    assert report.counts()["keyword_coverage"] == {"unscored": 1}
    assert report.explain("keyword_coverage", 0).reason == "the sample has no keywords"


@pytest.mark.parametrize("keyword", [" ", None, 3])
def test_what_isnt_a_keyword_is_refused(keyword: object) -> None:
    with pytest.raises(InputError, match="a keyword is a text that isn't empty"):
        scores(["a"], [["a", keyword]])
    with pytest.raises(ParameterError, match="keywords"):
        load_metric("keyword_coverage", keywords=["a", keyword])


@given(st.text("ab _1"), st.lists(st.text("ab1", min_size=1, max_size=3), min_size=1, max_size=4))
def test_coverage_is_that_of_the_words_of_the_text(text: str, keywords: list[str]) -> None:
    words, needed = set(re.findall(r"\w+", text)), set(keywords)
    assert scores([text], [keywords])["score"] == pytest.approx(len(words & needed) / len(needed))


def test_hostile_replies_are_searched_in_linear_time() -> None:
    hostile = ["{" * 100_000, "7" * 1_000_000, "aa " * 300_000, "a" * 1_000_000]
    assert scores(hostile, keywords=["aa b", "{}", "a" * 50])["score"] == 0
