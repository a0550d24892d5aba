"""Views: templates, and answers that survive any text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from metrichub.data.values import json_value
from metrichub.report.html.markup import slug

HOME = Path(__file__).parent


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


def page(request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Page:
    """A template's page; it also sees its status, the request's path and the server's settings."""
    seen = {"path": request.url.path, "settings": request.app.state.settings, "status": status}
    return Page(_environment().get_template(template).render({**seen, **context}), status)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HOME / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"json": json.dumps, "moment": moment, "size": file_size, "slug": slug}
    return environment


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
