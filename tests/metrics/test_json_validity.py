"""JSON validity: one outcome a prediction; the grammar is tested in test_bases_strictjson."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.oracles.text_twins import any_text

FENCED = 'Sure:\n```json\n{"a": 1}\n```\n'


def outcome(text, **parameters):
    scores = Hub(load_metric("json_validity", **parameters))(predictions=[text])["json_validity"]
    return next(name for name, share in scores.items() if share == 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", "score"),
        ("", "empty"),
        ('{"a": ', "truncated"),
        (FENCED, "surrounded"),
        ('[{"a": 1]', "syntax"),
        ("Infinity", "syntax"),
    ],
)
def test_each_text_has_one_outcome(text, expected):
    assert outcome(text) == expected


def test_a_fenced_block_is_read_if_that_is_asked_for():
    assert outcome(FENCED, extract=True) == "score"
    assert outcome('{"a": 1}', extract=True) == "score"
    assert outcome("```\n```", extract=True) == "empty"
    assert outcome("```json\n[1", extract=True) == "truncated"


def test_equal_keys_are_refused_if_that_is_asked_for():
    text = '{"a": 1, "a": 1}'
    assert outcome(text) == "score"
    assert outcome(text, duplicate_keys="refused") == "duplicate_keys"


def test_the_root_can_be_prescribed():
    for text, kind in (("{}", "object"), ("[]", "array"), ("1", "any")):
        assert outcome(text, root=kind) == "score"
    for text, kind in (("{}", "array"), ("[]", "object"), ("null", "object")):
        assert outcome(text, root=kind) == "wrong_root"
    assert outcome("{", root="array") == "truncated"


@given(st.lists(any_text, min_size=1, max_size=6), st.booleans())
def test_the_outcomes_of_any_texts_sum_to_one(texts, extract):
    scores = Hub(load_metric("json_validity", extract=extract))(predictions=texts)["json_validity"]
    assert sum(scores.values()) == pytest.approx(1)
