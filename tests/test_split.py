"""The comparison with `str.split`: what it times, and on which texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.exact_texts import Corpus, corpora, distinct
from benchmarks.split import timed
from benchmarks.split_rows import MAKERS
from metrichub import Hub, list_metrics

CORPUS = corpora(Path("no such folder"))[0]


def test_every_installed_metric_of_ours_that_asks_nobody_is_timed() -> None:
    asking_nobody = {
        entry.name
        for entry in list_metrics(judge="none")
        if entry.distribution == "metrichub" and not entry.card.embedder and not entry.lacking
    } - {"math_equivalence"}  # Its own processes do the work.
    assert set(timed((), CORPUS, 2)) == asking_nobody


def test_generated_rows_are_distinct_and_neither_all_right_nor_all_wrong() -> None:
    for name, metric in timed([*MAKERS], CORPUS, 200).items():
        rows = {json.dumps(row) for row in zip(*metric.columns.values(), strict=True)}
        assert len(rows) == 200 or name == "classification"
        scores = Hub(name).evaluate(metric.columns).samples()[name]["score"]
        assert not np.isnan(scores).any()
        assert scores.min() < scores.max() or name == "squad_v2_best"


def test_no_two_rows_are_alike_and_further_references_come_last() -> None:
    first = Corpus("first", ["a", "a", "b"], [["x", "y"], ["x"], ["z"]], ["s", "s", "t"])
    second = Corpus("second", ["c"], [["x", "z"]], ["u"])
    rows = distinct([first, second], 10)
    pairs = list(zip(rows.predictions, rows.first, rows.sources, strict=True))
    assert pairs == [
        ("a", "x", "s"),
        ("b", "z", "t"),
        ("c", "x", "u"),
        ("a", "y", "s"),
        ("c", "z", "u"),
    ]
    assert rows.name == "first, second"
    assert distinct([first, second], 2).name == "first"
