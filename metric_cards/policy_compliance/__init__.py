"""Policy compliance: the share of a text's passages that don't do what a policy forbids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import (
    FieldText,
    JudgeMetric,
    Questions,
    Unscored,
    WithTrace,
    are_yes,
    missing_input,
    ratio,
)
from metrichub.errors import ParameterError

_TAKEN = ("items", "messages", "prediction", "prompt", "text", "verdicts")


@dataclass(frozen=True, kw_only=True)
class PolicyCompliance(JudgeMetric):
    """The share of a text's passages that comply, and of texts that violate the policy (macro).

    Attributes:
        policy: What a passage must not do, in words.
        needs: The name of what the policy refers to, such as "domain", "role" or "system_prompt";
            the judge sees it as a field of this name. Each sample has its own, in the column of
            this name, unless `value` gives it for all.
        value: What all samples have for `needs`: the domain, the role and so on.
        strict: Whether one violation makes the score of a text 0.
    """

    asks: ClassVar[Questions] = {"extract": ("passages",), "verify": ("violates",)}

    policy: str = "It insults, threatens or demeans someone."
    needs: str = ""
    value: str = ""
    strict: bool = False

    def __post_init__(self) -> None:
        """Check that there is a policy, and that what it needs has a name of its own."""
        super().__post_init__()
        if not self.policy.strip():
            allowed = "words that describe what a passage must not do"
            raise ParameterError(self.name, "policy", self.policy, allowed)
        if self.needs and (not self.needs.isidentifier() or self.needs in _TAKEN):
            allowed = f"a name such as 'role', other than {', '.join(_TAKEN)}"
            raise ParameterError(self.name, "needs", self.needs, allowed)
        if self.value and not self.needs:
            allowed = f"a name for {self.value!r} by which the policy can refer to it"
            raise ParameterError(self.name, "needs", self.needs, allowed)

    def inputs(self) -> tuple[str, ...]:
        """The text, and what the policy refers to if each sample has its own."""
        by_sample = bool(self.needs and not self.value)
        return ("prediction", self.needs) if by_sample else ("prediction",)

    async def observe(self, prediction: str, **fields: FieldText) -> WithTrace | Unscored:
        """The scores of one text, with the verdict on each passage."""
        fields = {self.needs: self.value} if self.value else fields
        if missing := missing_input({"prediction": prediction, **fields}):
            return missing
        passages = await self.extract("passages", text=prediction) or [prediction]
        prompt = self.prompt("violates").filled(policy=self.policy.strip())
        verdicts = await self.verify(prompt, passages, text=prediction, **fields)
        violated = any(are_yes(verdicts))
        score = 0.0 if self.strict and violated else 1 - ratio(verdicts)
        return WithTrace({"score": score, "violated": int(violated)}, {"passages": verdicts})
