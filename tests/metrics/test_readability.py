"""Readability: textstat 0.7.13 with pysyllables for its downloaded dictionary, and hand counts."""

import sys
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metric_cards.readability import counts, familiar, syllables
from metric_cards.readability.languages import is_in_another
from metrichub import Hub, load_metric
from metrichub.errors import Doubt, MissingDependency
from tests.vectors import SUMMEVAL, corpus, texts, vectors

OUTPUTS = {
    "flesch_reading_ease": "score",
    "flesch_kincaid_grade": "flesch_kincaid_grade",
    "gunning_fog": "gunning_fog",
    "coleman_liau_index": "coleman_liau",
    "automated_readability_index": "ari",
    "smog_index": "smog",
    "lix": "lix",
    "rix": "rix",
    "dale_chall_readability_score": "dale_chall",
}
UNMET = ("flesch_reading_ease-05", "flesch_kincaid_grade-05")
TEXT = st.one_of(
    st.lists(
        st.sampled_from(
            [
                *("The", "interesting", "dogs'", "don't", "it'll", "well-balanced", "U.S.", "3.5"),
                *("Anna's", "a", "university", "...", "!", "Mr.", "'quoted'", "é", "naïve", "\n"),
            ]
        ),
        max_size=30,
    ).map(" ".join),
    st.text(st.characters(max_codepoint=0x17F, exclude_categories=["Cs"]), max_size=40),
)


def score(*texts, **parameters):
    return Hub(load_metric("readability", **parameters))(predictions=list(texts))["readability"]


@pytest.fixture(scope="module")
def textstat():
    """The package's functions, with syllables from pysyllables in the place of a download."""
    pysyllables = pytest.importorskip("pysyllables", reason="pysyllables is not installed")
    metrics = pytest.importorskip("textstat.backend.metrics", reason="textstat is not installed")
    module = sys.modules["textstat.backend.counts._count_syllables"]
    expected = {w: [["A1"] * n] for w, n in pysyllables.SYLLABLE_COUNTS.items()}
    patch = pytest.MonkeyPatch()
    patch.setattr(module, "get_cmudict", lambda lang: expected if "en" in lang else None)
    yield {name: partial(call, getattr(metrics, name), name) for name in OUTPUTS}
    patch.undo()


def call(function, name, text):
    plain = ("coleman_liau_index", "automated_readability_index", "lix", "rix")
    return function(text) if name in plain else function(text, "en_US")


@pytest.mark.parametrize("vector", vectors(*OUTPUTS))
def test_vector(vector, request):
    if vector["id"] in UNMET:
        reason = "pysyllables gives 'interesting' four syllables; see the card"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    result = score(*vector["predictions"], convention="textstat")[OUTPUTS[vector["metric"]]]
    assert result == pytest.approx(vector["expected"], abs=vector["tolerance"])


@given(TEXT)
@example("0İAJ0")
def test_textstat_convention_equals_textstat(textstat, text):
    result = score(text, convention="textstat")
    for name, official in textstat.items():
        assert result[OUTPUTS[name]] == pytest.approx(official(text), abs=1e-9), name


def assert_equals_textstat(textstat, predictions):
    hub = Hub(load_metric("readability", convention="textstat"))
    samples = hub.evaluate(predictions=predictions).samples()["readability"]
    for name, official in textstat.items():
        expected = [official(text) for text in predictions]
        assert samples[OUTPUTS[name]].tolist() == pytest.approx(expected, abs=1e-9), name


def test_textstat_convention_equals_textstat_on_real_summaries(textstat):
    predictions, _ = texts(SUMMEVAL, 150)
    assert_equals_textstat(textstat, predictions)


def test_textstat_convention_equals_textstat_on_real_articles(textstat):
    rows = corpus("summ_summeval_docs.jsonl", 20)
    assert_equals_textstat(textstat, [row["src"] for row in rows])


def test_all_formulas_on_a_text_counted_by_hand():
    # "The committee rewarded Anna. It was created again." has 8 words in 2 sentences.
    # Syllables: the 1, com-mit-tee 3, re-ward-ed 3, An-na 2 | it 1, was 1, cre-at-ed 3, a-gain 2:
    # 16. Letters: 3+9+8+4 + 2+3+7+5 = 41. Three syllables: committee, rewarded, created: 3; complex
    # only committee, since -ed makes the third syllable of the others. Long: committee, rewarded,
    # created: 3. Not familiar: committee, rewarded (reward is in the list), created (create isn't).
    result = score("The committee rewarded Anna. It was created again.")
    hard = 100 * found_difficult() / 8
    assert result["score"] == pytest.approx(206.835 - 1.015 * 4 - 84.6 * 2)
    assert result["flesch_kincaid_grade"] == pytest.approx(0.39 * 4 + 11.8 * 2 - 15.59)
    assert result["gunning_fog"] == pytest.approx(0.4 * (4 + 100 / 8))
    assert result["coleman_liau"] == pytest.approx(0.0588 * 4100 / 8 - 0.296 * 200 / 8 - 15.8)
    assert result["ari"] == pytest.approx(4.71 * 41 / 8 + 0.5 * 4 - 21.43)
    assert result["smog"] == pytest.approx(1.043 * (30 * 3 / 2) ** 0.5 + 3.1291)
    assert result["lix"] == pytest.approx(4 + 100 * 3 / 8)
    assert result["rix"] == pytest.approx(3 / 2)
    assert result["dale_chall"] == pytest.approx(0.1579 * hard + 0.0496 * 4 + 3.6365)


def found_difficult():
    return sum(w not in familiar.easy_words() for w in ("committee", "reward", "create"))


def test_texts_count_as_one():
    # Two sentences of 2 and 4 words of one syllable: 3 words a sentence.
    result = score("Dogs bark.", "The cat sat down.")
    assert result["score"] == pytest.approx(206.835 - 1.015 * 3 - 84.6)


def test_a_text_without_words_is_unscored_but_zero_in_textstat():
    report = Hub("readability").evaluate(predictions=["...", "Dogs bark."])
    assert report.counts()["readability"]["unanswered"] == 1
    assert score("", convention="textstat")["score"] == 0.0


@pytest.mark.parametrize(
    ("word", "number"),
    [
        *(("fabulous", 3), ("Anna's", 2), ("well-balanced", 3), ("don’t", 1), ("1918", 1)),
        # Not in the dictionary: too short to be hyphenated, and "grand-moth-er-less".
        *(("zq", 1), ("grandmotherless", 4)),
    ],
)
def test_syllables(word, number):
    assert syllables.syllables(word) == number


@pytest.mark.parametrize("word", ["Cats", "running", "happiest", "don’t", "1,000", "boy's"])
def test_inflections_and_numbers_are_familiar(word):
    assert familiar.is_familiar(word)


@pytest.mark.parametrize("word", ["quark", "s", "ing", "cat-quark", "Übung"])
def test_other_words_are_not(word):
    assert not familiar.is_familiar(word)


def test_names_inside_a_sentence_are_neither_complex_nor_difficult():
    result = counts.of_papers("We saw Alexandria. Alexandria is old.")
    assert (result.complex_words, result.difficult_words) == (1, 1)


@pytest.mark.parametrize("package", ["pysyllables", "pyphen", "textstat"])
def test_a_missing_package_is_named_with_its_extra(package, monkeypatch):
    for function in (syllables._dictionary, syllables._hyphens, familiar.easy_words):
        monkeypatch.setattr(
            sys.modules[function.__module__], function.__name__, function.__wrapped__
        )
    for function in (syllables._simple, syllables.syllables, familiar.is_familiar):
        getattr(function, "cache_clear", lambda: None)()
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(familiar, "find_spec", lambda name: None if package == "textstat" else spec)
    with pytest.raises(MissingDependency, match=rf"{package}.*metrichub\[readability\]"):
        score("Zzkwqing tests.")


spec = familiar.find_spec("textstat")


TEXTS = {
    "en": "The dog runs quickly across the street. It barks at all of the parked cars!",
    "de": "Der Hund läuft schnell über die Straße. Er bellt alle geparkten Kraftfahrzeuge an!",
    "es": "El perro corre rápido por la calle. Ladra a todos los coches estacionados.",
    "fr": "Le chien court vite dans la rue. Il aboie après toutes les voitures stationnées.",
    "it": "Il cane attraversa velocemente la strada. Abbaia alle macchine che non sono nel garage.",
    "nl": "De hond rent snel over de straat. Hij blaft naar alle geparkeerde auto's van het dorp.",
    "ru": "Собака быстро бежит по улице и лает. Она не любит автомобили, но любит всех людей.",
    "hu": "A kutya gyorsan fut az utcán és ugat. Nem szereti az autókat, de minden embert szeret.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_other_languages_have_the_numbers_of_textstat(textstat, language):
    result = score(TEXTS[language], convention="textstat", language=language)
    ease = textstat["flesch_reading_ease"].args[0]
    lang = "en_US" if language == "en" else language
    assert result["score"] == pytest.approx(ease(TEXTS[language], lang), abs=1e-9)
    for name in ("lix", "rix"):
        assert result[name] == pytest.approx(textstat[name](TEXTS[language]), abs=1e-9)
    assert ({*result} == {"score", "lix", "rix"}) == (language != "en")


def test_german_by_hand():
    # "Kat-zen schla-fen. Hun-de bel-len laut." has 5 words in 2 sentences, and 9 syllables.
    result = score("Katzen schlafen. Hunde bellen laut.", language="de")
    assert result["score"] == pytest.approx(180 - 5 / 2 - 58.5 * 9 / 5)
    # Long words, of more than 6 letters: schlafen.
    assert result["lix"] == pytest.approx(5 / 2 + 100 / 5)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("language", TEXTS)
def test_texts_in_another_language_are_doubted(text, language):
    unread = "ru" in (text, language)  # Unscored for their letters.
    if unread and text != language:
        return
    report = Hub(load_metric("readability", language=text)).evaluate(predictions=[TEXTS[language]])
    notes = report.notes().get("readability", ())
    assert [isinstance(note, Doubt) for note in notes] == ([True] if text != language else [])
    assert all(note.startswith("1 text seems to be in another language") for note in notes)


@pytest.mark.parametrize(
    ("text", "doubted"),
    [
        ("Hôm nay trời đẹp quá và tôi muốn đi chơi với bạn bè của tôi.", True),
        ("Die Regierung hat am Montag neue Regeln für den Verkehr beschlossen.", True),
        ("O cão corre rápido pela rua e ladra para os carros.", True),
        # Names, headlines, few words and foreign words in English are no other language.
        ("Café owners in Zürich met Beyoncé, Renée Zellweger and Łukasz.", False),
        ("Trump's Supreme Court nominee Neil Gorsuch faces Senate vote", False),
        ("Der Spiegel, Die Zeit", False),
        ("He said 'das ist nicht gut' and left the room for an hour.", False),
        ("ciao", False),
    ],
)
def test_english_isn_t_taken_for_another_language(text, doubted):
    notes = Hub("readability").evaluate(predictions=[text] * 2).notes().get("readability", ())
    assert [note.startswith("2 texts seem to be in another") for note in notes] == [True] * doubted


def test_no_summary_or_article_is_taken_for_another_language():
    result = [*texts(SUMMEVAL)[0], *(row["src"] for row in corpus("summ_summeval_docs.jsonl", 100))]
    assert not [text for text in result if is_in_another(text, "en")]
