"""Models in memory: each is loaded once by any number of threads, and leaves for lack of room."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import weakref
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import test_comet
import toys
from metrichub_neural.engine import full, machine, models
from metrichub_neural.engine.batching import OutOfMemory
from metrichub_neural.engine.classifier import classifier_of
from metrichub_neural.engine.encoder import choose, encoder_of
from metrichub_neural.local_models import ModelFiles, find_model
from toys import texts

from metrichub import Hub, ModelError

PAIRS = {"predictions": texts(30, 1), "references": texts(30, 2), "sources": texts(30, 3)}
CLAIMS = {
    "predictions": [f"{text}." for text in texts(6, 1)],
    "contexts": [[f"{text}."] for text in texts(6, 2)],
    "sources": texts(6, 2),
}
LABELS = ("contradiction", "neutral", "entailment")


class Case(NamedTuple):
    """What is scored, with the folder of models in place of M, and how many models that needs."""

    metrics: list[str]
    models: int
    threads: int = 4
    workers: int = 1


def judged(number: int) -> str:
    return f"nli(model='M/nli{number}')"


PANEL = f"panel(judges={[judged(number) for number in range(3)]!r})"
COMETS = [f"x{number} = comet(model='M/comet{number}')" for number in range(3)]
CASES = {
    "two judges": Case([f"x{n} = faithfulness(judge={judged(n)!r})" for n in range(2)], 2, 1),
    "a panel": Case([f"faithfulness(judge={PANEL!r})"], 3, 1),
    "a panel in threads": Case([f"faithfulness(judge={PANEL!r})"], 3),
    "bertscore": Case(["bertscore(model='M/bert', layer=2)"], 1),
    "layers": Case([f"x{n} = bertscore(model='M/bert', layer={n})" for n in (2, 3)], 1),
    "sem_score": Case(["sem_score(model='M/bert')"], 1),
    "words": Case(["greedy_matching(model='M/bert')"], 1),
    "infolm": Case(["infolm(model='M/masked')"], 1),
    "bartscore": Case(["bartscore(model='M/bart')"], 1),
    "perplexity": Case(["perplexity(model='M/gpt2', start=False)"], 1),
    "text_classifier": Case(["text_classifier(model='M/nli0', target='neutral')"], 1),
    "summac": Case(["summac(model='M/nli0', variant='zs')"], 1),
    "comet": Case(COMETS[:1], 1),
    "three models and five blocks": Case(COMETS, 3, 1),
    "three models in two processes": Case(COMETS, 3, 1, 2),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the models of all cases."""
    folder = tmp_path_factory.mktemp("models")
    heads = {"bert": "AutoModel", "masked": "AutoModelForMaskedLM"}
    for name, auto in heads.items():
        toys.write_model(folder / name, "bert", auto)
    toys.write_model(folder / "gpt2", "gpt2", "AutoModelForCausalLM")
    toys.write_seq2seq(folder / "bart", "bart")
    named = dict(enumerate(LABELS))
    places = {label: place for place, label in named.items()}
    classes = {"id2label": named, "label2id": places}
    toys.write_model(folder / "nli0", auto="AutoModelForSequenceClassification", **classes)
    row = next(row for row in test_comet.ROWS if row["cls"] == "RegressionMetric")
    done = test_comet.metrichub("convert", test_comet.write_checkpoint(folder / "comet0", row))
    assert done.returncode == 0, done.stderr
    for kind in ("nli", "comet"):
        for number in (1, 2):
            shutil.copytree(folder / f"{kind}0", folder / f"{kind}{number}")
    return folder


def metrics_of(case: Case, folder: Path) -> list[str]:
    return [metric.replace("M/", f"{folder}/") for metric in case.metrics]


def columns_of(name: str) -> dict[str, Any]:
    return CLAIMS if "judge" in name or "panel" in name or name == "summac" else PAIRS


@pytest.fixture(scope="module")
def first_uses(folder: Path) -> dict[str, list[Any]]:
    """The scores of each case by thread, in a process that has used no model."""
    cases = [
        {
            "metrics": metrics_of(case, folder),
            "columns": columns_of(name),
            "threads": case.threads,
            "workers": case.workers,
            "loads": str(folder / f"{name}.txt"),
        }
        for name, case in CASES.items()
    ]
    script = Path(__file__).with_name("first_use.py")
    command = [sys.executable, str(script), json.dumps(cases)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_first_uses_are_right_and_load_each_model_once(
    name: str, folder: Path, first_uses: dict[str, list[Any]]
) -> None:
    case = CASES[name]
    expected = Hub(metrics_of(case, folder)).evaluate(columns_of(name)).flatten()
    assert first_uses[name] == [pytest.approx(expected, abs=1e-5)] * case.threads
    loaded = (folder / f"{name}.txt").read_text().splitlines()
    assert len(set(loaded)) == case.models
    assert len(loaded) == case.models * case.workers


def files_of(folder: Path, name: str) -> ModelFiles:
    return find_model(str(folder / name), needed_by="test")


def test_models_leave_where_their_bytes_are_too_many(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.forget()
    monkeypatch.setattr(models, "model_memory", lambda: float("inf"))
    first = classifier_of(files_of(folder, "nli0"), "float32")
    size = sum(tensor.nbytes for tensor in first.runner.model.state_dict().values())
    assert first.runner.nbytes == pytest.approx(size, rel=0.01)
    second = classifier_of(files_of(folder, "nli1"), "float32")
    assert classifier_of(files_of(folder, "nli0"), "float32") is first
    monkeypatch.setattr(models, "model_memory", lambda: 2.5 * size)
    # The second was used least recently, and nothing else holds it.
    gone = weakref.ref(second)
    del second
    classifier_of(files_of(folder, "nli2"), "float32")
    gc.collect()
    assert gone() is None
    assert classifier_of(files_of(folder, "nli0"), "float32") is first
    # The one that is asked for stays, however large it is.
    monkeypatch.setattr(models, "model_memory", lambda: 0.0)
    third = classifier_of(files_of(folder, "nli2"), "float32")
    assert classifier_of(files_of(folder, "nli2"), "float32") is third
    assert classifier_of(files_of(folder, "nli0"), "float32") is not first


def test_what_a_judge_has_asked_does_not_keep_its_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.forget()
    judge, embedder = f"nli(model='{folder}/nli0')", f"local(model='{folder}/bert')"
    Hub([f"faithfulness(judge={judge!r})", f"vendi(embedder={embedder!r})"])(**CLAIMS)
    held = [weakref.ref(model) for model in models._MODELS.values() if not isinstance(model, tuple)]
    held += [weakref.ref(model.runner) for model in models._MODELS.values()]
    assert len(held) >= 3
    models.forget()
    gc.collect()
    assert [model() for model in held] == [None] * len(held)


def test_layers_share_the_model(folder: Path) -> None:
    choices = [choose(str(folder / "bert"), None, n, "full", "float32", "test") for n in (1, 3)]
    first, second = (encoder_of(choice) for choice in choices)
    assert first.runner.model is second.runner.model
    for text, layer, encoder in (("a cat", 1, first), ("a cat", 3, second), ("a dog", 1, first)):
        expected = toys.hidden(folder / "bert", text, layer)
        np.testing.assert_allclose(encoder.vectors([text])[0].vectors, expected, atol=1e-5)


def test_the_memory_of_models_is_named_in_gigabytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = machine.model_memory.__wrapped__
    monkeypatch.setenv(machine.MEMORY, "1.5")
    assert memory() == 1.5e9
    monkeypatch.setenv(machine.MEMORY, "8GB")
    with pytest.raises(ModelError, match="METRICHUB_MODEL_MEMORY is a number of gigabytes"):
        memory()
    # The first model that is loaded asks for it, though it alone may take all.
    monkeypatch.setattr(models, "model_memory", memory)
    with pytest.raises(ModelError, match="not '8GB'"):
        classifier_of(files_of(folder, "nli0"), "float32")
    monkeypatch.delenv(machine.MEMORY)
    alone = memory()
    monkeypatch.setattr(machine, "processes", lambda: 4)
    assert alone == 4 * memory() > 0


def test_32_bits_that_do_not_fit_are_said_as_of_any_batch(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = full.TorchModel(full.load_model("AutoModel", files_of(folder, "bert"), "float16"), "a")

    def full_up() -> None:
        raise toys.torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(runner.model, "float", full_up)
    with pytest.raises(OutOfMemory):
        runner.run(lambda model: toys.torch.tensor([float("nan")]))
    assert runner.model.dtype == toys.torch.float16


def test_weights_go_to_the_device_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("accelerate") is None:
        pytest.skip("needs accelerate")
    monkeypatch.setattr(full, "device", lambda: "cpu:0")
    options: dict[str, Any] = {}
    load = toys.transformers.AutoModel.from_pretrained

    def recorded(*arguments: Any, **more: Any) -> Any:
        options.update(more)
        return load(*arguments, **more)

    monkeypatch.setattr(toys.transformers.AutoModel, "from_pretrained", recorded)
    model = full.load_model("AutoModel", files_of(folder, "bert"), "bfloat16")
    assert options["device_map"] == {"": "cpu:0"}
    assert {weight.dtype for weight in model.parameters()} == {toys.torch.bfloat16}
