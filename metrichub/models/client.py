"""Connection: how an OpenAI-compatible server is reached, and what its failures mean."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from metrichub.catalog.parameters import Address, Range, Secret, check_parameters, off_default
from metrichub.catalog.spec import Spec
from metrichub.errors import JudgeError, JudgeUnavailable, MissingDependency, ParameterError, listed
from metrichub.models.call import running_call
from metrichub.models.failures import as_judge_error, masked
from metrichub.models.limits import Limiter
from metrichub.models.secrets import (
    is_address,
    passwords_in,
    query_of,
    with_secrets,
    without_password,
    without_query,
    without_secrets,
)
from metrichub.models.session import Session, per_loop
from metrichub.models.store import Store, store
from metrichub.models.usage import Prices, batch_of_run, spent_on

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from metrichub.models.batch_files import BatchRun

T = TypeVar("T")
_NOT_IN_LABEL = (
    "timeout",
    "max_retries",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "prices",
    "cache",
    "path",
    "extra_headers",
    "api_key",
    "form",
)
_ASKED = ("model", "messages", "input", "response_format", "stream")
"""Fields of a request that `extra_body` can't change, beside those of set parameters."""
_ENDPOINTS = ("/v1/chat/completions", "/v1/embeddings")
_ANY = 1_000_000
"""Calls that may be in flight where no server is asked."""
_RETRIES = 2
"""How often the client tries again of itself."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A model behind an OpenAI-compatible server; frozen, picklable, and without an open client.

    Attributes:
        model: The name of the model.
        base_url: The server; by default OPENAI_BASE_URL, or OpenAI's own.
        timeout: Seconds until the whole reply to a call has arrived; by default the client's own.
        max_retries: How often the client retries a call; by default its own setting. A 429 is
            retried for ten minutes whatever it is, and a time-out beside other calls up to twice.
        concurrency: The maximum number of calls in flight. A run starts with 4, and has fewer
            where the server is slow.
        requests_per_minute: The maximum number of requests per minute, retries too, over all
            workers of a run; they go out evenly.
        tokens_per_minute: The maximum number of tokens sent and received per minute, over all
            workers of a run; those of a prompt are estimated beforehand.
        prices: The price of a million prompt tokens and of a million completion tokens, for
            estimates and reports.
        cache: Whether to store answers in the call store and reuse them.
        api_key: The key; by default OPENAI_API_KEY. It appears in no repr, label, pickle, report or
            store.
        extra_headers: Headers of every request, for example for a gateway; secret like the key.
        extra_body: Further parameters of every request, such as vLLM's
            `{"chat_template_kwargs": {"enable_thinking": False}}`.
    """

    is_model: ClassVar[bool] = True
    note: ClassVar[str | None] = None

    model: str = ""
    base_url: Annotated[str | None, Address()] = None
    timeout: Annotated[float, Range(0)] | None = None
    max_retries: Annotated[int, Range(0)] | None = None
    concurrency: Annotated[int, Range(1)] = 16
    requests_per_minute: Annotated[int, Range(1)] | None = None
    tokens_per_minute: Annotated[int, Range(1)] | None = None
    prices: tuple[Annotated[float, Range(0)], ...] = ()
    cache: bool = True
    api_key: Annotated[str | None, Secret()] = field(default=None, repr=False)
    extra_headers: Annotated[Mapping[str, str] | None, Secret()] = field(default=None, repr=False)
    extra_body: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Fill in what the environment says, and check the rest."""
        check_parameters(self, self._name())
        if len(self.prices) not in (0, 2):
            raise ParameterError(
                self._name(), "prices", self.prices, "two prices, of prompt and completion tokens"
            )
        object.__setattr__(self, "base_url", self.base_url or os.environ.get("OPENAI_BASE_URL"))
        if self.base_url and not is_address(self.base_url):
            shown = self.base_url.rpartition("@")[2]
            allowed = "an address that starts with http:// or https://, with a port up to 65535"
            raise ParameterError(self._name(), "base_url", shown, allowed)
        for name in ("extra_headers", "extra_body"):
            if (mapping := getattr(self, name)) is not None:
                object.__setattr__(self, name, _Frozen(mapping))
        fixed = {*_ASKED, *off_default(self)}
        if changed := [name for name in self.extra_body or () if name in fixed]:
            allowed = f"further parameters, as {listed(changed)} can't be changed by it"
            raise ParameterError(self._name(), "extra_body", self.extra_body, allowed)
        try:
            json.dumps(self.extra_body, allow_nan=False)
        except (TypeError, ValueError) as error:
            allowed = f"values that JSON can hold ({error})"
            raise ParameterError(self._name(), "extra_body", self.extra_body, allowed) from None

    def __getstate__(self) -> dict[str, Any]:
        """The fields to pickle, without key, password and headers."""
        if not self.base_url or not passwords_in(self.base_url):
            return without_secrets(vars(self), ("api_key", "extra_headers"))
        return without_secrets(vars(self), ("api_key", "extra_headers", "base_url")) | {
            "address": without_password(self.base_url)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the fields; the secrets are those that this process knows, or the environment's."""
        address = state.pop("address", None)
        fields = with_secrets(state)
        fields["base_url"] = fields["base_url"] or address
        vars(self).update(fields)

    @property
    def label(self) -> str:
        """The spec with all that affects the answers: model, server, parameters; no keys."""
        parameters = {"model": self.model} | off_default(self)
        if self.base_url:
            parameters["base_url"] = without_password(self.base_url)
        shown = {key: value for key, value in parameters.items() if key not in _NOT_IN_LABEL}
        return str(Spec(self._name(), shown))

    def __repr__(self) -> str:
        """The label, as the fields may hold a password."""
        return f"<{self.label}>"

    def _name(self) -> str:
        return "openai"

    def _live(self) -> Session:
        batch = batch_of_run()

        def make() -> Session:
            prices = Prices(*self.prices) if self.prices else None
            if batch:
                client, limiter = partial(self._folder_client, batch), Limiter(self.model, _ANY)
                # A batch can't learn what a server accepts.
                return Session(client, limiter, prices, form=self._form_in_batch())
            limits = (self.concurrency, self.requests_per_minute, self.tokens_per_minute)
            key = ("limiter", self.base_url, self.model, self._key(), limits)
            limiter = per_loop(key, lambda: Limiter(self.model, *limits))
            return Session(self._client, limiter, prices)

        return per_loop(self, make)

    def _store(self) -> Store | None:
        """The store, unless the judge or METRICHUB_NO_CACHE does without."""
        return None if not self.cache or os.environ.get("METRICHUB_NO_CACHE") else store()

    def ready(self) -> None:
        """Raise what a call would, if that is known beforehand: no client, or no key."""
        self._client()

    def _form_in_batch(self) -> str:
        """The form of all requests of a batch."""
        return "embeddings"

    def _folder_client(self, batch: BatchRun) -> AsyncOpenAI:
        """A client that answers from a batch folder and contacts no server."""
        # It imports the openai package.
        client = self._client_class()
        from metrichub.models.transport import FolderTransport, LimitedClient

        tries = 1 + (_RETRIES if self.max_retries is None else self.max_retries)

        def answer(path: str, content: bytes) -> tuple[int, Any] | None:
            url = next(url for url in _ENDPOINTS if path.endswith(url.removeprefix("/v1")))
            call = running_call.get(None)
            return batch.reply(call.keys[0] if call else "", url, content, tries)

        return client(api_key="none", http_client=LimitedClient(transport=FolderTransport(answer)))

    def _client_class(self) -> type[AsyncOpenAI]:
        try:
            from openai import AsyncOpenAI
        except ImportError as error:
            raise MissingDependency(f"the judge {self.label}", "openai") from error
        return AsyncOpenAI

    def _client(self) -> AsyncOpenAI:
        client = self._client_class()
        key = self._key()
        if not (key or self.base_url):
            raise JudgeUnavailable(
                f"{self.label} needs a key: set OPENAI_API_KEY, give the address of your own "
                "server as base_url, or choose 'offline'"
            )
        from metrichub.models.transport import LimitedClient

        options: dict[str, Any] = {"timeout": self.timeout, "max_retries": self.max_retries}
        if self.base_url:
            options |= {"base_url": without_query(self.base_url)}
            options |= {"default_query": query_of(self.base_url) or None}
        return client(
            # A local server asks for no key, but the client does.
            api_key=key or "none",
            default_headers=self.extra_headers,
            http_client=LimitedClient(),
            **{name: value for name, value in options.items() if value is not None},
        )

    def _key(self) -> str | None:
        """The key, or that of the environment, which isn't kept."""
        # A key out of a file often ends in a line feed, which no header may hold.
        return (self.api_key or os.environ.get("OPENAI_API_KEY") or "").strip() or None

    @property
    def has_secrets(self) -> bool:
        """Whether it has fields that no report may show."""
        return bool(self.api_key or self.extra_headers or passwords_in(self.base_url or ""))

    def _endpoint(self) -> dict[str, str]:
        """The hash of the address's query, which the key of a request needs beside the label."""
        query = urlsplit(self.base_url or "").query
        return {"query": hashlib.sha256(query.encode()).hexdigest()} if query else {}

    async def _sent(
        self,
        live: Session,
        create: Callable[[AsyncOpenAI], Awaitable[T]],
        tokens: Callable[[], int],
        reply_tokens: Callable[[], int] = int,
    ) -> T:
        """The client's answer to the running call, in one of the slots.

        `tokens` estimates how many are sent, and `reply_tokens` how many come back.

        Raises:
            BudgetSpent: the call would pass what the run may take.
            JudgeUnavailable: no key, a wrong one, no such model, no server, no credit.
            JudgeError: any other failure, after the client's own retries.
        """
        client, call = live.client, running_call.get()
        async with live.limiter.slots:
            with call.sending(self.label, tokens(), reply_tokens):
                done = await self._called(client, create)
                took = spent_on(done)
                # A server that says nothing of tokens took some all the same.
                call.end(took if took.tokens else None)
                return done

    async def _called(self, client: AsyncOpenAI, call: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
        import openai

        from metrichub.models.transport import Ended

        try:
            return await call(client)
        except Ended as ended:
            raise ended.error from None
        except openai.OpenAIError as error:
            raise as_judge_error(error, self.label, self._error_text) from None
        except (AttributeError, TypeError, ValueError, OSError, RecursionError) as error:
            # The client stumbles over answers of another form than it expects.
            raise JudgeError(f"{self.label} sent an unreadable answer: {error}") from None

    def _error_text(self, error: object) -> str:
        """The text of an error on one short line, without secrets, which servers echo."""
        line = " ".join(str(error).split()) or type(error).__name__
        secrets = [self._key(), *passwords_in(self.base_url or "")]
        secrets += (self.extra_headers or {}).values()
        for secret in filter(None, secrets):
            for form in dict.fromkeys(
                (secret.strip(), " ".join(secret.split()), repr(secret)[1:-1])
            ):
                line = masked(line, form)
        return line if len(line) <= 300 else f"{line[:297]}..."


class _Frozen(dict[str, Any]):
    """A mapping that can be hashed, as a field of a frozen dataclass."""

    def __hash__(self) -> int:  # type: ignore[override]  # nobody changes it
        return hash(json.dumps(self, sort_keys=True, default=repr))


def clean(text: str) -> str:
    """The text with replacement characters for lone surrogates, which UTF-8 can't hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def served_models(connection: Connection) -> list[str]:
    """The names of the models on a server, by one call that costs nothing.

    Raises:
        JudgeUnavailable, JudgeError: as any call would.
    """

    async def ask() -> list[str]:
        # The connection makes the client and words its errors, without a secret in them.
        async with connection._client() as client:  # noqa: SLF001
            page = await connection._called(client, lambda client: client.models.list())  # noqa: SLF001
            return [model.id for model in page.data]

    return asyncio.run(ask())
