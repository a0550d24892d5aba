"""Extraction from references: worked solutions, and the places and texts of choices."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError, MissingColumn, ParameterError, ReportError
from tests.commands import JSON, error, run, write

# In the form of each data set's own rows, with a reply beside them.
FORMS: list[tuple[str, dict[str, str], dict[str, str], list[dict[str, Any]], float]] = [
    (
        "GSM8K",
        {"references": "answer", "predictions": "reply"},
        {"extract": "last_number", "extract_references": "gsm8k-strict"},
        [
            {"question": "q", "answer": "9 * 2 = $<<9*2=18>>18 a day\n#### 18", "reply": "So 18."},
            {"question": "q", "answer": "2 + 1 = <<2+1=3>>3 bolts\n#### 3", "reply": "It is 4."},
        ],
        0.5,
    ),
    (
        "grade-school-math's solutions of models",
        {"references": "ground_truth", "predictions": "solution"},
        {"extract": "after('A:')", "extract_references": "after('A:')"},
        [{"ground_truth": "16 - 3 = 13\nA: 13", "solution": "16 - 3 = <<16-3=13>>13\nA: 13"}],
        1,
    ),
    (
        "MATH",
        {"references": "solution", "predictions": "reply"},
        {"extract": "boxed", "extract_references": "boxed"},
        [
            {"problem": "p", "solution": r"so $\boxed{\frac12}$.", "reply": r"\boxed{\frac12}"},
            {"problem": "p", "solution": r"Thus $x=\boxed{3}$.", "reply": r"\boxed{2}"},
        ],
        0.5,
    ),
    (
        "MMLU",
        {"references": "answer", "predictions": "reply"},
        {"extract": "choice", "extract_references": "index"},
        [
            {"question": "q", "choices": ["0", "4", "2", "6"], "answer": 1, "reply": "Answer: B"},
            {"question": "q", "choices": ["0", "1", "2", "3"], "answer": 3, "reply": "Answer: C"},
        ],
        0.5,
    ),
    (
        "HellaSwag",
        {"references": "label", "predictions": "reply"},
        {"extract": "choice", "extract_references": "index"},
        [
            {"ind": 24, "ctx": "He", "label": "3", "endings": [*"wxyz"], "reply": "(D)"},
            {"ind": 25, "ctx": "He", "label": "0", "endings": [*"wxyz"], "reply": "(A)"},
        ],
        1,
    ),
    (
        "MMLU-Pro",
        {"references": "answer_index", "predictions": "pred"},
        {"extract": "mmlu-pro", "extract_references": "index"},
        [{"options": [*"klmnopqrst"], "answer": "I", "answer_index": 8, "pred": "answer is (I)"}],
        1,
    ),
    (
        "ARC, whose labels are letters or numbers from 1",
        {"references": "answerKey", "choices": "choices.label", "predictions": "reply"},
        {"extract": "choice", "extract_references": "label"},
        [
            {"choices": {"text": [*"wxyz"], "label": [*"ABCD"]}, "answerKey": "B", "reply": "(B)"},
            {"choices": {"text": [*"wxyz"], "label": [*"1234"]}, "answerKey": "2", "reply": "(B)"},
        ],
        1,
    ),
    (
        "TruthfulQA, whose best answer is a text",
        {"references": "best_answer", "choices": "mc1_targets.choices", "predictions": "reply"},
        {"extract": "choice", "extract_references": "label"},
        [{"best_answer": "Nothing.", "mc1_targets": {"choices": ["Luck.", "Nothing."],
          "labels": [0, 1]}, "reply": "Answer: B"}],
        1,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "options", "rows", "score"),
    [form[1:] for form in FORMS],
    ids=[form[0].partition(",")[0] for form in FORMS],
)
def test_references_are_read_from_the_rows_that_data_sets_have(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    columns: dict[str, str],
    options: dict[str, str],
    rows: list[dict[str, Any]],
    score: float,
) -> None:
    assert Hub("exact_match", **options)(rows, columns=columns)["exact_match"]["score"] == score
    monkeypatch.chdir(tmp_path)
    write("rows.jsonl", rows)
    named = [part for pair in columns.items() for part in ("--columns", "=".join(pair))]
    how = ["--extract", options["extract"], "--extract-references", options["extract_references"]]
    result = run("score", "rows.jsonl", "-m", "exact_match", *named, *how, *JSON)
    assert json.loads(result.stdout)["scores"]["exact_match"]["score"] == score


REFUSED = [
    ("boxed", "boxed", "so 3", "has nothing that 'boxed' reads: 'so 3'"),
    ("choice", "index", "4", "has nothing that 'index' reads: '4'"),
    ("choice", "index", "C", "has nothing that 'index' reads: 'C'"),
    ("choice", "label", "5", "has nothing that 'label' reads: '5'"),
    ("choice", None, "2", "is a number, but 'choice' reads letters: '2'; if it is the place of a "
     "choice, from 0, give --extract-references index"),
]  # fmt: skip


@pytest.mark.parametrize(("extract", "references", "gold", "message"), REFUSED)
def test_a_reference_without_an_answer_is_refused_with_its_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    extract: str,
    references: str | None,
    gold: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    right = {"boxed": r"\boxed{1}", "index": "1", "label": "x"}.get(references or "", "B")
    row = {"prediction": "Answer: B", "choices": [*"wxyz"]}
    write("rows.jsonl", [row | {"reference": right}, row | {"reference": gold}])
    how = ["--extract", extract, *(["--extract-references", references] if references else [])]
    shown = error(run("score", "rows.jsonl", "-m", "exact_match", *how), 3)
    assert shown.endswith(f"rows.jsonl:2: references[1] {message}")


def test_choices_that_lack_or_are_no_texts_are_refused() -> None:
    hub = Hub("exact_match", extract="choice", extract_references="index")
    with pytest.raises(MissingColumn, match="needs the column 'choices'"):
        hub(predictions=["B"], references=["1"])
    rows = [{"prediction": "B", "answer": "1", "choices": {"text": ["x"], "label": ["A"]}}]
    with pytest.raises(InputError, match=r"choices\[0\] holds .*'choices': 'choices.text'"):
        hub(rows, columns={"references": "answer"})


def test_all_metrics_of_a_hub_read_the_same_references() -> None:
    hub = Hub(["exact_match", "token_f1", "quoted_spans"], extract_references="boxed")
    labels = [metric.label() for metric in hub.metrics]
    assert [label.endswith("extract_references='boxed')") for label in labels] == [1, 1, 0]
    both = ["exact_match(extract_references='boxed')", "token_f1"]
    with pytest.raises(ParameterError, match="the same for all metrics of a hub"):
        Hub(both)(predictions=["3"], references=[r"\boxed{3}"])
    with pytest.raises(ParameterError, match="the same for all metrics of a hub"):
        Hub(["exact_match(extract_references='none')", "token_f1"], extract_references="boxed")(
            predictions=["3"], references=[r"\boxed{3}"]
        )
    none = Hub("exact_match(extract_references='none')")
    assert none(predictions=["3"], references=["3"])["exact_match"]["score"] == 1


def test_every_one_of_several_references_is_read() -> None:
    hub = Hub("exact_match", extract_references="boxed")
    scores = hub(predictions=["3", "4"], references=[[r"\boxed{2}", r"\boxed{3}"], r"\boxed{3}"])
    assert scores["exact_match"]["score"] == 0.5
    with pytest.raises(InputError, match=r"references\[1\] has nothing that"):
        hub(predictions=["3", "4"], references=[r"\boxed{2}", [r"\boxed{3}", "3"]])


def test_the_signature_names_it_and_reports_keep_it(tmp_path: Path) -> None:
    hub = Hub("exact_match", extract="boxed", extract_references="answer")
    rows = {"predictions": [r"\boxed{3}", r"\boxed{2}"], "references": ["#### 3", "#### 3"]}
    report = hub.evaluate(rows)
    # The definition of `answer` is 2, that of `boxed` 1.
    text = "extract='boxed', extract_references='answer')|definition:1|extraction:2|"
    assert text in report.signatures()["exact_match"]
    report.save(tmp_path / "a.json")
    loaded = Report.load(tmp_path / "a.json")
    assert loaded.signatures() == report.signatures()
    assert loaded.scores() == pickle.loads(pickle.dumps(report)).scores() == report.scores()
    both = Hub("exact_match", extract="answer", extract_references="answer").evaluate(rows)
    with pytest.raises(ReportError, match="extract"):
        report.compare(both)
    spec = "exact_match(extract='boxed', extract_references='answer')"
    assert load_metric(spec).label() == hub.metrics[0].label()


def test_an_extraction_that_is_not_valid_names_its_parameter() -> None:
    with pytest.raises(ParameterError, match=r"extract_references='boxd' is not .*'boxed'"):
        Hub("exact_match", extract_references="boxd")
    with pytest.raises(ParameterError, match=r"extract_references=3 is not .* a text"):
        Hub("exact_match", extract_references=3)  # type: ignore[arg-type]
