"""Notes on letters that a tokenizer can't cut into words, or drops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.authoring import Array, Metric, Texts
from metrichub.text import Tokenizer, lengths
from tests.toy_metrics import card

CHINESE = "我喜欢在公园里散步。"
JAPANESE = "私は公園で散歩するのが好きです。"
THAI = "ฉันชอบเดินเล่นในสวนสาธารณะ"
EMOJI = "😀😃😄😁"
RUSSIAN = "Я люблю гулять в парке."
SPACED = {
    "English": "I like to walk in the park.",
    "German": "Ich gehe gern im Park spazieren.",
    "Korean": "나는 공원에서 산책하는 것을 좋아한다.",
    "Hindi": "मुझे पार्क में टहलना पसंद है।",
}
ZH, JA, CHAR, UNICODE, INTL = "zh", "ja-mecab", "char", "unicode", "intl"
CHARACTERS = "use a character metric, for example chrf or cer"


def evaluated(metric: str, texts: Sequence[str]) -> Report:
    """The report of a metric, named m, on texts that are their own references and sources."""
    spec = f"m = {metric}" if "(" in metric else f"m = {metric}()"
    return Hub(spec).evaluate(predictions=texts, references=texts, sources=texts)


def letters_note(report: Report) -> str:
    """The note on letters, or nothing."""
    return "".join(note for note in report.notes().get("m", ()) if " of the letters" in note)


def chosen(metric: str, text: str) -> str:
    """The advice in the note on a metric of equal texts."""
    note = letters_note(evaluated(metric, [text, text]))
    assert note.startswith("100.0% of the letters") or not note
    return note.partition("; ")[2].removeprefix("choose ")


# What each tokenizer can't cut follows from its definition: of these only `zh` sets Han apart, and
# no kana; `mixed` and `unicode` cut every script without spaces, and `unicode` drops emoji; `intl`
# cuts symbols.
@pytest.mark.parametrize(
    ("metric", "chinese", "japanese", "thai", "emoji"),
    [
        *((name, "tokenize='zh'", "tokenize='ja-mecab'", "tokenize='char'", "tokenize='intl'")
          for name in ("bleu", "nist", "gleu")),
        ("ribes", "tokenize='zh'", "tokenize='char'", "tokenize='char'", "tokenize='intl'"),
        *((name, "tokenizer='zh'", "tokenizer='unicode'", "tokenizer='unicode'", "tokenizer='intl'")
          for name in ("self_bleu", "distinct", "repetition", "unr")),
        *((name, *["tokenizer='unicode'"] * 3, CHARACTERS)
          for name in ("meteor", "meteor(tokenizer='nltk')", "cider", "rouge")),
        ("cider(tokenizer='whitespace')", *["tokenizer='unicode'"] * 3, CHARACTERS),
        ("token_f1", *["normalization='unicode'"] * 3, CHARACTERS),
        *((name, *["tokenizer='unicode'"] * 3, "the metric offers no tokenizer for them")
          for name in ("coverage", "density", "compression")),
        ("ter", "normalized=True, asian_support=True", *[CHARACTERS] * 3),
        ("carburacy", *[CHARACTERS] * 4),
        *((name, *["unit='mixed'"] * 3, CHARACTERS)
          for name in ("wer", "wer(punctuation=False, alignment=False)")),
        ("sari", *[CHARACTERS] * 3, "tokenizer='intl'"),
        ("edit_similarity(unit='word')", *["unit='char'"] * 4),
        *((name, "", "", "", "tokenizer='intl'") for name in ("aun", "nid", "novelty", "ttr")),
        ("abstractness", "", "", "", "the metric offers no tokenizer for them"),
        *((name, *["the metric offers no tokenizer for them"] * 4)
          for name in ("readability", "readability(convention='textstat')")),
    ],
)  # fmt: skip
def test_each_metric_names_what_cuts_the_script(
    metric: str, chinese: str, japanese: str, thai: str, emoji: str
) -> None:
    results = [chosen(metric, text) for text in (CHINESE, JAPANESE, THAI, EMOJI)]
    assert results == [chinese, japanese, thai, emoji]


@pytest.mark.parametrize("text", [RUSSIAN, SPACED["Korean"], SPACED["Hindi"]])
def test_a_script_that_is_dropped_is_noted(text: str) -> None:
    assert chosen("rouge", text) == "tokenizer='unicode'"
    assert chosen("carburacy", text) == CHARACTERS


UNNOTED = ["bleu", "meteor", "wer", "ter", "ribes", "nist", "cider", "gleu", "token_f1", "ttr"]


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        *((metric, text) for metric in UNNOTED for text in SPACED.values()),
        ("rouge(tokenizer='unicode')", RUSSIAN),
        ("bleu(tokenize='zh')", CHINESE),
        ("bleu(tokenize='char')", THAI),
        ("bleu(tokenize='char')", EMOJI),
        ("ter(normalized=True, asian_support=True)", CHINESE),
        ("ribes(tokenize='char')", JAPANESE),
        ("distinct(tokenizer='unicode')", JAPANESE),
        ("cer", THAI),
        ("chrf", EMOJI),
        ("chrf(word_order=2)", CHINESE),
        ("edit_similarity", CHINESE),
        ("exact_match(normalization='squad')", CHINESE),
    ],
)
def test_what_cuts_a_script_or_needs_no_cuts_is_not_noted(metric: str, text: str) -> None:
    assert not letters_note(evaluated(metric, [text, text]))


def test_the_note_says_the_share_and_the_scripts() -> None:
    # 5 kana and 3 Han of 80 letters and digits are a tenth, which is not over a tenth; of 79 it is.
    quiet, loud = "あいうえお漢字漢 " + "a" * 71 + "1", "あいうえお漢字漢 " + "a" * 70 + "1"
    assert not letters_note(evaluated("bleu", [quiet]))
    assert letters_note(evaluated("bleu", [loud])) == (
        "10.1% of the letters (kana, Han) are in scripts without spaces, which the tokenizer "
        "doesn't split into words; choose tokenize='ja-mecab'"
    )

    # 7 of 18 letters: 5 are Cyrillic, which has no name here.
    note = letters_note(evaluated("rouge", ["The кошка sat on 垫子 now"]))
    assert note.startswith("38.9% of the letters (Han and others) were dropped by the tokenizer;")
    # 1 of 21 letters is kana, which `zh` doesn't cut: a rare script has no say.
    assert chosen("bleu", "中" * 20 + "の") == "tokenize='zh'"


def test_letters_that_stand_alone_or_in_words_somebody_set_apart_are_not_noted() -> None:
    assert not letters_note(evaluated("bleu", ["我 们"]))
    assert not letters_note(evaluated("wer", ["我 喜欢 在 公园 里 散步 。"]))
    # Five letters between two spaces are a line of a poem, no word.
    assert letters_note(evaluated("wer", ["床前明月光 疑是地上霜 举头望明月"]))
    # Syllables with marks between them are cut by what cuts at marks.
    tibetan = "བོད་སྐད་ནི་བོད་ཀྱི་སྐད་ཡིག་ཡིན།"
    assert chosen("bleu", tibetan) == "tokenize='intl'"
    assert not letters_note(evaluated("ttr", [tibetan]))


TEXTS = [CHINESE, SPACED["English"], JAPANESE, RUSSIAN + "\n" + THAI, "", EMOJI] * 7
METRICS = ["bleu", "rouge", "ter", "distinct", "wer", "cider", "compression"]


def noted(texts: Sequence[str], **options: Any) -> Report:
    return Hub(METRICS, block_characters=60).evaluate(
        predictions=texts, references=texts, sources=texts, **options
    )


def of_letters(report: Report) -> dict[str, list[str]]:
    """The notes about letters; parts of a few samples have no others that whole ones have."""
    notes = report.notes().items()
    return {name: [note for note in texts if "letters" in note] for name, texts in notes}


def test_parts_blocks_and_other_metrics_change_nothing(tmp_path: Path) -> None:
    report = noted(TEXTS)
    assert set(report.notes()) == set(METRICS)
    merged = noted(TEXTS[:5]).merge(noted(TEXTS[5:17]), noted(TEXTS[17:]))
    assert merged.script_coverage == report.script_coverage
    report.save(tmp_path / "report.json")
    for version in (merged, report.pool(), Report.load(tmp_path / "report.json")):
        assert of_letters(version) == of_letters(report) != {}
    for metric in METRICS:
        alone = Hub(metric).evaluate(predictions=TEXTS, references=TEXTS, sources=TEXTS)
        assert alone.script_coverage[metric] == report.script_coverage[metric]


def test_several_references_and_candidates_count_once() -> None:
    report = Hub("bleu").evaluate(
        predictions=[[CHINESE, "a"], ["b", "c"]], references=[["dog"] * 3, ["cats", "fish", "ox"]]
    )
    # 9 letters of Chinese, 3 in the other predictions, 9 and 10 in the references.
    assert report.script_coverage["bleu"]["13a"].total == 31
    assert report.script_coverage["bleu"]["13a"].uncut == {"Han": 9}


@dataclass(frozen=True, kw_only=True)
class Longer(Metric):
    """A metric of somebody else, which declares a tokenizer of metrichub's or its own."""

    card = card("longer", "prediction", "reference")
    by: Literal["squad", "own", "char", "none"] = "squad"

    def declared_tokenizer(self) -> Tokenizer | None:
        """The tokenizer, if any."""
        return {"own": str.split, "none": None}.get(self.by, self.by)

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """The difference of both lengths."""
        both = (np.array([len(text) for text in column]) for column in (prediction, reference))
        return {"score": np.subtract(*both)}


def test_a_metric_of_a_plugin_gets_the_note_for_the_tokenizer_that_it_declares() -> None:
    for by in ("squad", "own"):
        report = Hub(Longer(by=by)).evaluate(predictions=[CHINESE], references=[CHINESE])
        (note,) = report.notes()["longer"]
        assert note.endswith("choose by='char'")
    report = Hub(Longer(by="none")).evaluate(predictions=[CHINESE], references=[CHINESE])
    assert not report.notes()


@dataclass(frozen=True, kw_only=True)
class InLanguage(Metric):
    """One whose language may be called as a tokenizer is."""

    card = card("in_language", "prediction", "reference", better="neither")
    tokenizer: ClassVar[str] = "squad"
    language: Literal["en", "zh"] = "en"

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """The difference of both lengths."""
        return {"score": lengths(prediction, "squad") - lengths(reference, "squad")}


def test_a_language_is_no_tokenizer() -> None:
    report = Hub(InLanguage()).evaluate(predictions=[CHINESE], references=[CHINESE])
    (note,) = report.notes()["in_language"]
    assert note.endswith("the metric offers no tokenizer for them")
