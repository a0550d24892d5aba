"""The form to try a metric: from a posted form to columns and parameters, and back to a page.

The fields of sample 0 are called "s.0.references.0", "s.0.references.1" and so on, the parameters
"p.max_order". Texts beyond the first of a column are left out where they are blank.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metrichub.app.describe import Description, Field
from metrichub.errors import InputError

MOST_FIELDS = 3000
_TEXT = re.compile(r"s\.(\d{1,4})\.(\w+)\.(\d{1,4})")
_MOST_SAMPLES, _MOST_TEXTS = 200, 50
Sample = dict[str, list[str]]


@dataclass
class Filled:
    """A form as it is filled in.

    Attributes:
        samples: The texts of every sample, by column.
        parameters: What stands in the field of each parameter: text, a list of texts, or a bool.
        reduce: How several candidates make one row; blank for the default.
    """

    samples: list[Sample]
    parameters: dict[str, Any] = field(default_factory=dict)
    reduce: str = ""

    def more(self, what: str) -> None:
        """Add a sample ("sample"), or a text to a column of one ("0.references")."""
        number, _, column = what.partition(".")
        if what == "sample" and len(self.samples) < _MOST_SAMPLES:
            self.samples.append({name: [""] for name in self.samples[0]})
        elif number.isdecimal() and int(number) < len(self.samples):
            texts = self.samples[int(number)].get(column, [""] * _MOST_TEXTS)
            if len(texts) < _MOST_TEXTS:
                texts.append("")


def from_example(description: Description) -> Filled:
    """The form with the example filled in."""
    example = description.example
    size = max(map(len, example.columns.values()))
    samples = [
        {column: _texts(values[i]) for column, values in example.columns.items()}
        for i in range(size)
    ]
    fields = {
        field.name: _shown(field, example.parameters.get(field.name, field.default))
        for field in description.fields
        if not field.closed
    }
    return Filled(samples, fields)


def read_form(
    form: Mapping[str, Any], choices: Mapping[str, Sequence[str]], of: Description
) -> Filled:
    """The form as it was posted; `choices` holds every field that may come several times."""
    columns = [input_.column for input_ in of.inputs]
    texts: dict[int, dict[str, dict[int, str]]] = {}
    for name, value in form.items():
        match = _TEXT.fullmatch(name)
        if match and match[2] in columns and isinstance(value, str):
            sample = texts.setdefault(int(match[1]), {})
            sample.setdefault(match[2], {})[int(match[3])] = value.replace("\r\n", "\n")
    samples: list[Sample] = [
        {
            column: [text for _, text in sorted(sample.get(column, {0: ""}).items())][:_MOST_TEXTS]
            for column in columns
        }
        for _, sample in sorted(texts.items())[:_MOST_SAMPLES]
    ]
    filled = Filled(samples or [{column: [""] for column in columns}])
    for field_ in of.fields:
        if not field_.closed:
            posted = choices.get(f"p.{field_.name}", ())
            # A box that isn't ticked isn't sent; without "p" the form had no box.
            filled.parameters[field_.name] = (
                _posted(field_, posted)
                if posted or ("p" in form and field_.kind in ("switch", "choices"))
                else _shown(field_, field_.default)
            )
    filled.reduce = str(form.get("reduce", ""))
    return filled


def filled_columns(filled: Filled, description: Description) -> dict[str, list[Any]]:
    """The columns of all samples that aren't blank; the first always counts."""
    rows = [
        sample
        for i, sample in enumerate(filled.samples)
        if not i or any(text.strip() for texts in sample.values() for text in texts)
    ]
    columns = {}
    for input_ in description.inputs:
        is_json = _holds_json(description.example.columns.get(input_.column, ()))
        values = [_texts_of(row[input_.column], input_.column, is_json) for row in rows]
        columns[input_.column] = [
            items if input_.several or len(items) != 1 else items[0] for items in values
        ]
    return columns


def filled_parameters(filled: Filled, description: Description) -> dict[str, Any]:
    """The parameters that differ from their defaults, or have none.

    Raises:
        InputError: a field can't be read; the text names it.
    """
    parameters = {}
    for field_ in description.fields:
        if field_.name in filled.parameters:
            value = _read(field_, filled.parameters[field_.name])
            default = list(field_.default) if _is_list(field_.default) else field_.default
            if field_.required or value != default:
                parameters[field_.name] = value
    return parameters


def _texts_of(texts: Sequence[str], column: str, is_json: bool) -> list[Any]:
    filled = [text for i, text in enumerate(texts) if not i or text.strip()]
    if column == "contexts" and not any(map(str.strip, filled)):
        return []
    return [_parsed(text) for text in filled] if is_json else list(filled)


def _holds_json(values: Sequence[Any]) -> bool:
    """Whether a column's example holds more than texts."""
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return not all(isinstance(item, str) for item in items)


def _parsed(text: str) -> Any:
    """What a text is as JSON, or the text itself if it isn't JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, (list, tuple)) else [value]
    return [item if isinstance(item, str) else json.dumps(item) for item in items] or [""]


def _shown(field_: Field, value: Any) -> Any:
    """A parameter's value as its field shows it; None is blank, but for one of the choices."""
    if value is None and field_.kind not in ("switch", "choice"):
        return [] if field_.kind == "choices" else ""
    match field_.kind:
        case "switch":
            return bool(value)
        case "choice":
            return json.dumps(value)
        case "choices":
            return [json.dumps(item) for item in value]
        case "numbers":
            return ", ".join(map(str, value))
        case "texts":
            return "\n".join(value)
        case "json":
            return json.dumps(value, indent=2)
    return str(value)


def _posted(field_: Field, values: Sequence[str]) -> Any:
    texts = [text.replace("\r\n", "\n") for text in values]
    if field_.kind == "switch":
        return bool(texts)
    return texts if field_.kind == "choices" else (texts or [""])[0]


def _read(field_: Field, shown: Any) -> Any:
    """The value of a parameter out of its field."""
    if field_.kind == "switch":
        return bool(shown)
    if _is_blank(shown) and (field_.optional or field_.kind == "number"):
        return None
    try:
        return _of_kind(field_, shown)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{field_.name}: {error}") from None


def _of_kind(field_: Field, shown: Any) -> Any:
    match field_.kind:
        case "choice":
            return _chosen(field_, shown)
        case "choices":
            return [_chosen(field_, item) for item in shown]
        case "number":
            return _number(shown, field_.whole)
        case "numbers":
            return [_number(part, field_.whole) for part in shown.split(",") if part.strip()]
        case "texts":
            return [line for line in shown.split("\n") if line.strip()]
        case "json":
            return json.loads(shown)
    return shown


def _is_blank(shown: str | Sequence[str]) -> bool:
    return not (shown.strip() if isinstance(shown, str) else shown)


def _chosen(field_: Field, shown: str) -> Any:
    for value in (*field_.choices, *((None,) if field_.optional else ())):
        if json.dumps(value) == shown:
            return value
    raise ValueError(
        f"{shown[:40]} isn't one of the choices: {', '.join(map(repr, field_.choices))}"
    )


def _number(text: str, whole: bool) -> float:
    try:
        return int(text)
    except ValueError:
        if whole:
            raise ValueError(f"{text[:40]!r} isn't a whole number") from None
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} isn't a number") from None


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))
