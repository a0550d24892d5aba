"""Causal models: each token's likelihood given those before it, and vectors of whole texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from metrichub.authoring import Array
from metrichub.errors import ModelError
from metrichub.text import Integers
from metrichub_neural.engine.batching import FloatArray, distinct, forwarded
from metrichub_neural.engine.flaws import CUT
from metrichub_neural.engine.full import TorchModel, libraries, load_model
from metrichub_neural.engine.machine import budget
from metrichub_neural.engine.models import loaded_once
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.store import Store
from metrichub_neural.engine.tokens import Tokenizer, load_tokenizer, rebuilt_tokenizer
from metrichub_neural.local_models import ModelFiles, gguf_of

_SLICE = 1 << 26
"""How many numbers of the vocabulary's scores are held at a time."""


class Likelihood(NamedTuple):
    """One text's summed negative log-likelihood, in nats, of how many tokens, and its flaws.

    It is cut if the text didn't fit into the window with all of its condition.
    """

    nll: float
    tokens: int
    flaws: int


class Chunk(NamedTuple):
    """The part of a text in one run of the model: ids, and how many at the end are scored."""

    text: int
    ids: Integers
    scored: int


class LastVector(NamedTuple):
    """One text's vector, (d,), of length 0 if it has no tokens, and its flaws."""

    vector: FloatArray
    flaws: int


class TorchCausal(TorchModel):
    """A causal model in PyTorch."""

    def forward(self, ids: Integers, mask: Integers) -> FloatArray:
        """The negative log-likelihood of every token but the first, (b, l - 1), in 32 bits."""
        tokens, attention = self.tensor(ids), self.tensor(mask)

        def run(model: Any) -> Any:
            logits = model(input_ids=tokens, attention_mask=attention).logits
            # The last scores are left out here, as without them the others would be copied.
            return negative_log_likelihoods(logits, tokens.roll(-1, 1))[:, :-1]

        return self.run(run)

    def last(self, ids: Integers, mask: Integers) -> FloatArray:
        """The last layer's vector of each text's last token, (b, d); padding is on the right."""
        tokens, attention = self.tensor(ids), self.tensor(mask)
        ends = self.tensor(mask.sum(axis=1) - 1)

        def run(model: Any) -> Any:
            hidden = model.base_model(input_ids=tokens, attention_mask=attention)[0]
            return hidden[self._torch.arange(len(ends), device=hidden.device), ends]

        return self.run(run)


def negative_log_likelihoods(logits: Any, tokens: Any) -> Any:
    """The negative log-likelihood of each token, (b, l), by the vocabulary's scores, (b, l, v)."""
    import torch

    rows = max(1, _SLICE // logits.shape[-1])
    flat, targets = logits.flatten(0, 1), tokens.flatten()
    parts = [
        torch.nn.functional.cross_entropy(
            flat[start : start + rows].float(), targets[start : start + rows], reduction="none"
        )
        for start in range(0, len(targets), rows)
    ]
    return torch.cat(parts).view(tokens.shape)


class Causal:
    """A causal model that says how likely texts are.

    Attributes:
        start: The token that stands before a text, where the model has one.
        limit: How many tokens one run takes.
    """

    def __init__(self, name: str, tokenizer: Tokenizer, runner: TorchCausal) -> None:
        self.name, self.tokenizer, self.runner = name, tokenizer, runner
        special = tokenizer.special
        self.start = special.get("bos_token", special.get("eos_token"))
        self.limit = tokenizer.limit
        self._store = Store()

    def vectors(self, texts: Sequence[str], limit: int | None = None) -> list[LastVector]:
        """Each text's vector: the last layer's, of the last of its first `limit` tokens.

        Nothing stands before a text. Equal texts are run once, as long as memory holds them.
        """
        size = min(limit or self.limit, self.limit)
        make = partial(self._vectors_of, size)
        return self._store.get(texts, make, self.tokenizer.bare, size)

    def _vectors_of(self, size: int, tokens: Sequence[Integers]) -> list[LastVector]:
        run = lambda ids, mask, _: self.runner.last(ids, mask)
        some = [ids[:size] for ids in tokens if len(ids)]
        vectors = iter(forwarded(some, 0, budget(), run, self.name))
        return [
            LastVector(
                next(vectors) if len(ids) else np.zeros(0, np.float32),
                CUT * (len(ids) > size) | self.tokenizer.flaws_of(ids[:size].tolist()),
            )
            for ids in tokens
        ]

    def likelihoods(
        self,
        texts: Sequence[tuple[str, str]],
        *,
        start: bool,
        window: int | None,
        stride: int | None,
    ) -> list[Likelihood]:
        """The likelihood of each text after its condition, given as (condition, text).

        Both are made into tokens apart from each other. A text longer than the window is read in
        windows, each of which starts `stride` tokens after the one before.

        Raises:
            ModelError: a start token is wanted and the model has none.
        """
        if start and self.start is None:
            raise ModelError(f"{self.name} has no token to start with; choose start=False")
        unique, places = distinct(texts)
        conditions = self.tokenizer.bare([condition for condition, _ in unique])
        targets = self.tokenizer.bare([text for _, text in unique])
        head = np.array([self.start] if start else [], np.int64)
        size = min(window or self.limit, self.limit)
        chunks = [
            chunk
            for place, (before, ids) in enumerate(zip(conditions, targets, strict=True))
            for chunk in _chunks(place, head, before, ids, size, stride or max(1, size // 2))
        ]
        flaws = [
            CUT * (len(before) > 0 and len(head) + len(before) + len(ids) > size)
            | self.tokenizer.flaws_of([*before.tolist(), *ids.tolist()])
            for before, ids in zip(conditions, targets, strict=True)
        ]
        sums = [
            Likelihood(float(nll), int(tokens), each)
            for nll, tokens, each in zip(*self._summed(chunks, len(unique)), flaws, strict=True)
        ]
        return [sums[place] for place in places.tolist()]

    def _summed(self, chunks: Sequence[Chunk], texts: int) -> tuple[Array, Integers]:
        nll, tokens = np.zeros(texts), np.zeros(texts, np.int64)
        run = lambda ids, mask, _: self.runner.forward(ids, mask)
        values = forwarded([chunk.ids for chunk in chunks], 0, budget(), run, self.name)
        for chunk, row in zip(chunks, values, strict=True):
            last = len(chunk.ids) - 1
            nll[chunk.text] += row[last - chunk.scored : last].sum(dtype=np.float64)
            tokens[chunk.text] += chunk.scored
        return nll, tokens


def _chunks(  # what one text is cut by
    place: int, head: Integers, before: Integers, ids: Integers, size: int, stride: int
) -> Iterator[Chunk]:
    """A text's windows: the start token, as much of what comes before as fits, and new tokens."""
    size = max(size, len(head) + 2)
    sequence = np.concatenate([before, ids])
    room = size - len(head)
    # Without a start token, nothing stands before the very first.
    done = len(before) if len(head) or len(before) else 1
    stop = min(room, len(sequence))
    if stop <= done:
        stop = min(done + max(1, min(stride, room - 1)), len(sequence))
    while done < len(sequence):
        seen = sequence[max(0, stop - room) : stop]
        yield Chunk(place, np.concatenate([head, seen]), stop - done)
        done, stop = stop, min(stop + min(stride, room - 1), len(sequence))


@loaded_once
def causal_of(files: ModelFiles, dtype: str) -> Causal:
    """The causal model in some files, loaded once a process.

    Raises:
        MissingDependency: PyTorch isn't installed.
        ModelError: it isn't a causal model, or can't be read.
    """
    libraries(files.name)
    _check_causal(files)
    model = load_model("AutoModelForCausalLM", files, dtype)
    tokenizer = _tokenizer(files, model.config.to_dict())
    return Causal(files.name, tokenizer, TorchCausal(model, files.name))


def _check_causal(files: ModelFiles) -> None:
    """Refuse a model whose tokens see those behind them, which transformers loads all the same."""
    from transformers.models.auto import modeling_auto as auto

    config = read_config(files)
    kind = config.get("model_type")
    # XLM says `causal` where the others say `is_decoder`.
    one_way = config.get("is_decoder") or config.get("causal")
    if config.get("is_encoder_decoder"):
        reason = "it has an encoder beside its decoder"
    elif kind in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES and not one_way:
        reason = f"a {kind} reads both ways, unless its config.json says is_decoder"
    else:
        return
    raise ModelError(
        f"{files.name} isn't a causal model: {reason}; take one that was trained to continue texts"
    )


def _tokenizer(files: ModelFiles, config: dict[str, Any]) -> Tokenizer:
    gguf = gguf_of(files)
    if gguf and not files.file("tokenizer.json"):
        return rebuilt_tokenizer(files, config, gguf_file=gguf)
    return load_tokenizer(files, {**config, **read_config(files)})
