"""TTR and its relatives: lexical_diversity's and lexicalrichness's values, and plain twins."""

from collections import Counter
from math import isnan, log10, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from metrichub import Hub, load_metric
from metrichub.errors import Doubt
from tests.vectors import SUMMEVAL, texts, vectors

WORDS = st.lists(st.sampled_from([*"abcdefghij", "é", "语", "١"]), min_size=1, max_size=40)
NAMES = {
    **{"ttr": "score", "rttr": "root_ttr", "cttr": "corrected_ttr", "herdan_c": "log_ttr"},
    **{"maas_ttr": "maas", "mtld_ma_wrap": "mtld", "mtld_ma_bid": "mtld"},
    **{"mtld_lexicalrichness": "mtld", "mtld_lexical_diversity": "mtld"},
}
VARIANTS = {
    **{"mtld_ma_wrap": "wrap", "mtld_ma_bid": "bidirectional"},
    "mtld_lexical_diversity": "lexical-diversity",
}
METRICS = [
    *("ttr", "root_ttr", "rttr", "cttr", "log_ttr", "herdan_c", "maas_ttr", "msttr", "mattr"),
    *("mtld", "mtld_ma_wrap", "mtld_ma_bid", "mtld_lexicalrichness", "mtld_lexical_diversity"),
    "hdd",
    *("yule_k", "yule_i", "simpson_d"),
]
UNMET = {"msttr-03": "lexicalrichness drops the last segment even when it is full; see the card"}


def scores(words, **parameters):
    hub = Hub(load_metric("ttr", tokenizer="whitespace", **parameters))
    return hub(predictions=[" ".join(words)])["ttr"]


@pytest.mark.parametrize("vector", vectors(*METRICS))
def test_vector(vector, request):
    if vector["id"] in UNMET:
        request.applymarker(pytest.mark.xfail(reason=UNMET[vector["id"]], strict=True))
    name, parameters = vector["metric"], {}
    for theirs, mine in (("window", "window"), ("draws", "sample"), ("threshold", "threshold")):
        if theirs in vector["params"]:
            parameters[mine] = vector["params"][theirs]
    if name in VARIANTS:
        parameters["mtld"] = VARIANTS[name]
    score = scores(vector["predictions"][0], **parameters)[NAMES.get(name, name)]
    assert score == pytest.approx(vector["expected"], abs=vector["tolerance"])


def test_lexical_diversity_and_the_paper_agree_on_a_long_factor():
    # No factor of this text is shorter than ten words: "a b ... m" and again, TTR falls below .72
    # after 13/19. Then the factor starts anew: 19 words, then 7 of which 6 + 1 differ.
    words = [*"abcdefghijklm", *"abcdefghijklm"]
    paper = scores(words)["mtld"]
    assert scores(words, mtld="lexical-diversity")["mtld"] == pytest.approx(paper)
    # Forward and backward alike: one factor of 19 words, and 7 different words that begin none.
    assert paper == 26.0


def test_short_factors_count_only_by_the_paper():
    # "la la" has TTR .5: six factors of two words. With ten words at least: one, and a rest of two
    # with TTR .5 that counts (1 - .5) / (1 - .72).
    assert scores(["la"] * 12)["mtld"] == 2.0
    remainder = 0.5 / (1 - 0.72)
    value = scores(["la"] * 12, mtld="lexical-diversity")["mtld"]
    assert value == pytest.approx(12 / (1 + remainder))


def test_the_moving_variants_take_a_factor_from_every_word():
    # Ten times "la" from each of 12 starts, around the end; without it from starts 0, 1 and 2.
    assert scores(["la"] * 12, mtld="wrap")["mtld"] == 10.0
    assert scores(["la"] * 12, mtld="bidirectional")["mtld"] == 10.0
    assert isnan(scores(["la"] * 9, mtld="bidirectional")["mtld"])
    # Twice four words are fewer than the ten of a factor; lexical_diversity gives 0.
    assert isnan(scores(["la"] * 4, mtld="wrap")["mtld"])
    assert scores(["la"] * 5, mtld="wrap")["mtld"] == 10.0


def test_the_moving_variant_walks_through_the_text_twice():
    # From the first of m words the TTR falls below .72 at the 19th, in the second time round:
    # 13/19 = .68; from the ninth, only 18 words are left of 26, and 13/18 = .722.
    assert scores([*"abcdefghijklm"], mtld="wrap")["mtld"] == 19.0


@given(WORDS, st.sampled_from([0.5, 0.72, 0.9]))
def test_the_variants_of_lexical_diversity_equal_its_definitions(words, threshold):
    def closes(part):
        return len(part) >= 10 and len(set(part)) / len(part) < threshold

    def moving(text, starts):
        ends = [[n for n in range(1, len(text) - i + 1) if closes(text[i : i + n])] for i in starts]
        result = [lengths[0] for lengths in ends if lengths]
        return sum(result) / len(result) if result else nan

    def one_way(text):
        factors, start = 0.0, 0
        for end in range(1, len(text)):
            if closes(text[start:end]):
                factors, start = factors + 1, end
        tail = text[start:]
        factors += (1 - len(set(tail)) / len(tail)) / (1 - threshold)
        # The package gives 0 where no word repeats.
        return len(text) / factors if factors else len(text)

    both = (words, words[::-1])
    expected = {
        "wrap": moving(words * 2, range(len(words))),
        "bidirectional": sum(moving(text, range(len(text))) for text in both) / 2,
        "lexical-diversity": sum(map(one_way, both)) / 2,
    }
    for variant, value in expected.items():
        mtld_value = scores(words, mtld=variant, threshold=threshold)["mtld"]
        assert mtld_value == pytest.approx(value, nan_ok=True), variant


def test_a_text_of_different_words_has_its_length_as_mtld():
    assert scores(list("abcd"))["mtld"] == 4.0


def test_one_word_has_no_herdan_maas_and_simpson():
    result = scores(["a"])
    undefined = {name for name, value in result.items() if isnan(value)}
    assert undefined == {"log_ttr", "maas", "yule_i", "simpson_d"}


def test_an_index_is_averaged_over_the_texts_that_have_it():
    hub = Hub(load_metric("ttr"))
    # Simpson's D of "a a" is 2*1 / (2*1) = 1; of "a" it is undefined; TTRs are 1/2 and 1.
    report = hub.evaluate(predictions=["a a", "a", "..."])
    assert (report["ttr"]["simpson_d"], report["ttr"]["score"]) == (1.0, 0.75)
    assert report.counts()["ttr"]["unanswered"] == 1


def plain(words, window, sample):
    """The definitions, one after the other."""
    tokens, counts = len(words), Counter(words)
    types = len(counts)
    w, s = min(window, tokens), min(sample, tokens)
    windows = [words[i : i + w] for i in range(tokens - w + 1)]
    segments = [words[i : i + w] for i in range(0, tokens - w + 1, w)]
    squares = sum(count**2 for count in counts.values())
    ratio = [len(set(part)) / w for part in windows]
    part = [len(set(part)) / w for part in segments]
    drawn = sum(1 - hypergeom.pmf(0, tokens, count, s) for count in counts.values())
    return {
        "score": types / tokens,
        "mattr": sum(ratio) / len(ratio),
        "msttr": sum(part) / len(part),
        "hdd": drawn / s,
        "log_ttr": log10(types) / log10(tokens) if tokens > 1 else nan,
        "yule_k": 1e4 * (squares / tokens**2 - 1 / tokens),
    }


@given(WORDS, st.integers(1, 45), st.integers(1, 45))
def test_equals_the_plain_definitions(words, window, sample):
    result = scores(words, window=window, sample=sample)
    for name, value in plain(words, window, sample).items():
        assert result[name] == pytest.approx(value, abs=1e-9, nan_ok=True), name


def test_lexicalrichness_on_real_summaries():
    module = pytest.importorskip("lexicalrichness", reason="lexicalrichness is not installed")
    # lexicalrichness refuses texts shorter than its window.
    predictions = [text for text in texts(SUMMEVAL)[0] if len(text.split()) >= 10]
    hub = Hub(load_metric("ttr", tokenizer="whitespace", window=10, sample=10))
    mine = hub.evaluate(predictions=predictions).samples()["ttr"]
    for i, text in enumerate(predictions):
        theirs = module.LexicalRichness(text.lower(), preprocessor=None, tokenizer=str.split)
        assert mine["mtld"][i] == pytest.approx(theirs.mtld(0.72))
        assert mine["mattr"][i] == pytest.approx(theirs.mattr(10))
        assert mine["hdd"][i] == pytest.approx(theirs.hdd(10))
        assert mine["yule_k"][i] == pytest.approx(theirs.yulek)


@pytest.mark.parametrize(
    ("lengths", "parameters", "doubt"),
    [
        # McCarthy and Jarvis (2010): MTLD from 100 words on; HD-D draws 42.
        ([100, 250], {}, ""),
        ([100, 99, 42], {}, "2 texts have fewer than 100 words, where"),
        (
            [3, 41, 42, 100, 0],
            {},
            "3 texts have fewer than 100 words, 2 of them fewer than hdd's 42",
        ),
        ([41], {"sample": 5}, "1 text has fewer than 100 words, where"),
    ],
)
def test_texts_too_short_for_mtld_and_hdd_are_doubted(lengths, parameters, doubt):
    texts = [" ".join(f"w{i % 7}" for i in range(length)) for length in lengths]
    report = Hub(load_metric("ttr", **parameters)).evaluate(predictions=texts)
    doubts = [note for note in report.notes().get("ttr", ()) if isinstance(note, Doubt)]
    assert [note[: len(doubt)] for note in doubts] == ([doubt] if doubt else [])
    assert all("use mattr" in note for note in doubts)
