"""Products of draws and tosses: equal to those in double precision, and to those of each pair."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from metrichub import Hub, Report, compare_all
from metrichub.evaluation import significance
from metrichub.evaluation.draws import Draw, Products, in_one_thread

RANDOM = np.random.default_rng(5)
COLUMNS: dict[str, Any] = {
    "counts": RANDOM.integers(0, 200, (300, 4)),
    "negative": RANDOM.integers(-90, 90, (300, 2)),
    "fractions": RANDOM.random((300, 3)),
    "of both kinds": np.column_stack([RANDOM.random(300), np.ones(300), RANDOM.random(300) * 1e9]),
    "alike": np.tile(RANDOM.integers(0, 9, (300, 1)), 3),
    "too large for single precision": RANDOM.integers(0, 2**40, (300, 2)),
    "just too large": np.full((300, 1), 2**24 // 300 + 1),
    "the largest that is exact": np.full((300, 1), 2**24 // 300),
    "infinite": np.where(np.arange(300)[:, None] == 7, np.inf, 1.0),
    "none": np.zeros((300, 0)),
}


@pytest.mark.parametrize("names", [*([name] for name in COLUMNS), [*COLUMNS], []])
def test_a_product_is_that_in_double_precision(names: list[str]) -> None:
    parts = [COLUMNS[name].astype(np.float64) for name in names]
    products_with = Products(parts)
    tosses = RANDOM.integers(0, 2, (70, 300), dtype=bool)
    for matrix in (tosses, Draw(RANDOM.integers(0, 300, (70, 300))).weights):
        with np.errstate(invalid="ignore"):
            products = products_with(matrix)
            expected = [matrix.astype(np.float64) @ part for part in parts]
        for name, product, right in zip(names, products, expected, strict=True):
            whole = not (COLUMNS[name] % 1).any() if name != "infinite" else False
            tolerance = 0 if whole else 1e-12
            np.testing.assert_allclose(product, right, rtol=tolerance, err_msg=name)


def test_columns_that_are_alike_are_multiplied_once() -> None:
    assert Products([COLUMNS["alike"] * 1.0, COLUMNS["alike"][:, :2] * 1.0]).width == 1


def noisy(rate: float, size: int = 60) -> list[str]:
    random = np.random.default_rng(int(rate * 100))
    texts = []
    for _ in range(size):
        words = np.where(random.random(9) < rate, "x", [*"abcdefghi"])
        texts.append(" ".join(words[: random.integers(4, 10)]))
    return texts


def report_of(predictions: list[Any], metrics: list[str], **columns: Any) -> Report:
    references = ["a b c d e f g h i"] * len(predictions)
    return Hub(metrics).evaluate(predictions=predictions, references=references, **columns)


def test_the_tests_of_many_systems_are_those_of_each_pair() -> None:
    rates = (0.1, 0.2, 0.3, 0.2)
    systems = {
        f"s{i}": report_of(noisy(rate), ["bleu", "chrf", "wer", "rouge"])
        for i, rate in enumerate(rates)
    }
    together = compare_all(systems, trials=500, resamples=50).pairs
    assert len(together) == 6
    for (system, other), metrics in together.items():
        alone = systems[system].compare(systems[other], trials=500, resamples=50)
        for metric, outputs in metrics.items():
            for name, test in outputs.items():
                expected = alone[metric][name]
                assert test.randomization_p == expected.randomization_p
                assert str(test.interval) == str(expected.interval)


@pytest.mark.parametrize(
    "texts", [noisy, lambda rate, size: noisy(rate, 10) * (size // 10)], ids=["random", "periodic"]
)
def test_many_samples_are_drawn_and_swapped_in_buckets(
    texts: Callable[[float, int], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = (report_of(texts(rate, 4000), ["bleu", "wer"]) for rate in (0.30, 0.32))
    exact = first.compare(other, trials=2000)
    monkeypatch.setattr(significance, "_MANY", 4000)
    in_buckets = first.compare(other, trials=2000)
    for metric in ("bleu", "wer"):
        by_sample, by_bucket = exact[metric]["score"], in_buckets[metric]["score"]
        assert by_bucket.se == pytest.approx(by_sample.se, rel=0.1)
        assert by_bucket.interval.ends == pytest.approx(
            by_sample.interval.ends, abs=by_sample.se / 3
        )
        assert by_bucket.randomization_p == pytest.approx(by_sample.randomization_p, abs=0.05)
        assert by_bucket.units == by_sample.units == 4000


def test_products_are_made_by_one_thread_and_others_keep_theirs() -> None:
    def threads() -> set[int]:
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    before = threads()
    with ThreadPoolExecutor(4) as pool:
        inside = [*pool.map(lambda _: in_one_thread(threads)(), range(8))]
    assert inside == [{1}] * 8
    assert threads() == before
