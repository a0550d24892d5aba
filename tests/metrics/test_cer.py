"""Character error rate: jiwer 4.0 as oracle, white space, and code points as characters."""

from typing import Any

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WMT16, slow, texts, vectors

COUNTS = ("hits", "substitutions", "deletions", "insertions")
TEXT = st.text(st.sampled_from("aabbcÀaİßAé\u0301中😀.,-'»  \t\n\u00a0\u2028\u3000"), max_size=25)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8)


def cer(predictions: list[str], references: list[Any], **parameters: Any) -> dict[str, Any]:
    """The outputs for a corpus."""
    hub = Hub(metrics=load_metric("cer", **parameters))
    return dict(hub(predictions=predictions, references=references)["cer"])


def official(predictions: list[str], references: list[str], *transforms: Any) -> dict[str, float]:
    """What jiwer gives for characters; `process_characters` has no MER, WIL and WIP."""
    default = [jiwer.Strip(), jiwer.ReduceToListOfListOfChars()]
    transform = jiwer.Compose([*transforms, *default])
    found = jiwer.process_words(references, predictions, transform, transform)
    outputs = {name: float(getattr(found, name)) for name in ("mer", "wil", "wip", *COUNTS)}
    return {"score": float(found.wer), **outputs}


@pytest.mark.parametrize("vector", vectors("cer"))
def test_conformance(vector: dict[str, Any]) -> None:
    found = cer(vector["predictions"], vector["references"])["score"]
    assert found == pytest.approx(vector["expected"], abs=vector["tolerance"])


def test_every_edit_is_counted_by_its_kind() -> None:
    # kitten -> sitting: s for k, i for e, and the g that the prediction lacks.
    found = cer(["kitten"], ["sitting"])
    assert [found[name] for name in COUNTS] == [4, 2, 1, 0]
    assert found["score"] == pytest.approx(3 / 7)
    assert found["wip"] == pytest.approx(4 / 7 * 4 / 6)


# As jiwer 4.0 defines them: insertions for CER, and silence heard as silence is right.
@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [("hello", "", (5, 1, 1, 0)), ("", "hi", (1, 1, 1, 0)), (" ", "\n", (0, 0, 0, 1))],
)
def test_empty_texts_score_as_in_jiwer(
    prediction: str, reference: str, expected: tuple[float, ...]
) -> None:
    found = cer([prediction], [reference])
    assert (found["score"], found["mer"], found["wil"], found["wip"]) == expected


def test_double_spaces_count_and_those_at_the_ends_do_not() -> None:
    # "a  b" has one space more than the three characters of "a b".
    assert cer([" a  b\n"], ["a b"])["score"] == pytest.approx(1 / 3)


def test_a_character_is_a_code_point() -> None:
    # "e" and the combining accent for the one code point: a replacement and an insertion.
    assert cer(["e\u0301"], ["\u00e9"])["score"] == 2


def test_a_corpus_pools_its_counts() -> None:
    # 1 edit for 1 character and 0 for 3.
    assert cer(["b", "abc"], ["a", "abc"])["score"] == 1 / 4


def test_the_reference_with_the_lowest_rate_counts() -> None:
    found = cer(["grey"], [["gray sky", "gray"]])
    assert [found[name] for name in COUNTS] == [3, 1, 0, 0]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, 2 / 4),
        ({"lowercase": True}, 1 / 4),
        ({"punctuation": False}, 1 / 4),
        ({"lowercase": True, "punctuation": False}, 0),
    ],
)
def test_case_and_punctuation_can_be_ignored(parameters: dict[str, bool], expected: float) -> None:
    # One capital and one mark for four characters.
    assert cer(["Back!"], ["back"], **parameters)["score"] == expected


def test_the_default_is_that_of_jiwer() -> None:
    predictions, references = [" call  me.", "Ok"], ["Call me", " ok "]
    expected = jiwer.cer(references, predictions)
    assert cer(predictions, references)["score"] == pytest.approx(expected)


@given(PAIRS)
def test_corpora_equal_jiwer(pairs: list[tuple[str, str]]) -> None:
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    assert cer(predictions, references) == pytest.approx(official(predictions, references))


@given(PAIRS, st.booleans(), st.booleans())
def test_samples_and_parameters_equal_jiwer(
    pairs: list[tuple[str, str]], lowercase: bool, punctuation: bool
) -> None:
    transforms: list[Any] = [jiwer.ToLowerCase()] if lowercase else []
    transforms += [] if punctuation else [jiwer.RemovePunctuation()]
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    metric = load_metric("cer", lowercase=lowercase, punctuation=punctuation)
    report = Hub(metrics=metric).evaluate(predictions=predictions, references=references)
    rows = report.samples()["cer"]
    for row, pair in enumerate(pairs):
        expected = official([pair[0]], [pair[1]], *transforms)
        assert {name: rows[name][row] for name in expected} == pytest.approx(expected)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=4))
def test_several_references_equal_the_best_of_jiwer(prediction: str, references: list[str]) -> None:
    each = [official([prediction], [reference]) for reference in references]
    best = min(each, key=lambda outputs: outputs["score"])
    assert cer([prediction], [references]) == pytest.approx(best)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16)])
def test_real_texts_equal_jiwer(name: str) -> None:
    predictions, groups = texts(name)
    references = [group[0] for group in groups]
    report = Hub(metrics="cer").evaluate(predictions=predictions, references=references)
    assert report.scores()["cer"] == pytest.approx(official(predictions, references))
    samples = report.samples()["cer"]
    for row, (prediction, reference) in enumerate(zip(predictions, references, strict=True)):
        expected = official([prediction], [reference])
        assert {key: samples[key][row] for key in expected} == pytest.approx(expected)
