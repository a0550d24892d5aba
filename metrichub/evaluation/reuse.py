"""Reuse: what a model on this machine gave for texts before, in the store of judges' answers.

A run that was killed goes on where it was, and texts that were scored once aren't read again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from metrichub.catalog.requirements import required_by, required_names
from metrichub.data.batch import View
from metrichub.errors import JudgeUnavailable, what
from metrichub.metric import Measured, Metric, Unscored

_SECONDS = 1.0
"""What takes less is measured again: a store of all that a server scores would only grow."""
ROWS = 32
"""Fewer aren't even looked for, which takes longer than a small model for a single text."""
_reuses: ContextVar[bool] = ContextVar("reuses", default=True)
_KINDS: dict[str, Callable[..., Any]] = {kind.__name__: kind for kind in (Measured, Unscored)}


@contextmanager
def nothing_reused() -> Iterator[None]:
    """Nothing is kept within, as where a training scores other texts at each step."""
    token = _reuses.set(False)
    try:
        yield
    finally:
        _reuses.reset(token)


def measured_once(metric: Metric, view: View, measure: Callable[[], Any]) -> Any:
    """The result of `measure`, or that of an earlier run of the same model and code on these texts.

    The metric resolves its model, and the revision of its files. The code is that of the packages
    of all its classes. Nothing is kept for code in no package, with METRICHUB_NO_CACHE, or where
    the store can't be used.
    """
    classes = (kind for kind in type(metric).__mro__ if issubclass(kind, Metric))
    packages = dict.fromkeys(kind.__module__.partition(".")[0] for kind in classes)
    code = [_code_of(package) for package in packages]
    if None in code or os.environ.get("METRICHUB_NO_CACHE") or not _reuses.get():
        return measure()
    from metrichub.models import store
    from metrichub.models.usage import Answer

    key, answers = _key(metric, view, code), None
    with suppress(JudgeUnavailable):
        answers = store.store()
        if answer := answers.get(key):
            # A damaged file may give anything.
            with suppress(ValueError):
                return untagged(json.loads(answer.reply))
            answers.drop(key)
    start = perf_counter()
    result = measure()
    if answers is not None and perf_counter() - start >= _SECONDS:
        # A row of a type that JSON doesn't have isn't kept.
        with suppress(JudgeUnavailable, TypeError):
            answer = Answer(json.dumps(tagged(result)), 0, 0)
            answers.put(key, str(metric.resolved()["model"]), answer)
    return result


def _key(metric: Metric, view: View, code: Sequence[str | None]) -> str:
    """The hash of the texts, of all that the metric is, and of the code that runs it."""
    runs_it = *code, _versions(tuple(metric.requires()))
    definition = metric.label(), metric.card.definition, *runs_it
    digest = hashlib.sha256(repr(definition).encode())
    for name, column in view.arguments.items():
        digest.update(repr((name, list(column))).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@cache
def _code_of(package: str) -> str | None:
    """The hash of a package's Python files; None for what isn't one, as in a notebook."""
    path = Path(getattr(sys.modules.get(package), "__file__", None) or "")
    if path.name != "__init__.py":
        return None
    files = sorted(path.parent.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@cache
def _versions(requirements: tuple[str, ...]) -> tuple[str, ...]:
    """The versions of what is required, and of what the core requires without an extra."""
    from importlib_metadata import distributions

    names = sorted({*required_names(requirements), *required_by("metrichub")})
    return tuple(each.version for name in names for each in distributions(name=name))


def tagged(value: object) -> object:
    """A row, or what a metric measured, in the types of JSON; `untagged` gives it back."""
    # Numbers first, as there are many of them.
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": str(value)}
    if value is None or isinstance(value, (str, int)):
        return value
    if type(value) is tuple:
        return {"tuple": [tagged(item) for item in value]}
    if isinstance(value, (Measured, Unscored)):
        return {type(value).__name__: [tagged(item) for item in value]}
    if isinstance(value, list):
        return [tagged(item) for item in value]
    if isinstance(value, Mapping):
        return {"mapping": [[tagged(key), tagged(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, tagged(value.tolist())]}
    raise TypeError(f"a row holds {what(value)}")


def untagged(value: Any) -> Any:
    """The value that `tagged` made this of."""
    if isinstance(value, list):
        return [item if type(item) is str else untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, inner),) = value.items()
    if tag == "array":
        return np.array(untagged(inner[1]), inner[0])
    if tag == "tuple":
        return tuple(map(untagged, inner))
    if tag == "mapping":
        return {untagged(key): untagged(item) for key, item in inner}
    if tag in _KINDS:
        return _KINDS[tag](*map(untagged, inner))
    return float(inner)
