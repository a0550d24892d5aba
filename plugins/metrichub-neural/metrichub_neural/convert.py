"""`metrichub convert`: checkpoints and pickled weights as safetensors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from metrichub.authoring import Command
from metrichub.errors import MissingDependency, MissingModel, ModelError

PICKLES = ("pytorch_model*.bin", "*.ckpt", "*.pt", "*.pth", "checkpoints/*.ckpt")
HYPERPARAMETERS = "hyperparameters.json"
"""What is kept of a checkpoint beside its weights."""
_DENSE = "*_Dense/pytorch_model.bin"
_OF_BASE = (
    "config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "vocab.*",
    "merges.txt",
    "s*.model",
)


@click.command(cls=Command, short_help="Convert pickled weights to safetensors.")
@click.argument("path")
@click.option("--to", "folder", metavar="FOLDER", help="Where to write.  [default: beside PATH]")
@click.option("--base", metavar="MODEL", help="The model that it was trained from.")
def convert(path: str, folder: str | None, base: str | None) -> None:
    """Convert pickled weights (.bin, .pt, .pth) and Lightning checkpoints (.ckpt) to safetensors.

    PATH is a file, a folder, or the name of a downloaded model. Only tensors and hyperparameters
    are kept. The file is read in a process of its own that runs none of its code; what isn't
    tensors or plain values is refused. A checkpoint without a configuration and a tokenizer gets
    those of the model that it was trained from.

    metrichub convert Unbabel/wmt22-comet-da
    """
    source, pickles = _found(path)
    target = Path(folder).expanduser() if folder else source
    target.mkdir(parents=True, exist_ok=True)
    if target != source:
        _copy(source, target, ("*.json", "*.txt", "*.model", "*_Pooling/*.json"))
    written = _shards(pickles, target) if pickles else []
    dense = [] if Path(path).is_file() else sorted(source.glob(_DENSE))
    for pickle in dense:
        place = target / pickle.parent.name
        place.mkdir(exist_ok=True)
        if place != pickle.parent:
            _copy(pickle.parent, place)
        written.append(_converted(pickle, place / "model.safetensors"))
    _keep_hyperparameters(source, target, written)
    _complete(source, target, base)
    for pickle, answer in zip([*pickles, *dense], written, strict=True):
        click.echo(f"{pickle}: {len(answer['tensors'])} tensors, sha256:{answer['sha256']}")
    click.echo(str(target.resolve()))


def _found(path: str) -> tuple[Path, list[Path]]:
    """The folder of a model, and the pickles in it; of a single file, that one."""
    place = Path(path).expanduser()
    if place.is_file():
        return place.parent.parent if place.parent.name == "checkpoints" else place.parent, [place]
    folder = place if place.is_dir() else _downloaded(path)
    # Beside a model's weights in a training's folder are those of its optimizer.
    whole = sorted(folder.glob(PICKLES[0]))
    pickles = whole or sorted({found for each in PICKLES for found in folder.glob(each)})
    if not pickles and not any(folder.glob(_DENSE)):
        raise ModelError(f"{path} has no pickle to convert ({', '.join(PICKLES)}) in {folder}")
    if len(pickles) > 1 and not whole:
        names = ", ".join(str(pickle.relative_to(folder)) for pickle in pickles)
        raise ModelError(f"{path} has several pickles; convert one of them by its path: {names}")
    return folder, pickles


def _downloaded(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        raise ModelError(
            f"there is no file or folder {name!r}, and no downloaded model of that name; "
            f"for a model of the hub: metrichub fetch --convert {name}"
        ) from None


def _shards(pickles: Sequence[Path], target: Path) -> list[dict[str, Any]]:
    """Convert one file, or each part of one, whose tensors an index then names."""
    if len(pickles) == 1:
        return [_converted(pickles[0], target / "model.safetensors")]
    names = [f"{pickle.stem.replace('pytorch_', '')}.safetensors" for pickle in pickles]
    written = [
        _converted(pickle, target / name) for pickle, name in zip(pickles, names, strict=True)
    ]
    places = {
        tensor: name
        for name, answer in zip(names, written, strict=True)
        for tensor in answer["tensors"]
    }
    index = {"metadata": {}, "weight_map": places}
    (target / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return written


def _converted(source: Path, target: Path) -> dict[str, Any]:
    """What a process of its own says of a file that it converted."""
    if target.is_file() and _metadata(target).get("origin") != source.name:
        raise ModelError(
            f"{target} is there already, and wasn't converted from {source}: name another folder "
            "with --to"
        )
    if other := _other_than_pickle(source):
        raise ModelError(f"{source} can't be converted: it {other}")
    if find_spec("torch") is None:
        install = "pip install 'metrichub-neural[torch]'"
        raise MissingDependency("metrichub convert", "torch", install)
    command = [sys.executable, "-m", "metrichub_neural.engine.pickles", str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    answer: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if done.returncode or not answer:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        answer = {"error": f"the process that read it broke off ({last})"}
    if "error" in answer:
        raise ModelError(f"{source} can't be converted: {answer['error']}")
    return answer


def _other_than_pickle(source: Path) -> str:
    """What a file is instead of pickled weights, and what to do; "" if it may be some."""
    with source.open("rb") as file:
        start = file.read(100)
    if start.startswith((b"PK\x03\x04", b"\x80")):
        return ""
    if other := other_than_weights(source):
        return other
    if start[8:9] == b"{":
        return "is a safetensors file, which needs no conversion"
    kind = "a text file" if start.isascii() and b"\0" not in start else "an unknown kind of file"
    return f"is {kind}, and not pickled weights; it begins with {start[:20]!r}"


def other_than_weights(path: Path) -> str:
    """What a file is that holds no weights, and what to do; "" if it may hold some."""
    with path.open("rb") as file:
        start = file.read(100)
    if start.startswith(b"version https://git-lfs"):
        return "is a pointer of Git LFS, and not the weights: run 'git lfs pull' where it is"
    if start.lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        return "is a web page, such as a site's error message; download the weights again"
    return "" if start else "is empty; download the weights again"


def origin_in(weights: Path) -> str | None:
    """The hash of the pickle that safetensors were converted from; None if they weren't."""
    digest = _metadata(weights).get("origin_sha256")
    return None if digest is None else f"sha256:{digest}"


def _metadata(weights: Path) -> dict[str, Any]:
    with weights.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = file.read(size) if size < weights.stat().st_size else b""
    # What isn't such a file is an error where it is loaded.
    try:
        return dict(json.loads(header)["__metadata__"])
    except (ValueError, LookupError, TypeError):
        return {}


def _keep_hyperparameters(source: Path, target: Path, written: Sequence[dict[str, Any]]) -> None:
    """Write what the checkpoint and the hparams.yaml beside it say, each as it is."""
    import yaml

    path = source / "hparams.yaml"
    try:
        file = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except yaml.YAMLError as error:
        raise ModelError(f"{path} can't be read: {' '.join(str(error).split())}") from error
    file = file if isinstance(file, dict) else {}
    both = {"file": file, "checkpoint": written[0]["hyperparameters"] if written else {}}
    if any(both.values()):
        (target / HYPERPARAMETERS).write_text(json.dumps(both, indent=1, default=str), "utf-8")


def _complete(source: Path, target: Path, base: str | None) -> None:
    """Add the configuration and the tokenizer that are missing."""
    from metrichub_neural.local_models import find_model

    if (target / "config.json").is_file() and base is None:
        return
    path = target / HYPERPARAMETERS
    said = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    both = {**said.get("file", {}), **said.get("checkpoint", {})}
    name = base or both.get("pretrained_model")
    if name is None:
        raise ModelError(
            f"{target} has the weights now, and still needs a config.json and a tokenizer: copy "
            "them there, or name the model that it was trained from, with --base"
        )
    needed_by = f"metrichub convert {source.name}"
    if Path(str(name)).is_dir():
        name = str(Path(str(name)).resolve())
    try:
        files = find_model(str(name), needed_by=needed_by, weights=False)
    except MissingModel as error:
        get = error.get.replace("fetch", "fetch --no-weights")
        raise MissingModel(needed_by, str(name), get) from None
    _copy(files.folder, target)


def _copy(source: Path, target: Path, patterns: Sequence[str] = _OF_BASE) -> None:
    found = {path for pattern in patterns for path in source.glob(pattern) if path.is_file()}
    for path in found:
        place = target / path.relative_to(source)
        place.parent.mkdir(exist_ok=True)
        # What is there may be a link into the hub's cache, whose file stays as it is.
        place.unlink(missing_ok=True)
        shutil.copyfile(path, place)
