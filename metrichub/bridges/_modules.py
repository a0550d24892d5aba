"""Modules of evaluate as they are found and loaded, and the columns that they take."""

from __future__ import annotations

import os
import re
import threading
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.data.columns import column_of
from metrichub.data.values import sample_error
from metrichub.errors import MetricError, MissingDependency, UnknownMetric
from metrichub.evaluation.explanation import error_line

SEED = 12345
"""Modules that draw at random, as rouge's aggregator does, draw the same each time."""
_SWITCHES = ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "HF_DATASETS_OFFLINE")
_ON = ("1", "ON", "YES", "TRUE")


class _Loaded(threading.local):
    """The modules of each thread, as one holds the samples of one call."""

    def __init__(self) -> None:
        self.modules: dict[Origin, Any] = {}


_LOADED = _Loaded()


class Origin(NamedTuple):
    """Which module: its absolute path or its name on the Hub, and the hash of its code."""

    path: str
    config_name: str | None
    revision: str | None
    code: str = ""

    @property
    def name(self) -> str:
        """What it is called: "mine" for "./metrics/mine" and "someone/mine"."""
        return re.sub(r"\W", "_", Path(self.path).stem)


class Feature(NamedTuple):
    """A column that a module takes: texts or numbers, one a sample or a list of them."""

    name: str
    cast: type
    many: bool

    def value(self, items: Sequence[str], sample: int, module: str) -> Any:
        """What the module takes for a sample.

        Raises:
            InputError: it takes one and there are several, or a number and this is none.
        """
        column = column_of(self.name)
        if not self.many and len(items) != 1:
            raise sample_error(
                column, sample, f"has {len(items)} items, and {module} takes one per sample"
            )
        try:
            values = tuple(map(self.cast, items))
        except ValueError:
            kind = f"no {self.cast.__name__}, which {module} takes"
            raise sample_error(column, sample, f"holds {kind}: {items[0][:40]!r}") from None
        return values if self.many else values[0]


def fetch(origin: Origin) -> tuple[Origin, Any]:
    """A module, whose code is imported and run, and its origin with the hash of that code.

    Raises:
        UnknownMetric: there is none, or it can't be fetched.
        MetricError: its code fails, or isn't that of `origin`.
        MissingDependency: evaluate isn't installed.
    """
    # Before evaluate is imported, which takes seconds.
    place = _resolved(origin.path)
    try:
        import evaluate
    except ImportError:
        raise MissingDependency(f"evaluate:{origin.path}", "evaluate") from None

    offline = next((name for name in _SWITCHES if os.environ.get(name, "").upper() in _ON), None)
    if offline:
        evaluate.config.HF_EVALUATE_OFFLINE = True
    try:
        module = evaluate.load(
            place,
            origin.config_name,
            revision=origin.revision,
            keep_in_memory=True,
            experiment_id=str(uuid.uuid4()),
        )
    except (FileNotFoundError, ConnectionError) as error:
        where = f"in evaluate's cache, and {offline} keeps it off" if offline else "here or on"
        raise UnknownMetric(
            f"there is no module {place!r} of evaluate {where} the Hugging Face Hub; the path of "
            "a folder starts with ./"
        ) from error
    # Whatever the code raises as it is imported.
    except Exception as error:
        raise MetricError(
            f"evaluate can't load the module {place!r}: {error_line(error)}"
        ) from error
    module.seed = SEED
    code = str(module._hash)[:12]  # noqa: SLF001  # evaluate tells it nowhere else
    if origin.code not in ("", code):
        raise MetricError(f"the code of {place} has changed since it was loaded; load it again")
    origin = Origin(place, origin.config_name, origin.revision, code)
    _LOADED.modules[origin] = module
    return origin, module


def _resolved(path: str) -> str:
    """The absolute path of a module here, or its name on the Hub."""
    here = Path(path).expanduser()
    script = here if here.suffix == ".py" else here / f"{here.name}.py"
    if script.is_file():
        return str(script.resolve())
    # evaluate would look for these on the Hub, or say that it did.
    if here.is_absolute() or path.startswith((".", "~")) or path.count("/") > 1 or here.suffix:
        raise UnknownMetric(f"there is no evaluate module at {path!r} (no file {str(script)!r})")
    return path


def features_of(name: str, schemas: Any) -> Iterator[Feature]:
    """What a module takes in each column, by the one or several schemas that it names.

    Raises:
        MetricError: it is neither text nor a number.
    """
    listed = schemas if isinstance(schemas, list) else [schemas]
    for column in listed[0]:
        kinds = [schema[column] for schema in listed]
        items = [item for item in map(_item, kinds) if item is not None]
        plain = [kind for kind in kinds if _item(kind) is None]
        # A sample has one prediction, and as many references as the module takes.
        many = bool(items) and (not plain or column != "predictions")
        dtype = str(getattr(items[0] if many else plain[0], "dtype", "lists of lists"))
        casts = {"string": str, "large_string": str, "int": int, "uint": int, "float": float}
        cast = casts.get(dtype) or casts.get(re.sub(r"\d+$", "", dtype))
        if cast is None:
            raise MetricError(f"{name} takes {dtype} as {column}; a hub has texts and numbers")
        yield Feature(column, cast, many)


def _item(kind: Any) -> Any:
    """What a list holds, by any of the names of lists in `datasets`; None for anything else."""
    return kind[0] if isinstance(kind, list) else getattr(kind, "feature", None)


def instance(origin: Origin) -> Any:
    """The module for this thread."""
    # One without samples has the length 0, and so is false.
    return _LOADED.modules[origin] if origin in _LOADED.modules else fetch(origin)[1]


def forget(origin: Origin) -> None:
    """Drop the module of this thread: it holds the samples of a call that failed."""
    _LOADED.modules.pop(origin, None)
