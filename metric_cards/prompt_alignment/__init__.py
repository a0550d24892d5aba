"""Prompt alignment: the fraction of its instructions that a reply follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from metric_cards._bases.own_texts import own_texts
from metrichub.authoring import JudgeMetric, Questions, Unscored, WithTrace, ratio


@dataclass(frozen=True, kw_only=True)
class PromptAlignment(JudgeMetric):
    """The fraction of instructions followed (macro), and of replies that follow all of theirs.

    Attributes:
        instructions: The instructions for all samples; if there are none, each sample has its own
            in the column `instructions`.
        question: Whether the judge also sees the question, from the column `questions`.
    """

    asks: ClassVar[Questions] = {"verify": ("followed",)}

    instructions: tuple[str, ...] = ()
    question: bool = False

    def inputs(self) -> tuple[str, ...]:
        """The prediction, and the columns that the parameters require."""
        columns = () if self.instructions else ("instructions",)
        return ("prediction", *columns, *(("question",) if self.question else ()))

    async def observe(
        self, prediction: str, instructions: Sequence[Any] = (), question: str = ""
    ) -> WithTrace | Unscored:
        """The scores of one reply, with the verdict on each instruction.

        Raises:
            InputError: an instruction of the sample isn't a text.
        """
        asked = own_texts(self.name, "instructions", self.instructions or instructions)
        if not asked:
            return Unscored("there is no instruction")
        if not prediction.strip():
            return Unscored("there is no reply", "empty")
        fields = {"question": question} if self.question else {}
        verdicts = await self.verify("followed", asked, reply=prediction, **fields)
        share = ratio(verdicts)
        row = {"score": share, "all_followed": float(share == 1)}
        return WithTrace(row, {"instructions": verdicts})
