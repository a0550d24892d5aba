"""Batches of real texts, and of a machine whose memory runs out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from metrichub_neural.engine import encoder, full
from metrichub_neural.engine.batching import OutOfMemory, in_batches
from metrichub_neural.engine.machine import CPU_TOKENS
from metrichub_neural.engine.tokens import load_tokenizer, read_config
from toys import hidden, texts

DATA = Path(__file__).parents[4] / "shared/data"
CORPORA = {
    "mt_wmt16_deen_uedin-syntax.jsonl": ("hyp", "ref"),
    "summ_summeval_outputs.jsonl": ("hyp",),
    "fact_qags_cnn.jsonl": ("src", "hyp"),
}


@pytest.mark.parametrize("file", CORPORA)
def test_real_texts_are_padded_by_at_most_a_twentieth(file: str, minilm: str) -> None:
    if not (path := DATA / file).exists():
        pytest.skip("needs ../shared/data/")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    distinct = list(dict.fromkeys(row[column] for row in rows for column in CORPORA[file]))
    files = encoder.find_model(minilm, needed_by="test")
    tokenizer = load_tokenizer(files, read_config(files))
    lengths = [len(one.ids) for one in tokenizer.encode(distinct)]
    batches = in_batches(lengths, CPU_TOKENS, lambda places: None, "test")
    computed = sum(len(places) * max(lengths[place] for place in places) for places, _ in batches)
    assert computed <= 1.05 * sum(lengths)


def test_scores_are_the_same_where_memory_runs_out(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    once = full.TorchEncoder.forward

    def small(self: full.TorchEncoder, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        sizes.append(ids.size)
        if ids.size > 150:
            raise OutOfMemory("toy")
        return once(self, ids, mask)

    monkeypatch.setattr(full.TorchEncoder, "forward", small)
    given = texts(30, 4)
    choice = encoder.choose(str(bert), None, 2, "full", "float32", "test")
    encoder.encoder_of.cache_clear()
    found = encoder.encoder_of(choice).vectors(given)
    for text, one in zip(given, found, strict=True):
        np.testing.assert_allclose(one.vectors, hidden(bert, text, 2), atol=2e-5)
    # Once it fits, no batch is larger than the one that did.
    tried = next(place for place, size in enumerate(sizes) if size <= 150)
    assert 0 < tried < 6
    assert max(sizes[tried:]) <= 150
