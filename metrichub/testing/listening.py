"""Listening: a judge that lets another answer, and notes what was asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from metrichub.judge.protocol import (
    Choice,
    Fields,
    Grade,
    Judge,
    Prompt,
    Question,
    Sampling,
    Verdict,
)


@dataclass(frozen=True)
class Listening:
    """The judge that it asks, to its caller; `heard` holds each question with its prompt."""

    judge: Judge
    heard: set[tuple[Question, str]] = field(default_factory=set, compare=False)

    @property
    def label(self) -> str:
        """The other judge's."""
        return self.judge.label

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """What the other judge finds."""
        self.heard.add(("extract", prompt.name))
        return await self.judge.extract(prompt, fields, limit)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """The other judge's verdicts."""
        self.heard.add(("verify", prompt.name))
        return await self.judge.verify(prompt, items, fields, verdicts)

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        """The other judge's grade."""
        self.heard.add(("grade", prompt.name))
        return await self.judge.grade(prompt, fields, scale, weighing)

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """The other judge's choice."""
        self.heard.add(("choose", prompt.name))
        return await self.judge.choose(prompt, candidates, fields)
