"""Bridges: use metrichub in other libraries, and their metrics and results in a hub.

There is a module per library, with the same name; it imports the library inside the functions that
need it. `docs/BRIDGES.md` has an example for each.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = [
    *("eee", "evaluate", "inspect_ai", "lm_eval", "mlflow", "pyspark", "ray", "rewards"),
    *("torchmetrics", "transformers"),
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return __all__
