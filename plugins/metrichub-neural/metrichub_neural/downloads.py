"""Downloads: which files of a model the hub has, and getting them to this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from metrichub.errors import ModelError
from metrichub_neural.local_models import (
    DATA,
    MODULES,
    ONNX,
    TEXTS,
    WEIGHTS,
    fits,
    folder_of,
    misnamed,
)

_PICKLES = ("pytorch_model*.bin", "*.ckpt")
_TWICE = ("*.fp16.safetensors", "consolidated*.safetensors")
"""The same weights once more: in 16 bits, and as their authors' program has them."""
_PARTS = ("*_Transformer", "*_Pooling", "*_Dense", "checkpoints")
"""Folders of a model that are read too: of sentence-transformers, and of COMET."""
Weights = Literal["safetensors", "onnx", "pickle", "none"]
"""Which weights to download: `pickle` is safetensors too, where there are any."""


class Offer(NamedTuple):
    """A model on the hub: its commit, its license, and the files to download with their sizes."""

    name: str
    requested: str | None
    commit: str
    license: str
    files: Mapping[str, int]

    @property
    def pickles(self) -> list[str]:
        """The files that have to be converted."""
        return [file for file in self.files if fits(_name(file), _PICKLES)]


def offered(name: str, revision: str | None = None, *, weights: Weights = "safetensors") -> Offer:
    """The files that the hub has of a model; downloads none of them.

    Raises:
        ModelError: there is no such model or revision, it needs a login, has no such weights, or
            the hub can't be reached.
    """
    from huggingface_hub import HfApi

    with _reaching(name, revision):
        info = HfApi().model_info(name, revision=revision, files_metadata=True)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    files = {file: size for file, size in sizes.items() if _is_wanted(file, weights, sizes)}
    if weights != "none" and not any(fits(file, (*WEIGHTS, *_PICKLES)) for file in files):
        kind = "ONNX file" if weights == "onnx" else "safetensors"
        raise ModelError(
            f"{name} has no {kind}; its weights come as {', '.join(_others(sizes)) or 'nothing'}, "
            "and a pickle isn't loaded, since loading it may run code; 'metrichub fetch --convert' "
            "turns it into safetensors without running any"
        )
    license_ = getattr(info.card_data, "license", None) or "not stated"
    return Offer(name, revision, str(info.sha), str(license_), files)


def download(offer: Offer) -> Path:
    """Download the files into the hub's cache on this machine; returns their folder.

    Raises:
        ModelError: a file isn't there, or the disk is full.
    """
    from huggingface_hub import snapshot_download

    with _reaching(offer.name, offer.requested):
        # By the name that was asked for, so that it is found by the same name later.
        return Path(
            snapshot_download(
                offer.name, revision=offer.requested, allow_patterns=list(offer.files)
            )
        )


def _is_wanted(file: str, weights: Weights, files: Collection[str]) -> bool:
    if file in (*ONNX, *(f"{name}{end}" for name in ONNX for end in DATA)):
        return weights == "onnx"
    folder, name = file.rpartition("/")[0], _name(file)
    # Their settings, whatever their folders are called.
    if MODULES in files and file == f"{folder}/config.json":
        return "/" not in folder
    if folder and not fits(folder, _PARTS):
        return False
    if fits(name, (*TEXTS, "hparams.yaml")):
        return True
    safe = [other for other in files if other.rpartition("/")[0] == folder and _is_safe(other)]
    return (weights in ("safetensors", "pickle") and file in safe) or (
        weights == "pickle" and not safe and fits(name, _PICKLES)
    )


def _is_safe(file: str) -> bool:
    return file.endswith(".safetensors") and not fits(_name(file), _TWICE)


def _name(file: str) -> str:
    return file.rpartition("/")[2]


def _others(sizes: Mapping[str, int]) -> list[str]:
    ends = ("*.bin", "*.pt", "*.h5", "*.ckpt", "*.msgpack", *WEIGHTS)
    return [file for file in sizes if fits(file, ends)]


@contextmanager
def _reaching(name: str, revision: str | None) -> Iterator[None]:
    """Turn what the hub's client raises into one line."""
    from huggingface_hub import constants, errors

    try:
        yield
    except errors.GatedRepoError:
        raise ModelError(
            f"{name} is gated: accept its license on its page of the hub, then log in with "
            "'hf auth login'"
        ) from None
    except errors.RevisionNotFoundError:
        raise ModelError(f"{name} has no revision {revision!r}") from None
    except errors.RepositoryNotFoundError:
        raise ModelError(f"the hub has no model {name!r}, or it is private") from None
    except errors.HFValidationError:
        if folder_of(name):
            raise ModelError(f"{name} is a path: metrics take a folder as it is") from None
        raise misnamed(name) from None
    except (errors.LocalEntryNotFoundError, errors.HfHubHTTPError, OSError) as error:
        raise ModelError(f"{name} can't be fetched: {' '.join(str(error).split())}") from error
    # The client of HTTP that the hub's client uses differs with its version.
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("httpx", "httpx2", "httpcore"):
            raise
        reached = f"{constants.ENDPOINT} can't be reached ({error})"
        raise ModelError(f"{name} can't be fetched: {reached}") from error
