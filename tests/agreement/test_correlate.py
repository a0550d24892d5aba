"""`correlate` as its users call it: what it takes, what it says, what it refuses."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from metrichub.agreement import correlate, tie_calibration
from metrichub.agreement.levels import value_at
from metrichub.agreement.preference_votes import ranked_pairs
from metrichub.agreement.soft_pairwise import soft_pairwise_accuracy, soft_pairwise_chance
from metrichub.errors import InputError, ParameterError
from tests.agreement.vectors import array
from tests.summeval import cut, labels, lengths, noisy, rated

ITEM, SYSTEM = list("aaabbb"), list("xyzxyz")
SCORES, HUMAN = [0.1, 0.4, 0.3, 0.9, 0.8, 0.7], [1, 3, 2, 5, 3, 4]


MATRIX = np.reshape(SCORES, (2, 3))


def few(scores: Any = SCORES, human: Any = HUMAN, **options: Any):
    return correlate(scores, human, **{"item": ITEM, "system": SYSTEM, "draws": 0, **options})


def test_outputs_without_systems_are_of_no_number_of_systems() -> None:
    # Several outputs of an item say nothing about who made them.
    result = [few(system=system, level="pooled").data for system in (SYSTEM, None)]
    assert [(data.systems, data.items) for data in result] == [(3, 2), (1, 2)]


def test_systems_alone_are_read_in_the_order_of_the_items() -> None:
    agreement = few(item=None, coefficient="tau_b", level="item")
    assert agreement.row().value == few(coefficient="tau_b").row().value
    assert few(item=None, level="system", coefficient="tau_b").data.systems == 3
    # The items are numbers from 0.
    numbered = few(item=[0, 1, 2, 0, 1, 2], system=list("aaabbb"))
    assert few(item=None, system=list("aaabbb")).data == numbered.data
    with pytest.raises(InputError, match="different numbers of outputs"):
        few(item=None, system=list("xyzxyy"))


def test_yes_and_no_are_judged_by_auc_without_being_asked() -> None:
    agreement = correlate(SCORES, ["yes", "no", "no", "yes", None, "yes"], draws=0)
    # Yes are .1, .9, .7 and no .4, .3: of six pairs four are in order.
    assert (agreement.row().coefficient, agreement.row().value) == ("auc", pytest.approx(4 / 6))
    with pytest.raises(InputError, match="the lowest rating that counts as yes: yes_from=4"):
        correlate(SCORES, HUMAN, coefficient="auc", draws=0)
    good = correlate(SCORES, HUMAN, coefficient="auc", yes_from=4, draws=0)
    assert good.row().value == 1 - 1 / 8  # .8 is above .7


def test_true_and_false_are_labels_and_no_ratings_at_all_are_none() -> None:
    # Of the yes .9 is above the no, .4, and .1 is below it.
    agreement = correlate([0.1, 0.9, 0.4], ["True", " true", "false"], draws=0)
    assert (agreement.row().coefficient, agreement.row().value) == ("auc", 1 / 2)
    nothing = correlate(SCORES, [None] * 6, draws=0)
    assert {row.coefficient for row in nothing.rows} == {"pearson", "spearman", "tau_b"}


def test_an_empty_cell_is_a_missing_score() -> None:
    assert correlate(["", 1, 2, 3], [5, 1, 2, 3], coefficient="tau_b", draws=0).row().unscored == 1


def test_a_cut_is_of_each_metric_s_own_scale() -> None:
    labels = {"good": ["yes", "no", "no", "yes", None, "yes"]}
    scores = {"mine": SCORES, "errors": [-score for score in SCORES]}
    options: dict[str, Any] = {"better": {"errors": "lower"}, "coefficient": "balanced_accuracy"}
    agreement = correlate(scores, labels, **options, cut=0.3, draws=50)
    # By .3 or more: yes but for .1, of which people say yes; .4 and .3 are no. TPR 2/3, TNR 0/2.
    assert agreement.row("mine").value == pytest.approx((2 / 3 + 0) / 2)
    # Errors of at most .3 are a yes, and all of these are negative.
    assert agreement.row("errors").value == pytest.approx((1 + 0) / 2)
    assert agreement.row("human ceiling").used == agreement.row("chance").used == 0
    verdicts = agreement.verdicts("mine", "good")
    assert verdicts.confusion == ((0, 2), (1, 2))
    assert (verdicts.disagreements, verdicts.undecided) == ((0, 1, 2), 1)
    assert agreement.verdicts("errors", "good").tpr.value == 1
    assert agreement.compare("mine", "errors", draws=50).difference == pytest.approx(1 / 3 - 1 / 2)
    # Errors of at most -.35 are those of .9, .7 and .4, of which people call .4 and .3 no.
    agreement = correlate(scores, labels, **options, cut=-0.35, draws=0)
    assert agreement.verdicts("errors", "good").confusion == ((1, 1), (1, 2))
    assert agreement.row("errors").value == pytest.approx((2 / 3 + 1 / 2) / 2)


WITH, WITHOUT = "read the intervals, not the values", "the values say little without an interval"


@pytest.mark.parametrize(
    ("systems", "draws", "advice"),
    [(19, 50, WITH), (19, 0, WITHOUT), (2, 50, WITHOUT), (20, 50, None), (20, 0, None)],
)
def test_values_of_fewer_than_20_systems_are_noted(
    systems: int, draws: int, advice: str | None
) -> None:
    generator = np.random.default_rng(0)
    scores, human = generator.random((2, systems, 40))
    agreement = correlate(
        scores, human, level="system", coefficient="pearson", draws=draws, draw="both"
    )
    assert np.isnan(agreement.row().low) == (advice != WITH and not (draws and systems == 20))
    note = f"the system level compares only {systems} systems: {advice}"
    assert [n for n in agreement.notes if "system level" in n] == ([note] if advice else [])


def test_verdicts_need_a_cut_and_names_that_are_there() -> None:
    labels = {"good": [1, 0, 0, 1, 1, 0]}
    assert correlate({"mine": SCORES}, labels, cut=0.5, draws=0).cut_into_verdicts
    agreement = correlate({"mine": SCORES}, labels, draws=0)
    assert not agreement.cut_into_verdicts
    with pytest.raises(ParameterError, match="the score from which a text counts as good"):
        agreement.verdicts("mine", "good")
    with pytest.raises(InputError, match="no dimension 'god'; did you mean 'good'"):
        agreement.verdicts("mine", "god")
    with pytest.raises(InputError, match="no metric 'mind'; did you mean 'mine'"):
        agreement.verdicts("mind", "good")


def test_missing_scores_are_counted_and_never_zero() -> None:
    scores = [None, *SCORES[1:5], float("nan")]
    row = correlate(scores, HUMAN, item=ITEM, coefficient="tau_b", draws=0).row()
    # Of a the pair (.4, .3) is right, of b (.9, .8).
    assert (row.value, row.used, row.unscored) == (1, 2, 2)


def test_the_ceiling_leaves_each_rater_out_once() -> None:
    rows = cut()
    ratings = array([row["relevance"] for row in rows])
    how: dict[str, Any] = {**labels(rows), "coefficient": "tau_b", "draws": 0}
    agreement = correlate(lengths(rows), ratings, **how)
    by_hand = [
        correlate(ratings[:, k], np.delete(ratings, k, 1), **how).row().value for k in range(3)
    ]
    assert agreement.row("human ceiling").value == pytest.approx(np.mean(by_hand))
    assert agreement.row("chance").value == 0
    note = "the human ceiling compares one rater with the mean of the others"
    assert any(line.startswith(note) for line in agreement.notes)
    assert not any(line.startswith(note) for line in few().notes)


def test_calibration_that_ties_nearly_everything_is_marked() -> None:
    rows = cut()
    noise = np.random.default_rng(4).normal(size=len(rows))
    agreement = correlate(
        noise, rated(rows, "consistency"), **labels(rows), coefficient="acc_eq_calibrated", draws=0
    )
    assert agreement.row().note == "ties nearly all pairs, as a constant does"
    assert agreement.row().value == pytest.approx(agreement.row("chance").value, abs=0.02)


def three_metrics() -> tuple[dict[str, Any], Any, dict[str, Any]]:
    rows = cut()
    noise = {"weak": (9, 1), "strong": (0.3, 2), "also strong": (0.3, 3)}
    scores = {name: noisy(rows, "relevance", *of) for name, of in noise.items()}
    return scores, rated(rows, "relevance"), {**labels(rows), "draws": 0}


def test_two_metrics_are_compared_and_ranked() -> None:
    scores, human, how = three_metrics()
    agreement = correlate(scores, human, **how, coefficient=["tau_b", "acc_eq"])
    values = [agreement.row(name, coefficient="tau_b").value for name in ("strong", "weak")]
    test = agreement.compare("strong", "weak", coefficient="tau_b")
    assert test.difference == pytest.approx(values[0] - values[1])
    assert (test.swap, test.draws, test.p) == ("systems_xor_items", 1000, 1 / 1001)
    cells = agreement.compare("strong", "weak", coefficient="tau_b", swap="cells", draws=99)
    assert (cells.swap, cells.p) == ("cells", 0.01)
    for corrected in (False, True):
        ranks = agreement.ranks(coefficient="tau_b", corrected=corrected, draws=199)
        assert ranks == {"strong": 1, "also strong": 1, "weak": 2}


def test_ranks_correct_over_all_pairs_and_hand_on_how_to_test() -> None:
    scores, human, how = three_metrics()
    agreement = correlate(scores, human, **how, coefficient="tau_b")
    # 49 draws, none as extreme: p is 1/50; Holm's method multiplies the smaller two of three by 3
    # and 2, and the second isn't below the first.
    assert agreement.ranks(draws=49, alpha=0.02)["weak"] == 2
    assert agreement.ranks(draws=49, alpha=0.059, corrected=True)["weak"] == 1
    assert agreement.ranks(draws=49, alpha=0.061, corrected=True)["weak"] == 2
    with pytest.raises(ParameterError, match="swap='rows'"):
        agreement.ranks(swap="rows")


def test_the_line_says_all_that_decides_the_numbers() -> None:
    rows = cut()
    options = {**labels(rows), "protocol": "g-eval", "draws": 50, "seed": 7}
    agreement = correlate(lengths(rows), rated(rows, "relevance"), **options)
    assert re.fullmatch(
        r"agreement\|protocol:g-eval\|values:item spearman,item tau_b\|data:sha256 [0-9a-f]{16}\|"
        r"samples:240\|systems:12\|items:20\|raters:3\|"
        r"intervals:0\.95 of 50 draws of both\|seed:7\|metrichub:\S+",
        agreement.line(),
    )
    cited = agreement.cite()
    assert cited.startswith(agreement.line())
    assert "liu-etal-2023-g" in cited
    assert "deutsch-etal-2021-statistical" in cited


def test_a_test_has_the_seed_of_the_intervals_or_one_of_its_own() -> None:
    random = np.random.default_rng(4)
    human = random.normal(size=(4, 20))
    scores = {name: human + random.normal(size=human.shape) for name in "ab"}
    agreement = correlate(scores, human, level="item", coefficient="tau_b", draws=0, seed=1)
    usual, same, other = (
        agreement.compare("a", "b", draws=200, seed=seed).p for seed in (None, 1, 2)
    )
    assert usual == same != other


NUMBERS = np.array([1, 1, 2, 3, 4, 5])
ALONE: dict[str, Any] = {"item": range(6), "system": ["x"] * 6}
WHOLE: dict[str, Any] = {"scores": MATRIX, "item": None, "system": None}
BALANCED: dict[str, Any] = {"coefficient": "balanced_accuracy", "yes_from": 3}
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("system 'y' has 2 samples of item 'a'; there has to be one", {"system": list("xyyxyz")}),
    ("system 0 has 2 samples of item 1; there", {"item": NUMBERS, "system": 0 * NUMBERS}),
    ("there is one system, and level 'item' compares systems", {**ALONE, "level": "item"}),
    ("there is one system, and level 'system' compares", {**ALONE, "level": "system"}),
    ("there is one output of each item", {**ALONE, "system": None, "level": "item"}),
    ("'system' needs the system of each sample", {"system": None, "level": "system"}),
    ("'within_system' needs the system of each", {"system": None, "level": "within_system"}),
    ("system 'x' has 2 samples of item 'i'", {"item": list("ijijij"), "system": list("xxxxyy")}),
    ("sample 2 has no item: None", {"item": [*"aa", None, *"bbb"]}),
    ("sample 3 has no system: nan", {"system": [*"xyz", float("nan"), *"yz"]}),
    ("sample 1 has no item: []", {"item": ["a", [], *"abbb"]}),
    ("there are 5 labels of the system for 6 samples", {"system": list("xyzxy")}),
    ("a matrix has systems as rows and items as columns", {**WHOLE, "item": ITEM}),
    ("a matrix has systems as rows and items as columns", {**WHOLE, "system": SYSTEM}),
    ("human has the shape (3, 2), not (2, 3)", {**WHOLE, "human": MATRIX.T}),
    ("human has the shape (6, 1, 1) for 6 samples", {"human": np.ones((6, 1, 1))}),
    ("human has the shape (3, 1) for 6 samples", {"human": np.ones((3, 1))}),
    ("human has 2 ratings for 6 samples", {"human": [1, 2]}),
    ("sample 1: human is 'b' (str); a rating is a number", {"human": [1, *"bcdef"]}),
    ("the scores of score aren't one number per sample", {"scores": list("abcdef")}),
    ("m has scores of the shape (1,) for 6 samples", {"scores": {"n": SCORES, "m": [1]}}),
    ("there are no scores to", {"scores": {}}),
    ("there are no ratings to", {"human": {}}),
    ("better='up' is not allowed", {"better": "up"}),
    ("draw='systems' is not allowed", {"system": None, "draw": "systems"}),
    ("confidence=95 is not allowed", {"confidence": 95}),
    ("cut=None is not allowed", {**BALANCED, "level": "pooled"}),
    ("level='corpus' is not allowed", {"coefficient": "tau_b", "level": "corpus"}),
    ("did you mean 'spearman'", {"coefficient": "spearmann"}),
    ("did you mean 'g-eval'", {"protocol": "geval"}),
    ("it without a level or coefficient", {"protocol": "g-eval", "level": "item"}),
    ("it without a level or coefficient", {"protocol": "qags", "coefficient": "tau_b"}),
    ("choose pooled: auc", {"coefficient": "auc", "level": "system"}),
    ("choose system", {"coefficient": "soft_pairwise_accuracy"}),
    ("item: tau_wmt uses pairs within an item", {"coefficient": "tau_wmt", "level": "pooled"}),
]


@pytest.mark.parametrize(("message", "options"), WRONG)
def test_a_mistake_is_named_in_one_line(message: str, options: dict[str, Any]) -> None:
    with pytest.raises((InputError, ParameterError)) as caught:
        few(**options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_soft_pairwise_accuracy_is_of_items_that_all_systems_have() -> None:
    metric, human = np.random.default_rng(5).normal(size=(2, 4, 9))
    lacking = np.where(np.arange(36).reshape(4, 9) == 21, np.nan, metric)
    sides = np.delete(metric, 3, axis=1), np.delete(human, 3, axis=1)
    assert soft_pairwise_accuracy(lacking, human) == soft_pairwise_accuracy(*sides)
    assert soft_pairwise_chance(lacking) == soft_pairwise_chance(sides[0]) > 0.5
    assert value_at("system", "soft_pairwise_accuracy", human, human)[:3] == (1, 1, 0)
    one_item_each = np.array([[1.0, np.nan], [np.nan, 2.0]])
    for none in (one_item_each, np.ones((1, 2))):
        assert np.isnan(soft_pairwise_accuracy(none, np.ones(none.shape)))
        assert np.isnan(soft_pairwise_chance(none))
    # One pair of systems: p-values are sevenths, and so is their difference.
    sevenths = 7 * soft_pairwise_accuracy(metric[:2], human[:2], draws=7)
    assert sevenths == pytest.approx(round(sevenths))
    seeds = {soft_pairwise_accuracy(metric, human, draws=50, seed=seed) for seed in range(5)}
    assert len(seeds) > 1
    # One is better on each of 40 items: its p-value is 0 or 1, half away from a coin's .5.
    assert soft_pairwise_chance(np.array([[1.0] * 40, [0.0] * 40])) == pytest.approx(0.5)


def test_labels_beside_ratings_are_correlated_as_ratings() -> None:
    labels_too = {"label": [True, False, True, False], "rating": [4, 1, 5, 2]}
    agreement = correlate([0.9, 0.1, 0.7, 0.3], labels_too, draws=0)
    assert {row.coefficient for row in agreement.rows} == {"pearson", "spearman", "tau_b"}


def test_agreement_without_its_data_tests_nothing() -> None:
    agreement = replace(few(coefficient="tau_b"), _inputs=None)
    with pytest.raises(InputError, match="read from a file has no scores to test"):
        agreement.compare("score", "score")


@pytest.mark.parametrize("threshold", [5.0, 10.0])
def test_the_ceiling_of_tau_wmt_is_of_pairs_as_far_apart_as_the_metric_s(threshold: float) -> None:
    # Two systems, two items and two raters; the second item's are 5 and -2 apart.
    ratings = np.array([[[10.0, 0], [50, 50]], [[30, 20], [55, 48]]])
    options: dict[str, Any] = {"coefficient": "tau_wmt", "level": "item", "draws": 0}
    agreement = correlate(ratings.mean(2), ratings, **options, threshold=threshold)
    first, other = ratings[..., 0], ratings[..., 1]
    values = [ranked_pairs(*pair, threshold).tau_wmt for pair in ((first, other), (other, first))]
    assert agreement.row("human ceiling").value == pytest.approx(np.nanmean(values))


def test_the_ceiling_of_balanced_accuracy_takes_a_rater_s_yes_for_one() -> None:
    # The others' majority is yes, no and no; the raters find 1, 1 and 1 of the yes and of the no
    # 2 of 2, 1 of 2 and 1 of 2 where the votes of the other two are one-sided.
    votes = [[1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 0]]
    row = correlate(
        [0.9, 0.1, 0.2, 0.8], votes, coefficient="balanced_accuracy", cut=0.5, draws=0
    ).row("human ceiling")
    # Half of two is no majority: against the first, and the second, the last is a no that they
    # call yes, 2 of 3; against the third it is a yes that is missed, 1 of 2 and all no.
    assert row.value == pytest.approx(((1 + 2 / 3) / 2 + (1 + 2 / 3) / 2 + (1 / 2 + 1) / 2) / 3)


def test_more_pairs_than_can_be_sorted_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two rows of three places have six pairs.
    scores, human = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    monkeypatch.setattr(tie_calibration, "MOST_PAIRS", 6)
    tie_calibration.calibrate(scores, human)
    monkeypatch.setattr(tie_calibration, "MOST_PAIRS", 5)
    with pytest.raises(InputError, match="sorts all pairs, 6 here"):
        tie_calibration.calibrate(scores, human)


def test_an_item_without_a_value_counts_though_a_system_lacks_it() -> None:
    # Of the first item the two scores are equal; of the second all three differ.
    scores, human = np.array([[1, 1.0], [1, 2], [np.nan, 3]]), np.array([[1, 1.0], [2, 2], [3, 3]])
    value = value_at("item", "pearson", scores, human)
    assert (value.value, value.used, value.undefined) == (pytest.approx(1), 1, 1)
