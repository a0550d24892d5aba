"""Structured output: a prompt sent in a form that its server accepts, and its reply read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from metrichub.catalog.parameters import choices_of
from metrichub.errors import JudgeError
from metrichub.judge.prompt_files import FewShot
from metrichub.models.client import Connection, clean
from metrichub.models.failures import ModelRefused, Refused, Unreadable
from metrichub.models.session import Session
from metrichub.models.usage import Answer, batch_of_run, cuts_of_row, spent_on, tokens_in

if TYPE_CHECKING:
    from metrichub.judge.replies import Completion, Reply

Read = Callable[["Completion"], "Reply"]
"""From what a server sent to the reply in it; raises `Unreadable`."""
Form = Literal["json_schema", "json_object", "text"]
_FORMATS: tuple[Form, ...] = choices_of(Form)
EXAMPLES_RULE = (
    "Before it stand examples: other user messages, each with the right reply. Nothing in them is "
    "about the texts to examine."
)
_QUOTED = 8_000
"""How many characters of a reply of no use are sent back."""
_AGAIN = (
    "That reply can't be used: {}. Give the whole reply again, as one JSON object that fits the "
    "schema, and nothing else."
)


class PromptRequest(NamedTuple):
    """Instructions, data, the schema of the reply, and further parameters of the request.

    `examples` are shown to the model before the data. `before` is an earlier reply of no use and
    its problem. `typical` makes a reply of the size that a model is likely to send; only estimates
    call it.
    """

    system: str
    data: Mapping[str, Any]
    schema: Mapping[str, Any]
    typical: Callable[[], Mapping[str, Any]]
    more: Mapping[str, Any] = MappingProxyType({})
    examples: tuple[FewShot, ...] = ()
    before: tuple[str, str] | None = None

    def again(self, content: str, problem: str) -> PromptRequest:
        """The same request after a reply that is of no use, with what is wrong with it."""
        return self._replace(before=(content[:_QUOTED], problem))

    def messages(self, with_schema: bool, with_system: bool = True) -> list[dict[str, str]]:
        """The messages; `with_schema` the instructions hold it, for servers that take none.

        Without a role of their own the instructions stand before the first of the user's messages.
        """
        system = f"{self.system} {EXAMPLES_RULE}" if self.examples else self.system
        if with_schema:
            system += (
                "\n\nReply with one JSON object, and nothing else, that fits this JSON schema:\n"
                f"{json.dumps(self.schema)}"
            )
        data = clean(json.dumps(self.data, ensure_ascii=False, indent=1))
        messages = [{"role": "system", "content": system}]
        for shown in self.examples:
            messages.append({"role": "user", "content": clean(shown.data)})
            messages.append({"role": "assistant", "content": clean(shown.reply)})
        messages.append({"role": "user", "content": data})
        if self.before:
            content, problem = self.before
            # Some templates refuse messages that don't take turns.
            messages.append({"role": "assistant", "content": content or "(an empty reply)"})
            messages.append({"role": "user", "content": _AGAIN.format(problem)})
        if not with_system:
            instructions = messages.pop(0)["content"]
            messages[0]["content"] = f"{instructions}\n\nUser message:\n{messages[0]['content']}"
        return messages

    def sent(self) -> object:
        """All that is sent, whose tokens estimates and budgets count."""
        return [self.messages(with_schema=False), self.schema]

    def likely(self) -> tuple[str, object]:
        """A reply of the size that a model is likely to send, as JSON, and all that is sent."""
        return json.dumps(self.typical()), self.sent()


@dataclass(frozen=True, kw_only=True, repr=False)
class ChatConnection(Connection):
    """A connection to a server of chats, whose replies are structured in one form or another.

    Attributes:
        form: The form of replies that the server is asked for. The first request of a run finds
            out which one it knows unless it is given; in a batch it is "json_schema" then.
    """

    form: Form | None = None

    def _form_in_batch(self) -> str:
        return self.form or _FORMATS[0]

    async def _answer(self, live: Session, request: PromptRequest, read: Read) -> Answer:
        """The answer of the model, read and checked; an unreadable one is asked for once more.

        A server that knows no schemas gets JSON mode, and one that knows neither plain text, both
        with the schema in the prompt. Until it has accepted a form, requests are made one by one,
        so that each form is tried once a run; what worked is remembered.

        Raises:
            JudgeUnavailable: the server refused the requests of the first two rows in every form.
            JudgeError: any other failure.
        """
        return await live.negotiated(
            lambda: self._in_first_form(live, request, read),
            lambda form: self._in_form(live, request, read, form),
        )

    async def _in_first_form(self, live: Session, request: PromptRequest, read: Read) -> Answer:
        """The answer in the first form that the server accepts."""
        refused: list[Refused] = []
        # A form that was refused is not tried again, even while no reply could be read.
        formats = (self.form,) if self.form else _FORMATS
        while forms := [form for form in formats if form not in live.refused]:
            try:
                return await self._in_form(live, request, read, forms[0])
            except Refused as error:
                if error.for_its_texts:
                    raise
                refused.append(error)
                live.refused.add(error.form)
        live.refused.clear()
        so = "the server accepts no form of this request, so the run stops"
        raise live.refusal(refused[0], cuts_of_row.get(), so)

    async def _in_form(
        self, live: Session, original: PromptRequest, read: Read, form: str
    ) -> Answer:
        """The answer in one form; an unreadable reply is sent back once, with what is wrong.

        A model that refuses is asked once more, too.
        """
        request, spent, problem, first = original, Answer(""), "", form
        for last in (batch_of_run() is not None, True):
            content = ""
            try:
                done, took = await self._completed(live, request, form)
                spent, content = both(spent, took), done.content
                reply, repairs = _read(read, done, request)
            except ModelRefused:
                # A batch answers the same request once.
                if last:
                    raise
            except Unreadable as error:
                problem, request = str(error), original.again(content, str(error))
                # A server that ignores schemas can only be told of them in the prompt.
                if live.form is None and self.form is None and form == "json_schema":
                    form = "text" if "json_object" in live.refused else "json_object"
            else:
                if form == first or live.doubted:
                    live.form = live.form or form
                live.doubted = form != first
                return spent._replace(reply=reply.model_dump_json(), repairs=repairs)
        raise JudgeError(f"{self.label}: {self._error_text(problem)}")

    async def _completed(
        self, live: Session, request: PromptRequest, form: str
    ) -> tuple[Completion, Answer]:
        """The server's completion in one form, without parameters that it refuses.

        A schema goes without bounds then, and instructions as part of the user's message.

        Raises:
            Refused: the server takes no such form.
        """
        bounded, system = live.bounded, live.system
        try:
            return await self._replied(live, request, form)
        except Refused as error:
            error.form = form
            if error.for_roles and system:
                live.system = False
            elif error.for_bounds and bounded and form == "json_schema":
                live.bounded = False
            else:
                raise
        return await self._completed(live, request, form)

    async def _replied(
        self, live: Session, request: PromptRequest, form: str
    ) -> tuple[Completion, Answer]:
        from metrichub.judge.replies import Reply, completion_of, is_reply, repeats_itself

        parameters = self._parameters() | dict(request.more)
        messages = request.messages(form != "json_schema", live.system)
        most = parameters.get("max_completion_tokens") or parameters.get("max_tokens")
        done = await self._sent(
            live,
            lambda client: client.chat.completions.create(
                model=self.model,
                # In the body as they are: the client's walk through messages and a schema takes
                # a third of a call's computing.
                messages=[],
                # Made now: the bounds may have been refused a moment ago.
                extra_body={"messages": messages}
                | dict(self.extra_body or {})
                | _response_format(request.schema, form, live.bounded),
                **parameters,
            ),
            lambda: tokens_in(request.sent()),
            lambda: most or max(live.largest_reply, tokens_in(request.typical())),
        )
        live.accepted, took = True, spent_on(done)
        live.largest_reply = max(live.largest_reply, took.completion_tokens)
        completion = completion_of(done)
        if completion.refusal:
            raise ModelRefused(
                f"{self.label} refused to answer: {self._error_text(completion.refusal)}"
            )
        if completion.finish_reason == "content_filter":
            raise JudgeError(f"{self.label}: a content filter stopped the reply")
        # What was cut off may have been all that followed the reply.
        if completion.finish_reason == "length" and not is_reply(Reply, completion.content):
            way = "raise max_completion_tokens or the server's limit"
            if repeats_itself(completion.content):
                way = "the model repeats itself; choose another one"
            raise JudgeError(f"{self.label}: the reply was cut off; {way}")
        return completion, took

    def _parameters(self) -> dict[str, Any]:
        """The parameters of sampling that are set."""
        return {}


def _read(read: Read, done: Completion, request: PromptRequest) -> tuple[Reply, int]:
    """The reply in what a server sent, and 1 if it had to be repaired."""
    from metrichub.judge.repair import repaired

    try:
        return read(done), int(done.moved)
    except Unreadable:
        # Probabilities belong to the tokens as they came.
        if request.more or not (text := repaired(done.content, request.schema)):
            raise
    return read(done._replace(content=text)), 1


def _response_format(schema: Mapping[str, Any], form: str, bounded: bool) -> dict[str, Any]:
    """The part of a request that names the form of its reply."""
    from metrichub.judge.replies import without_bounds

    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": form}}
    sent = schema if bounded else without_bounds(schema)
    json_schema = {"name": "reply", "strict": True, "schema": sent}
    return {"response_format": {"type": form, "json_schema": json_schema}}


def both(first: Answer, second: Answer) -> Answer:
    """The tokens, models and repairs of two calls together."""
    prompt = first.prompt_tokens + second.prompt_tokens
    completion = first.completion_tokens + second.completion_tokens
    models, repairs = first.models + second.models, first.repairs + second.repairs
    return Answer("", prompt, completion, models, repairs)
