"""Rated texts, read from the files of the data that `benchmarks.rated_data` lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

EXPERTS = ("coherence", "consistency", "fluency", "relevance")


class Texts(NamedTuple):
    """Rated outputs, what they were made from or are compared with, and what people said of them.

    `human` maps dimensions to a rating of each output, or to the preferences of `pairs`: the
    positions of two outputs each.
    """

    predictions: Sequence[str]
    columns: Mapping[str, Sequence[Any]]
    human: Mapping[str, Sequence[Any]]
    item: Sequence[Any]
    system: Sequence[Any] | None
    pairs: tuple[Sequence[int], Sequence[int]] | None = None


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def lines(text: str) -> str:
    """Sentences on lines of their own, as rougeLsum reads them; the texts are tokenized."""
    return text.replace(" . ", " .\n")


def summeval(folder: Path, start: str = "summ_summeval") -> Texts:
    """SummEval with the ratings of its three experts, or the cut of it."""
    documents = {row["doc_id"]: row for row in _rows(folder / f"{start}_docs.jsonl")}
    rows = _rows(folder / f"{start}_outputs.jsonl")
    if start == "summ_summeval":
        experts = _rows(folder / f"{start}_experts.jsonl")
        rated = {(row["doc_id"], row["system"]): row for row in experts}
        rows = [{**row, **rated[row["doc_id"], row["system"]]} for row in rows]
    return Texts(
        [lines(row["hyp"]) for row in rows],
        {"references": [list(map(lines, documents[row["doc_id"]]["refs"])) for row in rows]},
        {dimension: [row[dimension] for row in rows] for dimension in EXPERTS},
        [row["doc_id"] for row in rows],
        [row["system"] for row in rows],
    )


def summeval_articles(folder: Path) -> Texts:
    """The same with the articles in place of the references."""
    articles = {row["doc_id"]: row["src"] for row in _rows(folder / "summ_summeval_docs.jsonl")}
    texts = summeval(folder)
    return texts._replace(columns=_against([articles[number] for number in texts.item]))


def qags(folder: Path) -> Texts:
    """QAGS on CNN/DailyMail: a summary of each article, and how much of it people found true."""
    rows = _rows(folder / "fact_qags_cnn.jsonl")
    return Texts(
        [lines(row["hyp"]) for row in rows],
        _against([row["src"] for row in rows])
        | {"references": [lines(row["src"]) for row in rows]},
        {"factuality": [row["human_factuality"] for row in rows]},
        [str(row["id"]) for row in rows],
        None,
    )


def _against(articles: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The article as reference, source and context."""
    contexts = [[article] for article in articles]
    return {"references": articles, "sources": articles, "contexts": contexts}


def darr(folder: Path) -> Texts:
    """Pairs of translations of a sentence of which people rated one 25 points higher."""
    rows = _rows(folder / "mt_wmt19_lten_darr.jsonl")
    places: dict[tuple[str, str], int] = {}
    outputs: list[tuple[str, str]] = []
    sides: dict[str, list[int]] = {"better": [], "worse": []}
    for row in rows:
        for side, numbers in sides.items():
            key = row["src"], row[f"{side}_system"]
            if key not in places:
                places[key] = len(outputs)
                outputs.append((row[side], row["ref"]))
            numbers.append(places[key])
    return Texts(
        [text for text, _ in outputs],
        {"references": [reference for _, reference in outputs]},
        {"adequacy": ["a"] * len(rows)},
        [row["src"] for row in rows],
        [system for _, system in places],
        (sides["better"], sides["worse"]),
    )


def hats(folder: Path) -> Texts:
    """Pairs of French transcripts of which at least 7 of 10 listeners preferred the same one.

    As in the authors' program, a pair has five votes or more.
    """
    lines_of = (folder / "hats.tsv").read_text(encoding="utf-8").split("\n")[1:]
    pairs = [line.split("\t") for line in lines_of if line]
    rows = [
        (reference, (a, b), "a" if int(for_a) > int(for_b) else "b")
        for reference, a, for_a, b, for_b in pairs
        if (votes := int(for_a) + int(for_b)) >= 5 and max(int(for_a), int(for_b)) >= 0.7 * votes
    ]
    return Texts(
        [text for _, outputs, _ in rows for text in outputs],
        {"references": [reference for reference, outputs, _ in rows for _ in outputs]},
        {"preference": [preferred for _, _, preferred in rows]},
        list(range(len(rows))),
        None,
        (range(0, 2 * len(rows), 2), range(1, 2 * len(rows), 2)),
    )


def conala(folder: Path) -> Texts:
    """Lines of Python by five models, and how useful programmers found them, from 0 to 4."""
    rows = [(row, name) for row in _rows(folder / "conala.jsonl") for name in row["outputs"]]
    return Texts(
        [row["outputs"][name] for row, name in rows],
        {"references": [row["references"] for row, _ in rows]},
        {"usefulness": [row["grades"][name] for row, name in rows]},
        [row["id"] for row, _ in rows],
        [name for _, name in rows],
    )


def nq301(folder: Path) -> Texts:
    """Answers to open questions by twelve systems, and whether people accepted them."""
    rows = [
        (row, answer, accepted)
        for row in _rows(folder / "nq301.jsonl")
        for answer, accepted in row["answers"].items()
    ]
    return Texts(
        [answer for _, answer, _ in rows],
        {"references": [row["references"] for row, _, _ in rows]},
        {"correctness": [accepted for _, _, accepted in rows]},
        [row["id"] for row, _, _ in rows],
        None,
    )


def begin(folder: Path) -> Texts:
    """Responses to a passage by four models, and whether all that they say follows from it."""
    lines_of = (folder / "begin_test_wow.tsv").read_text(encoding="utf-8").split("\n")[1:]
    rows = [line.split("\t") for line in lines_of if line and not line.endswith("\tGeneric")]
    passages = [passage for _, _, passage, *_ in rows]
    return Texts(
        [response for *_, response, _ in rows],
        _against(passages),
        {"attribution": [int(label == "Fully attributable") for *_, label in rows]},
        passages,
        None,
    )


def thumb(folder: Path) -> Texts:
    """Captions of MSCOCO's images by four models, each with four references.

    The fifth system is a person, who wrote captions like the references.
    """
    references = {row["seg_id"]: row["refs"] for row in _rows(folder / "mscoco_references.json")}
    rows = [row for row in _rows(folder / "mscoco_THumB-1.0.jsonl") if row["SYS"] != "Human"]
    names = {"precision": "P", "recall": "R", "overall": "human_score"}
    return Texts(
        [row["hyp"] for row in rows],
        {"references": [references[row["seg_id"]] for row in rows]},
        {dimension: [row[name] for row in rows] for dimension, name in names.items()},
        [row["seg_id"] for row in rows],
        [row["SYS"] for row in rows],
    )


def ratings(folder: Path, file: str, left_out: str = "no system") -> Texts:
    """Outputs with means of ratings, but for those of a system that are left out."""
    rows = [row for row in _rows(folder / file) if row.get("system") != left_out]
    dimensions = [name for name in rows[0] if name.startswith("human_")]
    columns = {"references": [row.get("refs") or [row["ref"]] for row in rows]}
    if "src" in rows[0]:
        columns["sources"] = [row["src"] for row in rows]
    return Texts(
        [row["hyp"] for row in rows],
        columns,
        {name.removeprefix("human_"): [row[name] for row in rows] for name in dimensions},
        [row["doc_id"] for row in rows],
        [row["system"] for row in rows] if "system" in rows[0] else None,
    )
