"""What official tools publish, and real texts: those of the repository, and more beside it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parent / "data"
SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Beside the checkout: vectors and corpora that their licences keep out of the repository."""

SUMMEVAL = "the cut of SummEval"
WMT16 = "mt_wmt16_deen_uedin-syntax.jsonl"
WEBNLG = "d2t_webnlg_en.jsonl"


def slow(*values: Any) -> Any:
    """A parameter whose test is left out of the fast lane.

    Its oracle takes seconds, or it reads a corpus that lies beside the repository.
    """
    return pytest.param(*values, marks=pytest.mark.corpora)


def vectors(*metrics: str) -> list[Any]:
    """The vectors of some metrics as pytest parameters.

    Raises:
        LookupError: there is none: an empty list of parameters would only skip a test.
    """
    results = [pytest.param(row, id=row["id"]) for row in _vectors() if row["metric"] in metrics]
    if not results:
        raise LookupError(f"there are no vectors of {', '.join(metrics)}")
    return results


def answer_vectors(metric: str) -> list[Any]:
    """What official programs gave for answers, as pytest parameters: params, inputs, expected."""
    rows = [row for row in _rows(DATA / "answers.jsonl") if row["metric"] == metric]
    if not rows:
        raise LookupError(f"there are no vectors of {metric}")
    return [pytest.param(row, id=f"{place:02}") for place, row in enumerate(rows)]


def scripted(row: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What the model of a deepeval vector was made to list, and its verdicts."""
    listed, judged = (next(iter(answers[0].values())) for answers in row["scripted"].values())
    return listed, [verdict["verdict"] for verdict in judged]


def corpus(name: str, most: int | None = None) -> list[dict[str, Any]]:
    """The first rows of a corpus, with `hyp` and `refs`; skips the test where it isn't there."""
    if name == SUMMEVAL:
        return _summaries()[:most]
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}")
    return [{"refs": [row["ref"]], **row} if "ref" in row else row for row in _rows(path)[:most]]


def texts(name: str, most: int | None = None) -> tuple[list[str], list[list[str]]]:
    """The first predictions of a corpus, and the references of each."""
    rows = corpus(name, most)
    return [row["hyp"] for row in rows], [row["refs"] for row in rows]


def whisper_texts() -> list[dict[str, str]]:
    """Texts, and what the two normalizers of openai-whisper make of them, by ours' names."""
    return _rows(DATA / "whisper.jsonl")


def _rows(path: Path) -> list[dict[str, Any]]:
    # Not splitlines: a text may hold other ends of lines than "\n".
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@cache
def _vectors() -> list[dict[str, Any]]:
    """The repository's vectors, then those beside it that it lacks."""
    rows = [row for path in sorted(DATA.glob("vectors/*.jsonl")) for row in _rows(path)]
    ids = {row["id"] for row in rows}
    beside = SHARED / "conformance" / "vectors.jsonl"
    more = _rows(beside) if beside.exists() else []
    return [*rows, *(row for row in more if row["id"] not in ids)]


def _summaries() -> list[dict[str, Any]]:
    references = {row["doc_id"]: row["refs"] for row in _rows(DATA / "summeval_docs.jsonl")}
    outputs = _rows(DATA / "summeval_outputs.jsonl")
    return [{**row, "refs": references[row["doc_id"]]} for row in outputs]
