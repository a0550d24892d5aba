"""The running app for tests in a browser, with a plugin whose card is hostile; and files for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests import plugins
from tests.app_client import serving

RUN = "window.hacked = 1; alert(1)"
HOSTILE = (
    f"<script>{RUN}</script>",
    f"\"'><img src=x onerror='{RUN}'>",
    f"</textarea></script><svg onload='{RUN}'>",
    f'<a href="javascript:{RUN}">x</a> [x](javascript:alert(1))',
    "{{ 7 * 7 }} </style><style>body { display: none }</style>",
)
# wer: one of 3 words replaced, none of 1. abstractness: "c" is new, of 3 words and 1.
ROWS = (
    {"id": "x", "prediction": "a b c", "reference": "a b d"},
    {"id": "y", "prediction": "d", "reference": "d"},
)


@contextmanager
def running(site: Path) -> Iterator[str]:
    """The address of a server that finds the plugin in this folder."""
    text = "\n".join((plugins.CARD.format(name="hostile"), *HOSTILE, ""))
    card = text.replace("{", "{{").replace("}", "}}")
    plugins.metric(site, "toy_pack", "hostile", card=card)
    plugins.distribution(site, "toy-pack", ["hostile = toy_pack.hostile:Toy"])
    asked = ("--judge", "offline", "--embedder", "offline")
    with serving(*asked, **plugins.environment(site)) as (address, _):
        yield address


def lines(rows: Sequence[object]) -> str:
    """The samples as JSONL."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def file_of(folder: Path, rows: Sequence[object] = ROWS) -> Path:
    """A file of samples."""
    path = folder / "a.jsonl"
    path.write_text(lines(rows), encoding="utf-8")
    return path
