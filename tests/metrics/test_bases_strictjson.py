"""JSON that RFC 8259 allows is read; anything else is refused and named."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards._bases.strictjson import DEPTH, read, unfenced
from tests.oracles.text_twins import any_text

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@given(values, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_value_survives(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert read(text) == (value, None)
    assert read(text, duplicate_keys=False) == (value, None)


@given(any_text)
def test_no_text_raises(text):
    assert (read(text).problem is None) or read(text).value is None
    assert isinstance(unfenced(text), str)


@given(values)
def test_an_object_or_array_without_its_end_is_truncated(value):
    text = json.dumps([value])
    for end in range(1, len(text)):
        assert read(text[:end]).problem == "truncated"


# Section and sentence of RFC 8259 that each text breaks or meets.
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        (" 1\r\n", None),  # 2: insignificant white space is space, tab, line feed, return
        ("\x0b1", "syntax"),
        ("1\xa0", "syntax"),
        ("\ufeff1", "syntax"),  # 8.1: no byte order mark
        ("True", "syntax"),  # 3: names in lower case
        ("NaN", "syntax"),  # 6: Infinity and NaN are not permitted
        ("[1, -Infinity]", "syntax"),
        ("01", "syntax"),  # 6: no leading zeros
        ("+1", "syntax"),
        (".5", "syntax"),
        ("-0.0e+1", None),
        ("1e400", None),
        ("٣", "syntax"),  # 6: digits are those of ASCII
        ("'a'", "syntax"),  # 7: quotation marks
        ('"a\tb"', "syntax"),  # 7: control characters must be escaped
        ('"\x7f\u2028"', None),
        (r'"\ud800"', None),  # 8.2: the grammar allows unpaired surrogates
        (r'"\x41"', "syntax"),
        ("[1,]", "syntax"),
        ("{a: 1}", "syntax"),
        ("[1] // one", "surrounded"),
        ('{"a": 1} {"b": 2}', "syntax"),  # two texts, which brackets can't single out
        ("[1.", "truncated"),
        ('{"a": tru', "truncated"),
        (r'["\u00', "truncated"),
        ('["a\\', "truncated"),
        ("1 e", "syntax"),
        ("See: [1, 2].", "surrounded"),
        ("See: [1, 2", "syntax"),
        ('{"a": 1}\0', "surrounded"),
    ],
)
def test_each_text_is_what_the_rfc_says(text, problem):
    assert read(text).problem == problem


def test_equal_keys_are_read_or_refused():
    text = '[{"a": 1, "a": {"b": 2}}]'
    assert read(text) == ([{"a": {"b": 2}}], None)
    assert read(text, duplicate_keys=False).problem == "duplicate_keys"
    assert read('[{"a": 1}, {"a": 1}]', duplicate_keys=False).problem is None


def test_nesting_has_a_limit_that_brackets_in_strings_do_not_reach():
    assert read("[" * DEPTH + "]" * DEPTH).problem is None
    assert read("[" * (DEPTH + 1) + "]" * (DEPTH + 1)).problem == "syntax"
    assert read('["' + "[" * 10_000 + '"]').problem is None
    assert read("[" * 1_000_000).problem == "syntax"
    assert read("[[]," * (DEPTH - 1)).problem == "truncated"


def test_numbers_of_any_length_are_read():
    assert read("9" * 999).value == 10**999 - 1
    assert read("9" * 1_000_000) == (math.inf, None)


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ("x\n```json\n1\n```\ny\n```json\n2\n```", "1\n"),
        ("```\n1\n```\n~~~JSON\n2\n~~~", "2\n"),
        ("```python\n1\n```\n```\n2\n```", "1\n"),
        ("   ````json title\n```\n2\n   ````", "```\n2\n"),
        ("```json\n[1,", "[1,"),
        ("```json", "```json"),
        ("text ```json\n1\n```", "text ```json\n1\n```"),
        ("    ```json\n1", "    ```json\n1"),
    ],
)
def test_the_first_block_marked_json_is_taken_else_the_first(text, inner):
    # CommonMark 0.31, section 4.5: up to three spaces, a fence as long, or the text's end.
    assert unfenced(text) == inner


def test_backticks_without_end_take_linear_time():
    text = "`" * 2_000_000
    assert unfenced(text) == text
