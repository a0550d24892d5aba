"""Argument correctness: calls that break their schemas, and those that a judge is asked about."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError, ParameterError
from metrichub.testing import Scripted
from tests.judge_toys import Listener
from tests.vectors import vectors

NAME = "argument_correctness"
TOOL = {
    "name": "book",
    "parameters": {
        "type": "object",
        "properties": {"people": {"type": "integer"}},
        "required": ["people"],
    },
}
ASK = {"role": "user", "content": "A table for two."}


def calling(*calls: Any) -> list[Any]:
    """A conversation with these calls, (name, arguments)."""
    listed = [{"name": name, "args": arguments} for name, arguments in calls]
    return [ASK, {"role": "assistant", "content": "One moment.", "tool_calls": listed}]


def evaluated(judge: Scripted, talk: Any, **parameters: Any) -> Report:
    columns = {"tools": [parameters.pop("column")]} if "column" in parameters else {}
    return Hub(load_metric(NAME, judge=judge, **parameters)).evaluate(messages=[talk], **columns)


@pytest.mark.parametrize("vector", vectors(NAME))
def test_deepeval_divides_the_same_calls(vector: dict[str, Any]) -> None:
    inputs = vector["inputs"]
    calls = [(call["name"], {}) for call in inputs["tools_called"]]
    talk = [{"role": "user", "content": inputs["input"]}, *calling(*calls)[1:]]
    answers = vector["scripted"].get("Verdicts", [{"verdicts": []}])[0]["verdicts"]
    judge = Listener({"arguments": [answer["verdict"] for answer in answers]})
    report = evaluated(judge, talk, empty=1)
    assert report.scores() == {NAME: {"score": pytest.approx(vector["expected"]["score"])}}
    assert sum(len(items) for items, _ in judge.asked) == len(answers)


def test_a_conversation_without_calls_is_1_in_deepeval_and_undefined_here() -> None:
    # No argument was right or wrong: a perfect score would reward an agent that calls nothing.
    report = evaluated(Scripted({}), calling())
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the assistant calls no tool")
    assert report.counts()[NAME]["unanswered"] == 1


def test_calls_alone_say_nothing_of_what_is_right() -> None:
    report = evaluated(Scripted({}), [{"name": "book", "input_parameters": {"people": 2}}])
    reason = "no message says what the arguments should be"
    assert report.explain(NAME, 0)[:2] == ("unanswered", reason)


def test_only_calls_of_the_assistant_count() -> None:
    # As in a log with the wrong role.
    stray = {**ASK, "tool_calls": [{"name": "book", "args": {}}]}
    talk = [stray, *calling(("book", {"people": 2}))]
    steps = evaluated(Scripted({"arguments": ["yes"]}), talk).explain(NAME, 0).steps
    assert [verdict["index"] for verdict in steps[0]["messages"]] == [2]


def test_the_judge_sees_each_call_and_the_tools() -> None:
    judge = Listener({"arguments": ["yes"]})
    evaluated(judge, calling(("book", {"people": 2})), tools=[TOOL])
    ((items, fields),) = judge.asked
    call = {"id": "1", "name": "book", "arguments": {"people": 2}}
    assert items == [{"message": 1, "call": call}]
    assert list(map(json.loads, fields["tools"])) == [[TOOL]]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (("cook", {}), "there is no tool 'cook'"),
        (("book", {}), "'people' is a required property, at $"),
        (("book", {"people": "2"}), "'2' is not of type 'integer', at $.people"),
        (("book", '{"people": 2'), "the arguments aren't a JSON object"),
    ],
)
def test_a_call_that_breaks_its_schema_is_wrong_and_asks_nothing(call: Any, reason: str) -> None:
    report = evaluated(Scripted({}), calling(call), tools=[TOOL])
    (verdict,) = report.explain(NAME, 0).steps[0]["messages"]
    assert (verdict["verdict"], verdict["reason"]) == ("no", reason)
    assert report.scores() == {NAME: {"score": 0}}


def test_verdicts_stand_in_the_order_of_the_calls() -> None:
    judge = Listener({"arguments": ["yes", "no"]})
    calls = [("book", {"people": 2}), ("cook", {}), ("book", {"people": 4}), ("book", {})]
    report = evaluated(judge, calling(*calls), tools=[TOOL])
    assert [item["call"]["id"] for item in judge.asked[0][0]] == ["1", "3"]
    verdicts = report.explain(NAME, 0).steps[0]["messages"]
    assert [(v["index"], v["item"], v["verdict"], v["reason"]) for v in verdicts] == [
        (1, 'book({"people": 2})', "yes", "as scripted"),
        (1, "cook({})", "no", "there is no tool 'cook'"),
        (1, 'book({"people": 4})', "no", "as scripted"),
        (1, "book({})", "no", "'people' is a required property, at $"),
    ]
    assert report.scores() == {NAME: {"score": 1 / 4}}


def test_without_tools_the_judge_decides_alone() -> None:
    judge = Listener({"arguments": ["yes"]})
    assert evaluated(judge, calling(("cook", "no JSON"))).scores() == {NAME: {"score": 1}}
    assert judge.asked[0][1]["tools"] == []


@pytest.mark.parametrize("cell", [[TOOL], json.dumps([TOOL]), [json.dumps(TOOL)]])
def test_each_sample_may_have_its_own_tools(cell: Any) -> None:
    judge = Scripted({"arguments": ["yes"]})
    calls = calling(("book", {"people": 2}), ("book", {}))
    assert evaluated(judge, calls, own_tools=True, column=cell).scores() == {NAME: {"score": 1 / 2}}


def test_tools_may_be_in_a_file_but_not_in_one_that_the_data_names(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([TOOL]), encoding="utf-8")
    calls = calling(("book", {}))
    assert evaluated(Scripted({}), calls, tools=str(path)).scores() == {NAME: {"score": 0}}
    assert load_metric(NAME, tools=path) == load_metric(NAME, tools=[TOOL])
    # A text of a sample that isn't JSON is the name of a tool.
    report = evaluated(Scripted({}), calls, own_tools=True, column=str(path))
    assert report.explain(NAME, 0).steps[0]["messages"][0]["reason"] == "there is no tool 'book'"


def test_a_sample_whose_tools_cannot_be_read_is_an_error() -> None:
    with pytest.raises(InputError, match=r"the column 'tools' holds a text that isn't JSON"):
        evaluated(Scripted({}), calling(("book", {})), own_tools=True, column="[1")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tools": [{"type": "function"}]}, "holds a description without the name of a tool"),
        ({"tools": "no such file"}, "No such file"),
        ({"tools": "[1"}, "holds a text that isn't JSON"),
        ({"tools": [TOOL], "own_tools": True}, "None with own_tools=True"),
    ],
)
def test_tools_that_cannot_be_read_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        load_metric(NAME, **parameters)


def test_without_schemas_the_report_says_so() -> None:
    note = (
        "no call was checked against the schema of its tool; give them as tools=…, or with "
        "own_tools=True in the column 'tools'"
    )
    judge, talk = Scripted({"arguments": ["yes"]}), calling(("book", {"people": 2}))
    assert note in evaluated(judge, talk).notes()[NAME]
    assert NAME not in evaluated(judge, talk, tools=[TOOL]).notes()
    assert NAME not in evaluated(judge, talk, column=[TOOL], own_tools=True).notes()
