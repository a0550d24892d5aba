"""`metrichub score` reads a file in parts: the same scores and errors, and no more in memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from metrichub.data import files
from metrichub.hub import Hub
from metrichub.report.report import Report
from tests.commands import ROWS, error, run, scored, write, write_systems

ONE = ("-m", "abstractness", "-m", "wer", "-m", "distinct")


@pytest.fixture(autouse=True)
def one_row_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_systems()
    for module, name in (("cli.score", "read_batches"), ("data.files", "read_columns")):
        reader: Callable[..., Iterator[Any]] = partial(getattr(files, name), characters=1)
        monkeypatch.setattr(f"metrichub.{module}.{name}", reader)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What `Hub.evaluate` was called with."""
    calls: list[dict[str, Any]] = []
    evaluate = Hub.evaluate

    def watched(hub: Hub, data: Any, **options: Any) -> Report:
        calls.append({"stream": isinstance(data, Iterator), **options})
        return evaluate(hub, data, **options)

    monkeypatch.setattr(Hub, "evaluate", watched)
    return calls


@pytest.mark.parametrize(
    ("options", "streams"),
    [
        ((), False),
        (("--signature", "--fail-over", "wer=1"), False),
        (("--intervals", "--resamples", "9"), True),
        (("--samples", "s.jsonl"), True),
        (("--save", "r.json"), True),
    ],
)
def test_rows_are_kept_only_where_they_are_needed(
    options: tuple[str, ...], streams: bool, asked: list[dict[str, Any]]
) -> None:
    scores = scored("a.jsonl", *ONE, *options)
    assert [(call["stream"], call["samples"]) for call in asked] == [(True, streams)]
    # By hand: abstractness and wer as ROWS say; the words a, b, c, d are all distinct.
    assert scores["samples"] == 2
    assert [scores["scores"][name]["score"] for name in ("abstractness", "wer")] == [0.25, 0.25]
    assert scores["scores"]["distinct"]["score"] == 1


def test_standard_input_and_plain_lines_are_streamed_too(asked: list[dict[str, Any]]) -> None:
    expected = scored("a.jsonl", *ONE)
    text = Path("a.jsonl").read_text(encoding="utf-8")
    assert scored("-", *ONE, stdin=text) == expected
    Path("r.txt").write_text("a b d\nd\n", encoding="utf-8")
    assert scored("-p", "-", "-r", "r.txt", *ONE, stdin="a b c\nd\n") == expected
    assert [(call["stream"], call["samples"]) for call in asked] == [(True, False)] * 3


@pytest.mark.parametrize("options", [(), ("--intervals", "--resamples", "20")])
def test_several_workers_print_the_same(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metrichub.evaluation.run.PART_CHARACTERS", 1)
    write("c.jsonl", ROWS * 4)
    first, two = (scored("c.jsonl", *ONE, *options, "--workers", n) for n in ("1", "2"))
    assert first == two
    assert first["samples"] == 8


def test_compare_takes_workers_too(asked: list[dict[str, Any]]) -> None:
    shown = [
        run("compare", "a.jsonl", "b.jsonl", "-m", "wer", "--trials", "9", "--workers", n).stdout
        for n in ("1", "2")
    ]
    assert shown[0] == shown[1] != ""
    assert [call["workers"] for call in asked] == [1, 1, 2, 2]


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"prediction": "a"}, "c.jsonl:4: 'reference' is missing or null in sample 2"),
        ({"prediction": "a", "reference": 5}, "c.jsonl:4: references[2] is 5 (int), not text"),
        (
            {"prediction": "a", "reference": ["a", None]},
            "c.jsonl:4: references[2][1] is None, not text",
        ),
        ({"prediction": ["a", b"x".hex(), []], "reference": "a"}, "predictions[2][2] is []"),
    ],
)
def test_a_bad_sample_late_in_a_file_is_found_by_line_and_number(
    row: dict[str, Any], message: str, workers: str
) -> None:
    lines = [*map(json.dumps, ROWS), "", json.dumps(row), json.dumps(ROWS[0])]
    Path("c.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert message in error(run("score", "c.jsonl", "-m", "wer", "--workers", workers), 3)


def test_a_broken_line_late_in_a_file_leaves_no_output() -> None:
    text = Path("a.jsonl").read_text(encoding="utf-8")
    Path("c.jsonl").write_text(text + "{\n", encoding="utf-8")
    message = error(run("score", "c.jsonl", "-m", "wer", "-o", "o.json", "--samples", "s.csv"), 3)
    assert message.startswith("c.jsonl:3: broken JSON")
    assert not Path("o.json").exists()
    assert not Path("s.csv").exists()


def test_a_name_that_comes_up_late_does_not_take_the_place_of_another() -> None:
    rows = [*ROWS, {**ROWS[0], "references": ["x"]}]
    write("c.jsonl", rows)
    message = error(run("score", "c.jsonl", "-m", "wer"), 3)
    assert message.startswith(
        "c.jsonl: references were read from 'reference' up to sample 2, but here"
    )
    assert message.endswith("choose one with --columns references=reference")
    assert scored("c.jsonl", "-m", "wer", "--columns", "references=reference")["samples"] == 3


def test_ids_stay_with_their_samples_where_some_have_none() -> None:
    plain = {"prediction": "a", "reference": "a"}
    write("c.jsonl", [plain, {**plain, "id": "x"}, plain, {**plain, "id": 7}])
    run("score", "c.jsonl", "-m", "wer", "--samples", "s.jsonl")
    rows = [json.loads(line) for line in Path("s.jsonl").read_text("utf-8").splitlines()]
    assert [(row["sample"], row["id"]) for row in rows] == [(0, None), (1, "x"), (2, None), (3, 7)]
    write("d.jsonl", [plain])
    run("score", "d.jsonl", "-m", "wer", "--samples", "s.csv")
    with Path("s.csv").open(encoding="utf-8", newline="") as file:
        head = ["sample", "predictions", "references", "wer.score"]
        assert next(csv.reader(file))[:4] == head


def test_a_saved_report_of_a_stream_knows_the_samples_that_it_read() -> None:
    for name, rows in (("a", ROWS), ("other", [{**row, "reference": "q"} for row in ROWS])):
        write(f"{name}.jsonl", rows)
        run("score", f"{name}.jsonl", "-m", "wer", "--save", f"{name}.json")
    assert run("compare", "a.json", "b.jsonl", "-m", "wer", "--trials", "9").exit_code == 0
    message = error(run("compare", "other.json", "b.jsonl", "-m", "wer", "--trials", "9"), 2)
    assert "have different references" in message


def test_a_missing_file_is_told_before_another_is_measured(asked: list[dict[str, Any]]) -> None:
    assert "none.jsonl: no such file" in error(run("score", "a.jsonl", "none.jsonl", *ONE), 3)
    assert asked == []


def test_cells_that_may_be_missing_values_are_counted_in_a_note(tmp_path: Path) -> None:
    rows = [
        "prediction,reference,id",
        "a,a,",
        ",b,",
        "NaN,c,",
        "NaN,c,",
        "NA,null,",
        "nane,null,NA",
    ]
    texts = "\n".join(rows)
    (tmp_path / "a.csv").write_text(texts, "utf-8")
    (tmp_path / "a.tsv").write_text(texts.replace(",", "\t"), "utf-8")
    (tmp_path / "a.jsonl").write_text('{"prediction": "", "reference": "null"}\n', "utf-8")
    for name in ("a.csv", "a.tsv"):
        path = str(tmp_path / name)
        ran = run("score", path, "-m", "wer", "-m", "cer")
        messages = [line for line in ran.stderr.splitlines() if "missing" in line]
        advice = "scored as text; if the values are missing, delete the rows"
        notes = [
            f"predictions has 1 empty, 2 'NaN' and 1 'NA' cells, {advice}",
            f"references has 2 'null' cells, {advice}",
        ]
        assert messages == [f"metrichub: note: wer, cer: {text}" for text in notes]
    assert "missing" not in run("score", str(tmp_path / "a.jsonl"), "-m", "wer").stderr
