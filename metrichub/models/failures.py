"""Failures: the errors of the openai client in our words, each in one line without a secret."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from metrichub.errors import JudgeError, JudgeUnavailable

if TYPE_CHECKING:
    import openai

_PAYMENT_REQUIRED, _FORBIDDEN, _TOO_LARGE = 402, 403, 413
_REFUSED = (400, _TOO_LARGE, 422)
_UNKNOWN_REQUESTS = (405, 501)
_SERVER_ERRORS = 500
FAILED_DEPENDENCY = 424
"""A passing failure that the client doesn't try again of itself."""
PENDING = "x-metrichub-pending"
"""The header of a reply to a request that waits for a batch."""
_LONG = 8
"""The length from which keys and passwords are masked inside words, too."""
_TEXT_CODES = {
    *("context_length_exceeded", "string_above_max_length"),
    *("content_filter", "data_inspection_failed", "sensitive_words_detected"),
}
_TEXT_TROUBLE = re.compile(
    r"context (length|size|window)|context_length|too long|too large|too many tokens|"
    r"content (management|filter|policy)|moderation|safety|flagged|inappropriate content|"
    r"content exists risk|usage (policy|policies|guidelines)",
    re.IGNORECASE,
)
_UNREADABLE_CODE = "json_validate_failed"
"""The code of a server that reads the model's reply itself, and can't."""
_FORM_TROUBLE = re.compile("schema|response_format", re.IGNORECASE)
_BOUNDS_TROUBLE = re.compile(r"\b((min|max)_?items|enum)\b", re.IGNORECASE)
_ROLE_TROUBLE = re.compile(
    r"system role|role does not support system|roles? must alternate|user and assistant roles|"
    r"developer instruction",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


class AnswerPending(JudgeError):
    """The answer waits for a batch, which has been asked for it: no failure of the sample."""


class ServerFailure(JudgeError):
    """A call that was given up for the server's fault: no reply in time, a broken one, a 5xx."""


class Unreadable(JudgeError):
    """A reply that isn't of the type that was asked for; asking again may help."""


class ModelRefused(JudgeError):
    """The model declined to answer, which it may not do when it is asked again."""


class Refused(JudgeError):
    """The server took the request for a bad one; another form of it may do.

    `for_its_texts` is whether they are the cause, being too long or filtered: other texts may do.
    `for_bounds` is whether it is that a schema bounds a list or lists the values of a field, and
    `for_roles` whether it is the roles of its messages.
    """

    def __init__(
        self, message: str, for_its_texts: bool, for_bounds: bool = False, for_roles: bool = False
    ) -> None:
        super().__init__(message)
        self.form = ""
        self.for_its_texts, self.for_bounds, self.for_roles = for_its_texts, for_bounds, for_roles


def _refused(error: openai.APIStatusError, who: str, text: str) -> Refused:
    """The error of a refused request, with its causes as far as the server names them."""
    words = _words_of_server(_message_of(error), _texts_of(error.request.content))
    coded = error.status_code == _TOO_LARGE or {str(error.code), str(error.type)} & _TEXT_CODES
    worded = _TEXT_TROUBLE.search(words) and not _FORM_TROUBLE.search(words)
    return Refused(
        f"{who} refused the request: {text}",
        for_its_texts=bool(coded or worded),
        for_bounds=bool(_BOUNDS_TROUBLE.search(words)),
        for_roles=bool(_ROLE_TROUBLE.search(words)),
    )


def _message_of(error: openai.APIStatusError) -> str:
    """The client's message, with the whole reply where the client finds no message in it."""
    message = str(error)
    return message if " - " in message else f"{message} - {error.response.text or 'an empty reply'}"


def _texts_of(content: bytes) -> str:
    """The texts that a request holds."""
    try:
        body = json.loads(content)
    except ValueError:
        return ""
    texts = [str(message.get("content")) for message in body.get("messages", ())]
    return "\n".join([*texts, *map(str, body.get("input", ()))])


def _words_of_server(text: str, sent: str) -> str:
    """The words of an error without those that servers repeat from the request.

    A word is repeated where it stands in a run of three words of the request.
    """
    words, asked = (_WORD.findall(part.replace("\\n", " ")) for part in (text, sent))
    runs = set(zip(asked, asked[1:], asked[2:], strict=False))
    repeated = {
        place + i
        for place, run in enumerate(zip(words, words[1:], words[2:], strict=False))
        if run in runs
        for i in range(3)
    }
    return " ".join(word for i, word in enumerate(words) if i not in repeated)


def as_judge_error(error: Exception, who: str, text_of: Callable[[object], str]) -> JudgeError:
    """The client's error as ours: one line, with what to do; `text_of` words it safely."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return _of_status(error, who, text_of(_message_of(error)))
    if isinstance(error, openai.APITimeoutError):
        seconds = seconds_of(error.request, error.__cause__)
        return ServerFailure(
            f"{who} didn't answer within {seconds:g} s; lower concurrency or raise timeout"
        )
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        if type(cause).__name__ in ("ConnectError", "UnsupportedProtocol"):
            return JudgeUnavailable(
                f"{who}: the server can't be reached ({text_of(cause)}); check that it is running "
                "and that base_url is right, or without base_url the network and its proxy"
            )
        return ServerFailure(f"{who}: the connection broke ({text_of(cause or error)})")
    return JudgeError(f"{who} failed: {text_of(error)}")


def _of_status(error: openai.APIStatusError, who: str, text: str) -> JudgeError:
    """The error of a reply with a status of failure and this text."""
    import openai

    status = error.status_code
    if PENDING in error.response.headers:
        return AnswerPending("the answer is still to come from a batch")
    # Servers that fill in a chat template may fail on a role instead of refusing it.
    of_role = status == _SERVER_ERRORS and _ROLE_TROUBLE.search(text)
    if (status in (*_REFUSED, _FORBIDDEN) or of_role) and (
        refusal := _of_one_request(error, who, text)
    ):
        return refusal
    if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return JudgeUnavailable(
            f"{who}: the key was refused ({text}); set OPENAI_API_KEY to a valid one"
        )
    if isinstance(error, openai.NotFoundError):
        return JudgeUnavailable(
            f"{who}: no such model or address ({text}); check model and base_url"
        )
    if status == _PAYMENT_REQUIRED or getattr(error, "code", None) == "insufficient_quota":
        return JudgeUnavailable(f"{who}: no credit is left ({text})")
    if status in _UNKNOWN_REQUESTS:
        return JudgeUnavailable(f"{who}: the server doesn't support such requests ({text})")
    of_server = status >= _SERVER_ERRORS or status == FAILED_DEPENDENCY
    kind = ServerFailure if of_server else JudgeError
    return kind(f"{who} failed: {text}")


def _of_one_request(error: openai.APIStatusError, who: str, text: str) -> JudgeError | None:
    """The error of a status that may be due to one request; None if all requests would get it."""
    if error.code == _UNREADABLE_CODE:
        return Unreadable(text)
    refused = _refused(error, who, text)
    if error.status_code != _FORBIDDEN or refused.for_its_texts:
        return refused
    if isinstance(error.body, dict):
        return None
    return ServerFailure(
        f"{who}: what stands before the server, such as a proxy or a firewall, refused the request "
        f"({text}); check base_url and the network"
    )


def seconds_of(request: Any, error: object = None) -> float:
    """The timeout of a request in seconds, or that of its connection if an error is due to it."""
    part = "connect" if type(error).__name__ == "ConnectTimeout" else "read"
    return request.extensions.get("timeout", {}).get(part) or math.inf


def masked(text: str, secret: str) -> str:
    """A text without a secret, nor the start of one that was cut.

    A short one, such as a key that is a dummy, isn't part of a word.
    """
    if not secret:
        return text
    if len(secret) < _LONG:
        return re.sub(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", "***", text)
    return re.sub(rf"{re.escape(secret[:_LONG])}[\w.~+/=-]*", "***", text.replace(secret, "***"))
