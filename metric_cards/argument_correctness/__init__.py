"""Argument correctness: how many tool calls have the arguments that they should have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from metric_cards._bases.steps import StepMetric, call_text, steps_of
from metric_cards._bases.tool_schemas import problem_of_call, read_tools
from metrichub.authoring import (
    Array,
    LocalPath,
    Message,
    Questions,
    Unscored,
    Verdict,
    WithTrace,
    ratio,
)
from metrichub.errors import InputError, ParameterError

_UNCHECKED = (
    "no call was checked against the schema of its tool; give them as tools=…, or with "
    "own_tools=True in the column 'tools'"
)


@dataclass(frozen=True, kw_only=True)
class ArgumentCorrectness(StepMetric):
    """The fraction of calls whose arguments are right, averaged (macro).

    Attributes:
        tools: The tools of all samples, with the JSON Schemas of their parameters, as requests to
            OpenAI or Anthropic have them: a list, JSON text or the path of a file. It is kept as
            JSON text. A call that breaks its schema is wrong, and no judge is asked about it.
        own_tools: Whether each sample has its own tools in the column `tools`.
        empty: The score of a conversation without calls: 1, as in deepeval, or None to leave it
            out of the mean.
    """

    asks: ClassVar[Questions] = {"verify": ("arguments",)}

    tools: tuple[dict[str, Any], ...] | Annotated[str | Path, LocalPath()] | None = None
    own_tools: bool = False
    empty: Literal[1] | None = None

    def __post_init__(self) -> None:
        """Read the tools and check them."""
        super().__post_init__()
        if self.tools is None:
            return
        if self.own_tools:
            raise ParameterError(self.name, "tools", self.tools, "None with own_tools=True")
        try:
            text = _text(self.tools, files=True)
            read_tools(self.name, [text])
        except (InputError, OSError, TypeError, ValueError) as error:
            problem = str(error).rpartition("the column 'tools' ")[2]
            allowed = f"tools, as a list, JSON text or the path of a file ({problem})"
            raise ParameterError(self.name, "tools", self.tools, allowed) from None
        object.__setattr__(self, "tools", text)

    def inputs(self) -> tuple[str, ...]:
        """The conversation, and the sample's tools if it has its own."""
        return ("messages", "tools") if self.own_tools else ("messages",)

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """That no schema was checked, as none is known."""
        if self.own_tools or self.tools is not None:
            return super().notes(totals)
        return [*super().notes(totals), _UNCHECKED]

    async def observe(
        self, messages: Sequence[Message], tools: Sequence[Any] = ()
    ) -> WithTrace | Unscored:
        """The score of one conversation, with the verdict on each call.

        Raises:
            InputError: the sample's tools can't be read.
        """
        calls = [(step.message, step.call) for step in steps_of(messages) if step.call]
        if not calls and self.empty is None:
            return Unscored("the assistant calls no tool", "no_calls")
        if calls and not any(m["text"] for m in messages if m["role"] != "assistant"):
            return Unscored("no message says what the arguments should be", "no_requests")
        described = [_text(tool) for tool in ([self.tools] if self.tools else tools)]
        schemas = read_tools(self.name, described)
        checks = self.own_tools or self.tools is not None
        problems = {c["id"]: problem_of_call(c, schemas) if checks else None for _, c in calls}
        judged = await self.verify_steps(
            "arguments",
            messages,
            lambda step: step.call is not None and not problems[step.call["id"]],
            tools=described,
        )
        answers = iter(judged)
        verdicts = [
            Verdict(number, call_text(call), "no", problem)
            if (problem := problems[call["id"]])
            else next(answers)
            for number, call in calls
        ]
        return WithTrace({"score": ratio(verdicts) if verdicts else 1.0}, {"messages": verdicts})


def _text(tools: Any, *, files: bool = False) -> str:
    """The JSON text of tools; if `files`, a string that doesn't begin like one is a path."""
    if isinstance(tools, str) and (not files or tools.lstrip()[:1] in ("[", "{")):
        return tools
    if isinstance(tools, (str, Path)):
        return Path(tools).read_text(encoding="utf-8")
    return json.dumps(tools, ensure_ascii=False)
