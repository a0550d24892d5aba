"""Ranking: the numbers of trec_eval, ir_measures and ranx, and what they do otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from tests.vectors import answer_vectors

GOLDENS = [case.values[0] for case in answer_vectors("ranking")]
IR_MEASURES = [row for row in GOLDENS if row["source"].startswith("ir_measures")]
RANX = [row for row in GOLDENS if row["source"].startswith("ranx")]
NAMES = {
    **{f"Success@{k}": f"success_{k}" for k in (1, 3)},
    **{f"P@{k}": f"precision_{k}" for k in (1, 3, 5)},
    **{f"R@{k}": f"recall_{k}" for k in (3, 10)},
    **{"RR": "rr", "RR@2": "rr_2", "AP": "ap", "AP@3": "ap_3", "nDCG": "ndcg"},
    **{"nDCG@3": "ndcg_3", "Rprec": "r_precision", "Judged@3": "judged_3"},
}
SETS = ("SetP", "SetR", "SetF")
"""Those of sets, which citation_ids has."""
OF_RANX = {
    **{"hit_rate@3": "success_3", "precision@3": "precision_3", "recall@3": "recall_3"},
    **{"mrr": "rr", "map": "ap", "ndcg@3": "ndcg_3", "rbp.80": "rbp"},
}

# The numbers of other programs that aren't ours, each with its reason.
DIFFERENT = {
    ("ir_measures", "ties", "RR@2"): "BUG: RR is 1/3 and RR@2 is 1; RR@k goes to another program",
    ("ir_measures", "ties2", "RR@2"): "BUG: RR is 1 and RR@2 is 0, for the same reason",
    ("ir_measures", "*", "Bpref"): "not built",
    ("ranx", "graded", "rbp.80"): "ranx multiplies by the grade; Moffat and Zobel's is binary",
}


def evaluated(retrieved: Any, relevant: Any, **options: Any) -> Report:
    hub = Hub(load_metric("ranking", **{"cutoffs": (1, 2, 3, 5, 10)} | options))
    return hub.evaluate(retrieved=retrieved, relevant=relevant)


def scores(retrieved: Any, relevant: Any, **options: Any) -> dict[str, float]:
    return evaluated(retrieved, relevant, **options)["ranking"]


def columns(row: dict[str, Any]) -> dict[str, Any]:
    """The judged queries; a run's others have no sample, and a query without a run nothing."""
    qrels, run = row["inputs"]["qrels"], row["inputs"]["run"]
    return {"retrieved": [run.get(q, []) for q in qrels], "relevant": list(qrels.values())}


@pytest.mark.parametrize("row", IR_MEASURES)
def test_the_numbers_are_those_of_ir_measures_in_the_order_of_trec(row: dict[str, Any]) -> None:
    result = scores(**columns(row), ties="trec", no_relevant="zero")
    for name, expected in row["expected"].items():
        if name in SETS or {("ir_measures", note, name) for note in (row["note"], "*")} & {
            *DIFFERENT
        }:
            continue
        assert result[NAMES[name]] == pytest.approx(expected), name


def test_reciprocal_rank_sees_one_order_whatever_the_cutoff() -> None:
    ties, ties2 = (next(r for r in IR_MEASURES if r["note"] == n) for n in ("ties", "ties2"))
    for row, rr, at_2 in ((ties, 1 / 3, 0), (ties2, 1, 1)):
        result = scores(**columns(row), ties="trec")
        assert (result["rr"], result["rr_2"]) == (pytest.approx(rr), at_2)
        assert row["expected"]["RR@2"] == 1 - at_2


@pytest.mark.parametrize("row", answer_vectors("ranking per query"))
def test_queries_score_as_in_trec_eval(row: dict[str, Any]) -> None:
    ((query, expected),) = row["expected"].items()
    report = evaluated(**columns(row), ties="trec", no_relevant="zero")
    names = {"map": "ap", "recip_rank": "rr", "ndcg": "ndcg", "ndcg_cut_3": "ndcg_3"}
    names |= {f"{name}_{k}": f"{full}_{k}" for name, full in (("P", "precision"),) for k in (1, 3)}
    names |= {"recall_3": "recall_3", "success_1": "success_1", "success_3": "success_3"}
    samples = report.samples()["ranking"]
    assert query == "q"
    for name, value in expected.items():
        assert samples[names[name]][0] == pytest.approx(value), name


@pytest.mark.parametrize("row", RANX)
def test_the_numbers_are_those_of_ranx_in_the_order_given(row: dict[str, Any]) -> None:
    if "error" in row["expected"]:
        # It refuses queries without a run or without judgments; of the judged ones, we score all.
        assert "do not match" in row["expected"]["error"]
        assert set(row["inputs"]["run"]) != set(row["inputs"]["qrels"])
        return
    result = scores(**columns(row), no_relevant="zero")
    for name, expected in row["expected"].items():
        if name == "ndcg_burges@3":
            burges = scores(**columns(row), no_relevant="zero", gains="exponential")
            assert burges["ndcg_3"] == pytest.approx(expected)
        elif ("ranx", row["note"], name) not in DIFFERENT:
            assert result[OF_RANX[name]] == pytest.approx(expected), name


def test_rank_biased_precision_is_binary() -> None:
    row = RANX[0]
    # Relevant at the ranks 1, 3 and 5: .2 (1 + .8^2 + .8^4).
    assert scores(**columns(row))["rbp"] == pytest.approx(0.2 * (1 + 0.64 + 0.4096))
    assert row["expected"]["rbp.80"] == pytest.approx(0.2 * (3 + 2 * 0.64 + 0.4096))


IDS = st.sampled_from("abcdef")
RUNS = st.dictionaries(IDS, st.integers(0, 3), max_size=6)
QRELS = st.dictionaries(IDS, st.integers(-1, 3), min_size=1, max_size=6)


OTHERWISE = ("RR@2", "Judged@3")
"""What ir_measures asks another program for, which orders ties as they are given."""


def official(names: Iterable[str], run: Any, qrels: Any) -> dict[str, float]:
    measures = [ir_measures.parse_measure(name) for name in names]
    result = ir_measures.calc_aggregate(measures, qrels, {q: r for q, r in run.items() if r})
    return {NAMES[str(measure)]: value for measure, value in result.items()}


@given(st.lists(st.tuples(RUNS, QRELS), min_size=1, max_size=4))
def test_any_rankings_score_as_in_ir_measures(pairs: list[tuple[Any, Any]]) -> None:
    run = {f"q{n}": {k: float(v) for k, v in docs.items()} for n, (docs, _) in enumerate(pairs)}
    qrels = {f"q{n}": relevant for n, (_, relevant) in enumerate(pairs)}
    expected = official(NAMES.keys() - {*OTHERWISE}, run, qrels)
    result = scores(list(run.values()), list(qrels.values()), ties="trec", no_relevant="zero")
    assert {name: result[name] for name in expected} == pytest.approx(expected)
    # Without ties there is one order for all.
    for grades in run.values():
        grades.update({key: grades[key] + place / 10 for place, key in enumerate(grades)})
    expected = official(NAMES, run, qrels)
    result = scores(list(run.values()), list(qrels.values()), no_relevant="zero")
    assert {name: result[name] for name in expected} == pytest.approx(expected)


def test_scores_order_results_and_ties_stay_as_given_or_as_in_trec() -> None:
    run, relevant = {"a": 1.0, "b": 2.0, "c": 1.0}, ["a"]
    assert scores([run], [relevant])["rr"] == 1 / 2
    assert scores([run], [relevant], ties="trec")["rr"] == 1 / 3
    # trec_eval keeps scores in 32 bits, where these are equal.
    close = {"a": 1.00000001, "b": 1.0}
    assert scores([{"a": 1e300, "b": 1e301}], [relevant], ties="trec")["rr"] == 1 / 2
    assert scores([close], [relevant])["rr"] == 1
    assert scores([close], [relevant], ties="trec")["rr"] == 1 / 2


def test_a_query_without_relevant_items_is_skipped_or_has_0_and_is_counted() -> None:
    retrieved, relevant = [["a"], ["a"], ["a"], ["a"]], [["a"], [], {"a": 0}, None]
    skipped = evaluated(retrieved, relevant, mode="rr")
    assert (skipped["ranking"]["score"], skipped.counts()["ranking"]["unscored"]) == (1, 3)
    assert dict(skipped.results["ranking"].reasons) == {"nothing is relevant": 3}
    zero = evaluated(retrieved, relevant, mode="rr", no_relevant="zero")
    assert zero["ranking"]["score"] == 1 / 4
    assert zero.notes()["ranking"] == ["3 queries have nothing relevant, and 0"]
    report = evaluated([["a"]], [[]], no_relevant="zero")
    assert report.notes()["ranking"] == ["1 query has nothing relevant, and 0"]


def test_a_result_counts_once_and_repetitions_are_noted() -> None:
    report = evaluated([["b", "b", "a"], []], [["a"], ["a"]], mode="precision_2")
    assert report["ranking"]["score"] == 0.25
    assert report.notes()["ranking"] == ["1 result is a repetition; of equal ones the first counts"]


def test_lists_objects_json_and_numbers_are_ids() -> None:
    ways = [["7", "x"], [7, "x"], (7.0, "x"), '["7", "x"]', {"7": 3, "x": 1}, '{"x": 1, "7": 3}']
    for way in ways:
        assert scores([way], [["7"]])["rr"] == scores([way], [[7]])["rr"] == 1
    assert scores([np.array(["7", "x"])], [np.array([7])])["rr"] == 1
    assert scores(["x"], ["x"])["rr"] == 1
    assert scores([["x"]], [{"x": True, "y": None}])["recall_1"] == 1
    # A table of mappings has all keys in each row.
    assert scores([{"a": None, "b": 1.0}], [{"a": 2, "b": None}])["judged_1"] == 0


@pytest.mark.parametrize(
    ("retrieved", "relevant", "options", "message"),
    [
        ([["a"], None], [["a"]] * 2, {}, r"retrieved\[1\] is None; give a list, \[\] if there is"),
        ([[None]], [["a"]], {}, "'retrieved' holds None in a list; give ids or texts"),
        ([[{"id": "a"}]], [["a"]], {}, "'retrieved' holds .* in a list"),
        ([{"a": "high"}], [["a"]], {}, "'retrieved' holds .* for 'a'; give a number"),
        ([{"a": 10**400}], [["a"]], {}, "'retrieved' holds .* for 'a'; give a number"),
        ([["a"]], [{"a": 2000}], {}, "the grade of 'a' is 2000, over 1000"),
        ([{"a": float("nan")}], [["a"]], {}, r"retrieved\[0\] isn't JSON"),
        ([{1, 2}], [["a"]], {}, r"retrieved\[0\] isn't JSON"),
    ],
)
def test_what_is_no_ranking_is_one_line(
    retrieved: Any, relevant: Any, options: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message) as error:
        scores(retrieved, relevant, **options)
    assert "\n" not in str(error.value)


def test_texts_match_equal_ones_or_those_they_contain() -> None:
    passages = ["Bathing  in Ely", "The city of BATH, Somerset", "Bath again", "in 1843."]
    result = scores([passages], [["bath", "1843"]], match="contains")
    # Bathing holds no word Bath; the second stands for bath, so that the third stands for nothing.
    assert [result[name] for name in ("rr", "recall_3", "recall_5", "precision_5")] == [
        *(1 / 2, 1 / 2, 1, 2 / 5)
    ]
    assert scores([passages], [["bathing in ely"]], match="equal")["success_1"] == 1
    assert scores([["私は東京に"]], [["東京"]], match="contains")["rr"] == 1
    assert scores([["2010"]], [["10"]], match="contains")["rr"] == 0
    assert scores([["e\u0301t"]], [["ÉT"]], match="equal")["rr"] == 1
    assert scores([["aa a a", ""]], [["a a", ""]], match="contains")["ap"] == 1


def test_long_texts_are_searched_in_linear_time() -> None:
    # As many places where the relevant text stands within a word, each as long to compare.
    assert scores([["a" * 500_000]], [["a" * 250_000]], match="contains")["rr"] == 0


def test_columns_may_have_other_names_and_belong_to_the_system() -> None:
    metric = load_metric(
        "ranking", retrieved="contexts", relevant="gold", match="contains", mode="rr"
    )
    rows = [[["a b", "c"], ["x"]], [["c", "a b"], ["x"]]]
    ours, theirs = (Hub(metric).evaluate(contexts=row, gold=[["b"], ["x"]]) for row in rows)
    assert ours.compare(theirs)["ranking"]["score"].difference == 0.25
    beside = Hub([metric, "ttr"]).evaluate(
        contexts=rows[0], gold=[["b"], ["x"]], predictions=["a", "b"]
    )
    assert beside["ranking"]["score"] == 1
    # A list of texts in a column of another metric that reads them, too.
    shared = Hub([metric, "context_relevance"], judge="offline")
    assert shared(contexts=rows[0], gold=[["b"], ["x"]], questions=["a", "b"])["ranking"]["rr"] == 1


def test_a_deep_ranking_takes_no_room_in_the_others() -> None:
    deep = [str(n) for n in range(200_000)]
    result = scores([deep, *[["1"]] * 500], [["199999"], *[["1"]] * 500])
    assert result["recall_1"] == pytest.approx(500 / 501)
    assert result["rr"] > 500 / 501


def test_a_cutoff_may_be_written_with_an_at_sign() -> None:
    assert load_metric("ranking", mode="ndcg@10") == load_metric("ranking", mode="ndcg_10")
