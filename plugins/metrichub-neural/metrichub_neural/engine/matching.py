"""Matching: the largest cosine of each token with those of another text, many pairs at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metrichub.text import Integers
from metrichub_neural.engine.batching import FloatArray, in_batches
from metrichub_neural.engine.full import within_memory

NUMBERS = 1 << 27
"""How many numbers a batch of pairs has at most: half a gigabyte, in vectors and products."""

Best = tuple[FloatArray, FloatArray]
"""The largest cosine of each token of the first text, (n,), and of the second, (m,)."""


def best_cosines(units: Sequence[Any], pairs: Sequence[tuple[int, int]], name: str) -> list[Best]:
    """The best cosines of pairs of texts, whose unit vectors, (n, d), are tensors on one device."""
    import torch

    cosines: dict[int, Best] = {}
    sizes = [(len(units[first]), len(units[second])) for first, second in pairs]
    width = units[0].shape[1] if len(units) else 0

    def run(places: Integers) -> tuple[Any, Any]:
        chosen = [pairs[place] for place in places.tolist()]
        sides = [
            torch.nn.utils.rnn.pad_sequence([units[pair[side]] for pair in chosen], True)
            for side in (0, 1)
        ]
        lengths = torch.tensor([sizes[place] for place in places.tolist()])
        with within_memory(), torch.inference_mode():
            similar = torch.bmm(sides[0], sides[1].transpose(1, 2))
            for side, axis in ((0, 1), (1, 2)):
                absent = torch.arange(similar.shape[axis]) >= lengths[:, side, None]
                absent = absent.to(similar.device).unsqueeze(3 - axis)
                similar = similar.masked_fill(absent, -torch.inf)
            best, other = (similar.amax(axis).clamp(-1, 1).cpu().numpy() for axis in (2, 1))
        return best, other

    numbers = [(n + m) * width + n * m for n, m in sizes]
    for places, (best, other) in in_batches(numbers, NUMBERS, run, name, progress=False):
        for row, place in enumerate(places.tolist()):
            n, m = sizes[place]
            cosines[place] = best[row, :n].copy(), other[row, :m].copy()
    return [cosines[place] for place in range(len(pairs))]
