"""Tool call F1: the overlap of calls; how they are read is tested in test_tool_calls."""

import json
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import ParameterError


def listed(*calls):
    return json.dumps([{"name": name, "args": arguments} for name, arguments in calls])


def scores(made, expected, **parameters):
    hub = Hub(load_metric("tool_call_f1", **parameters))
    return hub(predictions=[made], references=[expected])["tool_call_f1"]


def three(made, expected, **parameters):
    found = scores(listed(*made), listed(*expected), **parameters)
    return found["score"], found["precision"], found["recall"]


WEATHER, INDEX, AIR = (
    (name, {"location": "Paris"}) for name in ("weather_check", "uv_index_lookup", "air_quality")
)


def test_the_examples_of_the_ragas_documentation_hold():
    # docs/concepts/metrics/available_metrics/agents.md, "Tool Call F1". For the second it prints
    # 0.67; by its own formulas P = 2/3, R = 1 and F1 = 2·(2/3)/(5/3) = 4/5.
    for parameters in ({}, {"repeats": False, "both_empty": 0}):
        assert three([WEATHER, INDEX], [WEATHER, INDEX], **parameters) == (1, 1, 1)
        found = three([WEATHER, INDEX, AIR], [INDEX, WEATHER], **parameters)
        assert found == pytest.approx((4 / 5, 2 / 3, 1))


@pytest.mark.parametrize(
    ("made", "expected", "found"),
    [
        ([WEATHER], [WEATHER, INDEX], (2 / 3, 1, 1 / 2)),
        ([AIR], [WEATHER], (0, 0, 0)),
        ([], [WEATHER], (0, 0, 0)),
        ([WEATHER], [], (0, 0, 0)),
        # One wrong argument makes another call, and so does one more or one less.
        ([("a", {"x": 1, "y": 2})], [("a", {"x": 1, "y": 3})], (0, 0, 0)),
        ([("a", {"x": 1})], [("a", {"x": 1, "y": 3})], (0, 0, 0)),
        ([("a", {"x": [1, {"y": None}]})], [("a", {"x": [1.0, {"y": None}]})], (1, 1, 1)),
    ],
)
def test_calls_are_shared_where_tool_and_arguments_are_equal(made, expected, found):
    assert three(made, expected) == pytest.approx(found)


def test_a_repeated_call_counts_as_often_as_both_have_it_unless_repeats_are_ignored():
    made, expected = [WEATHER] * 3 + [AIR], [WEATHER] * 2 + [INDEX]
    # Two of four made and of three expected; as sets one of two and of two.
    assert three(made, expected) == pytest.approx((4 / 7, 2 / 4, 2 / 3))
    assert three(made, expected, repeats=False) == (1 / 2, 1 / 2, 1 / 2)


@pytest.mark.parametrize(("parameters", "value"), [({}, 1), ({"both_empty": 0}, 0)])
def test_no_call_where_none_was_due_is_right_unless_it_counts_zero(parameters, value):
    assert three([], [], **parameters) == (value,) * 3


def test_a_prediction_that_is_no_list_of_calls_scores_zero():
    for expected in (listed(WEATHER), "[]"):
        found = scores("It is sunny.", expected)
        assert found == {"score": 0, "precision": 0, "recall": 0, "parsed": 0}


def test_a_reference_that_is_no_list_of_calls_is_undefined_with_the_reason():
    report = Hub("tool_call_f1").evaluate(predictions=["[]"], references=[""])
    assert report.explain("tool_call_f1", 0)[:2] == (
        "undefined",
        "the reference isn't a list of tool calls: it isn't JSON (empty)",
    )
    assert math.isnan(report.scores()["tool_call_f1"]["score"])
    assert report.scores()["tool_call_f1"]["unscored"] == 1


def test_a_corpus_is_the_mean_of_its_samples():
    found = Hub("tool_call_f1")(
        predictions=[listed(WEATHER), listed(WEATHER, AIR, INDEX), "[]"],
        references=[listed(AIR), listed(WEATHER, AIR, INDEX), "[]"],
    )
    # 0, 1 and 1; pooled, 3 of 4 calls are shared.
    assert found["tool_call_f1"]["score"] == pytest.approx(2 / 3)
    assert found["tool_call_f1"]["parsed"] == 1


values = st.none() | st.booleans() | st.sampled_from(["", "x"]) | st.lists(st.booleans())
calls = st.lists(
    st.tuples(st.sampled_from("ab"), st.dictionaries(st.sampled_from("pq"), values)), max_size=5
)


@given(calls, calls)
def test_f1_is_that_of_multisets_of_texts(made, expected):
    # Without numbers, calls are equal where their sorted JSON is.
    a, b = (Counter(json.dumps(call, sort_keys=True) for call in side) for side in (made, expected))
    shared = sum((a & b).values())
    expectation = 2 * shared / (len(made) + len(expected)) if made or expected else 1
    assert three(made, expected)[0] == pytest.approx(expectation)


@given(calls, st.booleans())
def test_calls_that_equal_their_reference_score_one_in_any_order(made, repeats):
    assert three(made[::-1], made, repeats=repeats) == (1, 1, 1)


@pytest.mark.parametrize(
    ("parameters", "allowed"),
    [({"repeats": 1}, "True or False"), ({"both_empty": 2}, "0 or 1")],
)
def test_a_value_out_of_its_domain_is_refused(parameters, allowed):
    with pytest.raises(ParameterError, match=allowed):
        load_metric("tool_call_f1", **parameters)
