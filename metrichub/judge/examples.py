"""Few-shot examples: data and the reply to it, which a model is shown before the data to judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from metrichub.errors import MetricError

SUFFIX = ".examples.jsonl"
"""How the name of a prompt's file of examples ends: claims.examples.jsonl beside claims.md."""

Question = Literal["extract", "verify", "grade", "choose"]
"""What a judge is asked to do."""

_REPLIES: Mapping[frozenset[str], Question] = {
    frozenset({"items"}): "extract",
    frozenset({"verdicts"}): "verify",
    frozenset({"reason", "score"}): "grade",
    frozenset({"reason", "winner"}): "choose",
}
_VERDICT = {"index": int, "reason": str, "verdict": str}


class FewShot(NamedTuple):
    """One example of a prompt: the data and the right reply, both as the JSON text that is sent."""

    data: str
    reply: str
    question: Question


def read_examples(path: Path) -> tuple[FewShot, ...]:
    """The examples in a file with one `{"fields": {…}, "reply": {…}}` a line; none if no file.

    `fields` is what the model gets as the user message, and `reply` what it sends back: `items`,
    `verdicts`, a `reason` with a `score`, or a `reason` with a `winner`.

    Raises:
        MetricError: the file can't be read, or a line of it isn't such an example.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
        raise MetricError(f"the examples {path} can't be read: {why}") from error
    return tuple(_examples(path, text))


def _examples(path: Path, text: str) -> Iterator[FewShot]:
    # Not splitlines: JSON strings may hold the line separators of Unicode.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield _example(line)
        except ValueError as error:
            raise MetricError(f"the examples {path}, line {number}: {error}") from error


def _example(line: str) -> FewShot:
    """The example on a line.

    Raises:
        ValueError: it is none, and why.
    """
    try:
        found = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"no JSON object ({getattr(error, 'msg', 'too deep')})") from error
    if not isinstance(found, dict) or found.keys() != {"fields", "reply"}:
        raise ValueError('an example is {"fields": {…}, "reply": {…}} with no other keys')
    fields, reply = found["fields"], found["reply"]
    if not isinstance(fields, dict) or not fields:
        raise ValueError("`fields` has to be an object with at least one field")
    question = _REPLIES.get(frozenset(reply)) if isinstance(reply, dict) else None
    if question is None:
        raise ValueError(
            "`reply` has to be an object with `items`, with `verdicts`, with `reason` and `score`, "
            "or with `reason` and `winner`"
        )
    _check_reply(fields, reply, question)
    return FewShot(_json(fields, indent=1), _json(reply), question)


def _check_reply(fields: Mapping[str, Any], reply: Mapping[str, Any], question: Question) -> None:
    """Raise ValueError unless the values of a reply are of the types that a judge's have to be."""
    if question == "extract":
        items = reply["items"]
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise ValueError("`items` has to be a list of strings")
    elif question == "verify":
        _check_verdicts(fields.get("items"), reply["verdicts"])
    elif not isinstance(reply["reason"], str):
        raise ValueError("`reason` has to be a string")
    elif question == "grade" and type(reply["score"]) is not int:
        raise ValueError("`score` has to be a whole number")
    elif question == "choose" and reply["winner"] not in ("A", "B", "tie"):
        raise ValueError("`winner` has to be A, B or tie")


def _check_verdicts(items: Any, verdicts: Any) -> None:
    if not isinstance(verdicts, list) or not all(map(_is_verdict, verdicts)):
        raise ValueError("`verdicts` has to be a list of objects with index, reason and verdict")
    if not isinstance(items, list) or not all(map(_is_item, items)):
        raise ValueError("`fields` needs `items`, a list of objects with index and text")
    if [item["index"] for item in items] != [verdict["index"] for verdict in verdicts]:
        raise ValueError("`verdicts` has to hold one verdict for each of `items`, in their order")


def _is_verdict(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and one.keys() == _VERDICT.keys()
        and all(type(one[name]) is kind for name, kind in _VERDICT.items())
    )


def _is_item(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and one.keys() == {"index", "text"}
        and type(one["index"]) is int
        and isinstance(one["text"], str)
    )


def _json(given: Mapping[str, Any], indent: int | None = None) -> str:
    return json.dumps(given, ensure_ascii=False, indent=indent)
