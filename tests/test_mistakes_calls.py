"""Calls of tools as an SDK returns them: equal scores, or an error with the sample."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from metrichub import Hub
from metrichub.errors import InputError
from tests.commands import error, run, scored, write

OWN = [{"name": "weather", "arguments": {"city": "Paris", "days": 2}}]


class _Model:
    """An object as the SDKs of OpenAI and Anthropic return it, and deepeval takes it."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


_FUNCTION = {"name": "weather", "arguments": '{"city": "Paris", "days": 2}'}
_ARGUMENTS = {"city": "Paris", "days": 2}
FORMS: dict[str, list[Any]] = {
    "ours": OWN,
    "openai": [{"id": "call_1", "type": "function", "function": _FUNCTION}],
    "openai's objects": [_Model(id="call_1", type="function", function=_FUNCTION)],
    "openai's responses": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "call_1", **_FUNCTION},
    ],
    "anthropic": [{"type": "tool_use", "id": "toolu_1", "name": "weather", "input": _ARGUMENTS}],
    "anthropic's content": [
        {"type": "text", "text": "I look it up."},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": _ARGUMENTS},
    ],
    "langchain": [{"name": "weather", "args": _ARGUMENTS, "id": "1", "type": "tool_call"}],
    "ragas": [_Model(name="weather", args=_ARGUMENTS)],
    "deepeval": [
        _Model(
            name="weather",
            description=None,
            reasoning=None,
            output={"sky": "grey"},
            input_parameters=_ARGUMENTS,
        )
    ],
}
TOOLS = ["tool_call_f1", "tool_call_accuracy"]
# One argument of two is right.
WRONG = json.dumps([{"name": "weather", "arguments": {"city": "Paris", "days": 3}}])


@pytest.mark.parametrize("form", FORMS)
def test_calls_as_an_sdk_returns_them_score_like_our_own(form: str) -> None:
    calls, hub = FORMS[form], Hub(TOOLS)
    value = hub(predictions=[calls, WRONG, calls], references=[OWN, calls, json.dumps(OWN)])
    assert value["tool_call_f1"]["score"] == pytest.approx(2 / 3)
    assert value["tool_call_accuracy"]["score"] == pytest.approx((1 + 0.5 + 1) / 3)
    plain = json.dumps([getattr(call, "fields", call) for call in calls])
    assert hub(predictions=[plain, WRONG, plain], references=[OWN, plain, json.dumps(OWN)]) == value


def test_no_calls_are_an_empty_list_and_several_lists_are_candidates() -> None:
    hub = Hub("tool_call_f1")
    assert hub(predictions=[[]], references=[[]])["tool_call_f1"]["score"] == 1.0
    assert hub(predictions=[[]], references=[OWN])["tool_call_f1"]["score"] == 0.0
    assert hub(predictions=[[[], OWN]], references=[OWN])["tool_call_f1"]["score"] == 1.0
    assert (
        hub(predictions=[OWN], references=[["[]", json.dumps(OWN)]])["tool_call_f1"]["score"] == 1
    )


def test_what_a_model_wrote_badly_scores_badly() -> None:
    calls = [{"function": {"name": "weather", "arguments": '{"city": '}}]
    scores = Hub("tool_call_f1")(predictions=[calls], references=[OWN])["tool_call_f1"]
    assert (scores["score"], scores["parsed"]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        ([{"tool": "weather"}], "isn't a list of tool calls: its entry 0 doesn't name a tool"),
        ([OWN[0], 3], "isn't a list of tool calls: its entry 1 doesn't name a tool"),
        (
            [{"name": "f", "args": [1]}],
            "isn't a list of tool calls: its entry 0 has arguments that",
        ),
        ([{"name": "f", "args": {"x": {1}}}], "isn't a list of tool calls: it isn't JSON"),
        (
            [SimpleNamespace(name="f")],
            "isn't a list of tool calls: its entry 0 doesn't name a tool",
        ),
        (OWN[0], r"is one object; give a list of calls, \[\] for none"),
        (None, r"is None, neither text nor a list; use \[\] for none"),
    ],
)
@pytest.mark.parametrize("column", ["predictions", "references"])
def test_what_is_no_list_of_calls_is_said_with_its_sample(
    calls: Any, problem: str, column: str
) -> None:
    columns = {"predictions": [OWN, OWN], "references": [OWN, OWN], column: [OWN, calls]}
    with pytest.raises(InputError, match=rf"{column}\[1\] {problem}"):
        Hub(TOOLS)(**columns)


def test_calls_stay_no_text_for_metrics_of_text() -> None:
    for metrics in ("bleu", ["bleu", "tool_call_f1"]):
        with pytest.raises(InputError, match=r"predictions\[0\]\[0\] is .*\(dict\), not text"):
            Hub(metrics)(predictions=[OWN], references=[OWN])


def test_calls_are_read_from_files_and_a_broken_one_has_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"prediction": FORMS["openai"], "reference": OWN} for _ in range(3)]
    write("calls.jsonl", rows)
    assert scored("calls.jsonl", "-m", "tool_call_f1")["scores"]["tool_call_f1"]["score"] == 1.0
    write("broken.jsonl", [*rows, {"prediction": [{"tool": "f"}], "reference": OWN}])
    text = error(run("score", "broken.jsonl", "-m", "tool_call_f1"), 3)
    assert text.startswith("broken.jsonl:4: predictions[3] isn't a list of tool calls: its entry 0")
