"""What stands in the repository: complete vectors under open licences, and whole samples."""

import json

from tests.vectors import DATA, SUMMEVAL, corpus

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


def test_no_article_is_in_the_repository():
    rows = corpus(SUMMEVAL)
    assert {key for row in rows for key in row} == {
        *("doc_id", "system", "hyp", "refs"),
        *("coherence", "consistency", "fluency", "relevance"),
    }
    # Systems that take sentences out of the article, by the numbers of SummEval.
    assert not {"M0", "M1", "M2", "M5"} & {row["system"] for row in rows}
