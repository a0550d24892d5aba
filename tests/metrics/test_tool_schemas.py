"""Tool schemas: the forms in which tools are described, and calls that don't fit them."""

import json

import pytest

from metric_cards._bases.tool_schemas import problem_of_call, read_tools
from metrichub.errors import InputError

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
    "required": ["city"],
    "additionalProperties": False,
}
OPENAI = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
FORMS = {
    "OpenAI, Chat": [OPENAI],
    "OpenAI, Responses": [{"type": "function", "name": "weather", "parameters": SCHEMA}],
    "OpenAI, functions": [{"name": "weather", "description": "", "parameters": SCHEMA}],
    "Anthropic": [{"name": "weather", "input_schema": SCHEMA}],
    "MCP": [{"name": "weather", "inputSchema": SCHEMA}],
    "JSON text": [json.dumps(OPENAI)],
    "JSON text of all": [json.dumps([OPENAI])],
}


def problem(arguments, described=(OPENAI,), name="weather"):
    tools = read_tools("a_metric", described)
    return problem_of_call({"id": "1", "name": name, "arguments": arguments}, tools)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_description_is_read(form):
    assert problem({"city": "Paris", "days": 2}, FORMS[form]) is None
    assert problem({"days": 2}, FORMS[form]) == "'city' is a required property, at $"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"city": 3}, "3 is not of type 'string', at $.city"),
        ({"city": "Paris", "days": 9}, "9 is greater than the maximum of 7, at $.days"),
        ({"city": "Paris", "country": "F"}, "Additional properties are not allowed"),
        ("{'city': 'Paris'}", "the arguments aren't a JSON object"),
        (["Paris"], "the arguments aren't a JSON object"),
    ],
)
def test_arguments_that_break_the_schema_are_named_with_their_place(arguments, expected):
    assert problem(arguments).startswith(expected)


def test_a_tool_that_is_not_described_has_no_right_arguments():
    assert problem({"city": "Paris"}, name="wether") == "there is no tool 'wether'"


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "clock"},
        {"name": "clock", "parameters": None, "description": "The time.", "strict": True},
        {"name": "clock", "annotations": {"title": "Clock"}, "outputSchema": SCHEMA},
        "clock",
        " clock\n",
    ],
)
def test_a_tool_without_a_schema_takes_any_object(tool):
    assert problem({"zone": 1}, [tool], "clock") is None
    assert problem("CET", [tool], "clock") == "the arguments aren't a JSON object"


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ([{"parameters": SCHEMA}], "holds a description without the name of a tool"),
        (['{"name": weather}'], r"holds a text that isn't JSON \(syntax\)"),
        (
            [{"function": {"name": "f", "args_schema": SCHEMA}}],
            "holds 'f' with 'args_schema', which isn't read; put its schema under parameters, ",
        ),
        ([3], "holds .*int.*, which doesn't describe a tool"),
        ([{"name": "f", "parameters": {"type": "dict"}}], "holds a broken JSON Schema for 'f': at"),
        (
            [{"name": "f", "parameters": {"$ref": "https://x.org/a"}}],
            "holds a broken JSON Schema for 'f': .*nothing is fetched",
        ),
    ],
)
def test_what_does_not_describe_a_tool_is_an_error(described, message):
    with pytest.raises(InputError, match=f"a_metric: the column 'tools' {message}"):
        read_tools("a_metric", described)
