"""Columns as other tools name them: what is read, and what the report says of it."""

from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report
from metrichub.errors import MissingColumn
from tests.commands import run, scored, write

# compression is the number of tokens of the source over that of the prediction.
RAG = {"input": "Who sat?", "actual_output": "the cat", "retrieved_contexts": ["the cat", "a mat"]}
FROM_CONTEXTS = (
    "sources were read from retrieved_contexts, each sample's passages joined into one text"
)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _compression(**more: Any) -> Report:
    return Hub("compression").evaluate([RAG | more])


@pytest.mark.parametrize(
    ("row", "score", "name"),
    [
        # 4 tokens of two passages, over 2.
        (RAG, 2.0, "retrieved_contexts"),
        (RAG | {"reference_contexts": ["cat"]}, 2.0, "retrieved_contexts"),
        ({"response": "the cat", "contexts": ["a", "b c"], "input": "?"}, 1.5, "contexts"),
        # deepeval's `context` is what should have been retrieved.
        (
            {"actual_output": "the cat", "context": ["a"], "retrieval_context": ["a b"]},
            1.0,
            "retrieval_context",
        ),
        ({"response": "the cat", "context": "a cat sat", "question": "?"}, 1.5, "context"),
        ({"response": "the cat", "reference_contexts": ["a", "b c"]}, 1.5, "reference_contexts"),
        ({"actual_output": "the cat", "retrieval_context": ["a"], "input": "?"}, 0.5, "retrieval_"),
        ({"actual_output": "the cat", "input": "the cat sat down"}, 2.0, "input"),
    ],
)
def test_sources_are_read_from_what_ragas_and_deepeval_have_in_their_place(
    row: dict[str, Any], score: float, name: str
) -> None:
    report = Hub("compression").evaluate([row])
    assert report.scores()["compression"]["score"] == score
    (note,) = report.notes()["compression"]
    assert note.startswith(f"sources were read from {name}")


@pytest.mark.parametrize("name", ["sources", "source", "document", "article"])
def test_a_name_of_sources_wins_over_what_stands_in_its_place(name: str) -> None:
    report = _compression(**{name: "the cat sat on the mat"})
    assert report.scores()["compression"]["score"] == 3.0
    assert report.notes() == {}


def test_a_mapped_column_is_nobodys_guess() -> None:
    report = Hub("compression").evaluate([RAG], columns={"sources": "input"})
    assert report.scores()["compression"]["score"] == 1.0
    assert report.notes() == {}


def test_two_columns_may_be_read_from_one_iterator() -> None:
    columns = {"predictions": ["the cat"], "retrieved_contexts": iter([["the cat", "a mat"]])}
    report = Hub(["compression", "faithfulness"], judge="offline").evaluate(**columns)
    assert report.scores()["compression"]["score"] == 2.0
    assert report.scores()["faithfulness"]["score"] == 1.0
    assert [FROM_CONTEXTS in note for note in report.notes()["compression"]] == [True]
    assert not any("sources" in note for note in report.notes().get("faithfulness", ()))


def test_contexts_given_by_name_are_the_source_too() -> None:
    columns = {"predictions": ["the cat"], "contexts": [["the cat", "a mat"]]}
    report = Hub("compression").evaluate(**columns)
    assert report.scores()["compression"]["score"] == 2.0
    (note,) = report.notes()["compression"]
    assert note.startswith(
        "sources were read from contexts, each sample's passages joined into one text"
    )


def test_no_rows_are_an_empty_batch() -> None:
    scores = Hub(["compression", "bleu", "faithfulness"], judge="openai").evaluate([]).scores()
    assert {name: str(score["score"]) for name, score in scores.items()} == {
        **{"compression": "nan", "bleu": "nan", "faithfulness": "nan"},
    }
    with pytest.raises(MissingColumn, match="given: nothing"):
        Hub("bleu").evaluate()


def test_an_input_is_no_source_of_what_needs_contexts() -> None:
    with pytest.raises(MissingColumn, match="contexts"):
        Hub("faithfulness", judge="offline")([{"input": "a", "actual_output": "b"}])


def test_the_note_outlives_saving_merging_workers_and_pooling(tmp_path: Path) -> None:
    report = _compression()
    report.save(tmp_path / "report.json")
    hub = Hub("compression")
    long = [{**RAG, "actual_output": "the cat " * 30_000}] * 12
    for other in (
        Report.load(tmp_path / "report.json"),
        report.merge(_compression()),
        report.pool(),
        hub.evaluate(iter([[RAG], [RAG]])),
        hub.evaluate(long, workers=2),
    ):
        assert len(other.notes()["compression"]) == 1
        assert other.notes()["compression"][0].startswith(FROM_CONTEXTS)


def test_reports_of_other_columns_name_both() -> None:
    other = Hub("compression").evaluate([{"actual_output": "a", "input": "a b"}])
    (note,) = _compression().merge(other).notes()["compression"]
    assert "read from retrieved_contexts and input" in note


def test_the_command_line_says_once_where_sources_were_read() -> None:
    write("rag.jsonl", [RAG, RAG])
    result = run("score", "rag.jsonl", "-m", "compression", "-m", "coverage")
    assert result.exit_code == 0
    assert result.stderr.count(FROM_CONTEXTS) == 1
    assert result.stderr.startswith("metrichub: note: compression, coverage: sources were read")


def test_a_list_in_a_cell_is_read_as_passages() -> None:
    cells = "prediction,reference_contexts\nthe cat,\"['the cat', 'a mat']\"\n"
    Path("rag.csv").write_text(cells, encoding="utf-8")
    assert scored("rag.csv", "-m", "compression")["scores"]["compression"]["score"] == 2.0
