"""Groups of options that reach a command as one value, so that commands can share them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def option_group(
    name: str, group: type, *options: Callable[[_Function], _Function]
) -> Callable[[_Function], _Function]:
    """Add options, in the order of the help, whose values a command takes as `name`, a `group`.

    `group` is a dataclass with a field for each option that has a value.
    """
    taken = [field.name for field in fields(group)]

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def grouped(*args: Any, **values: Any) -> Any:
            gathered = group(**{field: values.pop(field) for field in taken})
            return function(*args, **values, **{name: gathered})

        decorated: Any = grouped
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]  # wraps keeps what the function takes

    return decorate
