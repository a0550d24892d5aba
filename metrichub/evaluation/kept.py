"""Kept measurements: what a model on this machine gave for texts, in the store of judges' answers.

A run that was killed goes on where it was, and texts that were scored once aren't read again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from metrichub.catalog.requirements import required_names
from metrichub.data.batch import View
from metrichub.errors import JudgeUnavailable, what
from metrichub.metric import Measured, Metric, Unscored

_SECONDS = 1.0
"""What takes less is measured again: a store of all that a server scores would only grow."""
_KINDS: dict[str, Callable[..., Any]] = {kind.__name__: kind for kind in (Measured, Unscored)}


def measured_once(metric: Metric, view: View, measure: Callable[[], Any]) -> Any:
    """The result of `measure`, or that of an earlier run of the same model and code on these texts.

    Only results of a model whose files are known by a hash are kept, unless METRICHUB_NO_CACHE is
    set; where the store can't be used, none are.
    """
    resolved = metric.resolved()
    code = _code_of(type(metric).__module__.partition(".")[0])
    off = bool(os.environ.get("METRICHUB_NO_CACHE"))
    if not {"model", "revision"} <= resolved.keys() or code is None or off:
        return measure()
    from importlib_metadata import PackageNotFoundError

    from metrichub.models import store
    from metrichub.models.usage import Answer

    answers = None
    with suppress(JudgeUnavailable, PackageNotFoundError):
        key, answers = _key(metric, view, code), store.store()
        if answer := answers.get(key):
            return untagged(json.loads(answer.reply))
    start = perf_counter()
    result = measure()
    if answers is not None and perf_counter() - start >= _SECONDS:
        # A row of a type that JSON doesn't have isn't kept.
        with suppress(JudgeUnavailable, TypeError):
            answers.put(key, str(resolved["model"]), Answer(json.dumps(tagged(result)), 0, 0))
    return result


def _key(metric: Metric, view: View, code: str) -> str:
    """The hash of the texts, of all that the metric is, and of the code that runs it."""
    import importlib_metadata

    versions = map(importlib_metadata.version, sorted(required_names(metric.requires())))
    definition = metric.label(), metric.card.definition, code, [*versions]
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


def tagged(value: object) -> object:
    """A row, or what a metric measured, in the types of JSON; `untagged` gives it back."""
    if type(value) is tuple:
        return {"tuple": [tagged(item) for item in value]}
    if isinstance(value, (Measured, Unscored)):
        return {type(value).__name__: [tagged(item) for item in value]}
    if isinstance(value, list):
        return [tagged(item) for item in value]
    if isinstance(value, Mapping):
        return {"mapping": [[tagged(key), tagged(item)] for key, item in value.items()]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, tagged(value.tolist())]}
    if value is None or isinstance(value, (str, int, float)):
        return value
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
