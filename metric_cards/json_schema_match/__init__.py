"""JSON Schema match: whether a prediction is JSON of the form that a schema asks for."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from metric_cards._bases.json_schemas import BrokenSchema, Schema, compiled
from metric_cards._bases.strictjson import read, unfenced
from metrichub.authoring import Array, LocalPath, Metric, Row, Scores
from metrichub.errors import InputError, ParameterError, what


@dataclass(frozen=True, kw_only=True)
class JsonSchemaMatch(Metric):
    """The fraction of predictions that are valid against a JSON Schema, and of required fields.

    Attributes:
        schema: The JSON Schema of all samples: a mapping, JSON text or the path of a file. It is
            kept as JSON text. If None, each sample's own is taken from the column `schemas`.
        extract: Whether only the first fenced code block is read, preferably one marked `json`; a
            prediction without a block is read as a whole.
        formats: Whether `format` is checked, for the formats that jsonschema can check by itself.
    """

    schema: dict[str, Any] | bool | Annotated[str | Path, LocalPath()] | None = None
    extract: bool = False
    formats: bool = False

    def __post_init__(self) -> None:
        """Read the schema and check it."""
        super().__post_init__()
        if self.schema is None:
            return
        try:
            text = _text(self.schema, files=True)
            compiled(text, self.formats)
        except (BrokenSchema, OSError) as error:
            allowed = f"a JSON Schema, as a mapping, JSON text or path ({error})"
            raise ParameterError(self.name, "schema", self.schema, allowed) from None
        object.__setattr__(self, "schema", text)

    def inputs(self) -> tuple[str, ...]:
        """The prediction, and the sample's schema if the parameter gives none."""
        return ("prediction", "schema") if self.schema is None else ("prediction",)

    def observe(self, prediction: str, schema: Any = None) -> Row:
        """Whether the prediction parses and matches, and the schema's required fields in it.

        Raises:
            InputError: the sample's schema is broken.
        """
        reading = read(unfenced(prediction) if self.extract else prediction)
        try:
            matched, required, present, valid = self._schema(schema).judge(reading)
        except BrokenSchema as error:
            which = f"the column 'schemas' holds {what(schema)}, which"
            which = "the schema" if self.schema else which
            raise InputError(f"{self.name}: {which} isn't a JSON Schema: {error}") from None
        return {
            "matched": matched,
            "parsed": reading.problem is None,
            "required": required,
            "present": present,
            "valid": valid,
        }

    def score(
        self,
        matched: Array,
        parsed: Array,
        required: Array,
        present: Array,
        valid: Array,
        count: Array,
    ) -> Scores:
        """Fractions of the samples, and of all required fields (micro); `nan` if there are none."""
        return {
            "score": matched / count,
            "parsed": parsed / count,
            "fields_present": present / required,
            "fields_valid": valid / required,
        }

    def _schema(self, schema: Any) -> Schema:
        if isinstance(self.schema, str):
            return compiled(self.schema, self.formats)
        return compiled(_text(schema, files=False), self.formats)


def _text(schema: object, files: bool) -> str:
    """The JSON text of a schema; if `files`, a string that doesn't begin like one is a path."""
    if files and isinstance(schema, (str, os.PathLike)):
        text = str(schema)
        is_json = text.lstrip().startswith("{") or text.strip() in ("true", "false")
        return text if is_json else Path(schema).read_text(encoding="utf-8")
    if isinstance(schema, str):
        return schema
    try:
        return json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BrokenSchema(str(error)) from None
