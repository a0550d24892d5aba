"""`metrichub compare`: systems on the same samples, from their files or from saved reports."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest

from tests.commands import BOTH, JSON, ROWS, error, run, write, write_systems
from tests.report.test_page import Page


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_systems()
    return tmp_path


def unnamed(compared: dict[str, dict[str, dict[str, object]]]) -> dict[str, object]:
    """The comparisons without their sentences, which name the files."""
    return {
        metric: {output: {**test, "sentence": None} for output, test in tests.items()}
        for metric, tests in compared.items()
    }


def test_compare_gives_both_scores_and_the_difference() -> None:
    result = run("compare", "a.jsonl", "b.jsonl", "-m", "abstractness", "--trials", "99", *JSON)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert (document["baseline"], document["samples"]) == ("a", 2)
    assert document["scores"]["b"] == {"abstractness": {"score": 1.0}}
    compared = document["comparisons"]["b"]["abstractness"]["score"]
    assert (compared["other"], compared["score"], compared["difference"]) == (0.25, 1.0, 0.75)
    # Swapping both samples or none leaves a difference of 3/4 in size. Swapping x gives 1 + 0 of
    # 1 + 1 against 1 + 1 of 3 + 1, and swapping y the same: no difference. So half are as extreme.
    assert 0.3 < compared["randomization_p"] < 0.7
    assert math.isfinite(compared["sacrebleu_bootstrap_p"])


def test_a_system_compared_with_itself_does_not_differ() -> None:
    write("same.jsonl", ROWS)
    document = json.loads(run("compare", "a.jsonl", "same.jsonl", "-m", "wer", *JSON).stdout)
    compared = document["comparisons"]["same"]["wer"]["score"]
    assert [
        compared[name] for name in ("difference", "p", "randomization_p", "sacrebleu_bootstrap_p")
    ] == [0, 1, 1, 1]


def test_several_systems_are_compared_with_the_first() -> None:
    write("c.jsonl", [{**row, "prediction": "a"} for row in ROWS])
    table = run("compare", "a.jsonl", "b.jsonl", "c.jsonl", "-m", "abstractness", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table.stdout)))
    assert [(row["system"], row["score"], row["difference"]) for row in rows] == [
        ("a", "0.25", ""),
        ("b", "1.0", "0.75"),
        ("c", "0.5", "0.25"),
    ]


def test_a_gate_fails_where_a_system_is_worse_or_cannot_be_called_better() -> None:
    rows = [
        {"id": k, "prediction": "it rains a lot", "reference": "it rains a lot"} for k in range(9)
    ]
    write("good.jsonl", rows)
    write("bad.jsonl", [{**row, "prediction": "snow"} for row in rows])
    write("silent.jsonl", [{**row, "prediction": ""} if row["id"] else row for row in rows])
    gate = ("--columns", "sources=reference", "-m", "abstractness", "--fail-if-worse")
    worse = run("compare", "good.jsonl", "bad.jsonl", *gate, "-m", "wer")
    assert worse.exit_code == 1
    assert worse.stderr.startswith("metrichub: failed: bad is worse than good on wer\n")
    untold = run("compare", "good.jsonl", "silent.jsonl", *gate, "-m", "distinct")
    assert untold.exit_code == 1
    assert "metrichub: failed: no winner on distinct_1: the systems left" in untold.stderr
    assert run("compare", "bad.jsonl", "good.jsonl", *gate, "-m", "wer").exit_code == 0
    # Neither more nor less abstractness is better, though the systems differ.
    assert run("compare", "good.jsonl", "bad.jsonl", *gate).exit_code == 0


@pytest.mark.parametrize(
    ("option", "status", "says"),
    [
        # b has 0.75 more errors than a, and no name is needed for the main output.
        (
            ("--max-drop", "wer=0.5"),
            1,
            "failed: b is worse than a by 0.75 on wer (0.25 to 1), more",
        ),
        (("--max-drop", "wer=0.75"), 0, None),
        (("--detect", "wer=0.1"), 0, "note: wer: a true difference of 0.1 would be significant in"),
        (("--margin", "wer=1.1"), 0, "note: b is not worse than a by more than 1.1 on wer (p = .0"),
        (("--margin", "wer=0.8"), 1, "failed: b may be worse than a by more than 0.8 on wer (diff"),
        # Both hold: 9 of 12 samples have one more error, as 2 of 512 swaps do, but by less than
        # 1.2: t = (1.2 - .75) / (.4523 / sqrt(12)) = 3.45 with 11 degrees of freedom, p = .003.
        (
            ("--margin", "wer=1.2", "--fail-if-worse"),
            0,
            "note: b is not worse than a by more than 1.2 on wer (p = .003), though significantly "
            "worse (p = .00",
        ),
        # Abstractness, of which neither more nor less is better, has no margin.
        (("--margin", "1.1"), 0, "note: b is not worse than a by more than 1.1 on wer (p = .0"),
        (("--margin", "0.8", "--margin", "wer=1.1"), 0, "by more than 1.1 on wer (p = .0"),
        (("--margin", "0.8"), 1, "failed: b may be worse than a by more than 0.8 on wer (diff"),
        (("--margin", "1%"), 2, "'wer.score=1%' isn't a valid threshold; write METRIC=NUMBER or "),
        (("--margin", "wer=1%"), 2, "in the score's own unit, without %"),
        (
            ("--margin", "0"),
            2,
            "--margin 'wer.score=0' isn't a difference; write METRIC=N, N above",
        ),
        (("--max-drop", "wer=-1"), 2, "--max-drop 'wer=-1' isn't a difference; write METRIC=N"),
        (("--max-drop", "wre=1"), 2, "--max-drop: no metric 'wre' is scored; did you mean 'wer'?"),
        (("--detect", "wer<=1"), 2, "--detect 'wer<=1' isn't a difference; write METRIC=N"),
        (("--detect", "abstractness=1"), 2, "neither more nor less is better for abstractness"),
    ],
)
def test_a_difference_is_named_by_its_metric(
    option: tuple[str, ...], status: int, says: str | None
) -> None:
    rows = [{"prediction": "a b", "reference": "a b", "source": "a"}] * 6
    errors = [{**row, "prediction": "x y"} for row in rows]
    write("a.jsonl", [*errors[:3], *rows, *rows[:3]])
    write("b.jsonl", [*errors, *errors])
    result = run("compare", "a.jsonl", "b.jsonl", "-m", "wer", "-m", "abstractness", *option)
    assert result.exit_code == status
    assert says is None or says in result.stderr


def test_a_gate_on_what_a_system_lacks_fails_and_says_so() -> None:
    assert run("score", "a.jsonl", *BOTH, "--save", "a.json").exit_code == 0
    ratio = ("-m", "abstractness", "--columns", "sources=reference", "--margin", "0.1")
    result = run("compare", "a.jsonl", "b.jsonl", *ratio)
    assert result.exit_code == 2
    assert "neither more nor less is better for abstractness" in result.stderr
    for option in ("--max-drop", "--margin"):
        result = run("compare", "a.json", "b.jsonl", "-m", "wer", option, "abstractness=0.1")
        assert result.exit_code == 2
        assert "no metric 'abstractness' is scored" in result.stderr


def test_saved_reports_compare_like_their_files() -> None:
    for name in ("a", "b"):
        assert run("score", f"{name}.jsonl", *BOTH, "--save", f"{name}.json").exit_code == 0
    result = run("compare", "a.jsonl", "b.jsonl", *BOTH, *JSON)
    fresh = json.loads(result.stdout)["comparisons"]["b"]
    for files in (("a.json", "b.json"), ("a.jsonl", "b.json"), ("a.json", "b.jsonl")):
        # Other suffixes tell the files apart, and stay.
        names = files if files[0][1:] != files[1][1:] else ("a", "b")
        saved = json.loads(run("compare", *files, *JSON).stdout)["comparisons"][names[1]]
        assert unnamed(saved) == unnamed(fresh)
    tests = json.loads(run("compare", "a.json", "b.json", "-m", "wer", *JSON).stdout)["comparisons"]
    assert unnamed(tests["b"]) == {"wer": unnamed(fresh)["wer"]}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["bleu"], "a has no bleu; it has: wer"),
        (["wer", "wer"], "chosen twice"),
        # What was saved isn't taken for what is asked for.
        (["wer(lowercase=True)"], "a has wer("),
        (["wer = chrf"], "a has wer("),
    ],
)
def test_metrics_that_saved_reports_lack_are_named(chosen: list[str], message: str) -> None:
    for name in ("a", "b"):
        run("score", f"{name}.jsonl", "-m", "wer", "--save", f"{name}.json")
    metrics = [part for spec in chosen for part in ("-m", spec)]
    assert message in error(run("compare", "a.json", "b.json", *metrics), 2)


def test_a_file_that_nests_too_deep_is_named() -> None:
    Path("deep.json").write_text("[" * 100_000 + "]" * 100_000, encoding="utf-8")
    message = error(run("compare", "deep.json", "a.jsonl", "-m", "wer"), 3)
    assert "deep.json: this JSON can't be read" in message


def test_saved_reports_of_judges_are_compared_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("METRICHUB_JUDGE", raising=False)
    rows = [{"prediction": "It is old.", "contexts": ["It is old."]}]
    judged = ("-m", "faithfulness", "--judge", "offline")
    for name in ("a", "b"):
        write(f"{name}.jsonl", rows)
        assert run("score", f"{name}.jsonl", *judged, "--save", f"{name}.json").exit_code == 0
    for files in (("a.json", "b.json"), ("a.json", "b.jsonl"), ("a.jsonl", "b.json")):
        for metric in (
            "faithfulness",
            "faithfulness(idk=0)",
            "faithfulness(idk=0, judge='offline')",
        ):
            compared = run("compare", *files, "-m", metric, *JSON)
            assert compared.exit_code == 0, compared.stderr
            _, score = json.loads(compared.stdout)["scores"].values()
            assert score == {"faithfulness": {"score": 1.0}}
    assert "none is set" in error(run("compare", "a.jsonl", "b.jsonl", "-m", "faithfulness"), 4)


def test_settings_that_come_from_a_saved_report_are_told() -> None:
    run("score", "a.jsonl", "-m", "wer(lowercase=True)", "-m", "bleu", "--save", "a.json")
    result = run("compare", "a.json", "b.jsonl", "-m", "wer", "-m", "bleu")
    assert result.exit_code == 0
    assert "note: all systems are scored as in a.json: wer(lowercase=True, " in result.stderr
    # Nothing to tell where they are those that were asked for, or where none was.
    assert result.stderr.count("scored as in") == 1
    for metrics in (("-m", "wer(lowercase=True)"), ()):
        assert "scored as in" not in run("compare", "a.json", "b.jsonl", *metrics).stderr


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ROWS[0], {**ROWS[1], "reference": "e"}], "c.jsonl:2: 'reference' of sample 1 is "),
        (ROWS[:1], "c lacks 1 of the 2 samples of a (first: id='y'); 1 is in all systems"),
        (
            [{**ROWS[0], "id": "z"}],
            "a and c have no sample in common: the first are id='x' and id='z'",
        ),
        ([{"prediction": "a"}], "c.jsonl: wer needs the column 'references'"),
    ],
)
def test_systems_on_other_samples_are_not_compared(
    rows: list[dict[str, str]], message: str
) -> None:
    write("c.jsonl", rows)
    assert message in error(run("compare", "a.jsonl", "c.jsonl", "-m", "wer"), 3)


LONG = "This is a rather long reference whose end is "


@pytest.mark.parametrize(
    ("first", "other", "quotes"),
    [
        ("a", "b", ("'b'", "'a'")),
        (LONG + "A", LONG + "B", ("…erence whose end is B'", "…erence whose end is A'")),
        (
            LONG + "A, and goes on for a while",
            LONG + "B",
            ("…erence whose end is B'", "…erence whose end is A, and goes on for a…"),
        ),
        # One begins the other, or is empty.
        (LONG, LONG[:30], ("…rather long referenc'", "…rather long reference whose end is '")),
        ("", LONG, ("'This is a rather long reference whose e…", "''")),
        # Lists, and quotes in them.
        ([LONG + "A"], [LONG + "B"], ('…erence whose end is B"]', '…erence whose end is A"]')),
        (["a", "b"], ["a"], ('["a"]', '["a", "b"]')),
        (LONG + "it's", LONG + "it is", ("…ence whose end is it is'", "…ence whose end is it's'")),
        # Numbers.
        (12, 1, ("1", "12")),
        (0.1, "0.2", ("'0.2'", "0.1")),
        # What looks alike.
        ("café", "cafe\u0301", (r"'cafe\u0301'", r"'caf\xe9'")),
        (["café"], ["cafe\u0301"], (r'["cafe\u0301"]', r'["caf\xe9"]')),
        ("가", "\u1100\u1161", (r"'\u1100\u1161'", r"'\uac00'")),
        ("A", "\uff21", (r"'\uff21'", "'A'")),
        ("ab", "a\u200bb", (r"'a\u200bb'", "'ab'")),
        (["ab"], ["a\u200bb"], (r'["a\u200bb"]', '["ab"]')),
        ("a b", "a\xa0b", (r"'a\xa0b'", "'a b'")),
        ("a", "a ", ("'a '", "'a'")),
        (LONG[:-1], LONG, ("…ference whose end is '", "…ference whose end is'")),
        ("a", "a\n", (r"'a\n'", "'a'")),
    ],
)
def test_samples_that_differ_are_quoted_where_they_do(
    first: object, other: object, quotes: tuple[str, str]
) -> None:
    for name, reference in (("long1.jsonl", first), ("long2.jsonl", other)):
        write(name, [{"prediction": "a", "reference": reference}])
    here, quote = quotes
    message = f"'reference' of sample 0 is {here}, but in long1.jsonl it is {quote}; a comparison "
    assert message in error(run("compare", "long1.jsonl", "long2.jsonl", "-m", "wer"), 3)


def test_compare_needs_two_files_and_a_metric() -> None:
    assert "give at least two files" in error(run("compare", "a.jsonl", "-m", "wer"), 2)
    message = error(run("compare", "a.jsonl", "b.jsonl"), 2)
    assert "for example: metrichub compare a.jsonl b.jsonl -m" in message


def test_recorded_numbers_without_ids_are_paired_by_position_and_a_note_says_so() -> None:
    rows = [{"acc": 1}, {"acc": 0}, {"acc": 1}]
    write("one.jsonl", rows)
    write("two.jsonl", rows[::-1])
    chosen = ("-m", "recorded(column='acc')", "--trials", "9")
    result = run("compare", "one.jsonl", "two.jsonl", *chosen)
    assert result.exit_code == 0, result.stderr
    assert "samples are paired by their position" in result.stderr
    for name in ("one.jsonl", "two.jsonl"):
        write(name, [{**row, "id": place} for place, row in enumerate(rows)])
    result = run("compare", "one.jsonl", "two.jsonl", *chosen)
    assert "paired by their position" not in result.stderr


def test_files_of_two_retrievers_are_compared_if_a_column_shows_the_same_samples() -> None:
    rows = [{"response": f"It has {n} arches.", "contexts": [f"It has {n} arches."]} for n in "358"]
    chosen = ("-m", "faithfulness", "-m", "density", "--judge", "offline", "--trials", "9")
    for column, shows in (("question", True), ("id", True), ("prompt", False), (None, False)):
        for name, passages in (("one.jsonl", ()), ("two.jsonl", ["Nobody knows."])):
            others = [{"contexts": [*row["contexts"], *passages]} for row in rows]
            contexts = [{column: "same" if column == "prompt" else n} for n in "358"]
            write(name, [a | b | c for a, b, c in zip(rows, others, contexts, strict=True)])
        result = run("compare", "one.jsonl", "two.jsonl", *chosen, "--report", "page.html")
        assert result.exit_code == (0 if shows else 3), (column, result.stderr)
        assert ("what was retrieved may differ only where" in result.stderr) == (not shows)
    sample, *_ = Page(Path("page.html")).samples
    assert [system["contexts"] for system in sample["own"]] == [
        "It has 3 arches.",
        ["It has 3 arches.", "Nobody knows."],
    ]


def test_a_conversation_in_a_cell_is_the_one_in_a_line_of_json() -> None:
    expected = [{"role": "assistant", "tool_calls": [{"name": "f", "args": {"a": 1}}]}]
    row = {"messages": expected, "reference_messages": expected}
    write("lines.jsonl", [row] * 2)
    Path("cells.csv").write_text(
        f"{','.join(row)}\n" + ('"{0}","{0}"\n'.format(json.dumps(expected).replace('"', '""')) * 2)
    )
    how = ("-m", "trajectory_match", *JSON)
    document = json.loads(run("compare", "lines.jsonl", "cells.csv", *how).stdout)
    assert document["scores"]["cells.csv"] == {
        "trajectory_match": {"score": 1.0, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    }
    write("lines.jsonl", [row, row | {"reference_messages": []}])
    message = error(run("compare", "lines.jsonl", "cells.csv", "-m", "trajectory_match"), 3)
    assert "'reference_messages' of sample 1 is '[{" in message
