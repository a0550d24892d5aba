"""Tool call F1: the overlap of calls; how they are read is tested in test_tool_calls."""

import json
import math
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.vectors import vectors


def listed(*calls):
    return json.dumps([{"name": name, "args": arguments} for name, arguments in calls])


def scores(predicted, expected, **parameters):
    hub = Hub(load_metric("tool_call_f1", **parameters))
    return hub(predictions=[predicted], references=[expected])["tool_call_f1"]


def three(predicted, expected, **parameters):
    result = scores(listed(*predicted), listed(*expected), **parameters)
    return result["score"], result["precision"], result["recall"]


WEATHER, INDEX, AIR = (
    (name, {"location": "Paris"}) for name in ("weather_check", "uv_index_lookup", "air_quality")
)


def test_the_examples_of_the_ragas_documentation_hold():
    # docs/concepts/metrics/available_metrics/agents.md, "Tool Call F1". For the second it prints
    # 0.67; by its own formulas P = 2/3, R = 1 and F1 = 2·(2/3)/(5/3) = 4/5.
    for parameters in ({}, {"repeats": False, "both_empty": 0}):
        assert three([WEATHER, INDEX], [WEATHER, INDEX], **parameters) == (1, 1, 1)
        result = three([WEATHER, INDEX, AIR], [INDEX, WEATHER], **parameters)
        assert result == pytest.approx((4 / 5, 2 / 3, 1))


@pytest.mark.parametrize(
    ("predicted", "expected", "expected_values"),
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
def test_calls_are_shared_where_tool_and_arguments_are_equal(predicted, expected, expected_values):
    assert three(predicted, expected) == pytest.approx(expected_values)


def test_a_repeated_call_counts_as_often_as_both_have_it_unless_repeats_are_ignored():
    predicted, expected = [WEATHER] * 3 + [AIR], [WEATHER] * 2 + [INDEX]
    # Two of four made and of three expected; as sets one of two and of two.
    assert three(predicted, expected) == pytest.approx((4 / 7, 2 / 4, 2 / 3))
    assert three(predicted, expected, repeats=False) == (1 / 2, 1 / 2, 1 / 2)


@pytest.mark.parametrize(("parameters", "value"), [({}, 1), ({"both_empty": 0}, 0)])
def test_no_call_where_none_was_due_is_right_unless_it_counts_zero(parameters, value):
    assert three([], [], **parameters) == (value,) * 3


DEEPEVAL = {v.id[-3:]: v.values[0] for v in vectors("tool_correctness")}


@pytest.mark.parametrize(
    ("number", "parameters"),
    [
        # Arguments count, in any order, and in that of the reference.
        *[("020", {"partial": True}), ("023", {"partial": True})],
        *[("021", {"order": True, "partial": True}), ("023", {"order": True, "partial": True})],
        # Nothing has arguments.
        *[("024", {"partial": True}), ("025", {}), ("041", {"order": True, "partial": True})],
    ],
)
def test_recall_is_the_tool_correctness_of_deepeval(number, parameters):
    row = DEEPEVAL[number]
    scores = Hub(load_metric("tool_call_f1", **parameters))([row["inputs"]])["tool_call_f1"]
    assert scores["recall"] == pytest.approx(row["expected"]["score"])


def test_a_perfect_score_in_order_is_the_exact_match_of_deepeval():
    inputs = DEEPEVAL["022"]["inputs"]
    hub = Hub("tool_call_f1(order=True)")
    assert hub([inputs])["tool_call_f1"]["score"] == DEEPEVAL["022"]["expected"]["score"] == 1
    turned = inputs | {"tools_called": inputs["tools_called"][::-1]}
    assert hub([turned])["tool_call_f1"]["score"] < 1


def test_equal_calls_are_counted_where_deepeval_makes_them_one():
    row = DEEPEVAL["040"]
    # Two calls of two, of which deepeval finds one (its issue 3141).
    assert row["expected"]["score"] == 1 / 2
    for parameters in ({}, {"partial": True}, {"order": True}):
        scores = Hub(load_metric("tool_call_f1", **parameters))([row["inputs"]])["tool_call_f1"]
        assert (scores["score"], scores["recall"]) == (1, 1)
    scores = Hub("tool_call_f1(repeats=False, order=True)")([row["inputs"]])["tool_call_f1"]
    assert scores["precision"] == 1


@pytest.mark.parametrize(
    ("predicted", "expected", "shared"),
    [
        # Of x, y and z, x is equal.
        ({"x": 1, "y": 2}, {"x": 1, "z": 2}, 1 / 3),
        ({"x": {"a": 1, "b": 2}}, {"x": {"a": 1, "b": 3}}, 1 / 2),
        ({"x": {"a": {"b": 1}}, "y": 0}, {"x": {"a": {"b": 1}}}, 1 / 2),
        ({"x": [1, 2]}, {"x": [1, 3]}, 0),
        ({"x": {"a": 1}}, {"x": [["a", 1]]}, 0),
        ({"x": True}, {"x": 1}, 0),
        ({}, {"x": 1}, 0),
        ({}, {}, 1),
    ],
)
@pytest.mark.parametrize("order", [True, False])
def test_a_call_counts_by_its_right_arguments(predicted, expected, shared, order):
    values = three([("a", predicted)], [("a", expected)], partial=True, order=order)
    assert values == pytest.approx((shared,) * 3)
    assert three([("a", predicted)], [("b", expected)], partial=True, order=order) == (0, 0, 0)


def test_the_best_pairs_count_and_not_the_first():
    # In order, the second call made is worth 1, and the first 1/2; the pairs don't cross.
    half, right = ("a", {"x": 1, "y": 0}), ("a", {"x": 1, "y": 1})
    assert three([half, right], [right], partial=True, order=True) == pytest.approx((2 / 3, 0.5, 1))
    # Any order: both are worth 1; in order one of 1, or two of a half.
    assert three([half, right], [right, half], partial=True) == (1, 1, 1)
    assert three([half, right], [right, half], partial=True, order=True)[0] == 1 / 2
    # deepeval gives the only call to the first expected one, where it is worth 1/3 and not 1.
    only = ("a", {"x": 1, "y": 2, "z": 3})
    assert three([only], [("a", {"x": 1}), only], partial=True)[2] == 1 / 2


def test_calls_in_order_are_the_longest_common_subsequence():
    predicted, expected = [WEATHER, AIR, INDEX], [AIR, WEATHER, INDEX]
    assert three(predicted, expected, order=True) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert three(predicted, expected) == (1, 1, 1)
    assert three(predicted[::-1], predicted, order=True)[0] == pytest.approx(1 / 3)
    assert three([], [WEATHER], order=True) == three([WEATHER], [], order=True) == (0, 0, 0)
    assert three([], [], order=True, both_empty=0) == (0, 0, 0)
    assert three([WEATHER, AIR, AIR], [WEATHER, AIR], order=True, repeats=False) == (1, 1, 1)


def test_a_prediction_that_is_no_list_of_calls_scores_zero():
    for expected in (listed(WEATHER), "[]"):
        result = scores("It is sunny.", expected)
        assert result == {"score": 0, "precision": 0, "recall": 0, "parsed": 0}


def test_a_reference_that_is_no_list_of_calls_is_undefined_with_the_reason():
    report = Hub("tool_call_f1").evaluate(predictions=["[]"], references=[""])
    assert report.explain("tool_call_f1", 0)[:2] == (
        "unscored",
        "the reference isn't a list of tool calls: it isn't JSON (empty)",
    )
    assert math.isnan(report.scores()["tool_call_f1"]["score"])
    assert report.counts()["tool_call_f1"]["unscored"] == 1


values = st.none() | st.booleans() | st.sampled_from(["", "x"]) | st.lists(st.booleans())
calls = st.lists(
    st.tuples(st.sampled_from("ab"), st.dictionaries(st.sampled_from("pq"), values)), max_size=5
)


@given(calls, calls)
def test_f1_is_that_of_multisets_of_texts(predicted, expected):
    # Without numbers, calls are equal where their sorted JSON is.
    a, b = (
        Counter(json.dumps(call, sort_keys=True) for call in side) for side in (predicted, expected)
    )
    shared = sum((a & b).values())
    expectation = 2 * shared / (len(predicted) + len(expected)) if predicted or expected else 1
    assert three(predicted, expected)[0] == pytest.approx(expectation)


@given(calls, st.booleans())
def test_calls_that_equal_their_reference_score_one_in_any_order(calls, repeats):
    assert three(calls[::-1], calls, repeats=repeats) == (1, 1, 1)


@given(calls, calls)
def test_in_order_no_other_pairs_are_worth_more(predicted, expected):
    def share(a, b):
        if a[0] != b[0]:
            return 0
        keys = {**a[1], **b[1]}
        equal = [k in a[1] and k in b[1] and repr(a[1][k]) == repr(b[1][k]) for k in keys]
        return sum(equal) / len(keys) if keys else 1

    best = max(
        sum(map(share, pairing, due))
        for size in range(min(len(predicted), len(expected)) + 1)
        for pairing in combinations(predicted, size)
        for due in combinations(expected, size)
    )
    recall = best / len(expected) if expected else float(not predicted)
    assert three(predicted, expected, order=True, partial=True)[2] == pytest.approx(recall)
