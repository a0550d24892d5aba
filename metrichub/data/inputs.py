"""What a call was given, a table, an iterator of tables or columns by name, as batches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from metrichub.data.batch import Batch
from metrichub.data.columns import TEXT, column_of_alias, is_slip
from metrichub.data.frames import Data
from metrichub.data.objects import TextOf
from metrichub.data.tables import table_batches
from metrichub.errors import InputError, what

_ELSEWHERE = {
    "dataset": "pass the table as the first argument: hub.evaluate(rows)",
    "judge": "pass the judge to the hub: Hub(metrics, judge=...)",
    "embedder": "pass the embedder to the hub: Hub(metrics, embedder=...)",
    "language": "pass the language of the prompts to the hub: Hub(metrics, language=...)",
    "reduce": "the option is called reduce_fn: reduce_fn='best', or a function",
    "prices": "pass prices to the judge: judge=\"openai(model='...', prices=[0.25, 2])\"",
}
"""What isn't an option of a call, by the name under which people try it there."""
_MAPPING = "columns={'predictions': 'summary'}"


def batches_of(
    data: Data | None,
    given: Mapping[str, Iterable[Any]],
    needed: Mapping[str, str],
    columns: Mapping[str, str] | None = None,
    objects: Mapping[str, TextOf] | None = None,
    keep: Iterable[str] | None = None,
    key: Sequence[str] = (),
) -> Iterator[Batch]:
    """The batches of a table, of one that comes in parts, of a file, or of columns given by name.

    `needed` maps a column to a metric that asks for it, `columns` a column to its name in the
    table, `objects` a column to what makes texts of its objects. `keep` names the columns that
    stay with the report, `key` those that name a sample.

    Raises:
        InputError: samples that can't be scored, or both a table and columns.
    """
    if data is not None and given:
        raise InputError(
            "pass either a table or columns by name, not both "
            f"(got a {type(data).__name__} and {', '.join(given)})"
        )
    _check_mapping(columns)
    if data is None:
        yield Batch.from_columns(given, needed, columns, objects, keep=keep, key=key)
        return
    read = partial(
        Batch.from_data, needed=needed, mapping=columns, objects=objects, keep=keep, key=key
    )
    yield from table_batches(data, read, needed, columns)


def _check_mapping(columns: object) -> None:
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise InputError(f"columns takes a mapping, {_MAPPING}, not {what(columns)}")
    for name in columns.values():
        if not isinstance(name, str):
            raise InputError(
                f"columns maps each column to one name, {_MAPPING}, not to {what(name)}"
            )


def systems_of(systems: Mapping[str, Data]) -> Mapping[str, Data]:
    """The same; `InputError` unless they have names."""
    if not isinstance(systems, Mapping):
        raise InputError(
            'systems have names: pass {"ours": "ours.jsonl", "theirs": table}, '
            f"not {what(systems)}"
        )
    return systems


def check_options(
    given: Mapping[str, Any], needed: Mapping[str, str], options: Collection[str]
) -> None:
    """Raise `InputError` for what was meant as one of the options and would be taken for a column.

    `needed` maps a column to a metric that asks for it.
    """
    for name, value in given.items():
        if name in _ELSEWHERE and name not in needed:
            raise InputError(f"{name} isn't a column; {_ELSEWHERE[name]}")
        if slip := next((column for column in needed if is_slip(name, column)), None):
            raise InputError(f"there is no column {name!r}; did you mean {slip!r}?")
        if name in options and name not in needed:
            raise InputError(f"an estimate sends nothing and takes no {name}; evaluate takes it")
        is_column = column_of_alias(name) in TEXT
        if not is_column and (value is None or isinstance(value, (bool, int, float))):
            _check_slip(name, options)


def _check_slip(name: str, options: Collection[str]) -> None:
    import difflib

    if close := difflib.get_close_matches(name, options, n=1):
        raise InputError(f"there is no option {name!r}; did you mean {close[0]!r}?")
