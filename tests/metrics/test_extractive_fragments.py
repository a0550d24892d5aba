"""Coverage, density and compression: the three measures of Newsroom."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.vectors import SUMMEVAL, corpus, texts, vectors

NAMES = ("coverage", "density", "compression")
# Few different words, so that runs repeat, overlap and start inside of each other.
REPETITIVE = st.lists(st.sampled_from(["a", "A", "b", "c", "ΟΔΟΣ"]), max_size=14).map(" ".join)
AWKWARD = st.one_of(
    REPETITIVE,
    st.text(
        alphabet=st.one_of(
            st.sampled_from("aAbB  .-é\u0301İſς\u00a0\u2028\t\n\0x日本😀"), st.characters()
        ),
        max_size=16,
    ),
)


def scores(prediction, source, tokenizer="whitespace"):
    hub = Hub(metrics=[load_metric(name, tokenizer=tokenizer) for name in NAMES])
    scores = hub(predictions=[prediction], sources=[source])
    return {name: scores[name]["score"] for name in NAMES}


def fragments(summary, text):
    """The lengths of the fragments, by the procedure that Grusky et al. (2018) print."""
    results, i = [], 0
    while i < len(summary):
        longest, j = 0, 0
        while j < len(text):
            size = 0
            while (
                i + size < len(summary)
                and j + size < len(text)
                and summary[i + size] == text[j + size]
            ):
                size += 1
            longest = max(longest, size)
            j += max(size, 1)
        results.append(longest)
        i += max(longest, 1)
    return results


def expected(summary, text):
    """The three measures of two lists of tokens; 0 without a token in the summary."""
    if not summary:
        return dict.fromkeys(NAMES, 0.0)
    lengths = fragments(summary, text)
    return {
        "coverage": sum(lengths) / len(summary),
        "density": sum(length**2 for length in lengths) / len(summary),
        "compression": len(text) / len(summary),
    }


def letters(text):
    """Runs of letters, marks and numbers; the two ideographs of the test alphabet alone."""
    sentences = (
        f" {c} " if c in "日本" else c if unicodedata.category(c)[0] in "LMN" else " "
        for c in text.lower()
    )
    return "".join(sentences).split()


@pytest.mark.parametrize("row", vectors("extractive_fragments"))
def test_equals_the_newsroom_code(row):
    [[source]] = row["references"]
    result = scores(row["predictions"][0], source)
    assert result == pytest.approx(row["expected"], abs=row["tolerance"])


@pytest.mark.parametrize("name", NAMES)
def test_a_prediction_without_tokens_scores_zero_as_in_newsroom(name):
    report = Hub(metrics=name).evaluate(predictions=[" \n", "a"], sources=["a b", "a"])
    assert report.scores()[name] == {"score": 0.5}
    assert report.samples()[name]["score"].tolist() == [0.0, 1.0]


def test_an_empty_source_gives_zero():
    assert scores("a b", "") == {"coverage": 0, "density": 0, "compression": 0}


def test_the_scores_of_several_sources_are_averaged():
    # Against "a b": coverage 1, density 2, compression 1. Against "c": 0, 0 and 1/2.
    hub = Hub(metrics=list(NAMES))(predictions=["a b"], sources=[["a b", "c"]])
    assert [hub[name]["score"] for name in NAMES] == pytest.approx([1 / 2, 1, 3 / 4])


@given(st.lists(st.tuples(AWKWARD, AWKWARD), min_size=1, max_size=6), st.booleans())
def test_equals_the_procedure_of_the_paper_on_any_text(rows, unicode):
    # Only the two ideographs of `letters` are known to be alone; other scripts without spaces
    # are tested with the tokenizer.
    if unicode:
        rows = [[_spaced(text) for text in row] for row in rows]
    metrics = [load_metric(n, tokenizer="unicode" if unicode else "whitespace") for n in NAMES]
    cut = letters if unicode else lambda text: [token.lower() for token in text.split()]
    predictions, sources = [p for p, _ in rows], [s for _, s in rows]
    report = Hub(metrics=metrics).evaluate(predictions=predictions, sources=sources)
    for row, (prediction, source) in enumerate(rows):
        for name, value in expected(cut(prediction), cut(source)).items():
            result = report.samples()[name]["score"][row]
            assert result == pytest.approx(value)


def articles():
    """The whole of SummEval: 1,600 summaries and the articles that they were made from."""
    source_of = {row["doc_id"]: row["src"] for row in corpus("summ_summeval_docs.jsonl")}
    rows = corpus("summ_summeval_outputs.jsonl")
    return [row["hyp"] for row in rows], [source_of[row["doc_id"]] for row in rows]


def in_the_place_of_articles():
    """The cut without articles: a summary is measured against all references of its document."""
    predictions, references = texts(SUMMEVAL)
    return predictions, [" ".join(group) for group in references]


def test_the_coverage_of_summeval_is_that_of_the_newsroom_code():
    predictions, sources = articles()
    hub = Hub(metrics="coverage")(predictions=predictions, sources=sources)
    # The Newsroom code gives a mean coverage of 0.974 on these 1,600 summaries.
    assert round(hub["coverage"]["score"], 3) == 0.974


@pytest.mark.parametrize("texts_of", [in_the_place_of_articles, articles])
def test_equals_the_procedure_of_the_paper_on_real_summaries(texts_of):
    predictions, sources = texts_of()
    report = Hub(metrics=list(NAMES)).evaluate(predictions=predictions, sources=sources)
    for row in range(0, len(predictions), 20):
        fragments = expected(predictions[row].lower().split(), sources[row].lower().split())
        result = {name: report.samples()[name]["score"][row] for name in NAMES}
        assert result == pytest.approx(fragments)
    means = [report.scores()[name]["score"] for name in NAMES]
    samples = [report.samples()[name]["score"] for name in NAMES]
    np.testing.assert_allclose(means, np.mean(samples, axis=1))


def _spaced(text):
    return "".join(c for c in text if c.isascii() or c in "é\u0301İſς\u00a0\u2028日本😀ΟΔΣ")
