"""Conversations in the logs of other tools: inspect's messages, traces of OpenTelemetry."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import FileError
from metrichub.testing import Scripted

LOGS = Path(__file__).parent / "logs"


def judged(data: object, **options: Any) -> Report:
    judge = Scripted({"in_role": ["yes"]})
    return Hub(load_metric("role_adherence", judge=judge, role="a clerk")).evaluate(data, **options)


def talk(report: Report, sample: int) -> list[tuple[str, str]]:
    assert report.texts is not None
    return [(m["role"], m["text"].strip()) for m in report.texts[sample]["messages"]]


def test_the_messages_of_an_inspect_log_are_read_with_calls_and_without_thinking() -> None:
    report = judged(str(LOGS / "agent.eval"))
    assert talk(report, 1) == [
        ("system", "Answer with the weather tool."),
        ("user", "What is the weather in Bern?"),
        ("assistant", "Let me look."),
        ("tool", "Bern: sunny, 21 degrees. " + " ".join(["It stays so."] * 12)),
        ("assistant", "In Bern it is sunny."),
    ]
    assert report.texts is not None
    _, _, asking, result, _ = report.texts[1]["messages"]
    assert asking["calls"] == [{"id": "1", "name": "weather", "arguments": {"city": "Bern"}}]
    assert (result["result_of"], result["name"]) == ("1", "weather")


def test_what_a_tool_of_an_inspect_log_refused_is_its_result() -> None:
    assert ("tool", "no such city") in talk(judged(str(LOGS / "agent.eval")), 0)


def test_metrics_of_text_read_the_completion_of_an_inspect_log() -> None:
    report = Hub("exact_match").evaluate(str(LOGS / "agent.eval"))
    assert report.texts is not None
    assert report.texts[1]["predictions"] == "In Bern it is sunny."


def chat(trace: str, *texts: str) -> dict[str, Any]:
    """A span in the form of OTLP, whose texts are the user's and the assistant's in turn."""
    roles = ["user", "assistant"] * len(texts)
    messages = [
        {"role": role, "parts": [{"type": "text", "content": text}]}
        for role, text in zip(roles, texts, strict=False)
    ]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small-1",
        "gen_ai.input.messages": json.dumps(messages[:-1]),
        "gen_ai.output.messages": json.dumps(messages[-1:]),
    }
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return {"traceId": trace, "spanId": "00", "attributes": pairs}


def export(*spans: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]})


def test_every_trace_is_a_sample_with_its_longest_chat(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    tool = {"traceId": "b", "attributes": [{"key": "gen_ai.tool.name", "value": {}}]}
    # The spans of a trace may be in several exports, and those of others between them.
    lines = [
        export(chat("a", "Hi", "Hello"), chat("b", "Who?", "Me.")),
        export(tool, chat("a", "Hi", "Hello", "Bye", "Bye!")),
    ]
    path.write_text("\n".join(lines), "utf-8")
    report = judged(str(path))
    assert [talk(report, i)[-1] for i in (0, 1)] == [("assistant", "Bye!"), ("assistant", "Me.")]
    assert len(talk(report, 0)) == 4
    assert report.metadata["id"] == ["a", "b"]
    assert report.metadata["model"] == ["small-1", "small-1"]


def test_a_file_may_be_one_export_and_spans_one_a_line(tmp_path: Path) -> None:
    document, lines = tmp_path / "traces.json", tmp_path / "spans.jsonl"
    document.write_text(export(chat("a", "Hi", "Hello")), "utf-8")
    span = {
        "context": {"trace_id": "0xa"},
        "attributes": {"gen_ai.output.messages": [{"role": "assistant", "content": "Hello"}]},
    }
    lines.write_text(json.dumps(span), "utf-8")
    for path in (document, lines):
        assert talk(judged(str(path)), 0)[-1] == ("assistant", "Hello")


def test_spans_that_name_no_trace_have_the_same_ids_in_every_run(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    span = {"attributes": {"gen_ai.output.messages": [{"role": "assistant", "content": "Hello"}]}}
    path.write_text("\n".join([json.dumps(span)] * 2), "utf-8")
    assert judged(str(path)).metadata["id"] == ["0", "1"]


def test_a_trace_without_messages_says_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    path.write_text(export({"attributes": [{"key": "gen_ai.system", "value": {}}]}), "utf-8")
    with pytest.raises(FileError, match=r"no span of this trace has gen_ai\.input\.messages"):
        judged(str(path))
