"""Resampling of corpus metrics: `resampler` gives what `conclude` gives of the same rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, list_metrics, load_metric
from metrichub.metric import CorpusMetric
from tests.resampled import drawn, swapped

SPECS = (
    *("cider", "cider(variant='cider', max_order=2)", "cider(sigma=1, tokenizer='whitespace')"),
    *("nist", "nist(max_order=2)", "nist(convention='nltk', tokenize='none')"),
    *("self_bleu", "self_bleu(max_order=2)", "distinct", "distinct(n=6, tokenizer='char')"),
    *("novelty(n=1)", "novelty(n=2)"),
    "squad_v2_best",
    *("classification", "classification(mode='kappa_linear')"),
    *("multi_label", "entity_f1(form='tags')", "json_fields"),
)
WORDS = st.sampled_from(["a", "b", "cat", "sat", "0", "0", "1", "été"])
TEXT = st.lists(WORDS, max_size=7).map(" ".join)
PREDICTIONS = st.one_of(TEXT, st.lists(TEXT, min_size=1, max_size=3))
REFERENCES = st.lists(TEXT, min_size=1, max_size=3)
ONE = st.tuples(PREDICTIONS, PREDICTIONS, REFERENCES)
SAMPLES = st.lists(ONE, min_size=1, max_size=6)


def corpus_metrics() -> set[str]:
    return {
        entry.name
        for entry in list_metrics()
        if entry.distribution == "metrichub" and issubclass(entry.load(), CorpusMetric)
    }


def systems(spec: str, samples: Sequence[tuple[Any, Any, Sequence[str]]]) -> tuple[Any, Any]:
    """The results of two systems on the same samples, each with several outputs of some."""
    first, other, references = (list(column) for column in zip(*samples, strict=True))
    if "nltk" in spec:
        references = [reference[:1] for reference in references]
    hub = Hub(load_metric(spec))

    def result(predictions: list[Any]) -> Any:
        lists = [[p] if isinstance(p, str) else p for p in predictions]
        # What squad_v2_best reads beside; several texts are as probable, and some impossible.
        silent = [len("".join(texts)) % 5 / 4 for texts in lists]
        report = hub.evaluate(
            predictions=lists, references=references, no_answer_probabilities=silent
        )
        return next(iter(report.results.values()))

    return result(first), result(other)


def concluded(metric: CorpusMetric, rows: Sequence[Any]) -> dict[str, float]:
    """The scores of these rows, one after the other, and nan for none."""
    return dict(metric.conclude(rows) if rows else dict.fromkeys(metric.outputs(), np.nan))


def rows_of(result: Any, sample: int) -> list[Any]:
    return [row for row, of in zip(result.rows, result.sample, strict=True) if of == sample]


def assert_scores(result: Any, expected: Sequence[dict[str, float]]) -> None:
    assert set(result) == set(expected[0])
    for name, values in result.items():
        np.testing.assert_allclose(values, [e[name] for e in expected], rtol=1e-9, atol=1e-9)


def test_every_corpus_metric_of_ours_is_tried_here() -> None:
    assert {spec.partition("(")[0] for spec in SPECS} == corpus_metrics()


@pytest.mark.parametrize("spec", SPECS)
def test_a_corpus_metric_of_ours_needs_no_conclusion_from_each_resample(spec: str) -> None:
    # 1000 conclusions from 3,000 samples take hours.
    result, _ = systems(spec, [("a b", "b", ["a"]), ("b a", "a b", ["b a"])])
    assert result.metric.resampler(result.rows) is not None


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=15)
@given(samples=SAMPLES, data=st.data())
def test_resamples_score_what_is_concluded_from_the_drawn_rows(
    spec: str, samples: list[Any], data: st.DataObject
) -> None:
    item, _ = systems(spec, samples)
    number = st.integers(0, len(samples) - 1)
    draw = st.lists(number, min_size=len(samples), max_size=len(samples))
    index = data.draw(st.lists(draw, min_size=1, max_size=4))
    expected = [concluded(item.metric, [r for s in row for r in rows_of(item, s)]) for row in index]
    if not item.metric.resamples:
        expected = [dict.fromkeys(scores, np.nan) for scores in expected]
    assert_scores(drawn(item, index), expected)


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=15)
@given(samples=SAMPLES, data=st.data())
def test_swaps_score_what_is_concluded_from_the_swapped_rows(
    spec: str, samples: list[Any], data: st.DataObject
) -> None:
    entry, other = systems(spec, samples)
    toss = st.lists(st.booleans(), min_size=len(samples), max_size=len(samples))
    tosses = data.draw(st.lists(toss, min_size=1, max_size=4))

    def after(mine: Any, its: Any) -> list[dict[str, float]]:
        chosen = [[mine if keep else its for keep in row] for row in tosses]
        return [
            concluded(entry.metric, [r for s, result in enumerate(row) for r in rows_of(result, s)])
            for row in chosen
        ]

    first, second = swapped(entry, other, tosses)
    assert_scores(first, after(entry, other))
    assert_scores(second, after(other, entry))


@pytest.mark.parametrize("spec", SPECS)
def test_no_samples_have_no_sample_scores_and_intervals_of_nan(spec: str) -> None:
    none = dict.fromkeys(("predictions", "references", "no_answer_probabilities"), ())
    report = Hub(load_metric(spec)).evaluate(**none)
    ((name, outputs),) = report.samples().items()
    assert {len(values) for values in outputs.values()} == {0}
    intervals = report.intervals(resamples=2)[name].values()
    assert all(np.isnan([*result.ends, result.mean, result.std]).all() for result in intervals)


def test_a_file_of_training_texts_is_known_to_every_resample(tmp_path: Any) -> None:
    path = tmp_path / "train.txt"
    path.write_text("a b\nc\n", encoding="utf-8")
    metric = load_metric("novelty", n=1, corpus=str(path))
    result = Hub(metric).evaluate(predictions=["a x", "c", "y z b"]).results["novelty"]
    # Twice "a x", and "c": 2 of 5 words are new, and 2 of 3 texts. Then "c" and twice "y z b".
    actual = drawn(result, [[0, 0, 1], [1, 2, 2]])
    assert actual["score"].tolist() == [2 / 5, 4 / 7]
    assert actual["texts"].tolist() == [2 / 3, 2 / 3]


def test_nltks_best_of_several_references_is_still_concluded_from_each_resample() -> None:
    hub, references = Hub("nist(convention='nltk', max_order=1)"), [["a", "a b c"], ["c"]]
    first, other = (
        hub.evaluate(predictions=predictions, references=references).results["nist"]
        for predictions in (["a b", "c"], ["a", "c c"])
    )
    tosses = [[True, True], [True, False], [False, True]]
    mixed = [[(first if mine else other).rows[s] for s, mine in enumerate(row)] for row in tosses]
    score, _ = swapped(first, other, tosses)
    assert_scores(score, [concluded(first.metric, rows) for rows in mixed])
