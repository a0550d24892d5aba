"""Factual correctness: claims of two texts, each held against the other."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.testing import Scripted
from tests.claim_tables import RAGCHECKER, Example, columns_of, judge_of
from tests.judge_stub import Stub
from tests.judge_toys import spec

NAME = "factual_correctness"
VERDICTS = st.lists(st.sampled_from(["yes", "no", "idk"]), min_size=1, max_size=6)
BETAS = st.floats(0, 8)


def evaluated(mine: Sequence[str], its: Sequence[str], **parameters: Any) -> Report:
    """The report for these verdicts on the claims of the prediction and of the reference."""
    words = {"right": mine, "answer": its}
    judge = Scripted(
        {
            "claims": lambda fields: [
                f"{fields['text']} {i}"
                for i in range(len(mine if fields["text"] == "answer" else its))
            ],
            "supported": lambda fields: words[fields["evidence"][0]],
        }
    )
    hub = Hub(load_metric(NAME, judge=judge, **parameters))
    return hub.evaluate(predictions=["answer"], references=["right"])


def scored(mine: Sequence[str], its: Sequence[str], **parameters: Any) -> dict[str, float]:
    return dict(evaluated(mine, its, **parameters).scores()[NAME])


def test_a_right_answer_with_half_of_the_facts_scores_two_thirds() -> None:
    # The example of ragas' documentation, which rounds 2 · 1 · 1/2 / (1 + 1/2) to 0.67.
    scores = scored(["yes"], ["yes", "no"])
    assert scores == {"score": pytest.approx(2 / 3, abs=1e-15), "precision": 1.0, "recall": 0.5}


@pytest.mark.parametrize("example", RAGCHECKER)
def test_it_is_the_f1_of_ragchecker(example: Example) -> None:
    scores = Hub(load_metric(NAME, judge=judge_of(example)))(**columns_of(example))[NAME]
    expected = (example.expected[name] for name in ("f1", "precision", "recall"))
    assert scores == pytest.approx(
        dict(zip(("score", "precision", "recall"), expected, strict=True))
    )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, 4 / 7),  # 2 · 2/3 · 1/2 / (2/3 + 1/2)
        ({"beta": 2}, 10 / 19),  # 5 · 1/3 / (4 · 2/3 + 1/2)
        ({"beta": 0.5}, 5 / 8),  # 5/4 · 1/3 / (1/4 · 2/3 + 1/2)
        ({"mode": "precision"}, 2 / 3),
        ({"mode": "recall"}, 1 / 2),
        ({"counts": "mixed"}, 2 / 3),  # TP 2, FP 1, FN 1: 4 / (4 + 1 + 1)
        ({"counts": "mixed", "beta": 2}, 2 / 3),  # 10 / (10 + 4 + 1)
        ({"counts": "mixed", "mode": "recall"}, 2 / 3),  # 2 / (2 + 1)
        ({"counts": "mixed", "mode": "precision"}, 2 / 3),
    ],
)
def test_every_mode_has_its_formula(parameters: dict[str, Any], expected: float) -> None:
    scores = scored(["yes", "no", "yes"], ["idk", "yes"], **parameters)
    assert scores["score"] == pytest.approx(expected)


def test_mixed_counts_leave_precision_and_recall_as_they_are() -> None:
    # TP 3, FP 0, FN 1 make 6/7, where the shares 1 and 1/2 make 2/3.
    scores = scored(["yes"] * 3, ["yes", "no"], counts="mixed")
    assert scores == {"score": pytest.approx(6 / 7), "precision": 1.0, "recall": 0.5}


@pytest.mark.parametrize("counts", ["separate", "mixed"])
def test_nothing_in_common_scores_0(counts: str) -> None:
    scores = scored(["no", "idk"], ["no"], counts=counts)
    assert scores == {"score": 0.0, "precision": 0.0, "recall": 0.0}


def test_mixed_recall_is_0_where_no_claim_is_right_and_none_is_missing() -> None:
    # ragas: TP / (TP + FN + 1e-8) with TP = FN = 0.
    scores = scored(["no"], ["yes"], counts="mixed", mode="recall")
    assert scores == {"score": 0.0, "precision": 0.0, "recall": 1.0}


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        ("precision", [("claims", "nile answer"), ("supported", "nile reference")]),
        ("recall", [("claims", "nile reference"), ("supported", "nile answer")]),
    ],
)
def test_one_share_asks_for_one_text_only(mode: str, asked: list[tuple[str, str]]) -> None:
    judge = judge_of(RAGCHECKER[0])
    hub = Hub(load_metric(NAME, judge=judge, mode=mode))(**columns_of(RAGCHECKER[0]))
    assert judge.asked == asked
    assert set(hub[NAME]) == {"score", mode}


@pytest.mark.parametrize(
    ("mine", "its", "reason"),
    [
        ([], ["yes"], "the prediction makes no claim"),
        (["yes"], [], "the reference makes no claim"),
    ],
)
def test_a_text_without_a_claim_is_undefined(mine: list[str], its: list[str], reason: str) -> None:
    report = evaluated(mine, its)
    status = "unscored" if "reference" in reason else "unanswered"
    assert report.explain(NAME, 0)[:2] == (status, reason)
    lost = "unanswered" if "prediction" in reason else "unscored"
    assert report.counts()[NAME][lost] == 1


def test_claims_that_the_mode_does_not_ask_for_may_be_missing() -> None:
    assert scored(["yes", "no"], [], mode="precision") == {"score": 0.5, "precision": 0.5}
    assert scored([], ["yes", "no"], mode="recall") == {"score": 0.5, "recall": 0.5}


def test_every_claim_of_both_texts_has_its_verdict() -> None:
    step = evaluated(["yes", "no"], ["idk"]).explain(NAME, 0).steps[0]
    pairs = {key: [(c["item"], c["verdict"]) for c in claims] for key, claims in step.items()}
    assert pairs == {
        "prediction_claims": [("answer 0", "yes"), ("answer 1", "no")],
        "reference_claims": [("right 0", "idk")],
    }


def test_a_corpus_is_the_mean_of_its_samples() -> None:
    # RAGChecker prints 68.3, 76.4 and 62.5 for the two examples together.
    hub = Hub(load_metric(NAME, judge=judge_of(*RAGCHECKER)))
    scores = hub(**columns_of(*RAGCHECKER))[NAME]
    assert {name: round(100 * value, 1) for name, value in scores.items()} == {
        "score": 68.3,
        "precision": 76.4,
        "recall": 62.5,
    }


def test_calls_are_shared_with_other_metrics_of_claims(stub: Stub) -> None:
    judge = spec(stub)
    names = ("faithfulness", "noise_sensitivity", NAME)
    hub = Hub([load_metric(name, judge=judge) for name in names])
    hub(predictions=["One. Two."], references=["Two. Three."], contexts=[["One. Four."]])
    # Claims of both texts; those of the prediction held against reference and passage, those of
    # the reference against prediction and passage.
    assert len(stub.asked) == 6


@given(VERDICTS, VERDICTS, BETAS)
@settings(max_examples=40)
def test_f_lies_between_precision_and_recall(mine: list[str], its: list[str], beta: float) -> None:
    scores = scored(mine, its, beta=beta)
    low, high = sorted((scores["precision"], scores["recall"]))
    assert low - 1e-12 <= scores["score"] <= high + 1e-12


@given(VERDICTS, VERDICTS)
@settings(max_examples=40)
def test_exchanging_the_texts_exchanges_precision_and_recall(
    mine: list[str], its: list[str]
) -> None:
    forth, back = scored(mine, its), scored(its, mine)
    assert (forth["precision"], forth["recall"]) == (back["recall"], back["precision"])
    assert forth["score"] == pytest.approx(back["score"])


@given(st.integers(0, 4), st.integers(1, 4), st.integers(1, 4), BETAS)
@settings(max_examples=40)
def test_both_counts_agree_where_equally_many_claims_match(
    same: int, more: int, less: int, beta: float
) -> None:
    # t of n and t of m claims: F is (1 + b²) t / (b² m + n) either way.
    mine, its = (["yes"] * same + ["no"] * others for others in (more, less))
    first, other = (scored(mine, its, beta=beta, counts=c)["score"] for c in ("separate", "mixed"))
    assert first == pytest.approx(other)
