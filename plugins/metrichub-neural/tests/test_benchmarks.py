"""The benchmarks of models run; what they measure here means nothing."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="needs torch: pip install 'metrichub-neural[torch]'")
pytest.importorskip("transformers", reason="needs transformers")

ROOT = Path(__file__).parents[3]


def test_the_benchmark_for_a_gpu_runs_on_tiny_shapes() -> None:
    if not (ROOT / "benchmarks/gpu.py").exists():
        pytest.skip("needs the repository's benchmarks/")
    shapes = "--shape tiny --shape tiny-causal --shape tiny-seq2seq"
    chosen = f"--device cpu {shapes} --texts 6 --budget 64"
    types = "--dtype float32 --dtype bfloat16 --attention sdpa --attention eager"
    command = [sys.executable, "-m", "benchmarks.gpu", *chosen.split(), *types.split()]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    # Two types by two kinds of attention, for each of three shapes.
    lines = [line for line in result.stdout.splitlines() if "float" in line]
    assert len(lines) == 12
    # In 32 bits, the kind of attention changes a score by no more than rounding.
    exact = [line for line in lines if "float32" in line and "│" in line]
    differences = [float(line.split("│")[-2]) for line in exact]
    assert max(differences[:2]) < 1e-5
    assert {line.split("│")[1].split(",")[1].strip() for line in exact} == {"sdpa", "eager"}


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark as a module, on the CPU."""
    if not (ROOT / "benchmarks/gpu.py").exists():
        pytest.skip("needs the repository's benchmarks/")
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("METRICHUB_DEVICE", "cpu")
    return importlib.import_module("benchmarks.gpu")


def small(gpu: Any, name: str) -> Any:
    """One of the shapes with few and narrow layers."""
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    shape = gpu.SHAPES[name]
    return shape._replace(size=shape.size | size | {"intermediate_size": 64}, words=500, layer=2)


def measured(gpu: Any, folder: Path, shape: Any, *, compiled: bool = False) -> Any:
    both = gpu.drawn(20, shape.words, 1), gpu.drawn(20, shape.words, 2)
    path = gpu.written(folder / "model", shape)
    return gpu.run(path, shape, "float32", "eager", 512, compiled=compiled, both=both), both


@pytest.mark.parametrize("name", ["tiny", "tiny-causal"])
def test_nothing_is_compiled_while_the_clock_runs(
    gpu: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[tuple[int, ...]] = []
    at_start: list[set[tuple[int, ...]]] = []

    def compiled(model: Any, **_: Any) -> Any:
        forward = model.forward

        def seen(*arguments: Any, **named: Any) -> Any:
            sizes.append(tuple(named["input_ids"].shape))
            return forward(*arguments, **named)

        model.forward = seen
        return model

    watched = gpu.watched

    def watching(call: Any) -> Any:
        at_start.append({*sizes})
        return watched(call)

    monkeypatch.setattr("torch.compile", compiled)
    monkeypatch.setattr(gpu, "watched", watching)
    measured(gpu, tmp_path, gpu.SHAPES[name], compiled=True)
    # Every size of a batch was met before, and the vectors were made again.
    (before,) = at_start
    assert before == {*sizes}
    assert len(sizes) >= 2 * len(before)


def test_deberta_has_its_own_attention_and_one_row_of_it(
    gpu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(gpu.SHAPES, "deberta-v3-large", small(gpu, "deberta-v3-large"))
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    model = transformers.AutoModel.from_pretrained(
        gpu.written(tmp_path / "deberta", gpu.SHAPES["deberta-v3-large"])
    )
    attention = model.encoder.layer[0].attention.self
    assert attention.relative_attention
    assert attention.pos_att_type == ["p2c", "c2p"]
    assert (attention.position_buckets, attention.share_att_key) == (256, True)
    assert not model.embeddings.position_biased_input
    chosen = "--device cpu --shape deberta-v3-large --texts 4 --budget 64 --dtype float32"
    result = CliRunner().invoke(gpu.main, chosen.split(), catch_exceptions=False)
    rows = [line for line in result.output.splitlines() if "float32" in line]
    assert len(rows) == 1
    assert "eager" in rows[0]


def test_tokens_are_those_that_the_model_reads(gpu: Any, tmp_path: Path) -> None:
    # A word is a token here, and two frame each text of an encoder.
    cell, both = measured(gpu, tmp_path / "encoder", gpu.SHAPES["tiny"])
    words = [sum(len(text.split()) for text in side) for side in both]
    assert (cell.texts, cell.tokens) == (40, sum(words) + 2 * 40)
    # Perplexity reads predictions alone, each after a start token.
    cell, _ = measured(gpu, tmp_path / "causal", gpu.SHAPES["tiny-causal"])
    assert (cell.texts, cell.tokens) == (20, words[0] + 20)


def test_all_layers_are_one_vector_a_text(gpu: Any) -> None:
    chosen = "--device cpu --shape tiny --texts 6 --budget 64 --attention sdpa --mixed"
    types = "--dtype float32 --dtype bfloat16"
    result = CliRunner().invoke(gpu.main, [*chosen.split(), *types.split()], catch_exceptions=False)
    rows = [line.split("│") for line in result.output.splitlines() if "all layers" in line]
    assert [row[1].split(",")[0].strip() for row in rows] == ["float32", "bfloat16"]
    assert float(rows[0][-2]) == 0
    assert 0 < float(rows[1][-2]) < 0.02


def test_the_benchmark_of_sequence_to_sequence_models_agrees_with_the_loops(
    minilm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (ROOT / "benchmarks/neural_seq2seq.py").exists():
        pytest.skip("needs the repository's benchmarks/")
    if not (ROOT.parent / "shared/data").exists():
        pytest.skip("needs ../shared/data/")
    monkeypatch.syspath_prepend(str(ROOT))
    module: Any = importlib.import_module("benchmarks.neural_seq2seq")
    for size in module.SIZES.values():
        narrow = {key: 2 for key in size if key.endswith(("layers", "heads"))}
        monkeypatch.setitem(size, "d_model", 32)
        for key, value in narrow.items():
            monkeypatch.setitem(size, key, value)
    chosen = ["--documents", "1", "--pairs", "4", "--repeats", "1"]
    result = CliRunner().invoke(module.main, chosen, catch_exceptions=False)
    rows = [line.split("│") for line in result.output.splitlines() if line.startswith("│")]
    assert len(rows) == 5
    assert max(float(row[5]) for row in rows) < 1e-5


def test_bert_score_loses_the_space_before_the_first_word(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (ROOT / "benchmarks/prefix_space.py").exists():
        pytest.skip("needs the repository's benchmarks/")
    pytest.importorskip("bert_score", reason="needs bert-score==0.3.13")
    monkeypatch.syspath_prepend(str(ROOT))
    main = importlib.import_module("benchmarks.prefix_space").main
    result = CliRunner().invoke(main, ["--pairs", "12"], catch_exceptions=False)
    rows = [line.split("│") for line in result.output.splitlines() if line.startswith("│")]
    # Precision, recall and F1; the README has those of 60 pairs.
    differences = [[float(cell) for cell in row[2:5]] for row in rows]
    assert min(differences[0]) > 0.05
    assert max(differences[1]) < 1e-6


def test_metrics_of_pairs_equal_their_authors_loops(
    minilm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (ROOT / "benchmarks/neural_pairs.py").exists():
        pytest.skip("needs the repository's benchmarks/")
    monkeypatch.syspath_prepend(str(ROOT))
    pairs = importlib.import_module("benchmarks.neural_pairs")
    monkeypatch.setattr(pairs, "SIZE", {**pairs.SIZE, "num_hidden_layers": 1})
    # More than a chunk of 350 words, and more than 400 tokens.
    long = "The old man saw a dog in the house. It is cold today, and it will rain. " * 40
    short = "He said it was good. The bank of the river is in the city."
    claims = [(long, "The old man saw the cat. It rains."), (short, "It was a good river.")]
    measured = pairs.measured(tmp_path, claims, claims[1:], 1)
    assert len(measured) == 5
    assert max(row.apart for row in measured) < 1e-5
