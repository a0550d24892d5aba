"""Tool call accuracy: right arguments where the tools are right; reading is in test_tool_calls."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.vectors import vectors


def listed(*calls):
    return json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])


def scores(predicted, expected, **parameters):
    hub = Hub(load_metric("tool_call_accuracy", **parameters))
    return hub(predictions=[predicted], references=[expected])["tool_call_accuracy"]


def score(predicted, expected, **parameters):
    return scores(listed(*predicted), listed(*expected), **parameters)["score"]


YORK = ("weather_check", {"location": "New York"})
CELSIUS = ("temperature_conversion", {"temperature_fahrenheit": 75})
PARIS, LONDON = (("weather_check", {"location": city}) for city in ("Paris", "London"))
HELLO = ("translate", {"text": "hello"})
BY_DATE = ("search", {"query": "python", "limit": 10, "sort": "date"})
BY_RELEVANCE = ("search", {"query": "python", "limit": 10, "sort": "relevance"})


@pytest.mark.parametrize(
    ("predicted", "expected", "parameters", "value"),
    [
        ([YORK, CELSIUS], [YORK, CELSIUS], {}, 1.0),
        ([LONDON, PARIS], [PARIS, LONDON], {"order": "any"}, 1.0),
        ([PARIS, HELLO], [PARIS, HELLO], {}, 1.0),
        # Printed as 0.66, "2 out of 3 arguments match".
        ([BY_RELEVANCE], [BY_DATE], {}, 2 / 3),
        ([("filter", {}), BY_DATE], [BY_DATE, ("filter", {})], {}, 0.0),
    ],
)
def test_the_examples_of_the_ragas_documentation_hold(predicted, expected, parameters, value):
    # docs/concepts/metrics/available_metrics/agents.md, "Tool call Accuracy".
    assert score(predicted, expected, **parameters) == pytest.approx(value)


@pytest.mark.parametrize("order", ["strict", "any"])
@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ([], [YORK]),
        ([YORK], []),
        ([YORK, YORK], [YORK]),
        ([YORK], [YORK, YORK]),
        ([YORK, CELSIUS, YORK], [YORK, CELSIUS, CELSIUS]),
        ([("Weather_check", {"location": "New York"})], [YORK]),
    ],
)
def test_other_tools_or_another_number_of_calls_score_zero(predicted, expected, order):
    result = scores(listed(*predicted), listed(*expected), order=order)
    assert result == {"score": 0, "aligned": 0, "parsed": 1}


def test_no_call_where_none_was_due_is_right():
    assert scores("[]", "null") == {"score": 1, "aligned": 1, "parsed": 1}


def test_the_calls_of_a_sample_weigh_the_same():
    # 2 of 3 arguments, and 1 of 1: (2/3 + 1)/2, where pooled arguments would give 3/4.
    assert score([BY_RELEVANCE, YORK], [BY_DATE, YORK]) == pytest.approx(5 / 6)


def test_a_missing_argument_is_a_wrong_one_even_if_null_is_expected():
    assert score([("a", {"x": 1})], [("a", {"x": 1, "y": None})]) == 0.5


@pytest.mark.parametrize(
    ("argument", "due", "ignored", "wrong"),
    [
        ({"x": 1, "y": 2}, {"x": 1}, 1.0, 1 / 2),
        ({"y": 2}, {"x": 1}, 0.0, 0.0),
        ({"y": 2}, {}, 1.0, 0.0),
        ({}, {}, 1.0, 1.0),
        # x is right, y missing, z surplus: 1 of 2, or 1 of 3.
        ({"x": 1, "z": 3}, {"x": 1, "y": 2}, 1 / 2, 1 / 3),
    ],
)
def test_extra_arguments_are_ignored_unless_they_count_as_wrong(argument, due, ignored, wrong):
    predicted, expected = [("a", argument)], [("a", due)]
    assert score(predicted, expected) == ignored
    assert score(predicted, expected, extra_arguments="wrong") == pytest.approx(wrong)


def test_calls_of_one_tool_are_paired_so_that_the_score_is_highest():
    expected = [("a", {"x": 1, "y": 9}), ("a", {"x": 2, "y": 8})]
    # In the reference's order the calls share nothing, nor do they after sorting by text (x=0,
    # y=8 before x=1, y=9); crosswise they share y=8, 1 of 2, and both: (1/2 + 1)/2.
    calls = [("a", {"x": 0, "y": 8}), ("a", {"x": 1, "y": 9})]
    assert score(calls, expected) == 0
    assert score(calls, expected, order="any") == 0.75


def test_an_equal_call_is_not_always_the_best_partner():
    full = ("a", {"p": 1, "q": 2, "r": 3, "s": 4})
    # Equal calls together give 1 + 0; crosswise p is all that is asked for, and 3 of 4: 1 + 3/4.
    calls = [full, ("a", {"q": 2, "r": 3, "s": 4})]
    assert score(calls, [full, ("a", {"p": 1})], order="any") == pytest.approx(1.75 / 2)


def test_similar_strings_count_by_their_edit_distance():
    calls = [("a", {"s": "kitten", "t": "x", "u": ["kitten"], "n": 5})]
    expected = [("a", {"s": "sitting", "t": "x", "u": ["sitting"], "n": 55})]
    # kitten to sitting is 3 edits of 7 characters; equal strings count 1, lists and numbers 0.
    assert score(calls, expected, strings="similar") == pytest.approx((4 / 7 + 1) / 4)
    assert score(calls, expected) == 1 / 4


def test_a_prediction_that_is_no_list_of_calls_scores_zero():
    for reply in ("", "It is sunny.", '[{"name": "weather_check"', "{}"):
        for expected in (listed(YORK), "[]"):
            assert scores(reply, expected) == {"score": 0, "aligned": 0, "parsed": 0}


def test_a_reference_that_is_no_list_of_calls_is_undefined_with_the_reason():
    hub = Hub("tool_call_accuracy")
    report = hub.evaluate(predictions=[listed(YORK)] * 2, references=["{}", listed(YORK)])
    assert report.scores()["tool_call_accuracy"] == {"score": 1, "aligned": 1, "parsed": 1}
    assert report.counts()["tool_call_accuracy"] == {"unscored": 1}
    status, reason, result, _ = report.explain("tool_call_accuracy", 0)
    assert status == "unscored"
    assert reason == "the reference isn't a list of tool calls: it is JSON, but not a list"
    assert math.isnan(result["score"])


def test_the_best_of_several_references_counts():
    hub = Hub("tool_call_accuracy")
    scores = hub(predictions=[listed(YORK)], references=[[listed(PARIS), "?", listed(YORK)]])
    assert scores["tool_call_accuracy"]["score"] == 1


ORDERS = ("strict", "any")
values = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "x", "xy"])
arguments = st.dictionaries(st.sampled_from("pqr"), values | st.lists(values, max_size=2))
calls = st.lists(st.tuples(st.sampled_from("ab"), arguments), max_size=4)
settings = st.fixed_dictionaries(
    {
        "order": st.sampled_from(ORDERS),
        "extra_arguments": st.sampled_from(["ignored", "wrong"]),
        "strings": st.sampled_from(["exact", "similar"]),
    }
)


@given(calls, settings)
def test_calls_that_equal_their_reference_score_one(calls, parameters):
    result = scores(listed(*calls), listed(*calls), **parameters)
    assert result == pytest.approx({"score": 1, "aligned": 1, "parsed": 1})


@given(calls, calls, settings)
def test_a_score_is_a_fraction_and_any_order_never_costs(result, expected, parameters):
    scores = {order: score(result, expected, **{**parameters, "order": order}) for order in ORDERS}
    assert 0 <= scores["strict"] <= scores["any"] + 1e-12
    assert scores["any"] <= 1 + 1e-12


@given(calls.flatmap(lambda called: st.tuples(st.just(called), st.permutations(called))), calls)
def test_in_any_order_the_order_of_the_calls_is_irrelevant(pair, expected):
    first, other = (score(called, expected, order="any") for called in pair)
    assert first == pytest.approx(other)


@pytest.mark.parametrize("row", vectors("tool_call_accuracy"))
def test_ragas_gives_the_same_but_where_it_compares_arguments_as_text(row):
    predicted, expected = row["inputs"]["called"], row["inputs"]["expected"]
    order = "strict" if row["params"]["strict_order"] else "any"
    # To ragas, which compares their texts, 1 is "1".
    as_text = row["id"] == "tool_call_accuracy-059"
    assert score(predicted, expected, order=order) == (0 if as_text else row["expected"]["score"])
