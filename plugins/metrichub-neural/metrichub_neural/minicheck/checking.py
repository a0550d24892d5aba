"""How MiniCheck reads a document, in chunks, beside a claim (Tang et al., 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from metrichub.authoring import sentences
from metrichub.errors import ModelError
from metrichub_neural._seq2seq import probability
from metrichub_neural.engine import joined
from metrichub_neural.engine.classifier import classifier_of, labels_of
from metrichub_neural.engine.flaws import flaws_of
from metrichub_neural.engine.joined import Supported
from metrichub_neural.engine.seq2seq import Seq2Seq, seq2seq_of
from metrichub_neural.engine.settings import limit_of, read_config
from metrichub_neural.local_models import ModelFiles

LIMIT, WORDS = 2048, 500
_SUPPORTED, _UNSUPPORTED = 209, 3
"""The tokens whose scores the model was trained to tell supported claims by."""


class Claim(NamedTuple):
    """A claim and the document that it is checked against."""

    text: str
    document: str


def checked_by(
    files: ModelFiles, dtype: str, claims: Sequence[Claim], chunk: int | None
) -> list[Supported]:
    """How far each claim is supported, by T5 or by a classifier, as the model's files say.

    Raises:
        ModelError: it is a classifier of something else.
    """
    if not is_classifier(files):
        return checked(seq2seq_of(files, dtype), claims, chunk or WORDS)
    places = labels_of(read_config(files))
    labels = sorted(places, key=places.__getitem__)
    # The published ones are called "0" and "1".
    if len(labels) != 2 or not labels[1].startswith(("1", "label_1", "support")):
        raise ModelError(
            f"{files.name} has the labels {', '.join(labels)}, and a MiniCheck two, the second of "
            "which is 'supported' or a number; for NLI models, take nli_faithfulness"
        )
    pairs = [(claim.document, claim.text) for claim in claims]
    model = classifier_of(files, dtype)
    return joined.supported(model, pairs, chunk or joined.TOKENS)


def is_classifier(files: ModelFiles) -> bool:
    """Whether a model classifies texts, as the authors' RoBERTa and DeBERTa do."""
    config = read_config(files)
    heads = config.get("architectures")
    return any("Classification" in name for name in heads) if heads else "id2label" in config


def most_tokens(files: ModelFiles) -> int:
    """How many tokens of a chunk and a claim the model reads."""
    return limit_of(files) if is_classifier(files) else LIMIT


def checked(model: Seq2Seq, claims: Sequence[Claim], words: int) -> list[Supported]:
    """How far each claim is supported; its chunks have at most so many words, if they can."""
    chunks = [chunks_of(claim.document, words) for claim in claims]
    texts = [
        f"predict: {chunk}</s>{claim.text}"
        for claim, document_chunks in zip(claims, chunks, strict=True)
        for chunk in document_chunks
    ]
    answers = model.first_tokens(texts, [_SUPPORTED, _UNSUPPORTED], LIMIT, inserted=1)
    logits = np.array([answer.logits for answer in answers], np.float64).reshape(len(texts), 2)
    rows = iter(zip(probability(logits).tolist(), answers, strict=True))
    results = []
    for document_chunks in chunks:
        answered = [(*next(rows), chunk) for chunk in document_chunks]
        best = max(answered, key=lambda row: row[0], default=None)
        flaws = flaws_of(answer for _, answer, _ in answered)
        results.append(Supported(best[0], best[2], flaws) if best else Supported(0.0, "", 0))
    return results


@lru_cache(maxsize=4096)
def chunks_of(document: str, words: int) -> tuple[str, ...]:
    """Whole sentences of a document, at most so many words at a time; a longer one stands alone.

    A line break between two sentences of a chunk is kept.
    """
    chunks: list[list[str]] = [[]]
    count = 0
    for number, line in enumerate(document.split("\n")):
        for place, sentence in enumerate(sentences(line)):
            size = len(sentence.split())
            if count + size > words:
                chunks.append([])
                count = 0
            before = "\n" if number and not place else " "
            chunks[-1] += [before, sentence] if chunks[-1] else [sentence]
            count += size
    return tuple("".join(chunk) for chunk in chunks if chunk)
