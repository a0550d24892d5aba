"""The machine: which device models run on, with how many threads, and how many tokens at a time."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec

from metrichub.authoring import processes

DEVICE = "METRICHUB_DEVICE"
"""Where a machine says which device models run on, such as "cpu" or "cuda:1"."""
CPU_TOKENS, GPU_TOKENS = 4_096, 32_768
"""The budget of a batch: on a CPU more tokens gain nothing, and padding grows with them."""


@cache
def device() -> str:
    """The device that models run on: METRICHUB_DEVICE, or else a GPU if there is one."""
    if chosen := os.environ.get(DEVICE):
        return chosen
    if find_spec("torch") is None:
        return "cpu"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def budget() -> int:
    """How many tokens a batch has at most."""
    return CPU_TOKENS if device() == "cpu" else GPU_TOKENS


def threads() -> int | None:
    """How many threads a model gets where several processes share the machine; None if alone."""
    beside = processes()
    return None if beside == 1 else max(1, (os.cpu_count() or 1) // beside)
