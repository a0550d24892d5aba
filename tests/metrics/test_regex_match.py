"""Regex match equals Python's re, with one pattern or one a sample."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import InputError, MissingColumn, ParameterError
from tests.oracles.text_twins import any_text


def score(texts, patterns=None, **parameters):
    hub = Hub(load_metric("regex_match", **parameters))
    columns = {"predictions": texts} if patterns is None else {
        "predictions": texts, "patterns": patterns
    }  # fmt: skip
    return hub(**columns)["regex_match"]["score"]


@given(
    st.lists(any_text, min_size=1, max_size=5),
    st.sampled_from([r"\w+", ".*", "a|b", r"\s", "[^a]+$", "(?s).{3,}", "é"]),
    st.sampled_from(["fullmatch", "search"]),
    st.sets(st.sampled_from(["ignorecase", "multiline", "dotall", "verbose", "ascii"])),
)
def test_equals_pythons_re(texts, pattern, mode, flags):
    expression = re.compile(pattern, sum(getattr(re, flag.upper()) for flag in flags))
    expected = [getattr(expression, mode)(text) is not None for text in texts]
    result = score(texts, pattern=pattern, mode=mode, flags=sorted(flags))
    assert result == pytest.approx(sum(expected) / len(texts))


def test_the_whole_prediction_has_to_match_by_default():
    assert score(["ab", "ab\n", "xab"], pattern="ab") == pytest.approx(1 / 3)
    assert score(["ab", "ab\n", "xab"], pattern="ab", mode="search") == 1


def test_each_sample_can_have_its_own_pattern():
    assert score(["a", "b"], ["a", "a"]) == 0.5
    # Several patterns are alternatives: "b" is matched by the second of them.
    assert score(["b"], [["a", "b"]]) == 1


def test_no_patterns_are_needed_where_the_parameter_gives_one():
    assert score(["a"], pattern="a") == 1
    with pytest.raises(MissingColumn, match="patterns"):
        score(["a"])


def test_an_empty_pattern_is_a_pattern():
    assert score(["", "a"], pattern="") == 0.5


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "*", "(?P<a>.)(?P<a>.)"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(ParameterError, match="regular expression of Python's re \\("):
        load_metric("regex_match", pattern=pattern)
    with pytest.raises(InputError, match=r"'patterns' holds .*, which isn't a valid regular"):
        score(["a"], [pattern])


def test_a_pattern_that_is_no_text_is_refused():
    with pytest.raises(InputError, match="the column 'patterns' holds 3"):
        score(["a"], [3])
