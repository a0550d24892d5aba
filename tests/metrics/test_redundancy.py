"""AUN, UNR, NID and repetition: the authors' codes by their vectors, and plain twins."""

from collections import Counter
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.vectors import vectors

WORDS = st.lists(st.sampled_from([*"abcA", "é", "语", "the"]), min_size=1, max_size=30)


def evaluated(metric, *texts, **parameters):
    return Hub(load_metric(metric, **parameters)).evaluate(predictions=list(texts))


def score(metric, *texts, **parameters):
    return evaluated(metric, *texts, **parameters)[metric]


def grams(words, n):
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


@pytest.mark.parametrize("vector", vectors("nid_unr_xiao2020"))
def test_nid_unr_vector(vector):
    result = score("unr", *vector["predictions"])
    nid = score("nid", *vector["predictions"], stop_words="english", tokenizer="13a")
    for name, value in vector["expected"].items():
        mine = nid["score"] if name == "nid" else result[name]
        assert mine == pytest.approx(value, abs=vector["tolerance"]), name


@pytest.mark.parametrize("vector", vectors("repetition_fu2021"))
def test_repetition_vector(vector):
    result = score("repetition", *vector["predictions"], tokenizer="whitespace")
    for theirs, mine in (("rep-w", "rep_w"), ("rep-r", "rep_r"), ("seq-rep-n", "seq_rep")):
        assert result[mine] == pytest.approx(vector["expected"][theirs], abs=vector["tolerance"])


def test_aun_is_the_mean_of_the_texts():
    # 5 of 6 words, 2 of 2: pooled it would be 7/8.
    assert score("aun", "The cat sat on the mat.", "a b")["score"] == pytest.approx(11 / 12)


def test_aun_leaves_a_text_without_an_ngram_unscored():
    report = Hub(load_metric("aun", n=2)).evaluate(predictions=["a", "a b"])
    assert report.scores()["aun"] == {"score": 1.0}
    assert report.counts()["aun"] == {"unanswered": 1}


def test_unr_leaves_short_texts_out():
    # Xiao and Carenini's code skips texts of up to five tokens; the point is the sixth.
    assert evaluated("unr", "a a a a a").counts()["unr"]["unanswered"] == 1
    assert score("unr", "a a a a a.")["unr_1"] == 2 / 6
    assert score("unr", "a a a a a", shortest=5)["unr_1"] == 1 / 5


def test_nid_is_zero_without_and_one_with_nothing_but_repetition():
    assert score("nid", "a b c d")["score"] == pytest.approx(0, abs=1e-12)
    assert score("nid", "a a a a")["score"] == 1.0
    # Shares 1/2 and 1/2 of four words: 1 - log 2 / log 4.
    assert score("nid", "a b a b")["score"] == pytest.approx(0.5)


def test_nid_needs_two_tokens_and_a_content_word():
    report = evaluated("nid", "a", "of the", "good day", stop_words="english")
    # "good day": log 2 / log 2, so 0.
    assert report["nid"]["score"] == pytest.approx(0, abs=1e-12)
    assert report.counts()["nid"]["unanswered"] == 2


def test_nid_never_falls_below_zero():
    # Two tokens, four words: 1 - log 4 / log 2 would be -1.
    result = score("nid", "well-known hard-won", stop_words="english", tokenizer="whitespace")
    assert result["score"] == 0.0


def test_stop_words_are_those_of_nltk():
    # nltk's English list has 127 words from Porter's plus contractions; CountVectorizer sees only
    # runs of two letters or more. Some of every kind, and some content words.
    text = "i yourselves those has could the than between again very ll mustn cat went us"
    words = [word for word in text.split() if is_content(word)]
    assert words == ["could", "cat", "went", "us"]


def is_content(word):
    return not evaluated("nid", f"{word} {word}", stop_words="english").counts()["nid"]


def test_rep_w_looks_back_as_far_as_its_window():
    # "a" comes again after 3 words.
    assert score("repetition", "a b c a", window=3)["rep_w"] == 1 / 4
    assert score("repetition", "a b c a", window=2)["rep_w"] == 0.0


def test_a_text_shorter_than_n_counts_for_the_others():
    # Means: seq-rep-4 of the second only (a a a a: one 4-gram); rep-w of 0 and 3/4.
    report = evaluated("repetition", "a b", "a a a a", "")
    scores = report["repetition"]
    assert (scores["score"], scores["rep_w"]) == (0.0, 0.375)
    assert report.counts()["repetition"]["unanswered"] == 1


def test_no_pair_reaches_into_the_next_text():
    assert score("repetition", "a b", "a b", "b a")["rep_r"] == 0.0


@given(WORDS, st.integers(1, 6), st.integers(1, 20))
def test_repetition_equals_the_plain_definitions(words, n, window):
    result = score("repetition", " ".join(words), n=n, window=window, tokenizer="whitespace")
    size = len(words)
    recent = sum(w in words[max(0, i - window) : i] for i, w in enumerate(words))
    pairs = Counter(grams(words, 2))
    inside = {j for i in range(size - 1) if pairs[(*words[i : i + 2],)] > 1 for j in (i, i + 1)}
    pooled = [g for k in range(1, 5) for g in grams(words, k)]
    grams_of_text = grams(words, n)
    assert result["rep_w"] == pytest.approx(recent / size)
    assert result["rep_r"] == pytest.approx(len(inside) / size)
    assert result["seq_rep"] == pytest.approx(1 - len(set(pooled)) / len(pooled))
    expected = 1 - len(set(grams_of_text)) / len(grams_of_text) if grams_of_text else float("nan")
    assert result["score"] == pytest.approx(expected, nan_ok=True)


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 3))
def test_aun_unr_and_nid_equal_the_plain_definitions(texts, n):
    strings = [" ".join(words) for words in texts]
    nan = float("nan")

    def mean(values):
        return sum(values) / len(values) if values else nan

    ratios = [len(set(g)) / len(g) for g in (grams(words, n) for words in texts) if g]
    result = score("aun", *strings, n=n, tokenizer="whitespace")["score"]
    assert result == pytest.approx(mean(ratios), nan_ok=True)
    long = [grams(words, n) for words in texts if len(words) > 5]
    result = score("unr", *strings, tokenizer="whitespace")[f"unr_{n}"]
    assert result == pytest.approx(mean([len(set(g)) / len(g) for g in long]), nan_ok=True)
    nids = [nid(words) for words in texts if len(words) > 1]
    result = score("nid", *strings, tokenizer="whitespace")["score"]
    assert result == pytest.approx(mean(nids), abs=1e-12, nan_ok=True)


def nid(words):
    shares = [count / len(words) for count in Counter(words).values()]
    return 1 + sum(share * log(share) for share in shares) / log(len(words))
