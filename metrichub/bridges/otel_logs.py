"""Reader of exported traces of OpenTelemetry whose spans follow the conventions for GenAI.

A file holds JSON of OTLP, whole or an export a line, or a span a line. Each trace is a sample: its
last chat, whose input repeats the earlier ones, is the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from metrichub.data.conversations import conversation
from metrichub.data.readers import Row
from metrichub.data.traces import attributes_of, spans_of


def matches(row: Row) -> bool:
    """Whether this is an export of OTLP, or a span about a model."""
    return "resourceSpans" in row or bool("attributes" in row and attributes_of(row))


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """One row per trace, in the order of their first spans, with its id, model and messages.

    Raises:
        ValueError: no span has messages.
    """
    traces: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        for span in spans_of(row) if "resourceSpans" in row else [row]:
            chat = attributes_of(span)
            if any(name.endswith(".messages") for name in chat):
                # A span that names no trace is one of its own.
                traces.setdefault(_trace_id(span) or str(len(traces)), []).append(span)
    if not traces:
        raise ValueError(
            "no span of this trace has gen_ai.input.messages or gen_ai.output.messages"
        )
    for trace, spans in traces.items():
        model = attributes_of(spans[-1]).get("gen_ai.request.model")
        yield {"id": trace, "model": model, "messages": conversation(spans)}


def _trace_id(span: Mapping[str, Any]) -> str:
    context = span.get("context") or {}
    trace = span.get("traceId") or span.get("trace_id") or context.get("trace_id")
    return str(trace or span.get("spanId") or "")
