"""SummaC's head: a score out of the histogram of each unit's probabilities."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ModelError

Bins = Literal["percentile", "even50"]
EDGES: dict[Bins, NDArray[np.float64]] = {
    # Of the probabilities of many summaries, as the authors' program has them.
    "percentile": np.array(
        [
            *(0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93),
            *(0.94, 0.95, 0.955, 0.96, 0.965, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1.0),
        ]
    ),
    "even50": np.array([*np.arange(0, 1, 1 / 50), 1.0]),
}
_UNITS = 10
"""How many units of the prediction are read."""


class Head(NamedTuple):
    """Two linear layers: over a unit's histogram, and over the mean of what that gives.

    Attributes:
        edges: Of the bins.
        weights: "mlp.weight", (1, bins of all labels), "layer_final.weight", (2, 3), and biases.
        digest: The hash of the file.
    """

    edges: NDArray[np.float64]
    weights: dict[str, NDArray[np.float64]]
    digest: str

    def score(self, image: NDArray[np.float64]) -> float:
        """The score of the probabilities of each pair of units, (source, prediction, labels)."""
        histograms = np.array(
            [
                np.concatenate([np.histogram(column, self.edges)[0] for column in unit.T])
                for unit in image.transpose(1, 0, 2)[:_UNITS]
            ]
        )
        values = histograms @ self.weights["mlp.weight"][0] + self.weights["mlp.bias"]
        final = self.weights["layer_final.weight"].sum(1) * values.mean()
        no, yes = final + self.weights["layer_final.bias"]
        return float(1 / (1 + np.exp(no - yes)))


@lru_cache(maxsize=1)
def published_head() -> Head:
    """The authors' own: of sentences, entailment and 23 bins, for their model of VitaminC."""
    path = Path(__file__).with_name("head.json")
    content = path.read_bytes()
    weights = {name: np.array(rows) for name, rows in json.loads(content).items()}
    return Head(EDGES["percentile"], weights, _digest(content))


def read_head(path: str, bins: Bins, labels: int) -> Head:
    """The head in a file of safetensors.

    Raises:
        ModelError: it isn't there, or isn't such a head.
    """
    file = Path(path).expanduser()
    try:
        stamp = file.stat()
    except OSError as error:
        raise ModelError(f"the head {path} can't be read: {error.strerror}") from error
    return _read(file, bins, labels, (stamp.st_size, stamp.st_mtime_ns))


@lru_cache(maxsize=4)
def _read(file: Path, bins: Bins, labels: int, _: tuple[int, int]) -> Head:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    content = file.read_bytes()
    try:
        tensors: dict[str, Any] = load(content)
    except SafetensorError as error:
        raise ModelError(
            f"the head {file} isn't a file of safetensors ({error}); for a pickle: "
            f"metrichub convert {file}"
        ) from error
    edges = EDGES[bins]
    width = labels * (len(edges) - 1)
    shapes = {"mlp.weight": (1, width), "mlp.bias": (1,)}
    shapes |= {"layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    for name, shape in shapes.items():
        if name not in tensors or tensors[name].shape != shape:
            is_ = tensors[name].shape if name in tensors else "nothing"
            raise ModelError(
                f"the head {file} has {is_} as {name}, not {shape}: its bins or its labels differ"
            )
    weights = {name: tensors[name].astype(np.float64) for name in shapes}
    return Head(edges, weights, _digest(content))


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()[:40]}"
