"""The comparison with `str.split`: what it times, and on which texts."""

from __future__ import annotations

from pathlib import Path

from benchmarks.corpora import repeated
from benchmarks.exact_texts import Corpus, corpora, distinct
from benchmarks.split import timed
from metrichub import list_metrics

CORPUS = corpora(Path("no such folder"))[0]


def test_every_installed_metric_of_ours_that_asks_nobody_is_timed() -> None:
    asking_nobody = {
        entry.name
        for entry in list_metrics(judge="none")
        if entry.distribution == "metrichub" and not entry.card.embedder and not entry.lacking
    }
    assert set(timed((), CORPUS, 2)) == asking_nobody


def test_a_metric_scores_the_columns_that_are_split() -> None:
    for metric in timed(("bleu", "distinct", "sari", "json_schema_match"), CORPUS, 3).values():
        assert {len(column) for column in metric.columns.values()} == {3}
        assert metric.score()


def test_the_words_of_all_columns_are_split() -> None:
    bleu = timed(("bleu",), CORPUS, 2)["bleu"]
    texts = [*bleu.columns["predictions"], *bleu.columns["references"]]
    assert bleu.split() == [text.split() for text in texts]


def test_repeated_texts_differ_by_a_space() -> None:
    assert repeated(["a", "b"], 5) == ["a", "b", " a", " b", "  a"]
    size = len(CORPUS.predictions)
    predictions = timed(("distinct",), CORPUS, size + 1)["distinct"].columns["predictions"]
    assert predictions[size] == " " + predictions[0]


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
