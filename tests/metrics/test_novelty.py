"""Novelty: expected values are counted by hand, or by a plain twin over sets."""

import json
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import FileError, ParameterError

TEXTS = st.lists(
    st.lists(st.sampled_from([*"abcde", "É", "1.", "d-e"]), max_size=8).map(" ".join), max_size=4
)
TEXT = st.text("abcÉß1٣ .-_\n\0\u2028🙂", max_size=12)


def words(text):
    return re.findall(r"[^\W_]+", text.lower())


def grams(text, n):
    tokens = words(text)
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def score(predictions, references=None, **parameters):
    options = {"predictions": predictions}
    if references is not None:
        options["references"] = references
    return Hub(load_metric("novelty", **parameters))(**options)["novelty"]


def test_references_of_all_samples_are_the_training_texts():
    # Pairs: ab | bc cd | de; only "b c" is in no reference. The second text is none of the three.
    result = score(["a b", "b c d", "d e"], ["A b!", "c d e", "d e"], n=2)
    assert result == {"score": 1 / 4, "texts": 1 / 3}


def test_several_references_all_count():
    assert score(["a b c"], [["a", "b", "x"]], n=1) == {"score": 1 / 3, "texts": 1.0}


def test_a_file_takes_the_place_of_references(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("a b c\n\nd e\n", encoding="utf-8")
    # ab known, bd new, de known; no n-gram reaches from one line into the next.
    assert score(["a b d e", "d e"], n=2, corpus=str(path)) == {"score": 1 / 4, "texts": 1 / 2}


def test_a_json_lines_file_has_its_texts_under_a_key(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"story": "a b"}) + "\n", encoding="utf-8")
    assert score(["a x"], n=1, corpus=str(path), field="story")["score"] == 0.5
    with pytest.raises(FileError, match=r"train\.jsonl:1: there is no text under the key 'text'"):
        score(["a x"], n=1, corpus=str(path))
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(FileError, match=r":1: this line isn't JSON"):
        score(["a x"], n=1, corpus=str(path))


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("a\n", encoding="utf-8")
    assert score(["a b"], n=1, corpus=str(path))["score"] == 0.5
    path.write_text("a b c d\n", encoding="utf-8")
    assert score(["a b"], n=1, corpus=str(path))["score"] == 0.0


def test_the_corpus_stays_out_of_pickles(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("a b c d e f g\n" * 1000, encoding="utf-8")
    metric = load_metric("novelty", corpus=str(path))
    Hub(metric)(predictions=["a b c d e"])
    assert len(pickle.dumps(metric)) < 1000


def test_a_file_that_is_not_there_says_what_to_give():
    with pytest.raises(ParameterError, match="one training text a line"):
        load_metric("novelty", corpus="no/such/file.txt")


def test_a_file_that_is_no_text_is_an_error(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(FileError, match="UTF-8"):
        score(["a"], corpus=str(path))


def test_a_short_text_counts_as_a_text_only():
    result = score(["a b", "a b c d e"], ["a b", "a b c d"])
    # Of two 4-grams, b c d e is new; "a b" is known as a whole, the other text is not.
    assert result == {"score": 0.5, "texts": 0.5}


def test_the_references_of_an_empty_text_are_training_texts_too():
    assert score(["", "a b"], ["a b", "x"], n=1) == {"score": 0.0, "texts": 0.0}


@given(st.lists(st.tuples(TEXT, TEXTS), min_size=1, max_size=4))
def test_equals_the_plain_definition(samples):
    samples = [(p, [*r, "a"]) for p, r in samples]
    grams_of_references = {gram for _, r in samples for text in r for gram in grams(text, 2)}
    reference_texts = {tuple(words(text)) for _, r in samples for text in r}
    predicted = [gram for p, _ in samples for gram in grams(p, 2)]
    texts = [tuple(words(p)) for p, _ in samples if words(p)]
    nan = float("nan")
    result = score([p for p, _ in samples], [r for _, r in samples], n=2)
    novel = (
        sum(g not in grams_of_references for g in predicted) / len(predicted) if predicted else nan
    )
    new = sum(t not in reference_texts for t in texts) / len(texts) if texts else nan
    assert result["score"] == pytest.approx(novel, nan_ok=True)
    assert result["texts"] == pytest.approx(new, nan_ok=True)


def test_n_has_to_be_positive():
    with pytest.raises(ParameterError, match="at least 1"):
        load_metric("novelty", n=0)
