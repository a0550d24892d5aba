"""The judge behind an OpenAI-compatible server: structured replies through the openai client."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from metrichub.catalog.parameters import Range
from metrichub.errors import JudgeError, JudgeUnavailable
from metrichub.judge.protocol import Choice, Fields, Grade, Prompt, Question, Sampling, Verdict
from metrichub.judge.request import (
    DATA_RULE,
    PromptRequest,
    data_of,
    typical_choice,
    typical_grade,
    typical_items,
    typical_verdicts,
)
from metrichub.models.client import Connection
from metrichub.models.failures import Refused
from metrichub.models.session import Request
from metrichub.models.state import ClientState
from metrichub.models.store import Answer, spent_on
from metrichub.models.usage import tokens_in

if TYPE_CHECKING:
    from metrichub.judge.completion import Completion
    from metrichub.judge.replies import Reply

Read = Callable[["Completion"], "Reply"]
"""From what a server sent to the reply in it; raises `Unreadable`."""
VERIFY_RULE = (
    'Give exactly one verdict for each entry of "items", with its index, the reason first. The '
    "verdict is one of: {}."
)
CHUNK = 40
"""How many items one call is asked about, so that a reply isn't cut off."""
MOST_ITEMS = 100
"""How many texts a model may list where no limit is given."""
_FORMATS = ("json_schema", "json_object", "text")


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenAIJudge(Connection):
    """A judge that asks a model; parameters of sampling are sent only when they are set.

    Attributes:
        temperature: Sampling temperature.
        seed: Seed of the sampling, where the server knows one.
        top_p: How much of the probability is sampled from.
        max_completion_tokens: The longest reply.
        max_tokens: The longest reply, for servers that know it by this older name.
        reasoning_effort: How much a reasoning model thinks first.
    """

    model: str = "gpt-5.4-mini"
    temperature: float | None = None
    seed: int | None = None
    top_p: Annotated[float, Range(0, 1)] | None = None
    max_completion_tokens: Annotated[int, Range(1)] | None = None
    max_tokens: Annotated[int, Range(1)] | None = None
    reasoning_effort: str | None = None

    def answers(self, question: Question, prompt: Prompt) -> bool:
        """Whatever is asked."""
        return True

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """What the prompt asks for out of the fields; blank texts are dropped."""
        from metrichub.judge.completion import read_completion
        from metrichub.judge.replies import Items, schema_of

        more = f"\n\nGive at most {limit} items." if limit else ""
        system = f"{prompt.text}{more}\n\n{DATA_RULE}"
        likely = partial(typical_items, fields, limit)
        schema = schema_of(Items, most=limit or MOST_ITEMS)
        asked = PromptRequest(system, data_of(fields), schema, likely, examples=prompt.examples)
        read = partial(read_completion, Items)
        reply = await self._once(Items, asked, lambda live: self._one(live, asked, read))
        items = [item.strip() for item in json.loads(reply)["items"]]
        return [item for item in items if item][: limit or MOST_ITEMS]

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """One verdict for every item; what is missing or doubled is asked for again, once."""
        starts = range(0, len(items), CHUNK)
        parts = [self._verified(prompt, items, fields, verdicts, start) for start in starts]
        return [verdict for part in await asyncio.gather(*parts) for verdict in part]

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        """A whole number on the scale, or the mean of several, or of all by their probabilities.

        Raises:
            JudgeError: the server gave no probabilities, though they were asked for.
        """
        from metrichub.judge.completion import read_grade
        from metrichub.judge.replies import Graded, schema_of

        low, high = scale
        system = f"{prompt.text}\n\nThe score is a whole number from {low} to {high}. {DATA_RULE}"
        more = {"logprobs": True, "top_logprobs": 20} if weighing.logprobs else {}
        schema, likely = schema_of(Graded, scale=scale), partial(typical_grade, scale)
        asked = PromptRequest(system, data_of(fields), schema, likely, more, prompt.examples)
        read = partial(read_grade, scale=scale, logprobs=weighing.logprobs)
        replies = await asyncio.gather(
            *(
                self._once(Graded, asked, lambda live: self._one(live, asked, read), sample)
                for sample in range(weighing.samples)
            )
        )
        found = [Graded.model_validate_json(reply) for reply in replies]
        weights = Counter[int]()
        for one in found:
            weights.update(one.weights or {int(one.score): 1})
        mean = Grade.of(weights, found[0].reason)
        if len(found) == 1 and not weighing.logprobs:
            return mean._replace(weights={})
        nearest = min(found, key=lambda one: abs(one.score - mean.score))
        return mean._replace(reason=nearest.reason)

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """The better of two candidates, called A and B."""
        from metrichub.judge.completion import read_completion
        from metrichub.judge.replies import Chosen, Unreadable, schema_of

        words = ("A", "B", "tie")
        data = {**data_of(fields), "candidates": dict(zip(words, candidates, strict=False))}
        system, likely = f"{prompt.text}\n\n{DATA_RULE}", partial(typical_choice, "A")
        schema = schema_of(Chosen, words)
        asked = PromptRequest(system, data, schema, likely, examples=prompt.examples)

        def read(done: Completion) -> Chosen:
            found = read_completion(Chosen, done)
            if found.winner not in words:
                raise Unreadable(f"the winner {found.winner!r} is none of {', '.join(words)}")
            return found

        reply = await self._once(Chosen, asked, lambda live: self._one(live, asked, read))
        found = json.loads(reply)
        return Choice({"A": 0, "B": 1}.get(found["winner"]), found["reason"])

    async def _verified(
        self,
        prompt: Prompt,
        items: Sequence[str],
        fields: Fields,
        verdicts: Sequence[str],
        start: int,
    ) -> list[Verdict]:
        from metrichub.judge.completion import read_completion
        from metrichub.judge.replies import Judgements, schema_of, sound_verdicts

        read = partial(read_completion, Judgements)
        system = f"{prompt.text}\n\n{VERIFY_RULE.format(', '.join(verdicts))} {DATA_RULE}"

        def asked_of(indices: Sequence[int]) -> PromptRequest:
            listed = [{"index": i, "text": items[i]} for i in indices]
            schema = schema_of(Judgements, verdicts, exactly=len(indices))
            likely = partial(typical_verdicts, indices, verdicts[0])
            data = {**data_of(fields), "items": listed}
            return PromptRequest(system, data, schema, likely, examples=prompt.examples)

        async def ask(live: ClientState) -> Answer:
            first = await self._one(live, asked_of(wanted), read)
            given = Judgements.model_validate_json(first.reply).verdicts
            found = sound_verdicts(given, wanted, verdicts)
            total = first
            if missing := [i for i in wanted if i not in found]:
                again = await self._one(live, asked_of(missing), read)
                more = Judgements.model_validate_json(again.reply).verdicts
                found |= sound_verdicts(more, missing, verdicts)
                total = _both(first, again)
            if left := [i for i in wanted if i not in found]:
                raise JudgeError(
                    f"{self.label} gave no verdict on {len(left)} of {len(wanted)} items, asked "
                    f"twice: {items[left[0]][:60]!r}"
                )
            whole = Judgements(verdicts=[found[i] for i in wanted])
            return total._replace(reply=whole.model_dump_json())

        wanted = list(range(start, min(start + CHUNK, len(items))))
        reply = await self._once(Judgements, asked_of(wanted), ask)
        return [
            Verdict(v["index"], items[v["index"]], v["verdict"], v["reason"])
            for v in json.loads(reply)["verdicts"]
        ]

    async def _once(
        self,
        reply: type[Reply],
        asked: PromptRequest,
        ask: Callable[[ClientState], Awaitable[Answer]],
        sample: int = 0,
    ) -> str:
        """The reply to a request, which is made at most once for each `sample` of its replies."""
        from metrichub.judge.replies import is_reply

        live = self._live()
        request = (
            {
                "judge": self.label,
                "messages": asked.messages(told=False),
                "schema": asked.schema,
                "parameters": self._parameters() | dict(asked.more),
            }
            | ({"sample": sample} if sample else {})
            | self._endpoint()
        )
        fits = partial(is_reply, reply)
        made = Request(request, lambda: ask(live), asked.likely, self.model, fits)
        return await live.session.once(made, await self._store())

    async def _one(self, live: ClientState, asked: PromptRequest, read: Read) -> Answer:
        """The answer of the model, read and checked; an unreadable one is asked for once more.

        A server that knows no schemas gets JSON mode, and one that knows neither plain text, both
        with the schema in the prompt. Until it has accepted a form, requests are made one by one,
        so that each form is tried once a run; what worked is remembered.

        Raises:
            JudgeUnavailable: the server refused the first request in every form.
            JudgeError: any other failure.
        """
        return await live.asked(
            lambda: self._first(live, asked, read),
            lambda form: self._asked(live, asked, read, form),
        )

    async def _first(self, live: ClientState, asked: PromptRequest, read: Read) -> Answer:
        """The answer in the first form that the server accepts."""
        refused: Refused | None = None
        # A form that was refused is not tried again, even while no reply could be read.
        while forms := [form for form in _FORMATS if form not in live.refused]:
            try:
                return await self._asked(live, asked, read, forms[0])
            except Refused as error:
                if error.for_its_texts:
                    raise
                refused = refused or error
                live.refused.add(error.form)
        live.refused.clear()
        raise JudgeUnavailable(f"{refused}; no form of it was accepted, so the run ends here")

    async def _asked(
        self, live: ClientState, asked: PromptRequest, read: Read, form: str
    ) -> Answer:
        """The answer in one form; an unreadable reply is sent back once, with what is wrong."""
        from metrichub.judge.replies import Unreadable

        request, spent, problem = asked, Answer(""), ""
        for _ in range(2):
            content = ""
            try:
                done, took = await self._completed(live, request, form)
                spent, content = _both(spent, took), done.content
                found = read(done)
            except Unreadable as error:
                problem, request = str(error), asked.again(content, str(error))
                # A server that ignores the schema can only be told of it in the prompt.
                if live.form is None and form == "json_schema":
                    form = "text" if "json_object" in live.refused else "json_object"
            else:
                live.form = live.form or form
                return spent._replace(reply=found.model_dump_json())
        raise JudgeError(f"{self.label}: {self._said(problem)}")

    async def _completed(
        self, live: ClientState, asked: PromptRequest, form: str
    ) -> tuple[Completion, Answer]:
        """What the server sent in one form; a schema that is refused for its bounds goes without.

        Raises:
            Refused: the server takes no such form.
        """
        try:
            return await self._replied(live, asked, form)
        except Refused as error:
            error.form = form
            if not (error.for_bounds and form == "json_schema"):
                raise
            live.bounded = False
        return await self._replied(live, asked, form)

    async def _replied(
        self, live: ClientState, asked: PromptRequest, form: str
    ) -> tuple[Completion, Answer]:
        from metrichub.judge.completion import completion_of, repeats_itself

        given = self._parameters() | dict(asked.more)
        messages: Any = asked.messages(told=form != "json_schema")
        done = await self._sent(
            live,
            lambda client: client.chat.completions.create(
                model=self.model,
                messages=messages,
                # As it is: the client's walk through a schema takes a seventh of a call's
                # computing. And now: the bounds may have been refused a moment ago.
                extra_body=dict(self.extra_body or {}) | _wanted(asked.schema, form, live.bounded),
                **given,
            ),
            lambda: tokens_in(asked.sent()),
            lambda: self.max_completion_tokens or self.max_tokens or tokens_in(asked.typical()),
        )
        live.accepted, took = True, spent_on(done)
        # Also of a reply that no one can use.
        live.session.spent(took, calls=0)
        found = completion_of(done)
        if found.refusal:
            raise JudgeError(f"{self.label} refused to judge: {self._said(found.refusal)}")
        if found.finish_reason == "content_filter":
            raise JudgeError(f"{self.label}: a content filter stopped the reply")
        if found.finish_reason == "length":
            raise JudgeError(
                f"{self.label}: the reply was cut off; "
                + (
                    "the model repeats itself, so choose another one"
                    if repeats_itself(found.content)
                    else "raise max_completion_tokens, or the server's own limit"
                )
            )
        await live.session.permitted(took.completion_tokens, requests=0)
        return found, took

    def _parameters(self) -> dict[str, Any]:
        names = (
            *("temperature", "seed", "top_p", "max_completion_tokens", "max_tokens"),
            "reasoning_effort",
        )
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}


def _wanted(schema: Mapping[str, Any], form: str, bounded: bool) -> dict[str, Any]:
    """What of a request names the form of its reply."""
    from metrichub.judge.replies import without_bounds

    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": form}}
    kept = schema if bounded else without_bounds(schema)
    asked = {"name": "reply", "strict": True, "schema": kept}
    return {"response_format": {"type": form, "json_schema": asked}}


def _both(one: Answer, other: Answer) -> Answer:
    completion = one.completion_tokens + other.completion_tokens
    return Answer("", one.prompt_tokens + other.prompt_tokens, completion)
