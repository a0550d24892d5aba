"""The benchmarks of models run; what they measure here means nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch: pip install 'metrichub-neural[torch]'")
pytest.importorskip("transformers", reason="needs transformers")

ROOT = Path(__file__).parents[3]


def test_the_benchmark_for_a_gpu_runs_on_tiny_shapes() -> None:
    if not (ROOT / "benchmarks/gpu.py").exists():
        pytest.skip("needs the repository's benchmarks/")
    chosen = "--device cpu --shape tiny --shape tiny-causal --texts 6 --budget 64"
    types = "--dtype float32 --dtype bfloat16 --attention sdpa --attention eager"
    command = [sys.executable, "-m", "benchmarks.gpu", *chosen.split(), *types.split()]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=300, check=False
    )
    assert found.returncode == 0, found.stderr
    # Two types by two kinds of attention, for each of two shapes.
    lines = [line for line in found.stdout.splitlines() if "float" in line]
    assert len(lines) == 8
    # In 32 bits, the kind of attention changes a score by no more than rounding.
    exact = [line for line in lines if "float32" in line and "│" in line]
    differences = [float(line.split("│")[-2]) for line in exact]
    assert max(differences[:2]) < 1e-5
    assert {line.split("│")[1].split(",")[1].strip() for line in exact} == {"sdpa", "eager"}
