"""Translation edit rate: sacrebleu 2.6 as oracle, with all switches and several references."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

SWITCHES = ("normalized", "no_punct", "asian_support", "case_sensitive")
PIECES = (
    *("the", "The", "cat", "cat,", "dog.", "1,000.5", "a-b", "3-4", "Tom's", "'s", "(x)", "..5"),
    *(",a", "&amp;", "&quot;hi&quot;", "&amp;lt;", "\n-", "-\n", "x\n", "\t", "\u3000", "\u00a0"),
    *(
        "今天",
        "天气。",
        "カタカナ",
        "ひらがな",
        "「x」",
        "！",
        "㈱",
        "e\u0301",
        "İ",
        "ς",
        "\0",
        "😀",
    ),
)
TEXT = st.lists(st.sampled_from(PIECES), max_size=10).map(" ".join)
SAMPLES = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)


def official(predictions: list[str], references: list[list[str]], **switches: bool) -> Any:
    """The score by sacrebleu of a corpus whose samples may differ in numbers of references."""
    most = max(map(len, references))
    streams: list[list[str | None]] = [
        [group[i] if i < len(group) else None for group in references] for i in range(most)
    ]
    return TER(**switches).corpus_score(predictions, streams)  # type: ignore[arg-type]  # None pads


def assert_equal(scores: dict[str, float], expected: Any) -> None:
    assert scores["score"] == pytest.approx(expected.score / 100, abs=1e-12)
    assert scores["edits"] == expected.num_edits
    assert scores["reference_length"] == pytest.approx(expected.ref_length)


@pytest.mark.parametrize("vector", vectors("ter_corpus", "ter_edits"))
def test_conformance(vector: dict[str, Any]) -> None:
    parameters = dict(vector["params"])
    scale = parameters.pop("scale", 1)
    hub = Hub(metrics=load_metric("ter", **parameters))
    scores = hub(predictions=vector["predictions"], references=vector["references"])["ter"]
    expected = vector["expected"]
    if vector["metric"] == "ter_edits":
        assert scores["edits"] == expected
    elif isinstance(expected, dict):
        assert scale * scores["score"] == pytest.approx(expected["score"], abs=vector["tolerance"])
        assert scores["edits"] == expected["num_edits"]
        assert scores["reference_length"] == expected["ref_length"]
    else:
        assert scale * scores["score"] == pytest.approx(expected, abs=vector["tolerance"])


# The tests of sacrebleu: one shift of eight words, empty texts, all words wrong.
@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("d e f g h a b c", "a b c d e f g h", 1 / 8),
        ("", "a", 1),
        ("a", "", 1),
        ("", "", 0),
        ("dddd eeee ffff", "aaaa bbbb cccc", 1),
    ],
)
def test_the_examples_of_sacrebleu(prediction: str, reference: str, expected: float) -> None:
    assert Hub(metrics="ter")(predictions=[prediction], references=[reference])["ter"][
        "score"
    ] == pytest.approx(expected)


def test_the_closest_reference_gives_the_edits_and_all_give_the_length() -> None:
    # "a b c" needs 0 edits; the mean of 3 and 5 words is 4.
    scores = Hub(metrics="ter")(predictions=["a b c"], references=[["a b c", "v w x y z"]])["ter"]
    assert scores == {"score": 0, "edits": 0, "reference_length": 4}
    # 1 edit against "a b d", of 3 and 1 words: 1/2.
    scores = Hub(metrics="ter")(predictions=["a b c"], references=[["a b d", "z"]])["ter"]
    assert scores == {"score": 0.5, "edits": 1, "reference_length": 2}


def test_a_corpus_pools_its_edits() -> None:
    # 1 edit for 3 words and 2 for 2: 3/5, where the mean of the rates is 2/3.
    hub = Hub(metrics="ter")(predictions=["a b c d", "x y"], references=["a b c", "p q"])
    assert hub["ter"]["edits"] == 3
    assert hub["ter"]["score"] == pytest.approx(3 / 5)


@given(SAMPLES, st.tuples(*[st.booleans()] * 4))
def test_corpora_and_samples_equal_sacrebleu(
    samples: list[tuple[str, list[str]]], values: tuple[bool, ...]
) -> None:
    switches = dict(zip(SWITCHES, values, strict=True))
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    hub = Hub(metrics=load_metric("ter", **switches))
    report = hub.evaluate(predictions=predictions, references=references)
    assert_equal(report.scores()["ter"], official(predictions, references, **switches))
    rows = report.samples()["ter"]
    for row, (prediction, group) in enumerate(samples):
        expected = TER(**switches).sentence_score(prediction, group)
        assert_equal({name: rows[name][row] for name in rows}, expected)


# Summaries are long for the shifts of sacrebleu: a few, so that the test takes seconds.
@pytest.mark.parametrize(
    ("name", "most"), [slow(SUMMEVAL, 30), slow(WMT16, None), slow(WEBNLG, None)]
)
def test_real_texts_equal_sacrebleu(name: str, most: int | None) -> None:
    predictions, references = texts(name, most)
    references = [group[:1] for group in references]
    report = Hub(metrics="ter").evaluate(predictions=predictions, references=references)
    assert_equal(report.scores()["ter"], official(predictions, references))
    edits = report.samples()["ter"]["edits"]
    for row in range(0, len(predictions), 10):
        assert edits[row] == TER().sentence_score(predictions[row], references[row]).num_edits


@pytest.mark.corpora
def test_wmt16_is_near_the_score_of_tercom() -> None:
    predictions, references = texts(WMT16)
    scores = Hub(metrics="ter")(predictions=predictions, references=references)["ter"]
    # Tercom 0.10 gives 0.5333: it differs in two of the 2,999 sentences.
    assert scores["score"] == pytest.approx(0.5334, abs=5e-5)


@pytest.mark.parametrize(("name", "most"), [slow(SUMMEVAL, 3), slow(WEBNLG, 400)])
def test_several_references_of_real_data_equal_sacrebleu(name: str, most: int) -> None:
    predictions, references = texts(name, most)
    hub = Hub(metrics="ter(normalized=True)")
    scores = hub(predictions=predictions, references=references)["ter"]
    assert_equal(scores, official(predictions, references, normalized=True))
