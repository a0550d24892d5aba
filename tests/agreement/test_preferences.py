"""`correlate_preferences` as its users call it: pairs of outputs of which people prefer one."""

from typing import Any

import numpy as np
import pytest

from metrichub.agreement import Votes, correlate_preferences
from metrichub.agreement import bootstrap as module
from metrichub.agreement.bootstrap import Drawn, resampled
from metrichub.agreement.coefficients import Options
from metrichub.agreement.preference_votes import ranked_pairs, side_of
from metrichub.agreement.rating_matrix import OutputPairs
from metrichub.agreement.shares import wilson
from metrichub.errors import InputError, MissingColumn, ParameterError
from tests.agreement.vectors import starting

NAN = float("nan")
# Of five pairs people prefer a, a, b, b and neither. The metric has the first and the third in
# order, the second the wrong way round, ties the fourth, and is alone in ordering the fifth.
PREFERRED = ["a", "a", "b", "b", "tie"]
PAIRS = {"mine": ([3, 1, 1, 2, 5], [1, 2, 2, 2, 4])}
ALL = ("accuracy", "accuracy_ties_half", "tau_wmt", "tau_ties_left_out", "acc_eq", "kappa")


def correlated(scores: Any = PAIRS, preferred: Any = PREFERRED, **options: Any):
    return correlate_preferences(scores, preferred, **{"draws": 0, **options})


def test_each_coefficient_has_its_own_way_with_ties() -> None:
    agreement = correlated(coefficient=ALL)
    values = {name: agreement.row("mine", coefficient=name) for name in ALL}
    # C = 2, D = 1, T = 1 of four pairs that people don't tie.
    assert values["accuracy"].value == 2 / 4
    assert values["accuracy_ties_half"].value == 2.5 / 4
    assert values["tau_wmt"].value == (2 - 1 - 1) / 4
    assert values["tau_ties_left_out"].value == pytest.approx((2 - 1) / 3)
    # The metric says a, b, b, tie, a and people a, a, b, b, tie: 2 of 5 are the same. By chance it
    # is (2 · 2 + 2 · 2 + 1 · 1) / 25 = 9/25, so kappa is (2/5 - 9/25) / (1 - 9/25) = 1/16.
    assert values["acc_eq"].value == 2 / 5
    assert values["kappa"].value == pytest.approx(1 / 16)
    assert (values["accuracy"].used, values["accuracy"].undefined) == (4, 1)
    assert (values["acc_eq"].used, values["acc_eq"].undefined) == (5, 0)


def test_pairs_of_better_and_worse_outputs_have_wmt_s_values() -> None:
    (row,) = starting("darr")
    scores = {"metric": (row["input"]["better"], row["input"]["worse"])}
    agreement = correlated(scores, ["a"] * 5, coefficient=ALL[:3])
    values = {name: agreement.row("metric", coefficient=name).value for name in ALL[:3]}
    assert values == pytest.approx({name: row["expected"][name] for name in ALL[:3]})
    darr = correlated(scores, ["a"] * 5, protocol="wmt20-darr")
    assert darr.row().value == pytest.approx(row["expected"]["tau_wmt"])
    assert "@inproceedings{mathur-etal-2020-results" in darr.cite()


def test_the_last_rows_are_the_ceiling_and_chance() -> None:
    votes = [["a", "a"], ["a", "b"], ["b", "b"], ["b"], ["tie", "tie"]]
    agreement = correlated(preferred=votes, coefficient=["accuracy", "acc_eq"])
    assert [row.metric for row in agreement.rows[:3]] == ["mine", "human ceiling", "chance"]
    # Of three pairs that both raters judged and the other didn't tie two are the same, for each.
    ceiling = agreement.row("human ceiling", coefficient="accuracy")
    assert ceiling.value == pytest.approx(2 / 3)
    # The second pair is a tie of people now, so a constant is right about 2 of 5.
    assert agreement.row("chance", coefficient="acc_eq").value == 2 / 5
    assert agreement.data.raters == 2
    assert agreement.data.systems == 1
    assert np.isnan(correlated().row("human ceiling", coefficient="accuracy").value)


@pytest.mark.parametrize(("message", "preferred"), [("a", "a"), ("tie", "tie"), (None, "a")])
def test_one_pair_of_one_mind_has_no_kappa(message: str | None, preferred: str) -> None:
    # Chance explains it: both only ever gave this answer, or the metric none.
    assert np.isnan(correlated([message], [preferred], coefficient="kappa").row().value)


def test_a_metric_where_lower_is_better_is_turned_and_a_missing_score_is_counted() -> None:
    scores = {"errors": ([-3, -1, -1, -2, NAN], [-1, -2, -2, -2, None])}
    row = correlated(scores, better={"errors": "lower"}, coefficient="accuracy").row()
    assert (row.value, row.unscored) == (2 / 4, 1)
    assert correlated(scores, better="neither").rows[0].note == "neither direction is better"


def test_notes_say_what_a_reader_of_these_rows_has_to_know() -> None:
    assert correlated(coefficient="accuracy").notes == []
    (note,) = correlated(coefficient="tau_wmt").notes
    assert note.startswith("tau_wmt counts a metric's tie as discordant")
    votes = {"one": PREFERRED, "two": [["a", "b"], *PREFERRED[1:]]}
    (note,) = correlated(preferred=votes, coefficient="accuracy").notes
    assert note.startswith("several raters of a pair count once")
    (note,) = correlated({"mine": ([1, 2], [1, NAN])}, ["a", "b"], coefficient="accuracy").notes
    assert note == "mine ties every pair, so it orders none"


def test_verdicts_of_a_judge_that_compares_are_taken_as_they_are() -> None:
    verdicts = ["a", "model_b", "B", "tie", None]
    assert correlated(verdicts, coefficient="accuracy").row().value == 2 / 4
    assert correlated({"judge": verdicts}, coefficient="accuracy").row().unscored == 1


def test_a_pair_is_drawn_as_often_as_its_item_and_both_systems() -> None:
    # The metric is right about the first of three pairs, so that a draw's accuracy says how often
    # the first was drawn of all; each pair is of an item of its own, and two share a system.
    pairs = OutputPairs.of(list("ijk"), (list("xxy"), list("yzz")))
    sides, options = (np.array([1.0, -1, -1]), np.ones(3)), Options(pairs=pairs)
    # On record, so that another version draws the same: two streams of numpy's generator.
    systems, items = (np.random.default_rng([5, k]).integers(0, 3, (40, 3)) for k in (0, 1))
    for draw in ("items", "systems", "both"):
        weights = np.ones((40, 3))
        if draw != "items":
            x, y, z = ((systems == k).sum(1) for k in range(3))
            weights = weights * np.stack([x * y, x * z, y * z], 1)
        if draw != "systems":
            weights = weights * np.stack([(items == k).sum(1) for k in range(3)], 1)
        with np.errstate(invalid="ignore"):
            expected = weights[:, 0] / weights.sum(1)
        drawn = resampled("pairs", "accuracy", *sides, Drawn(draw, 40, 5), options)
        np.testing.assert_array_equal(drawn, expected)
    agreement = correlated(item=list("ijklm"), systems=(["x"] * 5, list("yyzzz")))
    assert agreement.drawn.draw == "both"
    with pytest.raises(ParameterError, match="there are no systems to resample"):
        correlated(draw="systems")


def test_the_size_of_blocks_changes_no_draw_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = OutputPairs.of(list("iijk"), (list("xxyz"), list("yzzx")))
    sides, how = (np.array([1.0, -1, 0, 1]), np.array([1.0, 1, -1, 1])), Drawn("both", 10)
    values = resampled("pairs", "kappa", *sides, how, Options(pairs=pairs))
    for cells in (8, 1):
        monkeypatch.setattr(module, "_CELLS", cells)
        parts = resampled("pairs", "kappa", *sides, how, Options(pairs=pairs))
        np.testing.assert_array_equal(parts, values)


def test_pairs_of_an_item_count_in_either_order_from_the_threshold_on() -> None:
    # Of three outputs rated 80, 55 and 0, and three rated 0, 24.9 and 90 all pairs but the last
    # item's first differ by 25 or more; the metric has two of the five the wrong way and ties one.
    human = np.array([[80.0, 0, 0], [55, 24.9, 60], [0, 90, 80]])
    scores = np.array([[3.0, 1, 1], [4, 2, NAN], [1, 1, NAN]])
    # 80 > 55 is wrong, 80 > 0 and 55 > 0 are right; 0 < 90 is tied, and 24.9 < 90 wrong. Of the
    # third item two pairs are as far apart, and lack a score.
    for turned in (1, -1):
        pairs = ranked_pairs(turned * scores, turned * human)
        assert (pairs.pairs, pairs.human_ties, pairs.unscored) == (5, 2, 2)
        assert pairs[:3] == wilson(2, 5)
        assert ranked_pairs(turned * scores, turned * human, 25, 0.8)[:3] == wilson(2, 5, 0.8)
        assert pairs.accuracy_ties_half == pytest.approx(2.5 / 5)
        assert pairs.tau_wmt == pytest.approx((2 - 3) / 5)
        assert pairs.ties == pytest.approx(1 / 5)


def test_two_metrics_are_compared_by_swapping_items() -> None:
    random = np.random.default_rng(7)
    lead = np.where(random.random(120) < 0.5, 1.0, -1.0)
    words, none = np.where(lead > 0, "a", "b").tolist(), np.zeros(120)
    good, bad = lead + random.normal(size=120), random.normal(size=120)
    scores = {"good": (good, none), "bad": (bad, none), "same": (good, none)}
    agreement = correlated(scores, words, coefficient="accuracy")
    assert agreement.compare("good", "bad").p == 1 / 1001
    assert agreement.compare("good", "same").p == 1
    assert agreement.ranks() == {"good": 1, "same": 1, "bad": 2}
    with pytest.raises(ParameterError, match="swap='cells'"):
        agreement.compare("good", "bad", swap="cells")


VOTES = {
    "question_id": [1, 1, 1, 2],
    "model_a": ["x", "x", "y", "x"],
    "model_b": ["y", "y", "x", "y"],
    "winner": ["model_a", "tie", "x", "tie (bothbad)"],
}


def test_votes_on_the_same_outputs_are_those_of_several_raters_in_either_order() -> None:
    votes = Votes.of(VOTES)
    assert (votes.item, votes.first, votes.second) == ((1, 2), ("x", "x"), ("y", "y"))
    np.testing.assert_array_equal(votes.sides, [[1, 0, 1], [0, NAN, NAN]])
    a, b = votes.scores(np.array([1.0, 2.0, 3.0]), ["1", "1", "2"], ["x", "y", "x"])
    np.testing.assert_array_equal([a, b], [[1, 3], [2, NAN]])


@pytest.mark.parametrize(
    ("choices", "side"),
    [
        (("a", " A ", "model_a", "System A", "response_a", "1", 1, "gpt"), 1),
        (("b", "B", "Model B", "system-2", "response_b", "2", 2, "b7"), -1),
        (("TIE", "tied", "Tie (bothbad)", "draw", "both_bad", "both bad", "same", "neither"), 0),
        (("", None, NAN), NAN),
        # A name that isn't one of the two is no vote, whatever letter it ends in.
        (("both are good", "llama", "banana", "gpt2", "gpt-2", "ab", "claude b", "c"), None),
        (("left", 3, 0.5, 1.0, True, False), None),
    ],
)
def test_a_preference_is_written_in_many_ways(choices: tuple[Any, ...], side: float | None) -> None:
    for choice in choices:
        assert side_of(choice, ("gpt", "b7")) == pytest.approx(side, nan_ok=True), choice


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("pair 1: preferred is 'left' (str); write 'a', 'b' or", {"preferred": ["a", "left"]}),
        ("mine has 2 verdicts for 5 pairs", {"scores": {"mine": ["a", "b"]}}),
        ("mine of b has scores of the shape (1,) for 5", {"scores": {"mine": ([1] * 5, [1])}}),
        ("item has 1 values for 5 pairs", {"item": ["i"]}),
        ("systems has 4 values for 5 pairs", {"systems": (["x"] * 5, ["y"] * 4)}),
        ("systems has 6 values for 5 pairs", {"systems": (["x"] * 6, ["y"] * 5)}),
        ("two has 4 values for 5 pairs", {"preferred": {"one": PREFERRED, "two": PREFERRED[:4]}}),
        ("confidence=1.5 is not allowed", {"confidence": 1.5}),
        ("there are no scores", {"scores": {}}),
        ("there are no preferences", {"preferred": {}}),
        ("coefficient='spearman' is not allowed", {"coefficient": "spearman"}),
        ("protocol='g-eval' is not allowed", {"protocol": "g-eval"}),
    ],
)
def test_a_mistake_is_named_in_one_line(message: str, options: dict[str, Any]) -> None:
    with pytest.raises((InputError, ParameterError)) as caught:
        correlated(**options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_votes_that_fit_no_sample_or_lack_a_column_are_named() -> None:
    with pytest.raises(MissingColumn, match="no column 'system_a'; did you mean 'system_b' or"):
        Votes.of({"item": [1], "sistem_a": ["x"], "system_b": ["y"], "winner": ["a"]})
    with pytest.raises(MissingColumn, match="votes have no column 'doc'"):
        Votes.of(VOTES, "doc")
    with pytest.raises(InputError, match="vote 0: 'x' is compared with itself; write 'a'"):
        Votes.of({**VOTES, "model_b": "xyxy"})
    with pytest.raises(InputError, match="vote 0: winner is 'z'"):
        Votes.of({**VOTES, "winner": ["z", "a", "a", "a"]})
    with pytest.raises(InputError, match="the votes are on other samples, such as system 'x'"):
        Votes.of(VOTES).scores(np.ones(1), ["9"], ["x"])
    with pytest.raises(InputError, match="system 'x' has several samples of item '1'"):
        Votes.of(VOTES).scores(np.ones(2), [1, 1], ["x", "x"])


def test_metrics_without_a_value_have_no_test() -> None:
    # People tie the only pair, which tau leaves out.
    scores = {"one": ([1], [2]), "other": ([2], [1])}
    test = correlated(scores, ["tie"], coefficient="tau_wmt").compare("one", "other")
    assert np.isnan([test.difference, test.p]).all()
    assert test.draws == 0


def test_without_draws_or_a_value_there_is_no_interval_and_no_reason() -> None:
    for words, options in (("ab", {}), (["tie"] * 2, {"draws": 9})):
        agreement = correlated({"mine": ([1, 2], [0, 1])}, words, coefficient="accuracy", **options)
        row = agreement.row("mine")
        assert (np.isnan(row.low), row.note) == (True, "")
        others = [(row.used, row.undefined, row.unscored) for row in agreement.rows[1:]]
        assert others == [(0, 0, 0)] * 2
