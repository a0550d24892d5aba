"""`metrichub convert`: tensors out of pickles, none of whose code runs."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys

from metrichub import Hub, ModelError, load_metric

torch = toys.torch


def metrichub(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the program says."""
    return subprocess.run(
        [sys.executable, "-m", "metrichub", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def refused(*arguments: object) -> str:
    """The one line of a command that ends with an error."""
    done = metrichub(*arguments)
    assert done.returncode == 5, done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line


def pickled(folder: Path, source: Path, name: str = "pytorch_model.bin") -> Path:
    """A copy of a model whose weights are a pickle."""
    from safetensors.torch import load_file

    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    torch.save(load_file(source / "model.safetensors"), folder / name)
    return folder


BOTH = {"predictions": ["a cat sat"], "references": ["the cat sat on it"]}


def bertscore(folder: Path) -> Any:
    return Hub(load_metric("bertscore", model=str(folder), layer=2)).evaluate(**BOTH)


def test_a_pickled_model_scores_as_its_safetensors_do(bert: Path, tmp_path: Path) -> None:
    folder = pickled(tmp_path / "old", bert)
    with pytest.raises(ModelError, match=rf"only pytorch_model.bin: metrichub convert {folder}"):
        bertscore(folder)
    done = metrichub("convert", folder)
    assert done.returncode == 0, done.stderr
    converted = bertscore(folder)
    assert converted.scores() == bertscore(bert).scores()
    digest = hashlib.sha256((folder / "pytorch_model.bin").read_bytes()).hexdigest()
    assert f"origin='sha256:{digest}'" in converted.signatures()["bertscore"]
    assert "origin=" not in bertscore(bert).signatures()["bertscore"]


def test_the_optimizer_beside_a_model_is_not_its_weights(bert: Path, tmp_path: Path) -> None:
    folder = pickled(tmp_path / "old", bert)
    for name in ("optimizer.pt", "rng_state.pth"):
        torch.save({"step": torch.zeros(1)}, folder / name)
    # A metric of words asks for the conversion, too.
    with pytest.raises(ModelError, match=f"only .*pytorch_model.bin.*: metrichub convert {folder}"):
        Hub(load_metric("embedding_average", model=str(folder)))(**BOTH)
    done = metrichub("convert", folder)
    assert done.returncode == 0, done.stderr
    assert bertscore(folder).scores() == bertscore(bert).scores()


def test_parts_become_parts_that_an_index_names(bert: Path, tmp_path: Path) -> None:
    folder = pickled(tmp_path / "old", bert)
    tensors = torch.load(folder / "pytorch_model.bin", weights_only=True)
    (folder / "pytorch_model.bin").unlink()
    for part in (1, 2):
        some = dict(list(tensors.items())[part - 1 :: 2])
        torch.save(some, folder / f"pytorch_model-0000{part}-of-00002.bin")
    done = metrichub("convert", folder, "--to", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    assert bertscore(tmp_path / "new").scores() == bertscore(bert).scores()
    assert not list(folder.glob("*.safetensors"))


def test_a_link_into_a_cache_is_replaced_and_not_written_through(
    bert: Path, tmp_path: Path
) -> None:
    folder = pickled(tmp_path / "old", bert)
    blob = tmp_path / "blob"
    blob.write_text("{}")
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to(blob)
    assert metrichub("convert", folder, "--base", bert).returncode == 0
    assert blob.read_text() == "{}"
    assert (folder / "config.json").read_text() == (bert / "config.json").read_text()


def test_safetensors_of_others_are_not_written_over(bert: Path, tmp_path: Path) -> None:
    folder = pickled(tmp_path / "old", bert)
    shutil.copy(bert / "model.safetensors", folder)
    assert "model.safetensors is there already" in refused("convert", folder)
    (folder / "model.safetensors").unlink()
    # Its own it writes again, and those of another pickle not.
    assert metrichub("convert", folder).returncode == metrichub("convert", folder).returncode == 0
    torch.save({"a": torch.ones(2)}, folder / "other.pt")
    message = refused("convert", folder / "other.pt")
    assert "and wasn't converted from" in message
    assert message.endswith("name another folder with --to")


class _Callback:
    """What a training run leaves under the name of a library that isn't here."""

    def __init__(self) -> None:
        self.best = 0.5


def lightning(monkeypatch: pytest.MonkeyPatch) -> type:
    """A class that pickles name `pytorch_lightning.callbacks.ModelCheckpoint`."""
    home = "pytorch_lightning.callbacks"
    module = types.ModuleType(home)
    callback = type("ModelCheckpoint", (_Callback,), {"__module__": home})
    monkeypatch.setattr(module, "ModelCheckpoint", callback, raising=False)
    monkeypatch.setitem(sys.modules, "pytorch_lightning", types.ModuleType("pytorch_lightning"))
    monkeypatch.setitem(sys.modules, home, module)
    return callback


def test_a_lightning_checkpoint_leaves_tensors_and_hyperparameters(
    tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    callback = lightning(monkeypatch)
    weight = torch.arange(6.0).reshape(2, 3)
    content = {
        "epoch": 3,
        "pytorch-lightning_version": "1.3.5",
        "callbacks": {callback: {"best": torch.tensor(0.5)}, "one": callback()},
        "optimizer_states": [{"state": {0: {"exp_avg": torch.ones(2, 3)}}}],
        "lr_schedulers": [],
        "hparams_name": "kwargs",
        "hyper_parameters": {"layer": "mix", "hidden_sizes": [3072, 1024], "score": None},
        "options": argparse.Namespace(seed=3),
        "best_loss": np.float64(0.5),
        # Two names of one tensor, and a part of another.
        "state_dict": {"module.a": weight, "module.b": weight, "module.c": weight[:, 1:]},
    }
    (tmp_path / "checkpoints").mkdir()
    torch.save(content, tmp_path / "checkpoints/model.ckpt")
    (tmp_path / "hparams.yaml").write_text("class_identifier: regression_metric\n")
    done = metrichub("convert", tmp_path, "--base", bert)
    assert done.returncode == 0, done.stderr
    from safetensors.torch import load_file

    tensors = load_file(tmp_path / "model.safetensors")
    assert {name: tensor.tolist() for name, tensor in tensors.items()} == {
        "a": [[0, 1, 2], [3, 4, 5]],
        "b": [[0, 1, 2], [3, 4, 5]],
        "c": [[1, 2], [4, 5]],
    }
    assert json.loads((tmp_path / "hyperparameters.json").read_text()) == {
        "file": {"class_identifier": "regression_metric"},
        "checkpoint": {"layer": "mix", "hidden_sizes": [3072, 1024], "score": None},
    }
    assert (tmp_path / "tokenizer.json").is_file()


class _Evil:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (self.command,)


@pytest.mark.parametrize("zipped", [True, False])
def test_code_in_a_pickle_is_refused_by_name_and_does_not_run(
    tmp_path: Path, bert: Path, zipped: bool
) -> None:
    folder = pickled(tmp_path / "evil", bert)
    path, marker = folder / "pytorch_model.bin", tmp_path / "ran"
    content = {"weight": torch.ones(2), "more": _Evil(f"touch {marker}")}
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    line = refused("convert", folder)
    assert f"{path} can't be converted" in line
    assert "posix.system" in line
    assert not list(folder.glob("*.safetensors*"))
    assert not marker.exists()
    # The file does what it says if it is let.
    torch.load(path, weights_only=False)
    assert marker.exists()


def test_what_cannot_be_converted_is_one_line(tmp_path: Path, bert: Path) -> None:
    folder = pickled(tmp_path / "old", bert)
    path = folder / "pytorch_model.bin"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert f"{path} can't be converted" in refused("convert", folder)
    path.write_bytes(content[:40])
    assert "it is cut off; download the weights again" in refused("convert", folder)
    path.write_bytes(b"\x80\x02no pickle at all")
    assert f"{path} can't be converted" in refused("convert", folder)
    torch.save([torch.ones(2)], path)
    assert "it is a list, not a table of tensors" in refused("convert", folder)
    torch.save({"epoch": 3}, path)
    assert "it has no tensors" in refused("convert", folder)
    path.unlink()
    assert f"{folder} has no pickle to convert" in refused("convert", folder)
    assert "there is no file or folder 'toys/none'" in refused("convert", "toys/none")
    for name in ("base.ckpt", "large.ckpt"):
        torch.save({"a": torch.ones(2)}, folder / name)
    line = refused("convert", folder)
    assert "convert one of them by its path: base.ckpt, large.ckpt" in line


def test_weights_without_a_configuration_need_the_model_they_were_trained_from(
    tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bart.pth"
    torch.save({"a": torch.ones(2)}, path)
    assert "name the model that it was trained from, with --base" in refused("convert", path)
    hyperparameters = {"pretrained_model": "toys/none"}
    torch.save({"state_dict": {"a": torch.ones(2)}, "hyper_parameters": hyperparameters}, path)
    assert refused("convert", path).endswith("metrichub fetch --no-weights toys/none")
    # A folder needs no dot before it here.
    shutil.copytree(bert, tmp_path / "base")
    monkeypatch.chdir(tmp_path)
    done = metrichub("convert", "bart.pth", "--base", "base")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path)
