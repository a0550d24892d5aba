"""Judges without a model for examples and tests: answers given in advance, or recorded before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, NoReturn

from metrichub.catalog.parameters import LocalPath
from metrichub.errors import JudgeError
from metrichub.judge.openai import OpenAIJudge
from metrichub.judge.prompt_files import Prompt, Question
from metrichub.judge.protocol import ONCE, Choice, Fields, Grade, Sampling, Verdict, WeighedVerdict
from metrichub.models.store import Store, open_store


@dataclass(frozen=True)
class Scripted:
    """A judge that returns fixed answers, by the name of the prompt.

    Texts for `extract`, words for `verify` (repeated if there are more items; a mapping from words
    to fractions is a weighed verdict), a number for `grade` (or a mapping from numbers to weights),
    and 0, 1 or None for `choose`. An answer may be a function of the fields:
    `lambda fields: ["It is old."] if fields["text"] else []`. For `choose`, the fields include
    `candidates`.

    >>> judge = Scripted({"claims": ["It is old.", "It is red."], "supported": ["yes", "no"]})
    """

    is_model: ClassVar[bool] = False
    # Its label says enough to the author of the answers.
    note: ClassVar[str | None] = None

    script: Mapping[str, Any] = field(hash=False)
    label: str = "scripted"

    def answers(self, question: Question, prompt: Prompt) -> bool:
        """Always true; a prompt without an answer is an error when it is asked."""
        return True

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """The texts."""
        return list(self._answer(prompt, fields))[:limit]

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """The words, one per item."""
        words = self._answer(prompt, fields)
        return [_verdict(i, item, words[i % len(words)]) for i, item in enumerate(items)]

    async def grade(
        self, prompt: Prompt, fields: Fields, scale: tuple[int, int], weighing: Sampling = ONCE
    ) -> Grade:
        """The number, or the mean of the weighted numbers."""
        answer = self._answer(prompt, fields)
        if isinstance(answer, Mapping):
            return Grade.of(answer, "as scripted")
        return Grade(float(answer), "as scripted")

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """The position."""
        answer = self._answer(prompt, {**fields, "candidates": candidates})
        return Choice(answer, "as scripted")

    def _answer(self, prompt: Prompt, fields: Fields) -> Any:
        if prompt.name not in self.script:
            raise JudgeError(f"the script has no answer to the prompt {prompt.name!r}")
        answer = self.script[prompt.name]
        return answer(fields) if callable(answer) else answer


def _verdict(place: int, item: str, answer: str | Mapping[str, float]) -> Verdict:
    if isinstance(answer, str):
        return Verdict(place, item, answer, "as scripted")
    heaviest = max(answer, key=answer.__getitem__)
    return WeighedVerdict(place, item, heaviest, "as scripted", answer)


@dataclass(frozen=True, kw_only=True, repr=False)
class Recorded(OpenAIJudge):
    """The answers that an `OpenAIJudge` with the same model, server and parameters stored.

    Attributes:
        path: The call store; a question that isn't in it is an error.
    """

    path: Annotated[str, LocalPath()] = ""

    def _client(self) -> Any:
        return None

    def _store(self) -> Store:
        return open_store(Path(self.path))

    async def _completed(self, *_: object) -> NoReturn:
        raise JudgeError(f"{self.path} has no recorded answer of {self.label} to this request")
