"""Reuse: what a model on this machine gave for texts before, in the store of judges' answers.

A run that was killed goes on where it was, and texts that were scored once aren't read again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from metrichub.catalog.parameters import values_of
from metrichub.catalog.requirements import required_by, required_names
from metrichub.data.batch import View
from metrichub.errors import JudgeUnavailable, what
from metrichub.metric import IMPORTED, Measured, Metric, Unscored

if TYPE_CHECKING:
    from metrichub.models.store import Store

T = TypeVar("T")
_SECONDS = 1.0
"""What takes less is measured again: a store of all that a server scores would only grow."""
ROWS = 32
"""Fewer aren't even looked for, which takes longer than a small model for a single text."""
_reuses: ContextVar[bool] = ContextVar("reuses", default=True)
_slow: set[bytes] = set()
"""The hashes of a model with the texts on which one of its metrics took so long.

Metrics of one model share its work, so that those after the first take no time of their own.
"""
_failed: set[Path] = set()
"""The stores that can't be used, each of whose uses may wait for seconds."""
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

    Nothing is kept with METRICHUB_NO_CACHE, or where the store can't be used.
    """
    off = os.environ.get("METRICHUB_NO_CACHE") or not _reuses.get()
    if off or (keys := _keys(metric, view)) is None:
        return measure()
    of_model, key = keys
    if answer := _with_store(lambda answers: answers.get(key)):
        # A damaged file may give anything.
        with suppress(Exception):
            return untagged(json.loads(answer.reply))
        _with_store(lambda answers: answers.drop(key))
    start = perf_counter()
    result = measure()
    if perf_counter() - start >= _SECONDS:
        _slow.add(of_model)
    # Files may have been replaced before they were read.
    if of_model in _slow and _keys(metric, view) == keys:
        from metrichub.models.usage import Answer

        # What can't be written isn't kept.
        with suppress(Exception):
            model = str(metric.resolved().get("model", metric.name))
            answer = Answer(json.dumps(tagged(result)))
            _with_store(lambda answers: answers.put(key, model, answer))
    return result


def _with_store(use: Callable[[Store], T]) -> T | None:
    """The result of a use of the store; None once one has failed, which is said."""
    from metrichub.models.store import store, store_path

    if (path := store_path()) not in _failed:
        try:
            return use(store())
        except JudgeUnavailable as error:
            import logging

            _failed.add(path)
            logging.getLogger("metrichub").warning("%s; what models give isn't kept", error)
    return None


def _keys(metric: Metric, view: View) -> tuple[bytes, str] | None:
    """The hash of model and texts, and that of all on which scores depend.

    None where no hash tells all of it: with objects among the columns or parameters, or code that
    isn't in a package's files, or can't be read.
    """
    kind = type(metric)
    # Whatever a metric raises here, it raises again where it measures, if that matters.
    with suppress(Exception):
        reuse_key = metric.reuse_key()
        code = None if reuse_key is None or "<locals>" in kind.__qualname__ else _code_of(kind)
        if code is not None:
            columns = json.dumps({name: tagged([*rows]) for name, rows in view.arguments.items()})
            of_model = hashlib.sha256(f"{reuse_key!r} {columns}".encode()).digest()
            parameters = metric.label(), json.dumps(tagged(values_of(metric)))
            runs_it = code, kind.__module__, kind.__qualname__, _versions(tuple(metric.requires()))
            of_all = repr((of_model, *parameters, metric.card.definition, *runs_it))
            return of_model, hashlib.sha256(of_all.encode()).hexdigest()
    return None


def _code_of(kind: type[Metric]) -> str | None:
    """The hash of the packages of a metric's classes.

    None for a class in no package, and where a file changed while this process ran: which of its
    versions runs isn't known.
    """
    names = dict.fromkeys(each.__module__.partition(".")[0] for each in kind.__mro__)
    packages = tuple(name for name in names if name not in sys.stdlib_module_names)
    files = [_files_of(package) for package in packages]
    if not all(files):
        return None
    states = map(os.stat, chain(*files))
    changed = max(max(state.st_mtime, state.st_ctime) for state in states)
    return None if changed > IMPORTED else _hash_of(packages)


def _files_of(package: str) -> list[str]:
    """The files of a package; none of one in an archive or with links to folders, or a notebook."""
    folder, name = os.path.split(getattr(sys.modules.get(package), "__file__", None) or "")
    walk = list(os.walk(folder)) if name == "__init__.py" else []
    if any(os.path.islink(os.path.join(at, inner)) for at, folders, _ in walk for inner in folders):
        return []
    files = (os.path.join(at, file) for at, _, names in walk for file in names)
    return sorted(file for file in files if "__pycache__" not in file)


@cache
def _hash_of(packages: tuple[str, ...]) -> str:
    """The hash of packages' code, and of the sizes and times of the files beside it."""
    digest = hashlib.sha256()
    for file in chain.from_iterable(map(_files_of, packages)):
        status = os.stat(file)
        is_code = file.endswith(".py")
        digest.update(repr((file, status.st_size, is_code or status.st_mtime_ns)).encode())
        digest.update(Path(file).read_bytes() if is_code else b"")
    return digest.hexdigest()


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
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if type(value) is tuple:
        return {"tuple": [tagged(item) for item in value]}
    if isinstance(value, (Measured, Unscored)):
        return {type(value).__name__: [tagged(item) for item in value]}
    if isinstance(value, list):
        return [tagged(item) for item in value]
    if isinstance(value, Mapping):
        return {"mapping": [[tagged(key), tagged(item)] for key, item in value.items()]}
    if type(value) is np.ndarray and value.dtype.kind in "biufU":
        return {"array": [value.dtype.str, tagged(value.ravel().tolist()), list(value.shape)]}
    raise TypeError(f"a row holds {what(value)}")


def untagged(value: Any) -> Any:
    """The value that `tagged` made this of."""
    if isinstance(value, list):
        return [item if type(item) is str else untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, inner),) = value.items()
    if tag == "array":
        # Reports of before had no shape, which nested lists have but where they are empty.
        dtype, items, *shape = inner
        array = np.array(untagged(items), dtype)
        return array.reshape(*shape) if shape else array
    if tag == "tuple":
        return tuple(map(untagged, inner))
    if tag == "mapping":
        return {untagged(key): untagged(item) for key, item in inner}
    if tag in _KINDS:
        return _KINDS[tag](*map(untagged, inner))
    return float(inner)
