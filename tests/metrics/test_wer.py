"""Word error rate: jiwer 4.0 as oracle, its edge cases, and the choice among references."""

from typing import Any

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

RATES = ("wer", "mer", "wil", "wip")
COUNTS = ("hits", "substitutions", "deletions", "insertions")
TEXT = st.text(st.sampled_from("aabbcÀaİßAé\u0301中😀.,-'»  \t\n\u00a0\u2028\u3000"), max_size=25)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8)


def wer(predictions: list[str], references: list[Any], **parameters: Any) -> dict[str, Any]:
    """The outputs for a corpus."""
    hub = Hub(metrics=load_metric("wer", **parameters))
    return dict(hub(predictions=predictions, references=references)["wer"])


def official(predictions: list[str], references: list[str], *transforms: Any) -> dict[str, float]:
    """What jiwer gives, some transforms standing before its default ones."""
    default = [jiwer.RemoveMultipleSpaces(), jiwer.Strip(), jiwer.ReduceToListOfListOfWords()]
    transform = jiwer.Compose([*transforms, *default])
    found = jiwer.process_words(references, predictions, transform, transform)
    outputs = {name: float(getattr(found, name)) for name in (*RATES, *COUNTS)}
    return {"score": outputs.pop("wer"), **outputs}


@pytest.mark.parametrize("vector", vectors(*RATES))
def test_conformance(vector: dict[str, Any]) -> None:
    output = {"wer": "score"}.get(vector["metric"], vector["metric"])
    found = wer(vector["predictions"], vector["references"])[output]
    assert found == pytest.approx(vector["expected"], abs=vector["tolerance"])


# Values of Morris et al. (2004), as the tests of jiwer give them.
@pytest.mark.parametrize(
    ("reference", "prediction", "rates"),
    [
        ("X", "X", (0, 0, 0)),
        ("X", "X X Y Y", (3, 3 / 4, 3 / 4)),
        ("X Y X", "X Z", (2 / 3, 2 / 3, 5 / 6)),
        ("X", "Y", (1, 1, 1)),
        ("X", "Y Z", (2, 1, 1)),
    ],
)
def test_the_examples_of_the_paper(
    reference: str, prediction: str, rates: tuple[float, float, float]
) -> None:
    found = wer([prediction], [reference])
    assert (found["score"], found["mer"], found["wil"]) == pytest.approx(rates)


def test_words_left_out_and_added_leave_the_hits_between_them() -> None:
    # "a" is deleted and "f" inserted: 2 edits for 5 words, 4 hits of 5 on both sides.
    found = wer(["b c d e f"], ["a b c d e"])
    assert [found[name] for name in COUNTS] == [4, 0, 1, 1]
    assert found["score"] == pytest.approx(2 / 5)
    assert found["mer"] == pytest.approx(2 / 6)
    assert found["wip"] == pytest.approx((4 / 5) ** 2)


# jiwer 4.0: "insertions" for WER without a reference, and silence heard as silence is right.
@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("hello there", "", (2, 1, 1, 0)),
        ("", "hello there", (1, 1, 1, 0)),
        ("", "", (0, 0, 0, 1)),
        (" \n ", "\t", (0, 0, 0, 1)),
    ],
)
def test_empty_texts_score_as_in_jiwer(
    prediction: str, reference: str, expected: tuple[float, ...]
) -> None:
    found = wer([prediction], [reference])
    assert (found["score"], found["mer"], found["wil"], found["wip"]) == expected


def test_a_corpus_pools_its_counts() -> None:
    # One insertion for 1 word and one deletion for 3: 2 edits for 4 words.
    found = wer(["i am", "i good"], ["i", "am i good"])
    assert found["score"] == 2 / 4
    assert [found[name] for name in COUNTS] == [3, 0, 1, 1]


def test_the_reference_with_the_lowest_rate_counts() -> None:
    # Against "a b" 2 edits for 2 words, against "c d e" 1 for 3.
    found = wer(["c d"], [["a b", "c d e"]])
    assert found["score"] == pytest.approx(1 / 3)
    assert [found[name] for name in COUNTS] == [2, 0, 1, 0]


def test_the_mean_of_the_references_weighs_their_counts_alike() -> None:
    # Half of (2 edits, 2 words) and half of (1 edit, 3 words): 1.5 edits for 2.5 words.
    hub = Hub(metrics="wer", reduce="mean")
    found = hub(predictions=["c d"], references=[["a b", "c d e"]])["wer"]
    assert found["score"] == pytest.approx(1.5 / 2.5)


def test_a_mean_with_an_empty_reference_divides_by_its_own_length() -> None:
    # Half of (1 insertion, 0 words) and half of (0 edits, 1 word): 0.5 edits for 0.5 words.
    hub = Hub(metrics="wer", reduce="mean")
    found = hub(predictions=["c"], references=[["", "c"]])["wer"]
    assert found["score"] == pytest.approx(1)


def test_a_lone_tab_or_no_break_space_joins_words_as_in_jiwer() -> None:
    assert wer(["a\tb c\u00a0d"], ["a b c d"])["hits"] == 0
    assert wer(["a \t b  \n c d"], ["a b c d"])["score"] == 0


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, 3 / 4),
        ({"lowercase": True}, 2 / 4),
        ({"punctuation": False}, 1 / 4),
        ({"lowercase": True, "punctuation": False}, 0),
    ],
)
def test_case_and_punctuation_can_be_ignored(parameters: dict[str, bool], expected: float) -> None:
    # "Please" differs in case, "call," and "back!" in punctuation.
    found = wer(["Please call, me back!"], ["please call me back"], **parameters)
    assert found["score"] == expected


@given(PAIRS)
def test_corpora_equal_jiwer(pairs: list[tuple[str, str]]) -> None:
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    assert wer(predictions, references) == pytest.approx(official(predictions, references))


@given(PAIRS, st.booleans(), st.booleans())
def test_samples_and_parameters_equal_jiwer(
    pairs: list[tuple[str, str]], lowercase: bool, punctuation: bool
) -> None:
    transforms: list[Any] = [jiwer.ToLowerCase()] if lowercase else []
    transforms += [] if punctuation else [jiwer.RemovePunctuation()]
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    metric = load_metric("wer", lowercase=lowercase, punctuation=punctuation)
    report = Hub(metrics=metric).evaluate(predictions=predictions, references=references)
    rows = report.samples()["wer"]
    for row, pair in enumerate(pairs):
        expected = official([pair[0]], [pair[1]], *transforms)
        assert {name: rows[name][row] for name in expected} == pytest.approx(expected)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=4))
def test_several_references_equal_the_best_of_jiwer(prediction: str, references: list[str]) -> None:
    each = [official([prediction], [reference]) for reference in references]
    best = min(each, key=lambda outputs: outputs["score"])
    assert wer([prediction], [references]) == pytest.approx(best)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16)])
def test_real_texts_equal_jiwer(name: str) -> None:
    predictions, groups = texts(name)
    references = [group[0] for group in groups]
    report = Hub(metrics="wer").evaluate(predictions=predictions, references=references)
    assert report.scores()["wer"] == pytest.approx(official(predictions, references))
    samples = report.samples()["wer"]
    for row, (prediction, reference) in enumerate(zip(predictions, references, strict=True)):
        expected = official([prediction], [reference])
        assert {key: samples[key][row] for key in expected} == pytest.approx(expected)


@pytest.mark.parametrize("number", [100, 200, 40_000])
def test_many_different_words_are_all_told_apart(number: int) -> None:
    # Each size of vocabulary is held by another type: ids of 1 byte, of 2, and of more.
    predictions = " ".join(f"a{i}" for i in range(number))
    references = " ".join(f"b{i}" for i in range(number))
    assert wer([predictions], [references])["score"] == 1
    assert wer([references], [references])["score"] == 0


@pytest.mark.corpora
def test_the_best_references_of_webnlg_give_the_published_pooled_rate() -> None:
    predictions, references = texts(WEBNLG)
    report = Hub(metrics="wer").evaluate(predictions=predictions, references=references)
    # jiwer over the best reference of each sample: 0.644 pooled, 0.585 as a mean of samples.
    assert report.scores()["wer"]["score"] == pytest.approx(0.644, abs=5e-4)
    assert report.samples()["wer"]["score"].mean() == pytest.approx(0.585, abs=5e-4)
