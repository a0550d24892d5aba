"""Secrets: keys and passwords that stay in the process, out of every pickle."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

_travelling: ContextVar[bool] = ContextVar("travelling", default=False)
_left_out: dict[str, dict[str, Any]] = {}
"""The secrets that pickles of this process lack, by the token that stands for them there."""
_tokens: dict[str, str] = {}
_SHORT = 3


@contextmanager
def secrets_travel() -> Iterator[None]:
    """Let pickles hold secrets inside the block: for processes of this run, never for a file."""
    token = _travelling.set(True)
    try:
        yield
    finally:
        _travelling.reset(token)


def without_secrets(state: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """A state to pickle: fields that hold secrets are None, and a token stands for them."""
    secret = {name: state[name] for name in names if state[name] is not None}
    if _travelling.get() or not secret:
        return state
    token = _tokens.setdefault(repr(secret), os.urandom(16).hex())
    _left_out[token] = secret
    return {**state, **dict.fromkeys(secret), "secret": token}


def with_secrets(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a pickle, with its secrets if this process made it."""
    token = state.pop("secret", "")
    return {**state, **_left_out.get(token, {})}


def without_password(url: str) -> str:
    """A URL without user, password and query, any of which may be secret."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def is_address(url: str) -> bool:
    """Whether a URL is the address of a server, with a valid host and port."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    # Of a port or an IPv6 address that can't be.
    except ValueError:
        return False


def query_of(url: str) -> dict[str, str]:
    """The query of a URL by names, such as api-version."""
    return dict(parse_qsl(urlsplit(url).query))


def without_query(url: str) -> str:
    """A URL as far as its query."""
    return urlunsplit((*urlsplit(url)[:3], "", ""))


def passwords_in(url: str) -> list[str]:
    """The secrets of a URL: password or token, the header made of it, and the query's values."""
    parts = urlsplit(url)
    # Short ones are versions, and parts of many words.
    secrets = [value for value in query_of(url).values() if len(value) > _SHORT]
    if parts.username is None:
        return secrets
    # A user without a password is a token. What is sent is decoded.
    for user, password in (
        (parts.username, parts.password or ""),
        (unquote(parts.username), unquote(parts.password or "")),
    ):
        secrets += [base64.b64encode(f"{user}:{password}".encode()).decode(), password or user]
    return list(dict.fromkeys(secrets))
