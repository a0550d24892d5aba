"""METEOR: expected values come from nltk 3.10 (its doctests, and the package itself as oracle)."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.translate.meteor_score import meteor_score

from metric_cards._bases.nltk_words import remembered_tokens, sentence_tokens, word_tokens
from metric_cards.meteor.alignment import pair_tokens
from metric_cards.meteor.wordnet import open_wordnet
from metrichub import Hub, load_metric
from metrichub.errors import MissingDependency
from metrichub.text import Texts
from tests.vectors import DATA, SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

nltk_words = NLTKWordTokenizer().tokenize
WORDS = st.sampled_from(
    ["the", "The", "cat", "cats", "catty", "run", "running", "runs", "été", "İ", "ΑΣ", "中文", "\0"]
)
TEXT = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=20))
SAMPLES = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=6)
STEMS = st.sampled_from(["cat", "run", "the", "dog", "hors"])


def reader(synonyms):
    """A WordNet reader for nltk whose synonyms are in a dictionary."""

    def synsets(word):
        lemmas = [SimpleNamespace(name=lambda name=name: name) for name in synonyms.get(word, ())]
        return [SimpleNamespace(lemmas=lambda: lemmas)]

    return SimpleNamespace(synsets=synsets)


def official(prediction, references, synonyms=None, **parameters):
    tokens = [reference.split() for reference in references]
    return meteor_score(tokens, prediction.split(), wordnet=reader(synonyms or {}), **parameters)


def ours(predictions, references, **parameters):
    metric = load_metric("meteor", **{"tokenizer": "whitespace", **parameters})
    return Hub(metric).evaluate(predictions=predictions, references=references)


def scores(predictions, references, **parameters):
    return ours(predictions, references, **parameters).samples()["meteor"]["score"]


@pytest.mark.parametrize("vector", vectors("meteor_nltk_exact_stem", "meteor_nltk"))
def test_nltk_values_are_met(vector):
    # The excerpt has all synsets of the words in these texts.
    synonyms = str(DATA / "wordnet") if vector["metric"] == "meteor_nltk" else None
    report = ours(
        vector["predictions"], vector["references"], synonyms=synonyms, **vector["params"]
    )
    score = report.scores()["meteor"]["score"]
    assert score == pytest.approx(vector["expected"], abs=vector["tolerance"])


@given(
    SAMPLES,
    st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_equals_nltk_on_any_text(samples, alpha, beta, gamma):
    parameters = {"alpha": alpha, "beta": beta, "gamma": gamma}
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    result = scores(predictions, references, **parameters)
    expected = [official(p, r, **parameters) for p, r in samples]
    assert result == pytest.approx(expected, abs=1e-12)
    report = ours(predictions, references, **parameters)
    assert report.scores()["meteor"]["score"] == pytest.approx(np.mean(expected), abs=1e-12)


@given(
    st.lists(STEMS, max_size=10),
    st.lists(STEMS, max_size=10),
    st.dictionaries(STEMS, st.lists(STEMS, max_size=3), max_size=5),
)
def test_synonyms_are_matched_as_nltk_does(prediction, reference, synonyms):
    message, expected_text = Texts([" ".join(prediction)]), Texts([" ".join(reference)])
    pairs, chunks = pair_tokens(message, expected_text, "whitespace", lambda w: synonyms.get(w, ()))
    expected = official(message[0], list(expected_text), synonyms)
    if pairs[0] == 0:
        assert expected == 0
        return
    p, r = pairs[0] / len(prediction), pairs[0] / len(reference)
    score = (1 - 0.5 * (chunks[0] / pairs[0]) ** 3) * p * r / (0.9 * p + 0.1 * r)
    assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", [slow(SUMMEVAL), slow(WMT16), slow(WEBNLG)])
def test_equals_nltk_on_real_text(name):
    predictions, references = texts(name)
    expected = [official(p, r) for p, r in zip(predictions, references, strict=True)]
    assert scores(predictions, references) == pytest.approx(expected, abs=1e-12)


def test_precision_recall_and_penalty_are_the_parts_of_the_score():
    # "a c" against "a b c d": 2 matches that are 2 chunks. P = 1, R = 1/2, penalty 0.5 * 1.
    scores = ours(["a c"], ["a b c d"]).scores()["meteor"]
    score = (1 - 0.5) * 0.5 / (0.9 + 0.1 * 0.5)
    assert scores == pytest.approx({"score": score, "precision": 1, "recall": 0.5, "penalty": 0.5})


@pytest.mark.parametrize(("prediction", "reference"), [("", "a"), ("a", ""), ("", ""), ("a", "b")])
def test_no_match_scores_zero_as_in_nltk(prediction, reference):
    scores = ours([prediction], [reference]).scores()["meteor"]
    assert set(scores.values()) == {0.0}


def test_the_tokenizer_decides_what_a_word_is():
    # One match of one word: 1 - 0.5 = 0.5; with the point apart two matches in a chunk, of 2 and
    # 2 words for "13a", of which "unicode" drops the point again.
    texts = ["Mat."], ["mat."]
    assert scores(*texts).tolist() == [0.5]
    assert scores(*texts, tokenizer="13a").tolist() == [1 - 0.5 / 8]
    assert scores(["Mat."], ["mat"], tokenizer="unicode").tolist() == [0.5]
    assert scores(["Mat."], ["mat"]).tolist() == [0.0]


# nltk's `regex` doesn't count U+001C to U+001F as white space, `re` does.
PIECES = st.sampled_from(
    [
        *"aAts.,:;'\"`()[]<>{}?!*-–—«»“”‘’„@#$%& \n\t19İ中é",
        *("n't", "'ll", "'S", "cannot", "d'ye", "gimme", "gonna", "gotta", "lemme", "more'n"),
        *("wanna", "'tis", "'twas", "..", "--", " ", "word", "'re", "N'T", "''", '."', ".) "),
    ]
)


@settings(max_examples=500)
@example("```")
@example("a ````b ````` c")
@given(st.lists(PIECES, max_size=9).map("".join))
def test_words_of_a_sentence_are_those_of_nltks_tokenizer(sentence):
    assert sentence_tokens(sentence) == [word.lower() for word in nltk_words(sentence)]


@settings(max_examples=500)
@given(st.lists(PIECES, max_size=9).map("".join), st.lists(PIECES, max_size=9).map(" ".join))
def test_words_of_remembered_chunks_are_those_of_the_sentence(dense, spaced):
    for sentence in (dense, spaced):
        assert remembered_tokens(sentence) == sentence_tokens(sentence)


@settings(max_examples=500)
@example(["a. B", " a", "Yes. ", "\ud83d\ude00 a", "a\tb c", "", "One. Two two! Three", '"中。"中'])
@given(st.lists(st.lists(st.one_of(PIECES, st.just("One two. ")), max_size=9).map("".join)))
def test_words_of_a_column_are_those_of_each_text(column):
    assert word_tokens.of_column(Texts(column)).all_strings() == list(map(word_tokens, column))


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16), slow(WEBNLG)])
def test_words_of_real_texts_are_those_of_nltks_tokenizer(name):
    predictions, references = texts(name)
    for text in {*predictions, *(reference for group in references for reference in group)}:
        words = [word.lower() for word in nltk_words(text)]
        assert sentence_tokens(text) == remembered_tokens(text) == words


def test_the_default_splits_words_as_nltk_sentence_by_sentence():
    # "can't" is "ca" and "n't", "Stop." is "Stop" and "."; the point in the middle ends a sentence.
    scores = Hub("meteor")(predictions=["I can't. Stop."], references=["ca n't"])["meteor"]
    assert scores["precision"] == pytest.approx(2 / 6)
    assert scores["recall"] == 1


def test_a_lone_surrogate_is_read():
    assert Hub("meteor")(predictions=["a \ud800"], references=["a b"])["meteor"]["recall"] == 0.5


def test_a_note_says_how_far_scores_without_synonyms_are_from_evaluates():
    def notes(metric):
        return Hub(f"m = {metric}").evaluate(predictions=["a"], references=["a"]).notes().get("m")

    assert "newstest2016" in "".join(notes("meteor()"))
    assert not notes("meteor(tokenizer='13a')")


@pytest.fixture
def wordnet(tmp_path):
    """A folder in WordNet's format (wndb(5WN)) with "car, auto" and "be, exist"."""
    empty = "  1 a line of the licence  \n"
    for part in ("noun", "verb", "adj", "adv"):
        for kind in ("index", "data"):
            (tmp_path / f"{kind}.{part}").write_text(empty)
        (tmp_path / f"{part}.exc").write_text("")
    at = len(empty)
    nouns = f"{at:08} 06 n 03 car 0 auto(p) 0 motor_car 0 000 | a vehicle\n"
    (tmp_path / "data.noun").write_text(empty + nouns)
    (tmp_path / "index.noun").write_text(f"{empty}car n 1 0 1 1 {at:08}  \n")
    verbs = f"{at:08} 42 v 02 be 0 exist 0 000 01 + 01 00 | have an existence\n"
    (tmp_path / "data.verb").write_text(empty + verbs)
    (tmp_path / "index.verb").write_text(f"{empty}be v 1 1 @ 1 1 {at:08}  \n")
    (tmp_path / "verb.exc").write_text("was be\n")
    return str(tmp_path)


def test_synonyms_are_read_from_wordnet_files(wordnet):
    # "cars" is "car" with an ending, "was" an exception; "motor_car" is no single word.
    result = open_wordnet(wordnet)
    assert result.synonyms("cars") == {"car", "auto"}
    assert result.synonyms("was") == {"be", "exist"}
    assert result.synonyms("") == result.synonyms("auto") == set()
    assert scores(["car"], ["auto"], synonyms=wordnet).tolist() == [0.5]
    assert scores(["car"], ["auto"]).tolist() == [0.0]


def test_wordnet_is_found_where_nltk_puts_it(wordnet, tmp_path, monkeypatch):
    from zipfile import ZipFile

    folder = tmp_path / "nltk" / "corpora"
    folder.mkdir(parents=True)
    with ZipFile(folder / "wordnet.zip", "w") as archive:
        for file in tmp_path.glob("*.*"):
            archive.write(file, f"wordnet/{file.name}")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    open_wordnet.cache_clear()
    assert open_wordnet("auto").synonyms("car") == {"car", "auto"}
    open_wordnet.cache_clear()


def test_missing_files_say_what_to_install(tmp_path):
    with pytest.raises(MissingDependency, match=r"nltk\.downloader wordnet"):
        ours(["a"], ["b"], synonyms=str(tmp_path))
