"""The names of classes that a data set of `datasets` has, where its columns have their numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, TypeAlias

from metrichub.data.values import column_of_path, inner_list
from metrichub.errors import InputError

Classes: TypeAlias = Any
"""The names in the order of their numbers; in a list for those of a list, or by an object's keys.

None where there are no classes.
"""


def classes_of(data: object) -> Mapping[str, Classes]:
    """The classes by column; Arrow tables and Parquet files carry those of their data set."""
    features: Any = getattr(data, "features", None)
    metadata = getattr(getattr(data, "schema", None), "metadata", None)
    if isinstance(data, dict):
        features = {name: v.features for name, v in data.items() if hasattr(v, "features")}
    if isinstance(metadata, dict) and b"huggingface" in metadata:
        features = json.loads(metadata[b"huggingface"]).get("info", {}).get("features")
    if not isinstance(features, Mapping) or "ClassLabel" not in str(features):
        return {}
    return {str(name): _classes(feature) for name, feature in features.items()}


def _classes(feature: Any) -> Classes:
    """The classes in a feature, an object of `datasets`, which isn't imported here, or its JSON."""
    if isinstance(feature, list):
        return [_classes(feature[0])]
    fields = feature if isinstance(feature, dict) else vars(feature)
    kind = fields.get("_type") if fields is feature else type(feature).__name__
    if kind is None:
        return {name: _classes(member) for name, member in fields.items()}
    if kind == "ClassLabel":
        return tuple(fields["names"])
    return [_classes(fields["feature"])] if "feature" in fields else None


def classes_at(columns: Mapping[str, Classes], path: str) -> Classes:
    """The classes of a column, or of what a path leads to in one."""
    column = column_of_path(path, columns)
    if column is None:
        return None
    classes = columns[column]
    for step in path.removeprefix(column).split(".")[1:]:
        inside = classes.get(step) if isinstance(classes, dict) else None
        classes = classes[0] if isinstance(classes, list) else inside
    return classes


def named(value: Any, classes: Classes) -> Any:
    """The value with names in place of numbers, None in that of -1, which stands for none."""
    value = value.tolist() if hasattr(value, "tolist") else value
    inner = classes[0] if isinstance(classes, list) else classes
    if isinstance(value, (list, tuple)):
        return [named(item, inner) for item in value]
    if isinstance(value, Mapping) and isinstance(inner, dict):
        # A list of objects may be an object of lists.
        return {key: named(item, inner.get(key)) for key, item in value.items()}
    if type(value) is int and isinstance(classes, tuple) and value < len(classes):
        return classes[value] if value >= 0 else None
    return value


def are_numbers(predictions: Iterable[Any], classes: Classes) -> bool | None:
    """Whether predictions hold numbers, also as text or in one, and no class's name; None for none.

    Raises:
        InputError: they may be either.
    """
    while isinstance(classes, list):
        classes = classes[0]
    lists = ([value] if (items := inner_list(value)) is None else items for value in predictions)
    values = [value for value in chain.from_iterable(lists) if value is not None]
    names = {*classes} if isinstance(classes, tuple) else set()
    a_name = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)
    if names and any(isinstance(value, str) and a_name.search(value) for value in values):
        return False
    if any(str(v) in names and classes[v : v + 1] != (str(v),) for v in values):
        raise InputError(
            f"predictions are numbers, and so are the names of the classes, {classes[0]!r} and so "
            "on; give predictions as texts if they are names"
        )
    return any(re.search(r"\d", str(value)) for value in values) or None
