"""Classifiers: texts or pairs of texts in, the probability of each label out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ModelError
from metrichub.text import Integers
from metrichub_neural.engine.batching import FloatArray, forwarded, padded
from metrichub_neural.engine.full import TorchModel, load_model
from metrichub_neural.engine.light import OnnxClassifier, has_only_onnx
from metrichub_neural.engine.machine import budget
from metrichub_neural.engine.models import loaded_once
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.store import Store
from metrichub_neural.engine.tokens import Encoded, Tokenizer, load_tokenizer
from metrichub_neural.local_models import ModelFiles

Probabilities = NDArray[np.float64]


class Classified(NamedTuple):
    """A model's output for one text, or for one pair of texts.

    Attributes:
        probabilities: Of each label, (labels,).
        tokens: How many tokens of the text it read.
        flaws: Whether it had more, or control or unknown tokens; see `engine.flaws`.
    """

    probabilities: Probabilities
    tokens: int
    flaws: int

    @property
    def nbytes(self) -> int:
        """How much memory it takes beside its text, which has about eight bytes a token."""
        return int(self.probabilities.nbytes) + 8 * self.tokens


class TorchClassifier(TorchModel):
    """A classifier in PyTorch."""

    output: ClassVar[str] = "logits"
    """Which of the model's outputs is read."""

    def forward(self, ids: Integers, mask: Integers, types: Integers | None) -> FloatArray:
        """The score of each label before it is a probability, (b, labels)."""
        if not self.model.config.is_encoder_decoder:
            return self._scores(ids, mask, types)
        # BART reads a text's last end token, and takes no texts together that have more and fewer.
        ends = (ids == self.model.config.eos_token_id).sum(axis=1)
        rows = [np.flatnonzero(ends == number) for number in np.unique(ends)]
        parts = [self._scores(ids[at], mask[at], None) for at in rows]
        return np.asarray(np.concatenate(parts)[np.argsort(np.concatenate(rows))])

    def _scores(self, ids: Integers, mask: Integers, types: Integers | None) -> FloatArray:
        inputs = {"input_ids": self.tensor(ids), "attention_mask": self.tensor(mask)}
        if types is not None:
            inputs["token_type_ids"] = self.tensor(types)
        return self.run(lambda model: getattr(model(**inputs), self.output))


Runner = TorchClassifier | OnnxClassifier


class Classifier:
    """A model that gives a text, or a pair of texts, a probability for each of its labels."""

    def __init__(
        self,
        name: str,
        tokenizer: Tokenizer,
        runner: Runner,
        config: Mapping[str, object],
        activate: Callable[[Probabilities], Probabilities] | None = None,
    ) -> None:
        self.name, self.tokenizer, self.runner = name, tokenizer, runner
        several = config.get("problem_type") == "multi_label_classification"
        self.activate = activate or (sigmoid if several else softmax)
        self._types = tokenizer.gives_types and int(str(config.get("type_vocab_size") or 0)) > 1
        self._store = Store()
        self.forget = self._store.clear

    def of_texts(self, texts: Sequence[str], inserted: int = 0) -> list[Classified]:
        """The model's output for each text; equal texts are run once, for all metrics.

        So many of a text's control tokens were `inserted`.
        """
        encode = partial(self.tokenizer.encode_as_given, inserted=inserted)
        return self._store.get(texts, self._run, encode, inserted)

    def of_pairs(
        self,
        pairs: Sequence[tuple[str, str]],
        limit: int | None = None,
        *,
        only_first: bool = False,
    ) -> list[Classified]:
        """The model's output for each pair; equal pairs are run once, for all metrics.

        Pairs have at most `limit` tokens if given; with `only_first` their first text is cut, and
        else the longer one.
        """
        encode = partial(self.tokenizer.encode_pairs, limit=limit, only_first=only_first)
        return self._store.get(pairs, self._run, encode, (limit, only_first))

    def _run(self, encoded: Sequence[Encoded]) -> list[Classified]:
        def run(ids: Integers, mask: Integers, places: Integers) -> Probabilities:
            types = padded([encoded[at].types for at in places], 0)[0] if self._types else None
            return self.activate(self.runner.forward(ids, mask, types).astype(np.float64))

        rows = [text.ids for text in encoded]
        most, padding = self.runner.most, self.tokenizer.padding
        scores = forwarded(rows, padding, budget(), run, self.name, most=most)
        return [
            Classified(row, len(text.ids), text.flaws)
            for text, row in zip(encoded, scores, strict=True)
        ]


def softmax(scores: Probabilities) -> Probabilities:
    """Probabilities of labels that exclude each other; of one label alone, as by `sigmoid`."""
    if scores.shape[1] == 1:
        return sigmoid(scores)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def sigmoid(scores: Probabilities) -> Probabilities:
    """Probabilities of labels that don't exclude each other."""
    return np.asarray(1 / (1 + np.exp(-scores)))


@loaded_once
def classifier_of(files: ModelFiles, dtype: str) -> Classifier:
    """The classifier in some files, loaded once a process.

    Raises:
        MissingDependency: PyTorch isn't installed, and there is more than an ONNX file.
        ModelError: it can't be read.
    """
    config = read_config(files)
    tokenizer = load_tokenizer(files, config)
    return Classifier(files.name, tokenizer, _runner(files, dtype), config)


def _runner(files: ModelFiles, dtype: str) -> Runner:
    if has_only_onnx(files):
        if dtype != "float32":
            raise ModelError(f"{files.name} is an ONNX file, which takes dtype='float32' only")
        return OnnxClassifier(files)
    model = load_model("AutoModelForSequenceClassification", files, dtype)
    runner = TorchClassifier(model, files.name)
    # Decoders read the last token that isn't padding, which a text alone needs none for.
    if getattr(model.config, "pad_token_id", None) is None:
        runner.most = 1
    return runner


def labels_of(config: Mapping[str, object]) -> dict[str, int]:
    """The place of each label by its name in lower case; of a model that names none, of two."""
    names = config.get("id2label")
    if not isinstance(names, Mapping):
        return {"label_0": 0, "label_1": 1}
    return {str(name).strip().lower(): int(place) for place, name in names.items()}


def label_at(files: ModelFiles, *starts: str) -> int | None:
    """The place of the label whose name begins with one of these; None if there is none.

    Raises:
        ModelError: there are several.
    """
    places = {
        name: at for name, at in labels_of(read_config(files)).items() if name.startswith(starts)
    }
    if len(places) > 1:
        raise ModelError(f"{files.name} has several labels {starts[0]!r}: {', '.join(places)}")
    return next(iter(places.values()), None)
