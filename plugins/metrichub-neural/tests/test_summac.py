"""SummaC: the official program's scores with the same weights, whatever the batch."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import neural_vectors
import numpy as np
import pytest
import toys
from metrichub_neural.engine import classifier
from metrichub_neural.engine.entailment import choose_entailment
from metrichub_neural.engine.models import forget
from metrichub_neural.local_models import find_model
from metrichub_neural.summac import granularity
from metrichub_neural.summac.convolution import published_head, read_head
from metrichub_neural.summac.granularity import units
from neural_vectors import rows, weights
from safetensors.torch import save_file

from metrichub import Hub, ModelError, ParameterError, Report, load_metric
from metrichub.testing import MetricContract

ZERO_SHOT, CONVOLVED = rows("summac_zs"), rows("summac_conv")
OPTIONS = {"op1": "over_source", "op2": "over_prediction", "use_con": "contradiction"}
LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
STORY = "The old man saw a dog in the house. It is cold today, it will rain. He said it was good."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classifier of all rows."""
    folder = neural_vectors.write_setup_words(tmp_path_factory.mktemp("summac") / "model")
    auto = "AutoModelForSequenceClassification"
    return neural_vectors.write_model(folder, auto, "roberta", ZERO_SHOT[0], id2label=LABELS)


def write_head(file: Path, row: Mapping[str, Any]) -> Path:
    """The head of a row."""
    width = {"percentile": 23, "even50": 50}[row["bins"]] * len(row["nli_labels"])
    shapes = {"mlp.weight": (1, width), "mlp.bias": (1,)}
    shapes |= {"layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    save_file(weights(shapes, {"weights": row["head"]}), file)
    return file


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences are lines, as where the rows were made."""
    monkeypatch.setattr(granularity, "sentences", str.splitlines)


def scored(folder: Path, row: Mapping[str, Any], **more: Any) -> Report:
    metric = load_metric("summac", model=str(folder), **more)
    columns = {"predictions": row["summaries"], "sources": row["documents"]}
    return Hub(metric).evaluate(columns)


def zero_shot(row: Mapping[str, Any]) -> dict[str, Any]:
    named = {OPTIONS[name]: value for name, value in row["kwargs"].items()}
    return {"variant": "zs", "granularity": row["granularity"], **named}


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize("row", ZERO_SHOT, ids=lambda row: f"{row['granularity']} {row['kwargs']}")
def test_zero_shot_scores_are_those_of_the_official_program(
    model: Path, row: dict[str, Any]
) -> None:
    report = scored(model, row, **zero_shot(row))
    np.testing.assert_allclose(report.samples()["summac"]["score"], row["scores"], atol=3e-7)


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize("row", CONVOLVED, ids=lambda row: f"{row['bins']} {row['nli_labels']}")
def test_convolved_scores_are_those_of_the_official_program(
    model: Path, row: dict[str, Any], tmp_path: Path
) -> None:
    head = write_head(tmp_path / "head.safetensors", row)
    more = {"head": str(head), "bins": row["bins"], "labels": row["nli_labels"]}
    report = scored(model, row, **more)
    np.testing.assert_allclose(report.samples()["summac"]["score"], row["scores"], atol=3e-7)


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize("budget", [1, 60, 4096])
def test_scores_are_the_same_in_any_batch(
    model: Path, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifier, "budget", lambda: budget)
    monkeypatch.setattr("metrichub_neural.engine.store.portion", lambda: 7)
    forget()
    row = ZERO_SHOT[0]
    order = random.Random(budget).sample([0, 1] * 4, 8)
    shuffled = {name: [row[name][at] for at in order] for name in ("summaries", "documents")}
    score = scored(model, shuffled, **zero_shot(row)).samples()["summac"]["score"]
    np.testing.assert_allclose(score, [row["scores"][at] for at in order], atol=3e-7)


def test_the_published_head_is_the_authors() -> None:
    # The sums of summac_conv_vitc_sent_perc_e.bin at c1f3da9, by torch.load and double().sum().
    head = published_head()
    sums = {name: float(rows.sum()) for name, rows in head.weights.items()}
    assert sums == pytest.approx(
        {
            "mlp.weight": -15.007418289780617,
            "mlp.bias": 0.6317588090896606,
            "layer_final.weight": 0.7148066908121109,
            "layer_final.bias": -0.1356912925839424,
        },
        abs=1e-6,
    )
    # It was trained to say yes to what is entailed, and no to what isn't.
    near = [head.score(np.full((4, 2, 1), probability)) for probability in (0.001, 0.5, 0.999)]
    assert near[0] < 0.5 < near[2]
    assert near == sorted(near)


def test_units_are_those_of_the_granularity() -> None:
    text = "A first one here.\nA second one here. Short.\n\nA third one, at last."
    assert units(text, "document") == [text]
    sentences = ["A first one here.", "A second one here.", "A third one, at last."]
    assert units(text, "sentence") == sentences
    joined = [" ".join(sentences[:2]), " ".join(sentences[1:]), sentences[2]]
    assert units(text, "2sents") == joined
    assert units(text, "paragraph") == [*text.split("\n\n")]
    assert units("One line of text.\nAnother line.\nNo.", "paragraph") == [
        "One line of text.",
        "Another line.",
    ]
    assert units("Yes.", "2sents") == []


def test_predictions_without_units_and_cut_ones_are_counted(model: Path) -> None:
    hub = Hub(load_metric("summac", model=str(model), variant="zs"))
    long = "The cat sat on the mat in the house of the old man " * 8
    report = hub.evaluate(
        predictions=["Yes.", "", STORY, f"{long}.", STORY], sources=[STORY] * 4 + [""]
    )
    scores = report.samples()["summac"]["score"]
    # The official program's images of zeros: max - max = 0.
    assert scores[:2].tolist() == [0, 0]
    assert np.isnan(scores[4])
    # Of the four that have a score.
    _, cut, without = report.notes()["summac"]
    assert "1 of 4 predictions were cut at 62 tokens, in a pair" in cut
    assert "2 of 4 predictions were compared with nothing" in without


def test_both_variants_take_one_pass(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    head = write_head(tmp_path / "head.safetensors", CONVOLVED[0])
    runs: list[int] = []
    forward = classifier.TorchClassifier.forward

    def counted(self: Any, ids: np.ndarray, *arguments: Any) -> np.ndarray:
        runs.append(len(ids))
        return forward(self, ids, *arguments)

    monkeypatch.setattr(classifier.TorchClassifier, "forward", counted)
    both = [
        load_metric("summac", model=str(model), head=str(head)),
        f"zs = summac(model='{model}', variant='zs')",
    ]
    Hub(both).evaluate(predictions=[STORY], sources=[STORY])
    assert sum(runs) == 9


def test_labels_of_vitaminc_are_read_by_name_or_by_the_model_s(model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "model")
    path = tmp_path / "model/config.json"
    config = json.loads(path.read_text())
    labels = {"0": "SUPPORTS", "1": "REFUTES", "2": "NOT ENOUGH INFO"}
    path.write_text(json.dumps(config | {"id2label": labels}))
    files = find_model(str(tmp_path / "model"), needed_by="test")
    assert choose_entailment(files) == (0, 1)
    path.write_text(json.dumps(config | {"id2label": {"0": "LABEL_0", "1": "b", "2": "c"}}))
    files = find_model(str(tmp_path / "model"), needed_by="test")
    # As in model_map of summac/model_summac.py at c1f3da9.
    assert choose_entailment(files._replace(name="tals/albert-xlarge-vitaminc-mnli")) == (0, 1)
    with pytest.raises(ModelError, match="no label for entailment"):
        choose_entailment(files)


def test_what_does_not_fit_is_one_line(model: Path, tmp_path: Path) -> None:
    head = write_head(tmp_path / "head.safetensors", CONVOLVED[0])
    row = CONVOLVED[0]
    with pytest.raises(ModelError, match=r"isn't tals/albert-xlarge.*variant='zs', or give the"):
        scored(model, row)
    with pytest.raises(ModelError, match=r"has \(1, 23\) as mlp.weight, not \(1, 50\)"):
        scored(model, row, head=str(head), bins="even50")
    with pytest.raises(ModelError, match=r"none\.bin can't be read: No such file"):
        scored(model, row, head=str(tmp_path / "none.bin"))
    (tmp_path / "head.bin").write_bytes(b"PK\3\4")
    with pytest.raises(ModelError, match=r"isn't a file of safetensors.*metrichub convert"):
        scored(model, row, head=str(tmp_path / "head.bin"))
    with pytest.raises(ParameterError, match="granularity"):
        load_metric("summac", granularity="word")
    shutil.copytree(model, tmp_path / "model")
    path = tmp_path / "model/config.json"
    labels = {"0": "entailment", "1": "x", "2": "y"}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"id2label": labels}))
    with pytest.raises(ModelError, match="no label for contradiction, which summac needs"):
        scored(tmp_path / "model", row, variant="zs")
    assert scored(tmp_path / "model", row, variant="zs", contradiction=False).scores()


def test_the_signature_names_the_head(model: Path, tmp_path: Path) -> None:
    head = write_head(tmp_path / "head.safetensors", CONVOLVED[0])
    signature = scored(model, CONVOLVED[0], head=str(head)).signatures()["summac"]
    assert read_head(str(head), "percentile", 1).digest in signature
    assert str(tmp_path) not in signature


def test_two_workers_give_what_one_process_gives(model: Path) -> None:
    hub = Hub(load_metric("summac", model=str(model), variant="zs"))
    samples = [
        {"id": str(number), "predictions": [text], "source": STORY}
        for number, text in enumerate(STORY.split(". ") * 4)
    ]
    report = hub.evaluate(samples)
    parts = hub.evaluate(iter([samples[:5], samples[5:]]), workers=2)
    assert parts.signatures() == report.signatures()
    np.testing.assert_allclose(
        parts.samples()["summac"]["score"], report.samples()["summac"]["score"], atol=1e-6
    )


class _Contract(MetricContract):
    metric = "summac"
    parameters: ClassVar[Mapping[str, Any]] = {}
    variant: ClassVar[str]

    @pytest.fixture(autouse=True)
    def _model(
        self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path_factory.getbasetemp() / "summac_toy"
        if not folder.exists():
            toys.write_model(folder, auto="AutoModelForSequenceClassification", id2label=LABELS)
            write_head(folder / "head", CONVOLVED[0])
        named = {"model": str(folder), "head": str(folder / "head"), "variant": self.variant}
        monkeypatch.setattr(type(self), "parameters", named)


class TestConvolved(_Contract):
    variant = "conv"


class TestZeroShot(_Contract):
    variant = "zs"
