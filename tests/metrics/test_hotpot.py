"""HotpotQA: the numbers of its script for answers, facts and both."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, InputError
from tests.oracles.squad import normal
from tests.vectors import answer_vectors

NAMES = {
    "em": "answer_exact",
    "f1": "answer_f1",
    "prec": "answer_precision",
    "recall": "answer_recall",
    "sp_em": "facts_exact",
    "sp_f1": "facts_f1",
    "sp_prec": "facts_precision",
    "sp_recall": "facts_recall",
    "joint_em": "joint_exact",
    "joint_f1": "score",
    "joint_prec": "joint_precision",
    "joint_recall": "joint_recall",
}


@pytest.mark.parametrize("row", answer_vectors("hotpot (answer, supporting facts, joint)"))
def test_equals_the_script(row: dict[str, Any]) -> None:
    inputs = dict(row["inputs"])
    inputs["supporting_facts"] = inputs.pop("gold_facts")
    scores = Hub("hotpot")(**inputs)["hotpot"]
    assert len(row["expected"]) == len(scores) == 12
    for official, value in row["expected"].items():
        assert scores[NAMES[official]] == pytest.approx(value, abs=1e-12), official


ANSWERS = st.sampled_from(
    ["yes", "no", "noanswer", "Yes.", "no cat", "a cat", "cat dog", "", "dog"]
)
FACTS = st.lists(st.sampled_from([["A", 0], ["A", 1], ["B", 0], ["C", 2]]), max_size=4)


def of_answer(prediction: str, gold: str) -> tuple[float, float, float]:
    """Exact match, precision and recall of an answer, as the script has them."""
    first, other = normal(prediction), normal(gold)
    special = ("yes", "no", "noanswer")
    if (first in special or other in special) and first != other:
        return float(first == other), 0.0, 0.0
    shared = sum((Counter(first.split()) & Counter(other.split())).values())
    if not shared:
        return float(first == other), 0.0, 0.0
    return float(first == other), shared / len(first.split()), shared / len(other.split())


def of_facts(named: list[Any], gold: list[Any]) -> tuple[float, float, float]:
    first, other = set(map(tuple, named)), set(map(tuple, gold))
    both = len(first & other)
    return float(first == other), both / max(len(first), 1), both / max(len(other), 1)


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(st.lists(st.tuples(ANSWERS, ANSWERS, FACTS, FACTS), min_size=1, max_size=6))
def test_equals_the_definition_on_any_samples(rows: list[tuple[str, str, Any, Any]]) -> None:
    expected = []
    for prediction, gold, named, right in rows:
        em, p, r = of_answer(prediction, gold)
        sp_em, sp_p, sp_r = of_facts(named, right)
        expected.append((em, f1(p, r), sp_em, f1(sp_p, sp_r), em * sp_em, f1(p * sp_p, r * sp_r)))
    predictions, references, facts, supporting = (
        list(column) for column in zip(*rows, strict=True)
    )
    samples = (
        Hub("hotpot")
        .evaluate(
            predictions=predictions,
            references=references,
            facts=facts,
            supporting_facts=supporting,
        )
        .samples()["hotpot"]
    )
    names = ("answer_exact", "answer_f1", "facts_exact", "facts_f1", "joint_exact", "score")
    for place, name in enumerate(names):
        assert samples[name].tolist() == pytest.approx([row[place] for row in expected]), name


def test_facts_are_read_as_data_sets_have_them() -> None:
    columns = {"title": ["A", "B"], "sent_id": [0, 3]}
    listed: list[Any] = [["A", 0], ["B", 3]]
    scores = Hub("hotpot")(
        predictions=["x", "x"],
        references=["x", "x"],
        facts=[columns, ["p1", "p2"]],
        supporting_facts=[listed, ["p2", "p1", "p1"]],
    )["hotpot"]
    assert scores["joint_exact"] == 1


@pytest.mark.parametrize("fact", [3, ["A"], ["A", 0, 1], [1, "A"], {"title": ["A"]}, None])
def test_what_isnt_a_fact_is_one_line(fact: object) -> None:
    with pytest.raises(InputError, match=r"^hotpot: facts has .* which isn't a fact"):
        Hub("hotpot")(
            predictions=["x"], references=["x"], facts=[[fact]], supporting_facts=[[["A", 0]]]
        )


def test_without_an_answer_the_facts_still_count() -> None:
    scores = Hub("hotpot", extract="after('Answer:')")(
        predictions=["no idea"], references=[""], facts=[["p"]], supporting_facts=[["p"]]
    )["hotpot"]
    assert (scores["answer_exact"], scores["facts_f1"], scores["score"]) == (0, 1, 0)
