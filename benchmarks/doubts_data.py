"""A corpus of the doubts' benchmark: columns, and the metrics that fit them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

Columns = Mapping[str, Sequence[Any]]
Rows = list[dict[str, Any]]

TEXT = ("bleu", "chrf", "rouge", "ter", "meteor", "wer", "cer", "gleu", "ribes", "nist", "cider")
OF_SOURCES = ("density", "coverage", "compression")
METRICS: Mapping[str, tuple[str, ...]] = {
    "mt": (*TEXT, "character", "distinct"),
    "data to text": (*TEXT, "distinct"),
    "summarization": (*TEXT, "distinct", "repetition", "readability"),
    "simplification": ("bleu", "chrf", "rouge", "readability", "compression", "sari"),
    "dialogue": ("bleu", "chrf", "rouge", "meteor", "token_f1", "distinct", "self_bleu"),
    "answers": ("exact_match", "token_f1", "squad = exact_match(squad)", "rouge", "anls"),
    "numbers": ("exact_match", "numeric_match", "token_f1"),
    "labels": ("classification", "exact_match"),
    "many labels": ("multi_label",),
    "ranking": ("ranking",),
    "keywords": ("keyword_coverage",),
    "speech": ("wer", "cer", "whisper = wer(whisper)"),
    "code": ("codebleu", "bleu", "chrf", "exact_match", "edit_similarity"),
    "ratings": ("recorded(column='rating', range=[0, 6])",),
    "agents": ("tool_call_f1", "trajectory_match"),
    "instructions": ("instruction_following",),
    "mathematics": ("math_equivalence", "exact_match"),
    "texts": ("readability", "distinct", "ttr", "repetition"),
}
"""The metrics without a judge or a model that a user would take for each kind."""


class Corpus(NamedTuple):
    """Columns of equal lengths, as `Hub.evaluate` takes them; `data` is what its systems share."""

    name: str
    data: str
    kind: str
    columns: Columns
    more: tuple[str, ...] = ()
    """Metrics beside those of its kind."""

    @property
    def size(self) -> int:
        """The number of samples."""
        return len(next(iter(self.columns.values())))

    @property
    def metrics(self) -> list[str]:
        """All metrics that fit it."""
        return [*METRICS[self.kind], *self.more]

    @property
    def half(self) -> str:
        """The half that it belongs to, by its name alone."""
        return "tune" if crc32(self.name.encode()) % 2 else "judge"

    def rows(self, chosen: Sequence[int]) -> Corpus:
        """The chosen samples."""
        columns = {name: [values[i] for i in chosen] for name, values in self.columns.items()}
        return self._replace(columns=columns)

    def sample(self, most: int) -> Corpus:
        """At most so many samples in their order, drawn by a hash of their numbers."""
        drawn = sorted(range(self.size), key=lambda i: crc32(f"{self.name} {i}".encode()))[:most]
        return self.rows(sorted(drawn))


def read(path: Path) -> Rows:
    """The objects of a file, one a line."""
    # Not splitlines: a text may hold other ends of lines than "\n".
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def fields(rows: Rows, **names: str) -> dict[str, list[Any]]:
    """Columns by the fields that they are read from."""
    return {column: [row[field] for row in rows] for column, field in names.items()}


def by_field(rows: Rows, field: str) -> list[tuple[str, Rows]]:
    """The rows of each value of a field, in the order of the values."""
    groups: dict[str, Rows] = {}
    for row in rows:
        groups.setdefault(row[field], []).append(row)
    return sorted(groups.items())


def retrieval(name: str, pairs: list[tuple[Any, ...]]) -> Corpus:
    """Ten documents for each query by the rare words that they share, and the one it belongs to."""
    documents = [{*re.findall(r"\w+", document.lower())} for _, document in pairs]
    held = Counter(word for words in documents for word in words)
    retrieved, queries = [], [query for query, _ in pairs]
    for query in queries:
        words = {*re.findall(r"\w+", query.lower())}
        scores = [sum(1 / held[word] for word in words & document) for document in documents]
        best = sorted(range(len(pairs)), key=scores.__getitem__, reverse=True)[:10]
        retrieved.append([f"doc-{i:04}" for i in best])
    columns = {
        "questions": queries,
        "retrieved": retrieved,
        "relevant": [[f"doc-{i:04}"] for i in range(len(pairs))],
    }
    return Corpus(f"retrieval: {name}", "retrieval", "ranking", columns)
