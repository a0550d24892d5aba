"""JSON Schema match equals jsonschema, counts required fields and fetches nothing."""

import json
import pickle
import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import InputError, MissingColumn, MissingDependency, ParameterError
from tests.oracles.text_twins import any_text

jsonschema = pytest.importorskip("jsonschema", reason="needs metrichub[jsonschema]")

PLACE = {
    "type": "object",
    "required": ["city", "people"],
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 0}},
}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
        }
    },
}


def scores(texts, schema=None, schemas=None, **parameters):
    hub = Hub(load_metric("json_schema_match", schema=schema, **parameters))
    columns = {"predictions": texts} | ({} if schemas is None else {"schemas": schemas})
    return hub(**columns)["json_schema_match"]


def fields(text, schema):
    """The required fields of one prediction, those that are there, and those without an error."""
    metric = load_metric("json_schema_match", schema=schema)
    row = metric.observe(text)
    return row["required"], row["present"], row["valid"]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from(["", "Bern", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["city", "people", "name", "parts", "next"]), inner, max_size=4
        )
    ),
    max_leaves=10,
)


@given(st.lists(values, min_size=1, max_size=4), st.sampled_from([PLACE, TREE, True, False, {}]))
def test_validity_is_jsonschemas(listed, schema):
    validator = jsonschema.Draft202012Validator(schema)
    result = scores([json.dumps(value) for value in listed], schema)
    expected = sum(validator.is_valid(value) for value in listed) / len(listed)
    assert result["score"] == pytest.approx(expected)
    assert result["parsed"] == 1


@given(any_text, st.sampled_from([PLACE, TREE, {"format": "regex"}]), st.booleans())
def test_no_text_raises(text, schema, wrapped):
    scores([json.dumps(text) if wrapped else text], schema, extract=True, formats=True)


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (PLACE, '{"city": "Bern", "people": 1}', (2, 2, 2)),
        (PLACE, '{"city": "Bern", "people": -1, "more": 0}', (2, 2, 1)),
        (PLACE, '{"people": 1}', (2, 1, 1)),
        # What is no object has none of the fields, whether it parses or not.
        (PLACE, "[1]", (2, 0, 0)),
        (PLACE, '"city"', (2, 0, 0)),
        (PLACE, "city", (2, 0, 0)),
        # The root's name and those of two parts, one of them missing; no error in the others.
        (TREE, '{"name": "a", "parts": [{"name": "b"}, {}]}', (3, 2, 2)),
        # The branch of `anyOf` that holds has a field; null has none.
        (TREE, '{"name": "a", "next": {"name": "b"}}', (2, 2, 2)),
        (TREE, '{"name": "a", "next": null}', (1, 1, 1)),
        # No branch holds for an object without a name.
        (TREE, '{"name": "a", "next": {}}', (1, 1, 1)),
        # Two parts of `allOf` that require one name require one field.
        ({"allOf": [PLACE, {"required": ["city"]}]}, "{}", (2, 0, 0)),
        # An error inside a required object is one of that object and of all around it.
        (
            {"required": ["at"], "properties": {"at": PLACE}},
            '{"at": {"city": 1, "people": 1}}',
            (3, 3, 1),
        ),
        ({"type": "array", "items": PLACE}, '[{"city": "x"}, 1]', (2, 1, 1)),
        ({"not": {"required": ["a"]}}, "{}", (0, 0, 0)),
        (True, "{}", (0, 0, 0)),
    ],
)
def test_required_fields_are_counted(schema, text, expected):
    assert fields(text, schema) == expected


def test_fields_are_summed_over_the_samples():
    # 3 required fields of two schemas, 2 there, 1 valid; 1 of 3 samples matches.
    result = scores(
        ['{"city": 1, "people": 1}', "{}", "[]"], schemas=[PLACE, {"required": ["a"]}, True]
    )
    assert result == pytest.approx(
        {"score": 1 / 3, "parsed": 1, "fields_present": 2 / 3, "fields_valid": 1 / 3}
    )


def test_without_a_required_field_there_is_no_share_of_them():
    result = scores(["1"], {"type": "integer"})
    assert result["score"] == 1
    assert result["fields_present"] != result["fields_present"]


def test_a_schema_is_given_as_mapping_text_or_path(tmp_path):
    path = tmp_path / "place.json"
    path.write_text(json.dumps(PLACE), encoding="utf-8")
    texts = ['{"city": "Bern", "people": 1}', "{}"]
    for schema in (PLACE, json.dumps(PLACE), path, str(path)):
        assert scores(texts, schema)["score"] == 0.5
    for schema in (PLACE, json.dumps(PLACE)):
        assert scores(texts, schemas=[schema, schema])["score"] == 0.5
    assert scores(["1"], "false")["score"] == 0


def test_several_schemas_of_a_sample_are_alternatives():
    assert scores(["1"], schemas=[[{"type": "string"}, {"type": "integer"}]])["score"] == 1


def test_a_path_and_its_contents_are_one_metric(tmp_path):
    path = tmp_path / "place.json"
    path.write_text(json.dumps(PLACE), encoding="utf-8")
    from_path = load_metric("json_schema_match", schema=path)
    path.unlink()
    assert from_path == load_metric("json_schema_match", schema=PLACE)
    assert pickle.loads(pickle.dumps(from_path)) == from_path
    assert load_metric(from_path.label()) == from_path


def test_the_schemas_column_is_needed_only_without_the_parameter():
    with pytest.raises(MissingColumn, match="schemas"):
        scores(["1"])
    assert Hub(load_metric("json_schema_match", schema=True)).needs().keys() == {"predictions"}


def test_formats_count_only_if_that_is_asked_for():
    schema = {"format": "date"}
    assert scores(['"soon"'], schema)["score"] == 1
    assert scores(['"soon"'], schema, formats=True)["score"] == 0
    assert scores(['"2024-05-01"'], schema, formats=True)["score"] == 1


def test_the_draft_is_the_one_that_the_schema_names():
    # Draft 4 has a boolean exclusiveMinimum, 2020-12 a number.
    draft4 = {"minimum": 1, "exclusiveMinimum": True}
    named = {"$schema": "http://json-schema.org/draft-04/schema#", **draft4}
    assert scores(["1"], named)["score"] == 0
    with pytest.raises(ParameterError, match="exclusiveMinimum"):
        scores(["1"], draft4)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "strin"}, r"at \$\.type: 'strin' is not valid"),
        ({"properties": {"a": {"pattern": "("}}}, r"at \$\.properties\.a\.pattern"),
        ({"pattern": "a{99999999999}"}, "repetition number"),
        ('{"type": ', r"it isn't JSON \(truncated\)"),
        ({"$ref": "#/$defs/none"}, r"'/\$defs/none' stands for is not in it"),
        ({"$ref": "http://127.0.0.1:9/x.json"}, "and nothing is fetched"),
        ({"properties": {"a": {"$ref": "other.json"}}}, "'other.json' stands for is not in it"),
        ("no/such/file.json", "No such file"),
        ({"default": {1, 2}}, "not JSON serializable"),
        (3, "choose a mapping, True or False, a string, a path or None"),
    ],
)
def test_a_broken_schema_is_refused_before_anything_is_scored(schema, message):
    with pytest.raises(ParameterError, match=message):
        load_metric("json_schema_match", schema=schema)


def test_a_broken_schema_of_a_sample_is_named():
    with pytest.raises(InputError, match=r"the column 'schemas' holds .*strin.* at \$\.type"):
        scores(["1"], schemas=[{"type": "strin"}])
    with pytest.raises(InputError, match="the column 'schemas' holds 3"):
        scores(["1"], schemas=[3])


def test_nothing_is_fetched(monkeypatch):
    def refuse(*_):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    metaschema = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    # The drafts themselves come with jsonschema: 1 is no schema, {} is one.
    assert scores(["1", "{}"], metaschema)["score"] == 0.5
    with pytest.raises(ParameterError, match="nothing is fetched"):
        scores(["1"], {"$ref": "https://example.org/a.json"})


def test_a_name_that_looks_like_a_reference_is_none():
    schema = {"properties": {"$ref": {"type": "string"}}, "const": {"$ref": "https://x.org"}}
    assert scores(['{"$ref": "https://x.org"}'], schema)["score"] == 1


def test_deep_values_are_judged_by_recursive_schemas():
    deep = '{"name": "x", "parts": [' * 49 + '{"name": "x"}' + "]}" * 49
    assert scores([deep], TREE)["score"] == 1
    assert fields(deep, TREE) == (50, 50, 50)


def test_without_jsonschema_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub\[jsonschema\]'"):
        load_metric("json_schema_match", schema={"title": "not compiled before"})
