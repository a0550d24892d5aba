"""transformers: a hub as the `compute_metrics` of a `Trainer` or `Seq2SeqTrainer`.

Seq2SeqTrainer(..., compute_metrics=bridges.transformers.compute_metrics("rouge", tokenizer))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from metrichub import Hub
from metrichub.bridges._hub_scores import Metrics, OutputChoice, check_outputs, flat, hub_of

__all__ = ["compute_metrics"]


class ComputeMetrics(Protocol):
    """The function that a `Trainer` calls, once or with every batch."""

    def __call__(self, prediction: Any, compute_result: bool = True) -> dict[str, float]:
        """The scores; of all batches where `compute_result` says that this one is the last."""


def compute_metrics(
    metrics: Metrics, tokenizer: Any, *, outputs: OutputChoice = "headline"
) -> ComputeMetrics:
    """A function from an `EvalPrediction` to scores by flat keys: {"bleu": …, "rouge_rouge1": …}.

    Ids are decoded without special tokens; ids that the tokenizer doesn't have, such as -100, are
    left out of labels and predictions. From a tuple of outputs the first is taken, from logits the
    likeliest token. Metrics that read sources get the decoded inputs, if the `Trainer`'s arguments
    have `include_for_metrics=["inputs"]`. With `batch_eval_metrics=True`, the texts of all batches
    are kept until the last one, so that each score is over the corpus.
    """
    check_outputs(outputs)
    hub = hub_of(metrics)
    texts: dict[str, list[str]] = {}

    def scores(prediction: Any, compute_result: bool = True) -> dict[str, float]:
        for column, ids in _columns(hub, prediction).items():
            texts.setdefault(column, []).extend(_decoded(tokenizer, ids))
        if not compute_result:
            return {}
        columns: dict[str, Any] = dict(texts)
        texts.clear()
        return flat(hub.evaluate(**columns, samples=False), outputs)

    return scores


def _columns(hub: Hub, prediction: Any) -> dict[str, Any]:
    """The ids of every column that there is."""
    columns = {"predictions": prediction.predictions, "references": prediction.label_ids}
    inputs = getattr(prediction, "inputs", None)
    if inputs is not None and "sources" in hub.needs():
        # A batch comes as the model takes it, the whole set as the ids alone.
        columns["sources"] = inputs["input_ids"] if isinstance(inputs, Mapping) else inputs
    return {column: ids for column, ids in columns.items() if ids is not None}


def _decoded(tokenizer: Any, ids: Any) -> list[str]:
    # A processor of speech or pictures has its tokenizer inside.
    tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
    size = len(tokenizer)
    rows = [row[(row >= 0) & (row < size)].tolist() for part in _arrays(ids) for row in part]
    decoded: list[str] = tokenizer.batch_decode(rows, skip_special_tokens=True)
    return [text.strip() for text in decoded]


def _arrays(ids: Any) -> Iterator[Any]:
    """The ids (N, L) of every batch, where the `Trainer` keeps them apart, or of all."""
    if isinstance(ids, list):
        for part in ids:
            yield from _arrays(part)
        return
    first = ids[0] if isinstance(ids, tuple) else ids
    likeliest = first.argmax(-1) if first.ndim == 3 else first
    yield np.asarray(likeliest.cpu() if hasattr(likeliest, "cpu") else likeliest)
