"""Several files: compared as the command line compares them, or refused with the way out."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

from tests import commands
from tests.app_client import run_of, words

REFERENCES = ("a b c d", "e f g h", "i j k l", "m n o p")
# The first system has all words, the second lacks one of each four.
FULL = REFERENCES
SHORT = ("a b c", "e f g", "i j k", "m n o")


def lines(predictions: Sequence[str], references: Sequence[str] = REFERENCES) -> str:
    rows = zip(predictions, references, strict=False)
    return "".join(f"{json.dumps({'prediction': p, 'reference': r})}\n" for p, r in rows)


def sent(
    client: TestClient, files: Sequence[tuple[str, str]], *metrics: str, **more: Any
) -> tuple[str, str]:
    """The address of a run of these files that has ended, and its page."""
    return run_of(client, [("file", file) for file in files], metric=list(metrics), **more)


def test_several_files_end_in_a_comparison_by_what_distinguishes_their_names(
    client: TestClient,
) -> None:
    files = [("run-short.jsonl", lines(SHORT)), ("run-full.jsonl", lines(FULL))]
    address, _ = sent(client, files, "wer")
    document = client.get(f"{address}/scores.json").json()
    assert document["baseline"] == "run-short"
    # One of four reference words is missing, or none is.
    assert document["scores"]["run-short"]["wer"]["score"] == 0.25
    assert document["scores"]["run-full"]["wer"]["score"] == 0
    assert document["comparisons"]["run-full"]["wer"]["score"]["difference"] == -0.25
    rows = list(csv.DictReader(io.StringIO(client.get(f"{address}/samples.csv").text)))
    assert [row["file"] for row in rows] == ["run-short"] * 4 + ["run-full"] * 4


@pytest.mark.parametrize(
    ("baseline", "name"),
    [("run-full", "full"), *((none, "short") for none in ("1", "x", "", "²", "9" * 5000))],
)
def test_another_system_may_be_the_baseline_but_what_is_none_is_the_first(
    client: TestClient, baseline: str, name: str
) -> None:
    files = [("run-short.jsonl", lines(SHORT)), ("run-full.jsonl", lines(FULL))]
    address, _ = sent(client, files, "wer", baseline=baseline)
    assert client.get(f"{address}/scores.json").json()["baseline"] == f"run-{name}"


def test_the_page_is_that_of_the_command_line(client: TestClient, tmp_path: Path) -> None:
    files = [("run-short.jsonl", lines(SHORT)), ("run-full.jsonl", lines(FULL))]
    address, _ = sent(client, files, "wer", "rouge")
    for name, text in files:
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name, _ in files]
    report = tmp_path / "report.html"
    commands.run("compare", *paths, "-m", "wer", "-m", "rouge", "--report", str(report))
    # The command alone differs: the app's page has none.
    expected = re.sub(r"<dt>command</dt>\n<dd>.*\n", "", report.read_text(encoding="utf-8"))
    assert client.get(f"{address}/report.html").text == expected


def test_two_files_of_one_name_are_two_systems(client: TestClient) -> None:
    files = [("out.jsonl", lines(SHORT)), ("out.jsonl", lines(FULL))]
    address, _ = sent(client, files, "wer")
    document = client.get(f"{address}/scores.json").json()
    assert list(document["scores"]) == ["out.jsonl", "out.jsonl (2)"]


def test_systems_in_one_file_are_compared_by_the_column_of_their_names(client: TestClient) -> None:
    rows = [
        {"prediction": text, "reference": reference, "id": i, "model": name}
        for name, texts in (("short", SHORT), ("full", FULL))
        for i, (text, reference) in enumerate(zip(texts, REFERENCES, strict=True))
    ]
    text = "\n".join(map(json.dumps, rows))
    address, _ = sent(client, [("a.jsonl", text)], "wer", **{"as.model": "system"})
    document = client.get(f"{address}/scores.json").json()
    assert (document["baseline"], document["files"]) == ("short", "a.jsonl")
    assert document["comparisons"]["full"]["wer"]["score"]["difference"] == -0.25


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (lines(FULL[:3]), "b.jsonl: has 3 samples, but a.jsonl has 4; a comparison needs the same"),
        (
            lines(FULL, (*REFERENCES[:2], "x", "y")),
            "b.jsonl:3: 'reference' of sample 2 is 'x', but in a.jsonl it is 'i j k l'; "
            "a comparison needs the same samples in the same order",
        ),
        ("", "b.jsonl: the file is empty"),
        ("{", "b.jsonl:1: broken JSON"),
    ],
)
def test_files_that_do_not_pair_are_refused_with_the_name_and_the_way_out(
    client: TestClient, other: str, says: str
) -> None:
    _, page = sent(client, [("a.jsonl", lines(FULL)), ("b.jsonl", other)], "wer")
    assert says in words(page)
    assert "upload-" not in page


def test_columns_can_be_chosen_for_all_files_at_once(client: TestClient) -> None:
    def text(prediction: str) -> str:
        return json.dumps({"mine": prediction, "gold": "a b"})

    chosen = {"as.mine": "predictions", "as.gold": "references", "as.other": "sources"}
    files = [("a.jsonl", text("a b")), ("b.jsonl", text("a x"))]
    address, _ = sent(client, files, "wer", **chosen)
    scores = client.get(f"{address}/scores.json").json()["scores"]
    assert (scores["a"]["wer"]["score"], scores["b"]["wer"]["score"]) == (0, 0.5)
