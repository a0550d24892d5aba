"""The machine: which device models run on, with how many threads, and how many tokens at a time."""

from __future__ import annotations

import math
import os
import sys
from functools import cache
from importlib.util import find_spec

from metrichub.authoring import processes
from metrichub.errors import ModelError

DEVICE = "METRICHUB_DEVICE"
"""Where a machine says which device models run on, such as "cpu" or "cuda:1"."""
CPU_TOKENS, GPU_TOKENS = 4_096, 32_768
"""The budget of a batch: on a CPU more tokens gain nothing, and padding grows with them."""
CPU_TEXTS, GPU_TEXTS = 16_384, 2_048
"""Each sentence beside each other soon makes millions of pairs."""
CPU_CHARACTERS, GPU_CHARACTERS = 250_000, 1_000_000
"""How much text is sorted by length, and kept, at a time: on a GPU less pads a fifth more."""
MEMORY = "METRICHUB_MODEL_MEMORY"
"""Where a machine says how many gigabytes a process's models may take."""


@cache
def device() -> str:
    """The device that models run on: METRICHUB_DEVICE, or else a GPU if there is one.

    Raises:
        ModelError: METRICHUB_DEVICE is none that this machine has.
    """
    chosen = os.environ.get(DEVICE)
    if find_spec("torch") is None:
        return chosen or "cpu"
    import torch

    kinds = {"cuda": torch.cuda, "mps": torch.backends.mps, "xpu": torch.xpu}
    gpus = [name for name, kind in kinds.items() if kind.is_available()]
    if not chosen:
        return next(iter(gpus), "cpu")
    try:
        torch.empty(0, device=chosen)
    # Some builds without a kind of GPU only assert it.
    except (AssertionError, RuntimeError) as error:
        has = ", ".join(["cpu", *gpus])
        raise ModelError(
            f"{DEVICE}={chosen} isn't a device of this machine: choose {has}"
        ) from error
    return chosen


def description() -> str:
    """The device, and what its models may take, in words."""
    name, memory = device(), model_memory()
    words = [name]
    if name.startswith("cuda"):
        import torch

        words.append(torch.cuda.get_device_name(name))
    # Windows doesn't say how much there is.
    if memory < math.inf:
        words.append(f"{memory / 1e9:.3g} GB for models")
    return ", ".join(words)


def budget() -> int:
    """How many tokens a batch has at most."""
    return CPU_TOKENS if device() == "cpu" else GPU_TOKENS


def portion() -> int:
    """How many texts are made into tokens at a time; on a GPU, while it works on others."""
    return CPU_TEXTS if device() == "cpu" else GPU_TEXTS


def padding() -> float:
    """How many tokens a batch has at most for each real one, if it isn't small.

    On a GPU, starting a batch takes longer than that much padding.
    """
    return 1.03 if device() == "cpu" else 1.1


@cache
def model_memory() -> float:
    """How many bytes a process's models may take: METRICHUB_MODEL_MEMORY, or else half of all.

    Processes that share a CPU share its half.

    Raises:
        ModelError: METRICHUB_MODEL_MEMORY isn't a number of gigabytes.
    """
    if chosen := os.environ.get(MEMORY):
        if not chosen.replace(".", "", 1).isdigit():
            raise ModelError(f"{MEMORY} is a number of gigabytes, such as 8, not {chosen!r}")
        return float(chosen) * 1e9
    if device().startswith("cuda"):
        import torch

        return float(torch.cuda.mem_get_info(device())[1]) / 2
    if sys.platform == "win32":
        return math.inf
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 / processes()


def threads() -> int | None:
    """How many threads a model gets where several processes share the machine; None if alone."""
    beside = processes()
    return None if beside == 1 else max(1, (os.cpu_count() or 1) // beside)
