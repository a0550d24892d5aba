"""The stemmer equals nltk's on any word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem import PorterStemmer

from metrichub.text.tokenize.porter import IRREGULAR, STEP_2, STEP_3, STEP_4, porter

NLTK = PorterStemmer()
ENDINGS = (
    *(*STEP_2, *STEP_3, *STEP_4),
    *("s", "ss", "sses", "ies", "ied", "eed", "ed", "ing", "y", "e", "ll", "at", "bl", "iz", "*d"),
)

letters = st.text("aeiouybcdlstzwx", max_size=6)
english = st.tuples(letters, st.lists(st.sampled_from(ENDINGS), max_size=3).map("".join)).map(
    "".join
)


@given(word=english)
def test_a_word_with_english_endings_has_nltks_stem(word):
    assert porter(word) == NLTK.stem(word)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_behind_stems_of_every_measure_has_nltks_stem(ending):
    # Stems of the measures 0 to 3, with and without a vowel, a double consonant and a short end.
    stems = ("", "b", "a", "y", "tr", "ba", "by", "at", "ab", "abb", "hop", "box", "bay", "bow")
    stems += ("fall", "fizz", "miss", "oat", "agr", "abab", "babat", "controll", "ababab", "l", "s")
    words = [stem + ending + more for stem in stems for more in ("", *ENDINGS)]
    assert list(map(porter, words)) == list(map(NLTK.stem, words))


@given(word=st.text(max_size=10) | letters.map(str.upper))
def test_any_string_has_nltks_stem(word):
    assert porter(word) == NLTK.stem(word)


@pytest.mark.parametrize("word", [*IRREGULAR, "fo*ded", "a*ding", "fo*d"])
def test_irregular_words_have_nltks_stem(word):
    assert porter(word) == NLTK.stem(word)


@pytest.mark.parametrize(
    ("word", "stem"),
    # Porter (1980), the examples beside the rules; "ties" and "sky" are nltk's extensions.
    [
        *(("caresses", "caress"), ("ponies", "poni"), ("ties", "tie"), ("cats", "cat")),
        *(
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("sing", "sing"),
            ("hopping", "hop"),
        ),
        *(("falling", "fall"), ("filing", "file"), ("happy", "happi"), ("sky", "sky")),
        *(("relational", "relat"), ("radicalli", "radic"), ("triplicate", "triplic")),
        *(("revival", "reviv"), ("adoption", "adopt"), ("rate", "rate"), ("controll", "control")),
    ],
)
def test_the_papers_examples_hold(word, stem):
    assert porter(word) == stem
