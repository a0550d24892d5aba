"""Tool call match: BFCL's rules, on calls that its own checker judged."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards.tool_call_match.checks import standardized
from metrichub import Hub
from tests.vectors import answer_vectors

OURS = {
    None: "score",
    "simple_function_checker:wrong_count": "wrong_count",
    "parallel_function_checker_no_order:wrong_count": "wrong_count",
    "simple_function_checker:wrong_func_name": "wrong_name",
    "simple_function_checker:missing_required": "missing",
    "simple_function_checker:missing_optional": "missing",
    "simple_function_checker:unexpected_param": "unexpected",
    "type_error:simple": "wrong_type",
    "value_error:string": "wrong_value",
    "value_error:list/tuple": "wrong_value",
    "value_error:dict_key": "wrong_value",
    "parallel_function_checker_no_order:cannot_find_match": "unmatched",
}
"""What BFCL's errors are called here."""
FUNCTION = {
    "name": "f",
    "parameters": {
        "type": "dict",
        "properties": {
            **{kind: {"type": kind} for kind in ("string", "integer", "float", "boolean", "any")},
            **{kind: {"type": kind} for kind in ("dict", "number", "object")},
            "strings": {"type": "array", "items": {"type": "string"}},
            "floats": {"type": "tuple", "items": {"type": "float"}},
            "dicts": {"type": "array", "items": {"type": "dict"}},
            "array": {"type": "array"},
        },
        "required": [],
    },
}


def scores(predicted: Any, expected: Any, functions: Any) -> dict[str, Any]:
    hub = Hub("tool_call_match")(
        predictions=[predicted], references=[expected], functions=[functions]
    )
    return hub["tool_call_match"]


def outcome(predicted: Any, expected: Any, functions: Any) -> str:
    result = scores(predicted, expected, functions)
    (name,) = [name for name, share in result.items() if share == 1 and name != "parsed"]
    return name


def of_argument(kind: str, value: Any, *answers: Any) -> str:
    return outcome([{"f": {kind: value}}], [{"f": {kind: list(answers)}}], [FUNCTION])


@pytest.mark.parametrize(
    "row",
    [
        *answer_vectors("tool_call_match (BFCL, simple)"),
        *answer_vectors("tool_call_match (BFCL, parallel)"),
    ],
)
def test_calls_are_judged_as_bfcl_judges_them(row: dict[str, Any]) -> None:
    verdict = outcome(*(row["inputs"][key] for key in ("prediction", "reference", "functions")))
    if "greedy" in row.get("note", ""):
        # BFCL gives the first expected call the first call that fits, which the second needs; with
        # each call in its place all is right.
        assert row["expected"]["valid"] == 0
        assert verdict == "score"
    else:
        assert verdict == OURS[row["expected"]["error_type"]]


@pytest.mark.parametrize("row", answer_vectors("tool_call_match (BFCL string standardisation)"))
def test_texts_are_standardized_as_bfcl_does(row: dict[str, Any]) -> None:
    assert standardized(row["inputs"]["text"]) == row["expected"]


@pytest.mark.parametrize(
    ("kind", "value", "answers", "result"),
    [
        # Derived from ast_checker.py at 6ea5797, by its branches.
        ("integer", 3, [4, 3], "score"),
        ("integer", 3, [""], "wrong_value"),
        ("boolean", True, [True], "score"),
        ("boolean", 1, [True], "wrong_type"),
        ("float", 1.5, ["x", 1.5], "score"),
        ("number", 2, [2.0], "score"),
        ("number", 2.5, [2], "wrong_value"),
        # The type of the first answer fits in place of the described one: a variable.
        ("dict", "config", ["config"], "score"),
        ("dict", "Config", ["config"], "wrong_value"),
        ("any", 5, [5], "score"),
        ("any", "Five", ["five"], "score"),
        ("any", 5, ["five"], "wrong_type"),
        ("strings", ["a", 1], [["a", "b"]], "wrong_type"),
        ("strings", [], ["", ["a"]], "score"),
        ("strings", ["a"], [["b"], ["A"]], "score"),
        # Items aren't made floats, but those of the type of the answer's first item fit.
        ("floats", [1, 2], [[1.0, 2.0]], "wrong_type"),
        ("floats", [1, 2], [[1, 2]], "score"),
        ("array", [1, "x"], [[1, "X"]], "score"),
        ("dicts", [{"a": 1}, {"b": "X"}], [[{"a": [1]}, {"b": ["x"]}]], "score"),
        ("dicts", [{"a": 1}], [[{"a": [1]}, {"b": ["x"]}]], "wrong_value"),
        ("dicts", [{"b": 1}, {"a": 1}], [[{"a": [1]}, {"b": [1]}]], "wrong_value"),
        ("object", {"a": 1}, ["", {"a": [2]}, {"a": [1]}], "score"),
        ("object", {}, [{"a": [1, ""]}], "score"),
        ("object", {}, [{"a": [1]}], "wrong_value"),
    ],
)
def test_values_are_compared_by_type(kind: str, value: Any, answers: Any, result: str) -> None:
    assert of_argument(kind, value, *answers) == result


def test_calls_come_in_the_forms_of_apis() -> None:
    expected, predicted = [{"a.f": {"x": [1]}}], {"name": "a_f", "arguments": '{"x": 1}'}
    described = {"name": "a.f", "parameters": {"properties": {"x": {"type": "integer"}}}}
    tool = {"type": "function", "function": described}
    for calls in (
        [predicted],
        {"role": "assistant", "tool_calls": [{"type": "function", "function": predicted}]},
        [{"type": "text", "text": "x"}, {"type": "tool_use", "name": "a.f", "input": {"x": 1}}],
        '[{"a.f": {"x": 1}}]',
    ):
        for functions in ([tool], [described], json.dumps([described])):
            assert outcome(calls, expected, functions) == "score"
    assert outcome([{"a_f": {"x": 1}}], [{"a_f": {"x": [1]}}], [{**described, "name": "a_f"}])


def test_frames_of_pandas_hold_arrays() -> None:
    properties = {"x": {"type": "integer"}, "y": None}
    parameters = {"properties": properties, "required": np.array(["x", "x"], object)}
    function = np.array([{"name": "f", "parameters": parameters}, {"name": "g"}], object)
    frame = pandas.DataFrame(
        {"response": ['[{"f": {"x": 1}}]'], "gold": ['[{"f": {"x": [1]}}]'], "function": [function]}
    )
    assert Hub("tool_call_match")(frame)["tool_call_match"]["score"] == 1


def test_no_call_is_right_where_none_is_expected() -> None:
    assert outcome([], [], [FUNCTION]) == "score"
    assert outcome([{"f": {}}], [], [FUNCTION]) == "wrong_count"


def test_a_reply_that_isnt_a_list_of_calls_scores_zero() -> None:
    for expected in ([{"f": {}}], []):
        result = scores("It is sunny.", expected, [FUNCTION])
        assert not any(result.values())
    report = Hub("tool_call_match").evaluate(
        predictions=["no"], references=["[]"], functions=[[FUNCTION]]
    )
    assert "no prediction is a JSON list of tool calls" in str(report.notes())


def test_several_references_are_alternatives() -> None:
    assert scores([{"f": {}}], [[{"g": {}}], [{"f": {}}]], [FUNCTION, {"name": "g"}])["score"] == 1


@pytest.mark.parametrize(
    ("expected", "functions", "reason"),
    [
        ("x", [FUNCTION], "the reference isn't JSON (syntax)"),
        ("3", [FUNCTION], "the reference isn't a list of expected calls"),
        ([{"f": {}, "g": {}}], [FUNCTION], "entry 0 of the reference doesn't name one function"),
        (
            [{"f": {}}, {"f": {"integer": 3}}],
            [FUNCTION],
            "entry 1 of the reference has no list of values for each parameter",
        ),
        ([{"g": {}}], [FUNCTION], "no function describes 'g', which the reference calls"),
        ([], ["{"], "a function's description isn't JSON (truncated)"),
        ([], [{"parameters": {}}], "a function's description has no name"),
        ([], [None], "a function's description has no name"),
        ([], [{"name": "f", "parameters": []}], None),
        ([], [{"name": "f", "parameters": [1]}], "the parameters of f aren't an object"),
    ],
)
def test_a_sample_that_cant_be_judged_is_unscored_with_the_reason(
    expected: Any, functions: Any, reason: str | None
) -> None:
    report = Hub("tool_call_match").evaluate(
        predictions=["[]"], references=[expected], functions=[functions]
    )
    assert report.explain("tool_call_match", 0).reason == reason


def test_an_unknown_type_is_named() -> None:
    function = {"name": "f", "parameters": {"properties": {"x": {"type": "HashMap"}}}}
    report = Hub("tool_call_match").evaluate(
        predictions=["[]"], references=["[]"], functions=[[function]]
    )
    assert report.explain("tool_call_match", 0).reason.startswith(
        "f.x has the type 'HashMap'; it may be string, integer"
    )


sets = st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=4)


@given(sets.flatmap(lambda values: st.tuples(st.just(values), st.permutations(range(len(values))))))
def test_calls_match_if_any_order_of_them_does(drawn: Any) -> None:
    allowed, values = drawn
    calls = [{"f": {"integer": value}} for value in values]
    expected = [{"f": {"integer": sorted(options)}} for options in allowed]
    any_order = any(
        all(value in options for value, options in zip(order, allowed, strict=True))
        for order in itertools.permutations(values)
    )
    assert scores(calls, expected, [FUNCTION])["score"] == any_order


def test_hostile_replies_are_judged_in_linear_time() -> None:
    flood = json.dumps([{"f": {"integer": n}} for n in range(50_000)])
    deep = json.dumps([{"f": {"string": "x" * 1_000_000}}])
    hostile = [flood, deep, "[" * 100_000, '[{"f": {"integer": ' + "7" * 100_000 + "}}]"]
    report = Hub("tool_call_match").evaluate(
        predictions=hostile,
        references=[[{"f": {"integer": [1]}}]] * 4,
        functions=[[FUNCTION]] * 4,
    )
    assert report["tool_call_match"]["score"] == 0
