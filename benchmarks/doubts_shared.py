"""The corpora that lie beside the repository, as their licenses keep them out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.doubts_data import OF_SOURCES, Corpus, by_field, fields, read, retrieval


def _translations(data: Path) -> Iterator[Corpus]:
    rows = read(data / "mt_wmt16_deen_uedin-syntax.jsonl")
    yield Corpus("newstest2016", "wmt16", "mt", fields(rows, predictions="hyp", references="ref"))
    yield retrieval("newstest2016, translations", [(row["hyp"], row["ref"]) for row in rows[:300]])
    systems: dict[str, dict[str, dict[str, Any]]] = {}
    for row in read(data / "mt_wmt19_lten_darr.jsonl"):
        for side in ("better", "worse"):
            texts = {"src": row["src"], "ref": row["ref"], "hyp": row[side]}
            systems.setdefault(row[f"{side}_system"], {})[row["src"]] = texts
    for system, own_rows in sorted(systems.items()):
        columns = fields([*own_rows.values()], sources="src", predictions="hyp", references="ref")
        yield Corpus(f"lt-en {system}", "wmt19", "mt", columns)


def _data_to_text(data: Path) -> Iterator[Corpus]:
    rows = read(data / "d2t_webnlg_en.jsonl")
    yield Corpus(
        "WebNLG", "webnlg", "data to text", fields(rows, predictions="hyp", references="refs")
    )
    rows = read(data / "d2t_sfres.jsonl")
    columns = fields(rows, sources="mr", predictions="hyp", references="refs")
    yield Corpus("SFRES", "sfres", "data to text", columns)
    ratings = {"rating": [row["human_overall"] for row in rows]}
    yield Corpus("SFRES, ratings", "sfres", "ratings", ratings)


def _dialogues(data: Path) -> Iterator[Corpus]:
    names = {"questions": "history", "contexts": "context", "predictions": "hyp"}
    for system, rows in by_field(read(data / "dialogue_topicalchat.jsonl"), "system"):
        columns = fields(rows, **names, references="ref")
        yield Corpus(f"TopicalChat {system}", "topicalchat", "dialogue", columns)


def _summaries(data: Path) -> Iterator[Corpus]:
    rows = read(data / "fact_qags_cnn.jsonl")
    yield Corpus(
        "QAGS", "qags", "texts", fields(rows, sources="src", predictions="hyp"), OF_SOURCES
    )
    documents = {row["doc_id"]: row for row in read(data / "summ_summeval_docs.jsonl")}
    outputs = read(data / "summ_summeval_outputs.jsonl")
    for system, rows in by_field(outputs, "system"):
        rows = [documents[row["doc_id"]] | row for row in rows]
        columns = fields(rows, sources="src", predictions="hyp", references="refs")
        yield Corpus(f"SummEval {system}", "summeval", "summarization", columns, OF_SOURCES)
        names = [_names(row["ref"]) for row in rows]
        places = [i for i, name in enumerate(names) if name]
        keywords = Corpus("", "", "keywords", {**columns, "keywords": names}).rows(places)
        yield keywords._replace(name=f"SummEval {system}, names", data="summeval names")
    articles = [*documents.values()]
    yield retrieval("SummEval, summaries", [(row["ref"], row["src"]) for row in articles])
    experts = read(data / "summ_summeval_experts.jsonl")
    for aspect in ("coherence", "consistency", "fluency", "relevance"):
        first, second = ([str(row[aspect][expert]) for row in experts] for expert in (0, 1))
        columns = {"predictions": first, "references": second}
        yield Corpus(f"SummEval experts, {aspect}", "experts", "labels", columns)
        ratings = {"rating": [row[f"human_{aspect}"] for row in outputs]}
        yield Corpus(f"SummEval, {aspect}", "summeval ratings", "ratings", ratings)


def _simplifications(data: Path) -> Iterator[Corpus]:
    for system, rows in by_field(read(data / "simpl_simplicity_da.jsonl"), "system"):
        columns = fields(rows, sources="src", predictions="hyp", references="refs")
        yield Corpus(f"Simplicity-DA {system}", "simplicity", "simplification", columns)


def _names(text: str) -> list[str]:
    """Up to four capitalised words within sentences, as a user would ask a summary for."""
    matches = re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", text)
    return [*dict.fromkeys(matches)][:4]


READERS = (_translations, _data_to_text, _dialogues, _summaries, _simplifications)
