"""JSON Schemas: checked without fetching anything, and held against a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from metric_cards._bases.strictjson import Reading, read
from metrichub.errors import MissingDependency

Path = tuple[str | int, ...]


class BrokenSchema(ValueError):
    """A text that isn't a JSON Schema, or one that refers to what it doesn't hold."""


class Judgement(NamedTuple):
    """Whether a value satisfies a schema, and the required fields that it has and has right."""

    satisfied: bool
    required: int
    present: int
    valid: int


_LOOP = "a $ref leads back to itself"


class Schema:
    """A JSON Schema of the draft that its `$schema` names, 2020-12 where it names none."""

    def __init__(self, text: str, formats: bool) -> None:
        """Check the schema and everything that it refers to.

        Raises:
            BrokenSchema: it can't be used; the text says why.
            MissingDependency: jsonschema isn't installed.
        """
        try:
            import jsonschema
            from jsonschema.validators import validator_for
            from jsonschema_specifications import REGISTRY
            from referencing.exceptions import Unresolvable
            from referencing.jsonschema import DRAFT202012, specification_with
        except ImportError:
            raise MissingDependency(
                "a JSON Schema", "jsonschema", "pip install 'metrichub[jsonschema]'"
            ) from None
        contents = _contents(text)
        kind = validator_for(contents, default=jsonschema.Draft202012Validator)
        try:
            kind.check_schema(contents)
        except jsonschema.SchemaError as error:
            raise BrokenSchema(f"at {error.json_path}: {error.message}") from None
        except (ArithmeticError, RecursionError) as error:
            raise BrokenSchema(str(error)) from None
        specification = specification_with(kind.META_SCHEMA["$schema"], default=DRAFT202012)
        resource = specification.create_resource(contents)
        # A registry of its own has no way to fetch what it doesn't know.
        self._resolver = REGISTRY.with_resource("", resource).resolver_with_root(resource)
        try:
            _look_up_all(resource, self._resolver)
        except Unresolvable as error:
            raise BrokenSchema(
                f"what $ref {error.ref!r} stands for is not in it, and nothing is fetched"
            ) from None
        checker = kind.FORMAT_CHECKER if formats else None
        self._contents = contents
        self._validator = kind(contents, registry=REGISTRY, format_checker=checker)
        try:
            self._required(None)
            next(self._validator.iter_errors(None), None)
        except RecursionError:
            raise BrokenSchema(_LOOP) from None
        # What can't be compared isn't satisfied.
        except (ArithmeticError, ValueError):
            pass

    def judge(self, reading: Reading) -> Judgement:
        """The parts of the schema that a text's value satisfies; none without a value.

        Raises:
            BrokenSchema: a reference leads back to itself.
        """
        wrong: set[Path] = {()}
        if reading.problem is None:
            wrong = set(self._wrong(reading.value))
        try:
            fields = self._required(reading.value) or self._required({})
        except RecursionError:
            raise BrokenSchema(_LOOP) from None
        present = [path for path, is_there in fields.items() if is_there]
        valid = [path for path in present if path not in wrong]
        return Judgement(not wrong, len(fields), len(present), len(valid))

    def problem(self, value: Any) -> str | None:
        """Where and how a value breaks the schema, the first time; None if it doesn't."""
        try:
            error = next(self._validator.iter_errors(value), None)
        except (ArithmeticError, RecursionError, ValueError) as problem:
            return str(problem)
        return None if error is None else f"{error.message}, at {error.json_path}"

    def _wrong(self, value: Any) -> Iterator[Path]:
        """The places of a value in which an error lies, from the root on."""
        try:
            for error in self._validator.iter_errors(value):
                place = tuple(error.absolute_path)
                yield from (place[:length] for length in range(len(place) + 1))
        except (ArithmeticError, RecursionError, ValueError):
            # What jsonschema can't compare, such as 1e999 to a multiple, isn't satisfied.
            yield ()

    def _required(self, value: Any) -> dict[Path, bool]:
        return dict(self._fields(self._contents, self._resolver, value, ()))

    def _fields(
        self, schema: Any, resolver: Any, value: Any, path: Path
    ) -> Iterator[tuple[Path, bool]]:
        """Every required field of the objects in a value, and whether it is there."""
        if not isinstance(schema, Mapping):
            return
        if "$ref" in schema:
            target = resolver.lookup(schema["$ref"])
            yield from self._fields(target.contents, target.resolver, value, path)
        for part in (*schema.get("allOf", ()), *self._chosen(schema, value)):
            yield from self._fields(part, resolver, value, path)
        if isinstance(value, dict):
            yield from (((*path, name), name in value) for name in schema.get("required", ()))
            for name, part in schema.get("properties", {}).items():
                if name in value:
                    yield from self._fields(part, resolver, value[name], (*path, name))
        elif isinstance(value, list):
            for place, item in enumerate(value):
                yield from self._fields(schema.get("items"), resolver, item, (*path, place))

    def _chosen(self, schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
        """Of each `anyOf` and `oneOf` the first branch that the value satisfies, if one does."""
        for union in ("anyOf", "oneOf"):
            branches = schema.get(union, ())
            yield from [b for b in branches if self._validator.evolve(schema=b).is_valid(value)][:1]


@lru_cache(maxsize=1024)
def compiled(text: str, formats: bool) -> Schema:
    """The schema of a JSON text; see `Schema` for what is raised."""
    return Schema(text, formats)


def _contents(text: str) -> Any:
    contents, problem = read(text)
    if problem:
        raise BrokenSchema(f"it isn't JSON ({problem})")
    if not isinstance(contents, (dict, bool)):
        raise BrokenSchema("it is neither an object nor true or false")
    return contents


def _look_up_all(resource: Any, resolver: Any) -> None:
    """Look up every reference of a schema and of those inside it."""
    if isinstance(resource.contents, Mapping):
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in resource.contents:
                resolver.lookup(resource.contents[keyword])
    for inner in resource.subresources():
        _look_up_all(inner, resolver.in_subresource(inner))
