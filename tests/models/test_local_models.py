"""Models on this machine: found by name, folder or package, and fetched only by the command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from metrichub.authoring import find_model
from metrichub.errors import MissingModel, ModelError
from tests import hub_stub

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hub() -> Iterator[hub_stub.Hub]:
    with hub_stub.serving() as hub:
        yield hub


@pytest.fixture
def run(hub: hub_stub.Hub, tmp_path: Path) -> Run:
    """Runs Python with a cache of its own, and the stub as the hub."""
    # The client of the hub reads its settings once, when it is imported.
    environment = {**os.environ, "HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf")}
    environment |= {"HF_HUB_DISABLE_XET": "1"}

    def ran(*arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, env=environment, input=said, capture_output=True, text=True, check=False
        )

    return ran


def fetch(run: Run, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    return run("-m", "metrichub", "fetch", *arguments, said=said)


FIND = (
    "from metrichub.authoring import find_model\n"
    "found = find_model('toys/bert', {}, needed_by='toy')\n"
    "print(found.revision, *sorted(path.name for path in found.folder.iterdir()))\n"
)


def test_a_model_is_fetched_after_its_size_and_license_were_shown(
    run: Run, hub: hub_stub.Hub
) -> None:
    done = fetch(run, "toys/bert", said="n\n")
    assert f"toys/bert at {hub_stub.COMMIT}: 0.0 MB, license mit\ndownload it?" in done.stdout
    assert done.returncode == 130
    assert not [asked for asked in hub.asked if "/resolve/" in asked]
    done = fetch(run, "toys/bert", said="y\n")
    assert done.returncode == 0, done.stderr
    hub.asked.clear()
    # Neither the pickle nor the ONNX file nor the page.
    files = "config.json model.safetensors tokenizer.json"
    for revision in ("None", repr(hub_stub.COMMIT)):
        assert run("-c", FIND.format(revision)).stdout == f"{hub_stub.COMMIT} {files}\n"
    assert "toys/bert" in run("-m", "metrichub", "doctor").stdout
    assert hub.asked == []


def test_the_onnx_file_is_fetched_instead_where_one_asks_for_it(run: Run) -> None:
    assert fetch(run, "toys/bert", "--onnx", "--yes").returncode == 0
    found = run("-c", FIND.format(None)).stdout.split()[1:]
    assert found == ["config.json", "onnx", "tokenizer.json"]


def test_without_weights_only_what_reads_texts_is_fetched(run: Run) -> None:
    assert fetch(run, "toys/bert", "--no-weights", "--yes").returncode == 0
    found = run("-c", FIND.format(None)).stdout.split()[1:]
    assert found == ["config.json", "tokenizer.json"]


def test_looking_for_a_model_asks_nobody(run: Run, hub: hub_stub.Hub) -> None:
    done = run("-c", FIND.format(None))
    said = "toy needs the model toys/bert, which isn't on this machine: metrichub fetch toys/bert"
    assert done.stderr.splitlines()[-1] == f"metrichub.errors.MissingModel: {said}"
    assert hub.asked == []


def test_a_download_that_breaks_off_leaves_no_model(run: Run, hub: hub_stub.Hub) -> None:
    hub.cut = "model.safetensors"
    done = fetch(run, "toys/bert", "--yes")
    assert done.returncode == 5
    assert done.stderr.splitlines()[-1].startswith("metrichub: error: toys/bert can't be fetched")
    assert "model.safetensors" not in run("-c", FIND.format(None)).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["toys/bert", "--revision", "v9"], "toys/bert has no revision 'v9'"),
        (["toys/closed"], "toys/closed is gated: accept its license"),
        (["toys/none"], "the hub has no model 'toys/none', or it is private"),
        (["a b"], "'a b' isn't a valid name of a model"),
    ],
)
def test_what_cannot_be_fetched_is_one_line(run: Run, arguments: list[str], said: str) -> None:
    done = fetch(run, *arguments, "--yes")
    assert done.returncode == 5
    assert done.stderr.startswith(f"metrichub: error: {said}")
    assert len(done.stderr.splitlines()) == 1


def test_a_metric_s_name_is_no_model_s(run: Run, hub: hub_stub.Hub) -> None:
    done = fetch(run, "bleu", "--yes")
    assert done.returncode == 2
    said = "bleu is a metric and not a model; 'metrichub card bleu' says whether it needs one"
    assert said in done.stderr
    assert not hub.asked


def test_a_metric_of_a_plugin_that_is_not_installed_is_no_model(
    run: Run, hub: hub_stub.Hub
) -> None:
    done = fetch(run, "comet-kiwi", "--yes")
    assert "comet-kiwi isn't installed: " in done.stderr
    assert not hub.asked


def test_a_pickle_is_not_fetched(run: Run, hub: hub_stub.Hub) -> None:
    del hub.files["model.safetensors"]
    done = fetch(run, "toys/bert", "--yes")
    assert "toys/bert has no safetensors; its weights come as pytorch_model.bin" in done.stderr
    assert "'metrichub fetch --convert' turns it into safetensors" in done.stderr
    assert not [asked for asked in hub.asked if "/resolve/" in asked]


def test_a_hub_that_is_not_there_is_one_line(run: Run, hub: hub_stub.Hub) -> None:
    hub_is = f"import os; os.environ['HF_ENDPOINT'] = '{hub.address[:-2]}1'\n"
    done = run("-c", f"{hub_is}from metrichub.cli import main\nmain(['fetch', 'toys/bert'])")
    assert done.returncode == 5
    assert done.stderr.splitlines()[-1].startswith("metrichub: error: toys/bert can't be fetched")


# Folders and packages.


def folder(path: Path, weights: bytes = b"1") -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(weights)
    return path


def test_a_folder_is_known_by_the_hash_of_its_files(tmp_path: Path) -> None:
    one, same, other = (
        find_model(str(folder(tmp_path / name / "toy", weights)), needed_by="test")
        for name, weights in (("a", b"1"), ("b", b"1"), ("c", b"2"))
    )
    assert one.revision == same.revision != other.revision
    assert one.revision.startswith("sha256:")
    assert len(one.revision) == len("sha256:") + 40
    assert one.name == "toy"
    assert one.file("model.onnx", "model.safetensors") == one.folder / "model.safetensors"
    (one.folder / "README.md").write_text("no part of the model")
    assert find_model(str(one.folder), one.revision, needed_by="test").revision == one.revision
    with pytest.raises(ModelError, match=r"the files of toy have the hash sha256:.*, not sha256"):
        find_model(str(one.folder), other.revision, needed_by="test")


def test_files_that_change_are_of_another_revision(tmp_path: Path) -> None:
    path = folder(tmp_path / "toy")
    before = find_model(str(path), needed_by="test").revision
    (path / "model.safetensors").write_bytes(b"22")
    assert find_model(str(path), needed_by="test").revision != before


def test_a_package_brings_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder(tmp_path / "toy_weights" / "data" / "model")
    (tmp_path / "toy_weights" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    found = find_model("package:toy_weights", needed_by="test")
    assert (found.name, found.folder) == ("package:toy_weights", path)
    (tmp_path / "toy_empty").mkdir()
    (tmp_path / "toy_empty" / "__init__.py").touch()
    with pytest.raises(ModelError, match="the package toy_empty has no model"):
        find_model("package:toy_empty", needed_by="test")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("./nowhere", "toy needs the model ./nowhere, which isn't on this machine: no such folder"),
        ("package:toy_gone", "which isn't on this machine: pip install --no-deps toy-gone"),
        ("package:os.path", "which isn't on this machine"),
    ],
)
def test_a_model_that_is_not_here_is_said_with_how_to_get_it(name: str, said: str) -> None:
    with pytest.raises(MissingModel, match=said):
        find_model(name, needed_by="toy")
