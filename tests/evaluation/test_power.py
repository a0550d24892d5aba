"""Power: against statsmodels' TTestPower, and as a comparison words it."""

from __future__ import annotations

import json
import random
import re
from math import isnan, sqrt
from pathlib import Path

import numpy as np
import pytest

from metrichub import Hub, Report, compare_all
from metrichub.errors import ParameterError
from metrichub.evaluation.distributions import student
from metrichub.evaluation.power import needed_units, se_of_shares, smallest_difference
from tests.commands import run


# statsmodels 0.14, TTestPower.solve_power with alpha .05, two-sided: the difference that n pairs
# of a standard deviation show, and the pairs that a difference takes.
@pytest.mark.parametrize(
    ("n", "deviation", "power", "smallest"),
    [(50, 0.2, 0.8, 0.0808366), (200, 0.2, 0.8, 0.0398129), (1000, 0.3, 0.8, 0.0266043),
     (20, 0.15, 0.8, 0.0990662), (10, 0.1, 0.8, 0.0996002), (100, 0.25, 0.9, 0.0818359),
     (8, 0.2, 0.8, 0.2312071)],
)  # fmt: skip
def test_the_smallest_difference_is_that_of_a_t_test(
    n: int, deviation: float, power: float, smallest: float
) -> None:
    assert smallest_difference(deviation / sqrt(n), n, 0.95, power) == pytest.approx(
        smallest, rel=0.003
    )


@pytest.mark.parametrize(
    ("se", "units", "difference", "power", "needed"),
    [(0.2 / sqrt(50), 50, 0.05, 0.8, 128), (0.3 / sqrt(40), 40, 0.02, 0.8, 1768),
     (0.1 / 10, 100, 0.1, 0.8, 10), (0.5 / 10, 100, 0.03, 0.9, 2921), (0.025, 100, 0.2, 0.8, 15),
     (0.04, 100, 0.01, 0.8, 12561),
     # Clusters.
     (0.03, 12, 0.05, 0.8, 36), (0.02, 30, 0.03, 0.8, 107), (0.05, 8, 0.1, 0.8, 18)],
)  # fmt: skip
def test_the_units_that_a_difference_takes_are_those_of_a_t_test(
    se: float, units: int, difference: float, power: float, needed: int
) -> None:
    assert needed_units(se, units, difference, 0.95, power) == needed


def test_the_error_of_a_difference_of_shares_is_that_of_its_samples() -> None:
    differences = [1.0] * 7 + [-1.0] * 2 + [0.0] * 11
    assert se_of_shares(7, 2, 20) == pytest.approx(np.std(differences, ddof=1) / sqrt(20))
    assert isnan(se_of_shares(1, 0, 1))


def answers(right: float, seed: int, number: int = 60) -> Report:
    """The report of so many answers, each right with this probability."""
    rng = random.Random(seed)
    predictions = ["a" if rng.random() < right else "b" for _ in range(number)]
    return Hub(["exact_match", "wer"]).evaluate(predictions=predictions, references=["a"] * number)


def test_a_comparison_says_what_its_samples_would_show_where_nothing_differs() -> None:
    alike = compare_all({"A": answers(0.6, 1), "B": answers(0.6, 2)})
    test = alike.pairs["B", "A"]["exact_match"]["score"]
    assert test.p > 0.05
    assert test.differing >= 10
    # One test: what Student's t says of its own error.
    reach = student(59, 0.95) + student(59, 0.6)
    assert test.shows == pytest.approx(reach * test.se)
    (line,) = (line for line in alike.foot() if "true difference" in line)
    assert line == (
        f"with 60 samples, a true difference of at least {test.shows:.3f} in exact_match and "
        f"{alike.pairs['B', 'A']['wer']['score'].shows:.3f} in wer would be significant "
        "in about 4 of 5 cases"
    )
    assert line in str(alike)
    # With a table in percent it is in percent too.
    in_percent = [f"{100 * alike.pairs['B', 'A'][m]['score'].shows:.1f}" for m in alike.ranks]
    (line,) = (line for line in alike.foot(percent=True) if "true difference" in line)
    assert re.findall(r"([\d.]+) in", line) == in_percent
    apart = compare_all({"A": answers(0.9, 1), "B": answers(0.2, 2)})
    assert "true difference" not in str(apart)
    # Of three systems more is needed, as three pairs are tested.
    three = compare_all({"A": answers(0.6, 1), "B": answers(0.6, 2), "C": answers(0.6, 3)})
    assert three.pairs["B", "A"]["exact_match"]["score"].shows > test.shows


def test_of_sums_in_buckets_it_says_of_how_many_samples_they_are() -> None:
    hub, rng = Hub("wer"), random.Random(3)
    reports = {}
    for name in ("A", "B"):
        texts = ["a" if rng.random() < 0.6 else "b" for _ in range(90)]
        rows = [{"prediction": p, "reference": "a", "doc": k // 3} for k, p in enumerate(texts)]
        reports[name] = hub.evaluate(rows, samples=False, key="doc")
    ranking = compare_all(reports)
    assert ranking.pairs["B", "A"]["wer"]["score"].units < 90
    assert any(line.startswith("with 90 samples, a true difference of") for line in ranking.foot())


@pytest.mark.parametrize(
    ("first", "second"), [(answers(1.0, 1), answers(0.95, 2)), (answers(0.5, 1, 6),) * 2]
)
def test_nothing_is_said_of_few_samples_and_of_few_that_differ(
    first: Report, second: Report
) -> None:
    comparison = compare_all({"A": first, "B": second})
    assert isnan(comparison.pairs["B", "A"]["exact_match"]["score"].shows)


def test_the_samples_that_a_difference_takes_are_those_of_a_difference_one_names() -> None:
    test = answers(0.6, 1).compare(answers(0.6, 2))["exact_match"]["score"]
    assert test.needed(0.1) == needed_units(test.se, 60, 0.1, 0.95)
    assert test.needed(0.1, power=0.9) > test.needed(0.1) > test.needed(0.2)
    for difference in (0, -0.1, float("nan")):
        with pytest.raises(ParameterError, match="difference"):
            test.needed(difference)
    same = answers(0.6, 1)
    with pytest.raises(ParameterError, match="whose difference varies"):
        same.compare(same)["exact_match"]["score"].needed(0.1)


@pytest.mark.parametrize(
    ("number", "option", "status", "says"),
    [
        # Two systems' errors add up: twice the variance of one.
        (64, "exact_match=0.1", 0, "with at most {needed:,} samples like these"),
        (64, "exact_match=0", 2, "--detect 'exact_match=0' isn't a difference"),
        (64, "wre=1", 2, "--detect: no metric 'wre' is scored"),
        (6, "exact_match=0.1", 0, "exact_match: these samples don't tell how its scores vary"),
    ],
)
def test_one_system_tells_how_many_samples_a_difference_takes_at_most(
    number: int, option: str, status: int, says: str, tmp_path: Path
) -> None:
    right = [k % 2 for k in range(number)]
    rows = [{"prediction": "a" if k else "b", "reference": "a"} for k in right]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    result = run("score", str(tmp_path / "a.jsonl"), "-m", "exact_match", "--detect", option)
    assert result.exit_code == status, result.stderr
    interval = Hub("exact_match").evaluate(rows).intervals()["exact_match"]["score"]
    error = interval.std * sqrt(2 * number / (number - 1))
    # The bootstrap's standard deviation of a half of 64 is about .0625.
    assert number < 64 or error == pytest.approx(sqrt(2 * 0.25 / 63), rel=0.06)
    assert says.format(needed=needed_units(error, number, 0.1, 0.95)) in result.stderr
