"""What stands in the repository: complete vectors under open licences, and whole samples."""

import json
from collections import Counter

import pytest

from tests.vectors import DATA, SUMMEVAL, corpus, texts, vectors

OPEN = {"MIT", "Apache-2.0", "CC-BY-SA-4.0"}
ROWS = [
    json.loads(line)
    for path in sorted(DATA.glob("vectors/*.jsonl"))
    for line in path.read_text(encoding="utf-8").split("\n")
    if line
]


def test_every_vector_names_its_source_its_implementation_and_an_open_licence():
    assert {row["license"] for row in ROWS} <= OPEN
    assert all(row["source"] and row["reference"] for row in ROWS)
    assert len({row["id"] for row in ROWS}) == len(ROWS)


def test_the_readme_counts_the_vectors_of_every_file():
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    for path in DATA.glob("vectors/*.jsonl"):
        lines = path.read_text(encoding="utf-8").count("\n")
        assert f"| `{path.name}` | {lines} |" in readme


def test_a_metric_without_vectors_is_an_error_and_no_skip():
    with pytest.raises(LookupError, match="no vectors of blue"):
        vectors("blue")


def test_a_summary_has_eleven_references_and_three_ratings_of_each_kind():
    rows = corpus(SUMMEVAL)
    assert Counter(len(row["refs"]) for row in rows) == {11: 240}
    for kind in ("coherence", "consistency", "fluency", "relevance"):
        assert all(len(row[kind]) == 3 and set(row[kind]) <= {1, 2, 3, 4, 5} for row in rows)


def test_no_article_is_in_the_repository():
    rows = corpus(SUMMEVAL)
    assert {key for row in rows for key in row} == {
        *("doc_id", "system", "hyp", "refs"),
        *("coherence", "consistency", "fluency", "relevance"),
    }
    # Systems that take sentences out of the article, by the numbers of SummEval.
    assert not {"M0", "M1", "M2", "M5"} & {row["system"] for row in rows}


def test_the_first_texts_are_those_of_the_corpus():
    predictions, references = texts(SUMMEVAL, 3)
    assert predictions == [row["hyp"] for row in corpus(SUMMEVAL)[:3]]
    assert references == [row["refs"] for row in corpus(SUMMEVAL)[:3]]
