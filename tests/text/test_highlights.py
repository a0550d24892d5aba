"""Highlights: what a metric saw in single texts, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metrichub.text import (
    RaggedTexts,
    Texts,
    clipped_matches,
    distinct_ngrams,
    fragments,
    lcs,
    novel_ngrams,
)
from metrichub.text import highlight as highlights
from metrichub.text.highlight import EditOp, Segment
from metrichub.text.highlight.spans import TokenSpans, token_spans
from tests.oracles.text_twins import any_text, word_texts

TOKENIZERS = st.sampled_from(["whitespace", "13a", "unicode", "rouge-stem", "chars", "squad"])


def marked(segments: Sequence[Segment]) -> str:
    """The text with copied tokens in brackets and partly copied ones in parentheses."""
    around = {"copied": "[{}]", "partly": "({})", "novel": "{}", "outside": "{}"}
    return "".join(around[s.kind].format(s.text) for s in segments)


def test_a_cut_knows_where_its_tokens_stand() -> None:
    text = token_spans("  A cat,on it.", "13a")
    assert text.tokens == ["A", "cat", ",", "on", "it", "."]
    assert [text.text[a:b] for a, b in text.spans] == text.tokens


def test_a_lower_cased_token_is_found_in_the_text_as_it_was_written() -> None:
    # The Turkish I with a dot is two characters in lower case.
    text = token_spans("İzmir, ÉTÉ", "unicode")
    assert text.tokens == ["i̇zmir", "été"]
    assert [text.text[a:b] for a, b in text.spans] == ["İzmir", "ÉTÉ"]
    assert token_spans("The Cat", "whitespace", lower=True) == TokenSpans(
        "The Cat", ["the", "cat"], [(0, 3), (4, 7)]
    )


def test_stems_stand_where_their_words_do() -> None:
    text = token_spans("Running dogs", "rouge-stem")
    assert text == TokenSpans("Running dogs", ["run", "dog"], [(0, 7), (8, 12)])


def test_the_tokens_of_squad_are_found_without_articles_and_punctuation() -> None:
    # The n behind "an" is a word of its own, the n in "an" is not.
    assert token_spans("Then an n, don't", "squad") == TokenSpans(
        "Then an n, don't", ["then", "n", "dont"], [(0, 4), (8, 9), (11, 16)]
    )


@pytest.mark.parametrize(
    ("text", "tokenizer", "tokens"),
    [
        ("a &quot;b&quot;", "13a", ["a", '"', "b", '"']),
        ("a &amp; b", "13a", ["a", "&", "b"]),
        # Outside ASCII the official program finds an article before the apostrophe.
        ("a’s", "squad", ["’s"]),
    ],
)
def test_a_rewritten_text_is_its_tokens(text: str, tokenizer: str, tokens: list[str]) -> None:
    spans = token_spans(text, tokenizer)
    assert spans.text == " ".join(tokens)
    assert [spans.text[a:b] for a, b in spans.spans] == spans.tokens == tokens


def test_novel_ngrams_are_those_that_no_other_text_has() -> None:
    step = highlights.novel("A b c, d!", ["x a B", "c d"], "unicode", 1)
    assert marked(step["prediction"]) == "[A b c, d]!"
    # Bigrams: a b (first text), b c (none), c d (second text).
    step = highlights.novel("A b c, d!", ["x a B", "c d"], "unicode", 2)
    assert (step["novel"], step["total"]) == (1, 3)
    step = highlights.novel("e a b f", ["x a b y"], "unicode", 2)
    assert marked(step["prediction"]) == "e [a b] f"
    assert (step["novel"], step["total"]) == (2, 3)


def test_case_counts_unless_it_is_ignored() -> None:
    assert highlights.novel("A b", ["a b"], "whitespace", 1)["novel"] == 1
    assert highlights.novel("A b", ["a b"], "whitespace", 1, lower=True)["novel"] == 0


def test_repeated_ngrams_are_those_said_before() -> None:
    step = highlights.repeated("a b c a b", "whitespace", 2)
    # a b, b c, c a, and a b again: 3 of 4 are new.
    assert (step["novel"], step["total"]) == (3, 4)
    assert marked(step["prediction"]) == "a b c [a b]"


def test_shared_ngrams_count_as_often_as_in_the_reference_that_has_most() -> None:
    step = highlights.shared("the the the cat", ["the cat", "the the"], "whitespace", range(1, 3))
    assert step["ngrams"] == [
        # "the" counts twice, as in the second reference, and "cat" once.
        {"n": 1, "shared": 3, "in_prediction": 4},
        # "the the" once, "the cat" once.
        {"n": 2, "shared": 2, "in_prediction": 3},
    ]
    assert marked(step["prediction"]) == "[the the the cat]"
    (first, *_) = highlights.shared("a b c", ["a x b"], "whitespace", range(1, 3))["prediction"]
    assert first == Segment("a b", "partly", 1)


def test_only_the_first_of_repeated_tokens_are_marked() -> None:
    step = highlights.shared_by_both("the the cat", "the dog", "whitespace", range(1, 2))
    assert marked(step["prediction"]) == "[the] the cat"
    assert marked(step["reference"]) == "[the] dog"
    assert step["ngrams"] == [{"n": 1, "shared": 1, "in_prediction": 3, "in_reference": 2}]


def test_orders_that_do_not_count_mark_nothing() -> None:
    step = highlights.shared_by_both("a b x", "a b y", "whitespace", range(2, 4))
    # No trigram is shared, so "a b" is partly copied; single tokens wouldn't count.
    assert marked(step["prediction"]) == "(a b) x"
    assert (
        marked(highlights.shared("b a", ["a b"], "whitespace", range(2, 3))["prediction"]) == "b a"
    )


def test_a_common_subsequence_is_marked_in_both_texts() -> None:
    step = highlights.common_subsequence("the cat is on a mat", "a cat sat on the mat", "rouge")
    assert (step["shared"], step["in_prediction"], step["in_reference"]) == (3, 6, 6)
    assert marked(step["prediction"]) == "the [cat] is [on] a [mat]"
    assert marked(step["reference"]) == "a [cat] sat [on] the [mat]"


def test_fragments_are_segments_of_their_own() -> None:
    # "b c" stands in the source, and then "a": two fragments side by side, of 2 and 1 tokens.
    step = highlights.copied_fragments("x b c a", "a b c", "whitespace")
    copied = [(s.text, s.length) for s in step["prediction"] if s.kind == "copied"]
    assert copied == [("b c", 2), ("a", 1)]
    assert (step["copied"], step["total"]) == (3, 4)
    assert (
        marked(highlights.copied_fragments("b c x", "b c", "whitespace")["prediction"]) == "[b c] x"
    )
    assert highlights.copied_fragments("B", "b", "whitespace")["copied"] == 0
    assert highlights.copied_fragments("B", "b", "whitespace", lower=True)["copied"] == 1


def test_an_alignment_says_what_became_of_the_reference() -> None:
    step = highlights.aligned("the big cat sat", "the cat sat down", "whitespace")
    assert step["alignment"] == [
        EditOp("equal", "the ", "the ", 1),
        EditOp("insert", "", "big ", 1),
        EditOp("equal", "cat sat ", "cat sat", 2),
        EditOp("delete", "down", "", 1),
    ]
    assert step["edits"] == 2
    assert highlights.aligned("cat", "cut", "chars")["alignment"][1] == EditOp(
        "substitute", "u", "a", 1
    )


def test_shifted_words_count_one_edit_and_are_named() -> None:
    # The three words go to the end together; nothing else is wrong.
    step = highlights.aligned_after_shifts("on the mat a cat sat", "a cat sat on the mat", "none")
    assert step["shifted"] == ["on the mat"]
    assert step["edits"] == 1
    assert [run.kind for run in step["alignment"]] == ["equal"]


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_texts_without_tokens_have_no_marks(text: str) -> None:
    assert highlights.aligned(text, text, "whitespace") == {"alignment": [], "edits": 0}
    assert highlights.novel(text, ["a"], "unicode", 2)["total"] == 0
    assert highlights.common_subsequence(text, "a", "rouge")["shared"] == 0
    assert highlights.copied_fragments(text, "a", "whitespace")["total"] == 0


def covered(text: TokenSpans, segments: Sequence[Segment]) -> list[int]:
    """The length that the segment of each token has; they are the text, and its tokens in them."""
    assert "".join(segment.text for segment in segments) == text.text
    at = [segment for segment in segments for _ in segment.text]
    places = {place for start, end in text.spans for place in range(start, end)}
    assert all(at[place].kind != "outside" for place in places)
    end = 0
    for segment in segments:
        start, end = end, end + len(segment.text)
        assert segment.kind == "outside" or {start, end - 1} <= places
        assert (segment.length == 0) == (segment.kind in ("novel", "outside"))
    return [at[start].length for start, _ in text.spans]


@given(text=word_texts | any_text, other=word_texts | any_text, tokenizer=TOKENIZERS)
@example(text="the the cat", other="the dog", tokenizer="whitespace")
@example(text="a b a c, b", other="c b a b", tokenizer="13a")
def test_segments_are_the_text_and_count_what_the_engine_counts(
    text: str, other: str, tokenizer: str
) -> None:
    spans, others = (token_spans(each, tokenizer) for each in (text, other))
    first, two = Texts([text]), Texts([other])
    for order in (1, 2, 3):
        step = highlights.novel(text, [other], tokenizer, order)
        covered(spans, step["prediction"])
        new, total = novel_ngrams(first, two, tokenizer, order)
        assert (step["novel"], step["total"]) == (new[0], total[0])
        step = highlights.repeated(text, tokenizer, order)
        covered(spans, step["prediction"])
        distinct, total = distinct_ngrams(first, tokenizer, order)
        assert (step["novel"], step["total"]) == (distinct[0, -1], total[0, -1])
    matches, total = clipped_matches(first, RaggedTexts.of([[other, text]]), tokenizer, 3)
    step = highlights.shared(text, [other, text], tokenizer, range(1, 4))
    longest = min(len(spans.tokens), 3)
    assert covered(spans, step["prediction"]) == [longest] * len(spans.tokens)
    assert [row["shared"] for row in step["ngrams"]] == matches[0].tolist() == total[0].tolist()
    step = highlights.shared_by_both(text, other, tokenizer, range(1, 4))
    matches, total = clipped_matches(first, two, tokenizer, 3)
    assert [row["shared"] for row in step["ngrams"]] == matches[0].tolist()
    assert [row["in_prediction"] for row in step["ngrams"]] == total[0].tolist()
    for side, expected in (("prediction", spans), ("reference", others)):
        # One that isn't marked alone may be marked in a longer n-gram.
        assert sum(length > 0 for length in covered(expected, step[side])) >= matches[0, 0]
    step = highlights.common_subsequence(text, other, tokenizer)
    common = int(lcs(first, two, tokenizer)[0])
    for side, expected in (("prediction", spans), ("reference", others)):
        assert sum(covered(expected, step[side])) == step["shared"] == common
    step = highlights.copied_fragments(text, other, tokenizer)
    copied = fragments(first, two, tokenizer)
    lengths = covered(spans, step["prediction"])
    assert (step["copied"], step["total"]) == (copied.covered[0], len(spans.tokens))
    # Each token of a fragment of n has the length n.
    assert sum(lengths) == copied.squared[0]


def test_a_fragment_is_looked_for_behind_what_the_last_try_found() -> None:
    # "a b a" is found first, and the search goes on behind it, past the place of "a b a c".
    step = highlights.copied_fragments("a b a c", "a b a b a c", "whitespace")
    assert marked(step["prediction"]) == "[a b a] [c]"
    # So does the engine's: squares of 3 and 1.
    counts = fragments(Texts(["a b a c"]), Texts(["a b a b a c"]), "whitespace")
    assert counts.squared.tolist() == [10]
