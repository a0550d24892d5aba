"""Reductions: several candidates of a sample become one row, whose statistics still add up."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub
from metrichub.errors import ParameterError
from metrichub.evaluation.signature import REDUCTIONS, reduction_name
from metrichub.metric import Metric
from tests.toy_metrics import Errors, InContext, Known, Length, Overlap

words = st.lists(st.sampled_from("abcd"), max_size=4).map(" ".join)
DATA = {"predictions": ["a"]}
several = st.lists(words, min_size=1, max_size=3)
cases = st.lists(st.tuples(several, several), min_size=1, max_size=5)

CHOICES: dict[str, Callable[[list[float]], float]] = {
    "max": max,
    "min": min,
    "first": lambda scores: scores[0],
    "mean": lambda scores: sum(scores) / len(scores),
}


def overlap(prediction: str, reference: str) -> tuple[int, int]:
    """Shared and wanted words, by the definition of the metric."""
    words = set(reference.split())
    return len(words & set(prediction.split())), len(words)


def expected(case: tuple[list[str], list[str]], how: str) -> tuple[float, float] | None:
    """The statistics of one sample: those of the chosen pair, or the mean of all pairs."""
    pairs = [overlap(*pair) for pair in product(*case)]
    pairs = [pair for pair in pairs if pair[1]]
    if not pairs:
        return None
    if how == "mean":
        return sum(a for a, _ in pairs) / len(pairs), sum(b for _, b in pairs) / len(pairs)
    scores = [shared / size for shared, size in pairs]
    return pairs[scores.index(CHOICES[how](scores))]


@given(cases, st.sampled_from(sorted(CHOICES)))
def test_every_reduction_keeps_the_statistics_of_its_choice(
    given_cases: list[tuple[list[str], list[str]]], how: Any
) -> None:
    predictions, references = zip(*given_cases, strict=True)
    report = Hub(Overlap(), reduce=how, block_characters=9).evaluate(
        predictions=predictions, references=references
    )
    rows = [expected(case, how) for case in given_cases]
    scored = [row for row in rows if row is not None]
    assert report.results["overlap"].unscored == len(rows) - len(scored)
    shared, total = sum(a for a, _ in scored), sum(b for _, b in scored)
    np.testing.assert_allclose(
        report.scores()["overlap"]["score"], shared / total if total else np.nan
    )
    np.testing.assert_allclose(
        report.samples()["overlap"]["score"],
        [np.nan if row is None else row[0] / row[1] for row in rows],
    )


@given(cases)
def test_best_reads_the_direction_of_the_card(
    given_cases: list[tuple[list[str], list[str]]],
) -> None:
    predictions, references = zip(*given_cases, strict=True)

    def scores(metric: Metric, how: Any) -> list[float]:
        report = Hub(metric, reduce=how).evaluate(predictions=predictions, references=references)
        return report.samples()[metric.name]["score"].tolist()

    for metric, best, worst in ((Overlap(), "max", "min"), (Errors(), "min", "max")):
        np.testing.assert_equal(scores(metric, "best"), scores(metric, best))
        np.testing.assert_equal(scores(metric, "worst"), scores(metric, worst))
        np.testing.assert_equal(scores(metric, None), scores(metric, best))


@given(cases, st.sampled_from(sorted(CHOICES)))
def test_a_function_of_weights_can_say_what_every_name_says(
    given_cases: list[tuple[list[str], list[str]]], how: Any
) -> None:
    def weights(scores: Any) -> Any:
        if how == "mean":
            return np.ones(len(scores))
        return np.arange(len(scores)) == scores.tolist().index(CHOICES[how](scores.tolist()))

    predictions, references = zip(*given_cases, strict=True)
    named, custom = (
        Hub(Overlap()).evaluate(predictions=predictions, references=references, reduce=choice)
        for choice in (how, weights)
    )
    np.testing.assert_allclose(
        named.scores()["overlap"]["score"], custom.scores()["overlap"]["score"]
    )
    assert str(named.notes()).replace(f"{how} of", "weights of") == str(custom.notes())


def test_weights_count_in_proportion() -> None:
    # The pairs score 0/1 and 1/1: weights 1 and 3 make 3/4 of a hit on one word, however scaled.
    columns: dict[str, Any] = {"predictions": [["x", "a"]], "references": ["a"]}
    for scale in (1, 0.25, 8):
        hub = Hub(Overlap(), reduce=lambda scores, scale=scale: scale * (1 + 2 * scores))
        assert hub(**columns) == {"overlap": {"score": 0.75}}


def test_equal_candidates_marked_by_a_function_do_not_count_twice() -> None:
    # Both candidates have 3 characters and the other sample has 1: the mean is 2.
    hub = Hub(Length(), reduce=lambda scores: scores == scores.max())
    assert hub(predictions=[["abc", "xyz"], "d"]) == {"length": {"score": 2.0}}


@pytest.mark.parametrize(
    "weights",
    [
        lambda scores: 1.0,
        lambda scores: [1.0],
        lambda scores: scores * np.nan,
        lambda scores: scores * 0,
        lambda scores: scores - 10,
        # Of 1 and 1/2, one weight is negative and their sum isn't.
        lambda scores: scores - 0.6,
    ],
)
def test_weights_of_the_wrong_shape_sign_or_sum_are_refused(weights: Any) -> None:
    with pytest.raises(ParameterError, match=r"overlap: reduce=.* 2 scores of a sample"):
        Hub(Overlap())(predictions=[["a b", "b"]], references=["a b"], reduce=weights)


def test_a_function_never_sees_a_sample_without_a_scored_candidate() -> None:
    seen = []

    def weights(scores: Any) -> Any:
        seen.append(len(scores))
        return scores == scores.max()

    hub = Hub(Overlap(), reduce=weights)
    report = hub.evaluate(predictions=[["a", "b"]] * 2, references=["", "a"])
    assert report.scores() == {"overlap": {"score": 1.0}}
    assert report.counts() == {"overlap": {"unscored": 1}}
    assert np.isnan(hub(predictions=[["a", "b"]], references=[""])["overlap"]["score"])
    assert seen == [2]


def test_a_sample_is_unscored_if_all_its_candidates_are_and_says_why() -> None:
    report = Hub(Overlap()).evaluate(predictions=["a", "b"], references=[["", " "], ["b", ""]])
    assert report.scores() == {"overlap": {"score": 1.0}}
    assert report.counts() == {"overlap": {"unscored": 1}}
    notes = ["1 unscored: the reference has no words", "best of 2 references"]
    assert report.notes() == {"overlap": notes}
    np.testing.assert_equal(report.samples()["overlap"]["score"], [np.nan, 1.0])


def test_the_first_of_equal_candidates_is_kept() -> None:
    # 1/2 and 2/4 score the same; the first one's statistics stay whole numbers.
    report = Hub(Overlap()).evaluate(predictions=["a c"], references=[["a b", "a b c d"]])
    assert report.results["overlap"].totals == {"shared": 1, "wanted": 2}  # type: ignore[attr-defined]  # sums


def test_a_plural_input_needs_no_reduction() -> None:
    report = Hub(Known(), reduce="min").evaluate(predictions=["a b"], references=[["a", "b"]])
    assert report.scores() == {"known": {"score": 1.0}}
    assert report.counts() == {"known": {}}


def test_a_sample_without_any_candidate_is_unscored_and_says_so() -> None:
    report = Hub(InContext()).evaluate(predictions=["a", "b"], contexts=[[], ["b", "c"]])
    assert report.scores() == {"in_context": {"score": 0.5}}
    assert report.counts() == {"in_context": {"unscored": 1}}
    notes = ["1 unscored: the sample has no candidate", "mean of 0 to 2 contexts"]
    assert report.notes() == {"in_context": notes}
    none = Hub(InContext()).evaluate(predictions=["a"], contexts=[[]])
    assert none.results["in_context"].unscored == 1


@pytest.mark.parametrize("how", REDUCTIONS)
def test_the_signature_says_which_reduction(how: Any) -> None:
    report = Hub(Overlap(), reduce=how).evaluate(predictions=["a"], references=["a"])
    assert f"|reduce:{how}|" in report.signatures()["overlap"]


def test_a_reduction_is_best_or_the_mean_unless_it_is_given_and_a_function_has_its_name() -> None:
    def keenest(scores: Any) -> Any:
        return scores

    assert reduction_name(Overlap(), None) == "best"
    assert reduction_name(Length(), None) == "mean"
    assert reduction_name(Overlap(), keenest) == "keenest"


@pytest.mark.parametrize("how", ["best", "worst"])
def test_best_of_a_metric_without_direction_is_refused_when_the_hub_is_made(how: Any) -> None:
    for call in (lambda: Hub(Length(), reduce=how), lambda: Hub(Length())(DATA, reduce=how)):
        with pytest.raises(ParameterError, match=r"length: reduce=.*neither higher nor lower is"):
            call()


@pytest.mark.parametrize("how", sorted(CHOICES))
def test_what_needs_no_direction_is_done_without_one(how: Any) -> None:
    # Of 3 characters and 1.
    assert Hub(Length(), reduce=how)(predictions=[["abc", "d"]]) == {
        "length": {"score": CHOICES[how]([3.0, 1.0])}
    }


def test_an_unknown_reduction_names_the_choices() -> None:
    unknown: Any = "median"
    with pytest.raises(ParameterError, match=r"reduce='median' .* best, worst, mean, max, min"):
        Hub(Overlap(), reduce=unknown)


@pytest.mark.parametrize("how", sorted(CHOICES))
def test_a_sample_between_others_may_have_no_candidate(how: Any) -> None:
    contexts = [["b"], [], ["a", "a"]]
    report = Hub(InContext(), reduce=how).evaluate(predictions=["b", "b", "b"], contexts=contexts)
    np.testing.assert_equal(report.samples()["in_context"]["score"], [1, np.nan, 0])
