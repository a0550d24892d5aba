"""Pickled weights, read in a process of their own that runs none of their code, as safetensors."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from errno import EINVAL
from pathlib import Path
from typing import Any

_STAND_INS = (
    *("pytorch_lightning.", "lightning.", "omegaconf.", "argparse.Namespace"),
    *("numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar", "numpy.dtype"),
)
"""What the names of classes begin with that a training run leaves beside its weights, such as its
options and the best loss; no one needs them."""
_SAFE = (2, 6)
"""The first PyTorch whose `weights_only` runs nothing (CVE-2025-32434)."""


class _StandIn:
    """A stand-in for a class that isn't loaded."""

    def __new__(cls, *_: object, **__: object) -> _StandIn:
        return super().__new__(cls)

    def __init__(self, *_: object, **__: object) -> None: ...

    def __setstate__(self, _: object) -> None: ...


def read(path: Path) -> Mapping[str, Any]:
    """The tensors and plain values in a file.

    Raises:
        ValueError: it has something else, or can't be read; the text says what.
    """
    import torch
    from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

    try:
        names = list(get_unsafe_globals_in_checkpoint(str(path)))
    # A file of before PyTorch 1.6, which `load` reads all the same.
    except ValueError:
        names = []
    if refused := [name for name in names if not name.startswith(_STAND_INS)]:
        raise ValueError(f"it asks for {', '.join(refused)}, which could run code")
    stand_ins: list[Any] = [(type("StandIn", (_StandIn,), {}), name) for name in names]
    with safe_globals(stand_ins):
        content = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(content, Mapping):
        raise ValueError(f"it is a {type(content).__name__}, not a table of tensors by name")
    return content


def convert(source: Path, target: Path) -> dict[str, Any]:
    """Write a file's tensors, and return its hyperparameters, as far as they are plain values.

    Raises:
        ValueError: it isn't of tensors and plain values alone.
    """
    import torch
    from safetensors.torch import save_file

    content = read(source)
    named = content.get("state_dict", content)
    tensors = {name: value for name, value in named.items() if isinstance(value, torch.Tensor)}
    if not tensors:
        raise ValueError("it has no tensors")
    # What PyTorch puts before all names of a model that was trained on several GPUs.
    if all(name.startswith("module.") for name in tensors):
        tensors = {name.removeprefix("module."): value for name, value in tensors.items()}
    # The format has no tensors that share memory.
    addresses = [tensor.untyped_storage().data_ptr() for tensor in tensors.values()]
    for name, tensor in tensors.items():
        shared = addresses.count(tensor.untyped_storage().data_ptr()) > 1
        tensors[name] = tensor.clone().contiguous() if shared else tensor.contiguous()
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        metadata = {"format": "pt", "origin": source.name, "origin_sha256": digest}
        save_file(tensors, unfinished, metadata)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    hyperparameters = content.get("hyper_parameters")
    plain = dict(hyperparameters) if isinstance(hyperparameters, Mapping) else {}
    return {"tensors": list(tensors), "sha256": digest, "hyperparameters": plain}


def main(source: str, target: str) -> None:
    """Convert, and print what came of it as JSON."""
    try:
        import torch

        if tuple(int(part) for part in torch.__version__.split(".")[:2]) < _SAFE:
            raise ValueError("reading it safely takes torch>=2.6")
        answer: dict[str, Any] = convert(Path(source), Path(target))
    # Whatever the library raises for what it refuses, and for files that are cut off.
    except Exception as error:  # noqa: BLE001
        reason = " ".join(str(error).split())
        # What the library says before and after that is how to load it all the same.
        for start in ("trusted source. ", "Unpickler error: "):
            reason = reason.rpartition(start)[2]
        # Of a file that was cut off, the table at its end is missing, or what it is sought by.
        if "central directory" in reason or (isinstance(error, OSError) and error.errno == EINVAL):
            reason = "it is cut off; download the weights again"
        answer = {"error": reason.partition(" Check the documentation")[0]}
    print(json.dumps(answer, default=lambda value: None))


if __name__ == "__main__":
    main(*sys.argv[1:])
