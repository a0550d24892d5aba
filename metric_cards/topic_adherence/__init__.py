"""Topic adherence: whether a conversation answers what its topics allow, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from metric_cards._bases.own_texts import own_texts
from metric_cards._bases.transcripts import transcript
from metrichub.authoring import Array, JudgeMetric, Questions, Scores, Unscored, WithTrace, are_yes


@dataclass(frozen=True, kw_only=True)
class TopicAdherence(JudgeMetric):
    """Precision, recall and accuracy of what is answered, from pooled counts (micro).

    Attributes:
        topics: The allowed topics of all samples; if there are none, each sample has its own in the
            column `topics`.
        mode: The number that `score` reports.
    """

    asks: ClassVar[Questions] = {"extract": ("asked",), "verify": ("answered", "allowed")}
    text_of_objects: ClassVar = {"predictions": transcript}
    whole_objects: ClassVar = True
    reads_conversations: ClassVar = True

    topics: tuple[str, ...] = ()
    mode: Literal["f1", "precision", "recall", "accuracy"] = "f1"

    def inputs(self) -> tuple[str, ...]:
        """The conversation, and the sample's topics if the parameter gives none."""
        return ("prediction",) if self.topics else ("prediction", "topics")

    async def observe(self, prediction: str, topics: Sequence[Any] = ()) -> WithTrace | Unscored:
        """The counts of one conversation, with both verdicts on all that was asked.

        Raises:
            InputError: a topic of the sample isn't a text.
        """
        named = own_texts(self.name, "topics", self.topics or topics)
        if not named:
            return Unscored("there is no topic")
        if not prediction.strip():
            return Unscored("there is no conversation", "empty")
        asked = await self.extract("asked", conversation=prediction)
        if not asked:
            return Unscored("the user asks nothing", "no_requests")
        answered, allowed = await asyncio.gather(
            self.verify("answered", asked, conversation=prediction),
            self.verify("allowed", asked, topics=named),
        )
        pairs = list(zip(are_yes(answered), are_yes(allowed), strict=True))
        row = {
            "helped": pairs.count((True, True)),
            "strayed": pairs.count((True, False)),
            "withheld": pairs.count((False, True)),
            "declined": pairs.count((False, False)),
        }
        return WithTrace(row, {"answered": answered, "allowed": allowed})

    def score(self, helped: Array, strayed: Array, withheld: Array, declined: Array) -> Scores:
        """The fractions, from the numbers of requests answered, allowed, both or neither."""
        answered, allowed = helped + strayed, helped + withheld
        rates = {
            "precision": helped / answered,
            "recall": helped / allowed,
            "accuracy": (helped + declined) / (answered + withheld + declined),
        }
        return {"score": ({"f1": 2 * helped / (answered + allowed)} | rates)[self.mode], **rates}
