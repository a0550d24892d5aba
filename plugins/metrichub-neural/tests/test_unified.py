"""CometKiwi and UniTE: the official program's scores with the same weights."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from metrichub_neural.engine.full import TorchEncoder
from neural_vectors import SETUP, rows, torch, transformers
from test_comet import columns, said_by, write_checkpoint
from test_convert import metrichub
from toys import texts

from metrichub import Hub, ModelError, Report, load_metric
from metrichub.testing import MetricContract

ROWS = {"cometkiwi": rows("cometkiwi")[0], "unite": rows("unite")[0]}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The converted model of each row."""
    folders = {}
    for name, row in ROWS.items():
        folders[name] = write_checkpoint(tmp_path_factory.mktemp("unified") / "model", row)
        done = metrichub("convert", folders[name])
        assert done.returncode == 0, done.stderr
    return folders


def scored(name: str, folder: Path, inputs: Mapping[str, list[str]]) -> Report:
    return Hub(load_metric(name, model=str(folder))).evaluate(inputs)


@pytest.mark.parametrize("name", ROWS)
def test_scores_are_the_official_programs_alone_and_in_any_batch(
    models: dict[str, Path], name: str
) -> None:
    row, inputs = ROWS[name], columns(ROWS[name])
    score = scored(name, models[name], inputs).samples()[name]["score"]
    np.testing.assert_allclose(score, row["scores_one_by_one"], atol=2e-6)
    many = [random.Random(1).randrange(4) for _ in range(30)]
    shuffled = {column: [texts[place] for place in many] for column, texts in inputs.items()}
    expected = np.array(row["scores_one_batch"])[many]
    score = scored(name, models[name], shuffled).samples()[name]["score"]
    np.testing.assert_allclose(score, expected, atol=2e-6)


def test_each_part_of_unite_is_the_official_one(models: dict[str, Path]) -> None:
    scores = scored("unite", models["unite"], columns(ROWS["unite"])).samples()["unite"]
    for ours, theirs in (
        ("source", "src_scores"),
        ("reference", "ref_scores"),
        ("both", "unified_scores"),
    ):
        expected = [part[theirs][0] for part in ROWS["unite"]["parts"]]
        np.testing.assert_allclose(scores[ours], expected, atol=2e-6)
    # The model of UniTE reads a source alone too, as CometKiwi's does.
    inputs = columns(ROWS["unite"])
    del inputs["references"]
    alone = scored("cometkiwi", models["unite"], inputs).samples()["cometkiwi"]["score"]
    np.testing.assert_allclose(alone, scores["source"], atol=1e-6)


def test_joined_texts_are_cut_from_the_end(
    models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # 64 positions: a text has 60 tokens at most, 2 of which frame it; all together have 62.
    seen: list[list[int]] = []
    once = TorchEncoder.reduced

    def recorded(self: TorchEncoder, ids: np.ndarray, mask: np.ndarray, reduction: Any) -> Any:
        seen.extend(row[: sum(real)].tolist() for row, real in zip(ids, mask, strict=True))
        return once(self, ids, mask, reduction)

    monkeypatch.setattr(TorchEncoder, "reduced", recorded)
    cat, dog = " ".join(["cat"] * 57), " ".join(["dog"] * 99)
    report = scored("cometkiwi", models["cometkiwi"], {"predictions": [cat], "sources": [dog]})
    # unbabel-comet 2.2.7: <s> 57 cats </s></s> 58 dogs </s>, of which the first 62 tokens.
    (ids,) = seen
    words = [*SETUP["special"], *SETUP["words"]]
    assert ids == [0, *[words.index("cat")] * 57, 2, 2, *[words.index("dog")] * 2]
    (note,) = [note for note in report.notes()["cometkiwi"] if "cut" in note]
    assert note == "1 of 1 samples were cut at 62 tokens"


@pytest.mark.parametrize("layer", [0, 2, 3])
def test_the_larger_encoder_of_2023_is_read(tmp_path: Path, layer: int) -> None:
    # XLM-R XL, which norms before its layers and once more behind the last. The sparsemax of a
    # number that is far above all others is a share of 1.
    scores = [5.0 * (place == layer) for place in range(4)]
    row = {**ROWS["cometkiwi"], "scalar_parameters": scores}
    row["weights"] = {**row["weights"], "check": {}}
    folder = write_checkpoint(tmp_path / "model", row, "xlm-roberta-xl")
    assert metrichub("convert", folder).returncode == 0
    report = scored("cometkiwi", folder, {"predictions": ["a cat"], "sources": ["the dog"]})
    state = torch.load(folder / "checkpoints/model.ckpt")["state_dict"]
    config = transformers.AutoConfig.from_pretrained(folder)
    encoder = transformers.AutoModel.from_config(config, add_pooling_layer=False).eval().double()
    start = "encoder.model."
    weights = {k.removeprefix(start): v for k, v in state.items() if k.startswith(start)}
    encoder.load_state_dict(weights, strict=False)
    words = [*SETUP["special"], *SETUP["words"]]
    ids = [words.index(word) for word in ["<s>", "a", "cat", "</s>", "</s>", "the", "dog", "</s>"]]
    with torch.no_grad():
        layers = encoder(torch.tensor([ids]), output_hidden_states=True).hidden_states
        vector = row["gamma"] * layers[layer][0, 0]
        for place in (0, 3, 6):
            weight, bias = (state[f"estimator.ff.{place}.{n}"].double() for n in ("weight", "bias"))
            vector = torch.nn.functional.linear(vector, weight, bias)
            vector = vector.tanh() if place < 6 else vector
    score = report.samples()["cometkiwi"]["score"][0]
    assert score == pytest.approx(float(vector), abs=2e-6)


def test_an_empty_source_or_reference_is_unscored_and_an_empty_translation_is_not(
    models: dict[str, Path],
) -> None:
    report = scored(
        "unite",
        models["unite"],
        {
            "predictions": ["", "a cat", "a cat", "a cat"],
            "sources": ["a dog", " ", "a dog", "a dog"],
            "references": ["a house", "a house", "", "a house"],
        },
    )
    scores = report.samples()["unite"]["score"]
    assert np.isfinite(scores).tolist() == [True, False, False, True]


@pytest.mark.parametrize("name", ROWS)
def test_two_workers_give_what_one_process_gives(models: dict[str, Path], name: str) -> None:
    samples = [
        {"id": str(n), "predictions": [text], "sources": [text[::-1]], "references": ["a cat"]}
        for n, text in enumerate(texts(24))
    ]
    hub = Hub(load_metric(name, model=str(models[name])))
    report, parted = (
        hub.evaluate(samples),
        hub.evaluate(iter([samples[:13], samples[13:]]), workers=2),
    )
    assert parted.signatures() == report.signatures()
    expected = pytest.approx(report.scores()[name]["score"], abs=1e-6)
    assert parted.scores()[name]["score"] == expected


def test_what_cannot_be_run_says_why(models: dict[str, Path], tmp_path: Path) -> None:
    both = {"predictions": ["a cat"], "sources": ["a dog"], "references": ["a house"]}
    with pytest.raises(ModelError, match="wasn't trained to read ref"):
        scored("unite", models["cometkiwi"], both)
    folder = tmp_path / "model"
    shutil.copytree(models["unite"], folder)
    said_by(folder, "file", class_identifier="xcomet_metric")
    with pytest.raises(ModelError, match="is a xcomet_metric, and unite runs a unified_metric"):
        scored("unite", folder, both)
    with pytest.raises(ModelError, match="is a unified_metric, and comet runs a regression"):
        scored("comet", models["unite"], both)


class TestCometKiwi(MetricContract):
    metric = "cometkiwi"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(models[self.metric])})


class TestUnite(TestCometKiwi):
    metric = "unite"
