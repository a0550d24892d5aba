"""Tool permission: deepeval's number, lists of a sample's own, and arguments against schemas."""

import math

import pytest

from metrichub import Hub, load_metric
from metrichub.errors import InputError
from tests.vectors import vectors


def of(*names):
    calls = [{"name": name, "arguments": {"path": "a"}} for name in names]
    return [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": calls}]


def scores(*conversations, columns=None, **parameters):
    hub = Hub(load_metric("tool_permission", **parameters))
    return hub(messages=list(conversations), **(columns or {}))["tool_permission"]


@pytest.mark.parametrize("row", vectors("tool_permission"))
def test_the_score_is_that_of_deepeval(row):
    parameters = row["params"]
    metric = load_metric(
        "tool_permission",
        allowed=parameters["allowed_tools"],
        denied=parameters["denied_tools"],
        empty=1,
    )
    scores = Hub(metric)([row["inputs"]])["tool_permission"]
    assert scores["score"] == row["expected"]["score"]


@pytest.mark.parametrize(
    ("parameters", "score"),
    [
        ({"allowed": ["read"]}, 2 / 4),
        ({"denied": ["remove"]}, 3 / 4),
        ({"allowed": ["read", "write"], "denied": ["write"]}, 2 / 4),
        ({"allowed": ["Read"]}, 0),
    ],
)
def test_a_call_is_allowed_if_its_tool_is_listed_and_not_denied(parameters, score):
    result = scores(of("read", "write", "read", "remove"), **parameters)
    assert result == {"score": score, "all": 0}


def test_all_is_the_share_of_conversations_without_a_forbidden_call():
    # (1/2 + 1)/2, and one of two.
    assert scores(of("read", "write"), of("read"), allowed=["read"]) == {"score": 0.75, "all": 0.5}


def test_samples_have_tools_of_their_own():
    columns = {"tools": [["read", "write"], ["write"], []]}
    result = scores(of("read"), of("read", "write"), of("read"), columns=columns)
    # 1, 1/2 and 0; a name has no schema, so that all listed tools take all arguments.
    assert result == pytest.approx({"score": 0.5, "all": 1 / 3, "valid": 0.5})
    columns = {"tools": [["read", "write"]], "denied_tools": [["write"]]}
    result = scores(of("read", "write"), columns=columns, allowed="sample", denied="sample")
    assert result == {"score": 0.5, "all": 0, "valid": 1}
    result = scores(of("read"), columns={"denied_tools": [[]]}, denied="sample")
    assert result == {"score": 1, "all": 1}
    result = scores(of("am"), columns={"denied_tools": [[]]}, denied="sample")
    assert result["score"] == 1


TOOL = {"name": "read", "parameters": {"properties": {"path": {"type": "integer"}}}}


def test_arguments_are_valid_if_they_fit_the_schema_of_their_tool():
    report = Hub("tool_permission").evaluate(messages=[of("read", "write")], tools=[[TOOL]])
    assert report.scores()["tool_permission"] == {"score": 0.5, "all": 0, "valid": 0}
    (step,) = report.explain("tool_permission", 0).steps
    assert step["calls"] == [
        {
            "call": 'read({"path": "a"})',
            "forbidden": "",
            "invalid": "'a' is not of type 'integer', at $.path",
        },
        {
            "call": 'write({"path": "a"})',
            "forbidden": "not allowed",
            "invalid": "there is no tool 'write'",
        },
    ]


def test_a_conversation_without_calls_is_undefined_unless_it_counts():
    silent = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    report = Hub("tool_permission(allowed=['read'])").evaluate(messages=[silent, of("read")])
    assert report.explain("tool_permission", 0)[:2] == ("unanswered", "no tool is called")
    assert report.scores()["tool_permission"]["score"] == 1
    assert math.isnan(report.samples()["tool_permission"]["score"][0])
    columns = {"tools": [[], ["read"]]}
    result = scores(silent, of("write"), columns=columns, empty=1)
    assert result == {"score": 0.5, "all": 0.5, "valid": 0.5}


@pytest.mark.parametrize(
    ("column", "entry", "message"),
    [
        ("tools", 3, "the column 'tools' holds .*which doesn't describe a tool"),
        ("denied_tools", {"name": "a"}, "'denied_tools' holds .*, not text"),
    ],
)
def test_what_names_no_tool_is_an_error(column, entry, message):
    columns = {"tools": [["read"]], "denied_tools": [["read"]], column: [[entry]]}
    with pytest.raises(InputError, match=message):
        scores(of("read"), columns=columns, allowed="sample", denied="sample")


def test_what_needs_no_schema_needs_no_jsonschema():
    assert load_metric("tool_permission", denied=["read"]).requires() == ()
    assert load_metric("tool_permission", allowed="sample").requires() == ("jsonschema>=4.23",)
