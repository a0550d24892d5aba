"""Questions with several answers: which rows are such, and what is drawn together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report, compare_all
from metrichub.errors import ReportError
from metrichub.evaluation.repeats import variance_components
from tests.commands import error, run, write

HUB = Hub("exact_match")
DRAWN = "5 answers to each of 8 questions: they are drawn together, unless cluster is 'none'"
SHARED = "rows share an id, but not a question; if they belong together, cluster by id"


def rows(seed: int = 1, order: str = "by run") -> list[dict[str, Any]]:
    """Eight questions with five answers each; a question is right always, or by chance."""
    chance = np.random.default_rng(seed)
    places = [(run, question) for run in range(5) for question in range(8)]
    if order == "by question":
        places.sort(key=lambda place: place[1])
    return [
        {
            "id": question,
            "question": f"{question} + 1?",
            "reference": str(question + 1),
            "prediction": str(question + 1) if chance.random() < question / 8 else "no",
        }
        for _, question in places
    ]


def notes(report: Report) -> list[str]:
    """The notes that are about questions."""
    texts = report.notes().get("exact_match", ())
    return [text for text in texts if "answers" in text or "id" in text.split()]


def changed(**columns: Any) -> list[dict[str, Any]]:
    """The rows with other columns: a value for each, or what makes it of a row's place."""
    changes = [
        {name: value(k) if callable(value) else value for name, value in columns.items()}
        for k in range(40)
    ]
    both = [row | column for row, column in zip(rows(), changes, strict=True)]
    return [{name: v for name, v in row.items() if v != "gone"} for row in both]


@pytest.mark.parametrize(
    ("table", "drawn", "message"),
    [
        pytest.param(rows(), 8, DRAWN, id="in runs one after the other"),
        pytest.param(rows(order="by question"), 8, DRAWN, id="question by question"),
        pytest.param(changed(id=lambda k: k), None, None, id="an id each"),
        pytest.param(changed(id="gone"), None, None, id="no id"),
        pytest.param(changed(id=None), None, None, id="ids that are missing"),
        pytest.param(changed(id=""), None, None, id="ids that are empty"),
        # The sentences of eight documents: what metrics don't read tells them apart too.
        pytest.param(changed(question=lambda k: f"{k}?"), None, SHARED, id="other questions"),
        pytest.param(changed(reference=lambda k: f"{k}"), None, SHARED, id="other references"),
        pytest.param(changed(source=lambda k: f"{k}"), None, SHARED, id="other sources"),
        # Ids that begin anew in each subset, whose questions are alike.
        pytest.param(changed(subset=lambda k: k // 8), None, None, id="a subset each"),
        pytest.param(
            changed(subset=lambda k: k // 20),
            16,
            DRAWN.replace("5 answers to each of 8", "2.5 answers to each of 16"),
            id="two subsets",
        ),
        pytest.param(changed(epoch=lambda k: k // 8), 8, DRAWN, id="epochs"),
        # What was retrieved may differ between runs.
        pytest.param(changed(contexts=lambda k: [f"{k}"]), 8, DRAWN, id="other contexts"),
        # One question alone can't be drawn again.
        pytest.param(
            changed(id=0, question="?", reference="1"), None, None, id="one question alone"
        ),
    ],
)
def test_answers_to_one_question_are_drawn_together(
    table: list[dict[str, Any]], drawn: int | None, message: str | None, tmp_path: Path
) -> None:
    report = HUB.evaluate(table)
    report.save(tmp_path / "report.json")
    for version in (
        report,
        HUB.evaluate(iter([table[:23], table[23:]])),
        HUB.evaluate(table, texts=False, workers=2),
        Report.load(tmp_path / "report.json"),
        report.take(range(40)),
    ):
        assert notes(version)[:1] == ([message] if message else [])
        _, cluster = version.clustered("auto")
        assert (cluster is not None) == (drawn is not None)
        by_default = version.intervals()["exact_match"]["score"]
        alone = version.intervals(cluster=None)["exact_match"]["score"]
        assert alone == version.intervals(cluster="none")["exact_match"]["score"]
        # As many units differ in width, and rows that are drawn alone don't.
        assert (by_default == alone) == (drawn is None)
        tests = version.compare(version)["exact_match"]["score"]
        assert tests.units == (drawn or 40)


def test_without_texts_a_log_tells_repeats_by_epochs() -> None:
    hub = Hub("recorded(column='acc')")
    table = [{"id": k % 8, "acc": float(k % 3 == 0), "epoch": k // 8} for k in range(40)]
    assert hub.evaluate(table).clustered("auto")[1] == "repeated question"
    unknown = [{name: row[name] for name in ("id", "acc")} for row in table]
    report = hub.evaluate(unknown)
    assert report.clustered("auto")[1] is None
    assert [texts for texts in report.notes().values() if SHARED in texts]


def test_the_interval_is_that_of_clusters_by_hand() -> None:
    table = rows()
    named = [row | {"name": f"q{row['id']}"} for row in table]
    report, by_hand = HUB.evaluate(table), HUB.evaluate(named)
    for intervals in (report.intervals(), by_hand.intervals(cluster="name")):
        assert intervals == report.intervals()
    other = HUB.evaluate(rows(2))
    theirs = HUB.evaluate([row | {"name": f"q{row['id']}"} for row in rows(2)])
    test = report.compare(other)["exact_match"]["score"]
    expected = by_hand.compare(theirs, cluster="name")["exact_match"]["score"]
    assert replace(test, sentence="") == replace(expected, sentence="")
    assert test.test == "approximate randomization"
    alone = report.compare(other, cluster="none")["exact_match"]["score"]
    assert (alone.test, alone.units) == ("McNemar's mid-p", 40)


def test_one_system_that_knows_the_questions_is_enough() -> None:
    bare = HUB.evaluate([{k: row[k] for k in ("prediction", "reference")} for row in rows(2)])
    report = HUB.evaluate(rows())
    for systems in ({"bare": bare, "known": report}, {"known": report, "bare": bare}):
        ranking = compare_all(systems)
        assert ranking.options.cluster == "repeated question"
        (tests,) = ranking.pairs.values()
        assert tests["exact_match"]["score"].units == 8
        assert ranking.intervals().keys() == systems.keys()
        assert "each repeated question" in ranking.to_markdown(intervals=True)


def test_merged_reports_keep_their_questions_apart() -> None:
    first, other = HUB.evaluate(rows()), HUB.evaluate(changed(question=lambda k: f"other {k % 8}"))
    assert first.merge(other).compare(first.merge(other))["exact_match"]["score"].units == 16
    # Of unknown questions each sample has one.
    bare = HUB.evaluate(predictions=["a", "b"], references=["a", "c"])
    merged = first.merge(bare, bare.take([0]))
    assert merged.compare(merged)["exact_match"]["score"].units == 8 + 3
    again = HUB.evaluate(rows())
    assert first.merge(again).compare(first.merge(again))["exact_match"]["score"].units == 8


def test_parts_of_a_report_have_clusters_where_questions_repeat() -> None:
    table = changed(run=lambda k: k // 8, language=lambda k: ["en", "de"][k % 2])
    report = HUB.evaluate(table)
    assert {part.clustered("auto")[1] for part in report.by("run").values()} == {None}
    assert (
        report.by("language")["en"]
        .compare(report.by("language")["en"])["exact_match"]["score"]
        .units
        == 4
    )
    assert report.by("id")[3].intervals()["exact_match"]["score"].low < 1


def test_sums_in_buckets_know_no_questions() -> None:
    report = HUB.evaluate(rows(), samples=False, key="id")
    assert report.intervals() == report.intervals(cluster="none") == report.intervals(cluster="id")
    assert notes(report) == []


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two systems, five answers to each of eight questions."""
    monkeypatch.chdir(tmp_path)
    write("a.jsonl", rows())
    write("b.jsonl", rows(2))


def interval(*options: str) -> dict[str, Any]:
    """The interval that a command prints."""
    out = run("score", "a.jsonl", "-m", "exact_match", "--intervals", *options, "--format", "json")
    score: dict[str, Any] = json.loads(out.stdout)["intervals"]["exact_match"]["score"]
    return score


@pytest.mark.usefixtures("files")
def test_commands_draw_by_any_field() -> None:
    for column in ("question", "reference", "id"):
        assert interval() == interval("--cluster", column) != interval("--cluster", "none")
    shown = run("score", "a.jsonl", "-m", "exact_match", "--intervals", "--format", "table")
    assert DRAWN in shown.stderr
    both = ("compare", "a.jsonl", "b.jsonl", "-m", "exact_match")
    compared = run(*both, "--cluster", "question", "--format", "json")
    assert json.loads(compared.stdout)["comparisons"]["b"]["exact_match"]["score"]["units"] == 8
    assert "did you mean 'question'" in error(
        run("score", "a.jsonl", "-m", "exact_match", "--intervals", "--cluster", "qestion"), 3
    )
    assert "answers" not in run("score", "a.jsonl", "-m", "exact_match").stderr
    page = run(*both, "--report", "page.html")
    assert page.exit_code == 0
    assert "draw each repeated question whole" in Path("page.html").read_text("utf-8")


def test_a_column_that_a_metric_read_is_kept_beside_the_usual_ones() -> None:
    report = HUB.evaluate(rows(), keep=["*", "question"])
    assert list(report.metadata) == ["id", "question"]
    assert report.intervals(cluster="question") == report.intervals()
    with pytest.raises(ReportError, match=r"metrics read it, or a value.*keep=\['question'\]"):
        HUB.evaluate(rows()).intervals(cluster="question")


VECTORS = json.loads(
    (Path(__file__).parent.parent / "data" / "variance_components.json").read_text()
)


@pytest.mark.parametrize("case", VECTORS)
def test_components_are_those_of_an_analysis_of_variance(case: Any) -> None:
    # By the formulas of one-way random effects, F equal to scipy.stats.f_oneway.
    scores = np.array(case["scores"])
    questions = np.repeat(np.arange(len(scores)), scores.shape[1])
    between, within, runs, number = variance_components(scores.ravel(), questions)
    assert (between, within) == pytest.approx((case["between"], case["within"]))
    assert (runs, number) == (scores.shape[1], len(scores))
    for k, error_of_mean in case["se_with_repeats"].items():
        assert ((between + within / int(k)) / number) ** 0.5 == pytest.approx(error_of_mean)


def test_unequal_numbers_of_runs_count_as_k0() -> None:
    # Means 1/2, 0 and 1 of 2, 1 and 3 runs; the mean of all is 4/6. Within: 2 · 1/4 over 6 - 3.
    # Between: (2/36 + 16/36 + 3 · 4/36) / 2 = 5/12. K0 = (6 - 14/6) / 2 = 11/6.
    components = variance_components(np.array([0.0, 1, 0, 1, 1, 1, np.nan]), [*"aabccca"])
    assert components == pytest.approx(((5 / 12 - 1 / 6) * 6 / 11, 1 / 6, 11 / 6, 3))
    assert np.isnan(variance_components(np.array([0.0, 1]), [*"ab"])[1])


@pytest.mark.parametrize(
    ("right", "message"),
    [
        # Question means 1, 1, 0, 0 of two runs: within 0, between 1/3; sqrt(1/3 / 4) = 0.289.
        (
            "11110000",
            "100% of the variance is between questions. 2 runs bring the standard error from 0.29 "
            "to 0.29, 8 would bring 0.29",
        ),
        # All means are 1/2: within 1/2; sqrt(1/2 / 4) = 0.354, / sqrt(2) = 0.25, / 2 = 0.125.
        (
            "10101010",
            "runs differ as much as questions. 2 runs bring the standard error from 0.35 to 0.25, "
            "8 would bring 0.12",
        ),
        ("11111111", None),
    ],
)
def test_a_note_says_what_more_runs_bring(right: str, message: str | None) -> None:
    table = [
        {"id": k // 2, "reference": "a", "prediction": "a" if flag == "1" else "b"}
        for k, flag in enumerate(right)
    ]
    every = HUB.evaluate(table).notes()["exact_match"]
    assert [text for text in every if "variance" in text or "runs" in text] == (
        [message] if message else []
    )
    # BLEU isn't a mean of samples.
    assert not [t for t in Hub("bleu").evaluate(table).notes()["bleu"] if "variance" in t]
