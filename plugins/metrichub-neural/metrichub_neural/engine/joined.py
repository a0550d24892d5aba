"""MiniCheck as a classifier: a document's chunk and a claim in one text (Tang et al., 2024)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from metrichub.authoring import sentences
from metrichub_neural.engine.classifier import Classifier
from metrichub_neural.engine.flaws import flaws_of

TOKENS = 400
"""How many tokens a chunk has at most, if its sentences can."""
_SUPPORTED = 1


class Supported(NamedTuple):
    """How probable it is that a document supports a claim.

    Attributes:
        probability: The largest over the document's chunks; 0 of no chunk.
        chunk: The chunk that has it.
        flaws: Those of the chunks with the claim; see `engine.flaws`.
    """

    probability: float
    chunk: str
    flaws: int


def supported(
    model: Classifier, claims: Sequence[tuple[str, str]], tokens: int = TOKENS
) -> list[Supported]:
    """How far each claim is supported by its document, `(document, claim)`, in chunks."""
    documents = dict.fromkeys(document for document, _ in claims)
    count = lambda parts: [len(ids) for ids in model.tokenizer.bare(parts)]
    chunks = {document: chunks_of(document, tokens, count) for document in documents}
    between = model.tokenizer.end
    texts = [f"{chunk}{between}{claim}" for document, claim in claims for chunk in chunks[document]]
    rows = iter(model.of_texts(texts, inserted=1))
    answers = []
    for document, _ in claims:
        chunk_answers = [(chunk, next(rows)) for chunk in chunks[document]]
        best = max(chunk_answers, key=lambda each: each[1].probabilities[_SUPPORTED], default=None)
        answers.append(
            Supported(
                float(best[1].probabilities[_SUPPORTED]) if best else 0.0,
                best[0] if best else "",
                flaws_of(row for _, row in chunk_answers),
            )
        )
    return answers


def chunks_of(
    document: str, most: int, count: Callable[[Sequence[str]], Sequence[int]]
) -> list[str]:
    """Whole sentences of a document, of at most so many units together; a longer one stands alone.

    Line breaks count as sentences, and are kept within a chunk.
    """
    lines = document.split("\n")
    parts = [part for line in lines for part in (*sentences(line), "\n")][:-1]
    chunks: list[list[str]] = [[]]
    used = 0
    for part, size in zip(parts, count(parts), strict=True):
        if used + size > most:
            chunks.append([])
            used = 0
        chunks[-1].append(part)
        used += size
    joined = (" ".join(chunk).replace(" \n ", "\n").strip() for chunk in chunks)
    return [chunk for chunk in joined if chunk]
