"""Reductions: what one vector of a text is made of, on the device that has all of its layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

Pooling = Literal["mean", "first", "max"]
_LEAST = 1e-12
_HIDDEN = 1e9
"""What padding is lowered by, so that it is never the largest."""


class Reduction(NamedTuple):
    """One vector out of those of all tokens in all layers.

    Attributes:
        pooling: The mean of the tokens, the first one, or the largest number of each dimension.
        mix: How much each layer counts, the embeddings first; without it, the last layer does.
        normalizes: Whether each layer is first put to a mean of 0 and a variance of 1, over all
            numbers of the text together.
        as_given: Whether texts keep the white space around them.
    """

    pooling: Pooling
    mix: tuple[float, ...] | None = None
    normalizes: bool = False
    as_given: bool = False

    def of(self, layers: Sequence[Any], mask: Any) -> Any:
        """The vectors (b, d) of a batch's layers, (b, l, d) each; in tensors or arrays."""
        real = mask[:, :, None] * 1.0
        if self.pooling == "first" and not self.normalizes:
            layers = [layer[:, :1] for layer in layers]
        mix = self.mix or (1.0,)
        if len(mix) != len(layers):
            raise ValueError(f"a mix of {len(mix)} layers for a model of {len(layers)}")
        mixed = sum(
            share * (self._normalized(layer, real) if self.normalizes else layer)
            for share, layer in zip(mix, map(_wide, layers), strict=True)
            if share
        )
        if self.pooling == "first":
            return mixed[:, 0]
        if self.pooling == "mean":
            return (mixed * real).sum(1) / real.sum(1)
        largest = (mixed - (1 - real) * _HIDDEN).max(1)
        # PyTorch says where they stand, too.
        return largest if isinstance(largest, np.ndarray) else largest.values

    @staticmethod
    def _normalized(layer: Any, real: Any) -> Any:
        """COMET's layer norm: over all tokens and dimensions of a text."""
        size = real.sum(1)[:, None] * layer.shape[-1]
        mean = (layer * real).sum(1).sum(-1)[:, None, None] / size
        squares = ((layer - mean) * real) ** 2
        variance = squares.sum(1).sum(-1)[:, None, None] / size
        return (layer - mean) / (variance + _LEAST) ** 0.5


def _wide(layer: Any) -> Any:
    """A layer in 32 bits, whatever the model's numbers are."""
    return layer.float() if hasattr(layer, "float") else layer
