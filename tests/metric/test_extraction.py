"""Extraction: answers are read from predictions before these are compared."""

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from metrichub import Hub, Report, load_metric
from metrichub.cli import main
from metrichub.errors import MissingColumn, ParameterError, ReportError
from metrichub.metric.extraction import extraction
from tests.vectors import answer_vectors

REPLIES = [r"so it is \boxed{4}.", "The answer is 5", "hmm\nno idea"]
GOLD = ["4", "4", "4"]
NOTHING = ("[invalid]", "[invalidanswer]", None)

PRESETS = {
    "gsm8k-strict": "answer extraction: gsm8k strict-match",
    "gsm8k-flexible": "answer extraction: gsm8k flexible-extract",
    "gsm8k-cot": "answer extraction: gsm8k cot strict-match",
    "lm-eval-mmlu-pro": "answer extraction: mmlu_pro",
    "gpqa": "answer extraction: multiple choice (lm-eval multi_choice_regex)",
    "mgsm": "answer extraction: mgsm",
    "minerva": "answer extraction: minerva",
    "simple-evals": "answer extraction: multiple choice (simple-evals)",
    "boxed": r"answer extraction: last \boxed",
}
CASES = [
    (preset, *case.values) for preset, name in PRESETS.items() for case in answer_vectors(name)
]
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ANSWERS.md").read_text("utf-8")
INSPECT = {"LETTER": "inspect-letter", "WORD": "inspect-word", "LINE": "inspect-line"}


def written(text: str | None) -> str:
    """What was read, as the tables of the guide show it."""
    if text is None:
        return "nothing"
    return f"`{text}`".replace("\n", "\\n") if text else "an empty text"


def test_the_guide_shows_what_each_extraction_reads() -> None:
    section = PAGE.partition("## What each extraction reads")[2].partition("\n## ")[0]
    names: list[str] = []
    shown: dict[str, dict[str, str]] = {}
    for line in section.splitlines():
        cells = line.strip("| ").split(" | ")
        if cells[0] == "reply":
            names = [name.strip("`") for name in cells[1:]]
        elif line.startswith("| `"):
            reply = cells[0].strip("`").replace("\\n", "\n")
            shown[reply] = dict(zip(names, cells[1:], strict=True))
    presets = ("gsm8k-strict", "lm-eval-mmlu-pro", "simple-evals", "minerva", "boxed")
    rows = [row for preset, row in CASES if preset in presets]
    assert shown.keys() == {row["inputs"]["text"].strip() for row in rows} - {""}
    for reply, cells_of in shown.items():
        for name, cell in cells_of.items():
            assert cell == written(extraction(name).read(reply, ())), (reply, name)


def test_the_guide_counts_what_is_read_in_replies_of_a_model() -> None:
    lines = (ROOT / "tests/data/replies.jsonl").read_text("utf-8").splitlines()
    replies = [json.loads(line) for line in lines]
    section = PAGE.partition("## Replies of a small model")[2].partition("\n## ")[0]
    numbers, _, choices = section.partition("Choices (8 replies)")
    for kind, part in (("number", numbers), ("choice", choices)):
        table = re.findall(r"^\| `([^`]+)` \| (\d+) \| (\d+) \| (\d+) \|$", part, re.MULTILINE)
        assert len(table) == 6
        for name, *cells in table:
            as_person = other = nothing = 0
            for row in replies:
                if row["kind"] == kind:
                    texts = re.findall(r"^[A-D]\) (.*)$", row["question"], re.MULTILINE)
                    read = extraction(name).read(row["reply"], texts)
                    as_person += read == row["read"]
                    nothing += read is None is not row["read"]
                    other += read not in (None, row["read"])
            assert cells == [str(as_person), str(other), str(nothing)], name


@pytest.mark.parametrize(("preset", "row"), CASES)
def test_a_preset_reads_what_its_program_reads(preset: str, row: dict[str, Any]) -> None:
    expected = row["expected"]
    if isinstance(expected, dict):
        expected = expected.get("content", expected.get("extracted"))
    if isinstance(expected, dict):
        # The program raises for \fbox{3}.
        expected = "3"
    nothing = expected in NOTHING or (preset == "mgsm" and expected == "")
    inputs = row["inputs"]
    read = extraction(preset).read(inputs["text"], inputs.get("choices", ()))
    assert read == (None if nothing else expected)


@pytest.mark.parametrize("row", answer_vectors("answer extraction (inspect)"))
def test_a_preset_of_inspect_reads_what_its_pattern_reads(row: dict[str, Any]) -> None:
    name = INSPECT[row["source"].rsplit("_", 1)[1]]
    assert extraction(name).read(row["inputs"]["text"], ()) == row["expected"]


def test_a_metric_scores_the_answers_and_nothing_is_the_worst_and_counted() -> None:
    report = Hub(["exact_match", "token_f1"], extract="answer").evaluate(
        predictions=REPLIES, references=GOLD
    )
    assert report["exact_match"] == {"score": pytest.approx(1 / 3)}
    assert report["token_f1"]["recall"] == pytest.approx(1 / 3)
    assert report.counts() == {name: {"unextracted": 1} for name in ("exact_match", "token_f1")}
    # An empty reply equals an empty reference; nothing doesn't.
    empty = Hub("exact_match", extract="answer").evaluate(predictions=["a\nb"], references=[""])
    assert empty.scores() == {"exact_match": {"score": 0.0}}
    assert empty.counts() == {"exact_match": {"unextracted": 1}}
    assert empty.notes() == {
        "exact_match": [
            "nothing was extracted from 1 of 1 predictions (answer), which count as the worst score"
        ]
    }


def test_where_lower_is_better_nothing_takes_the_highest_value() -> None:
    def apart(prediction: str, reference: str) -> float:
        return abs(float(prediction or 0) - float(reference))

    metric = load_metric(apart, better="lower", range=(0, 10), extract="last_number")
    scores = Hub(metric)(predictions=["is 3", "no"], references=["4", "0"])
    assert scores["apart"]["score"] == (1 + 10) / 2


def test_a_sample_without_a_score_for_its_reference_stays_without() -> None:
    def same(prediction: str, reference: str) -> float | None:
        return float(prediction == reference) if reference else None

    metric = load_metric(same, better="higher", range=(0, 1), extract="answer")
    report = Hub(metric).evaluate(predictions=["no\nidea", "no\nidea"], references=["", "seven"])
    assert report["same"] == {"score": 0.0}
    assert report.counts()["same"] == {"unscored": 1, "unextracted": 2}


def test_a_metric_may_read_whole_predictions_beside_others() -> None:
    hub = Hub(["exact_match", "whole = exact_match(extract='none')"], extract="last_number")
    scores = hub(predictions=["it is 4"], references=["4"])
    assert (scores["exact_match"]["score"], scores["whole"]["score"]) == (1, 0)


def test_the_answers_stay_with_the_report_as_a_column(tmp_path: Path) -> None:
    report = Hub("exact_match", extract="answer").evaluate(
        predictions=REPLIES, references=GOLD, keep=[]
    )
    assert report.metadata == {"extract:answer": ["4", "5", None]}
    report.save(tmp_path / "run.json")
    loaded = Report.load(tmp_path / "run.json")
    assert loaded.metadata == report.metadata
    assert loaded.scores() == report.scores()
    assert loaded.counts() == report.counts()
    assert loaded.take([0, 2]).scores()["exact_match"] == {"score": 0.5}
    assert loaded.take([0, 2]).counts()["exact_match"] == {"unextracted": 1}


def test_an_explanation_compares_the_answer() -> None:
    report = Hub("exact_match", extract="answer").evaluate(predictions=REPLIES, references=GOLD)
    (step,) = report.explain("exact_match", 0).steps
    assert step["edits"] == 0


@pytest.mark.parametrize("options", [{"samples": False}, {"workers": 2}, {}])
def test_all_ways_to_measure_agree(options: dict[str, Any]) -> None:
    hub = Hub("exact_match", extract="answer", block_characters=40)
    report = hub.evaluate(predictions=REPLIES * 9, references=GOLD * 9, **options)
    assert report.scores() == {"exact_match": {"score": pytest.approx(1 / 3)}}
    assert report.counts() == {"exact_match": {"unextracted": 9}}


def test_merged_reports_count_what_was_not_extracted_in_all() -> None:
    hub = Hub("exact_match", extract="answer")
    first, second = (hub.evaluate(predictions=REPLIES, references=GOLD) for _ in range(2))
    assert first.merge(second).counts()["exact_match"]["unextracted"] == 2


def test_one_of_several_predictions_is_enough() -> None:
    hub = Hub("exact_match", extract="last_number")
    predictions = [["no", "it is 2"], ["no", "neither"]]
    report = hub.evaluate(predictions=predictions, references=["2", "3"])
    assert report["exact_match"] == {"score": 0.5}
    assert report.counts()["exact_match"] == {"unextracted": 1}


def test_choices_are_read_where_they_are_needed() -> None:
    hub = Hub("exact_match", extract="choice(texts=True)")
    choices = [["red", "blue"], ["Rome", "Paris"]]
    samples = {"predictions": ["Answer: Paris", "Answer: Paris"], "references": ["A", "B"]}
    report = hub.evaluate(**samples, choices=choices)
    assert report["exact_match"] == {"score": 0.5}
    assert report.counts()["exact_match"] == {"unextracted": 1}
    with pytest.raises(MissingColumn, match="needs the column 'choices'"):
        hub(**samples)


def test_the_signature_has_the_extraction_only_where_it_is_used() -> None:
    samples = {"predictions": ["4"], "references": ["4"]}
    plain = Hub("exact_match").evaluate(**samples)
    read = Hub("exact_match", extract="regex('[0-9]', which='last')").evaluate(**samples)
    assert "extract" not in plain.signatures()["exact_match"]
    # An option at its default isn't written.
    assert """extract="regex(pattern='[0-9]')")""" in read.signatures()["exact_match"]
    with pytest.raises(ReportError, match="no extract and extract="):
        plain.compare(read)


def test_scores_of_answers_that_were_read_otherwise_are_not_compared(tmp_path: Path) -> None:
    report = Hub("exact_match", extract="answer").evaluate(predictions=["4"], references=["4"])
    assert "|extraction:2|" in report.signatures()["exact_match"]
    report.save(path := tmp_path / "now.json")
    older = tmp_path / "older.json"
    older.write_text(path.read_text("utf-8").replace("|extraction:2", ""), "utf-8")
    with pytest.raises(ReportError, match="extraction:2"):
        Report.load(older).compare(report)
    assert Report.load(path).compare(report)
    boxed = Hub("exact_match", extract="boxed").evaluate(predictions=["4"], references=["4"])
    assert "extraction:" not in boxed.signatures()["exact_match"]


def test_a_pickled_metric_keeps_its_extraction() -> None:
    metric = load_metric("exact_match", extract="after('Answer:')")
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert metric.label().endswith("""extract="after(pattern='Answer:')")""")


@pytest.mark.parametrize(
    ("extract", "message"),
    [
        ("box", "did you mean 'boxed'"),
        ("gsm8k", "did you mean 'gsm8k-cot'"),
        ("after", r"a regular expression, as in after\('Answer:'\)"),
        ("regex('(')", r"as in regex\('is"),
        ("regex('a', group=1)", "a group of the pattern, which has 0"),
        ("regex('a', which='all')", "which='first'"),
        ("choice(letters='abc')", "letters='ABCD'"),
        ("choice(letters='ABb')", "letters='ABCD'"),
        ("choice(letters='ABA')", "letters='ABCD'"),
        ("choice(letters='A1')", "letters='ABCD'"),
        ("choice(letters='AÄ')", "letters='ABCD'"),
        ("choice(letters='')", "letters='ABCD'"),
        ("choice(letters=12)", "letters='ABCD'"),
        ("choice(texts=1)", "letters='ABCD'"),
        ("boxed('x')", "boxed without options"),
        (1, r"extract=1 .* a text, such as 'boxed'"),
        ("boxed as number", "choose answer, boxed, last_number"),
    ],
)
def test_an_extraction_that_is_not_valid_says_what_is(extract: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        load_metric("exact_match", extract=extract)


@pytest.mark.parametrize(
    ("extract", "reply", "read"),
    [
        ("after('answer:')", "Answer:4 or ANSWER:5", "5"),
        ("after('answer:')", "Answer: 4 \nyes", "4"),
        ("after('answer:')", "4", None),
        ("after('answer:')", "Answer: ", None),
        ("regex('[0-9]')", "1 2 3", "3"),
        ("regex('[0-9]', which='first')", "1 2 3", "1"),
        ("regex('[0-9]')", "none", None),
        ("regex('(a)|(b)')", "a b", "b"),
        ("regex('(a)|(b)', which='first')", "a b", "a"),
        ("regex('(x?)y')", "y", ""),
        ("regex('is ( [0-9])', group=0)", "it is  4", "is  4"),
        ("regex('is ( [0-9])', group=1)", "it is  4", "4"),
        ("regex('(a)|(b)', group=1)", "b", None),
        ("regex('A')", "a", None),
        ("choice(letters='XY')", "Answer: Y", "Y"),
        ("choice(letters='XY')", "Answer: Z", None),
        ("choice", "Answer: J", "J"),
        ("choice", "Answer: K", None),
        ("gsm8k-cot", "The answer is 4.5. The answer is 6.", "4.5."),
        ("mgsm", "Answer 3 then Antwort: 1,200.", "1200"),
        ("mgsm", "12", None),
        # By extract_answer(text, "l2") of TIGER-AI-Lab/MMLU-Pro's compute_accuracy.py.
        ("mmlu-pro", "The answer is (B). No, the answer is (D).", "B"),
        ("mmlu-pro", "answer is A good one", "A"),
        ("mmlu-pro", "Answer: C\nso answer: D", "C"),
        ("mmlu-pro", "answer: A, Answer: D", "D"),
        ("mmlu-pro", "Answer:\n\nC", "C"),
        ("mmlu-pro", "Answer: C. The answer is (D)", "D"),
        ("mmlu-pro", "The answer is **C**, not D.", "D"),
        ("mmlu-pro", "I think so", "I"),
        ("mmlu-pro", "Vitamin C and B12", "C"),
        ("mmlu-pro", "(b) is right", None),
        ("mmlu-pro", "", None),
        ("inspect-letter", "ANSWER: A\nanswer: b", "b"),
        ("inspect-line", "ANSWER: x\nANSWER: one two", "one two"),
        ("inspect-line", "no mark", None),
    ],
)
def test_an_extraction_reads_what_its_options_say(
    extract: str, reply: str, read: str | None
) -> None:
    assert extraction(extract).read(reply, ()) == read


def test_a_label_has_the_options_that_are_off_their_defaults() -> None:
    assert extraction("regex('a', which='last', group=0)").label == "regex(pattern='a', group=0)"
    assert extraction("choice(texts=False)").label == "choice"
    assert not extraction("choice").reads_choices
    assert extraction("choice(texts=True)").reads_choices


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("bleu", "a mean over samples"),
        ("faithfulness(judge='offline')", "asks a judge"),
        ("recorded", "read predictions"),
    ],
)
def test_a_metric_without_a_worst_score_refuses(metric: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Hub(metric, extract="boxed")


def test_the_command_line_reads_answers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = zip(REPLIES, GOLD, strict=True)
    path.write_text("\n".join(json.dumps({"prediction": p, "reference": g}) for p, g in rows))
    how = ["-m", "exact_match", "--extract", "answer", "--format", "json"]
    ran = CliRunner().invoke(main, ["score", str(path), *how])
    assert json.loads(ran.stdout)["counts"] == {"exact_match": {"unextracted": 1}}
