"""All pairs of systems: corrected p-values, ranks and sentences, worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, compare_all, load_metric
from metrichub.errors import ReportError
from metrichub.evaluation import significance
from metrichub.evaluation.paired_tests import RankedOutput
from metrichub.evaluation.resample import Interval, holm
from metrichub.evaluation.significance import TOO_SLOW, Comparison, p_text
from metrichub.report.rows import EVERY
from metrichub.report.scoreboard import long_tests
from tests.toy_metrics import Variety

SIZE = 12
"""With k samples that only the better system has right, p is 2 of 2 ** k, so 2 ** (1 - k)."""
REFERENCES = ["all right"] * SIZE
TRIALS = 20_000
COMPARISON = Comparison(
    score=0.0,
    other=0.0,
    difference=0.0,
    interval=Interval(low=0.0, high=0.0, mean=0.0, std=0.0),
    p=1.0,
    randomization_p=1.0,
    sacrebleu_bootstrap_p=1.0,
    samples=9,
    left_out=0,
)


def with_right(*numbers: int, metric: Any = "exact_match") -> dict[str, Report]:
    """Systems a, b, ... of which each has the first so many samples right."""
    hub = Hub(metric)
    return {
        name: hub.evaluate(
            predictions=["all right"] * k + ["quite wrong"] * (SIZE - k), references=REFERENCES
        )
        for name, k in zip("abcdef", numbers, strict=False)
    }


def test_holm_multiplies_the_smallest_most_and_never_turns_the_order() -> None:
    # Four tests: .005 * 4, .01 * 3, .03 * 2, and .04 that must not fall below .06.
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    )
    assert holm({"a": 0.5, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    scores = holm({"a": 0.01, "none": float("nan"), "b": 0.04})
    assert (scores["a"], scores["b"]) == (0.02, 0.04)
    assert np.isnan(scores["none"])


def test_a_score_that_equals_a_headline_output_has_its_test() -> None:
    hub, references = Hub("rouge"), [f"a b c d {k}" for k in range(SIZE)]
    swapped = hub.evaluate(predictions=["b a d c"] * SIZE, references=references)
    half = hub.evaluate(predictions=["a x c y"] * SIZE, references=references)
    tests = swapped.compare(half, resamples=99, trials=TRIALS)["rouge"]
    assert tests["score"].difference == 0 != tests["rouge1"].difference
    tests = swapped.compare(hub.evaluate(predictions=references, references=references))["rouge"]
    assert replace(tests["score"], sentence=None) == replace(tests["rougeL"], sentence=None)
    assert tests["score"] != tests["rouge1"]
    assert tests["score"].sentence == str(tests["rougeL"].sentence).replace("rougeL", "rouge")
    assert tests["score"].p == 4 * tests["rougeL"].randomization_p < 0.01
    assert np.isnan(tests["precision"].p)


def test_all_pairs_are_tested_and_corrected_over_all_pairs() -> None:
    ranking = compare_all(with_right(12, 0, 11), resamples=9, trials=TRIALS)
    assert list(ranking.pairs) == [("b", "a"), ("c", "a"), ("c", "b")]
    scores = {pair: tests["exact_match"]["score"] for pair, tests in ranking.pairs.items()}
    # McNemar's mid-p of 12, 11 and one samples that differ, all one way.
    alone = {pair: test.randomization_p for pair, test in scores.items()}
    assert alone == pytest.approx({("b", "a"): 2**-12, ("c", "b"): 2**-11, ("c", "a"): 0.5})
    # a and b never vary, so that nothing is known of this difference but the number of tests.
    assert scores["b", "a"].p == pytest.approx(3 * 2**-12)
    assert 2**-11 <= scores["c", "b"].p < 3 * 2**-11
    assert scores["c", "a"].p == pytest.approx(0.5, abs=0.02)


def test_systems_that_no_test_tells_apart_share_a_rank() -> None:
    ranking = compare_all(with_right(12, 0, 11), resamples=9, trials=TRIALS)
    assert ranking.ranks == {"exact_match": {"score": {"a": 1, "c": 1, "b": 3}}}
    assert ranking.sentence == (
        "a scores highest on exact_match (1.000); c isn't significantly lower, b is."
    )
    test = ranking.pairs["c", "b"]["exact_match"]["score"]
    assert (test.rank, test.other_rank) == (1, 3)
    assert str(test.sentence).startswith("c beats b on exact_match (p < .001")
    beaten = ranking.pairs["b", "a"]["exact_match"]["score"]
    assert (beaten.rank, beaten.other_rank) == (3, 1)
    assert str(beaten.sentence).startswith("a beats b on exact_match")


@given(st.lists(st.sampled_from([0.01, 0.9]), min_size=10, max_size=10))
def test_ranks_say_what_the_tests_say(ps: Sequence[float]) -> None:
    # Five systems, each of which has a lower score than those before.
    names = "abcde"
    tests = {
        (other, name): replace(COMPARISON, difference=-1.0, p=p)
        for (name, other), p in zip(combinations(names, 2), ps, strict=True)
    }
    scores = {name: -float(place) for place, name in enumerate(names)}
    output = RankedOutput("m", "m", "score", "higher", 0.95, scores, tests, None, "m")
    for place, name in enumerate(names):
        assert output.ranks[name] == 1 + sum(tests[name, above].p < 0.05 for above in names[:place])


def test_systems_that_beat_each_other_in_a_circle_are_level() -> None:
    # Where pairs have scores of different samples, a may beat b, b c, and c a.
    lost = [("b", "a"), ("c", "b"), ("a", "c")]
    tests = {pair: replace(COMPARISON, difference=-1.0, p=0.01) for pair in lost}
    scores = dict.fromkeys("abc", 0.5)
    output = RankedOutput("m", "m", "score", "higher", 0.95, scores, tests, None, "m")
    assert output.ranks == {"a": 2, "b": 2, "c": 2}


def test_only_headline_outputs_are_corrected_ranked_and_bold() -> None:
    report, other = with_right(0, 12, metric="rouge").values()
    comparison = other.compare(report, resamples=9, trials=TRIALS)["rouge"]
    headline = load_metric("rouge").headline()
    assert len(headline) > 1
    without_p = "only headline outputs have a corrected p and ranks"
    for name, test in comparison.items():
        if name in headline:
            # All are the same test here, which is one.
            assert test.p == test.randomization_p
            assert (test.rank, test.other_rank) == (1, 2)
        elif name != "score":
            assert np.isnan(test.p)
            assert test.randomization_p < 0.001
            assert (test.rank, test.other_rank, test.sentence) == (None, None, without_p)
    systems = {"one": report, "other": other}
    ranking = compare_all(systems, resamples=9, trials=TRIALS)
    assert without_p in ranking.foot(outputs="all")
    assert without_p not in ranking.foot()
    table = long_tests(ranking, EVERY)
    assert {table.rows[row][1] for row, _ in table.best} == set(headline)
    assert {table.rows[row][2] for row, _ in table.best} == {"other"}


def test_outputs_without_a_direction_have_p_values_and_no_ranks() -> None:
    ranking = compare_all(with_right(12, 0, metric="abstractness"), resamples=9, trials=99)
    test = ranking.pairs["b", "a"]["abstractness"]["score"]
    assert test.p == test.randomization_p
    assert (test.rank, test.sentence) == (None, None)
    assert ranking.ranks == {"abstractness": {"score": {}}}
    assert ranking.sentence == (
        "abstractness differs: b 1.000 and a 0.000 (p = .010); neither more nor less is better."
    )


def test_a_metric_under_another_name_is_told_by_it() -> None:
    systems = with_right(12, 0, metric=["r = rouge(stemmer=True)", "rouge", "d = distinct"])
    ranking = compare_all(systems, resamples=9, trials=TRIALS)
    assert " on r rouge1: " in ranking.sentence
    tests = ranking.pairs["b", "a"]
    for metric, output, label in (
        ("rouge", "rougeL", "rougeL"),
        ("d", "distinct_1", "d distinct_1"),
    ):
        assert f" on {label} (p" in str(tests[metric][output].sentence)


def test_a_metric_that_is_too_slow_to_test_is_scored_once_for_each_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scored: list[int] = []
    conclude = Variety.conclude

    def counted(self: Variety, rows: Sequence[Any]) -> Mapping[str, float]:
        scored.append(len(rows))
        return conclude(self, rows)

    monkeypatch.setattr(Variety, "conclude", counted)
    monkeypatch.setattr(Variety, "testable", False)
    hub = Hub(Variety())
    systems = {
        name: hub.evaluate(predictions=["a b", text] * 9)
        for name, text in zip("ab", ("a a", "c d"), strict=True)
    }
    ranking = compare_all(systems)
    assert ranking.sentence == f"variety ranks no system: {TOO_SLOW}."
    assert np.isnan(ranking.pairs["b", "a"]["variety"]["score"].p)
    assert scored == [18, 18]


def test_scores_are_those_of_all_samples_and_tests_those_of_common_ones() -> None:
    hub = Hub("ttr")
    texts = ["a a b", "c d e", "f f f", "g h i"]
    systems = {
        "full": hub.evaluate(predictions=texts),
        "half": hub.evaluate(predictions=[*texts[:2], "", ""]),
        "worse": hub.evaluate(predictions=["a a a"] * 4),
    }
    ranking = compare_all(systems, resamples=9, trials=99)
    assert ranking.scores()["full"] == {"ttr": systems["full"].results["ttr"].scores()}
    reason = "the systems left different samples unanswered (full: 0, half: 2, worse: 0)"
    assert ranking.withheld == {"ttr": reason}
    assert ranking.sentence == f"ttr ranks no system: {reason}."
    pair = ranking.pairs["half", "full"]["ttr"]["score"]
    assert pair.withheld == "the systems left different samples unanswered (full: 0, half: 2)"
    assert (pair.samples, pair.left_out) == (2, 2)
    assert ranking.pairs["worse", "full"]["ttr"]["score"].withheld is None
    table = long_tests(ranking)
    rows = table.rows
    assert table.head[8:] == ["p", "samples", "left out"]
    assert [row[-2:] for row in rows[:3]] == [[None, None], [2, 2], [4, 0]]
    assert [row[3] for row in rows[:3]] == [
        system.scores()["ttr"]["score"] for system in systems.values()
    ]


def test_what_several_metrics_say_alike_is_said_once() -> None:
    ranking = compare_all(
        with_right(12, 12, metric=["exact_match", "edit_similarity"]), resamples=9, trials=99
    )
    assert ranking.sentence == (
        "No significant difference between a and b on either of the two metrics."
    )
    first, other = with_right(12, 12).values()
    comparison = first.compare(other, resamples=9, trials=99)["exact_match"]["score"]
    assert comparison.sentence == (
        "no significant difference between the other system and this system on exact_match (p = 1)"
    )


def test_any_name_of_a_system_stands_as_it_is() -> None:
    first, other = with_right(12, 0).values()
    ranking = compare_all({"{}{0}": first, "%s {x}": other}, resamples=9, trials=TRIALS)
    assert ranking.sentence.startswith("{}{0} scores higher than %s {x} on exact_match: ")


def test_products_of_many_columns_are_made_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = with_right(12, 7, metric=["exact_match", "wer"]).values()
    comparison = a.compare(b, resamples=20, trials=50)
    monkeypatch.setattr(significance, "_PRODUCT", 1)
    assert str(a.compare(b, resamples=20, trials=50)) == str(comparison)


def test_one_pair_equals_compare() -> None:
    systems = with_right(12, 7)
    a, b = systems.values()
    alone = b.compare(a, resamples=50, trials=200)["exact_match"]["score"]
    score = compare_all(systems, resamples=50, trials=200).pairs["b", "a"]["exact_match"]["score"]
    assert replace(score, sentence=None) == replace(alone, sentence=None)


@pytest.mark.parametrize(
    ("p", "sign", "text"),
    [
        (0.0009999, "=", "p < .001"),
        (0.001, "=", "p = .001"),
        (0.0034, "=", "p = .003"),
        # A bound is rounded up.
        (0.0034, "≤", "p ≤ .004"),
        (0.004, "≤", "p ≤ .004"),
        # What isn't significant at .05 never reads as .05.
        (0.05, "=", "p = .050"),
        (0.05004, "=", "p = .0501"),
        (0.0505, "=", "p = .051"),
        (0.9996, "=", "p = 1"),
        (float("nan"), "=", "–"),
        (0.024, "", ".024"),
        (0.0001, "", "< .001"),
    ],
)
def test_p_values_are_written_as_in_papers(p: float, sign: str, text: str) -> None:
    assert p_text(p, sign) == text


@pytest.mark.parametrize(
    # In floats 1 - .95 is more than 1 / 20, and 1 - .9 less than 1 / 10.
    ("level", "trials"),
    [(0.95, 19), (0.9, 9)],
)
def test_a_p_that_equals_the_bound_is_significant(level: float, trials: int) -> None:
    # No swap of 12 samples is as far apart as they are: only the systems themselves count.
    ranking = compare_all(with_right(12, 0, metric="wer"), confidence=level, trials=trials)
    test = ranking.pairs["b", "a"]["wer"]["score"]
    assert test.p == 1 / (trials + 1)
    assert ranking.ranks == {"wer": {"score": {"a": 1, "b": 2}}}
    message = "a scores lower than b on wer, where less is better: 0.000 against 1.000"
    assert ranking.sentence == f"{message} ({p_text(test.p)})."
    unranked = compare_all(
        with_right(12, 0, metric="abstractness"), confidence=level, trials=trials
    )
    assert unranked.sentence.startswith("abstractness differs: b 1.000 and a 0.000")


@pytest.mark.parametrize(("trials", "reached"), [(19, True), (18, False)])
def test_an_interval_is_extended_to_0_if_so_many_trials_can_be_significant(
    trials: int, reached: bool
) -> None:
    # Five samples differ, all one way: a sixteenth of all swaps are as far apart, so p is above
    # .05. Of 18 trials p is never below 1 / 19.
    ranking = compare_all(with_right(12, 7, metric="token_f1"), trials=trials)
    test = ranking.pairs["b", "a"]["token_f1"]["score"]
    assert test.p > 0.05
    assert (test.interval.high == 0) is reached


@pytest.mark.parametrize("systems", [{}, [1, 2], None, with_right(3)])
def test_fewer_than_two_systems_by_name_are_refused(systems: Any) -> None:
    with pytest.raises(ReportError, match="compare_all needs the reports of at least two systems"):
        compare_all(systems)


def test_samples_that_no_two_systems_share_are_no_test() -> None:
    hub = Hub("ttr")
    full, none = (hub.evaluate(predictions=texts) for texts in (["a b", "c c"], ["", ""]))
    test = full.compare(none)["ttr"]["score"]
    assert (test.samples, test.left_out) == (0, 2)
    assert np.isnan([test.score, test.other, test.p]).all()


def test_an_output_can_be_tested_if_any_pair_of_systems_can() -> None:
    ranking = compare_all(with_right(12, 0, 1), resamples=9, trials=TRIALS)
    tests = {pair: compared["exact_match"]["score"] for pair, compared in ranking.pairs.items()}

    def words(untested: int) -> str:
        predictions = {
            pair: replace(test, p=float("nan")) if number < untested else test
            for number, (pair, test) in enumerate(tests.items())
        }
        pairs = {pair: {"exact_match": {"score": test}} for pair, test in predictions.items()}
        return replace(ranking, pairs=pairs).headline.title

    assert words(3) == "exact_match can't be tested: a 1.000, c 0.083 and b 0.000"
    # Without a test of a and b, a beats c in 11 samples alone, and c differs from b in one.
    assert words(1) == (
        "a scores highest on exact_match (1.000); b isn't significantly lower, c is"
    )
