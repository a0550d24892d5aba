"""The example files are aligned, complete and answerable from their contexts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests import summeval

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SYSTEMS = ("summaries.jsonl", "summaries_b.jsonl")
OUTPUTS = ("prediction", "answer")
TEXTS = ("id", "source", "question", *OUTPUTS)
LISTS = ("contexts", "references")


def read(name: str) -> list[dict[str, Any]]:
    """Return the samples of one file."""
    lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_file_has_forty_samples_with_the_documented_fields(name: str) -> None:
    samples = read(name)
    assert len({sample["id"] for sample in samples}) == len(samples) == 40
    assert all(set(sample) == {*TEXTS, *LISTS} for sample in samples)


def test_both_systems_saw_the_same_input() -> None:
    for a, b in zip(*map(read, SYSTEMS), strict=True):
        assert {k: v for k, v in a.items() if k not in OUTPUTS} == {
            k: v for k, v in b.items() if k not in OUTPUTS
        }


def test_the_readme_names_every_passage() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{sample['id']}` | " in page for sample in read(SYSTEMS[0]))


def test_the_checked_summaries_have_the_labels_of_the_table() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    errors = set(re.findall(r"^\| `([\w-]+)` \| (?:both|summary) \|", page, re.MULTILINE))
    assert len(errors) == 15
    checked = read("checked.jsonl")
    for sample, original in zip(checked, read("summaries_b.jsonl"), strict=True):
        assert sample["id"] == original["id"]
        assert sample["prediction"] == original["prediction"]
        assert sample["contexts"] == [original["source"]]
        assert sample["faithful"] in (None, int(sample["id"] not in errors))
    assert sum(sample["faithful"] is not None for sample in checked) == 30


NEWS = {"bart": "M22", "pointer_generator": "M8", "t5": "M17"}
RATED = ("coherence", "consistency", "fluency", "relevance")


@pytest.mark.parametrize("name", NEWS)
def test_a_system_of_the_news_summarizes_the_same_hundred_articles(name: str) -> None:
    rows = read(f"news/{name}.jsonl")
    assert all(set(row) == {"id", "prediction", "reference", *RATED} for row in rows)
    pairs = [(row["id"], row["reference"]) for row in rows]
    assert pairs == [(row["id"], row["reference"]) for row in read("news/bart.jsonl")]
    assert len({*pairs}) == 100


@pytest.mark.parametrize("name", NEWS)
def test_the_news_are_those_of_summeval(name: str) -> None:
    # The cut of SummEval beside the tests has twenty of the documents, and the ratings one by one.
    rows = {row["id"]: row for row in read(f"news/{name}.jsonl")}
    outputs = [row for row in summeval.cut() if row["system"] == NEWS[name]]
    assert len(outputs) == 20
    for row in outputs:
        assert rows[row["doc_id"]]["prediction"] == row["hyp"]
        assert rows[row["doc_id"]]["reference"] == row["refs"][0]
        for rated in RATED:
            assert rows[row["doc_id"]][rated] == round(sum(row[rated]) / 3, 2)
