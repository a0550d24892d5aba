"""Format checks: counts and forms of a reply, and what isn't a check."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards.format_checks.checks import COUNTS, FLAGS, check_of
from metrichub import Hub, load_metric
from metrichub.errors import InputError, MissingDependency, ParameterError


def scores(predictions: Any, column: Any = None, **options: Any) -> dict[str, Any]:
    hub = Hub(load_metric("format_checks", **options))
    columns = {} if column is None else {"checks": column}
    return hub(predictions=predictions, **columns)["format_checks"]


@pytest.mark.parametrize(
    ("count", "text", "number"),
    [
        ("characters", "a é", 3),
        ("words", "don't, 1,000 a_b", 5),
        ("words", "…", 0),
        ("sentences", "It rains. We met at 3.15! Really?", 3),
        ("sentences", "", 0),
        ("lines", "a\n \n\nb\r\nc", 3),
        ("paragraphs", "\n\na\nb\n \nc\n\n\n", 2),
        ("paragraphs", " ", 0),
        ("bullets", "- a\n  * b\n+ c\n• d\n-e\n---\n**f**", 4),
        ("numbered", "1. a\n 2) b\n3.c\nx 4. d", 2),
        ("headings", "# a\n###### b\n####### c\n#d\nx # e", 2),
        ("code_blocks", "```py\nx\n```\n~~~\ny\n~~~\n```", 3),
    ],
)
def test_counts(count: str, text: str, number: int) -> None:
    assert COUNTS[count](text) == number


@pytest.mark.parametrize(
    ("check", "passing", "failing"),
    [
        ("words<=2", ["", "a b"], ["a b c"]),
        (" words >= 2 ", ["a b"], ["a"]),
        ("words == 1", ["a"], ["", "a b"]),
        ("words != 1", ["", "a b"], ["a"]),
        ("words < 1", [""], ["a"]),
        ("words > 1", ["a b"], ["a"]),
        ("json", ["[1]", ' {"a": null}'], ["NaN", "```json\n1\n```", "", "a"]),
        ("lowercase", ["a 1", "straße"], ["", "1", "Ab"]),
        ("uppercase", ["A 1"], ["", "1", "Ab"]),
        ("contains: New York", ["in new york."], ["New  York", "York"]),
        ("lacks: sure", ["", "no"], ["Sure!", "measure"]),
        ("starts: Dear", [" dear", "Dearest"], ["Oh dear"]),
        ("ends: the end.", ["The End. \n"], ["the end"]),
        ("contains: a: b", ["a: b"], ["a b"]),
    ],
)
def test_checks(check: str, passing: list[str], failing: list[str]) -> None:
    passes = check_of(check)
    assert [text for text in passing if not passes(text)] == []
    assert [text for text in failing if passes(text)] == []


def test_the_language_is_what_langdetect_finds() -> None:
    text = "Das ist ein ganz normaler deutscher Satz."
    for check, passes in (("language: de", 1), ("language: DE", 1), ("language: en", 0)):
        assert scores([text], checks=[check])["score"] == passes
    assert scores(["123"], checks=["language: de"])["score"] == 0
    with pytest.raises(InputError, match="langdetect doesn't know 'german'; it knows af, ar"):
        scores([text], checks=["language: German"])


def test_a_guess_at_the_language_is_the_same_each_time() -> None:
    # langdetect alone says "id" for three in four of them, and "sv" for the others.
    assert scores(["I am 5"] * 40, checks=["language: id"])["passed"] in (0, 1)


def test_without_langdetect_the_error_says_what_to_install(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "langdetect", None)
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub\[language\]'"):
        scores(["a"], checks=["language: de"])


def test_a_reply_passes_if_it_passes_all_and_checks_are_pooled() -> None:
    result = scores(["a", "a b", "a b c"], [["words == 1"], ["words == 1"], ["words > 1", "json"]])
    assert result == {"score": 1 / 3, "passed": 2 / 4}


def test_all_samples_may_share_their_checks() -> None:
    checks = ["words > 1", "contains: b", "json"]
    report = Hub(load_metric("format_checks", checks=checks)).evaluate(
        predictions=["a b", "b", "a c", "1"] * 2
    )
    # Of each four replies 2, 2 and 1 pass the checks.
    assert report["format_checks"] == {"score": 0, "passed": 5 / 12}
    assert report.intervals()["format_checks"]["score"].method == "Wilson"


def test_a_sample_without_checks_is_unscored() -> None:
    report = Hub("format_checks").evaluate(predictions=["a", "a"], checks=[[], ["json"]])
    assert report["format_checks"] == {"score": 0.0, "passed": 0.0}
    assert report.counts()["format_checks"] == {"unscored": 1}
    assert report.explain("format_checks", 0).reason == "the sample has no checks"


@pytest.mark.parametrize(
    "check",
    ["word <= 3", "words", "words <= -1", "words <= 3.5", "JSON", "contains:", "contains", ""],
)
def test_what_isnt_a_check_is_refused(check: str) -> None:
    with pytest.raises(ParameterError, match=r"a count \(characters, words"):
        load_metric("format_checks", checks=["json", check])
    with pytest.raises(
        InputError, match=r"the column 'checks' holds .*, which isn't a valid check"
    ):
        scores(["a"], [["json", check]])


def test_a_check_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="the column 'checks' holds None, which isn't"):
        scores(["a"], [[None]])


@given(st.text("a \n-#*1.`", max_size=30), st.integers(0, 5), st.sampled_from(sorted(COUNTS)))
def test_relations_are_those_of_numbers(text: str, limit: int, count: str) -> None:
    checks = [check_of(f"{count} {relation} {limit}")(text) for relation in ("<", "==", ">")]
    assert sum(checks) == 1
    assert checks[0] + checks[1] == check_of(f"{count} <= {limit}")(text)
    assert checks[1] + checks[2] == check_of(f"{count} >= {limit}")(text)


@pytest.mark.parametrize("text", ["{" * 100_000, "7" * 1_000_000, " " * 300_000, "\n" * 300_000])
def test_hostile_replies_are_read_in_linear_time(text: str) -> None:
    checks = [*(f"{count} >= 0" for count in COUNTS), *FLAGS]
    assert scores([text], checks=checks)["passed"] >= len(COUNTS) / len(checks)
