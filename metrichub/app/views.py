"""Views: templates, numbers for readers, and answers that survive any text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from metrichub.data.values import json_value
from metrichub.report.html.markup import html, slug
from metrichub.report.html.theme import THEME
from metrichub.report.tables import format_cell

HOME = Path(__file__).parent
STATIC = HOME / "static"


class Page(HTMLResponse):
    """A page; lone surrogates, which have no UTF-8, become question marks."""

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return str(content).encode("utf-8", "replace")


class Json(Response):
    """JSON in ASCII, which holds any text; `nan` is null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return json.dumps(json_value(content), allow_nan=False).encode()


def page(
    request: Request, template: str, context: Mapping[str, Any] | None = None, status: int = 200
) -> Page:
    """A template's page; it also sees the request's path and the server's settings."""
    text = (
        _environment()
        .get_template(template)
        .render(
            path=request.url.path,
            settings=request.app.state.service.settings,
            **(context or {}),
        )
    )
    return Page(text, status)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HOME / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "columns": row_keys,
        "json": json.dumps,
        "kind": trace_kind,
        "moment": moment,
        "size": file_size,
        "number": number,
        "plain": json_text,
        "slug": slug,
        "ticked": ticked,
    }
    environment.globals |= {"asset": asset}
    return environment


@cache
def asset(name: str) -> str:
    """The address of a file in the folder `static`, which changes with its content."""
    path = THEME if name == THEME.name else STATIC / name
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


def markdown(text: str, link: Any) -> Markup:
    """A card's Markdown as HTML that templates show as it is."""
    return Markup(html(text, link))  # noqa: S704  # it comes out of an allowlist


def number(value: object) -> Markup:
    """A number as tables show it, with all its digits behind."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Markup.escape(format_cell(None) if value is None else value)
    return Markup('<data value="{}">{}</data>').format(repr(value), format_cell(value))


def moment(when: datetime) -> Markup:
    """A time as the clock of the server's machine shows it."""
    local = when.astimezone()
    shown = f"{local:%Y-%m-%d %H:%M}"
    return Markup('<time datetime="{}">{}</time>').format(local.isoformat(), shown)


def file_size(count: int) -> str:
    """A number of bytes for readers.

    >>> file_size(20), file_size(51_200), file_size(3 << 30)
    ('20 bytes', '50 kB', '3,072 MB')
    """
    if count < 1024:
        return f"{count} bytes"
    return f"{count / 1024:.0f} kB" if count < 1 << 20 else f"{count / (1 << 20):,.0f} MB"


def json_text(value: object) -> str:
    """A value in the words of JSON, texts as they are."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def ticked(text: str) -> Markup:
    """A text in which what stands between backticks is code."""
    parts = [Markup.escape(part) for part in text.split("`")]
    codes = [
        Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts)
    ]
    return Markup("").join(codes)


def row_keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys of all rows, in the order in which they come up; a row's number says nothing."""
    return [key for key in dict.fromkeys(key for row in rows for key in row) if key != "index"]


def trace_kind(value: object) -> str:
    """How a template shows a part of an explanation."""
    if isinstance(value, Mapping):
        return "mapping"
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(item, Mapping) for item in value):
            keys = set(value[0]).intersection(*value)
            shapes = {"marks": {"text", "kind"}, "edits": {"kind", "reference", "prediction"}}
            return next((name for name, has in shapes.items() if has <= keys), "table")
        return "list" if any(isinstance(item, (list, Mapping)) for item in value) else "row"
    return "text"
