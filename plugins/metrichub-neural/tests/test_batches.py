"""Batches of real texts, and of a machine whose memory runs out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys
from metrichub_neural._bertscore.matching import matches
from metrichub_neural.engine import batching, encoder, full
from metrichub_neural.engine.batching import OutOfMemory, in_batches
from metrichub_neural.engine.machine import CPU_TOKENS
from metrichub_neural.engine.models import forget
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.tokens import load_tokenizer
from toys import hidden, texts

from metrichub import ModelError

ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared/data"
CORPORA = {
    "mt_wmt16_deen_uedin-syntax.jsonl": ("hyp", "ref"),
    "summ_summeval_outputs.jsonl": ("hyp",),
    "fact_qags_cnn.jsonl": ("src", "hyp"),
}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def padding_of(distinct: Sequence[str], model: str) -> float:
    """How many tokens are computed for each real one."""
    files = encoder.find_model(model, needed_by="test")
    tokenizer = load_tokenizer(files, read_config(files))
    lengths = [len(encoded.ids) for encoded in tokenizer.encode(distinct)]
    batches = in_batches(lengths, CPU_TOKENS, lambda places: None, "test")
    computed = sum(len(places) * max(lengths[place] for place in places) for places, _ in batches)
    return computed / sum(lengths)


@pytest.mark.parametrize("file", CORPORA)
def test_real_texts_are_padded_by_at_most_a_twentieth(file: str, minilm: str) -> None:
    if not (path := DATA / file).exists():
        pytest.skip("needs ../shared/data/")
    rows = rows_of(path)
    distinct = dict.fromkeys(row[column] for row in rows for column in CORPORA[file])
    assert padding_of(list(distinct), minilm) <= 1.05


def test_the_texts_of_five_documents_are_padded_by_at_most_a_twentieth(minilm: str) -> None:
    # A quarter of the budget in each batch would pad these by a tenth.
    outputs, documents = (
        ROOT / f"tests/data/summeval_{name}.jsonl" for name in ("outputs", "docs")
    )
    if not documents.exists():
        pytest.skip("needs the repository's tests/data")
    articles = {row["doc_id"]: row for row in rows_of(documents)[:5]}
    predictions = [row["hyp"] for row in rows_of(outputs) if row["doc_id"] in articles]
    predictions += [reference for row in articles.values() for reference in row["refs"]]
    assert padding_of(list(dict.fromkeys(predictions)), minilm) <= 1.05


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_scores_are_the_same_where_memory_runs_out(
    device: str, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is begun ahead on a GPU may be too large as well.
    monkeypatch.setattr(batching, "device", lambda: device)
    sizes: list[int] = []
    once = full.TorchEncoder.forward

    def small(self: full.TorchEncoder, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        sizes.append(ids.size)
        if ids.size > 150:
            raise OutOfMemory("toy")
        return once(self, ids, mask)

    monkeypatch.setattr(full.TorchEncoder, "forward", small)
    inputs = texts(30, 4)
    choice = encoder.choose(str(bert), None, 2, "full", "float32", "test")
    forget()
    vectors = encoder.encoder_of(choice).vectors(inputs)
    for text, vector in zip(inputs, vectors, strict=True):
        np.testing.assert_allclose(vector.vectors, hidden(bert, text, 2), atol=2e-5)
    # Once it fits, no batch is larger than the one that did.
    tried = next(place for place, size in enumerate(sizes) if size <= 150)
    assert 0 < tried < 6
    assert max(sizes[tried:]) <= 150


def test_pairs_are_matched_on_a_device_as_on_the_processor(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The way of a GPU, on the processor: the same products, many pairs at a time.
    inputs = [("a cat sat", "the cat sat on it"), ("dog", "a dog"), ("", "a cat"), ("it", "")]
    pairs = [*inputs, *zip(texts(20), texts(20, seed=8), strict=True)]
    model = encoder.encoder_of(encoder.choose(str(bert), None, 2, "full", "float32", "test"))
    expected = matches(model, pairs)
    monkeypatch.setattr(encoder.Encoder, "stays", True)
    sizes: list[int] = []
    once = toys.torch.bmm

    def small(first: Any, second: Any) -> Any:
        sizes.append(len(first))
        if len(first) > 5:
            raise toys.torch.OutOfMemoryError("toy")
        return once(first, second)

    monkeypatch.setattr(toys.torch, "bmm", small)
    match = matches(model, pairs)
    assert sizes[0] > 5 >= max(sizes[-4:])
    for vectors, other in zip(match, expected, strict=True):
        np.testing.assert_allclose(vectors.best, other.best, atol=1e-6)
        np.testing.assert_allclose(vectors.other_best, other.other_best, atol=1e-6)
        assert vectors.flaws == other.flaws
        np.testing.assert_array_equal(vectors.weighed, other.weighed)


def test_vectors_that_stay_are_run_again_in_32_bits_where_they_are_not_finite(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = encoder.choose(str(bert), None, 2, "full", "float16", "test")
    runner = encoder.encoder_of(choice).runner
    assert isinstance(runner, full.TorchEncoder)
    ids, mask = np.array([[2, 7, 3]]), np.ones((1, 3), np.int64)
    once = full.TorchEncoder._vectors  # what every way goes through

    broken = [toys.torch.float16]

    def breaking(self: Any, *batch: Any) -> Any:
        inner = once(self, *batch)
        return lambda model: inner(model) * (float("nan") if model.dtype in broken else 1)

    monkeypatch.setattr(full.TorchEncoder, "_vectors", breaking)
    (units,) = runner.units(ids, mask)
    np.testing.assert_allclose(np.linalg.norm(units.numpy(), axis=-1), 1, atol=1e-6)
    assert runner.model.dtype == toys.torch.float16
    broken.append(toys.torch.float32)
    with pytest.raises(ModelError, match="gave numbers that aren't finite, in 32 bits too"):
        runner.units(ids, mask)
    assert runner.model.dtype == toys.torch.float16
