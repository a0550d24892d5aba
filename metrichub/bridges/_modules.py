"""Modules of evaluate as they are found and loaded, and the columns that they take."""

from __future__ import annotations

import json
import os
import re
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.data.columns import column_of
from metrichub.data.values import Objects, json_value, sample_error
from metrichub.errors import MetricError, MissingDependency, UnknownMetric, listed, what
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
        """The module's name: "mine" for "./metrics/mine" and "someone/mine"."""
        return re.sub(r"\W", "_", Path(self.path).stem)


def _whole_number(value: Any) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise ValueError
    return int(value)


_CASTS = {"string": str, "large_string": str, "int": _whole_number, "float": float}
_KINDS = {str: "texts", _whole_number: "whole numbers", float: "numbers", None: "lists or objects"}


class Feature(NamedTuple):
    """A column that a module takes: of what kind a sample's value is, as `datasets` says it.

    `many` says that all items of a sample make a list, so that one alone is a list of one.
    """

    name: str
    kind: Any
    many: bool

    @property
    def text_of(self) -> Objects | None:
        """How a sample's value gets here as one text; None for texts and lists of references."""
        leaf = _item(self.kind) if self.many else self.kind
        return None if _cast(leaf) is str else _JSON

    def value(self, items: Sequence[Any], sample: int, module: str) -> Any:
        """A sample's value as the module takes it.

        Raises:
            InputError: it takes one and there are several, or this is of another kind.
        """
        value: Any = list(items)
        if self.text_of and len(items) == 1:
            value = _read(items[0])
            value = value if isinstance(value, list) or not self.many else [value]
        elif _cast(self.kind):
            if len(items) != 1:
                count = f"has {len(items)} items, and {module} takes one per sample"
                raise sample_error(column_of(self.name), sample, count)
            value = items[0]
        try:
            return _converted(value, self.kind, module)
        except ValueError as error:
            raise sample_error(column_of(self.name), sample, str(error)) from None


def _json_of(value: Any) -> str:
    text = json.dumps(json_value(value))
    if text == "null" or isinstance(value, (bytes, bytearray)):
        missing = "is missing; leave the sample out of every column"
        raise ValueError(missing if text == "null" else f"is {what(value)}; decode it")
    return text


_JSON = Objects(_json_of, single=True)


def _read(text: Any) -> Any:
    """The value that a text of JSON holds, or the text itself."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _converted(value: Any, kind: Any, module: str) -> Any:
    """A value as a module takes it; a `ValueError` says what it is instead."""
    item, cast = _item(kind), _cast(kind)
    if isinstance(kind, Mapping):
        takes = f"{module} takes an object with {listed(kind)}"
        if not isinstance(value, Mapping):
            raise ValueError(f"is {what(value)}; {takes}")
        if lacking := [key for key in kind if key not in value]:
            raise ValueError(f"lacks {listed(map(repr, lacking))}; {takes}")
        return {key: _converted(value[key], kind[key], module) for key in kind}
    if item is not None:
        if not isinstance(value, list):
            raise ValueError(f"is {what(value)}; {module} takes a list of {_KINDS[_cast(item)]}")
        return [_converted(part, item, module) for part in value]
    assert cast is not None
    try:
        if value is None or isinstance(value, (list, Mapping)):
            raise ValueError
        return cast(value)
    except ValueError:
        number = "int" if cast is _whole_number else cast.__name__
        shown = repr(value)[:40]
        raise ValueError(f"contains no {number}, which {module} takes: {shown}") from None


def _cast(kind: Any) -> Any:
    """The type of a kind of `datasets`, as a function; None for lists, objects and all else."""
    dtype = str(getattr(kind, "dtype", ""))
    return _CASTS.get(dtype) or _CASTS.get(re.sub(r"^u|\d+$", "", dtype))


def _leaves(kind: Any) -> Iterator[Any]:
    """The kinds of what lists and objects hold in the end."""
    parts = kind.values() if isinstance(kind, Mapping) else [_item(kind)]
    for part in parts:
        yield from [kind] if part is None else _leaves(part)


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
        if os.path.isfile(place):
            raise MetricError(
                f"evaluate can't load the module {place!r}, as a file that it imports isn't here: "
                f"{error_line(error)}"
            ) from error
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
    """The columns that a module takes, by the one or several schemas that it names.

    Raises:
        MetricError: it holds what is neither text nor a number.
    """
    listed_schemas = schemas if isinstance(schemas, list) else [schemas]
    all_schemas = [_with_lists(schema) for schema in listed_schemas]
    one_prediction = any(
        "predictions" in schema and _item(schema["predictions"]) is None for schema in all_schemas
    )
    for column in all_schemas[0]:
        kinds = [schema[column] for schema in all_schemas]
        lists = [kind for kind in kinds if _item(kind) is not None]
        plain = [kind for kind in kinds if _item(kind) is None]
        # A sample has one prediction, and as many references as the module takes.
        kind = lists[0] if lists and (not plain or column != "predictions") else plain[0]
        for leaf in _leaves(kind):
            if _cast(leaf) is None:
                dtype = getattr(leaf, "dtype", type(leaf).__name__)
                raise MetricError(
                    f"{name} takes {dtype} as {column}; a hub has texts, numbers, and lists and "
                    "objects of them"
                )
        yield Feature(column, kind, _item(kind) is not None and one_prediction)


def _with_lists(kind: Any) -> Any:
    """A kind where a `Sequence` of objects is an object of lists, as in datasets 4 and later."""
    if isinstance(kind, Mapping):
        return {key: _with_lists(value) for key, value in kind.items()}
    item = _item(kind)
    if type(kind).__name__ == "Sequence" and isinstance(item, Mapping):
        return {key: [value] for key, value in _with_lists(item).items()}
    return [_with_lists(item)] if isinstance(kind, list) else kind


def _item(kind: Any) -> Any:
    """The kind of a list's items, by any name of lists in `datasets`; None for anything else."""
    return kind[0] if isinstance(kind, list) else getattr(kind, "feature", None)


def instance(origin: Origin) -> Any:
    """The module for this thread."""
    # One without samples has the length 0, and so is false.
    return _LOADED.modules[origin] if origin in _LOADED.modules else fetch(origin)[1]


def forget(origin: Origin) -> None:
    """Drop the module of this thread: it holds the samples of a call that failed."""
    _LOADED.modules.pop(origin, None)
