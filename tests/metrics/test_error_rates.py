"""Error rates of words and of characters: jiwer 4.0 as oracle, edge cases, several references."""

from typing import Any

import jiwer
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from metric_cards.cer.graphemes import graphemes
from metrichub import Hub, load_metric
from metrichub.errors import Doubt
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

NAMES = ("wer", "cer")
BOTH = pytest.mark.parametrize("name", NAMES)
RATES = ("wer", "mer", "wil", "wip")
COUNTS = ("hits", "substitutions", "deletions", "insertions")
TEXT = st.text(st.sampled_from("aabbcÀaİßAé\u0301中😀.,-'»  \t\n\u00a0\u2028\u3000"), max_size=25)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8)


def rate(
    name: str, predictions: list[str], references: list[Any], **parameters: Any
) -> dict[str, Any]:
    """The outputs for a corpus."""
    hub = Hub(metrics=load_metric(name, **parameters))
    return dict(hub(predictions=predictions, references=references)[name])


def official(
    name: str, predictions: list[str], references: list[str], *transforms: Any
) -> dict[str, float]:
    """The scores that jiwer gives, some transforms standing before its default ones.

    Of characters too: its `process_characters` has no MER, WIL and WIP.
    """
    default = {
        "wer": [jiwer.RemoveMultipleSpaces(), jiwer.Strip(), jiwer.ReduceToListOfListOfWords()],
        "cer": [jiwer.Strip(), jiwer.ReduceToListOfListOfChars()],
    }
    transform = jiwer.Compose([*transforms, *default[name]])
    result = jiwer.process_words(references, predictions, transform, transform)
    outputs = {output: float(getattr(result, output)) for output in (*RATES, *COUNTS)}
    return {"score": outputs.pop("wer"), **outputs}


@pytest.mark.parametrize("vector", vectors(*RATES, "cer"))
def test_conformance(vector: dict[str, Any]) -> None:
    name, output = {"wer": ("wer", "score"), "cer": ("cer", "score")}.get(
        vector["metric"], ("wer", vector["metric"])
    )
    result = rate(name, vector["predictions"], vector["references"])[output]
    assert result == pytest.approx(vector["expected"], abs=vector["tolerance"])


# Values of Morris et al. (2004), as the tests of jiwer give them.
@pytest.mark.parametrize(
    ("reference", "prediction", "rates"),
    [
        ("X", "X", (0, 0, 0)),
        ("X", "X X Y Y", (3, 3 / 4, 3 / 4)),
        ("X Y X", "X Z", (2 / 3, 2 / 3, 5 / 6)),
        ("X", "Y", (1, 1, 1)),
        ("X", "Y Z", (2, 1, 1)),
    ],
)
def test_the_examples_of_the_paper(
    reference: str, prediction: str, rates: tuple[float, float, float]
) -> None:
    result = rate("wer", [prediction], [reference])
    assert (result["score"], result["mer"], result["wil"]) == pytest.approx(rates)


@pytest.mark.parametrize(
    ("name", "predictions", "references", "score", "counts"),
    [
        # "a" is deleted and "f" inserted: 2 edits for 5 words.
        ("wer", ["b c d e f"], ["a b c d e"], 2 / 5, (4, 0, 1, 1)),
        # kitten -> sitting: s for k, i for e, and the g that the prediction lacks.
        ("cer", ["kitten"], ["sitting"], 3 / 7, (4, 2, 1, 0)),
        # Pooled: one insertion for 1 word and one deletion for 3; 1 edit for 1 character, 0 for 3.
        ("wer", ["i am", "i good"], ["i", "am i good"], 2 / 4, (3, 0, 1, 1)),
        ("cer", ["b", "abc"], ["a", "abc"], 1 / 4, (3, 1, 0, 0)),
        # The lowest rate: against "a b" 2 edits for 2 words, against "c d e" 1 for 3.
        ("wer", ["c d"], [["a b", "c d e"]], 1 / 3, (2, 0, 1, 0)),
        ("cer", ["grey"], [["gray sky", "gray"]], 1 / 4, (3, 1, 0, 0)),
        # A lone tab or no-break space joins words as in jiwer; between blanks it is white space.
        ("wer", ["a\tb c\u00a0d"], ["a b c d"], 1, (0, 2, 2, 0)),
        ("wer", ["a \t b  \n c d"], ["a b c d"], 0, (4, 0, 0, 0)),
        # "a  b" has one space more than the three characters of "a b"; those at the ends are none.
        ("cer", [" a  b\n"], ["a b"], 1 / 3, (3, 0, 0, 1)),
        # "e" and the combining accent for the one code point: a replacement and an insertion.
        ("cer", ["e\u0301"], ["\u00e9"], 2, (0, 1, 0, 1)),
    ],
)
def test_every_edit_is_counted_by_its_kind(
    name: str, predictions: list[str], references: list[Any], score: float, counts: tuple[int, ...]
) -> None:
    result = rate(name, predictions, references)
    assert result["score"] == pytest.approx(score)
    assert tuple(result[count] for count in COUNTS) == counts


# jiwer 4.0: "insertions" for a rate without a reference, and silence heard as silence is right.
@pytest.mark.parametrize(
    ("name", "prediction", "reference", "expected"),
    [
        ("wer", "hello there", "", (2, 1, 1, 0)),
        ("wer", "", "hello there", (1, 1, 1, 0)),
        ("wer", "", "", (0, 0, 0, 1)),
        ("wer", " \n ", "\t", (0, 0, 0, 1)),
        ("cer", "hello", "", (5, 1, 1, 0)),
        ("cer", "", "hi", (1, 1, 1, 0)),
        ("cer", " ", "\n", (0, 0, 0, 1)),
    ],
)
def test_empty_texts_score_as_in_jiwer(
    name: str, prediction: str, reference: str, expected: tuple[float, ...]
) -> None:
    result = rate(name, [prediction], [reference])
    assert (result["score"], result["mer"], result["wil"], result["wip"]) == expected


@pytest.mark.parametrize(
    ("references", "score"),
    [
        # Half of (2 edits, 2 words) and half of (1 edit, 3 words): 1.5 edits for 2.5 words.
        (["a b", "c d e"], 1.5 / 2.5),
        # An empty one: half of (2 insertions, 0 words) and half of (0 edits, 2 words).
        (["", "c d"], 1),
    ],
)
def test_the_mean_of_the_references_weighs_their_counts_alike(
    references: list[str], score: float
) -> None:
    hub = Hub(metrics="wer", reduce="mean")(predictions=["c d"], references=[references])
    assert hub["wer"]["score"] == pytest.approx(score)


@BOTH
@given(PAIRS)
def test_corpora_equal_jiwer(name: str, pairs: list[tuple[str, str]]) -> None:
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    result = rate(name, predictions, references)
    assert result == pytest.approx(official(name, predictions, references))


@BOTH
@given(PAIRS, st.booleans(), st.booleans())
def test_samples_and_parameters_equal_jiwer(
    name: str, pairs: list[tuple[str, str]], lowercase: bool, punctuation: bool
) -> None:
    transforms: list[Any] = [jiwer.ToLowerCase()] if lowercase else []
    transforms += [] if punctuation else [jiwer.RemovePunctuation()]
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    metric = load_metric(name, lowercase=lowercase, punctuation=punctuation)
    report = Hub(metrics=metric).evaluate(predictions=predictions, references=references)
    rows = report.samples()[name]
    for row, pair in enumerate(pairs):
        expected = official(name, [pair[0]], [pair[1]], *transforms)
        assert {output: rows[output][row] for output in expected} == pytest.approx(expected)


@BOTH
@given(TEXT, st.lists(TEXT, min_size=1, max_size=4))
def test_several_references_equal_the_best_of_jiwer(
    name: str, prediction: str, references: list[str]
) -> None:
    each = [official(name, [prediction], [reference]) for reference in references]
    best = min(each, key=lambda outputs: outputs["score"])
    assert rate(name, [prediction], [references]) == pytest.approx(best)


@BOTH
@pytest.mark.parametrize("data", [SUMMEVAL, slow(WMT16)])
def test_real_texts_equal_jiwer(name: str, data: str) -> None:
    predictions, groups = texts(data)
    references = [group[0] for group in groups]
    report = Hub(metrics=name).evaluate(predictions=predictions, references=references)
    assert report.scores()[name] == pytest.approx(official(name, predictions, references))
    samples = report.samples()[name]
    for row, (prediction, reference) in enumerate(zip(predictions, references, strict=True)):
        expected = official(name, [prediction], [reference])
        assert {output: samples[output][row] for output in expected} == pytest.approx(expected)


@pytest.mark.parametrize("number", [100, 200, 40_000])
def test_many_different_words_are_all_told_apart(number: int) -> None:
    # Each size of vocabulary is held by another type: ids of 1 byte, of 2, and of more.
    predictions = " ".join(f"a{i}" for i in range(number))
    references = " ".join(f"b{i}" for i in range(number))
    assert rate("wer", [predictions], [references])["score"] == 1
    assert rate("wer", [references], [references])["score"] == 0


@pytest.mark.corpora
def test_the_best_references_of_webnlg_give_the_published_pooled_rate() -> None:
    predictions, references = texts(WEBNLG)
    report = Hub(metrics="wer").evaluate(predictions=predictions, references=references)
    # jiwer over the best reference of each sample: 0.644 pooled, 0.585 as a mean of samples.
    assert report.scores()["wer"]["score"] == pytest.approx(0.644, abs=5e-4)
    assert report.samples()["wer"]["score"].mean() == pytest.approx(0.585, abs=5e-4)


@pytest.mark.parametrize(
    ("predictions", "references", "doubted"),
    [
        (["hello there", ""], ["", " "], True),
        (["hello there", "a"], ["", "a"], False),
        (["", ""], ["", ""], False),
    ],
)
@BOTH
def test_empty_references_alone_are_doubted(
    name: str, predictions: list[str], references: list[str], doubted: bool
) -> None:
    report = Hub(name).evaluate(predictions=predictions, references=references)
    notes = report.notes().get(name, ())
    assert [isinstance(note, Doubt) for note in notes] == [True] * doubted
    assert all(note.startswith("all references are empty, so the score is") for note in notes)
    expected = official(name, predictions, references)
    assert report.scores()[name]["score"] == pytest.approx(expected["score"])


@pytest.mark.parametrize(
    ("reference", "prediction", "expected"),
    [
        # Five letters with their vowels, of which two are wrong; of code points, two of eight.
        ("मेरी दाल", "मेरा दिल", 2 / 5),
        ("กำลังดี", "กำลังดู", 1 / 4),
        # Unicode sets Burmese AA apart, which is a vowel sign as others are.
        ("မာမီ", "မီမီ", 1 / 2),
        ("cafe\u0301", "cafe", 1 / 4),
        ("a👨‍👩‍👧b", "a👨‍👩‍👦b", 1 / 3),
        ("🇩🇪🇫🇷", "🇩🇪", 1 / 2),
        (" ab ", "ab", 0),
    ],
)
@pytest.mark.parametrize("alignment", [True, False])
def test_graphemes_are_compared_as_one(
    reference: str, prediction: str, expected: float, alignment: bool
) -> None:
    metric = load_metric("cer", unit="grapheme", alignment=alignment)
    report = Hub(metric).evaluate(predictions=[prediction], references=[reference])
    assert report.scores()["cer"]["score"] == pytest.approx(expected)
    (step,) = report.explain("cer", 0).steps
    assert step["edits"] == round(expected * len(graphemes(reference)))


# Substitutions, deletions, insertions and units by wenet's compute-wer.py at 01546996 with --char=1
# --cs=1, and by jiwer 4.0 after BasicTextNormalizer(split_letters=True), whisper-normalizer 0.1.12.
@pytest.mark.parametrize(
    ("spec", "prediction", "reference", "counts"),
    [
        ("wer(unit='mixed')", "我想 buy 一个 phone", "我 想 buy 一 个 phone", (0, 0, 0, 6)),
        ("wer(unit='mixed')", "我想买一个 phone", "我想 buy 一个 phone", (1, 0, 0, 6)),
        ("wer(unit='mixed')", "他在 Google工作 三年", "他在google 工作了 三 年", (1, 1, 0, 8)),
        ("wer(unit='mixed', punctuation=False)", "你好，world！", "你好world", (0, 0, 0, 3)),
        ("wer(unit='mixed')", "これは pen です", "それは a pen です", (1, 1, 0, 7)),
        ("wer(unit='mixed')", "kitten sat", "sitting sat", (1, 0, 0, 2)),
        ("wer(unit='mixed')", "ผม ชอบ coffee มาก", "ผมชอบ tea มาก", (1, 0, 0, 9)),
        ("wer(unit='mixed')", "今天 天气 很好", "今天天气好", (0, 0, 1, 5)),
        ("cer(spaces=False)", "今天 天气 很好", "今天天气好", (0, 0, 1, 5)),
        ("cer(whisper-letters)", "今天，天气 很好。", "今天天气好", (0, 0, 1, 5)),
        ("cer(whisper-letters)", "これは ペン です。", "それはペンです", (1, 0, 0, 7)),
        ("cer(whisper-letters)", "ｱﾒﾘｶ １２", "アメリカ12", (0, 0, 0, 6)),
        ("cer(whisper-letters)", "Hello 世界!", "hello世界", (0, 0, 0, 7)),
        ("cer(whisper-letters)", "ผมชอบกาแฟ", "ผมชอบชา", (1, 0, 2, 7)),
        ("cer(whisper-letters, marks='official')", "ມື້ນີ້ດີ", "ມື້ນີ້ບໍ່ດີ", (0, 1, 0, 4)),
        ("cer(whisper-letters, marks='official')", "မြန်မာ", "မြန်ပြည်", (1, 1, 0, 4)),
    ],
)
def test_speech_of_scripts_without_spaces_counts_as_in_wenet_and_whisper(
    spec: str, prediction: str, reference: str, counts: tuple[int, ...]
) -> None:
    scores = Hub(f"m = {spec}")(predictions=[prediction], references=[reference])["m"]
    assert tuple(scores[count] for count in COUNTS[1:]) == counts[:3]
    assert scores["score"] == pytest.approx(sum(counts[:3]) / counts[3])


def test_words_that_have_no_spaces_get_the_advice_to_count_mixed_units() -> None:
    report = Hub("wer").evaluate(predictions=["我想买一个"], references=["我想要一个"])
    assert any("choose unit='mixed'" in note for note in report.notes()["wer"])
    report = Hub("wer(unit='mixed')").evaluate(
        predictions=["我想买一个"], references=["我想要一个"]
    )
    assert not report.notes()
    report = Hub("cer").evaluate(predictions=["今天 天气 好"], references=["今天天气好"])
    assert any("choose spaces=False" in note for note in report.notes()["cer"])


@pytest.mark.parametrize(
    "text",
    [
        "กำลังดีใจ น้ำ", "မြန်ပြည်", "ភាសា", "סֵפֶר טוֹב", "كَتَبَ كُتُب", "தமிழ் மொழி",
        "Ex\u0301te\u0302\u0301", "👍🏽👨‍👩‍👧‍👦🇩🇪🇫🇷🇬❤️☎︎", "각\u1100\u1161\u11a8", "",
    ],
)  # fmt: skip
def test_graphemes_are_those_of_unicode_but_for_conjuncts(text: str) -> None:
    assert graphemes(text) == regex.findall(r"\X", text)


@given(TEXT)
def test_graphemes_lose_nothing(text: str) -> None:
    assert "".join(graphemes(text)) == text.strip()
