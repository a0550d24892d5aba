"""Corrections of several p-values, and the tests of shares, against published numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from metrichub import Hub, compare_all
from metrichub.evaluation.distributions import mcnemar_mid_p, normal_score
from metrichub.evaluation.resample import randomization_p, step_down

# The upper points of the studentized range of normal values: Harter (1960), Table B.
RANGES = [
    *((3, 0.05, 3.314), (4, 0.05, 3.633), (5, 0.05, 3.858), (6, 0.05, 4.030), (8, 0.05, 4.286)),
    *((10, 0.05, 4.474), (15, 0.05, 4.796), (20, 0.05, 5.012)),
    *((3, 0.01, 4.120), (5, 0.01, 4.603), (10, 0.01, 5.157), (20, 0.01, 5.645)),
]


def unrelated(number: int) -> list[np.ndarray]:
    """The draws of so many scores that have one variance and don't depend on one another."""
    drawn = np.random.default_rng(5).standard_normal((400, number + 1))
    drawn[:, 0] = 1.0
    return list(np.linalg.qr(drawn)[0][:, 1:].T)


@pytest.mark.parametrize(("number", "p", "studentized"), RANGES)
def test_the_largest_of_all_pairs_is_that_of_the_studentized_range(
    number: int, p: float, studentized: float
) -> None:
    sides = unrelated(number)
    drawn = {pair: (sides[pair[0]], sides[pair[1]]) for pair in combinations(range(number), 2)}
    distance = studentized / np.sqrt(2)
    alone = 2 * (1 - _normal(distance))
    result, critical = step_down(
        dict.fromkeys(drawn, alone), dict.fromkeys(drawn, distance), drawn, 1, 1 - p
    )
    assert critical == pytest.approx(distance, abs=0.05)
    # Four standard errors of 20,000 draws.
    assert set(result.values()) == {result[0, 1]}
    assert result[0, 1] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 20_000))


def _normal(value: float) -> float:
    from statistics import NormalDist

    return NormalDist().cdf(value)


def stepped_down(distances: Sequence[float], correlation: Sequence[Sequence[float]]) -> list[float]:
    """Westfall and Young's p-values of normal distances, by integrals in place of draws.

    From the farthest on, p is that of the largest of all |Z| that aren't farther:
    1 - P(|Z_j| < z_r, j >= r), and no less than the one before. `distances` fall.
    """
    p_values: list[float] = []
    for place, distance in enumerate(distances):
        left = np.array(correlation)[place:, place:]
        box = np.full(len(left), distance)
        inside = stats.multivariate_normal(cov=left, allow_singular=True).cdf(box, lower_limit=-box)
        p_values.append(max([1 - float(inside), *p_values]))
    return p_values


def alike(number: int, correlation: float) -> list[list[float]]:
    """The correlations of differences of which each two have the same."""
    return [[1.0 if i == j else correlation for j in range(number)] for i in range(number)]


PAIRS_OF_THREE = [[1.0, 0.5, -0.5], [0.5, 1.0, 0.5], [-0.5, 0.5, 1.0]]


@pytest.mark.parametrize(
    ("distances", "correlation"),
    [
        ([2.5, 2.0], alike(2, 0.0)),
        ([2.1, 2.05], alike(2, 0.9)),
        ([2.4, 1.0], alike(2, -0.6)),
        ([2.6, 2.3, 1.9], alike(3, 0.3)),
        ([2.2, 2.2, 2.2], alike(3, 0.95)),
        ([3.0, 1.5, 0.3], PAIRS_OF_THREE),
        ([2.35, 2.3, 2.0], PAIRS_OF_THREE),
        ([2.9, 2.5, 2.2, 1.9], alike(4, 0.5)),
        ([2.0, 1.99, 1.98, 1.97], alike(4, 0.8)),
        ([3.2, 2.8, 2.4, 2.0, 1.6], alike(5, 0.2)),
    ],
)
def test_steps_are_the_integrals_of_normal_distances(
    distances: list[float], correlation: list[list[float]]
) -> None:
    # Draws that have exactly this covariance; singular ones have a root by their eigenvalues.
    values, vectors = np.linalg.eigh(np.array(correlation))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    sides = (np.column_stack(unrelated(len(distances))) @ root.T).T
    zeros = np.zeros(400)
    alone = {k: 2 * float(stats.norm.sf(z)) for k, z in enumerate(distances)}
    drawn = {k: (side, zeros) for k, side in enumerate(sides)}
    result, _ = step_down(alone, dict(enumerate(distances)), drawn, 1)
    for k, p in enumerate(stepped_down(distances, correlation)):
        # Four standard errors of 20,000 draws, and the one that p counts itself.
        assert result[k] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 20_000) + 1 / 20_000)
        assert result[k] >= alone[k]


def test_steps_go_on_without_what_is_told_apart_already() -> None:
    # 0 is far from 1 and 2, which are tested as a pair once both others are told apart.
    a, b, c = unrelated(3)
    p_values = {"ab": 1e-9, "ac": 1e-9, "bc": 0.04}
    drawn = {"ab": (a, b), "ac": (a, c), "bc": (b, c)}
    distances = {key: normal_score(p) for key, p in p_values.items()}
    scores, _ = step_down(p_values, distances, drawn, 1)
    assert scores["bc"] == pytest.approx(0.04, abs=0.006)
    assert scores["ab"] == scores["ac"] == 1 / 20_001
    # In one step all three are one family.
    same, _ = step_down(dict.fromkeys(drawn, 0.04), dict.fromkeys(drawn, 2.054), drawn, 1)
    assert 0.08 < same["bc"] < 0.12


def test_what_never_varies_is_corrected_by_the_number_of_tests_and_one_test_is_not() -> None:
    a, b, c = unrelated(3)
    still = np.ones_like(a)
    drawn = {"still": (still, 2 * still), "ab": (a, b), "none": (b, c)}
    scores, _ = step_down(
        {"still": 0.01, "ab": 0.5, "none": np.nan}, {"still": 2.6, "ab": 0.7}, drawn, 1
    )
    assert scores["still"] == 0.02
    assert np.isnan(scores["none"])
    # The same output by another name is no other test.
    twins = {"x": (a, b), "y": (a.copy(), b.copy())}
    assert step_down({"x": 0.03, "y": 0.03}, {"x": 2.1, "y": 2.1}, twins, 1)[0] == {
        "x": 0.03,
        "y": 0.03,
    }


# Fagerland, Lydersen and Laake (2013): Table 1 has the first; exact p less half of the probability
# of what was observed, by the binomial distribution's table, the others.
@pytest.mark.parametrize(
    ("more", "less", "p"),
    [(1, 7, 0.0390625), (0, 5, 0.03125), (0, 6, 0.015625), (3, 3, 0.84375), (0, 0, 1.0),
     (1, 1, 0.75), (2, 8, 0.0654296875), (500, 500, 0.98738749)],
)  # fmt: skip
def test_mid_p_is_mcnemars(more: int, less: int, p: float) -> None:
    assert mcnemar_mid_p(more, less) == pytest.approx(p, abs=1e-8)
    assert mcnemar_mid_p(less, more) == mcnemar_mid_p(more, less)


def test_ties_of_shares_count_half() -> None:
    # All 64 signs of six samples: 10 of 16 of the four that differ are as far as 2 apart or more.
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1)
    differences = np.array([1.0, 1.0, 1.0, 0.0, -1.0, 0.0]) @ signs / 6
    exact, half = (randomization_p(differences, 2 / 6, ties=ties) for ties in (1.0, 0.5))
    assert (exact, half) == ((40 + 1) / 65, (8 + 0.5 * 33) / 65)
    assert randomization_p(np.zeros(64), 0.0, ties=0.5) == 1


def test_forty_systems_can_be_told_apart() -> None:
    rng = np.random.default_rng(2)
    words = [f"w{k}" for k in range(30)]
    references = [" ".join(rng.choice(words, 12)) for _ in range(60)]

    def system(share: float) -> list[str]:
        texts = [text.split() for text in references]
        return [" ".join(w if rng.random() < share else "x" for w in text) for text in texts]

    hub = Hub("rouge")
    shares = {f"s{k}": 0.35 + 0.01 * (k % 5) for k in range(39)} | {"best": 0.9}
    reports = {
        n: hub.evaluate(predictions=system(s), references=references) for n, s in shares.items()
    }
    ranking = compare_all(reports, trials=1000)
    ranks = ranking.ranks["rouge"]["rouge1"]
    assert [name for name, rank in ranks.items() if rank == 1] == ["best"]
    tests = ranking.pairs["best", "s0"]["rouge"]
    assert tests["rouge1"].p < 0.01
    assert tests["rouge1"].test == "approximate randomization"
    assert np.isnan(tests["score"].p) == np.isnan(tests["rougeL"].p)
