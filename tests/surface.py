"""The public names and their signatures, as text. `python -m tests.surface` writes them again.

A change of the public API shows up as a change of `tests/data/public.txt`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
import types
from collections.abc import Iterator
from pathlib import Path

BRIDGES = (
    *("eee", "evaluate", "inspect_ai", "lm_eval", "mlflow", "pyspark", "ray", "torchmetrics"),
    "transformers",
)
MODULES = (
    "metrichub",
    "metrichub.authoring",
    "metrichub.bridges",
    *(f"metrichub.bridges.{library}" for library in BRIDGES),
    "metrichub.text",
    "metrichub.text.highlight",
    "metrichub.agreement",
    "metrichub.testing",
    "metrichub.errors",
)
_MADE_BY_OTHERS = {"Report", "Ranking", "Comparison", "Interval", "RepeatedScore", "AgreementRow"}
"""Results, whose constructors nobody calls."""
PATH = Path(__file__).parent / "data" / "public.txt"


def surface() -> str:
    """Every name of every public module, with its signature and those of its methods."""
    lines = []
    for module in MODULES:
        lines += [module, *(f"    {line}" for line in _names(module)), ""]
    return "\n".join(lines)


def public(module: str) -> list[str]:
    """The public names of a module."""
    result = importlib.import_module(module)
    listed = getattr(result, "__all__", None)
    if listed is None:
        names = (name for name, value in vars(result).items() if _is_own(value, module))
        listed = [name for name in names if not name.startswith("_")]
    return sorted(listed)


def _is_own(value: object, module: str) -> bool:
    return getattr(value, "__module__", None) == module


def _names(module: str) -> Iterator[str]:
    result = importlib.import_module(module)
    for name in public(module):
        value = getattr(result, name)
        if isinstance(value, types.ModuleType):
            yield f"{name}: module"
        elif isinstance(value, type):
            yield from _class(name, value)
        elif inspect.isroutine(value):
            yield f"{_kind(value)} {name}{_signature(value)}"
        else:
            yield f"{name}: type alias"


def _class(name: str, kind: type) -> Iterator[str]:
    bases = [base.__name__ for base in kind.__bases__ if base is not object]
    yield f"class {name}({', '.join(bases)})" if bases else f"class {name}"
    is_made_here = name not in _MADE_BY_OTHERS and (
        dataclasses.is_dataclass(kind) or "__init__" in vars(kind) or hasattr(kind, "_fields")
    )
    if is_made_here:
        yield f"    {name}{_signature(kind)}"
    for member, value in sorted(_members(kind).items()):
        if member.startswith("_") and member != "__call__":
            continue
        if isinstance(value, (property, functools.cached_property)):
            yield f"    {member}: property"
        elif isinstance(value, (classmethod, staticmethod)):
            yield f"    {type(value).__name__} {member}{_signature(value.__func__)}"
        elif inspect.isfunction(value):
            yield f"    {_kind(value)} {member}{_signature(value)}"


def _members(kind: type) -> dict[str, object]:
    """The members of a class, with those of its bases that no public module names."""
    modules = [importlib.import_module(module) for module in MODULES]
    hidden = [
        base
        for base in reversed(kind.__mro__[1:])
        if base.__module__.startswith("metrichub.")
        and not any(getattr(module, base.__name__, None) is base for module in modules)
    ]
    return {name: value for base in [*hidden, kind] for name, value in vars(base).items()}


def _kind(function: object) -> str:
    return "async def" if inspect.iscoroutinefunction(function) else "def"


def _signature(value: object) -> str:
    try:
        result = inspect.signature(value)  # type: ignore[arg-type]  # checked by the caller
    except (TypeError, ValueError):
        return "(...)"
    return _plain(str(result))


def _plain(text: str) -> str:
    """The same for every Python and numpy: no addresses, no quotes around annotations."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text).replace("'", "").replace("typing.", "")
    return re.sub(r"ForwardRef\(((?:[^()]|\([^()]*\))*)\)", r"\1", text)


if __name__ == "__main__":
    PATH.write_text(surface(), encoding="utf-8")
