"""The chance judge: answers out of a hash, whose agreement with people is that of a coin."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from metrichub.catalog.parameters import Range, check_parameters
from metrichub.judge.prompt_files import Prompt, Question
from metrichub.judge.protocol import ONCE, Choice, Fields, Grade, Sampling, Verdict
from metrichub.judge.sentences import sentences


@dataclass(frozen=True, kw_only=True)
class ChanceJudge:
    """A judge that reads nothing: each answer is drawn at random, the same for the same request.

    The floor for measuring how well a judge agrees with people, and a stand-in where only the
    arithmetic matters. Never a judgment.

    Attributes:
        seed: Another seed draws other answers.
    """

    is_model: ClassVar[bool] = False
    note: ClassVar[str] = "judged at random: a baseline for judges, not a judgment"

    seed: Annotated[int, Range(0)] = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_parameters(self, "chance")

    @property
    def label(self) -> str:
        """The name, and the seed where it isn't the default."""
        return f"chance(seed={self.seed})" if self.seed else "chance"

    def answers(self, question: Question, prompt: Prompt) -> bool:
        """Always true: it answers any question at random."""
        return True

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """The sentences of the first field."""
        first = next(iter(fields.values()), "")
        texts = [first] if isinstance(first, str) else first
        return [part for text in texts for part in sentences(text)][:limit]

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """A word for every item, all equally likely."""
        return [
            Verdict(i, item, verdicts[self._drawn(len(verdicts), prompt, item, fields)], "chance")
            for i, item in enumerate(items)
        ]

    async def grade(
        self, prompt: Prompt, fields: Fields, scale: tuple[int, int], weighing: Sampling = ONCE
    ) -> Grade:
        """A number of the scale, all equally likely, or the mean of several."""
        low, high = scale
        drawn = [
            low + self._drawn(high - low + 1, prompt, fields, i) for i in range(weighing.samples)
        ]
        if len(drawn) == 1:
            return Grade(float(drawn[0]), "chance")
        return Grade.of({score: drawn.count(score) for score in drawn}, "chance")

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """The first, the second or a tie, whatever their order."""
        ordered = sorted(candidates)
        drawn = self._drawn(3, prompt, ordered, fields)
        return Choice(None if drawn == 2 else candidates.index(ordered[drawn]), "chance")

    def _drawn(self, number: int, prompt: Prompt, *what: object) -> int:
        text = json.dumps([self.seed, prompt.name, what], default=dict)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % number
