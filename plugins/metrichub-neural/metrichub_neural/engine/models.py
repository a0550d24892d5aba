"""Models in memory: loaded once for all metrics and threads, within a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import RLock
from typing import Any, ParamSpec, TypeVar

from metrichub_neural.engine.machine import model_memory

P = ParamSpec("P")
T = TypeVar("T")

LOCK = RLock()
"""Held where a model is loaded or run: transformers imports its parts as they are needed, which
threads can't do at a time, and a model is changed for some of its runs."""
_MODELS: OrderedDict[Hashable, Any] = OrderedDict()


def loaded_once(load: Callable[P, T]) -> Callable[P, T]:
    """The same function, whose results are kept for all threads of the process.

    Where they take more memory than models may have, the least recently used ones are let go, but
    never the one that is asked for. A result's size is its `nbytes`, or that of its `runner`.
    """

    @wraps(load)
    def get(*args: P.args, **kwargs: P.kwargs) -> T:
        key = (load, args, *kwargs.items())
        with LOCK:
            most = model_memory()
            model: T = _MODELS[key] if key in _MODELS else load(*args, **kwargs)
            _MODELS[key] = model
            _MODELS.move_to_end(key)
            while len(_MODELS) > 1 and sum(map(_bytes, _MODELS.values())) > most:
                _MODELS.popitem(last=False)
            return model

    return get


def forget() -> None:
    """Let all models go."""
    with LOCK:
        _MODELS.clear()


def _bytes(model: Any) -> int:
    return int(getattr(model, "runner", model).nbytes)
