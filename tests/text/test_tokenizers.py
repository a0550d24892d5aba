"""Every tokenizer equals its definition and its official package, on any text."""

from __future__ import annotations

import sys

import jiwer
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer
from sacrebleu.metrics import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from metrichub.errors import MissingDependency, ParameterError
from metrichub.text import Texts
from metrichub.text.tokenize import reference as plain
from metrichub.text.tokenize import tokens
from metrichub.text.tokenize.tokenizers import TOKENIZERS
from metrichub.text.tokenize.tokens import Tokens
from tests.oracles.text_twins import any_text, assigned, columns, texts


def sacrebleu(tokenizer):
    # sacrebleu's BLEU strips the right end before it tokenizes and splits what comes back.
    return lambda text: tokenizer(text.rstrip()).split()


OFFICIAL = {
    "13a": sacrebleu(Tokenizer13a()),
    "zh": sacrebleu(TokenizerZh()),
    "char": sacrebleu(TokenizerChar()),
    "none": sacrebleu(NoneTokenizer()),
    "chrf": CHRF(word_order=2)._remove_punctuation,
    "nospace": lambda text: list("".join(text.split())),
    "whitespace": str.split,
    "chars": list,
    "rouge": DefaultTokenizer().tokenize,
    "rouge-stem": DefaultTokenizer(use_stemmer=True).tokenize,
    "jiwer-words": lambda text: jiwer.process_words([text], ["x"]).references[0],
    "jiwer-chars": lambda text: jiwer.process_characters([text], ["x"]).references[0],
}


# Drawing a text costs more than cutting it, so that every tokenizer cuts each.
@given(column=columns)
@example(column=["5. ", ".", " .5", "5."])  # zh strips a text before it looks around a point
def test_a_column_has_the_tokens_of_its_texts(column):
    for name in TOKENIZERS:
        cut = Texts(column).tokens(name)
        expected = [plain.TOKENIZERS[name](text) for text in column]
        assert cut.all_strings() == expected, name
        assert [cut.strings(row) for row in range(len(column))] == expected, name
        assert cut.lengths.tolist() == [len(row) for row in expected], name


def test_what_is_known_of_tokens_is_forgotten_when_it_is_much(monkeypatch):
    monkeypatch.setattr(tokens, "KNOWN", 2)
    images = tokens._Images(str.upper)
    assert [images[token] for token in (b"a", b"b", b"c")] == [b"A", b"B", b"C"]
    assert list(images) == [b"c"]


def test_tokens_that_are_characters_say_so():
    texts = Texts(["ab c"])
    assert [texts.tokens(name).characters for name in ("chars", "13a")] == [True, False]


@given(text=any_text)
def test_the_definition_is_the_official_one(text):
    for name, official in OFFICIAL.items():
        assert plain.TOKENIZERS[name](text) == official(text), name


@given(text=any_text)
def test_intl_is_the_official_one_where_unicode_versions_agree(text):
    assume(assigned(text))
    assert plain.international(text) == sacrebleu(TokenizerV14International())(text)


@pytest.mark.parametrize("text", ["a <<skipped> b", "&&amp;", "&&&quot; x", "<skipped><skipped>"])
def test_markup_behind_its_own_beginning_is_the_official_one(text):
    for name, official in OFFICIAL.items():
        assert Texts(["plain", text]).tokens(name).strings(1) == official(text), name


@given(text=any_text)
def test_unicode_equals_rouge_on_ascii(text):
    text = text.encode("ascii", "ignore").decode()
    column = Texts([text])
    assert column.tokens("unicode").strings(0) == column.tokens("rouge").strings(0)


def test_unicode_keeps_words_and_sets_unspaced_scripts_apart():
    text = "Ночь, x_1 नमस्ते 東京タワー กา x²"
    expected = ["ночь", "x", "1", "नमस्ते", *"東京タワー", "ก", "า", "x²"]
    assert Texts([text]).tokens("unicode").strings(0) == expected


def test_squad_is_the_official_normalisation():
    # evaluate-v1.1.py: lower, punctuation removed, articles removed as words, split.
    column = Texts(["The cat's  a-b, an apple.", "“The” end", "the\x7fcat"])
    assert column.tokens("squad").all_strings() == [
        ["cats", "ab", "apple"],
        ["“", "”", "end"],
        ["\x7fcat"],
    ]
    assert column.tokens("bag").strings(0) == ["the", "cats", "ab", "an", "apple"]


@given(column=columns, data=st.data())
def test_rows_taken_from_a_column_keep_their_tokens(column, data):
    rows = data.draw(
        st.lists(st.integers(0, len(column) - 1), max_size=6) if column else st.just([])
    )
    chosen = [column[row] for row in rows]
    taken = Texts(column).take(np.array(rows, np.int64))
    assert list(taken) == chosen
    for name in TOKENIZERS:
        tokens, expected = taken.tokens(name), Texts(chosen).tokens(name)
        assert tokens.all_strings() == expected.all_strings(), name
        assert tokens.hashes.tolist() == expected.hashes.tolist(), name
    assert list(taken.lower()) == [text.lower() for text in chosen]


@given(first=columns, second=columns)
def test_equal_tokens_have_equal_hashes_in_any_column(first, second):
    first_tokens, second_tokens = Texts(first).tokens("chars"), Texts(second).tokens("13a")
    three = Tokens.of(second_tokens.all_strings())
    named = {}
    for each in (first_tokens, second_tokens, three):
        flat = [token for row in each.all_strings() for token in row]
        for token, number in zip(flat, each.hashes.tolist(), strict=True):
            assert named.setdefault(token, number) == number


@given(rows=st.lists(st.lists(texts, max_size=5), max_size=5))
def test_tokens_are_the_same_if_their_strings_are(rows):
    joined = Tokens.of(rows)
    flat = [token for row in rows for token in row]
    count = np.arange(len(flat))
    first, second = np.repeat(count, len(flat)), np.tile(count, len(flat))
    expected = [flat[i] == flat[j] for i in count for j in count]
    assert joined.same(first, second).tolist() == expected


@pytest.mark.parametrize("collide", [False, True])
@given(column=columns)
def test_a_function_is_applied_to_every_token(collide, column):
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(tokens, "_mix", np.zeros_like)
        upper = Texts(column).tokens("none").map(lambda token: token.upper() + "!")
    assert upper.all_strings() == [[t.upper() + "!" for t in text.split()] for text in column]


def test_a_long_text_and_a_long_token_are_whole():
    texts = Texts(["word, " * 100_000, "x" * 100_000 + " y"]).tokens("13a")
    assert texts.lengths.tolist() == [200_000, 2]
    assert texts.strings(1) == ["x" * 100_000, "y"]


def test_an_unknown_tokenizer_is_a_parameter_error():
    with pytest.raises(ParameterError, match=r"tokenize='14a' is not allowed.*13a.*flores200"):
        Texts(["a"]).tokens("14a")


def test_a_tokenizer_of_sacrebleu_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(MissingDependency, match=r"pip install sacrebleu\[ja\]"):
        Texts(["a"]).tokens("ja-mecab")


def test_a_tokenizer_of_sacrebleu_is_used_as_it_is(monkeypatch):
    class Official:
        def __init__(self, tokenize):
            self.tokenizer = lambda text: f"{tokenize}: {text}"

    monkeypatch.setattr("sacrebleu.metrics.bleu.BLEU", Official)
    assert Texts(["a b "]).tokens("ko-mecab").strings(0) == ["ko-mecab:", "a", "b"]


def test_the_ends_of_the_chinese_ranges_are_sacrebleus():
    for start, end in plain.CHINESE:
        for code in (start - 1, start, end, end + 1):
            text = f"a{chr(code)}b"
            assert plain.TOKENIZERS["zh"](text) == OFFICIAL["zh"](text), hex(code)
