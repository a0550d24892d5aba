"""Sequence-to-sequence models: one pair at a time in 64 bits is the truth, and official scores."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import neural_vectors as vectors
import numpy as np
import pytest
import toys
from metrichub_neural.engine import seq2seq
from metrichub_neural.engine.batching import OutOfMemory, padded
from metrichub_neural.engine.flaws import CUT
from metrichub_neural.engine.seq2seq import Seq2Seq, TorchSeq2Seq, seq2seq_of
from metrichub_neural.local_models import find_model
from toys import texts

from metrichub import ModelError

KINDS = ("bart", "t5")
TEXTS = [text for text in texts(12, 5) if len(text.split()) < 20]
PAIRS = [(source, target) for source in TEXTS[:4] for target in TEXTS]


def loaded(folder: Path, dtype: str = "float32") -> Seq2Seq:
    return seq2seq_of(find_model(str(folder), needed_by="test"), dtype)


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toys.write_seq2seq(tmp_path_factory.mktemp("models") / request.param, request.param)


@cache
def wide(folder: Path) -> Any:
    auto = toys.transformers.AutoModelForSeq2SeqLM
    return auto.from_pretrained(folder, dtype=toys.torch.float64).eval()


def ids_of(folder: Path, text: str) -> list[int]:
    backend = toys.tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    backend.enable_truncation(toys.LIMIT)
    return list(backend.encode(text).ids)


def alone(folder: Path, source: str, target: str) -> np.ndarray:
    """The log-probabilities of one target after one source: unpadded, in 64 bits."""
    ids = ids_of(folder, target)
    tensor = toys.torch.tensor
    with toys.torch.no_grad():
        logits = wide(folder)(
            input_ids=tensor([ids_of(folder, source)]), decoder_input_ids=tensor([[0, *ids[:-1]]])
        ).logits[0]
    return np.asarray(logits.log_softmax(-1).numpy())[np.arange(len(ids)), ids]


@pytest.mark.parametrize("budget", [1, 150, 4096])
def test_a_target_is_as_probable_as_it_is_alone(
    folder: Path, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seq2seq, "budget", lambda: budget)
    model = loaded(folder)
    model.forget()
    shuffled = random.Random(1).sample(PAIRS * 2, 2 * len(PAIRS))
    for pair, target in zip(shuffled, model.targets(shuffled), strict=True):
        truth = alone(folder, *pair)
        np.testing.assert_allclose(target.log_probabilities, truth, atol=1e-5)
        cuts = [CUT * (len(ids_of(folder, text)) == toys.LIMIT) for text in pair]
        assert [*target.flaws] == cuts


def test_a_source_is_encoded_once_for_all_targets_and_calls(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []
    encode = TorchSeq2Seq.encode

    def counted(self: TorchSeq2Seq, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        rows.append(len(ids))
        return encode(self, ids, mask)

    monkeypatch.setattr(TorchSeq2Seq, "encode", counted)
    model = loaded(folder)
    model.forget()
    model.targets(PAIRS)
    assert sum(rows) == len({source for source, _ in PAIRS})
    model.targets(PAIRS[::-1])
    assert sum(rows) == len({source for source, _ in PAIRS})


def test_targets_are_the_same_where_memory_runs_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = TorchSeq2Seq.log_probabilities
    sizes: list[int] = []

    def small(self: TorchSeq2Seq, sources: Any, rows: Any, ids: Any, *more: Any) -> np.ndarray:
        sizes.append(ids.size)
        if ids.size > 90:
            raise OutOfMemory("toy")
        return once(self, sources, rows, ids, *more)

    model = loaded(folder)
    expected = model.targets(PAIRS)
    monkeypatch.setattr(TorchSeq2Seq, "log_probabilities", small)
    for first, other in zip(model.targets(PAIRS), expected, strict=True):
        np.testing.assert_allclose(first.log_probabilities, other.log_probabilities, atol=1e-5)
    assert max(sizes) > 90

    def never(*_: object) -> np.ndarray:
        raise OutOfMemory("toy")

    monkeypatch.setattr(TorchSeq2Seq, "log_probabilities", never)
    with pytest.raises(ModelError, match="ran out of memory with a single text"):
        model.targets(PAIRS)


def test_numbers_that_are_not_finite_are_computed_again_in_32_bits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = loaded(folder, "bfloat16")
    run = TorchSeq2Seq._once

    def once(self: TorchSeq2Seq, forward: Any) -> np.ndarray:
        outputs = run(self, forward)
        return outputs if self.model.dtype == toys.torch.float32 else outputs * np.nan

    model.forget()
    monkeypatch.setattr(TorchSeq2Seq, "_once", once)
    for pair, target in zip(PAIRS, model.targets(PAIRS), strict=True):
        # The weights stay rounded to 8 bits.
        np.testing.assert_allclose(target.log_probabilities, alone(folder, *pair), atol=0.3)
    assert model.runner.model.dtype == toys.torch.bfloat16


@pytest.mark.parametrize("budget", [1, 4096])
@pytest.mark.parametrize("end", [True, False])
def test_first_tokens_are_those_of_one_text_at_a_time(
    folder: Path, end: bool, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seq2seq, "budget", lambda: budget)
    chosen = [7, 30]
    token = loaded(folder).first_tokens(TEXTS * 2, chosen, 12, end=end)
    for text, answer in zip(TEXTS * 2, token, strict=True):
        numbers = ids_of(folder, text)
        ids = numbers if len(numbers) <= 12 else [*numbers[:11], 3]
        tensor = toys.torch.tensor([ids if end else ids[:-1]])
        with toys.torch.no_grad():
            start = toys.torch.tensor([[0]])
            logits = wide(folder)(input_ids=tensor, decoder_input_ids=start).logits[0, 0]
        np.testing.assert_allclose(answer.logits, logits[chosen].numpy(), atol=1e-5)
        assert answer.flaws == CUT * (len(numbers) > 12)


def test_a_limit_replaces_that_of_the_tokenizer(tmp_path: Path) -> None:
    # T5's tokenizers say 512, and metrics read twice as much and more.
    folder = toys.write_seq2seq(tmp_path / "t5")
    long = " ".join(["cat"] * 60)
    (answer,) = loaded(folder).first_tokens([long], [7], 100)
    backend = toys.tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tensor = toys.torch.tensor
    with toys.torch.no_grad():
        ids, start = tensor([backend.encode(long).ids]), tensor([[0]])
        logits = wide(folder)(input_ids=ids, decoder_input_ids=start).logits[0, 0]
    assert not answer.flaws
    assert answer.logits[0] == pytest.approx(float(logits[7]), abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "auto", "message"),
    [
        ("bert", "AutoModel", r"isn't a sequence-to-sequence model, .* but a bert"),
        ("gpt2", "AutoModelForCausalLM", r"isn't a sequence-to-sequence model, .* but a gpt2"),
        # Its decoder and embeddings are there, and a layer for labels on top.
        ("bart", "AutoModelForSequenceClassification", "but a BartForSequenceClassification"),
    ],
)
def test_a_model_of_another_kind_is_refused_in_a_line(
    tmp_path: Path, kind: str, auto: str, message: str
) -> None:
    folder = toys.write_model(tmp_path / kind, kind, auto)
    with pytest.raises(ModelError, match=message):
        loaded(folder)


def test_a_model_without_its_output_layer_is_refused(tmp_path: Path) -> None:
    # transformers 5 ties the embeddings to it, though T5 1.1 was trained with two of them.
    folder = toys.write_seq2seq(tmp_path / "t5")
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tie_word_embeddings": False}))
    with pytest.raises(ModelError, match="t5 has no weights for its output layer"):
        loaded(folder)


def test_a_token_that_the_model_does_not_have_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="120 tokens, and none with the number 250,089"):
        loaded(folder).first_tokens(["a cat"], [250_089], 12)


def test_a_limit_is_no_more_than_the_positions_of_a_model(tmp_path: Path) -> None:
    folder = toys.write_seq2seq(tmp_path / "bart", "bart")
    (answer,) = loaded(folder).first_tokens([" ".join(["cat"] * 60)], [7], 1024)
    assert answer.flaws == CUT


# Official scores.


@pytest.mark.parametrize("row", vectors.rows("metricx"), ids=["seed 17", "seed 18"])
def test_metricx_has_the_official_scores(row: dict[str, Any], tmp_path: Path) -> None:
    folder = vectors.write_setup_words(tmp_path / "model")
    runner = loaded(vectors.write_model(folder, "AutoModelForSeq2SeqLM", "mt5", row)).runner
    sequences = [np.array(ids) for ids in row["input_ids_without_eos"]]
    batch = runner.first(*padded(sequences, 0), [row["logit"]])
    each = [runner.first(*padded([ids], 0), [row["logit"]])[0] for ids in sequences]
    # One of the six is itself 2.3e-5 from what 64 bits give, the others are 1e-6.
    for result in (batch, np.array(each)):
        np.testing.assert_allclose(result[:, 0], row["before_clip"], rtol=2e-5)
