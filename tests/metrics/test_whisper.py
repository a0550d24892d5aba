"""Whisper's normalizers: what openai-whisper made of several hundred texts, and what it refuses."""

import subprocess
import sys
from math import isnan, nan

import pytest

from metric_cards._bases.whisper import NORMALIZERS
from metrichub import Hub, Report, load_metric
from metrichub.errors import Doubt
from tests.vectors import whisper_texts


@pytest.mark.parametrize("name", NORMALIZERS)
def test_texts_become_what_openai_whisper_makes_of_them(name: str) -> None:
    rows = whisper_texts()
    result = {row["text"]: NORMALIZERS[name](row["text"]) for row in rows}
    assert result == {row["text"]: row[name] for row in rows}
    assert len(result) > 500


@pytest.mark.parametrize("zeros", [0, 3990, 4200, 5000])
def test_numbers_too_long_for_an_integer_stay_in_digits(zeros: int) -> None:
    # openai-whisper raises an error from 4,300 digits on, where Python refuses to convert them.
    number = "2" + "0" * zeros
    assert NORMALIZERS["whisper"](f"{number} dollars") == f"${number}"
    assert NORMALIZERS["whisper"](f"{number}.5 million").split()[0].startswith(number)


def test_case_and_punctuation_can_still_be_chosen() -> None:
    # "$20" keeps its sign, which isn't punctuation; "%" is, so one of three words differs.
    for punctuation, expected in ((True, 1 / 3), (False, 0)):
        metric = load_metric("wer", normalizer="whisper", punctuation=punctuation)
        hub = Hub(metric)(predictions=["Up 5% now"], references=["up five now"])
        assert hub["wer"]["score"] == pytest.approx(expected)


def test_the_rules_are_loaded_only_where_they_are_used() -> None:
    program = """if True:
        import sys
        from metrichub import Hub
        for spec in ("wer", "wer(whisper)"):
            Hub(spec)(predictions=["a"], references=["b"])
            print("metric_cards._bases.whisper" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done.stderr


VOWELS = [
    # The last word has another vowel, which is a mark (Unicode's category M).
    ("hi", "मेरी दाल", "मेरी दिल"),
    ("bn", "আমি খাই", "আমি খুই"),
    ("te", "నేను పాలు", "నేను పేలు"),
    ("pa", "ਮੇਰਾ ਦਿਲ", "ਮੇਰਾ ਦਾਲ"),
    ("th", "ดี มี", "ดี มุ"),
    ("km", "ខ្ញុំ ទៅ", "ខ្ញុំ ទី"),
    ("my", "ကို မာ", "ကို မီ"),
    ("he", "סֵפֶר טוֹב", "סֵפֶר טוּב"),
    ("ar", "كَتَبَ كُتُب", "كَتَبَ كَتَب"),
]


def marks_doubted(report: Report, metric: str) -> list[str]:
    """The doubts about marks, which the letters of some scripts have beside others."""
    notes = report.notes().get(metric, ())
    return [note for note in notes if isinstance(note, Doubt) and "vowel marks" in note]


@pytest.mark.parametrize(("language", "reference", "prediction"), VOWELS)
def test_vowels_that_are_marks_can_be_kept_and_else_leave_the_sample_unscored(
    language: str, reference: str, prediction: str
) -> None:
    specs = {
        "drop": "wer(whisper-basic)",
        "official": "wer(whisper-basic, marks='official')",
        "keep": "wer(whisper-basic, marks='keep')",
        "english": "wer(whisper, marks='keep')",
    }
    hub = Hub([f"{name} = {spec}" for name, spec in specs.items()])
    report = hub.evaluate(predictions=[prediction], references=[reference])
    scores = {name: score["score"] for name, score in report.scores().items()}
    # Whisper makes spaces of all marks: nothing is wrong. One of two words is.
    assert scores == pytest.approx(
        {"drop": nan, "official": 0, "keep": 0.5, "english": 0.5}, nan_ok=True
    )
    assert report.counts()["drop"]["unscored"] == 1
    assert any("drops vowel marks of over half" in note for note in report.notes()["drop"])
    (doubt,) = marks_doubted(report, "official")
    assert doubt.startswith("the normalizer drops vowel marks in 1 sample, ")
    assert marks_doubted(report, "keep") + marks_doubted(report, "english") == []


@pytest.mark.parametrize(
    ("reference", "doubted"),
    [
        # Accents, variants of symbols and letters that NFKD takes apart aren't vowel marks.
        ("Él comió piñas ❤️, ёлка и май, Ελλάδα, Việt Nam, e\u0301te\u0301, n\u0308", 0),
        ("한국어 日本語 東京 مدرسة טוב", 0),
        ("this is the one word हिन्दी in ten or more of them", 0),
        ("the word हिन्दी is Hindi", 1),
    ],
)
def test_few_marks_are_scored_and_counted(reference: str, doubted: int) -> None:
    for normalizer in ("whisper", "whisper-basic"):
        metric = load_metric("wer", normalizer=normalizer)
        report = Hub(metric).evaluate(predictions=[reference], references=[reference])
        assert report.scores()["wer"]["score"] == 0
        assert "unscored" not in report.counts()["wer"]
        assert len(marks_doubted(report, "wer")) == doubted


def test_over_half_of_such_samples_withhold_the_mean() -> None:
    texts = ["मेरी दाल", "मेरी दिल", "a cat"]
    report = Hub("cer(whisper)").evaluate(predictions=texts, references=texts)
    assert isnan(report.scores()["cer"]["score"])
    assert report.samples()["cer"]["score"].tolist() == pytest.approx([nan, nan, 0], nan_ok=True)
    half = report.take([1, 2])
    assert half.scores()["cer"] == pytest.approx(report.take([2]).scores()["cer"])
    assert half.counts()["cer"] == {"unscored": 1}


@pytest.mark.parametrize("name", NORMALIZERS)
def test_kept_marks_change_no_text_without_any(name: str) -> None:
    rows = [row for row in whisper_texts() if max(row["text"], default="") < "\u0300"]
    assert {row["text"]: NORMALIZERS[name](row["text"], keep_marks=True) for row in rows} == {
        row["text"]: row[name] for row in rows
    }
    assert len(rows) > 100
