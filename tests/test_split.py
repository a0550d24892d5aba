"""The comparison with `str.split`: what it times, and on which texts."""

from __future__ import annotations

from pathlib import Path

from benchmarks.exact_texts import corpora
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
    size = len(CORPUS.predictions)
    predictions = timed(("distinct",), CORPUS, size + 1)["distinct"].columns["predictions"]
    assert predictions[size] == " " + predictions[0]
