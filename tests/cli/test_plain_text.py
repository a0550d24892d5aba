"""Plain text on the command line: systems, references, sources and questions, a line a sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import JSON, error, run, write

REFERENCES = [
    ["The cat sat on the mat.", "It rains a lot in spring.", "He came home late, again.", "Yes!"],
    ["A cat sat on a mat.", "Spring has much rain.", "He was late again.", "Indeed!"],
]
SYSTEMS = {
    "a": ["The cat sat on the mat.", "It rains in spring.", "He came home late.", "Yes!"],
    "b": ["A cat is on a mat.", "It rains a lot.", "He came late, again.", "No."],
    "c": ["The dog sat.", "Rain in the spring is wet.", "Home he came.", "Indeed!"],
}
ALL = ("a.txt", "b.txt", "c.txt", "-r", "ref1.txt", "-r", "ref2.txt")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {f"ref{i}.txt": texts for i, texts in enumerate(REFERENCES, 1)}
    files |= {f"{name}.txt": texts for name, texts in SYSTEMS.items()}
    files |= {"short.txt": SYSTEMS["a"][:2], "hyp.de": SYSTEMS["b"]}
    for name, texts in files.items():
        Path(name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    write("x.jsonl", [{"prediction": "a", "reference": "b"}] * 4)


def test_the_scores_are_those_of_sacrebleu() -> None:
    metrics = pytest.importorskip("sacrebleu.metrics", reason="sacrebleu is not installed")
    ran = run("compare", *ALL, "-m", "bleu", "-m", "chrf", "-m", "ter", *JSON)
    assert ran.exit_code == 0, ran.stderr
    scores = json.loads(ran.stdout)["scores"]
    assert [*scores] == ["a", "b", "c"]
    for name, predictions in SYSTEMS.items():
        theirs = {
            metric: getattr(metrics, metric.upper() if metric != "chrf" else "CHRF")()
            .corpus_score(predictions, REFERENCES)
            .score
            for metric in ("bleu", "chrf", "ter")
        }
        assert {metric: 100 * scores[name][metric]["score"] for metric in theirs} == pytest.approx(
            theirs
        )


def test_a_system_has_the_name_that_it_was_given() -> None:
    ran = run("compare", "ours=hyp.de", "a.txt", "-r", "ref1.txt", "-m", "chrf")
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.startswith("No significant difference between ours and a on chrf: ")
    assert "paired by their position" not in ran.stderr


@pytest.mark.parametrize("files", [("-p", "a.txt"), ("a.txt",), ("a.txt", "b.txt")])
def test_score_reads_the_same_files(files: tuple[str, ...]) -> None:
    ran = run("score", *files, "-r", "ref1.txt", "-r", "ref2.txt", "-m", "chrf", *JSON)
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(ran.stdout)
    scores = document["systems"]["a"] if len(files) == 2 and files[0] != "-p" else document
    compared = json.loads(run("compare", *ALL, "-m", "chrf", *JSON).stdout)
    assert scores["scores"] == compared["scores"]["a"]


def test_sources_and_standard_input_are_read_once_for_all_systems() -> None:
    texts = "".join(f"{text}\n" for text in REFERENCES[0])
    files = ("a.txt", "b.txt", "-s", "ref2.txt")
    piped = run("compare", *files, "-r", "-", "-m", "sari", *JSON, stdin=texts)
    named = run("compare", *files, "-r", "ref1.txt", "-m", "sari", *JSON)
    assert piped.exit_code == 0, piped.stderr
    assert json.loads(piped.stdout)["scores"] == json.loads(named.stdout)["scores"]


def test_conditions_choose_lines() -> None:
    how = ("-m", "chrf", "--where", f"references={REFERENCES[0][0]}", *JSON)
    ran = run("compare", "a.txt", "b.txt", "-r", "ref1.txt", *how)
    assert json.loads(ran.stdout)["samples"] == 1, ran.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("a.txt b.txt", 2, "chrf needs references; add -r FILE"),
        ("a.txt short.txt -r ref1.txt", 3, "a.txt has 4, short.txt has 2, ref1.txt has 4; line i"),
        ("a.txt b.txt -r short.txt", 3, "a.txt has 4, b.txt has 4, short.txt has 2"),
        ("a.txt x.jsonl -r ref1.txt", 2, "x.jsonl is a table with columns, so -r, -s and -q can't"),
        ("a.txt b.txt -r ref1.txt --input-format csv", 2, "a.txt is a table with columns"),
        ("a.txt x.jsonl", 3, "a.txt: unknown suffix '.txt'"),
        ("a.txt x.jsonl", 3, "; for plain text add -r FILE"),
        ("a.txt b.txt -r none.txt", 3, "none.txt: no such file"),
        ("a.txt -r ref1.txt", 2, "a.txt has one system; give another FILE"),
        ("-r ref1.txt", 2, "give at least two files, the baseline first"),
        ("- b.txt -r -", 2, "standard input can be read only once"),
    ],
)
def test_mistakes_are_named_with_the_way_out(arguments: str, status: int, message: str) -> None:
    assert message in error(run("compare", *arguments.split(), "-m", "chrf"), status)


def test_empty_files_are_named() -> None:
    for name in ("d.txt", "e.txt", "none.txt"):
        Path(name).touch()
    message = error(run("compare", "d.txt", "e.txt", "-r", "none.txt", "-m", "chrf"), 3)
    assert message == "d.txt: the file is empty"
