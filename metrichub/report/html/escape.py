"""Embedding: data, scripts and images inside a page that loads nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re

_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def script_json(value: object) -> str:
    """A value as JSON; it may hold no number that isn't finite."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def inside_script(text: str) -> str:
    """JSON that can stand in a script element: nothing in it ends the element.

    What HTML or JavaScript could misread is escaped, and so are lone surrogates, which UTF-8
    can't hold.
    """
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def digest(text: str) -> str:
    """What a Content-Security-Policy calls a script or style of this text."""
    found = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(found).decode('ascii')}'"


def readable(text: str) -> str:
    """A text that UTF-8 can hold; a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
