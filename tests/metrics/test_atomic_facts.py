"""Atomic facts: precision, FActScore's length penalty, F1@K, and responses without facts."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.testing import Scripted
from tests.judge_stub import Stub
from tests.judge_toys import spec
from tests.vectors import vectors

NAME = "atomic_facts"
EVIDENCE = ["a passage"]


def evaluated(supported: list[list[int] | None], **parameters: Any) -> Report:
    """The report on responses whose facts the judge gives these verdicts, None for no fact."""
    facts = {f"{i}": words or [] for i, words in enumerate(supported)}
    judge = Scripted(
        {
            "claims": lambda fields: [f"fact {n}" for n, _ in enumerate(facts[fields["text"]])],
            "supported": lambda fields: [
                "yes" if bit else "no" for bit in facts[fields["evidence"][0]]
            ],
        }
    )
    # Each response has a passage of its own, by which the judge knows it.
    hub = Hub(load_metric(NAME, judge=judge, **parameters))
    return hub.evaluate(predictions=list(facts), contexts=[[name] for name in facts])


def scores(supported: list[list[int] | None], **parameters: Any) -> dict[str, float]:
    return dict(evaluated(supported, **parameters).scores()[NAME])


@pytest.mark.parametrize("row", vectors("atomic_facts.factscore"))
def test_factscore_is_that_of_its_program(row: dict[str, Any]) -> None:
    supported, expected = row["scripted"]["supported"], row["expected"]
    report = evaluated(supported, gamma=row["params"]["gamma"])
    score = report.scores()[NAME]
    assert score["factscore"] == pytest.approx(expected["score"], abs=1e-12)
    # Without a penalty, its program gives no score before it.
    assert score["score"] == pytest.approx(expected.get("init_score", expected["score"]))
    assert score["facts"] == expected["num_facts_per_response"]
    answered = 1 - report.counts()[NAME].get("unanswered", 0) / len(supported)
    assert answered == pytest.approx(expected["respond_ratio"])


@pytest.mark.parametrize("row", vectors("atomic_facts.f1_at_k"))
def test_f1_at_k_is_that_of_safe(row: dict[str, Any]) -> None:
    yes, no = row["scripted"]["supported"], row["scripted"]["not_supported"]
    result = scores([[1] * yes + [0] * no], k=row["params"]["K"])
    assert result["f1_at_k"] == pytest.approx(row["expected"]["score"], abs=1e-12)


def test_the_defaults_are_gamma_10_and_64_facts() -> None:
    result = scores([[1, 1, 0, 1]])
    assert result["score"] == 3 / 4
    assert result["factscore"] == pytest.approx(0.75 * math.exp(1 - 10 / 4))
    # P = 3/4 and R = 3/64: 2PR/(P + R) = 6/68.
    assert result["f1_at_k"] == pytest.approx(6 / 68)


def test_a_response_without_facts_is_unanswered_or_has_zero() -> None:
    report = evaluated([[1], None])
    assert report.scores() == evaluated([[1]]).scores()
    assert report.counts()[NAME] == {"unanswered": 1}
    result = scores([[1, 1], None], empty=0, gamma=0, k=2)
    assert result == {"score": 1 / 2, "factscore": 1 / 2, "f1_at_k": 1 / 2, "facts": 1}


def test_systems_that_leave_different_responses_unanswered_are_not_ranked() -> None:
    careful, open_hearted = evaluated([[1], None]), evaluated([[1], [0]])
    compared = careful.compare(open_hearted)[NAME]["score"]
    assert "unanswered" in str(compared.withheld)


def test_facts_that_are_irrelevant_to_the_question_count_for_nothing() -> None:
    judge = Scripted(
        {
            "claims": ["a", "b", "c", "d"],
            "supported": ["yes", "no", "yes", "idk"],
            "relevant": ["yes", "yes", "no", "yes"],
        }
    )
    metric = load_metric(NAME, judge=judge, question=True, gamma=3, k=1)
    assert metric.inputs() == ("prediction", "contexts", "question")
    report = Hub(metric).evaluate(predictions=["r"], contexts=[EVIDENCE], questions=["q?"])
    # One of three: 1/3 with no penalty from 3 facts on; 2 · 1/3 · 1 / (4/3) = 1/2.
    third = pytest.approx(1 / 3)
    assert report.scores()[NAME] == {"score": third, "factscore": third, "f1_at_k": 0.5, "facts": 3}
    shown = report.explain(NAME, 0).steps[0]
    assert [step["verdict"] for step in shown["relevance"]] == ["yes", "yes", "no", "yes"]
    assert [fact["item"] for fact in shown["facts"]] == ["a", "b", "c", "d"]


def test_a_response_whose_facts_are_all_irrelevant_is_unanswered() -> None:
    judge = Scripted({"claims": ["a"], "supported": ["yes"], "relevant": ["no"]})
    hub = Hub(load_metric(NAME, judge=judge, question=True))
    report = hub.evaluate(predictions=["r"], contexts=[EVIDENCE], questions=["q?"])
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the response states no fact")
    assert report.counts()[NAME]["unanswered"] == 1


def test_in_one_hub_with_faithfulness_both_calls_are_shared(stub: Stub) -> None:
    hub = Hub(["faithfulness", NAME], judge=spec(stub))
    scores = hub(predictions=["One is so. The other is unsupported."], contexts=[EVIDENCE])
    assert scores["faithfulness"]["score"] == scores[NAME]["score"] == 1 / 2
    assert len(stub.asked) == 2


def test_relevance_is_another_call(stub: Stub) -> None:
    metric = load_metric(NAME, judge=spec(stub), question=True)
    Hub(metric)(predictions=["One is so."], contexts=[EVIDENCE], questions=["q?"])
    assert len(stub.asked) == 3
    assert any("relevant to that question" in " ".join(it.system.split()) for it in stub.asked)


def test_the_evidence_may_be_the_source() -> None:
    hub = Hub(f"{NAME}(evidence='source')", judge="offline")
    assert list(hub.needs()) == ["predictions", "sources"]
    scores = hub(predictions=["It rains. It snows."], sources=["It rains."])[NAME]
    assert scores["score"] == 1 / 2


@pytest.mark.parametrize("contexts", [[], [" "]])
def test_without_contexts_no_fact_is_supported(contexts: list[str]) -> None:
    hub = Hub(load_metric(NAME, judge=Scripted({"claims": ["a", "b"]})))
    scores = hub(predictions=["r"], contexts=[contexts])[NAME]
    assert scores == {"score": 0, "factscore": 0, "f1_at_k": 0, "facts": 2}


def test_a_blank_response_asks_nothing() -> None:
    hub = Hub(load_metric(NAME, judge=Scripted({})))
    report = hub.evaluate(predictions=[" "], contexts=[EVIDENCE])
    assert report.counts()[NAME]["unanswered"] == 1


def test_a_weighed_verdict_counts_its_fraction() -> None:
    judge = Scripted({"claims": ["a", "b"], "supported": [{"yes": 0.5, "idk": 0.5}, "yes"]})
    hub = Hub(load_metric(NAME, judge=judge, gamma=0, k=1))
    scores = hub(predictions=["r"], contexts=[EVIDENCE])[NAME]
    # s = 1.5 of 2, and 1.5 facts are more than K: 2 · 3/4 · 1 / (7/4) = 6/7.
    assert (scores["score"], scores["factscore"]) == (0.75, 0.75)
    assert scores["f1_at_k"] == pytest.approx(6 / 7)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=12), st.integers(1, 20), st.integers(0, 20))
def test_another_supported_fact_lowers_nothing(bits: list[int], k: int, gamma: int) -> None:
    score, more = (scores([facts], k=k, gamma=gamma) for facts in (bits, [*bits, 1]))
    assert all(more[name] >= score[name] - 1e-12 for name in score)
    assert score["factscore"] <= score["score"]
