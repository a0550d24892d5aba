"""Yes and no beside people's, by the four counts, and the directions and draws of `correlate`."""

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest

from metrichub.agreement import (
    corrected_rate,
    correlate,
    correlate_preferences,
    preference_agreement,
    verdict_agreement,
    wilson,
)
from metrichub.agreement.agreement import AgreementRow
from metrichub.errors import InputError, ParameterError

NAN = float("nan")


def verdicts(tn: int, fp: int, fn: int, tp: int, **options: Any) -> Any:
    judge = [0] * tn + [1] * fp + [0] * fn + [1] * tp
    return verdict_agreement(
        [*judge, NAN, 1], [0] * (tn + fp) + [1] * (fn + tp + 1) + [NAN], **options
    )


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("counts", [(3, 2, 1, 5), (7, 1, 4, 2), (1, 6, 3, 2)])
def test_all_rates_come_from_four_counts(counts: tuple[int, ...], confidence: float) -> None:
    tn, fp, fn, tp = counts
    n = sum(counts)
    result = verdicts(*counts, confidence=confidence)
    assert result.confusion == ((tn, fp), (fn, tp))
    assert result.tpr == wilson(tp, tp + fn, confidence)
    assert result.tnr == wilson(tn, tn + fp, confidence)
    assert result.accuracy == wilson(tp + tn, n, confidence)
    assert result.balanced_accuracy == pytest.approx((tp / (tp + fn) + tn / (tn + fp)) / 2)
    assert (result.rate, result.human_rate) == ((tp + fp) / n, (tp + fn) / n)
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    assert result.mcc == pytest.approx((tp * tn - fp * fn) / sqrt(margins))
    chance = ((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp)) / n**2
    assert result.kappa == pytest.approx(((tp + tn) / n - chance) / (1 - chance))
    assert result.disagreements == tuple(range(tn, tn + fp + fn))
    assert result.undecided == 2
    # Rogan and Gladen (1978), within 0 and 1.
    better = result.tpr.value + result.tnr.value - 1
    expected = np.clip((0.6 + result.tnr.value - 1) / better, 0, 1) if better > 0 else NAN
    corrected = result.corrected_rate(0.6), corrected_rate(0.6, result.tpr.value, result.tnr.value)
    assert corrected == pytest.approx((expected, expected), nan_ok=True)


ALL = {"tpr", "tnr", "mcc", "balanced_accuracy", "rate", "human_rate"}


@pytest.mark.parametrize(
    ("counts", "lacking"),
    [
        ((0, 0, 2, 3), {"tnr", "mcc", "balanced_accuracy"}),
        ((2, 3, 0, 0), {"tpr", "mcc", "balanced_accuracy"}),
        ((3, 0, 2, 0), {"mcc"}),
        ((0, 3, 0, 2), {"mcc"}),
        ((0, 0, 0, 0), ALL),
    ],
)
def test_a_rate_of_no_case_is_not_known(counts: tuple[int, ...], lacking: set[str]) -> None:
    result = verdicts(*counts)
    # A share is a value and its interval.
    values = {name: np.atleast_1d(getattr(result, name))[0] for name in ALL}
    assert {name for name, value in values.items() if np.isnan(value)} == lacking


def test_verdicts_are_cut_at_a_half_and_people_s_above_zero() -> None:
    agreement = verdict_agreement([0.5, 0.49, 1, 0], [0.1, 1, 0, -1])
    assert agreement.confusion == ((1, 1), (1, 1))
    assert verdict_agreement([0.5, 2], [0, 1], cut=2).confusion == ((1, 0), (0, 1))
    assert verdict_agreement([0.5, 2], [0, 1], cut=2.5).confusion == ((1, 0), (1, 0))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_preferences_are_counted_by_order_and_ties(confidence: float) -> None:
    # Three in order, one wrong and two tied of six; people tie one, two lack a score.
    a, b = [2, 1, 3, 1, 1, 2, 5, NAN, 1], [1, 2, 1, 2, 1, 2, 4, 1, NAN]
    words = ["a", "b", "a", "a", "a", "b", "tie", "a", "tie"]
    agreement = preference_agreement(a, b, words, confidence)
    assert agreement[:3] == wilson(3, 6, confidence)
    assert (agreement.accuracy_ties_half, agreement.tau_wmt) == pytest.approx((4 / 6, (3 - 3) / 6))
    assert (agreement.ties, agreement.pairs) == (2 / 6, 6)
    assert (agreement.human_ties, agreement.unscored) == (1, 2)
    assert preference_agreement(a, b, words)[:3] == wilson(3, 6)
    none = preference_agreement([1], [NAN], ["a"])
    assert np.isnan(none[:6]).all()
    assert (none.pairs, none.human_ties, none.unscored) == (0, 0, 1)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (([1, 1], [2], ["a"]), "scores and . preferences don't match"),
        (([1], [2, 2], ["a"]), "scores and . preferences don't match"),
        (([1], [2], ["a", "a"]), "scores and . preferences don't match"),
        (([1], [2], ["left"]), "sample 0 prefers 'left'"),
    ],
)
def test_preferences_and_scores_are_of_the_same_pairs(pairs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        preference_agreement(*pairs)


ITEM, SYSTEM = list("aaabbb"), list("xyzxyz")
GOOD, HUMAN = [0.1, 0.4, 0.3, 0.9, 0.8, 0.7], [1, 3, 2, 5, 3, 4]


ONE_SYSTEM: dict[str, Any] = {"system": ["x"] * 6, "item": range(6)}


@pytest.mark.parametrize(
    ("options", "drawn"),
    [
        ({}, "both"),
        ({"draw": "items"}, "items"),
        ({"draw": "systems"}, "systems"),
        ({"protocol": "summeval"}, "both"),
        ({"protocol": "qags"}, "items"),
        ({"protocol": "qags", "draw": "systems"}, "systems"),
        ({"system": None}, "items"),
        (ONE_SYSTEM, "items"),
    ],
)
def test_systems_are_drawn_where_there_are_several(options: dict[str, Any], drawn: str) -> None:
    settings = {"item": ITEM, "system": SYSTEM, "draws": 0, **options}
    assert correlate(GOOD, HUMAN, **settings).drawn.draw == drawn


@pytest.mark.parametrize(
    ("better", "signs"),
    [("higher", (1, 1)), ("lower", (-1, -1)), ({"b": "lower"}, (1, -1)), ("neither", (1, 1))],
)
def test_a_direction_is_of_all_metrics_or_of_each(better: Any, signs: tuple[int, int]) -> None:
    options: dict[str, Any] = {"coefficient": "tau_b", "draws": 0}
    rows = correlate({"a": GOOD, "b": GOOD}, HUMAN, better=better, **options).rows[:2]
    value = correlate(GOOD, HUMAN, **options).row().value
    assert [row.value for row in rows] == [sign * value for sign in signs]
    note = "neither direction is better" if better == "neither" else ""
    assert [row.note for row in rows] == [note] * 2


USUAL = ["pearson", "spearman", "tau_b"]


@pytest.mark.parametrize(
    ("options", "levels", "names"),
    [
        ({}, ["item"], USUAL),
        ({"item": None, "system": None}, ["pooled"], USUAL),
        ({"level": "pooled", "coefficient": "tau_c"}, ["pooled"], ["tau_c"]),
        (
            {"level": ["system", "pooled"], "coefficient": ["tau_b", "pearson"]},
            ["system", "pooled"],
            ["tau_b", "pearson"],
        ),
        ({"yes_from": 3}, ["pooled"], ["auc"]),
        ({"yes_from": 3, "coefficient": ["auc", "pearson"]}, ["pooled"], ["auc", "pearson"]),
        ({"protocol": "g-eval"}, ["item"], ["spearman", "tau_b"]),
    ],
)
def test_levels_and_coefficients_are_those_asked_for_or_usual(
    options: dict[str, Any], levels: list[str], names: list[str]
) -> None:
    agreement = correlate(GOOD, HUMAN, **{"item": ITEM, "system": SYSTEM, "draws": 0, **options})
    assert [(row.level, row.coefficient, row.metric) for row in agreement.rows] == [
        *product(levels, names, ("score", "human ceiling", "chance"))
    ]


SAME = "a gives every rated sample the same score"


@pytest.mark.parametrize(
    ("scores", "human", "notes"),
    [
        ({"a": [1, 1, None]}, [1, 2, 3], [SAME]),
        ({"a": [1, 2, 2]}, [None, 2, 3], [SAME]),
        ({"a": [1, 2, 3]}, [2, 2, None], ["people rated human the same everywhere"]),
        ({"a": [1, 2, 3]}, [None, 2, None], [SAME, "people rated human the same everywhere"]),
        ({"a": [1, 2, 3]}, [1, 2, 2], []),
        ({"a": [None] * 3}, [1, 2, 3], []),
        ({"a": [1, 2, 3]}, [None] * 3, []),
        ({"a": [1] * 3, "b": [2] * 3}, {"x": [3] * 3}, [SAME, "people rated x the same"]),
    ],
)
def test_what_is_the_same_everywhere_is_noted(scores: Any, human: Any, notes: list[str]) -> None:
    lines = correlate(scores, human, coefficient="tau_b", draws=0).notes
    assert len(lines) == len(notes)
    assert all(line.startswith(start) for line, start in zip(lines, notes, strict=True))


def test_a_row_is_found_by_what_tells_it_apart() -> None:
    agreement = correlate(
        {"m": GOOD, "n": GOOD[::-1]}, {"x": HUMAN, "y": HUMAN}, item=ITEM, system=SYSTEM,
        level=["item", "pooled"], coefficient=["tau_b", "pearson"], draws=0,
    )  # fmt: skip
    which = {"level": "pooled", "coefficient": "pearson"}
    row = agreement.row("n", "y", **which)
    assert isinstance(row, AgreementRow)
    assert (row.metric, row.dimension) == ("n", "y")
    assert (row.level, row.coefficient) == ("pooled", "pearson")
    assert agreement.row("chance", "x", **which).metric == "chance"
    with pytest.raises(InputError, match=r"^4 rows match; choose one by metric, dimension$"):
        agreement.row(**which)
    with pytest.raises(InputError, match=r"^2 rows match; choose one by level$"):
        agreement.row("m", "x", coefficient="tau_b")
    with pytest.raises(InputError, match=r"no level 'itme'; did you mean 'item'.* .known: item"):
        agreement.row("m", level="itme")
    with pytest.raises(InputError, match="there is no dimension 'z'"):
        agreement.row("m", "z")
    assert agreement.metrics == ["m", "n"]


@pytest.mark.parametrize(
    "options", [{"draws": -1}, {"draws": 2.5}, {"draw": "rows"}, {"confidence": 1}]
)
def test_what_is_drawn_is_checked_of_ratings_and_of_preferences(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ParameterError, match=f"{name}="):
        correlate(GOOD, HUMAN, item=ITEM, system=SYSTEM, **options)
    systems = ["x", "y"], ["y", "z"]
    with pytest.raises(ParameterError, match=f"{name}="):
        correlate_preferences({"m": ["a", "b"]}, "ab", systems=systems, **options)


@pytest.mark.parametrize("raters", [1, 3])
def test_a_matrix_of_several_raters_is_a_column_of_lists(raters: int) -> None:
    random = np.random.default_rng(raters)
    scores, human = random.normal(size=(3, 4)), random.integers(1, 6, (3, 4, raters)).astype(float)
    human[1, 2, 0] = scores[0, 0] = np.nan
    first = human[..., 0]
    systems, items = np.indices((3, 4)).reshape(2, 12)
    options: dict[str, Any] = {"level": ["item", "system", "pooled"], "draws": 20}
    agreement = correlate({"m": scores}, {"x": human, "y": first}, **options)
    lists = {"x": human.reshape(12, raters).tolist(), "y": first.ravel()}
    flat = correlate({"m": scores.ravel()}, lists, item=items, system=systems, **options)
    assert repr(agreement.rows) == repr(flat.rows)
    assert agreement.data == flat.data
    assert agreement.data[:4] == (12, 3, 4, raters)
    assert agreement.row("m", "x", level="pooled", coefficient="tau_b").unscored == 1
    for matrices in (({"m": scores}, {"x": human, "n": first.T}), ({"n": scores.T}, human)):
        with pytest.raises(InputError, match=r"has the shape \(.*\), not \(.*\)"):
            correlate(*matrices)


@pytest.mark.parametrize(
    # Scores grow with the ratings, so that each yes is above each no, where there are both.
    ("yes_from", "value"),
    [(2, 1), (3, 1), (4, 1), (4.5, NAN), (1, NAN)],
)
def test_ratings_are_cut_where_they_count_as_yes(yes_from: float, value: float) -> None:
    agreement = correlate([1.5, 1, 3, 1.5], [2, 1, 4, 2], yes_from=yes_from, draws=0)
    assert agreement.row(coefficient="auc").value == pytest.approx(value, nan_ok=True)
    turned = correlate([1.5, 2, 3, 1], [2, 1, 4, 2], yes_from=2, draws=0)
    # Of the three yes, 3 alone is above the 2 of the no.
    assert turned.row(coefficient="auc").value == pytest.approx(1 / 3)
