"""Word vectors: one for each word, whatever stands beside it, out of a model or a text file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np

from metrichub.errors import ModelError
from metrichub.text import Flags, Integers
from metrichub_neural.engine import full
from metrichub_neural.engine.batching import FloatArray
from metrichub_neural.engine.encoder import Choice, encoder_of
from metrichub_neural.engine.models import loaded_once
from metrichub_neural.engine.tokens import Tokenizer
from metrichub_neural.local_models import ModelFiles, find_model


class Known(NamedTuple):
    """The vectors of some words, (n, d), and which of the words have one of their own, (n,)."""

    vectors: FloatArray
    is_known: Flags


class WordVectors(Protocol):
    """Whatever has a vector for each word; an unknown word gets the mean of all vectors."""

    def of(self, words: Sequence[str]) -> Known:
        """The vectors of some words."""
        ...


class Embeddings:
    """The vectors that a model starts from: a word's is the mean of those of its pieces."""

    def __init__(self, matrix: FloatArray, tokenizer: Tokenizer) -> None:
        self._matrix, self._tokenizer, self.nbytes = matrix, tokenizer, matrix.nbytes
        self._mean = matrix.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._unknown = tokenizer.special.get("unk_token", -1)

    def of(self, words: Sequence[str]) -> Known:
        """The vectors of some words."""
        unique, place = np.unique(np.array(words, object), return_inverse=True)
        pieces = self._tokenizer.pieces(unique.tolist())
        means = [self._of_pieces(ids) for ids in pieces]
        is_known = np.array([mean is not None for mean in means], np.bool_)
        vectors = [self._mean if mean is None else mean for mean in means]
        stacked = np.array(vectors, np.float32).reshape(len(unique), self._matrix.shape[1])
        return Known(stacked[place], is_known[place])

    def _of_pieces(self, ids: Integers) -> FloatArray | None:
        in_vocabulary = ids[ids != self._unknown]
        return self._matrix[in_vocabulary].mean(axis=0) if len(in_vocabulary) else None


class Table:
    """The vectors of a text file, a word a line, as GloVe and word2vec have them."""

    def __init__(self, rows: Mapping[str, int], matrix: FloatArray) -> None:
        self._rows, self._matrix, self.nbytes = rows, matrix, matrix.nbytes
        self._mean = matrix.mean(axis=0, dtype=np.float64).astype(np.float32)

    def of(self, words: Sequence[str]) -> Known:
        """The vectors of some words."""
        rows = np.array([self._rows.get(word, -1) for word in words], np.int64)
        is_known = rows >= 0
        return Known(np.where(is_known[:, None], self._matrix[rows], self._mean), is_known)


def table_of(files: ModelFiles) -> Path | None:
    """The text file of word vectors in a folder that has nothing else; None for a model."""
    tables = sorted(files.folder.glob("*.txt"))
    return tables[0] if len(tables) == 1 and files.file("config.json") is None else None


def files_of_words(model: str, revision: str | None, needed_by: str) -> ModelFiles:
    """The files of a table of word vectors, or of a model with its weights; see `find_model`."""
    files = find_model(model, revision, needed_by=needed_by, weights=False)
    return files if table_of(files) else find_model(model, revision, needed_by=needed_by)


@loaded_once
def word_vectors(files: ModelFiles) -> WordVectors:
    """The word vectors of a model or of a folder with a text file, loaded once a process.

    Raises:
        MissingDependency: the model needs a library that isn't installed.
        ModelError: it can't be read.
    """
    if path := table_of(files):
        return _read_table(path)
    encoder = encoder_of(Choice(files, "full", 0, "float32"))
    model = cast(full.TorchEncoder, encoder.runner).model
    weights = model.get_input_embeddings().weight.detach().float().cpu().numpy()
    return Embeddings(weights, encoder.tokenizer)


def requires_of(files: ModelFiles) -> tuple[str, ...]:
    """The packages that read the word vectors of a model."""
    return () if table_of(files) else full.REQUIRES


def _read_table(path: Path) -> Table:
    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline().split()
        # word2vec's text format starts with the numbers of words and of dimensions.
        second = file.readline().split() if len(first) == 2 else first
        size = len(second) - 1
        rows: dict[str, int] = {}
        vectors: list[FloatArray] = []
        start = 2 if len(first) == 2 else 1
        for number, line in enumerate(chain([" ".join(second)], file), start):
            # GloVe has words with a blank in them.
            word, *values = line.rstrip().rsplit(" ", size)
            try:
                vector = np.array(values, np.float32)
            except ValueError as error:
                raise ModelError(f"{path}:{number} isn't a word and {size} numbers") from error
            if size < 1 or len(vector) != size:
                raise ModelError(f"{path}:{number} isn't a word and {max(size, 1)} numbers")
            if rows.setdefault(word, len(vectors)) == len(vectors):
                vectors.append(vector)
    return Table(rows, np.array(vectors, np.float32))
