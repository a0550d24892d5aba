"""Masked language models: what they expect in a text's places, one after the other masked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from metrichub.authoring import Array
from metrichub.errors import ModelError
from metrichub.text import Integers
from metrichub_neural.engine.batching import FloatArray, distinct, in_batches, other_than, padded
from metrichub_neural.engine.full import TorchModel, load_model
from metrichub_neural.engine.machine import budget
from metrichub_neural.engine.models import loaded_once
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.store import Store
from metrichub_neural.engine.tokens import Encoded, Tokenizer, load_tokenizer
from metrichub_neural.local_models import ModelFiles

_FRAME = ("cls_token", "sep_token", "pad_token")


class _Place(NamedTuple):
    """One place of a text that is masked: the text's number, the place, and what it weighs."""

    text: int
    place: int
    weight: float


class TorchMasked(TorchModel):
    """A masked language model in PyTorch."""

    def forward(
        self, ids: Integers, mask: Integers, places: Integers, shares: Array, temperature: float
    ) -> FloatArray:
        """Sums of the distributions over the vocabulary, (b, v) -> (k, v).

        `places` are the masked tokens, (b,), and `shares`, (k, b), what each adds to each sum.
        """
        torch = self._torch
        inputs = {"input_ids": self.tensor(ids), "attention_mask": self.tensor(mask)}
        rows, columns = torch.arange(len(ids)), self.tensor(places)
        adding = self.tensor(shares.astype(np.float32))

        def only_masked(_: Any, __: Any, output: Any) -> Any:
            output.last_hidden_state = output.last_hidden_state[rows, columns][:, None]
            return output

        def run(model: Any) -> Any:
            # The head would compute the whole vocabulary at every place.
            hook = model.base_model.register_forward_hook(only_masked)
            try:
                logits = model(**inputs).logits[:, 0]
            finally:
                hook.remove()
            return adding @ torch.softmax(logits.float() / temperature, -1)

        return self.run(run)


class Masked:
    """A masked language model that gives each text a distribution over its vocabulary."""

    def __init__(self, name: str, tokenizer: Tokenizer, runner: TorchMasked) -> None:
        self.name, self.tokenizer, self.runner = name, tokenizer, runner
        self._frame = [tokenizer.special[key] for key in _FRAME if key in tokenizer.special]
        self._mask = tokenizer.special["mask_token"]
        self._store = Store()

    def encoded(self, texts: Sequence[str]) -> list[Encoded]:
        """The tokens of each text with the white space that it has; a blank one has none."""
        return self.tokenizer.encode_as_given([text if text.strip() else "" for text in texts])

    def distributions(
        self,
        texts: Sequence[str],
        weights: Callable[[Integers], Array],
        temperature: float,
    ) -> list[FloatArray]:
        """The weighted mean of what is expected in each place of a text, (v,).

        `weights` gives those of a text's tokens; where all are 0, all are equal. The tokens that
        frame a text have no part in it; a text without others has `nan`.
        """
        encoded = self.encoded(texts)
        named: dict[str, tuple[Integers, Array]] = {}
        keys = []
        for text in encoded:
            counts = other_than(text.ids, self._frame) * 1.0
            weighed = counts * weights(text.ids)
            weighed = weighed if weighed.any() else counts
            shares = weighed / max(weighed.sum(), 1e-300)
            key = hashlib.sha256(text.ids.tobytes() + shares.tobytes()).hexdigest()
            named[key] = (text.ids, shares)
            keys.append(key)
        make = lambda new: self._means([named[key] for key in new], temperature)
        return self._store.get(keys, make, kind=temperature)

    def _means(
        self, texts: Sequence[tuple[Integers, Array]], temperature: float
    ) -> list[FloatArray]:
        places = [
            _Place(text, place, float(shares[place]))
            for text, (_, shares) in enumerate(texts)
            for place in np.flatnonzero(shares).tolist()
        ]
        sums: dict[int, Array] = {}

        def run(numbers: Integers) -> tuple[list[int], FloatArray]:
            chosen = [places[number] for number in numbers.tolist()]
            ids, mask = padded([texts[each.text][0] for each in chosen], self.tokenizer.padding)
            columns = np.array([each.place for each in chosen], np.int64)
            ids[np.arange(len(ids)), columns] = self._mask
            owners, rows = distinct([each.text for each in chosen])
            shares = np.zeros((len(owners), len(chosen)))
            shares[rows, np.arange(len(chosen))] = [each.weight for each in chosen]
            return owners, self.runner.forward(ids, mask, columns, shares, temperature)

        lengths = [len(texts[each.text][0]) for each in places]
        most = self.runner.most
        for _, (owners, parts) in in_batches(lengths, budget(), run, self.name, most=most):
            for owner, part in zip(owners, parts, strict=True):
                sums[owner] = sums.get(owner, 0) + part.astype(np.float64)
        blank = np.full(1, np.nan, np.float32)
        return [
            np.asarray(sums[text], np.float32) if text in sums else blank
            for text in range(len(texts))
        ]


@loaded_once
def masked_of(files: ModelFiles, dtype: str) -> Masked:
    """The masked language model in some files, loaded once a process.

    Raises:
        MissingDependency: PyTorch isn't installed.
        ModelError: it has no head for masked tokens, or no token for them.
    """
    tokenizer = load_tokenizer(files, read_config(files))
    model = load_model("AutoModelForMaskedLM", files, dtype)
    if "mask_token" not in tokenizer.special:
        raise ModelError(f"{files.name} has no token for masked places")
    return Masked(files.name, tokenizer, TorchMasked(model, files.name))
