"""Resampling: sacrebleu's draws, intervals and p-values, in blocks of any size."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu import significance
from sacrebleu.metrics import BLEU as SacreBleu

from metrichub import Hub, Report
from metrichub.catalog.card import Card
from metrichub.errors import MetricError, ParameterError
from metrichub.evaluation.draws import Draw, draws, swaps
from metrichub.evaluation.resample import (
    SEED,
    bootstrap_p,
    randomization_p,
)
from metrichub.metric import CorpusMetric
from tests.resampled import drawn, swapped
from tests.toy_metrics import Errors, Length, Overlap, Variety, card

RESAMPLES, TRIALS = 400, 640


def whole_draw(samples: int, resamples: int, seed: int) -> Draw:
    """All resamples in one block."""
    return Draw(np.concatenate([draw.index for draw in draws(samples, resamples, seed)]))


def translations(seed: int, error: float) -> list[str]:
    """200 sentences of a made-up language in which a system gets some words wrong."""
    words = [f"w{i}" for i in range(60)]
    generator = random.Random(99)
    sentences = [generator.choices(words, k=generator.randint(4, 24)) for _ in range(200)]
    noise = random.Random(seed)
    return [
        " ".join(noise.choice(words) if noise.random() < error else word for word in sentence)
        for sentence in sentences
    ]


REFERENCES = translations(0, 0.0)
ONE, OTHER = translations(1, 0.30), translations(2, 0.32)


@pytest.fixture(scope="module")
def reports() -> tuple[Report, Report]:
    hub = Hub("bleu")
    return tuple(hub.evaluate(predictions=p, references=REFERENCES) for p in (ONE, OTHER))


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)


# Equal to sacrebleu 2.6 on the same resamples; it computes in float32, which has 24 bits.
FLOAT32 = 2.0**-20


def test_the_scores_of_all_resamples_are_sacrebleus(reports: tuple[Report, Report]) -> None:
    theirs = SacreBleu()
    statistics = theirs._extract_corpus_statistics(ONE, [REFERENCES])
    _, scores = significance._bootstrap_resample(statistics, theirs, RESAMPLES)
    draw = whole_draw(len(ONE), RESAMPLES, SEED)
    ours = drawn(reports[0].results["bleu"], draw.index)["score"]
    np.testing.assert_allclose(100 * ours, [score.score for score in scores], rtol=FLOAT32)


def test_the_interval_is_sacrebleus(reports: tuple[Report, Report]) -> None:
    theirs = SacreBleu()
    statistics = theirs._extract_corpus_statistics(ONE, [REFERENCES])
    _, scores = significance._bootstrap_resample(statistics, theirs, RESAMPLES)
    mean, half = significance.estimate_ci(np.array([score.score for score in scores]))
    ours = reports[0].intervals(resamples=RESAMPLES)["bleu"]["score"]
    assert 100 * (ours.high - ours.low) / 2 == pytest.approx(half, rel=1e-4)
    assert 100 * ours.mean == pytest.approx(mean, rel=FLOAT32)


@pytest.mark.parametrize(
    ("kind", "number", "ours"),
    [("bs", RESAMPLES, "sacrebleu_bootstrap_p"), ("ar", TRIALS, "randomization_p")],
)
def test_the_p_values_are_sacrebleus(
    reports: tuple[Report, Report], kind: str, number: int, ours: str
) -> None:
    test = significance.PairedTest(
        [("one", ONE), ("other", OTHER)], {"BLEU": SacreBleu()}, [REFERENCES], kind, number
    )
    p = test()[1]["BLEU"][1].p_value
    compared = reports[0].compare(reports[1], resamples=RESAMPLES, trials=TRIALS)["bleu"]["score"]
    # sacrebleu doesn't count ties; these data have none, as the next test shows.
    assert 2 / number < p < 0.9
    assert getattr(compared, ours) == p


# Blocks.

columns = st.lists(
    st.tuples(st.sampled_from(["a", "a b", "c", ""]), st.sampled_from(["a", "b c", "a b c"])),
    min_size=1,
    max_size=7,
)


@given(columns, st.integers(1, 70), st.integers(1, 300))
def test_blocks_of_resamples_give_the_numbers_of_one_block(
    samples: list[tuple[str, str]], number: int, cells: int
) -> None:
    predictions, references = zip(*samples, strict=True)
    hub = Hub([Errors(), Overlap(), Length(), Variety()])
    first = hub.evaluate(predictions=predictions, references=references)
    other = hub.evaluate(predictions=references, references=references)

    def numbers() -> list[Any]:
        return [
            first.intervals(resamples=number),
            first.compare(other, resamples=number, trials=number),
        ]

    exact = numbers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metrichub.evaluation.draws.CELLS", cells)
        assert len(list(draws(len(samples), number, SEED))) == -(
            -number // max(1, cells // len(samples))
        )
        np.testing.assert_equal(numbers(), exact)


@given(st.integers(1, 9), st.integers(1, 20), st.integers(1, 400))
# Rows are counted three at a time, and the last two together.
@example(5, 20, 300)
def test_weights_say_how_often_each_sample_was_drawn(samples: int, number: int, cells: int) -> None:
    draw = whole_draw(samples, number, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metrichub.evaluation.draws.CELLS", cells)
        weights = draw.weights.tolist()
    assert weights == [
        [row.count(sample) for sample in range(samples)] for row in draw.index.tolist()
    ]


@pytest.mark.parametrize(
    "numbers",
    [[2, 2, 2], [0.1, 0.1, 0.1], [1, 0, 1], [3, None, 3], [0.5, None, 2], [None, 4, None]],
)
def test_a_resample_scores_what_its_samples_do_even_if_some_never_vary(numbers: list[Any]) -> None:
    index = [[0, 2, 2], [1, 1, 1], [2, 1, 0]]
    result = Hub("recorded").evaluate({"score": numbers}).results["recorded"]
    scored = [[n for i in row if (n := numbers[i]) is not None] for row in index]
    expected = [sum(row) / len(row) if row else math.nan for row in scored]
    assert drawn(result, index)["score"] == pytest.approx(expected, nan_ok=True)


# Corpus metrics.


@dataclass(frozen=True, kw_only=True)
class Longest(CorpusMetric):
    """The most words of a prediction; `seen` has what `conclude` was asked."""

    card: ClassVar[Card] = card("longest", "prediction", better="neither")
    seen: ClassVar[list[list[int]]] = []

    def observe(self, prediction: str) -> int | None:
        return len(prediction.split()) or None

    def conclude(self, rows: Sequence[int]) -> dict[str, float]:
        self.seen.append(list(rows))
        return {"score": max(rows)}


class Counted(Longest):
    """The same, told how often each row was drawn."""

    asked: ClassVar[list[list[float]]] = []

    def resampler(self, rows: Sequence[int]) -> Any:
        def scores(counts: Any) -> Any:
            self.asked.extend(counts.tolist())
            return {"score": (np.array(rows) * (counts > 0)).max(axis=1)}

        return scores


TEXTS = [["a", "a b c"], "", ["a b"]]


def test_a_corpus_metric_without_a_resampler_concludes_from_the_rows_of_each_resample() -> None:
    result = Hub(Longest()).evaluate(predictions=TEXTS).results["longest"]
    Longest.seen.clear()
    scores = drawn(result, [[0, 2, 2], [1, 1, 1], [2, 1, 2]])["score"]
    # The second sample has no row: the second resample has none, and the third twice "a b".
    np.testing.assert_array_equal(scores, [3, np.nan, 2])
    assert Longest.seen == [[1, 3, 2, 2], [2, 2]]


def test_a_resampler_is_told_how_often_each_row_was_drawn_and_no_row_is_nan() -> None:
    result = Hub(Counted()).evaluate(predictions=TEXTS).results["longest"]
    Counted.seen.clear()
    Counted.asked.clear()
    scores = drawn(result, [[0, 2, 2], [1, 1, 1], [2, 1, 2]])["score"]
    np.testing.assert_array_equal(scores, [3, np.nan, 2])
    # The rows are "a", "a b c" and "a b"; the first two are one sample's.
    assert Counted.asked == [[1, 1, 2], [0, 0, 0], [0, 0, 2]]
    assert Counted.seen == []


@pytest.mark.parametrize("metric", [Longest(), Counted()])
def test_a_swap_takes_the_rows_of_either_system(metric: CorpusMetric) -> None:
    first = Hub(metric).evaluate(predictions=["a", "a b c d"]).results["longest"]
    other = Hub(metric).evaluate(predictions=["a b", "a b c"]).results["longest"]
    mine, its = swapped(first, other, [[True, True], [True, False], [False, False]])
    assert mine["score"].tolist() == [4, 3, 3]
    assert its["score"].tolist() == [3, 4, 4]


def test_a_resampler_that_gives_other_outputs_is_named() -> None:
    class Wrong(Longest):
        def resampler(self, rows: Sequence[int]) -> Any:
            return lambda counts: {"length": counts.sum(axis=1)}

    report = Hub(Wrong()).evaluate(predictions=TEXTS)
    with pytest.raises(MetricError, match="longest: resamples have length, but its outputs are"):
        report.intervals(resamples=2)


# Intervals and p-values.


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.floats(0, 1))
def test_a_p_value_is_a_share_and_falls_as_the_observed_difference_grows(
    differences: Sequence[float], observed: float
) -> None:
    for test in (bootstrap_p, randomization_p):
        values = [test(np.array(differences), size) for size in (observed / 2, observed, 3.0)]
        assert values == sorted(values, reverse=True)
        assert values[-1] == 1 / (len(differences) + 1)
        assert 0 < values[0] <= 1
        assert test(np.array(differences), -observed) == values[1]


def test_identical_systems_do_not_differ(reports: tuple[Report, Report]) -> None:
    compared = reports[0].compare(reports[0], resamples=50, trials=50)["bleu"]["score"]
    assert compared.difference == 0
    assert compared.interval.why == "all resamples have the same difference"
    assert compared.sacrebleu_bootstrap_p == compared.randomization_p == 1


def test_a_p_value_of_nan_is_nan() -> None:
    assert np.isnan(bootstrap_p(np.array([0.1, np.nan]), 0.1))
    assert np.isnan(randomization_p(np.array([0.1]), float("nan")))


def test_a_seed_gives_the_same_and_another_gives_others(reports: tuple[Report, Report]) -> None:
    intervals = reports[0].intervals(resamples=50, seed=1)
    assert reports[0].intervals(resamples=50, seed=1) == intervals
    assert reports[0].intervals(resamples=50, seed=2) != intervals


@pytest.mark.parametrize(
    "wrong",
    [
        *({"confidence": value} for value in (0, 1, 95, "95%")),
        *({"seed": seed} for seed in ("x", 1.5, -1)),
        {"resamples": 0},
    ],
)
def test_a_level_or_number_out_of_its_domain_is_refused(
    reports: tuple[Report, Report], wrong: dict[str, Any]
) -> None:
    for ask in (reports[0].intervals, partial(reports[0].compare, reports[1])):
        with pytest.raises(ParameterError, match=f"^{next(iter(wrong))}="):
            ask(**wrong)
    with pytest.raises(ParameterError, match=r"^trials=0 is not allowed; choose an integer of at"):
        reports[0].compare(reports[1], trials=0)


def test_rows_are_taken_in_the_order_of_their_samples() -> None:
    result = Hub(Longest()).evaluate(predictions=TEXTS).results["longest"]
    taken = result.take(np.array([2, 0], np.int64))
    assert (taken.rows, taken.sample.tolist()) == ([2, 1, 3], [0, 1, 1])  # type: ignore[attr-defined]  # rows


@pytest.mark.parametrize(
    ("samples", "cells", "draw_sizes", "toss_sizes"),
    [
        # As many rows as fit: 3 of 10 cells; of tosses there are 20 times as many, in 32s.
        (3, 10, [3, 3, 1], [64, 6]),
        # One row of more samples than cells.
        (11, 10, [1] * 7, [29, 3, 29, 3, 6]),
        # 32 times as many cells are 4 rows of 80.
        (80, 10, [1] * 7, [4] * 17 + [2]),
        (400, 10, [1] * 7, [1] * 70),
        # Without samples, a row takes one cell.
        (0, 3, [3, 3, 1], [32, 32, 6]),
    ],
)
def test_a_block_has_as_many_rows_as_fit(
    samples: int,
    cells: int,
    draw_sizes: list[int],
    toss_sizes: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("metrichub.evaluation.draws.CELLS", cells)
    if samples:
        assert [len(draw.index) for draw in draws(samples, 7, SEED)] == draw_sizes
    assert [len(block) for block in swaps(samples, 70, SEED)] == toss_sizes


def test_statistics_that_equal_the_observed_one_but_for_rounding_count() -> None:
    # A float64 near a million is rounded by about 1e-10.
    assert randomization_p(np.array([1e6 - 1e-9, 1e6 - 1e-3, 1.0]), 1e6) == 2 / 4
    assert randomization_p(np.array([0.1 - 1e-14, 0.1 - 1e-9, 0.0]), 0.1) == 2 / 4
