"""JSON similarity: the numbers of ANLS* on any trees, and replies that are no or too much JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from anls_star import anls_score
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from tests.vectors import answer_vectors


def evaluated(predictions: Any, references: Any, **options: Any) -> Report:
    extract = options.pop("extract", None)
    hub = Hub(load_metric("json_similarity", **options), extract=extract)
    return hub.evaluate(predictions=predictions, references=references)


def score(prediction: Any, reference: Any, **options: Any) -> float:
    return evaluated([prediction], [reference], **options)["json_similarity"]["score"]


@pytest.mark.parametrize("row", answer_vectors("json tree similarity (ANLS*)"))
def test_the_numbers_are_those_of_anls_star(row: dict[str, Any]) -> None:
    value = score(*(json.dumps(row["inputs"][side]) for side in ("prediction", "reference")))
    assert value == pytest.approx(row["expected"])


LEAVES = st.sampled_from(["a", "abc", "abd", "", "  ", "hello", "Help", "1", 1, 1.0, True, None])
FLAT = st.lists(LEAVES, max_size=4) | st.dictionaries(st.sampled_from("xyz"), LEAVES)
# Items of lists have one value each, so that equally good pairings have equal scores.
TREES = FLAT | LEAVES | st.dictionaries(st.sampled_from("xyz"), FLAT | LEAVES)


@given(TREES, TREES)
def test_any_trees_score_as_in_anls_star(predicted: Any, expected: Any) -> None:
    if isinstance(predicted, str) and isinstance(expected, list):
        # A list of texts stands for alternatives there.
        assert score(json.dumps(predicted), json.dumps(expected)) == 0 or not expected
        return
    value = score(json.dumps(predicted), json.dumps(expected))
    assert value == pytest.approx(anls_score(expected, predicted))


def test_lists_of_objects_are_paired_for_the_best_means() -> None:
    predicted = [{"a": "x", "b": "y"}, {"a": "z"}]
    expected = [{"a": "z"}, {"a": "x", "b": "q"}]
    # The second of both: 1 of 1. The first: x is right and y isn't, 1 of 2.
    assert score(predicted, expected) == pytest.approx(2 / 3)
    assert anls_score(expected, predicted) == pytest.approx(2 / 3)


@pytest.mark.parametrize("metrics", [["json_similarity"], ["json_similarity", "exact_match"]])
def test_alternatives_are_several_references(metrics: list[str]) -> None:
    references = ['"Bath"', '"Aquae Sulis"']
    hub = Hub(metrics)(predictions=['"aquae sulis"'], references=[references])
    assert hub["json_similarity"]["score"] == 1
    # A list of other texts is a value; it isn't clear which beside a metric of texts.
    assert score(["Bath"], ["Bath"]) == 1


def test_arrays_are_lists_and_none_is_refused() -> None:
    assert score({"a": np.array([1, 2]), "b": np.int64(3)}, {"a": [2, 1], "b": 3}) == 1
    for columns in ([None], ["1"]), (["1"], [None]):
        with pytest.raises(InputError, match=r"\[0\] is None; give JSON text or an object"):
            evaluated(*columns)


def test_a_reply_may_stand_in_a_fenced_block_and_nothing_else_around_it() -> None:
    assert score('Here it is:\n```json\n{"a": "x"}\n```', {"a": "x"}) == 1
    report = evaluated(['It is {"a": "x"}', '{"a": "x"'], [{"a": "x"}] * 2)
    assert report["json_similarity"] == {"score": 0, "parsed": 0}


def test_what_a_model_thinks_is_no_part_of_its_json() -> None:
    thinking = '<think>{"a": "y"} or\n```json\n{"a": "z"}\n```?</think>'
    for reply in ('{"a": "x"}', '```json\n{"a": "x"}\n```'):
        assert score(f"{thinking}\n{reply}", {"a": "x"}) == 1
    assert score('{"a": "<think>x"}', {"a": "<think>x"}) == 1
    assert evaluated(['<think>{"a": "x"}'], [{"a": "x"}])["json_similarity"]["parsed"] == 0


def test_a_note_says_that_json_among_words_isnt_read() -> None:
    replies, expected = ['Answer: {"a": "x"}', 'Here: {"a": "x"} ok?'], [{"a": "x"}] * 3
    (note,) = evaluated(replies, expected[:2]).notes()["json_similarity"]
    assert note.startswith("no prediction is JSON, so that all score 0; JSON may stand behind")
    assert not evaluated([*replies, "{}"], expected).notes().get("json_similarity")


def test_nothing_extracted_has_0_also_where_null_would_be_right() -> None:
    report = evaluated(["x\ny", "null"], ["null", "null"], extract="answer")
    assert report["json_similarity"] == {"score": 0.5, "parsed": 0.5}
    assert report.counts()["json_similarity"] == {"unextracted": 1}


def test_a_reference_that_isnt_json_is_unscored_with_the_reason() -> None:
    report = evaluated(["1"], ["{"])
    assert dict(report.results["json_similarity"].reasons) == {
        "the reference isn't JSON (truncated)": 1
    }


def test_the_threshold_decides_what_a_small_difference_earns() -> None:
    # help and hello: distance 2 of 5.
    assert [score('"hello"', '"help"', threshold=t) for t in (0, 0.6, 0.61)] == [0.6, 0.6, 0]


def test_lists_of_too_many_pairs_are_unanswered() -> None:
    # 3 * 3 pairs of lists, and 1 * 1 of items in each pair of them.
    predicted, expected = [[1], [2], [3]], [[4], [5], [6]]
    assert score(predicted, expected, max_pairs=18) == 0
    assert score(predicted, expected, max_pairs=None) == 0
    report = evaluated([predicted], [expected], max_pairs=17)
    assert report.counts()["json_similarity"] == {"unanswered": 1}
    assert "over 17 pairs of items" in report.notes()["json_similarity"][0]
    # 70 numbers in another order are found without a comparison.
    assert score(list(range(70)), list(range(70))[::-1], max_pairs=17) == 1


def test_a_flood_of_values_has_0() -> None:
    # 20 times the value and its list, and 1,000, are as many as may be, the list included.
    assert score(["a"] * 1039, ["a"]) == pytest.approx(1 / 1039)
    assert score(["a"] * 1040, ["a"]) == 0
    # Lists without a value take time, too.
    assert score([[]] * 1041, [[]]) == 0
    for hostile in ("[" * 100_000, "{" * 100_000, "9" * 1_000_000, json.dumps(["a"] * 300_000)):
        assert score(hostile, ["a"] * 40) == 0


def test_a_list_that_holds_the_other_is_compared_as_item_by_item(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(5)
    metric: Any = load_metric("json_similarity")
    values = [1, 2, 1.0, True, False, None, "", "a", "A", "abc", "abd", [], {}, [1, None], {"a": 1}]
    for _ in range(300):
        fewer = draw.choices(values, k=draw.randrange(1, 9))
        more = fewer + draw.choices(values, k=draw.randrange(3))
        draw.shuffle(more)
        both = [(fewer, more), (more, fewer)][draw.randrange(2)]
        scores = []
        for few_pairs in (-1, 10**9):
            monkeypatch.setattr("metric_cards.json_similarity._FEW_PAIRS", few_pairs)
            scores.append(metric.observe(*map(json.dumps, both)))
        assert scores[0] == scores[1], both
    monkeypatch.undo()
    # Item by item these would be a hundred million comparisons.
    numbers = list(range(10_000))
    assert metric.observe(json.dumps(numbers[::-1]), json.dumps(numbers)) == {
        "score": 1.0,
        "parsed": True,
    }
