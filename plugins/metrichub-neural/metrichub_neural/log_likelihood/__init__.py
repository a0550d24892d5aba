"""Log-likelihood: how likely a causal model takes a prediction after its source to be."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import Array, Measured, Scores
from metrichub.errors import ParameterError
from metrichub.text import Texts
from metrichub_neural._likelihood import LikelihoodMetric

_SLOT = "{source}"


@dataclass(frozen=True, kw_only=True)
class LogLikelihood(LikelihoodMetric):
    """The mean log-probability of a prediction's token, given the source (micro).

    Attributes:
        template: What stands before each prediction, with `{source}` for the source; it isn't
            scored.
    """

    template: str = "{source}\n"

    def __post_init__(self) -> None:
        """Check that the template has a place for the source."""
        super().__post_init__()
        if _SLOT not in self.template:
            raise ParameterError(self.name, "template", self.template, f"a text with {_SLOT}")

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """Summed likelihoods of the predictions, (N,)."""
        conditions = [self.template.replace(_SLOT, text) for text in source]
        return self.likelihoods(conditions, list(prediction))

    def score(  # the statistics
        self, nll: Array, tokens: Array, bytes: Array, mean: Array, count: Array
    ) -> Scores:
        """Micro over all tokens, and macro over the texts."""
        return {"score": -nll / tokens, "macro": -mean / count}
