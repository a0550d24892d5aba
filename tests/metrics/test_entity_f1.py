"""Entity F1: nervaluate's schemes, seqeval's tags, and what a model writes that is no entity."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nervaluate import Evaluator

from metric_cards.entity_f1.reading import read_tags
from metrichub import Hub, Report, load_metric
from tests.vectors import answer_vectors

SCHEMES = ("strict", "exact", "partial", "ent_type")
MATCHES = ("correct", "incorrect", "partial", "missed", "spurious")
TAGS = [case.values[0] for case in answer_vectors("entity_f1 (BIO tags)")]
SPANS = answer_vectors(
    "entity_f1 (MUC / SemEval 2013: strict, exact, partial, ent_type)",
)


def evaluated(predictions: Any, references: Any, **options: Any) -> Report:
    extract = options.pop("extract", None)
    hub = Hub(load_metric("entity_f1", **options), extract=extract)
    return hub.evaluate(predictions=predictions, references=references)


def scores(predictions: Any, references: Any, **options: Any) -> dict[str, float]:
    return evaluated(predictions, references, **options)["entity_f1"]


def rates(scores: dict[str, float]) -> list[float]:
    return [scores["precision"], scores["recall"], scores["score"]]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("row", SPANS)
def test_spans_match_as_in_nervaluate(row: dict[str, Any], scheme: str) -> None:
    report = evaluated(**row["inputs"], form="spans", scheme=scheme, **row["params"])
    expected = row["expected"][scheme]
    assert rates(report["entity_f1"]) == pytest.approx(
        [expected[name] for name in ("precision", "recall", "f1")]
    )
    head, numbers = report.tables()["entity_f1"]["matches"]
    assert dict(zip(head, numbers, strict=True)) == {name: expected[name] for name in MATCHES}


PIECES = st.lists(
    st.tuples(st.sampled_from(["A", "B"]), st.integers(0, 2), st.integers(1, 3)), max_size=5
)


def spans_of(pieces: list[tuple[str, int, int]]) -> list[dict[str, Any]]:
    """Spans that don't overlap each other, each so many places long behind so large a gap."""
    spans, place = [], 0
    for label, gap, length in pieces:
        start = place + gap
        spans.append({"label": label, "start": start, "end": start + length - 1})
        place = start + length
    return spans


@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=3))
def test_any_spans_score_as_in_nervaluate(pairs: list[tuple[Any, Any]]) -> None:
    predictions, references = (
        [spans_of(text) for text in side] for side in zip(*pairs, strict=True)
    )
    expected = Evaluator(references, predictions, tags=["A", "B"], loader="dict").evaluate()
    for scheme in SCHEMES:
        counts = expected["overall"][scheme]
        result = scores(predictions, references, form="spans", scheme=scheme)
        assert rates(result) == pytest.approx([counts.precision, counts.recall, counts.f1]), scheme


def test_an_equal_span_is_taken_before_one_that_merely_overlaps() -> None:
    # nervaluate gives the reference to the first prediction, as incorrect, and none is right.
    spans = [{"label": "A", "start": 0, "end": 1}, {"label": "A", "start": 0, "end": 3}]
    expected = spans[1:]
    official = Evaluator([expected], [spans], tags=["A"], loader="dict").evaluate()
    assert official["overall"]["strict"].correct == 0
    assert rates(scores([spans], [expected], form="spans")) == pytest.approx([1 / 2, 1, 2 / 3])
    assert rates(scores([spans[::-1]], [expected], form="spans")) == pytest.approx(
        [1 / 2, 1, 2 / 3]
    )


@pytest.mark.parametrize("row", TAGS)
def test_tags_are_read_as_by_seqeval(row: dict[str, Any]) -> None:
    expected = row["expected"]
    result = scores(**row["inputs"], form="tags")
    assert rates(result) == [expected[name] for name in ("precision", "recall", "f1")]
    assert result["macro_f1"] == pytest.approx(float(expected["macro_f1"]), nan_ok=True)
    strict = evaluated(**row["inputs"], form="tags", repair=False)
    if isinstance(expected["strict_iob2_micro"], dict):
        # seqeval fails for tags without a prefix, which strict IOB2 doesn't have.
        (reason,) = strict.results["entity_f1"].reasons
        assert "its tag 'PER' isn't one of IOB2 (B-…, I-… or O)" in reason
    else:
        assert rates(strict["entity_f1"]) == expected["strict_iob2_micro"]


def test_the_accuracy_of_tags_is_that_of_classification() -> None:
    for row in TAGS:
        flat = {
            side: [tag for tags in rows for tag in tags] for side, rows in row["inputs"].items()
        }
        accuracy = Hub("classification")(**flat)["classification"]["accuracy"]
        assert accuracy == pytest.approx(row["expected"]["accuracy"])


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        # By hand, from the rules of CoNLL's evaluation: B, a new label, or what follows O, E or S
        # begins an entity.
        ("B-A I-A O I-A", [("A", 0, 1), ("A", 3, 3)]),
        ("I-A I-B B-B", [("A", 0, 0), ("B", 1, 1), ("B", 2, 2)]),
        ("B-A E-A I-A", [("A", 0, 1), ("A", 2, 2)]),
        ("S-A I-A U-A L-A", [("A", 0, 0), ("A", 1, 1), ("A", 2, 2), ("A", 3, 3)]),
        ("PER PER ORG O A-X", [("PER", 0, 1), ("ORG", 2, 2), ("A-X", 4, 4)]),
        ("B-x-y I-x-y", [("x-y", 0, 1)]),
    ],
)
def test_tags_become_spans(tags: str, spans: list[tuple[str, int, int]]) -> None:
    expected = [{"label": label, "start": start, "end": end} for label, start, end in spans]
    assert [span._asdict() for span in read_tags(tags, repair=True)] == expected
    assert read_tags(tags.split(), repair=True) == read_tags(tags, repair=True)


def test_pairs_are_read_in_all_their_forms() -> None:
    ways = [
        [["place", "Bath"], ["place", "New York"], ["year", "1843"]],
        [
            {"entity_group": "place", "word": "Bath"},
            {"type": "place", "value": "New  York"},
            {"label": "year", "text": 1843},
        ],
        {"place": ["New York", "Bath"], "year": 1843},
        'Sure:\n```json\n{"place": ["New York", "Bath"], "year": "1843"}\n```',
    ]
    for way in ways:
        assert rates(scores([way], [ways[0]])) == [1, 1, 1]
    # Each as often as it is there.
    assert rates(scores([ways[0][:1] * 2], [ways[0][:1]])) == pytest.approx([1 / 2, 1, 2 / 3])


@pytest.mark.parametrize(
    ("form", "prediction"),
    [
        ("pairs", "none"),
        ("pairs", '[["place"]]'),
        ("pairs", '[{"label": "place"}]'),
        ("pairs", '[{"text": "Bath"}]'),
        ("pairs", '{"place": [null]}'),
        ("spans", '[{"label": "a", "start": "0", "end": 1}]'),
        ("spans", '[{"label": "a", "start": 3, "end": 1}]'),
        ("spans", '[{"start": 0, "end": 1}]'),
        ("spans", "{}"),
        ("tags", "[1]"),
        ("tags", '{"a": 1}'),
    ],
)
def test_a_prediction_of_another_form_has_no_entities(form: str, prediction: str) -> None:
    right: dict[str, Any] = {
        "pairs": [["place", "Bath"]],
        "spans": [{"label": "place", "start": 0, "end": 3}],
        "tags": ["B-place"],
    }
    result = scores([prediction, json.dumps(right[form])], [right[form]] * 2, form=form)
    assert result["parsed"] == 0.5
    assert rates(result) == pytest.approx([1, 1 / 2, 2 / 3])
    report = evaluated([prediction], [prediction], form=form)
    assert report.counts()["entity_f1"]["unscored"] == 1
    (reason,) = report.results["entity_f1"].reasons
    assert reason.startswith(f"the reference has no entities in the form of {form}: it")


def test_nothing_to_find_and_nothing_found_is_right_for_the_sample_alone() -> None:
    report = evaluated([[], "none", [["a", "b"]]], [[], [], []])
    assert report.samples()["entity_f1"]["score"].tolist() == [1, 0, 0]
    assert report["entity_f1"]["score"] == 0
    assert evaluated(["x\ny"], [[]], extract="answer")["entity_f1"]["parsed"] == 0


def test_labels_have_their_strict_rates_whatever_the_scheme() -> None:
    spans = [{"label": "A", "start": 0, "end": 1}, {"label": "B", "start": 4, "end": 4}]
    expected = [{"label": "A", "start": 0, "end": 2}, {"label": "B", "start": 4, "end": 4}]
    report = evaluated([spans], [expected], form="spans", scheme="partial")
    assert report["entity_f1"]["score"] == 0.75
    assert report["entity_f1"]["macro_f1"] == 0.5
    assert report.tables()["entity_f1"]["labels"][1:] == [
        ["A", 0, 0, 0, 0, 1, 1],
        ["B", 1, 1, 1, 1, 1, 1],
    ]


def test_of_several_references_the_best_counts_and_those_of_another_form_do_not() -> None:
    references = ['[["place", "Ely"]]', '[["place", "Bath"]]', '"none"']
    assert scores(['[["place", "Bath"]]'], [references])["score"] == 1
    report = evaluated([[]], [['"none"', '"some"']])
    assert report.counts()["entity_f1"]["unscored"] == 1


def test_what_a_model_thinks_is_no_part_of_its_entities() -> None:
    pairs = scores(['<think>[["a", "c"]]</think>[["a", "b"]]'], [[["a", "b"]]])
    tags = scores(["<think>B-PER?</think> O B-PER"], ["O B-PER"], form="tags")
    assert (pairs["score"], tags["score"]) == (1, 1)


def test_a_note_says_that_entities_among_words_arent_read() -> None:
    report = evaluated(['Here: [["a", "b"]]'], [[["a", "b"]]])
    (note,) = report.notes()["entity_f1"]
    assert note.startswith("no prediction is JSON in the form of pairs, so that all score 0")


@pytest.mark.parametrize("tags", ["O B-PER I-PER", ["O", "B-PER"], '["B-PER", "O"]'])
def test_tags_that_are_read_as_another_form_are_pointed_to_theirs(tags: Any) -> None:
    for form in ("pairs", "spans"):
        (reason,) = evaluated([tags], [tags], form=form).results["entity_f1"].reasons
        assert reason.endswith("; if these are tags, use form='tags'")
    (reason,) = evaluated(["Only B"], ["Only B"]).results["entity_f1"].reasons
    assert "tags" not in reason
