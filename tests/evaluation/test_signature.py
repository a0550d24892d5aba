"""Signatures: texts that come back as they were, and what makes two of them comparable."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub
from metrichub.evaluation.signature import Signature, prompts_hash

WER = Signature("wer(lowercase=False)", 1, "metrichub", ("0.1.0",), "best")
ASKED = replace(WER, prompts="0123abcd")
OWN = Signature("own", 2, "local:__main__", (), "mean")

words = st.text("ab.|:=()\n'-_", min_size=1)
names = st.text("ab.-_", min_size=1)
signatures = st.builds(
    Signature,
    words,
    st.integers(1, 99),
    names.map(lambda name: f"x{name}"),
    st.lists(st.sampled_from(["1.0", "0.2+cpu", "3rc1"]), min_size=1, unique=True).map(tuple),
    names,
    st.integers(0, 9),
    st.sampled_from(["", "0123abcd"]),
    st.sampled_from(["", "0123abcd", "unknown"]),
)


@given(signatures)
def test_a_signature_survives_being_written_whatever_its_parameters(signature: Signature) -> None:
    assert Signature.parse(str(signature)) == signature


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("wer(lowercase=False)|definition:1|metrichub:0.1.0|reduce:best", WER),
        ("wer(lowercase=False)|metrichub:0.1.0|reduce:best", WER),
        ("wer(lowercase=False)|metrichub:0.1.0|reduce:best|repeats:3", replace(WER, repeats=3)),
        (
            "wer(lowercase=False)|definition:1|prompts:0123abcd|metrichub:0.1.0|reduce:best",
            replace(WER, prompts="0123abcd"),
        ),
        ("own|definition:2|local:__main__|reduce:mean", OWN),
        ("own|local:__main__|reduce:mean", replace(OWN, definition=1)),
        (
            "own|definition:2|source:0123abcd|local:__main__|reduce:mean",
            replace(OWN, source="0123abcd"),
        ),
        (
            "g(criteria='a|local:b|reduce:c')|metrichub:1.0|reduce:<lambda>",
            Signature("g(criteria='a|local:b|reduce:c')", 1, "metrichub", ("1.0",), "<lambda>"),
        ),
    ],
)
def test_a_text_is_read_also_one_from_before_there_were_definitions(
    text: str, signature: Signature
) -> None:
    assert Signature.parse(text) == signature


@pytest.mark.parametrize(
    "text", ["", "wer", "wer|reduce:best", "wer|metrichub:1.0", "a|b|reduce:c"]
)
def test_other_texts_are_no_signatures(text: str) -> None:
    with pytest.raises(ValueError, match="isn't a valid signature"):
        Signature.parse(text)


@pytest.mark.parametrize(
    ("signature", "changes", "agrees"),
    [
        (WER, {"versions": ("0.2.0",)}, True),
        (WER, {"versions": ("0.1.0", "0.2.0")}, True),
        (WER, {"label": "wer(lowercase=True)"}, False),
        (WER, {"definition": 2}, False),
        (WER, {"home": "other-dist"}, False),
        (WER, {"reduction": "worst"}, False),
        (WER, {"repeats": 3}, False),
        (WER, {"source": "0123abcd"}, False),
        # Prompts that aren't known may be the same.
        (WER, {"prompts": "0123abcd"}, True),
        (WER, {"prompts": "0123abcd", "definition": 2}, False),
        (ASKED, {"prompts": "89ab0123"}, False),
        (ASKED, {"versions": ("0.2.0",)}, True),
        # Metrics of one's own agree within a module only.
        (OWN, {}, True),
        (OWN, {"home": "local:other"}, False),
    ],
)
def test_all_but_the_version_decides_what_is_comparable(
    signature: Signature, changes: dict[str, Any], agrees: bool
) -> None:
    other = replace(signature, **changes)
    assert signature.agrees(other) is other.agrees(signature) is agrees


def test_joined_signatures_have_the_versions_of_all_each_once() -> None:
    other = replace(WER, versions=("0.2.0", "0.1.0"))
    assert Signature.joined([WER, other, WER]) == replace(WER, versions=("0.1.0", "0.2.0"))
    assert Signature.joined([OWN, OWN]) == OWN


def test_a_call_with_another_reduction_signs_anew() -> None:
    hub = Hub("rouge")
    data = {"predictions": [["a", "b"]], "references": ["a"]}
    assert "|reduce:best|" in hub.evaluate(data).signatures()["rouge"]
    assert "|reduce:worst|" in hub.evaluate(data, reduce="worst").signatures()["rouge"]


def test_the_order_of_prompts_changes_no_hash() -> None:
    prompts = {"one": {"text": "a", "examples": ["x", "y"]}, "two": {"text": "b"}}
    turned = dict(reversed(prompts.items()))
    assert prompts_hash(prompts) == prompts_hash(turned)
    assert len(prompts_hash(prompts)) == 8
    # That of the examples does, as a model reads them in it.
    other = {**prompts, "one": {"text": "a", "examples": ["y", "x"]}}
    assert prompts_hash(other) != prompts_hash(prompts)
    assert prompts_hash({}) == ""


def test_prompts_that_differ_are_named() -> None:
    mine = replace(WER, templates={"one": {"text": "a"}, "two": {"text": "b"}, "old": {}})
    other = replace(WER, templates={"two": {"text": "c"}, "one": {"text": "a"}, "new": {}})
    assert mine.other_prompts(other) == other.other_prompts(mine) == ["new", "old", "two"]


def test_settings_are_what_a_signature_says_of_each_parameter() -> None:
    others = {
        "definition": "definition:1",
        "home": "metrichub",
        "reduce": "reduce:best",
        "repeats": "repeats:0",
    }
    assert WER.settings() == {"label": "wer", "lowercase": "lowercase=False", **others}
    # A label that isn't a call in Python is a setting as a whole.
    for label in ("wer(<object>)", "wer", "a\0b"):
        assert replace(WER, label=label).settings() == {"label": label, **others}
