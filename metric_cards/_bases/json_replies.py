"""JSON replies: the value that a model wrote, alone or in a fenced block, and objects as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from metric_cards._bases.strictjson import Reading, read, unfenced
from metrichub.text import without_thinking


def read_reply(text: str | None) -> Reading:
    """The JSON value of a reply, or else that of its first fenced block, preferably one of JSON.

    What a model thinks before it isn't part of the reply, unless all is JSON.
    """
    if text is None:
        return Reading(problem="empty")
    reading = read(text)
    if reading.problem in (None, "empty"):
        return reading
    reply = without_thinking(text)
    if reply != text:
        reading = read(reply)
    if reading.problem in (None, "empty") or ("```" not in reply and "~~~" not in reply):
        return reading
    return read(unfenced(reply))


def unread_note(parsed: float, form: str = "JSON") -> Sequence[str]:
    """A note where no prediction could be read, which is rather a matter of its form."""
    if parsed:
        return ()
    return (
        f"no prediction is {form}, so that all score 0; JSON may stand behind thinking or in a "
        "fenced block, but not among other words",
    )


def reply_text(value: object) -> Any:
    """An object as JSON text, or the texts of a list as they are: several replies or references.

    They are several if one holds a JSON object or list, or all a JSON text; else the list is one
    value.

    Raises:
        ValueError: it has no JSON, or is None.
    """
    if value is None:
        raise ValueError("is None; give JSON text or an object, or 'null' for JSON's null")
    if isinstance(value, (list, tuple)) and value and {*map(type, value)} == {str}:
        held = [type(read_reply(item).value) for item in value]
        if dict in held or list in held or {*held} == {str}:
            return list(value)
    return json_text(value)


def json_text(value: object) -> str:
    """An object as JSON text, for metrics that read JSON.

    Raises:
        ValueError: it has no JSON.
    """
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"isn't JSON ({error})") from error


def _plain(value: Any) -> Any:
    """An array or a number of numpy, a model of pydantic or another mapping as Python's own."""
    for name in ("model_dump", "tolist"):
        method = getattr(value, name, None)
        if callable(method) and not isinstance(value, type):
            return method()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
