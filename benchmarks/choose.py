"""Choosing a metric by few ratings: how far the agreement that is said holds on other documents.

For each rated set and dimension, draws of 40 ratings choose a metric; its tau-b on the documents
that weren't drawn is the truth. The ratings are also shuffled, and made to follow length alone.

    python -m benchmarks.choose --data FOLDER
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.rated_texts import (
    Texts,
    conala,
    nq301,
    qags,
    ratings,
    summeval,
    summeval_articles,
    thumb,
)
from metrichub.agreement import ChosenOutput, choose, tau_b
from metrichub.agreement.from_ratings import candidates
from metrichub.agreement.of_report import scores_by_label
from metrichub.errors import InputError, ScoringError, without_warnings
from metrichub.evaluation.lengths import word_counts

Array = NDArray[np.float64]
SETS: Mapping[str, tuple[str, Callable[[Path], Texts]]] = {
    "SummEval": ("summ_summeval_experts.jsonl", summeval),
    "SummEval, articles": ("summ_summeval_experts.jsonl", summeval_articles),
    "Simplicity-DA": (
        "simpl_simplicity_da.jsonl",
        partial(ratings, file="simpl_simplicity_da.jsonl"),
    ),
    "SFRES": ("d2t_sfres.jsonl", partial(ratings, file="d2t_sfres.jsonl")),
    "QAGS": ("fact_qags_cnn.jsonl", qags),
    "Topical-Chat": (
        "dialogue_topicalchat.jsonl",
        partial(ratings, file="dialogue_topicalchat.jsonl", left_out="Original Ground Truth"),
    ),
    # Nothing was tuned on these.
    "CoNaLa": ("conala.jsonl", conala),
    "NQ-open": ("nq301.jsonl", nq301),
    "THumB": ("mscoco_THumB-1.0.jsonl", thumb),
}
BIAS, COVERED, TOO_OFTEN = (-0.06, 0.02), 0.92, 0.07
"""The bars: mean estimate minus truth, share of intervals with the truth, and p up to .05."""


class Scored(NamedTuple):
    """A set: the scores of all outputs and their directions, words, documents and systems."""

    scores: dict[str, Array]
    better: dict[str, str]
    words: Array
    item: list[str]
    texts: Texts

    def choice(self, rows: NDArray[np.int64], rated: Array, seed: int) -> ChosenOutput:
        """The choice by the ratings of some rows."""
        return choose(
            {name: x[rows] for name, x in self.scores.items()},
            rated,
            item=[self.item[row] for row in rows],
            better=self.better,
            words=self.words[rows],
            seed=seed,
        )


def scored(texts: Texts) -> Scored:
    """All outputs of the metrics that the columns allow."""
    table = {"predictions": texts.predictions, **texts.columns}
    scores: dict[str, Array] = {}
    better: dict[str, str] = {}
    for hub in candidates(table, {}, {}):
        try:
            with without_warnings(notes=False):
                of_metric, ways = scores_by_label(hub.evaluate(table), all_outputs=True)
        except (InputError, ScoringError):
            continue
        scores |= of_metric
        better |= ways
    words = word_counts(texts.predictions).astype(np.float64)
    return Scored(scores, better, words, list(map(str, texts.item)), texts)


def drawn(item: list[str], rated: Array, number: int, rng: np.random.Generator) -> Any:
    """So many rated rows in a random order, at most two of a document."""
    taken: dict[str, int] = {}
    rows: list[int] = []
    for row in rng.permutation(np.flatnonzero(~np.isnan(rated))):
        if taken.get(item[row], 0) < 2 and len(rows) < number:
            taken[item[row]] = taken.get(item[row], 0) + 1
            rows.append(int(row))
    return np.array(rows)


class Draw(NamedTuple):
    """What a draw's choice says, and its tau-b on the documents that weren't drawn, the truth."""

    estimate: float
    truth: float
    low: float
    high: float
    p: float
    beats_length: bool


def draws(data: Scored, rated: Array, number: int, seeds: range) -> Iterator[Draw]:
    """Each seed's choice, and its tau-b on the documents that weren't drawn."""
    for seed in seeds:
        rows = drawn(data.item, rated, number, np.random.default_rng(seed))
        try:
            choice = data.choice(rows, rated[rows], seed)
        except InputError:
            continue
        row = choice.rows[0]
        used = {data.item[k] for k in rows}
        others = np.array([k for k in range(len(rated)) if data.item[k] not in used])
        x = data.scores[row.metric][others]
        sign = -1 if choice.better == "lower" else 1
        truth = sign * tau_b(np.where(np.isnan(x), np.nanmean(x), x), rated[others])
        yield Draw(row.value, truth, row.low, row.high, choice.p, choice.beats_length)


def mean_ratings(values: Any) -> Array:
    """The mean of each sample's raters."""
    return np.array([np.nanmean(np.asarray(value, np.float64)) for value in values])


@click.command()
@click.option("--data", "folders", type=Path, required=True, multiple=True, help="Rated data.")
@click.option("--set", "chosen", multiple=True, help="One set; repeatable.  [default: all]")
@click.option("--seeds", default=30, show_default=True)
@click.option("--ratings", "number", default=40, show_default=True)
@click.option("--shuffles", default=100, show_default=True)
def main(
    folders: tuple[Path, ...], chosen: tuple[str, ...], seeds: int, number: int, shuffles: int
) -> None:
    """Print each set's bars."""
    every: list[Draw] = []
    null: list[float] = []
    print("set, dimension: estimate - truth, covered, p <= .05, in shuffled | beats length")
    for name, (file, read) in SETS.items():
        folder = next((folder for folder in folders if (folder / file).exists()), None)
        if folder is None or (chosen and name not in chosen):
            continue
        data = scored(read(folder))
        rng = np.random.default_rng(1)
        for dimension, values in data.texts.human.items():
            rated = mean_ratings(values)
            real = list(draws(data, rated, number, range(seeds)))
            shuffled = [
                draw.p
                for seed in range(shuffles // max(len(data.texts.human), 1) + 1)
                for draw in draws(data, rng.permutation(rated), number, range(seed, seed + 1))
            ]
            # Ratings that follow the number of words and nothing else.
            ranks = np.argsort(np.argsort(data.words)) / len(rated)
            by_length = np.round(4 * ranks + rng.normal(0, 0.8, len(rated)))
            longer = list(draws(data, by_length, number, range(seeds)))
            every += real
            null += shuffled
            _print(f"{name}, {dimension}", real, shuffled, longer)
    _print("all", every, null, [])


def _print(title: str, real: list[Draw], shuffled: list[float], longer: list[Draw]) -> None:
    """Print the bars of some draws."""
    bias = np.mean([draw.estimate - draw.truth for draw in real])
    covered = np.mean([draw.low <= draw.truth <= draw.high for draw in real])
    agrees = np.mean([draw.p <= 0.05 for draw in real])
    false = np.mean([p <= 0.05 for p in shuffled])
    truth = np.mean([draw.truth for draw in real])
    claims = np.mean([draw.beats_length for draw in longer]) if longer else np.nan
    marks = [
        "" if ok else "!"
        for ok in (BIAS[0] <= bias <= BIAS[1], covered >= COVERED, false <= TOO_OFTEN)
    ]
    print(
        f"{title}: {bias:+.3f}{marks[0]} (truth {truth:.3f}), {covered:.2f}{marks[1]}, "
        f"{agrees:.2f}, {false:.2f}{marks[2]} of {len(shuffled)} | {claims:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
