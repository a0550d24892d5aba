"""Call repetition: the counts behind deepeval's loop detection, without its weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub
from tests.vectors import vectors


def report(*calls):
    messages = [{"role": "assistant", "tool_calls": [{"name": n, "args": a}]} for n, a in calls]
    return Hub("call_repetition").evaluate(messages=[messages])


def counts(*calls):
    scores = report(*calls).scores()["call_repetition"]
    return scores["score"], scores["longest_run"]


Q, R = ("search", {"q": "x"}), ("search", {"q": "y"})


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([], (0, 0)),
        ([Q], (1, 1)),
        ([Q, R, Q, R, R], (3, 2)),
        ([Q, Q, R, Q], (3, 2)),
        ([Q, ("open", {"q": "x"})], (1, 1)),
    ],
)
def test_equal_calls_are_counted_and_those_in_a_row(calls, expected):
    assert counts(*calls) == expected


def test_calls_are_equal_as_json_means_it():
    assert counts(("f", {"x": 1, "y": [2]}), ("f", {"y": [2.0], "x": 1.0})) == (2, 2)
    assert counts(("f", {"x": 1}), ("f", {"x": True}), ("f", {"x": "1"}), ("f", "x: 1")) == (1, 1)
    assert counts(("f", "x: 1"), ("f", "x: 1")) == (2, 2)


def test_the_calls_of_all_messages_are_one_sequence():
    calls = [{"name": "f", "args": {}}] * 2
    result = {"role": "tool", "content": "r"}
    messages = [{"role": "assistant", "tool_calls": calls}, result, result]
    scores = Hub("call_repetition")(messages=[messages * 2, messages])["call_repetition"]
    assert scores == {"score": 3, "longest_run": 3}


@pytest.mark.parametrize("row", vectors("agent_loop"))
def test_the_repetition_of_deepeval_follows_from_the_count(row):
    tools = [node for node in row["inputs"]["trace"]["children"] if node["type"] == "tool"]
    most, _ = counts(*((node["name"], node["input"]) for node in tools))
    # 0 from twice its threshold of 3 on, half from the threshold on, else 1.
    expected = 0 if most >= 6 else 0.5 if most >= 3 else 1
    assert row["expected"]["breakdown"]["tool_repetition"] == expected


def test_calls_that_are_repeated_are_explained():
    (step,) = report(Q, R, ("open", {}), R, Q, R).explain("call_repetition", 0).steps
    assert step["calls"] == [
        {"call": 'search({"q": "y"})', "times": 3},
        {"call": 'search({"q": "x"})', "times": 2},
    ]


@given(st.lists(st.sampled_from([Q, R, ("open", {})]), min_size=1))
def test_a_run_is_no_longer_than_all_equal_calls(calls):
    most, run = counts(*calls)
    assert 1 <= run <= most <= len(calls)
    assert most == max(map(calls.count, calls))
    assert counts(*sorted(calls, key=str))[1] == most


def test_conversations_without_calls_are_noted():
    assert "no conversation has a tool call" in report().notes()["call_repetition"]
    assert "call_repetition" not in report(Q).notes()


def test_a_text_without_calls_is_noted():
    texts = Hub("call_repetition").evaluate(questions=["q"], predictions=["I called search."])
    assert "no conversation has a tool call" in texts.notes()["call_repetition"]
