"""Aspect: whether the answer to a question of your own about a text is yes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Literal

from metrichub.authoring import (
    Card,
    CustomInputMetric,
    FieldText,
    Metric,
    Questions,
    Unscored,
    WithTrace,
    are_yes,
)
from metrichub.errors import ParameterError

Better = Literal["higher", "lower"]
_TAKEN = frozenset({"items", "prompt", "verdicts"})


class _CardAsSet:
    """The card in this folder, with the direction that a metric was given."""

    def __get__(self, metric: Aspect | None, owner: type) -> Card:
        return _with_direction(owner, metric.better if metric else None)


@cache
def _with_direction(owner: type, better: Better | None) -> Card:
    card: Card = Metric.__dict__["card"].__get__(None, owner)
    scale = card.scores["score"]._replace(better=better or "neither")
    return replace(card, scores={"score": scale})


@dataclass(frozen=True, kw_only=True)
class Aspect(CustomInputMetric):
    """The share of samples for which the answer to a question is yes.

    Attributes:
        definition: The question about the text, to be answered with yes or no.
        better: "higher" if yes is the better answer, "lower" if no is; if None, systems are
            compared and not ranked.
    """

    asks: ClassVar[Questions] = {"verify": ("aspect",)}

    definition: str = "Is the text of use to its readers?"
    better: Better | None = None

    card = _CardAsSet()

    def __post_init__(self) -> None:
        """Check that there is a question, and that the judge can see the inputs by their names."""
        super().__post_init__()
        if not self.definition.strip():
            allowed = "a question about the text, such as 'Is it polite?'"
            raise ParameterError(self.name, "definition", self.definition, allowed)
        if taken := sorted(_TAKEN.intersection(self.sees)):
            allowed = f"inputs of other names than {' and '.join(taken)}"
            raise ParameterError(self.name, "sees", self.sees, allowed)

    async def observe(self, /, **texts: FieldText) -> WithTrace | Unscored:
        """1 for yes and 0 for no, with the reason."""
        shown = self.shown(texts)
        if isinstance(shown, Unscored):
            return shown
        prompt = self.prompt("aspect").filled(judged=self.sees[0])
        answers = await self.verify(prompt, [self.definition], **shown)
        return WithTrace({"score": int(are_yes(answers)[0])}, {"answers": answers})
