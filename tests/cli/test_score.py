"""`metrichub score`: scores, formats, files of every kind, thresholds."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest

from metrichub.data.values import json_value
from metrichub.report.report import Report
from tests.commands import BOTH, JSON, ROWS, error, run, scored, write, write_systems


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_systems()
    return tmp_path


def test_scores_of_a_file_are_a_document_in_json() -> None:
    assert scored("a.jsonl", "-m", "abstractness", "-m", "wer(lowercase=True)") == {
        "scores": {
            "abstractness": {"score": 0.25},
            # 3 hits, 1 substitution: mer 1/4, wip 3/4 of the words on both sides, squared.
            "wer": pytest.approx(
                {
                    "score": 0.25,
                    "mer": 0.25,
                    "wil": 1 - 9 / 16,
                    "wip": 9 / 16,
                    "hits": 3,
                    "substitutions": 1,
                    "deletions": 0,
                    "insertions": 0,
                }
            ),
        },
        "samples": 2,
    }


def test_an_alias_names_the_result() -> None:
    scores = scored("a.jsonl", "-m", "abstractness", "-m", "pairs = abstractness(n=2)")
    # Of the pairs "a b" and "b c" the second is new; "d" has none.
    assert scores["scores"] == {"abstractness": {"score": 0.25}, "pairs": {"score": 0.5}}


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (("c.csv",), ""),
        (("c.json",), ""),
        (("-", "--input-format", "csv"), "prediction,reference\na b c,a b d\nd,d\n"),
        (("-",), "".join(f"{json.dumps(row)}\n" for row in ROWS)),
        (("-p", "p.txt", "-r", "r.txt"), ""),
        (("-p", "-", "-r", "r.txt"), "a b c\nd\n"),
    ],
)
def test_other_forms_of_the_same_samples_score_the_same(
    arguments: tuple[str, ...], stdin: str
) -> None:
    for name, content in {
        "c.csv": "prediction,reference\na b c,a b d\nd,d\n",
        "c.json": json.dumps(ROWS),
        "p.txt": "a b c\nd\n",
        "r.txt": "a b d\nd\n",
    }.items():
        Path(name).write_text(content, encoding="utf-8")
    assert scored(*arguments, *BOTH, stdin=stdin) == scored("a.jsonl", *BOTH)


def test_quotes_around_cells_are_none_of_the_text_where_they_are_chosen_to_be() -> None:
    Path("c.tsv").write_text('prediction\treference\n"a b c"\ta b d\nd\td\n', "utf-8")
    assert scored("c.tsv", "--quoting", "standard", *BOTH) == scored("a.jsonl", *BOTH)
    compared = run("compare", "c.tsv", "a.jsonl", "--quoting", "none", *BOTH)
    assert compared.exit_code == 3
    assert "a.jsonl: isn't CSV or TSV" in compared.stderr


def test_several_files_of_references_are_several_references_a_sample() -> None:
    Path("p.txt").write_text("a b c\nd\n", encoding="utf-8")
    Path("r1.txt").write_text("a b d\nd\n", encoding="utf-8")
    Path("r2.txt").write_text("c\nx\n", encoding="utf-8")
    scores = scored(
        "-p", "p.txt", "-r", "r1.txt", "-r", "r2.txt", "-m", "abstractness", "--signature"
    )
    assert scores["scores"] == {"abstractness": {"score": 0.0}}  # "c" is known now
    assert scores["signatures"]["abstractness"].endswith("|references:2")


def test_columns_can_be_chosen() -> None:
    write("c.jsonl", [{"text a": row["prediction"], "b": row["reference"]} for row in ROWS])
    together = ("--columns", "predictions=text a,references=b")
    apart = ("--columns", "prediction=text a", "--columns", "reference=b")
    assert scored("c.jsonl", *BOTH, *together) == scored("a.jsonl", *BOTH)
    assert scored("c.jsonl", *BOTH, *apart) == scored("a.jsonl", *BOTH)


def test_reduce_chooses_among_candidates() -> None:
    write("c.jsonl", [{"prediction": "a", "references": ["a", "b"]}])  # wer 0 and 1
    assert scored("c.jsonl", "-m", "wer")["scores"]["wer"]["score"] == 0
    assert scored("c.jsonl", "-m", "wer", "--reduce", "worst")["scores"]["wer"]["score"] == 1
    assert scored("c.jsonl", "-m", "wer", "--reduce", "mean")["scores"]["wer"]["score"] == 0.5


def test_several_files_are_several_systems() -> None:
    scores = scored("a.jsonl", "b.jsonl", "-m", "abstractness")
    assert {name: system["scores"] for name, system in scores["systems"].items()} == {
        "a": {"abstractness": {"score": 0.25}},
        "b": {"abstractness": {"score": 1.0}},
    }
    table = run("score", "a.jsonl", "b.jsonl", "-m", "abstractness", "--format", "csv").stdout
    assert list(csv.reader(io.StringIO(table))) == [
        ["metric", "output", "a", "b"],
        ["abstractness", "score", "0.25", "1.0"],
    ]


def test_systems_that_were_given_other_references_have_no_best() -> None:
    write("b.jsonl", [{**row, "reference": "q"} for row in ROWS])
    shown = run("score", "a.jsonl", "b.jsonl", "-m", "wer", "--format", "markdown")
    assert shown.exit_code == 0
    assert "**" not in shown.stdout
    assert "wer: no winner: the systems have different" in (shown.stderr)


def test_systems_of_other_sizes_are_not_put_side_by_side() -> None:
    write_systems()
    write("b.jsonl", ROWS[:1])
    message = error(run("score", "a.jsonl", "b.jsonl", "-m", "wer", "--format", "latex"), 3)
    assert message.startswith("a has 2 samples, but b 1; systems side by side need")


def test_a_system_that_answers_nothing_where_it_is_hard_does_not_win() -> None:
    rows = [{"prediction": text, "reference": "a b"} for text in ("a b c d e f", "x")]
    write("a.jsonl", rows)
    write("b.jsonl", [rows[0], {**rows[1], "prediction": ""}])
    result = run("score", "a.jsonl", "b.jsonl", "-m", "aun", "--format", "json")
    systems = json.loads(result.stdout)["systems"]
    assert systems["b"]["counts"] == {"aun": {"unanswered": 1}}
    assert "aun: no winner: the systems left different" in result.stderr


def test_intervals_are_those_of_the_report() -> None:
    scores = scored(
        "a.jsonl", "-m", "abstractness", "--intervals", "--resamples", "64", "--seed", "7"
    )
    run("score", "a.jsonl", "-m", "abstractness", "--save", "a.json")
    expected = Report.load("a.json").intervals(resamples=64, seed=7)["abstractness"]["score"]
    assert scores["intervals"]["abstractness"]["score"] == json_value(expected)
    wide = ("--intervals", "--confidence", "0.5", "--format", "csv")
    table = run("score", "a.jsonl", "-m", "abstractness", *wide).stdout
    [row] = csv.DictReader(io.StringIO(table))
    # Two samples are too few.
    assert (row["low"], row["high"]) == ("", "")


def test_what_has_no_intervals_is_noted_only_beside_intervals() -> None:
    sums = ("a.jsonl", "-m", "novelty(n=1)", "--key", "id")
    assert run("score", *sums).stderr == ""
    assert run("score", *sums, "--intervals").stderr == (
        "metrichub: note: novelty: no intervals or tests: the metric needs all samples for this, "
        "and they weren't kept\n"
    )


def test_csv_has_full_precision_and_an_empty_cell_for_nan() -> None:
    write("c.jsonl", [{"prediction": "a b c", "reference": "a b d"}])
    table = run(
        "score", "c.jsonl", "-m", "abstractness", "-m", "p = abstractness(n=9)", "--format", "csv"
    )
    assert list(csv.reader(io.StringIO(table.stdout))) == [
        ["metric", "output", "score"],
        ["abstractness", "score", str(1 / 3)],
        ["p", "score", ""],
    ]


def test_markdown_and_latex_and_text_have_three_decimals() -> None:
    shown = {
        form: run("score", "a.jsonl", "-m", "abstractness", "--format", form).stdout
        for form in ("markdown", "latex", "table")
    }
    assert "| abstractness | 0.250 |" in shown["markdown"]
    assert "abstractness & 0.250 \\\\" in shown["latex"]
    assert shown["table"].splitlines()[3].split() == ["abstractness", "0.250"]


def test_signatures_stand_at_the_foot_of_a_table_and_in_json() -> None:
    signature = scored("a.jsonl", "-m", "abstractness", "--signature")["signatures"]["abstractness"]
    assert signature.startswith("abstractness(n=1)|definition:1|metrichub:")
    for form, foot in (("table", "{}"), ("markdown", "`{}`")):
        shown = run("score", "a.jsonl", "-m", "abstractness", "--signature", "--format", form)
        assert shown.stdout.splitlines()[-1] == foot.format(signature)
    latex = run("score", "a.jsonl", "-m", "abstractness", "--format", "latex").stdout
    assert latex.endswith(f"\\caption{{2 samples.}}\n\\end{{table}}\n% {signature}\n")
    shown = run("score", "a.jsonl", "-m", "abstractness", "--signature", "--format", "csv")
    assert next(csv.DictReader(io.StringIO(shown.stdout)))["signature"] == signature


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("o.json", "{"),
        ("o.csv", "metric,"),
        ("o.md", "| metric"),
        ("o.tex", "\\begin"),
        ("o", "a scores 0.250 on abstractness."),
    ],
)
def test_the_suffix_of_the_output_chooses_its_format(name: str, start: str) -> None:
    result = run("score", "a.jsonl", "-m", "abstractness", "-o", name)
    assert (result.exit_code, result.stdout) == (0, "")
    assert Path(name).read_text(encoding="utf-8").startswith(start)


@pytest.mark.parametrize("name", ["r.csv", "r", "r.html"])
def test_a_report_is_saved_under_a_name_that_compare_reads(name: str) -> None:
    result = run("score", "a.jsonl", "-m", "abstractness", "--save", name)
    assert result.exit_code == 2
    assert "a report is JSON, so name it r.json" in result.stderr
    assert not Path(name).exists()


def test_a_compressed_report_is_compared() -> None:
    scored("a.jsonl", "-m", "abstractness", "--save", "r.json.gz")
    assert Path("r.json.gz").read_bytes().startswith(b"\x1f\x8b")
    result = run("compare", "r.json.gz", "b.jsonl", *JSON)
    assert result.exit_code == 0, result.stderr
    # By hand, as in tests/commands.py: 1 of 4 n-grams is new.
    assert json.loads(result.stdout)["scores"]["r.json.gz"]["abstractness"]["score"] == 0.25


@pytest.mark.parametrize("first", [True, False])
def test_a_format_is_written_under_any_name(first: bool) -> None:
    form, name = ("--format", "csv"), ("-o", "o.log")
    order = (*form, *name) if first else (*name, *form)
    assert run("score", "a.jsonl", "-m", "abstractness", *order).exit_code == 0
    assert Path("o.log").read_text(encoding="utf-8").startswith("metric,")


def test_a_file_of_a_metrics_name_is_a_file() -> None:
    Path("a.jsonl").rename("wer")
    assert scored("wer", "-m", "wer", "--input-format", "jsonl")["scores"]["wer"]["score"] == 0.25


def test_an_error_leaves_the_old_output_and_no_other_file(folder: Path) -> None:
    Path("o.json").write_text("old", encoding="utf-8")
    write("bad.jsonl", [{"prediction": None, "reference": "a"}])
    before = sorted(os.listdir(folder))
    outputs = ("-o", "o.json", "--samples", "s.csv", "--save", "r.json")
    error(run("score", "bad.jsonl", "-m", "wer", *outputs), 3)
    assert Path("o.json").read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir(folder)) == before


def test_sample_scores_go_to_a_file() -> None:
    run(
        "score",
        "a.jsonl",
        "-m",
        "abstractness",
        "-m",
        "p = abstractness(n=2)",
        "--samples",
        "s.jsonl",
    )
    lines = Path("s.jsonl").read_text(encoding="utf-8").splitlines()
    first, second = map(json.loads, lines)
    assert first == {
        "sample": 0,
        "id": "x",
        "predictions": "a b c",
        "references": "a b d",
        "scores": {"abstractness": {"score": 1 / 3}, "p": {"score": 0.5}},
    }
    assert second["scores"] == {"abstractness": {"score": 0.0}, "p": {"score": None}}
    run("score", "a.jsonl", "b.jsonl", "-m", "abstractness", "--samples", "s.csv")
    with Path("s.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["file"], r["id"], float(r["abstractness.score"])) for r in rows] == [
        ("a", "x", 1 / 3),
        ("a", "y", 0.0),
        ("b", "x", 1.0),
        ("b", "y", 1.0),
    ]


def test_a_threshold_that_holds_exits_with_0_and_one_that_fails_with_1() -> None:
    fine = ("--fail-under", "abstractness=0.25", "--fail-over", "wer.mer=0.25")
    assert run("score", "a.jsonl", *BOTH, *fine).exit_code == 0
    result = run(
        "score", "a.jsonl", *BOTH, "--fail-over", "wer=0.2", "--fail-under", "abstractness=0.3"
    )
    assert result.exit_code == 1
    assert re.search(r"^abstractness +0\.250$", result.stdout, re.MULTILINE)
    assert result.stderr.splitlines() == [
        "metrichub: failed: abstractness.score is 0.25, under 0.3",
        "metrichub: failed: wer.score is 0.25, over 0.2",
    ]


@pytest.mark.parametrize(
    ("option", "limit", "message"),
    [
        # By hand: wer is 1 of 4.
        ("--fail-under", "wer<=0.25", None),
        ("--fail-under", "wer<=0.24", "wer.score is 0.25, over 0.24"),
        ("--fail-under", "wer < 0.25", "wer.score is 0.25, not under 0.25"),
        ("--fail-under", "wer>=0.25", None),
        ("--fail-under", "wer>0.25", "wer.score is 0.25, not over 0.25"),
        ("--fail-over", "wer<=0.3", None),
    ],
)
def test_a_threshold_may_say_its_sign(option: str, limit: str, message: str | None) -> None:
    result = run("score", "a.jsonl", "-m", "wer", option, limit)
    assert result.exit_code == (1 if message else 0)
    assert result.stderr == (f"metrichub: failed: {message}\n" if message else "")


def test_nan_fails_every_threshold() -> None:
    for option in ("--fail-under", "--fail-over"):
        result = run("score", "a.jsonl", "-m", "abstractness(n=9)", option, "abstractness=0.5")
        assert result.exit_code == 1
        assert "no number" in result.stderr


def test_each_system_is_held_to_the_threshold() -> None:
    result = run(
        "score", "a.jsonl", "b.jsonl", "-m", "abstractness", "--fail-over", "abstractness=0.5"
    )
    assert result.exit_code == 1
    assert result.stderr == "metrichub: failed: b: abstractness.score is 1, over 0.5\n"


_WORST = ("score", "words.jsonl", "-m", "abstractness", "-m", "wer", "-m", "rouge")


def _write_words() -> None:
    """None to three of four words are wrong."""
    predictions = ["a b c d", "x b c d", "x y c d", "x y z d"]
    rows = [{"utt_id": f"u{n}", "prediction": text} for n, text in enumerate(predictions)]
    write("words.jsonl", [row | {"reference": "a b c d"} for row in rows])


@pytest.mark.parametrize(
    ("worst", "head", "lines"),
    [
        ("wer=2", "Worst 2 by wer", [("0.750", 3), ("0.500", 2)]),
        ("wer.hits=1", "Worst 1 by wer hits", [("1", 3)]),
        ("rouge=1", "Worst 1 by rouge1", [("0.250", 3)]),
    ],
)
def test_the_worst_samples_are_shown_with_their_texts(
    worst: str, head: str, lines: list[tuple[str, int]]
) -> None:
    _write_words()
    shown = run(*_WORST, "--worst", worst, "--format", "table").stdout
    shown_lines = shown.partition(head)[2].splitlines()[2:]
    for number, sample in lines:
        label, prediction, reference = (shown_lines.pop(0).split(maxsplit=k) for k in (2, 1, 1))
        assert label == [number, "sample", f"{sample} (utt_id u{sample})"]
        assert prediction[0] == "prediction"
        assert reference == ["reference", "a b c d"]
    assert shown_lines[0] == ""
    (document,) = [json.loads(run(*_WORST, "--worst", worst, "--format", "json").stdout)["worst"]]
    assert [row["sample"] for row in document] == [sample for _, sample in lines]
    assert document[0]["predictions"] == "x y z d"
    written = run(*_WORST, "--worst", worst, "--format", "markdown").stdout
    assert "|  | prediction | x y z d |\n" in written


def test_the_worst_of_a_judge_have_its_verdicts_and_leave_out_the_unscored() -> None:
    passages = {"contexts": ["It is old."], "id": 7}
    rows = [passages | {"prediction": text} for text in ("", "It is old.", "It is green.")]
    write("judged.jsonl", rows)
    judged = ("judged.jsonl", "-m", "faithfulness", "--judge", "offline", "--worst", "5")
    shown = run("score", *judged, "--format", "table").stdout
    assert "Worst 2 by faithfulness; 1 of 3 have no score\n" in shown
    assert re.search(
        r"sample +2 \(id 7\)\n +prediction +It is green.\n +context +It is old.", shown
    )
    assert re.search(r"\n +yes +It is old.: 100% of its words", shown)
    assert "sample      0" not in shown
    both = run("score", "judged.jsonl", "b=judged.jsonl", *judged[1:], "--format", "json")
    assert both.exit_code == 2  # The same file twice.
    Path("other.jsonl").write_bytes(Path("judged.jsonl").read_bytes())
    several = ("score", "judged.jsonl", "other.jsonl", *judged[1:])
    assert "Worst 2 of other by faithfulness" in run(*several, "--format", "table").stdout
    assert [*json.loads(run(*several, "--format", "json").stdout)["worst"]] == ["judged", "other"]
    write("empty.jsonl", rows[:1])
    shown = run("score", "empty.jsonl", *judged[1:], "--format", "table").stdout
    assert "No sample has a score by faithfulness\n" in shown


@pytest.mark.parametrize(
    ("worst", "message"),
    [
        ("0", "--worst '0': write --worst 20 or METRIC=20"),
        ("wer=", "--worst 'wer=': write --worst 20"),
        ("chrf=3", "--worst: no metric 'chrf' is scored (scored: abstractness, wer, rouge)"),
        ("3", "no sample is the worst by abstractness, of which neither more nor less is better"),
    ],
)
def test_a_worst_that_no_sample_can_be_is_refused_before_scoring(worst: str, message: str) -> None:
    _write_words()
    assert message in error(run(*_WORST, "--worst", worst), 2)


def test_a_table_of_worst_samples_isn_t_in_csv_nor_of_sums() -> None:
    _write_words()
    assert "CSV has one table" in error(run(*_WORST, "--worst", "wer=3", "-o", "s.csv"), 2)
    keyed = error(run(*_WORST, "--worst", "wer=3", "--key", "utt_id"), 2)
    assert "--worst, --report, --by and --max-words need the samples" in keyed
