"""JSON fields: which fields of a reply are right, by path and by how values are compared."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metric_cards.json_fields.fields import fields_of
from metrichub import Hub, Report, load_metric
from metrichub.errors import ParameterError


def evaluated(predictions: Any, references: Any, **options: Any) -> Report:
    extract = options.pop("extract", None)
    hub = Hub(load_metric("json_fields", **options), extract=extract)
    return hub.evaluate(predictions=predictions, references=references)


def rates(prediction: Any, reference: Any, **options: Any) -> tuple[float, float, float]:
    scores = evaluated([prediction], [reference], **options)["json_fields"]
    return scores["precision"], scores["recall"], scores["score"]


def equal(first: Any, second: Any, comparator: str) -> float:
    return rates({"a": first}, {"a": second}, comparators=[comparator])[2]


def test_values_have_paths() -> None:
    value = {"a": [{"b": 1}, {"b": 2, "c d": True}], "e.f": {"": "x"}, 'q"': "y", "none": [{}, ""]}
    assert list(fields_of(value, by_index=False)) == [
        *(("a[].b", 1), ("a[].b", 2), ("a[].c d", True)),
        *(('"e.f".""', "x"), ('"q\\""', "y")),
    ]
    assert [path for path, _ in fields_of([[1], 2], by_index=True)] == ["[0][0]", "[1]"]
    assert list(fields_of("x", by_index=False)) == [("(value)", "x")]


def test_fields_are_counted_one_to_one_under_each_path() -> None:
    value = {"a": 1, "b": ["x", "x", "y"], "c": None}
    expected = {"a": 2, "b": ["y", "x"], "d": "z"}
    # Right: x and y. Four fields were written, four expected.
    assert rates(value, expected) == (0.5, 0.5, 0.5)
    report = evaluated([value], [expected])
    assert {row[0]: row[4:] for row in report.tables()["json_fields"]["paths"][1:]} == {
        "a": [0, 1, 1],
        "b[]": [2, 3, 2],
        "d": [0, 0, 1],
    }
    # Of b: 2 of 3 and 2 of 2, F1 4/5; a and d have 0.
    assert report["json_fields"]["macro_f1"] == pytest.approx(4 / 5 / 3)
    assert rates(value, expected, lists="index") == (0.25, 0.25, 0.25)


def test_keys_in_other_unicode_forms_are_equal() -> None:
    predicted, expected = {"e\u0301": "1"}, {"é": 1}
    assert rates({"e\u0301": 1}, expected) == (1, 1, 1)
    assert rates(predicted, expected, comparators=["e\u0301=number"]) == (1, 1, 1)


def test_what_holds_no_value_is_no_field() -> None:
    assert rates({"a": "x", "b": None, "c": {}, "d": ""}, {"a": "x", "e": [[], None]}) == (1, 1, 1)


@pytest.mark.parametrize(
    ("first", "second", "comparator", "similarity"),
    [
        (1, 1.0, "exact", 1),
        (1, True, "exact", 0),
        ("1", 1, "exact", 0),
        ("e\u0301", "é", "exact", 1),
        ("Bath ", "bath", "exact", 0),
        ("Bath  A", " bath a", "text", 1),
        ("1", 1, "text", 1),
        ("1.0", 1, "text", 0),
        ("1.0", 1, "number", 1),
        (" 1,250.50", 1250.5, "number", 1),
        ("12,50", 12.5, "number", 0),
        ("1,2,3", 123, "number", 0),
        ("About", "about", "number", 1),
        (True, 1, "number", 0),
        ("hello", "Help", "similar", 0.6),
        ("hello", "yes", "similar", 0),
        (10.5, "10.5", "similar", 1),
    ],
)
def test_values_are_equal_as_the_comparator_says(
    first: Any, second: Any, comparator: str, similarity: float
) -> None:
    assert equal(first, second, comparator) == pytest.approx(similarity)
    assert equal(second, first, comparator) == pytest.approx(similarity)


def test_a_path_may_have_a_comparator_of_its_own() -> None:
    predicted, expected = {"a": "1.0", "b": ["X"]}, {"a": 1, "b": ["x"]}
    assert rates(predicted, expected)[2] == 0
    assert rates(predicted, expected, comparators=["a=number"])[2] == 0.5
    assert rates(predicted, expected, comparators=["a=number", "text"])[2] == 1
    assert rates(predicted, expected, comparators=["b[]=similar", "number"])[2] == 1
    for wrong in (["near"], ["a=near"], ["a="]):
        with pytest.raises(ParameterError, match="or one for a path, as in 'total=number'"):
            load_metric("json_fields", comparators=wrong)


def test_a_note_names_the_path_of_a_comparator_that_no_sample_has(tmp_path: Path) -> None:
    comparators = ["text", "born=number", "bron=number", "died=number"]
    report = evaluated([{"born": 1}, {"died": 2}], [{"born": 1}] * 2, comparators=comparators)
    notes = ["no sample has a field 'bron', which has a comparator"]
    assert report.notes()["json_fields"] == notes
    other = evaluated(["{}"], ["{}"], comparators=comparators)
    assert report.merge(other).notes()["json_fields"] == notes
    report.pool().save(tmp_path / "pooled.json")
    assert Report.load(tmp_path / "pooled.json").notes()["json_fields"] == notes


def test_a_note_says_that_json_among_words_isnt_read() -> None:
    report = evaluated(['Answer: {"a": 1}', 'See: {"a": 1}.'], [{"a": 1}] * 2)
    (note,) = report.notes()["json_fields"]
    assert note.startswith("no prediction is JSON, so that all score 0")
    assert not evaluated(['<think>?</think>{"a": 1}'], [{"a": 1}]).notes().get("json_fields")


def test_similar_lists_are_paired_for_the_best_sum() -> None:
    # abcd with abce (.75) and abxx with abcd (.5), rather than abcd with itself and 0 left.
    result = rates(["abcd", "abce"], ["abxx", "abcd"], comparators=["similar"])
    assert result[2] == pytest.approx(max(1 + 0.5, 0.5 + 0.75) / 2)


def test_whole_samples_are_exact_or_not() -> None:
    predicted = [{"a": 1}, {"a": 1, "b": 2}, {}, "no", {"a": "helo"}]
    expected = [{"a": 1}, {"a": 1}, {}, {}, {"a": "hello"}]
    report = evaluated(predicted, expected, comparators=["similar"])
    samples = report.samples()["json_fields"]
    assert samples["exact"].tolist() == [1, 0, 1, 0, 0]
    assert samples["score"].tolist() == pytest.approx([1, 2 / 3, 1, 0, 0.8])
    assert report["json_fields"]["parsed"] == 4 / 5
    assert report.intervals()["json_fields"]["exact"].method == "Wilson"


def test_nothing_extracted_has_no_field() -> None:
    report = evaluated(["x\ny", "Answer: 1"], ["{}", "1"], extract="answer")
    scores = report["json_fields"]
    assert (scores["exact"], scores["parsed"]) == (0.5, 0.5)
    assert report.counts()["json_fields"]["unextracted"] == 1


def test_a_reference_that_isnt_json_is_unscored_with_the_reason() -> None:
    report = evaluated(["1", "1"], ["", "1"])
    assert dict(report.results["json_fields"].reasons) == {"the reference isn't JSON (empty)": 1}
    assert report["json_fields"]["score"] == 1


VALUES = st.sampled_from(["a", "b", 1, 2, False])
FORMS = st.dictionaries(st.sampled_from("xyz"), VALUES | st.lists(VALUES, max_size=3), max_size=3)


@given(st.lists(st.tuples(FORMS, FORMS), min_size=1, max_size=4))
def test_any_forms_score_as_multisets_of_paths_and_values(pairs: list[tuple[Any, Any]]) -> None:
    bags = [
        [
            Counter(
                (key, json.dumps(item))
                for key, value in form.items()
                for item in (value if isinstance(value, list) else [value])
            )
            for form in pair
        ]
        for pair in pairs
    ]
    right = sum((result & expected).total() for result, expected in bags)
    size = sum(result.total() + expected.total() for result, expected in bags)
    # A list of one and its item have other paths.
    kinds = {(k, isinstance(v, list)) for pair in pairs for form in pair for k, v in form.items()}
    assume(len(kinds) == len({key for key, _ in kinds}))
    predictions, references = (list(side) for side in zip(*pairs, strict=True))
    score = evaluated(predictions, references)["json_fields"]["score"]
    assert score == pytest.approx(2 * right / size if size else 0)


def test_hostile_replies_are_read_in_linear_time() -> None:
    # Ten thousand paths, a flood under one path, and what isn't JSON.
    flood = json.dumps({"a": ["x"] * 200_000, **{f"k{n}": n for n in range(10_000)}})
    report = evaluated([flood, "[" * 100_000], [{"a": ["x", "y"]}] * 2, comparators=["similar"])
    assert report["json_fields"]["recall"] == 0.25
    assert len(report.tables()["json_fields"]["paths"]) == 1 + 100 + 1


def test_many_values_below_a_very_long_path_take_no_more_room() -> None:
    # Of 20,000 values, each with a path of a million characters, these would be 20 GB.
    def nested(key: str) -> dict[str, Any]:
        value: Any = {str(n): n for n in range(20_000)}
        for _ in range(90):
            value = {key * 11_000: value}
        return {"long": value, "a": 1}

    assert rates(nested("x"), nested("x")) == (1, 1, 1)
    assert rates(nested("x"), nested("y"))[2] == pytest.approx(1 / 20_001)


def test_of_several_references_the_best_counts() -> None:
    result, references = [{"a": 1, "b": 2}], [['{"c": 3}', '{"a": 1}', '{"b": 3}']]
    for metrics in (["json_fields"], ["json_fields", "exact_match"]):
        columns = {"predictions": list(map(json.dumps, result)), "references": references}
        scores = Hub(metrics)(**columns)["json_fields"]
        assert (scores["precision"], scores["recall"]) == (1 / 2, 1)
    # Also of replies some of which aren't JSON; each of them counts.
    replies = ["No.", '```json\n{"a": 1}\n```', '{"a": 1}']
    assert evaluated([replies], [{"a": 1}])["json_fields"]["exact"] == pytest.approx(2 / 3)
