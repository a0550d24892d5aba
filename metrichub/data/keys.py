"""Keys: a number for every sample from columns that name it, equal wherever it is computed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.data.metadata import as_text
from metrichub.data.paths import named_values
from metrichub.data.values import without_numpy
from metrichub.errors import InputError, what


def read_keys(
    key: Sequence[str],
    available: Collection[str],
    values_of: Callable[[str], Iterable[Any]],
    size: int,
) -> NDArray[np.uint64]:
    """A hash of every sample's values in the columns of the key, (N,).

    Raises:
        MissingColumn: a column isn't there.
        InputError: a value is missing, or is neither text nor a number.
    """
    columns = []
    for name in key:
        values = named_values("the key", name, available, values_of, size)
        columns.append([_value(name, sample, value) for sample, value in enumerate(values)])
    hashes = (
        hashlib.blake2b(json.dumps(row).encode(), digest_size=8).digest()
        for row in zip(*columns, strict=True)
    )
    return np.frombuffer(b"".join(hashes), "<u8").astype(np.uint64)


def _value(name: str, sample: int, value: Any) -> str | int | float | bool:
    plain = without_numpy(value) if hasattr(value, "tolist") else value
    if plain is not None and not isinstance(plain, (str, int, float)):
        plain = _as_in_files(plain)
    # A table with a missing value somewhere holds whole numbers as fractions.
    if isinstance(plain, float) and plain.is_integer():
        return int(plain)
    missing = plain is None or (isinstance(plain, float) and math.isnan(plain))
    if missing or not isinstance(plain, (str, int, float)):
        said = "is missing" if missing else f"is {what(value)}"
        raise InputError(
            f"{name}[{sample}] {said}; every sample needs a key: a text, number, date or UUID"
        )
    return plain


def _as_in_files(value: Any) -> Any:
    """A date, a time or a UUID as a file has it, so that a table and its file have equal keys."""
    import datetime
    from uuid import UUID

    return as_text(value) if isinstance(value, (datetime.date, datetime.time, UUID)) else value
