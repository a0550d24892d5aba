"""Answer correctness: F over claims and a cosine, weighed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.errors import JudgeError
from metrichub.models.embedders import Vectors
from metrichub.testing import Scripted
from tests.judge_stub import Stub
from tests.judge_toys import spec

NAME = "answer_correctness"
VERDICTS = st.lists(st.sampled_from(["yes", "no", "idk"]), min_size=1, max_size=5)


@dataclass(frozen=True)
class Angle:
    """An embedder that puts every pair of texts at one cosine; None fails, 2 gives zero vectors."""

    cosine: float | None
    label: str = "angle"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Two vectors (2, 2)."""
        if self.cosine is None:
            raise JudgeError("no vectors were to be asked for")
        if self.cosine == 2:
            return np.zeros((len(texts), 2))
        return np.array([(1, 0), (self.cosine, math.sqrt(1 - self.cosine**2))])


def evaluated(
    mine: Sequence[str], its: Sequence[str], cosine: float | None = 0.6, **parameters: Any
) -> Report:
    """The report for these verdicts on the claims of the prediction and of the reference."""
    words = {"mine": mine, "its": its}
    judge = Scripted(
        {
            "claims": lambda fields: [str(i) for i, _ in enumerate(words[fields["text"]])],
            "supported": lambda fields: its if fields["evidence"] == ["mine"] else mine,
        }
    )
    hub = Hub(load_metric(NAME, judge=judge, embedder=Angle(cosine), **parameters))
    return hub.evaluate(predictions=["mine"], references=["its"])


def scored(*given_verdicts: Any, **parameters: Any) -> dict[str, float]:
    return dict(evaluated(*given_verdicts, **parameters).scores()[NAME])


def test_one_right_one_wrong_and_one_missing_claim_make_a_factuality_of_a_half() -> None:
    # ragas' documentation, Einstein born in Spain: TP, FP and FN are 1. 3/4 · 1/2 + 1/4 · 0.6.
    scores = scored(["yes", "no"], ["yes", "no"])
    assert scores == pytest.approx({"score": 0.525, "factuality": 0.5, "similarity": 0.6})


@pytest.mark.parametrize(
    ("mine", "its", "beta", "factuality"),
    [
        (["yes"], ["yes"], 1, 1),
        (["no", "idk"], ["no"], 1, 0),
        (["no"], ["yes"], 1, 0),
        (["yes", "yes", "no"], ["yes", "no", "idk"], 1, 4 / 7),  # 4 / (4 + 2 + 1)
        (["yes", "yes", "no"], ["yes", "no", "idk"], 2, 10 / 19),  # 10 / (10 + 8 + 1)
        (["yes", "yes", "no"], ["yes", "no", "idk"], 0.5, 5 / 8),  # 2.5 / (2.5 + 0.5 + 1)
        (["yes", "yes", "no"], ["yes", "no", "idk"], 0, 2 / 3),  # the precision
    ],
)
def test_the_factuality_is_f_over_the_mixed_counts(
    mine: list[str], its: list[str], beta: float, factuality: float
) -> None:
    scores = scored(mine, its, beta=beta)
    assert scores["factuality"] == pytest.approx(factuality)
    assert scores["score"] == pytest.approx(0.75 * factuality + 0.25 * 0.6)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [((0.5, 0.5), 0.55), ((1, 3), 0.575), ([3, 1], 0.525), ((2, 2), 0.55)],
)
def test_the_score_is_the_weighted_mean(weights: Sequence[float], expected: float) -> None:
    assert scored(["yes", "no"], ["no", "yes"], weights=weights)["score"] == pytest.approx(expected)


def test_without_weight_on_the_similarity_no_embedder_is_asked() -> None:
    scores = scored(["yes", "no"], ["no", "yes"], cosine=None, weights=(1, 0))
    assert scores == {"score": 0.5, "factuality": 0.5}


def test_without_weight_on_the_factuality_no_judge_is_asked() -> None:
    metric = load_metric(NAME, judge=Scripted({}), embedder=Angle(-0.5), weights=(0, 2))
    hub = Hub(metric)(predictions=["mine"], references=["its"])
    assert hub[NAME] == pytest.approx({"score": -0.5, "similarity": -0.5})


def test_the_notes_on_offline_baselines_stand_where_they_were_asked() -> None:
    columns = {"predictions": ["One."], "references": ["One."]}
    both = ["judged", "compared"]
    for weights, asked in (((1, 1), both), ((1, 0), both[:1]), ((0, 1), both[1:])):
        report = Hub(
            load_metric(NAME, weights=weights), judge="offline", embedder="offline"
        ).evaluate(**columns)
        assert [note.split()[0] for note in report.notes()[NAME]] == asked


@pytest.mark.parametrize(
    ("mine", "its", "cosine", "reason"),
    [
        ([], ["yes"], 0.6, "the prediction makes no claim"),
        (["yes"], [], 0.6, "the reference makes no claim"),
        (["yes"], ["yes"], 2, "the reference has no vector"),
    ],
)
def test_a_part_without_a_value_makes_it_undefined(
    mine: list[str], its: list[str], cosine: float, reason: str
) -> None:
    report = evaluated(mine, its, cosine)
    status = "unscored" if "reference" in reason else "unanswered"
    assert report.explain(NAME, 0)[:2] == (status, reason)
    assert math.isnan(report.scores()[NAME]["score"])


def test_claims_may_be_missing_where_they_have_no_weight() -> None:
    assert scored([], [], weights=(0, 1))["score"] == pytest.approx(0.6)


def test_a_failing_embedder_is_an_error_of_the_sample() -> None:
    report = evaluated(["yes"], ["yes"], None)
    assert report.explain(NAME, 0)[:2] == ("error", "no vectors were to be asked for")


def test_every_claim_of_both_texts_has_its_verdict() -> None:
    step = evaluated(["yes", "no"], ["idk"]).explain(NAME, 0).steps[0]
    words = {key: [claim["verdict"] for claim in claims] for key, claims in step.items()}
    assert words == {"prediction_claims": ["yes", "no"], "reference_claims": ["idk"]}


def test_the_claims_are_shared_with_factual_correctness(stub: Stub) -> None:
    parameters: dict[str, dict[str, Any]] = {NAME: {"weights": (1, 0)}, "factual_correctness": {}}
    hub = Hub([load_metric(name, judge=spec(stub), **parameters[name]) for name in parameters])
    hub(predictions=["One. Two."], references=["Two. Three."])
    assert len(stub.asked) == 4


def test_the_factuality_is_the_f_of_factual_correctness_with_mixed_counts() -> None:
    columns = {
        "predictions": ["The sky is blue. The grass is green. Fish can sing."],
        "references": ["The sky is blue. Birds build nests."],
    }
    hub = Hub(
        [NAME, "mixed = factual_correctness(counts='mixed')"], judge="offline", embedder="offline"
    )
    scores = hub(**columns)
    # One right claim, two wrong ones and one that is missing: 2 / (2 + 2 + 1).
    assert scores[NAME]["factuality"] == scores["mixed"]["score"] == pytest.approx(0.4)


@given(VERDICTS, VERDICTS, st.floats(-1, 1), st.floats(0, 1), st.floats(0, 4))
@settings(max_examples=40)
def test_the_score_lies_between_its_parts(
    mine: list[str], its: list[str], cosine: float, weight: float, beta: float
) -> None:
    scores = scored(mine, its, cosine, weights=(weight, 1.5 - weight), beta=beta)
    parts = [value for name, value in scores.items() if name != "score"]
    assert min(parts) - 1e-9 <= scores["score"] <= max(parts) + 1e-9
    assert 0 <= scores.get("factuality", 0) <= 1
