"""Extended edit distance: the values of both official programs, and the table cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards.eed import recurrence
from metric_cards.eed.recurrence import MANY, jump_costs, of_like_lengths
from metrichub import Hub, compare_all, load_metric
from tests.oracles.jumps import jump_cost
from tests.vectors import SUMMEVAL, WMT16, slow, texts, vectors

TEXTS = st.lists(st.text("ab ", max_size=12), min_size=5, max_size=5)
FEW_AND_MANY = st.sampled_from([1, MANY])


def eed(prediction: str, reference: Any, **parameters: str) -> float:
    hub = Hub(metrics=load_metric("eed", **parameters))
    return float(hub(predictions=[prediction], references=[reference])["eed"]["score"])


@pytest.mark.parametrize("vector", vectors("eed_cpp", "eed_python"))
def test_conformance(vector: dict[str, Any]) -> None:
    hub = Hub(metrics=load_metric("eed", convention=vector["metric"].removeprefix("eed_")))
    score = hub(predictions=vector["predictions"], references=vector["references"])["eed"]["score"]
    assert score == pytest.approx(vector["expected"], abs=vector["tolerance"])


def test_equal_texts_differ_by_one_place_that_only_python_charges() -> None:
    # " the cat sat . " has 15 characters. Every place but the first is visited once; Python
    # charges 0.3 for that one: 0.3 / (15 + 0.3).
    assert eed("the cat sat.", "the cat sat.") == 0
    assert eed("the cat sat.", "the cat sat.", convention="python") == pytest.approx(0.3 / 15.3)


def test_leaving_out_a_character_is_cheaper_than_adding_one() -> None:
    # Costs alone: one deletion at 0.2 against one insertion at 1.
    assert jump_costs([" ab "], [" a "], False).cost[0] == pytest.approx(0.2)
    assert jump_costs([" a "], [" ab "], False).cost[0] == pytest.approx(1)


def test_phrases_in_another_order_cost_a_jump() -> None:
    # Any place but the first costs 1 to begin at: so does the second word. From its end one
    # jumps back to the first for 2, and leaves out 9 characters to come to the end again.
    cost = jump_costs([" klmnopqr abcdefgh "], [" abcdefgh klmnopqr "], False).cost[0]
    assert cost == pytest.approx(1 + 2 + 9 * 0.2)


def test_a_mark_or_blank_at_the_start_has_two_blanks_before_it() -> None:
    # "  . a " has 6 characters, " a " only 3: to leave out 3 of them costs 0.2 each, and a place
    # that was never visited 0.3, as in the authors' programs; the last blank is dropped.
    expected = (3 * 0.2 + 3 * 0.3) / (3 + 3 * 0.3)
    for prediction in (". a", " . a \n"):
        assert eed(prediction, "a") == pytest.approx(expected)


def test_empty_texts_have_a_score() -> None:
    assert eed("", "") == 0
    assert 0 < eed("", "a b c") < 1
    assert 0 < eed("a b c", "") <= 1


@given(TEXTS, TEXTS, st.booleans(), FEW_AND_MANY)
def test_many_tables_equal_those_of_single_cells(
    hypotheses: list[str], references: list[str], truncated: bool, times: int
) -> None:
    jumps = jump_costs(hypotheses * times, references * times, truncated)
    for row, pair in enumerate(zip(hypotheses, references, strict=True)):
        cost, visits = jump_cost(*pair, truncated)
        assert jumps.cost[row] == cost
        assert jumps.visits[: len(visits), row].tolist() == visits
        assert not jumps.visits[len(visits) :, row].any()


def test_few_pairs_are_never_read_column_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    # A place at a time in numpy, the table of a single pair takes longer than in a loop of Python.
    monkeypatch.delattr(recurrence, "_from_column_to_column")
    for count in (1, 2, MANY - 1):
        jump_costs(["a cat sat"] * count, ["the cat sat"] * count, False)
    with pytest.raises(NameError):
        jump_costs(["a cat sat"] * MANY, ["the cat sat"] * MANY, False)


def test_a_character_zero_is_one_like_any_other() -> None:
    # The second pair is longer, so that the first has unused columns, which hold no character.
    hypotheses, references = ["a", "a cat sat on the mat"], ["a\0b", "a cat"]
    jumps = jump_costs(hypotheses, references, False)
    alone = jump_costs(["a"], ["axb"], False)
    assert jumps.cost[0] == alone.cost[0]
    assert jumps.visits[:2, 0].tolist() == alone.visits[:, 0].tolist()


@given(st.lists(st.tuples(st.text("ab", max_size=9), st.text("ab", max_size=9)), max_size=20))
def test_every_pair_is_in_one_group(pairs: list[tuple[str, str]]) -> None:
    groups = of_like_lengths([text for text, _ in pairs], [other for _, other in pairs])
    assert sorted(i for group in groups for i in group.tolist()) == list(range(len(pairs)))


def test_long_texts_are_unanswered_and_keep_systems_from_being_ranked() -> None:
    # With their blanks, "a cat" has 7 characters, and the last texts 8: 49, 56 and 64 pairs.
    hub = Hub("eed(max_cells=56)")
    reports = hub.evaluate_all(
        {
            "short": {"predictions": ["a cat", "a cats"], "references": ["a dog", "a cats"]},
            "long": {"predictions": ["a cats", "a bats"], "references": ["a dog", "a cats"]},
        }
    )
    # Equal texts need no comparison.
    assert [report.counts()["eed"] for report in reports.values()] == [{}, {"unanswered": 1}]
    assert "over 56 pairs of characters; max_cells=None" in reports["long"].notes()["eed"][0]
    assert "unanswered (short: 0, long: 1)" in compare_all(reports).withheld["eed"]
    several = Hub("eed(max_cells=56)").evaluate(
        predictions=["a bats"], references=[["a cats", "a dog"]]
    )
    assert several.counts()["eed"] == {}
    scores = Hub("eed(max_cells=None)")(predictions=["a bats"], references=["a cats"])
    assert scores["eed"]["score"] == eed("a bats", "a cats")


@pytest.mark.corpora
def test_the_published_means_of_real_translations_are_met() -> None:
    predictions, references = texts(WMT16, 300)
    hub = Hub(metrics=["eed", "python = eed(convention='python')"])
    scores = hub(predictions=predictions, references=references)
    # The official programs on the first 300 pairs: 0.3104 in C++, 0.3076 in Python.
    assert scores["eed"]["score"] == pytest.approx(0.3104, abs=5e-5)
    assert scores["python"]["score"] == pytest.approx(0.3076, abs=5e-5)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16)])
def test_real_texts_equal_the_table_of_single_cells(name: str) -> None:
    predictions, groups = texts(name, 12)
    hypotheses = [f" {prediction} " for prediction in predictions]
    references = [f" {group[0]} " for group in groups]
    jumps = jump_costs(hypotheses, references, truncated=False)
    expected = [
        jump_cost(*pair, truncated=False)[0] for pair in zip(hypotheses, references, strict=True)
    ]
    assert np.array_equal(jumps.cost, expected)
