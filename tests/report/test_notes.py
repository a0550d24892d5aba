"""Notes in words: what is in the data, how it was read, and which samples have no score."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import metrichub
from metrichub import Hub, Report
from metrichub.authoring import Metric
from metrichub.data.files import read_batches
from metrichub.evaluation.explanation import Trace, agreement_notes
from metrichub.evaluation.lengths import LENGTHS_UNKNOWN
from metrichub.evaluation.measurement import with_facts
from metrichub.report.notes import shared_notes

ONE = {"predictions": ["a"], "references": ["a"]}


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        (
            "blanks",
            {"predictions": {"": 1}, "contexts": {"": 9}},
            "predictions has 1 empty cell, scored as text; if the value is missing, delete the row",
        ),
        (
            "blanks",
            {"predictions": {"nan": 2}},
            "predictions has 2 'nan' cells, scored as text; if the values are missing, delete the "
            "rows",
        ),
        (
            "blanks",
            {"predictions": {"": 1, "nan": 1}},
            "predictions has 1 empty and 1 'nan' cells, scored as text; if the values are missing, "
            "delete the rows",
        ),
        (
            "read_from",
            {"predictions": ("messages",), "contexts": ("docs",)},
            "predictions were read from messages: the last text of the assistant; if those are "
            "other texts, map predictions to another column",
        ),
        (
            "read_from",
            {"references": ("a", "b")},
            "references were read from a and b; if those are other texts, map references to "
            "another column",
        ),
        (
            "read_from",
            {"references": ("contexts",)},
            "references were read from contexts, each sample's passages joined into one text; if "
            "those are other texts, map references to another column",
        ),
        (
            "mixed_forms",
            {"m": ("á", "é", "í", "ó")},
            "the texts write á, é, í in several Unicode forms, as one character and as a letter "
            "with marks, which don't match; normalize all texts, for example to NFC",
        ),
    ],
)
def test_what_is_in_the_data_is_noted_of_the_columns_that_a_metric_reads(
    part: str, value: Any, message: str
) -> None:
    report = Hub("m = exact_match()").evaluate(**ONE)
    assert with_facts(report, **{part: value}).notes() == {"m": [message]}


def test_messages_read_from_another_column_are_one_thing() -> None:
    report = Hub("call_repetition").evaluate(messages=[[{"role": "user", "content": "a"}]])
    notes = with_facts(report, read_from={"messages": ("chat",)}).notes()["call_repetition"]
    assert "messages were read from chat; if that is wrong, map messages to another column" in notes


@dataclass(frozen=True, kw_only=True)
class Forgetful(Metric):
    """Gives a score of texts of one word alone."""

    def observe(self, prediction: str) -> float | None:
        """One, or nothing."""
        return None if " " in prediction else 1.0


LACKS = "unscored: the metric returned no score"
UNANSWERED = (
    "unanswered and left out of the mean; systems with different unanswered samples can't be "
    "ranked by this score"
)


@pytest.mark.parametrize(
    ("metric", "texts", "messages"),
    [
        (Forgetful(), ["a b", "c d"], [f"2 {LACKS}; is a `return` missing in its code?"]),
        (Forgetful(), ["a b", "c"], [f"1 {LACKS}"]),
        (
            "ttr",
            ["", "a " * 100, "b " * 100],
            ["1 unanswered: the text has no words", f"1 of 3 samples is {UNANSWERED}"],
        ),
        (
            "ttr",
            ["", ""],
            ["2 unanswered: the text has no words", f"2 of 2 samples are {UNANSWERED}"],
        ),
        ("ttr", [], ["there are no samples; a stream or an iterator can be read only once"]),
    ],
)
def test_samples_without_a_score_are_counted_with_their_reasons(
    metric: Any, texts: list[str], messages: list[str]
) -> None:
    report = Hub(metric).evaluate(predictions=texts)
    (notes,) = report.notes().values()
    assert list(notes) == messages
    # As text a report says it below the table.
    (name,) = report.results
    below = [line for line in str(report).splitlines() if line.startswith(f"{name}: ")]
    assert below == [f"{name}: {note}" for note in messages]


def test_a_metric_with_a_card_that_gave_no_score_is_not_asked_for_its_return() -> None:
    report = Hub("exact_match").evaluate(predictions=["a", "b"], references=["a", "b"])
    (result,) = report.results.values()
    silent = replace(report, results={"exact_match": replace(result, count=0, unscored=2)})
    assert silent.notes()["exact_match"][0] == f"2 {LACKS}"


def test_notes_tell_what_failed_waits_and_was_cut_the_most_frequent_first() -> None:
    report = Hub("exact_match").evaluate(predictions=["a"] * 4, references=["a"] * 4)
    errors = {0: "gone", 1: "slow", 2: "slow"}
    votes = Counter({'["yes", "yes"]': 2, '["yes", "no"]': 1})
    trace = replace(Trace.of({}, errors, {}, {3: "a batch"}), cuts={"contexts": 3}, votes=votes)
    assert replace(report, traces={"exact_match": trace}).notes()["exact_match"] == [
        *("2 failed: slow", "1 failed: gone", "1 pending: a batch", "3 cut: contexts"),
        *agreement_notes(votes),
    ]


@pytest.mark.parametrize(
    ("metric", "predictions", "references", "messages"),
    [
        ("exact_match", [["a b", "b c", "c"]], ["a b"], ["best of 3 candidates"]),
        ("wer", ["a"], [["a", "b c"]], ["best of 2 references"]),
        (
            "exact_match(normalization='squad')",
            [["a b", "c d"], ["a b"]],
            [["a b"], ["a b", "c d", "e f"]],
            ["best of 1 to 2 candidates and 1 to 3 references"],
        ),
        # Neither more nor less is better, so the mean counts; all references count together.
        ("abstractness", [["a b", "b c"]], [["a", "b"]], ["mean of 2 candidates"]),
        ("abstractness", ["a b"], [["a", "b"]], []),
        # All candidates count together.
        ("distinct", [["a b", "b c"]], ["a"], []),
        ("exact_match", ["a b"], [["a b"]], []),
    ],
)
def test_candidates_and_references_that_were_reduced_are_counted(
    metric: str, predictions: Any, references: Any, messages: list[str]
) -> None:
    report = Hub(f"m = {metric}").evaluate(predictions=predictions, references=references)
    assert report.notes().get("m", []) == messages
    assert report.pool().notes().get("m", []) == messages


@pytest.mark.parametrize(("size", "noted"), [(0, False), (2, True)])
def test_a_metric_bound_to_length_notes_lengths_that_a_report_lacks(size: int, noted: bool) -> None:
    def half(prediction: str) -> float:
        return 0.5

    columns = {"predictions": ["a b"] * size, "references": ["a b"] * size}
    report = Hub(["distinct", "ttr", "exact_match", half]).evaluate(columns)
    lacking = with_facts(report, lengths=None).notes()
    # Of the outputs of ttr some are bound to length, and mtld isn't.
    for metric in ("distinct", "ttr"):
        assert (LENGTHS_UNKNOWN in lacking.get(metric, ())) is noted
    assert LENGTHS_UNKNOWN not in report.notes().get("distinct", ())
    assert LENGTHS_UNKNOWN not in {*lacking.get("exact_match", ()), *lacking.get("half", ())}


def test_what_is_noted_of_some_systems_names_them_in_order() -> None:
    report = Hub("exact_match").evaluate(**ONE)
    blank = with_facts(report, blanks={"predictions": {"": 1}})
    forms = with_facts(blank, mixed_forms={"exact_match": ("é",)})
    result = shared_notes({"a": blank, "b": report, "c": forms})
    assert [(note.metric, note.text[:15], note.systems) for note in result] == [
        ("exact_match", "predictions has", ["a", "c"]),
        ("exact_match", "the texts write", ["c"]),
    ]
    # What all share names none.
    assert {note.systems for note in shared_notes({"a": blank, "b": blank})} == {()}


# Cells of tables that may be missing values.

NOTES = [
    "predictions has 1 empty and 2 'NaN' cells, scored as text; if the values are missing, delete "
    "the rows",
    "references has 1 'null' cell, scored as text; if the value is missing, delete the row",
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text("prediction,reference,id\n,a,\nNaN,b,NA\nNaN,null,x\nc,c,\n", "utf-8")
    return path


def test_a_report_of_a_csv_counts_them_however_it_is_read(path: Path, tmp_path: Path) -> None:
    hub = Hub("wer")
    report = hub.evaluate(path)
    report.save(tmp_path / "saved.json")
    for version in (
        report,
        Report.load(tmp_path / "saved.json"),
        hub.evaluate(str(path)),
        hub.evaluate(metrichub.read(path)),
        hub.evaluate(read_batches(path, characters=1)),
        hub.evaluate(path, workers=2),
        hub.evaluate(path, samples=False),
    ):
        assert list(version.notes()["wer"])[:2] == NOTES
    # Some samples of a report have no counts of all.
    assert not report.take([0]).blanks
    # A metric notes the columns that it reads.
    assert [note for note in Hub("ttr").evaluate(path).notes()["ttr"] if note in NOTES] == NOTES[:1]


def test_merged_reports_add_their_counts(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.csv"
    other.write_text("prediction,reference\nNaN,b\nc,d\n", "utf-8")
    hub = Hub("wer")
    merged = hub.evaluate(path).merge(hub.evaluate(other))
    assert merged.notes()["wer"] == [NOTES[0].replace("2 'NaN'", "3 'NaN'"), NOTES[1]]


def test_texts_given_by_name_or_in_json_are_counted_as_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"prediction": "NaN", "reference": "null"}', "utf-8")
    hub = Hub("wer")
    assert hub.evaluate(path).notes() == {}
    (note,) = hub.evaluate(predictions=["NaN", ""], references=["a", "b"]).notes()["wer"]
    assert note.startswith("1 of 2 predictions are a word for a missing value (first: sample 0")


# Texts in several forms of Unicode.

METRICS = ("exact_match", "token_f1", "rouge", "bleu")


def of_forms(prediction: str, reference: str) -> Report:
    """The report of one sample."""
    return Hub(METRICS).evaluate(predictions=[prediction], references=[reference])


# A letter with an accent, Vietnamese, Cyrillic, Arabic, Tamil, Hangul and kana; each text has a
# character whose canonical decomposition is a letter and a mark, or jamo.
@pytest.mark.parametrize("text", ["café", "Tiếng Việt", "мой", "آخر", "கொடு", "한국", "ガラス"])
def test_a_note_names_what_is_written_in_two_forms(text: str, tmp_path: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    report = of_forms(decomposed, composed)
    report.save(tmp_path / "r.json")
    for version in (report, Report.load(tmp_path / "r.json"), of_forms("a", "a").merge(report)):
        assert list(version.notes()) == list(METRICS)
        for mixed_form in version.mixed_forms.values():
            assert {*mixed_form} == {*composed} - {*decomposed}
            assert list(mixed_form) == sorted(mixed_form)
    for alike in (composed, decomposed):
        assert not of_forms(alike, alike).mixed_forms


@pytest.mark.parametrize(
    ("prediction", "reference"),
    [
        ("naïve", "naive"),
        # Hindi's qa is no composed character of NFC, and the same in both.
        ("क़लम", "क़लम"),
        # Decomposed, but never together with the same letter in one character.
        (unicodedata.normalize("NFD", "é"), "ü"),
        ("“quoted” – 你好。", "“quoted” – สวัสดี"),
    ],
)
def test_texts_of_one_form_have_no_note(prediction: str, reference: str) -> None:
    assert not of_forms(prediction, reference).mixed_forms
