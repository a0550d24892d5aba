"""The benchmarks of models run; what they measure here means nothing."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="needs torch: pip install 'metrichub-neural[torch]'")
pytest.importorskip("transformers", reason="needs transformers")

ROOT = Path(__file__).parents[3]


CELL = {"name": "float32", "first": 2.0, "loading": 1, "host": 1, "scores": [1.0]}


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark as a module."""
    if not (ROOT / "benchmarks/gpu.py").exists():
        pytest.skip("needs the repository's benchmarks/")
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.gpu")


@pytest.fixture
def pieces(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark's pieces as a module, on the CPU."""
    monkeypatch.setenv("METRICHUB_DEVICE", "cpu")
    return importlib.import_module("benchmarks.gpu_pieces")


def test_the_benchmark_for_a_gpu_runs_each_piece_in_a_process(gpu: Any) -> None:
    command = [sys.executable, "-m", "benchmarks.gpu", "--device", "cpu", "--texts", "6"]
    command += ["--shape", "tiny", "--dtype", "float32", "--budget", "64"]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("cpu, ")
    assert [line.split(",")[0].strip() for line in lines if "64 tokens" in line] == ["float32"]
    assert "Nothing was left out." in lines


def test_a_whole_run_has_every_piece(
    gpu: Any, pieces: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metrichub_neural.engine.models import forget

    def here(piece: Any, *, options: dict[str, Any], **_: Any) -> Any:
        forget()
        return json.loads(json.dumps(pieces.run(piece, **options)))

    monkeypatch.setattr(gpu, "apart", here)
    path = tmp_path / "numbers.json"
    chosen = ["--tiny", "--json", str(path)]
    result = CliRunner().invoke(gpu.main, chosen, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    written = json.loads(path.read_text(encoding="utf-8"))
    tables = {title.split(",")[0]: rows for title, rows in written["tables"].items()}
    assert list(tables) == [*gpu.METRICS[:4], "out of memory", "three in one hub", "sem_score"]
    for name in gpu.METRICS:
        exact, narrow = tables[name]["float32"], tables[name]["bfloat16"]
        assert exact["difference"] == 0
        assert 0 < narrow["difference"] < 0.05
        shares = [exact[part] for part in ("tokenizer", "model", "rest")]
        assert min(shares) > 0
        assert sum(shares) == pytest.approx(1)
        assert exact["host GB"] >= exact["loading GB"] > 0
    fits, refused = tables["out of memory"]
    assert ": 0 of " in fits
    assert "1,048,576 tokens: " in refused
    assert ": 0 of " not in refused
    assert tables["out of memory"][refused]["difference"] < 1e-6
    together = tables["three in one hub"]
    assert [*together] == ["in one hub: 3 models loaded", "each alone: 3 models loaded"]
    assert together["each alone: 3 models loaded"]["difference"] < 1e-6
    for package, metric in gpu.OFFICIAL.items():
        if find_spec(package.replace("-", "_")):
            assert tables[metric][f"{package}, float32"]["difference"] < 1e-5
        else:
            assert f"{metric}, tiny: {package}, float32: it isn't installed" in written["left out"]


@pytest.mark.parametrize(
    ("fails", "minutes", "left", "code"),
    [
        ({}, 8, [], 0),
        # Its model takes 20 seconds to write, as far as is known, and as many to score.
        ({}, 0.1, ["written, tiny: float32: no time", "bertscore, tiny: float32: no time"], 0),
        (
            {"written": "no disk"},
            8,
            [
                "written, tiny: float32: no disk",
                "bertscore, tiny: float32: its model wasn't written",
            ],
            1,
        ),
        ({"bertscore": "no such layer"}, 8, ["bertscore, tiny: float32: no such layer"], 1),
        ({"bertscore": None}, 8, ["bertscore, tiny: float32: stopped, as the time was up"], 0),
    ],
)
def test_what_is_left_out_is_said(
    gpu: Any,
    fails: dict[str, str | None],
    minutes: float,
    left: list[str],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def canned(piece: Any, *, seconds: float, **_: Any) -> Any:
        if piece.kind not in fails:
            return [CELL]
        if (message := fails[piece.kind]) is None:
            raise subprocess.TimeoutExpired("a piece", seconds)
        raise gpu.PieceError(message)

    monkeypatch.setattr(gpu, "apart", canned)
    chosen = ["--shape", "tiny", "--dtype", "float32", "--minutes", str(minutes)]
    result = CliRunner().invoke(gpu.main, chosen)
    assert result.exit_code == code
    _, _, listed = result.stdout.partition("Left out:\n")
    assert listed.splitlines() == left
    # A row stays where its piece went well.
    assert ("  float32" in result.stdout) == (not left)


def test_a_piece_is_not_begun_if_the_last_of_its_kind_took_longer_than_is_left(
    gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The clock stands still but for the pieces, each of which takes 45 seconds.
    now = [0.0]

    def canned(piece: Any, **_: Any) -> Any:
        now[0] += 45
        return [{**CELL, "name": piece.name}]

    monkeypatch.setattr(gpu.time, "monotonic", lambda: now[0])
    shapes = [gpu.Part("written", ("tiny",))]
    shapes += [gpu.Part("bertscore", ("tiny",), dtype) for dtype in ("float32", "bfloat16")]
    # At 90 seconds 40 are left: enough by the rough guess of 20, and too few by the last one.
    tables, left, _ = gpu.measured(shapes, canned, 130)
    assert [*tables["bertscore, tiny"]] == ["float32"]
    assert left == ["bertscore, tiny: bfloat16: no time"]


def scored(gpu: Any, pieces: Any, folder: Path, name: str, *, compiled: bool = False) -> Any:
    """The cell of 20 pairs by a tiny model, and their columns."""
    path = gpu.written(folder / name, gpu.SHAPES[name])
    columns = pieces.columns_of(20, [path])
    piece = gpu.Part(gpu.SHAPES[name].metric, (name,))
    return pieces.scored(piece, path, columns, compiled=compiled), columns


@pytest.mark.parametrize("name", ["tiny", "tiny-causal"])
def test_nothing_is_compiled_while_the_clock_runs(
    gpu: Any, pieces: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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

    watched = pieces.watched

    def watching(call: Any) -> Any:
        at_start.append({*sizes})
        return watched(call)

    monkeypatch.setattr("torch.compile", compiled)
    monkeypatch.setattr(pieces, "watched", watching)
    scored(gpu, pieces, tmp_path, name, compiled=True)
    # The clock runs for the loading, the first call and the second: every size of a batch was met
    # before the first call, and the vectors were made again.
    _, before, _ = at_start
    assert before == {*sizes}
    assert len(sizes) >= 2 * len(before)


def test_deberta_has_its_own_attention(
    gpu: Any, pieces: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "deberta-v3-large"
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    shape = gpu.SHAPES[name]
    small = shape._replace(size=shape.size | size | {"intermediate_size": 64}, words=500, layer=2)
    monkeypatch.setitem(gpu.SHAPES, name, small)
    cell, _ = scored(gpu, pieces, tmp_path, name)
    assert len(cell.scores) == 20
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    model = transformers.AutoModel.from_pretrained(tmp_path / name)
    attention = model.encoder.layer[0].attention.self
    assert attention.relative_attention
    assert attention.pos_att_type == ["p2c", "c2p"]
    assert (attention.position_buckets, attention.share_att_key) == (256, True)
    assert not model.embeddings.position_biased_input


def test_tokens_are_those_that_the_model_reads(gpu: Any, pieces: Any, tmp_path: Path) -> None:
    # A word is a token here, and two frame each text of an encoder.
    cell, columns = scored(gpu, pieces, tmp_path / "encoder", "tiny")
    sides = columns["predictions"], columns["references"]
    words = [sum(len(text.split()) for text in side) for side in sides]
    assert (cell.texts, cell.tokens) == (40, sum(words) + 2 * 40)
    # Perplexity reads predictions alone, each after a start token.
    cell, _ = scored(gpu, pieces, tmp_path / "causal", "tiny-causal")
    assert (cell.texts, cell.tokens) == (20, words[0] + 20)


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
