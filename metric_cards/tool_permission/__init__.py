"""Tool permission: the fraction of an agent's calls that it is allowed to make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from metric_cards._bases.own_texts import own_texts
from metric_cards._bases.tool_calls import calls_of, shown_call
from metric_cards._bases.tool_schemas import problem_of_call, read_tools
from metrichub.authoring import Message, Metric, Row, Unscored
from metrichub.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class ToolPermission(Metric):
    """The fraction of calls that are allowed, averaged over conversations (macro).

    Attributes:
        allowed: The tools that may be called; None beside `denied` allows all others. If `sample`,
            or if neither `allowed` nor `denied` is given, each sample has its own in the column
            `tools`.
        denied: The tools that may not be called, whether they are allowed or not. If `sample`, each
            sample has its own in the column `denied_tools`.
        empty: The score of a conversation without calls: 1, as in deepeval, or None to leave the
            conversation out of the mean.
    """

    allowed: tuple[str, ...] | Literal["sample"] | None = None
    denied: tuple[str, ...] | Literal["sample"] = ()
    empty: Literal[1] | None = None

    def __post_init__(self) -> None:
        """Check that `allowed` names a tool, as an empty list might allow none or all."""
        super().__post_init__()
        if self.allowed == ():
            allowed = "one or more tools, or None for all that aren't denied"
            raise ParameterError(self.name, "allowed", [], allowed)

    def inputs(self) -> tuple[str, ...]:
        """The conversation, and the sample's tools where they are its own."""
        by_sample = {"tools": self._reads_tools(), "denied_tools": self.denied == "sample"}
        return ("messages", *(column for column, is_read in by_sample.items() if is_read))

    def outputs(self) -> tuple[str, ...]:
        """Those of the card, without `valid` if no sample has schemas."""
        return ("score", "all", "valid") if self._reads_tools() else ("score", "all")

    def requires(self) -> tuple[str, ...]:
        """The package that checks arguments, if samples may have schemas."""
        return super().requires() if self._reads_tools() else ()

    def observe(
        self,
        messages: Sequence[Message],
        tools: Sequence[Any] = (),
        denied_tools: Sequence[Any] = (),
    ) -> Row | Unscored:
        """The fractions of calls that are allowed, and whose arguments are valid.

        Raises:
            InputError: a tool of the sample is neither a name nor a description.
        """
        calls = self.explain(messages, tools, denied_tools)["calls"]
        if not calls and self.empty is None:
            return Unscored("no tool is called", "empty")
        count = len(calls) or 1
        forbidden, invalid = (sum(bool(c[key]) for c in calls) for key in ("forbidden", "invalid"))
        row = {"score": (count - forbidden) / count, "all": not forbidden}
        return row | ({"valid": (count - invalid) / count} if self._reads_tools() else {})

    def explain(
        self,
        messages: Sequence[Message],
        tools: Sequence[Any] = (),
        denied_tools: Sequence[Any] = (),
    ) -> Mapping[str, Sequence[Mapping[str, str]]]:
        """Every call, why it is forbidden, and what is wrong with its arguments, or ""."""
        reads_tools = self._reads_tools()
        schemas = read_tools(self.name, tools) if reads_tools else {}
        allowed = schemas if reads_tools else self.allowed or ()
        by_sample = self.denied == "sample"
        denied = own_texts(self.name, "denied_tools", denied_tools) if by_sample else self.denied
        calls = []
        for call in calls_of(messages):
            name = call["name"]
            outside = "not allowed" if (reads_tools or allowed) and name not in allowed else ""
            forbidden = "denied" if name in denied else outside
            invalid = (problem_of_call(call, schemas) or "") if reads_tools else ""
            calls.append({"call": shown_call(call), "forbidden": forbidden, "invalid": invalid})
        return {"calls": calls}

    def _reads_tools(self) -> bool:
        return self.allowed == "sample" or not (self.allowed or self.denied)
