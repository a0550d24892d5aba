"""COMET: the official program's scores with the same weights, out of a checkpoint like its own."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import huggingface_hub
import numpy as np
import pytest
from hub_on_loopback import COMMIT, serving
from metrichub_neural._comet.model import settings_of
from metrichub_neural.engine.full import TorchEncoder
from metrichub_neural.engine.models import forget
from metrichub_neural.local_models import find_model
from neural_vectors import SETUP, rows, shapes, torch, transformers, weights, write_setup_words
from test_convert import metrichub
from toys import texts

from metrichub import Hub, MissingModel, ModelError, load_metric
from metrichub.testing import MetricContract

ROWS = rows("comet ")
IDS = [row["metric"] for row in ROWS]
KINDS = {
    "RegressionMetric": "regression_metric",
    "ReferencelessRegression": "referenceless_regression_metric",
    "UnifiedMetric": "unified_metric",
    "XCOMETMetric": "xcomet_metric",
}
FEATURES = {
    "RegressionMetric": 6,
    "ReferencelessRegression": 4,
    "UnifiedMetric": 1,
    "XCOMETMetric": 1,
}


def write_checkpoint(
    folder: Path, row: Mapping[str, Any], encoder: str = "xlm-roberta", **message: object
) -> Path:
    """A checkpoint laid out as the hub's, and beside it the model that it was trained from."""
    config = transformers.AutoConfig.for_model(encoder, **SETUP["config"])
    model = transformers.AutoModel.from_config(config, add_pooling_layer=False)
    size = config.hidden_size * FEATURES[row["cls"]]
    sizes = [size, *row["params"]["hidden_sizes"], 1]
    named = {f"encoder.model.{name}": shape for name, shape in shapes(model).items()}
    for place, (before, after) in enumerate(pairwise(sizes)):
        named[f"estimator.ff.{3 * place}.weight"] = (after, before)
        named[f"estimator.ff.{3 * place}.bias"] = (after,)
    if row["cls"] == "XCOMETMetric":
        named["hidden2tag.weight"] = (4, config.hidden_size)
        named |= {"hidden2tag.bias": (4,), "wordloss.weight": (4,)}
    state = weights(named, row)
    for place, value in enumerate(row["scalar_parameters"] or ()):
        state[f"layerwise_attention.scalar_parameters.{place}"] = torch.tensor([value])
        state["layerwise_attention.gamma"] = torch.tensor([row["gamma"]])
        state["layerwise_attention.dropout_mask"] = torch.zeros(4)
    # The hub lists what the pickles of the three models import: OrderedDict, _rebuild_tensor_v2,
    # FloatStorage and, for what older versions of transformers saved, LongStorage.
    state["encoder.model.embeddings.position_ids"] = torch.arange(64)[None]
    # Each name of the official program's state is here, and no other.
    beside = {name for name in state if not name.startswith("encoder.")}
    assert beside | {"layerwise_attention.dropout_fill"} >= set(row["state_keys"]) >= beside
    base = write_setup_words(folder.parent / "base")
    config.save_pretrained(base)
    parameters = {**row["params"], "pretrained_model": message.pop("base", str(base))}
    (folder / "checkpoints").mkdir(parents=True)
    content = {"state_dict": state, "hyper_parameters": parameters, "optimizer_states": [{}]}
    torch.save(content, folder / "checkpoints/model.ckpt")
    file = {**parameters, "class_identifier": KINDS[row["cls"]], **message}
    (folder / "hparams.yaml").write_text(str(file).replace("None", "null"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The converted model of each row."""
    folders = {}
    for row in ROWS:
        folder = write_checkpoint(tmp_path_factory.mktemp("comet") / "model", row)
        done = metrichub("convert", folder)
        assert done.returncode == 0, done.stderr
        folders[row["metric"]] = folder
    return folders


def columns(row: Mapping[str, Any]) -> dict[str, list[str]]:
    names = {"predictions": "mt", "sources": "src", "references": "ref"}
    return {
        column: [sample[name] for sample in row["samples"]]
        for column, name in names.items()
        if name in row["samples"][0]
    }


def scored(folder: Path, row: Mapping[str, Any], columns: Mapping[str, list[str]]) -> np.ndarray:
    name = "comet" if row["cls"] == "RegressionMetric" else "comet_qe"
    report = Hub(load_metric(name, model=str(folder))).evaluate(columns)
    return np.array(report.samples()[name]["score"])


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_scores_are_the_official_programs_alone_and_in_any_batch(
    models: dict[str, Path], row: dict[str, Any]
) -> None:
    folder, inputs = models[row["metric"]], columns(row)
    np.testing.assert_allclose(scored(folder, row, inputs), row["scores_one_by_one"], atol=2e-6)
    many = [random.Random(1).randrange(4) for _ in range(30)]
    shuffled = {name: [texts[place] for place in many] for name, texts in inputs.items()}
    expected = np.array(row["scores_one_batch"])[many]
    np.testing.assert_allclose(scored(folder, row, shuffled), expected, atol=2e-6)


@pytest.fixture(scope="module")
def comet(models: dict[str, Path]) -> Path:
    return models["comet wmt22-comet-da"]


class TestComet(MetricContract):
    metric = "comet"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        row = "comet wmt20-qe" if self.metric == "comet_qe" else "comet wmt22-comet-da"
        monkeypatch.setattr(type(self), "parameters", {"model": str(models[row])})


class TestCometQe(TestComet):
    metric = "comet_qe"


def said_by(folder: Path, place: str, **values: object) -> None:
    """Change what a converted model's hyperparameters say."""
    path = folder / "hyperparameters.json"
    both = json.loads(path.read_text())
    both[place].update(values)
    path.write_text(json.dumps(both))


def test_the_patched_sparsemax_is_a_softmax(comet: Path, tmp_path: Path) -> None:
    # unbabel-comet since 2.2.4: hparams.yaml overrules the checkpoint with this value alone.
    row, folder = ROWS[0], tmp_path / "model"
    shutil.copytree(comet, folder)
    sparse = scored(folder, row, columns(row))
    said_by(folder, "file", layer_transformation="softmax")
    np.testing.assert_array_equal(scored(folder, row, columns(row)), sparse)
    said_by(folder, "file", layer_transformation="sparsemax_patch")
    patched = scored(folder, row, columns(row))
    said_by(folder, "checkpoint", layer_transformation="softmax")
    np.testing.assert_array_equal(scored(folder, row, columns(row)), patched)
    assert np.abs(patched - sparse).max() > 1e-3


REGRESSION = {"pool": "avg", "layer": "mix", "layer_norm": False, "activations": "Tanh"}


@pytest.mark.parametrize(
    ("message", "kind", "sparse", "normalizes"),
    [
        # configs/models/regression_model.yaml of Unbabel/COMET at da61b81, as wmt22-comet-da's.
        (
            {**REGRESSION, "class_identifier": "regression_metric"}
            | {"layer_transformation": "sparsemax"},
            *("regression_metric", True, False),
        ),
        # hparams.yaml of Yulong-W/18th on the hub, at 562332c.
        (
            {**REGRESSION, "class_identifier": "referenceless_regression_metric"}
            | {"layer_transformation": "sparsemax", "final_activation": None},
            *("referenceless_regression_metric", True, False),
        ),
        # hparams.yaml of Unbabel/wmt22-cometkiwi-da on the hub.
        (
            {**REGRESSION, "class_identifier": "unified_metric"}
            | {"layer_transformation": "sparsemax_patch", "final_activation": None},
            *("unified_metric", False, False),
        ),
        # Models of before there were these two: the defaults of each class, comet 2.2.7.
        (
            {"class_identifier": "regression_metric", "pool": "avg", "layer": "mix"},
            *("regression_metric", False, True),
        ),
        ({"class_identifier": "unified_metric"}, "unified_metric", True, True),
        ({"class_identifier": "xcomet_metric"}, "xcomet_metric", True, False),
    ],
)
def test_settings_are_what_published_files_say(
    bert: Path,
    tmp_path: Path,
    message: dict[str, object],
    kind: str,
    sparse: bool,
    normalizes: bool,
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(bert, folder)
    (folder / "hyperparameters.json").write_text(json.dumps({"file": message, "checkpoint": {}}))
    value = settings_of(find_model(str(folder), needed_by="test"))
    assert (value.kind, value.sparse, value.normalizes) == (kind, sparse, normalizes)
    # A unified model takes the vector of <s>, whatever is said of pooling.
    pool = "avg" if "regression" in kind else "cls"
    assert (value.layer, value.pool, value.activations, value.final) == ("mix", pool, "Tanh", None)


def test_sixteen_systems_read_each_source_and_reference_once(
    comet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    once = TorchEncoder.reduced

    def counted(self: TorchEncoder, ids: np.ndarray, mask: np.ndarray, reduction: Any) -> Any:
        read.append(len(ids))
        return once(self, ids, mask, reduction)

    monkeypatch.setattr(TorchEncoder, "reduced", counted)
    metric = load_metric("comet", model=str(comet))
    forget()
    for system in range(16):
        columns = {
            "predictions": [f"the cat {'sat ' * system}{word}" for word in ("dog", "house")],
            "sources": ["the old man", "a river"],
            "references": ["it is cold", "he said no"],
        }
        Hub(metric).evaluate(columns)
    assert sum(read) == 2 + 2 + 16 * 2


def test_texts_beyond_the_limit_are_cut_and_counted(comet: Path) -> None:
    # 64 positions: 2 of the padding, and 2 that unbabel-comet leaves free.
    long = " ".join(["cat"] * 60)
    hub = Hub(load_metric("comet", model=str(comet)))
    both = {"sources": [long, "a dog", "a dog"], "references": ["the house", long, "the house"]}
    report = hub.evaluate(predictions=[long, long, "a cat"], **both)
    assert [note for note in report.notes()["comet"] if "were cut" in note] == [
        "2 of 3 predictions were cut at 60 tokens",
        "1 of 3 references were cut at 60 tokens",
        "1 of 3 sources were cut at 60 tokens",
    ]
    shorter = " ".join(["cat"] * 58)
    again = hub.evaluate(
        predictions=[shorter], sources=[shorter], references=["the house"]
    ).samples()
    assert again["comet"]["score"][0] == pytest.approx(
        report.samples()["comet"]["score"][0], abs=1e-6
    )


def test_an_empty_source_or_reference_is_unscored_and_an_empty_translation_is_not(
    comet: Path,
) -> None:
    report = Hub(load_metric("comet", model=str(comet))).evaluate(
        predictions=["", "a cat", "a cat", "a cat"],
        sources=["a dog", " ", "a dog", "a dog"],
        references=["a house", "a house", "", "a house"],
    )
    scores = report.samples()["comet"]["score"]
    assert np.isfinite(scores).tolist() == [True, False, False, True]


def test_two_workers_give_what_one_process_gives(comet: Path) -> None:
    rows = [
        {"id": str(place), "predictions": [text], "sources": [text[::-1]], "references": ["a cat"]}
        for place, text in enumerate(texts(24))
    ]
    hub = Hub(load_metric("comet", model=str(comet)))
    report = hub.evaluate(rows)
    parted = hub.evaluate(iter([rows[:13], rows[13:]]), workers=2)
    assert parted.signatures() == report.signatures()
    assert parted.scores()["comet"]["score"] == pytest.approx(
        report.scores()["comet"]["score"], abs=1e-6
    )


def test_what_cannot_be_run_says_why(models: dict[str, Path], bert: Path, tmp_path: Path) -> None:
    both = {"predictions": ["a cat"], "sources": ["a dog"], "references": ["a house"]}

    def refused(folder: Path, name: str = "comet") -> str:
        with pytest.raises(ModelError) as caught:
            Hub(load_metric(name, model=str(folder))).evaluate(**both)
        return str(caught.value)

    assert "has no hyperparameters.json" in refused(bert)
    qe, da = models["comet wmt20-qe"], models["comet wmt22-comet-da"]
    assert "is a referenceless_regression_metric, and comet runs a regression_metric" in refused(qe)
    assert "is a regression_metric, and comet_qe runs a" in refused(da, "comet_qe")
    folder = tmp_path / "model"
    shutil.copytree(da, folder)
    said_by(folder, "checkpoint", pool="max")
    assert "model pools by 'max', not by avg or cls" in refused(folder)
    said_by(folder, "checkpoint", pool="avg", activations="Swish")
    assert "has the activation 'Swish'" in refused(folder)


def test_a_missing_model_names_the_command_that_fetches_and_converts_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    for model, get in (
        ({}, "metrichub fetch comet"),
        (
            {"model": "Unbabel/wmt20-comet-da"},
            "metrichub fetch --convert Unbabel/wmt20-comet-da",
        ),
    ):
        with pytest.raises(MissingModel) as caught:
            load_metric("comet", **model).resolved()
        assert str(caught.value).endswith(f"isn't on this machine: {get}")


def test_fetching_by_the_metrics_name_leaves_a_model_that_scores(
    tmp_path: Path, models: dict[str, Path]
) -> None:
    served = write_checkpoint(tmp_path / "model", ROWS[0], base="xlm-roberta-large")
    folders = {"Unbabel/wmt22-comet-da": served, "xlm-roberta-large": tmp_path / "base"}
    rows = tmp_path / "rows.jsonl"
    sample = ROWS[0]["samples"][0]
    row = {"prediction": sample["mt"], "source": sample["src"], "reference": sample["ref"]}
    rows.write_text(json.dumps(row))
    with serving(folders) as hub:
        at = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf")}
        at |= {"HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}
        gone = metrichub("fetch", "comet", "--revision", "b" * 40, "--yes", **at)
        assert "Unbabel/wmt22-comet-da has no revision" in gone.stderr
        fetched = metrichub("fetch", "comet", "--yes", **at)
        assert fetched.returncode == 0, fetched.stderr
        assert f"Unbabel/wmt22-comet-da at {COMMIT}" in fetched.stdout
        assert "converted from checkpoints/model.ckpt" in fetched.stdout
        hub.asked.clear()
        done = metrichub("score", rows, "-m", "comet", "--format", "json", **at)
        assert done.returncode == 0, done.stderr
        assert hub.asked == []
        assert "Unbabel/wmt22-comet-da" in metrichub("doctor", "--verbose", **at).stdout
    score = json.loads(done.stdout)["scores"]["comet"]["score"]
    assert score == pytest.approx(ROWS[0]["scores_one_by_one"][0], abs=2e-6)
