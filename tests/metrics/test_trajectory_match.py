"""Trajectory match: agentevals' verdicts, and ours where its greedy pairing is wrong."""

import json
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metric_cards._bases.pairing import best_pairing
from metric_cards.trajectory_match.matching import compare, fits
from metrichub import Hub, load_metric
from metrichub.errors import ParameterError
from tests.vectors import vectors


def conversation(*steps):
    """A conversation whose assistant makes the calls of each step in one message."""
    messages = [{"role": "user", "content": "q"}]
    for step in steps:
        calls = [{"name": name, "args": arguments} for name, arguments in step]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        messages += [{"role": "tool", "content": "r"}] * len(step)
    return [*messages, {"role": "assistant", "content": "final"}]


def report(predicted, expected, **parameters):
    hub = Hub(load_metric("trajectory_match", **parameters))
    return hub.evaluate(messages=[predicted], reference_messages=[expected])


def scores(predicted, expected, **parameters):
    return report(predicted, expected, **parameters).scores()["trajectory_match"]


def rates(*arguments, **parameters):
    result = scores(*arguments, **parameters)
    return result["precision"], result["recall"], result["f1"]


def problem(*arguments, **parameters):
    (step,) = report(*arguments, **parameters).explain("trajectory_match", 0).steps
    return step["problem"]


def of(*calls):
    return conversation(calls)


@pytest.mark.parametrize("row", vectors("trajectory_match"))
def test_the_scores_are_those_of_agentevals(row):
    inputs, parameters = row["inputs"], row["params"]
    result = scores(
        inputs["outputs"],
        inputs["reference_outputs"],
        mode=parameters["mode"],
        arguments=parameters["args"],
    )
    assert result["score"] == row["expected"]["score"]


Q, QN = ("search", {"q": "x"}), ("search", {"q": "x", "n": 3})


@pytest.mark.parametrize(
    ("mode", "arguments", "predicted", "expected"),
    [
        # agentevals 0.0.9 takes the call with n for the expected one without, and then has none
        # for the one with n: False for this order, True for the other.
        ("superset", "superset", [QN, Q], [Q, QN]),
        ("strict", "superset", [QN, Q], [QN, Q]),
        ("strict", "subset", [Q, QN], [QN, Q]),
        ("subset", "superset", [Q, QN], [QN, Q]),
    ],
)
def test_no_call_takes_the_partner_of_another(mode, arguments, predicted, expected):
    for calls in permutations(predicted):
        for due in permutations(expected):
            result = scores(of(*calls), of(*due), mode=mode, arguments=arguments)
            assert result == {"score": 1, "precision": 1, "recall": 1, "f1": 1}


CALLS = st.lists(
    st.tuples(
        st.sampled_from("st"),
        st.one_of(
            st.dictionaries(st.sampled_from("pq"), st.sampled_from([1, 1.0, True, None, [1]])),
            st.sampled_from(["raw", 7]),
        ),
    ),
    max_size=7,
)


@settings(max_examples=300)
@given(CALLS, CALLS, st.sampled_from(["exact", "ignore", "subset", "superset"]), st.randoms())
def test_pairs_of_equal_calls_cost_no_other_pair(predicted, expected, rule, source):
    expected = [*expected, *source.sample(predicted, len(predicted) // 2)]
    sides = [
        [{"role": "assistant", "calls": [{"name": n, "arguments": a} for n, a in calls]}]
        for calls in (predicted, expected)
    ]
    done = compare(*sides, "superset", rule, {})
    right = np.array([[fits(call, due, rule) for due in done.expected] for call in done.calls])
    assert all(right[pair] for pair in done.pairs.items())
    best = best_pairing(right.astype(float)) if right.size else 0
    assert len(done.pairs) == len({*done.pairs.values()}) == best


def book(date, name, **more):
    return ("book", {"date": date, "guest": {"name": name, "age": 40}, **more})


@pytest.mark.parametrize(
    ("result", "expected", "matches"),
    [
        # The first three are what agentevals gives for {"book": ["date", "guest.name"]}.
        (book(1, "Ann", seat=4), book(1, "Ann"), True),
        (book(1, "Bob"), book(1, "Ann"), False),
        (("book", {}), ("book", {"date": None}), True),
        (("book", {"date": 1, "guest": "Ann"}), book(1, "Ann"), False),
        (("book", {"date": 1, "guest": "Ann"}), ("book", {"date": 1}), True),
        (("book", "date: 1"), ("book", "date: 1"), True),
        (("book", "date: 1"), ("book", {}), False),
        # Other tools keep the rule of all.
        (("cancel", {"date": 1, "x": 2}), ("cancel", {"date": 1}), False),
    ],
)
def test_an_override_names_the_arguments_that_count(result, expected, matches):
    actual = scores(of(result), of(expected), overrides=["search=ignore", "book=date, guest.name"])
    assert actual["score"] == matches


def test_an_override_names_another_rule():
    predicted, expected = of(("search", {"q": "tea"}), Q), of(("search", {"q": "coffee"}), Q)
    assert scores(predicted, expected)["score"] == 0
    assert scores(predicted, expected, overrides=["search=ignore"])["score"] == 1
    assert scores(of(QN), of(Q), overrides=["search=superset"])["score"] == 1
    assert scores(of(Q), of(QN), overrides=["search=superset"])["score"] == 0
    assert scores(of(Q), of(QN), overrides=["search=subset"])["score"] == 1
    assert scores(of(QN), of(Q), arguments="ignore", overrides=["search=exact"])["score"] == 0
    # An argument of that name, which only a comma tells from the rule.
    first, other = of(("search", {"ignore": 1, "q": 1})), of(("search", {"ignore": 1, "q": 2}))
    assert scores(first, other, overrides=["search=ignore,"])["score"] == 1
    assert scores(first, of(("search", {"ignore": 2})), overrides=["search=ignore,"])["score"] == 0


@pytest.mark.parametrize("override", ["search", "search=", "=ignore", "search=,"])
def test_an_override_without_tool_or_rule_is_refused(override):
    with pytest.raises(ParameterError, match="as in 'search=ignore'"):
        load_metric("trajectory_match", overrides=[override])


A, B, C = (("a", {}), ("b", {}), ("c", {}))


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
def test_the_rates_are_of_matched_calls(mode):
    # Two of three calls made, and of four expected: F1 = 2·2/(3 + 4).
    predicted, expected = of(A, B, C), of(A, A, B, B)
    assert rates(predicted, expected, mode=mode) == pytest.approx((2 / 3, 2 / 4, 4 / 7))
    none = conversation()
    assert rates(none, none, mode=mode) == (1, 1, 1)
    for first, other in ((none, predicted), (predicted, none)):
        assert rates(first, other, mode=mode) == (0, 0, 0)


@pytest.mark.parametrize(
    ("mode", "nothing_made", "nothing_expected"),
    # As in agentevals: nothing that is expected is missing, or nothing that is made is unexpected.
    [("strict", 0, 0), ("unordered", 0, 0), ("subset", 1, 0), ("superset", 0, 1)],
)
def test_calls_on_one_side_alone_match_where_the_mode_lets_them(
    mode, nothing_made, nothing_expected
):
    assert scores(conversation(), of(A), mode=mode)["score"] == nothing_made
    assert scores(of(A), conversation(), mode=mode)["score"] == nothing_expected


def test_strict_pairs_the_calls_of_each_message_with_those_of_its_own():
    predicted, expected = conversation([A], [B, C]), conversation([A], [C, B])
    assert scores(predicted, expected)["score"] == 1
    # Only b is in another message than it should be.
    assert rates(conversation([A, B], [C]), expected) == pytest.approx((2 / 3, 2 / 3, 2 / 3))


@pytest.mark.parametrize(
    ("mode", "predicted", "expected", "words"),
    [
        ("unordered", of(A, ("b", {"x": 1})), of(A), 'call 2, b({"x": 1}), isn\'t expected'),
        (
            "unordered",
            of(A, ("b", {"x": 1})),
            of(("b", {"x": 2}), A),
            'call 2, b({"x": 1}), doesn\'t match b({"x": 2})',
        ),
        ("unordered", of(A), of(A, B), "the expected b() isn't called"),
        ("superset", of(A, C), of(A, B), "the expected b() isn't called"),
        (
            "superset",
            of(("b", {"x": 1})),
            of(("b", {"x": 2})),
            'the expected b({"x": 2}) isn\'t called, but b({"x": 1})',
        ),
        ("subset", of(A, C), of(A, B), "call 2, c(), isn't expected"),
        ("strict", of(A)[1:], of(A), "message 0 has the role assistant, not user"),
        ("strict", of(A)[:-1], of(A), "there are 3 messages, and 4 in the reference"),
        (
            "strict",
            conversation(),
            of(A),
            "message 1 calls no tool, unlike that of the reference",
        ),
        ("strict", of(A, B), conversation([A, C]), "call 2, b(), isn't expected"),
        ("strict", of(A), of(A), ""),
    ],
)
def test_the_first_thing_that_does_not_match_is_said(mode, predicted, expected, words):
    assert problem(predicted, expected, mode=mode) == words
    assert scores(predicted, expected, mode=mode)["score"] == (not words)


def test_every_call_is_explained_by_the_one_that_it_matches():
    (step,) = report(of(B, A), of(A, C), mode="unordered").explain("trajectory_match", 0).steps
    assert step["calls"] == [{"call": "b()", "expected": ""}, {"call": "a()", "expected": "a()"}]
    assert step["missing"] == ["c()"]


def test_long_arguments_are_cut_in_an_explanation():
    assert len(problem(of(("a", {"x": "y" * 1000})), of(B), mode="subset")) < 250


def test_lists_of_calls_are_conversations_and_formats_may_differ():
    row = {
        "tools_called": [{"name": "a", "input_parameters": {"x": 1}}],
        "expected_tools": [{"name": "a", "input_parameters": {"x": 1.0}}],
    }
    assert Hub("trajectory_match")([row])["trajectory_match"]["score"] == 1
    use = {"type": "tool_use", "id": "1", "name": "a", "input": {"x": 1}}
    anthropic = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]},
        {"role": "assistant", "content": "final"},
    ]
    assert scores(json.dumps(anthropic), of(("a", {"x": 1})))["score"] == 1


def test_arguments_are_compared_as_json_means_them():
    assert scores(of(("a", {"x": [1]})), of(("a", {"x": [1.0]})))["score"] == 1
    for first, other in ((True, 1), ("1", 1), ({"y": [True]}, {"y": [1]})):
        assert scores(of(("a", {"x": first})), of(("a", {"x": other})))["score"] == 0


def test_the_recall_of_names_is_the_tool_correctness_of_deepeval():
    (row,) = (v.values[0] for v in vectors("tool_correctness") if v.id == "tool_correctness-019")
    columns = {"messages": "tools_called", "reference_messages": "expected_tools"}
    hub = Hub("trajectory_match(mode='unordered', arguments='ignore')")
    scores = hub.evaluate([row["inputs"]], columns=columns).scores()["trajectory_match"]
    assert scores["recall"] == pytest.approx(row["expected"]["score"])


steps = st.lists(st.sampled_from([A, B, Q, QN]), max_size=5)


@given(steps, steps, st.sampled_from(["exact", "ignore", "subset", "superset"]))
def test_unordered_is_both_and_no_order_of_calls_counts(predicted, expected, arguments):
    def score(mode, calls=predicted):
        return scores(of(*calls), of(*expected), mode=mode, arguments=arguments)

    both = score("subset")["score"] * score("superset")["score"]
    assert score("unordered")["score"] == both
    assert score("unordered", predicted[::-1]) == score("unordered")
    assert score("subset", predicted[::-1]) == score("subset")


def test_a_key_that_a_table_fills_with_null_is_missing():
    # The arguments of a column are one struct, so that each call has the keys of all.
    steps = [of(("f", {"q": {"a": 1}})), of(("g", {"city": "Bern", "q": {"b": [{"c": 1}]}}))]
    expected = [of(("f", {"q": {"a": 1}})), of(("f", {"q": {"a": 2}}))]
    table = pa.table({"messages": steps, "reference_messages": expected})
    arguments = table.to_pylist()[0]["messages"][1]["tool_calls"][0]["args"]
    assert arguments == {"city": None, "q": {"a": 1, "b": None}}
    for name in ("trajectory_match", "tool_call_f1", "tool_call_accuracy"):
        assert Hub(name)(table)[name]["score"] == 0.5


@pytest.mark.parametrize("rule", ["exat", "Ignore", "subsett"])
def test_a_misspelt_rule_is_refused(rule):
    with pytest.raises(ParameterError, match=f"'search={rule},' if it is an argument"):
        load_metric("trajectory_match", overrides=[f"search={rule}"])


def test_overrides_are_a_list():
    with pytest.raises(ParameterError, match=r"overrides=\{.* choose a list of strings$"):
        load_metric("trajectory_match", overrides={"search": "ignore"})


def test_an_argument_may_have_the_name_of_a_rule():
    predicted, expected = of(("search", {"exat": 1, "n": 1})), of(("search", {"exat": 2, "n": 2}))
    assert scores(predicted, expected, overrides=["search=exat,"])["score"] == 0
    assert scores(predicted, expected, overrides=["search=q"])["score"] == 1


def notes(predicted, expected, **parameters):
    return report(predicted, expected, **parameters).notes().get("trajectory_match", [])


def test_a_tool_with_a_rule_that_is_never_called_is_noted():
    messages = of(Q)
    assert notes(messages, messages, overrides=["search=ignore", "serch=n"]) == [
        "overrides has 'serch', a tool that no conversation calls"
    ]


def test_an_order_that_calls_alone_cannot_match_is_noted():
    expected = [{"name": "search", "args": {"q": "x"}}]
    assert scores(of(Q), expected)["score"] == 0
    (note,) = notes(of(Q), expected)
    assert note == (
        "1 reference has only calls, which the mode 'strict' compares with all messages; "
        "use mode='unordered' or 'superset'"
    )
    assert notes(of(Q), expected, mode="unordered") == []
    assert notes(of(Q), of(Q)) == []
    assert notes(expected, expected) == []
