"""Sequence-to-sequence models: the probability of given targets, or of the first token."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from metrichub.errors import ModelError
from metrichub.text import Integers
from metrichub_neural.engine.batching import Batch, FloatArray, forwarded, in_batches, padded
from metrichub_neural.engine.causal import negative_log_likelihoods
from metrichub_neural.engine.full import TorchModel, load_model, within_memory
from metrichub_neural.engine.machine import budget
from metrichub_neural.engine.models import LOCK, loaded_once
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.store import Store
from metrichub_neural.engine.tokens import Encoded, Tokenizer, load_tokenizer
from metrichub_neural.local_models import ModelFiles

_SCORES = 1 << 14
"""How many numbers of the vocabulary's scores a batch has at most for each token of its budget."""

_OTHER_HEADS = ("Classification", "QuestionAnswering", "Encoder")
"""What models of such kinds have on top that were trained for something else."""


class Target(NamedTuple):
    """How probable a target is after its source.

    Attributes:
        log_probabilities: The natural logarithm of the probability of each of its tokens, those
            among them that frame it, (n,).
        flaws: Those of the source and of the target; see `engine.flaws`.
    """

    log_probabilities: FloatArray
    flaws: tuple[int, int]


class FirstToken(NamedTuple):
    """The scores of some tokens at the first step after a source, (k,), and its flaws."""

    logits: FloatArray
    flaws: int


class Sources(NamedTuple):
    """A batch of encoded sources on the device, for all of their targets.

    Attributes:
        states: What the encoder gave, in 32 bits, (b, l, d).
        mask: Which of the tokens are real, (b, l).
        keys_and_values: What each layer of the decoder attends to, twice (b, heads, l, d).
    """

    states: Any
    mask: Any
    keys_and_values: list[tuple[Any, Any]]


class TorchSeq2Seq(TorchModel):
    """A sequence-to-sequence model in PyTorch.

    Attributes:
        vocabulary: How many tokens it knows.
        positions: How many tokens it can tell the places of.
        dtype: The type of its numbers.
    """

    def __init__(self, model: Any, name: str) -> None:
        super().__init__(model, name)
        self.dtype = model.dtype
        self.vocabulary = int(model.config.vocab_size)
        # T5's are relative to each other.
        self.positions = int(getattr(model.config, "max_position_embeddings", sys.maxsize))
        # The argument's name up to transformers 5.23, and since.
        parameters = signature(type(model).forward).parameters
        self._cache = "cache" if "cache" in parameters else "past_key_values"
        self._start = model.config.decoder_start_token_id
        if self._start is None:
            raise ModelError(f"{name} doesn't say in its config.json with what targets start")

    def encode(self, ids: Integers, mask: Integers) -> list[Any]:
        """The vectors of the tokens of each source, (l, d), which stay on the device."""
        inputs = {"input_ids": self.tensor(ids), "attention_mask": self.tensor(mask)}
        return self.rows_there(lambda model: model.get_encoder()(**inputs)[0], mask)

    def first(self, ids: Integers, mask: Integers, tokens: Sequence[int]) -> FloatArray:
        """The scores of some tokens at the first step, (b, k)."""
        inputs = {"input_ids": self.tensor(ids), "attention_mask": self.tensor(mask)}
        start = self.tensor(np.full((len(ids), 1), self._start))
        chosen = self.tensor(np.array(tokens, np.int64))
        return self.run(lambda model: model(**inputs, decoder_input_ids=start).logits[:, 0, chosen])

    def attended(self, states: Sequence[Any], mask: Integers) -> Sources:
        """Encoded sources, (l, d) each, as the decoder attends to them.

        Raises:
            OutOfMemory: it doesn't fit.
        """
        from transformers import DynamicCache, EncoderDecoderCache

        attended = DynamicCache()
        with LOCK, within_memory(), self._torch.inference_mode():
            stacked = self._torch.nn.utils.rnn.pad_sequence(states, batch_first=True)
            seen = self.tensor(mask)
            self.model.get_decoder()(
                input_ids=self.tensor(np.full((len(mask), 1), self._start)),
                encoder_hidden_states=stacked.to(self.model.dtype),
                encoder_attention_mask=seen,
                use_cache=True,
                **{self._cache: EncoderDecoderCache(DynamicCache(), attended)},
            )
        layers = [(layer.keys, layer.values) for layer in attended.layers]
        return Sources(stacked, seen, layers)

    def log_probabilities(
        self, sources: Sources, rows: Integers, ids: Integers, _: Integers, places: Integers
    ) -> FloatArray:
        """Those of every token of the targets in some places, (b, l), each after its row's source.

        `rows` has the source of each place.
        """
        from transformers import DynamicCache, EncoderDecoderCache

        targets, of = self.tensor(ids), self.tensor(rows[places])
        start = self._torch.full_like(targets[:, :1], self._start)

        def run(model: Any) -> Any:
            states = sources.states[of].to(model.dtype)
            # What was attended to in fewer bits is of no use to the model in 32.
            shared = sources.keys_and_values if model.dtype == self.dtype else []
            chosen = [(keys[of], values[of]) for keys, values in shared]
            logits = model(
                encoder_outputs=(states,),
                attention_mask=sources.mask[of],
                decoder_input_ids=self._torch.cat([start, targets[:, :-1]], dim=1),
                use_cache=True,
                **{self._cache: EncoderDecoderCache(DynamicCache(), DynamicCache(chosen))},
            ).logits
            return -negative_log_likelihoods(logits, targets)

        return self.run(run)


class Seq2Seq:
    """A model that says how probable targets are after their sources.

    A source is encoded once for all of its targets, metrics and calls, as long as memory holds what
    came of it.
    """

    def __init__(self, name: str, tokenizer: Tokenizer, runner: TorchSeq2Seq) -> None:
        self.name, self.tokenizer, self.runner = name, tokenizer, runner
        self._store = Store()
        self.forget = self._store.clear

    def targets(self, pairs: Sequence[tuple[str, str]], tag: int | None = None) -> list[Target]:
        """How probable each target is, of (source, target); equal pairs are run once.

        A `tag` is put in place of the first token of every text, such as that of a language.
        """
        texts = dict.fromkeys(text for pair in pairs for text in pair)
        encoded = dict(zip(texts, self._tagged(list(texts), tag), strict=True))
        targets_of: dict[str, list[str]] = {}
        for source, target in dict.fromkeys(pairs):
            targets_of.setdefault(source, []).append(target)
        sources = list(targets_of)
        results: dict[tuple[str, str], Target] = {}

        def batch(chosen: Sequence[str]) -> Batch:
            return padded([encoded[text].ids for text in chosen], self.tokenizer.padding)

        def attend(places: Integers) -> Sources:
            chosen = [sources[place] for place in places]
            states = self._store.get(chosen, lambda new: self.runner.encode(*batch(new)), kind=tag)
            return self.runner.attended(states, batch(chosen)[1])

        # The vocabulary's scores of a token take more memory than all else.
        room = max(1, min(budget(), budget() * _SCORES // self.runner.vocabulary))
        lengths = [len(encoded[source].ids) for source in sources]
        for places, shared in in_batches(lengths, budget(), attend, self.name):
            rows = [
                (row, sources[place], target)
                for row, place in enumerate(places.tolist())
                for target in targets_of[sources[place]]
            ]
            of = np.array([row for row, _, _ in rows], np.int64)
            ids = [encoded[target].ids for _, _, target in rows]
            most = max(1, budget() // lengths[places[0]])
            run = partial(self.runner.log_probabilities, shared, of)
            padding, how = self.tokenizer.padding, {"most": most, "progress": False}
            values = forwarded(ids, padding, room, run, self.name, **how)
            for (_, source, target), tokens in zip(rows, values, strict=True):
                flaws = encoded[source].flaws, encoded[target].flaws
                results[source, target] = Target(tokens[: len(encoded[target].ids)], flaws)
        return [results[pair] for pair in pairs]

    def first_tokens(
        self,
        texts: Sequence[str],
        tokens: Sequence[int],
        limit: int,
        *,
        end: bool = True,
        inserted: int = 0,
    ) -> list[FirstToken]:
        """The scores of some tokens at the first step after each text; equal texts are run once.

        Texts have at most `limit` tokens, that of the end among them; without `end` it is removed
        thereafter. So many of a text's control tokens were `inserted`.

        Raises:
            ModelError: the model has no such tokens.
        """
        if max(tokens) >= self.runner.vocabulary:
            raise ModelError(
                f"{self.name} has {self.runner.vocabulary:,} tokens, and none with the number "
                f"{max(tokens):,}: it isn't a model for this metric"
            )
        distinct = list(dict.fromkeys(texts))
        limit = min(limit, self.runner.positions)
        encoded = self.tokenizer.encode_as_given(distinct, limit, inserted)
        ids = [text.ids if end else text.ids[:-1] for text in encoded]
        run = lambda rows, mask, _: self.runner.first(rows, mask, tokens)
        logits = forwarded(ids, self.tokenizer.padding, budget(), run, self.name)
        results = {
            text: FirstToken(row, each.flaws)
            for text, row, each in zip(distinct, logits, encoded, strict=True)
        }
        return [results[text] for text in texts]

    def _tagged(self, texts: Sequence[str], tag: int | None) -> list[Encoded]:
        encoded = self.tokenizer.encode_as_given(texts)
        if tag is None:
            return encoded
        first = np.array([tag])
        return [text._replace(ids=np.concatenate([first, text.ids[1:]])) for text in encoded]


@loaded_once
def seq2seq_of(files: ModelFiles, dtype: str, words: ModelFiles | None = None) -> Seq2Seq:
    """The model in some files, loaded once a process; `words` has its tokenizer, if they don't.

    Raises:
        MissingDependency: PyTorch isn't installed.
        ModelError: it isn't a sequence-to-sequence model, or can't be read.
    """
    config = read_config(files)
    _check_kind(files.name, config)
    model = load_model("AutoModelForSeq2SeqLM", files, dtype)
    tokenizer = load_tokenizer(words or files, config)
    # transformers 5 gives T5 the embeddings where the file has no output layer.
    tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    if tied and config.get("tie_word_embeddings") is False:
        raise ModelError(f"{files.name} has no weights for its output layer")
    if not len(tokenizer.frame):
        raise ModelError(f"the tokenizer of {files.name} doesn't end texts with a token")
    return Seq2Seq(files.name, tokenizer, TorchSeq2Seq(model, files.name))


def _check_kind(name: str, config: Mapping[str, Any]) -> None:
    """Refuse a model that doesn't write texts, which transformers loads all the same."""
    kind = config.get("model_type", "model without config.json")
    heads = [str(head) for head in config.get("architectures") or ()]
    other = next((head for head in heads if any(word in head for word in _OTHER_HEADS)), kind)
    if not config.get("is_encoder_decoder") or other != kind:
        raise ModelError(
            f"{name} isn't a sequence-to-sequence model, as BART and T5 are, but a {other}"
        )
