"""Matching functions: how alike two sentences are, by a metric of strings or by a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from metrichub import Hub, load_metric
from metrichub.authoring import Metric
from metrichub_neural._bertscore.matching import f1, matches, means
from metrichub_neural.engine.encoder import Encoder

Matcher = Literal["chrf", "bleu", "rouge1", "rouge2", "rougeL", "bertscore"]
Pair = tuple[str, str]
Likeness = dict[Pair, float]
"""How alike each prediction's sentence is to a sentence of the other text; `nan` if unreadable."""


def metric_of(matcher: str) -> Metric:
    """The hub's metric of strings, with its defaults."""
    return load_metric("rouge" if matcher.startswith("rouge") else matcher)


def by_string(matcher: str, pairs: Sequence[Pair]) -> Likeness:
    """The scores of pairs by a metric of strings."""
    if not pairs:
        return {}
    metric = metric_of(matcher)
    predictions, references = zip(*pairs, strict=True)
    report = Hub(metric).evaluate(predictions=list(predictions), references=list(references))
    samples = report.samples()[metric.name]
    values = samples[matcher if metric.name == "rouge" else "score"]
    return dict(zip(pairs, np.asarray(values, np.float64).tolist(), strict=True))


def by_model(encoder: Encoder, pairs: Sequence[Pair]) -> tuple[Likeness, dict[str, int]]:
    """BERTScore's F1 of each pair, 0 to 1, and the flaws of each sentence."""
    matched = matches(encoder, pairs)
    flaws = {
        text: flaws
        for pair, match in zip(pairs, matched, strict=True)
        for text, flaws in zip(pair, match.flaws, strict=True)
    }
    sides = [means(match) for match in matched]
    precision, recall = np.array(sides, np.float64).reshape(len(pairs), 2).T
    scores = np.where(np.isnan(recall), np.nan, np.clip(f1(precision, recall), 0.0, 1.0))
    return dict(zip(pairs, scores.tolist(), strict=True)), flaws
