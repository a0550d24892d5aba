"""Edit similarity: rapidfuzz as oracle, textbook distances, and the two units."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

OUTPUTS = {"edit_similarity": "score", "levenshtein": "distance"}
TEXT = st.text(
    st.sampled_from("aabbcÀaİßAé\u0301中😀\ud800.,  \t\n\u00a0\u2028\u3000"), max_size=25
)


def similarity(predictions: list[str], references: list[Any], unit: str = "char") -> dict[str, Any]:
    """The outputs for a corpus."""
    hub = Hub(metrics=load_metric("edit_similarity", unit=unit))
    return dict(hub(predictions=predictions, references=references)["edit_similarity"])


def official(prediction: str, reference: str, unit: str) -> dict[str, float]:
    """The similarity of one pair by rapidfuzz."""
    first, other = (
        list(text) if unit == "char" else text.split() for text in (prediction, reference)
    )
    return {
        "score": Levenshtein.normalized_similarity(first, other),
        "distance": float(Levenshtein.distance(first, other)),
    }


@pytest.mark.parametrize("vector", vectors(*OUTPUTS))
def test_conformance(vector: dict[str, Any]) -> None:
    result = similarity(vector["predictions"], vector["references"])[OUTPUTS[vector["metric"]]]
    assert result == pytest.approx(vector["expected"], abs=vector["tolerance"])


# Textbook distances, over the length of the longer word.
@pytest.mark.parametrize(
    ("prediction", "reference", "distance", "longer"),
    [("kitten", "sitting", 3, 7), ("flaw", "lawn", 2, 4), ("", "abc", 3, 3), ("abc", "", 3, 3)],
)
def test_textbook_distances(prediction: str, reference: str, distance: int, longer: int) -> None:
    result = similarity([prediction], [reference])
    assert result == {"score": pytest.approx(1 - distance / longer), "distance": distance}


@pytest.mark.parametrize("unit", ["char", "word"])
def test_two_empty_texts_are_equal(unit: str) -> None:
    assert similarity([""], [""], unit) == {"score": 1, "distance": 0}


def test_a_word_is_one_edit_in_words_and_its_letters_are_in_characters() -> None:
    # "cat" for "dog": 1 of 2 words; 3 of 7 characters.
    assert similarity(["a cat"], ["a dog"], "word") == {"score": 1 / 2, "distance": 1}
    assert similarity(["the cat"], ["the dog"]) == {"score": pytest.approx(4 / 7), "distance": 3}


def test_white_space_counts_in_characters_only() -> None:
    # Two of five characters are added.
    assert similarity([" a  b"], ["a b"])["score"] == pytest.approx(3 / 5)
    assert similarity([" a  b"], ["a b"], "word")["score"] == 1


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8), st.sampled_from(["char", "word"]))
def test_samples_equal_rapidfuzz(pairs: list[tuple[str, str]], unit: str) -> None:
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    hub = Hub(metrics=load_metric("edit_similarity", unit=unit))
    report = hub.evaluate(predictions=predictions, references=references)
    rows = report.samples()["edit_similarity"]
    each = [official(*pair, unit) for pair in pairs]
    for name, total in report.scores()["edit_similarity"].items():
        expected = [outputs[name] for outputs in each]
        assert rows[name] == pytest.approx(expected)
        assert total == pytest.approx(sum(expected) / len(pairs))


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16)])
@pytest.mark.parametrize("unit", ["char", "word"])
def test_real_texts_equal_rapidfuzz(name: str, unit: str) -> None:
    predictions, references = texts(name)
    first = [group[0] for group in references]
    each = [official(*pair, unit) for pair in zip(predictions, first, strict=True)]
    hub = Hub(metrics=load_metric("edit_similarity", unit=unit))
    report = hub.evaluate(predictions=predictions, references=first)
    for output, samples in report.samples()["edit_similarity"].items():
        assert samples == pytest.approx([outputs[output] for outputs in each])


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WEBNLG)])
def test_the_best_of_several_references_equals_rapidfuzz(name: str) -> None:
    predictions, references = texts(name)
    expected = [
        max(official(prediction, reference, "char")["score"] for reference in group)
        for prediction, group in zip(predictions, references, strict=True)
    ]
    report = Hub(metrics="edit_similarity").evaluate(predictions=predictions, references=references)
    assert report.samples()["edit_similarity"]["score"] == pytest.approx(expected)
